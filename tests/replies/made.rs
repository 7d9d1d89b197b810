//! Replies that are too large to be kept as files.

use serde_json::{Value, json};

use super::scene::SESSION;

/// The reply of this name.
pub fn reply(name: &str) -> Vec<u8> {
    let value = match name {
        "deep" => return "[".repeat(100_000).into_bytes(),
        "two-megabytes" => {
            let mut large = gotcha("gotchas/large.md", "Large", &words(2 << 20));
            large["title"] = json!("Too much for one page");
            proposals(vec![large, export_is_paged()])
        }
        "ten-thousand" => proposals(notes(10_000)),
        "a-hundred" => proposals(notes(100)),
        "body-too-large" => {
            proposals(vec![gotcha("gotchas/export-is-paged.md", "The export is paged", &words(33_000))])
        }
        "page-budget-exceeded" => {
            let mut long = gotcha("procedures/long.md", "A long way", &words(8_400));
            long["kind"] = json!("procedure");
            proposals(vec![long])
        }
        "edit-too-large" => proposals(vec![appends(&[4_100])]),
        "changed-chars-too-large" => proposals(vec![appends(&[3_900, 3_901, 3_902, 3_903])]),
        other => panic!("no reply is made as {other}"),
    };
    value.to_string().into_bytes()
}

/// About so many characters of text that does not repeat itself.
fn words(chars: usize) -> String {
    let mut text = String::with_capacity(chars + 64);
    let mut n = 0;
    while text.len() < chars {
        n += 1;
        text.push_str(&format!("Row {n} of the export has {} columns. ", n % 13));
        if n % 8 == 0 {
            text.push_str("\n\n");
        }
    }
    text
}

fn proposals(proposals: Vec<Value>) -> Value {
    json!({ "summary": "What the session teaches.", "proposals": proposals })
}

fn gotcha(path: &str, title: &str, text: &str) -> Value {
    json!({
        "operation": "create", "path": path, "title": title, "kind": "gotcha", "confidence": 0.85,
        "rationale": "It will come up with every station.",
        "evidence": [{ "source": format!("sessions/{SESSION}#5"), "quote": "The export is paged: every request needs a `page`" }],
        "body_markdown": format!("# {title}\n\n{text}\n"),
    })
}

fn export_is_paged() -> Value {
    gotcha(
        "gotchas/export-is-paged.md",
        "The export is paged",
        "The export server gives at most 10,000 rows for a request and then closes the connection.",
    )
}

/// So many notes, each of its own.
fn notes(count: usize) -> Vec<Value> {
    let note = |n: usize| {
        let body = format!("Station {n} has its own gauge, number {} of the harbour.", n * 7);
        let mut note = gotcha(&format!("notes/fact-{n}.md"), &format!("Gauge of station {n}"), &body);
        note["kind"] = json!("note");
        note
    };
    (0..count).map(note).collect()
}

/// An update that appends texts of these lengths.
fn appends(lengths: &[usize]) -> Value {
    let mut update = gotcha("gotchas/import-ends-early.md", "The import ends early", "");
    update.as_object_mut().expect("an object").remove("body_markdown");
    update["operation"] = json!("update");
    let edits = lengths.iter().map(|length| json!({ "op": "append", "anchor": "## Fix", "content": words(*length) }));
    update["edits"] = edits.collect();
    update
}
