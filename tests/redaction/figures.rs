//! What is redacted where nobody planted a secret.

use std::fs;

use serde_json::{Value, json};

use super::common::corpus;

/// What is redacted in the corpus, with the words around it, to be looked at by a person. Run it by its name with
/// `--ignored --nocapture`.
#[test]
#[ignore = "prints figures"]
fn redactions_of_the_corpus() {
    let Some(corpus) = corpus() else {
        eprintln!("skipped: no corpus (set GIT_MEMORY_CORPUS)");
        return;
    };
    let redactor = git_memory::session::Redactor::new(&[], &[]).unwrap();
    let (mut texts, mut bytes) = (0, 0);
    let mut found: std::collections::BTreeMap<String, usize> = Default::default();
    let mut look = |text: &str| {
        texts += 1;
        bytes += text.len();
        let clean = redactor.redact(text);
        let mark = git_memory::session::REDACTION_MARK;
        let known = text.matches(mark).count();
        for (at, _) in clean.match_indices(mark).skip(known) {
            let from = clean[..at].char_indices().rev().nth(60).map_or(0, |(at, _)| at);
            let to = clean[at..].find(']').map_or(clean.len(), |end| at + end + 1);
            *found.entry(clean[from..to].replace('\n', "⏎")).or_default() += 1;
        }
    };
    for entry in walkdir::WalkDir::new(&corpus).sort_by_file_name().into_iter().flatten() {
        let Ok(text) = fs::read(entry.path()).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()) else {
            continue;
        };
        match entry.path().extension().and_then(|end| end.to_str()) {
            Some("jsonl") => {
                text.lines().for_each(|line| strings(&serde_json::from_str(line).unwrap_or(json!(line)), &mut look))
            }
            Some("json") => strings(&serde_json::from_str(&text).unwrap_or(json!(text)), &mut look),
            Some("xz") => {}
            _ => look(&text),
        }
    }
    for (context, count) in &found {
        println!("{count:5}  {context}");
    }
    println!(
        "{} redactions, {} distinct, in {texts} texts of {bytes} bytes",
        found.values().sum::<usize>(),
        found.len()
    );
}

/// Every string in a JSON value.
fn strings(value: &Value, look: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => look(text),
        Value::Array(items) => items.iter().for_each(|item| strings(item, look)),
        Value::Object(fields) => fields.values().for_each(|value| strings(value, look)),
        _ => {}
    }
}
