//! Notes about a session, written in markdown by a person or an agent.
//!
//! ```markdown
//! ---
//! session_id: 2026-03-01-release      (else: the file's name and a hash of its content)
//! agent: claude, title, cwd, branch, started, ended  (all optional)
//! ---
//! ## Prompts          also: Prompt, User, Human, Me; any heading level
//! 1. each item of a list, or each paragraph, is one human turn
//!
//! ## Assistant        also: Outcome, Answer, Answers: the model's words
//! ## Commands         also: Tool, Tools, Tool use: fenced blocks are tool results
//! ```
//! Everything else is one observation of no known speaker: only text under a human heading counts as a person's.

use std::path::Path;

use jiff::Timestamp;

use super::builder::{self, Event, digest, safe_id, title_of};
use super::lines::{self, Damage};
use super::{Agent, Observation, ObservationKind as Kind, ReadOptions, Session, Speaker, own};

#[derive(Clone, Copy, PartialEq)]
enum Part {
    Human,
    Assistant,
    Tool,
    Other,
}

/// Reads a note; `None` when it says nothing, or nothing of it may be kept.
pub(super) fn read(bytes: &[u8], path: &Path, options: ReadOptions, damage: &mut Damage) -> Option<Session> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = lines::text(bytes, 1, damage).replace("\r\n", "\n");
    let (head, rest) = frontmatter(&text);
    let field =
        |name: &str| head.iter().find(|(key, _)| *key == name).map(|(_, value)| *value).filter(|v| !v.is_empty());
    let policy = options.policy.for_cwd(field("cwd"));
    if !policy.enabled {
        return None;
    }
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let id = match field("session_id") {
        Some(id) => safe_id(options.redactor, id),
        None => safe_id(options.redactor, &format!("{}-{}", slug(&stem), &digest(text.as_bytes())[..8])),
    };
    let time = |name: &str| field(name).and_then(|value| value.parse::<Timestamp>().ok());
    let (started, ended) = (time("started"), time("ended"));
    let mut observations: Vec<Observation> = Vec::new();
    if !policy.metadata_only {
        for (part, turn) in turns(rest) {
            let (kind, speaker) = match part {
                Part::Human => (Kind::Prompt, Speaker::Human),
                Part::Assistant => (Kind::Answer, Speaker::Assistant),
                Part::Tool => (Kind::ToolResult, Speaker::Tool),
                Part::Other => (Kind::Other, Speaker::System),
            };
            // By content: a note that grew keeps the names of what it had.
            let name = format!("note-{}", digest(format!("{id}\n{speaker:?}\n{turn}").as_bytes()));
            if observations.iter().any(|known| known.id == name) {
                continue;
            }
            let event = Event {
                id: &name,
                at: started,
                kind,
                speaker,
                tool: None,
                call: None,
                title: None,
                body: &turn,
                exit: None,
            };
            observations.push(builder::observation(options.redactor, &event));
        }
        if observations.is_empty() {
            return None;
        }
    }
    for (at, observation) in observations.iter_mut().enumerate() {
        observation.seq = at as u32 + 1;
    }
    let words = builder::title_of_session(&observations);
    let title = match field("title") {
        _ if policy.metadata_only => String::new(),
        Some(title) => title_of(&options.redactor.redact(title)),
        None => words.unwrap_or_else(|| format!("Note {}", options.redactor.redact(&stem))),
    };
    let clean = |name: &str| field(name).map(|value| options.redactor.redact(value).into_owned());
    let first = observations.iter().find(|o| o.speaker == Speaker::Human).map(|o| o.body.as_str());
    Some(Session {
        own: own::is_own(first.or(Some(rest)), field("cwd")),
        id,
        agent: Agent::Markdown,
        version: None,
        cwd: clean("cwd"),
        branch: clean("branch"),
        started,
        ended,
        title,
        parent: None,
        observations,
    })
}

/// The `name: value` lines between `---` lines at the front, and the text behind them.
fn frontmatter(text: &str) -> (Vec<(&str, &str)>, &str) {
    let Some(rest) = text.strip_prefix("---\n") else { return (Vec::new(), text) };
    let Some(end) = rest.find("\n---\n").or_else(|| rest.strip_suffix("\n---").map(str::len)) else {
        return (Vec::new(), text);
    };
    let fields = rest[..end].lines().filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        Some((name.trim(), value.trim().trim_matches(['"', '\''])))
    });
    (fields.collect(), rest.get(end + 5..).unwrap_or(""))
}

/// The turns of a note, in order.
fn turns(text: &str) -> Vec<(Part, String)> {
    let (mut out, mut part, mut section) = (Vec::new(), Part::Other, String::new());
    let mut fence: Option<&str> = None;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            _ => {}
        }
        if fence.is_none() && line.starts_with('#') {
            let level = line.bytes().take_while(|b| *b == b'#').count();
            let named =
                if (1..=6).contains(&level) && line[level..].starts_with(' ') { heading(&line[level..]) } else { None };
            // A heading inside a section of a known speaker that names nobody is part of what was said.
            if named.is_some() || part == Part::Other && level == 2 || level == 2 && line[level..].starts_with(' ') {
                section_turns(part, &section, &mut out);
                section.clear();
                part = named.unwrap_or(Part::Other);
                if named.is_some() {
                    continue;
                }
            }
        }
        section.push_str(line);
    }
    section_turns(part, &section, &mut out);
    // What belongs to nobody is one observation, wherever it stood.
    let others: Vec<String> =
        out.iter().filter(|(part, _)| *part == Part::Other).map(|(_, text)| text.clone()).collect();
    out.retain(|(part, _)| *part != Part::Other);
    if !others.is_empty() {
        out.push((Part::Other, others.join("\n\n")));
    }
    out
}

fn heading(text: &str) -> Option<Part> {
    match text.trim().trim_end_matches([':', '#']).trim().to_ascii_lowercase().as_str() {
        "prompts" | "prompt" | "user" | "human" | "me" => Some(Part::Human),
        "assistant" | "outcome" | "answer" | "answers" => Some(Part::Assistant),
        "commands" | "tool" | "tools" | "tool use" => Some(Part::Tool),
        _ => None,
    }
}

fn section_turns(part: Part, section: &str, out: &mut Vec<(Part, String)>) {
    if section.trim().is_empty() {
        return;
    }
    match part {
        Part::Human => out.extend(items(section).into_iter().map(|item| (part, item))),
        Part::Tool if section.contains("```") => {
            let fenced = section.split("```").skip(1).step_by(2);
            out.extend(
                fenced
                    .map(|block| (part, block.split_once('\n').map_or(block, |(_, body)| body).trim_end().to_owned())),
            );
        }
        _ => out.push((part, section.trim().to_owned())),
    }
}

/// The items of a list, else the paragraphs. Lines that are indented, or inside a fence, belong to what is before them.
fn items(section: &str) -> Vec<String> {
    let marker = |line: &str| {
        let digits = line.bytes().take_while(u8::is_ascii_digit).count();
        match line.as_bytes().get(digits..digits + 2) {
            Some(b". " | b") ") if digits > 0 => Some(digits + 2),
            _ if line.starts_with("- ") || line.starts_with("* ") => Some(2),
            _ => None,
        }
    };
    let listed = section.lines().find(|line| !line.trim().is_empty()).is_some_and(|line| marker(line).is_some());
    let (mut out, mut item, mut fenced): (Vec<String>, String, bool) = (Vec::new(), String::new(), false);
    let mut flush = |item: &mut String| {
        if !item.trim().is_empty() {
            out.push(item.trim().to_owned());
        }
        item.clear();
    };
    for line in section.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        let body = match marker(line) {
            Some(length) if listed && !fenced => {
                flush(&mut item);
                &line[length..]
            }
            _ if listed => line.strip_prefix("   ").unwrap_or(line),
            _ if line.trim().is_empty() && !fenced => {
                flush(&mut item);
                line
            }
            _ => line,
        };
        item.push_str(body);
        item.push('\n');
    }
    flush(&mut item);
    out
}

fn slug(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars().take(60) {
        match c.to_ascii_lowercase() {
            c if c.is_ascii_alphanumeric() => out.push(c),
            _ if !out.is_empty() && !out.ends_with('-') => out.push('-'),
            _ => {}
        }
    }
    let out = out.trim_end_matches('-');
    if out.is_empty() { "note".to_owned() } else { out.to_owned() }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::{Policy, Redactor};
    use super::*;

    fn note(text: &str) -> Session {
        let (redactor, policy) = (Redactor::new(&[], &[]).unwrap(), Policy::new(true, false, &[]).unwrap());
        let options = ReadOptions { redactor: &redactor, policy: &policy };
        read(text.as_bytes(), Path::new("My Note.md"), options, &mut Damage::default()).unwrap()
    }

    #[test]
    fn only_text_under_a_human_heading_is_a_persons() {
        let session = note(
            "---\nsession_id: rel-1\nstarted: 2026-03-01T10:00:00Z\n---\n# Release\n\nIntro.\n\n## Prompts\n\n1. use pnpm\n   not npm\n2. ship it\n\n## Outcome\n\nShipped.\n\n## Commands\n\n```sh\n$ pnpm publish\n```\n",
        );
        assert_eq!(session.id, "rel-1");
        assert_eq!(session.title, "use pnpm");
        let prompts: Vec<_> = session.prompts().map(|o| o.body.as_str()).collect();
        assert_eq!(prompts, ["use pnpm\nnot npm", "ship it"]);
        let others: Vec<_> = session.observations.iter().skip(2).map(|o| (o.speaker, o.body.as_str())).collect();
        assert_eq!(
            others,
            [
                (Speaker::Assistant, "Shipped."),
                (Speaker::Tool, "$ pnpm publish"),
                (Speaker::System, "# Release\n\nIntro.")
            ]
        );
    }

    #[test]
    fn a_plain_note_is_one_observation_of_nobody_and_its_id_follows_its_content() {
        let (a, b) = (note("always use pnpm\n"), note("never use pnpm\n"));
        assert_eq!(a.prompts().count(), 0);
        assert_eq!(a.observations.len(), 1);
        assert!(a.id.starts_with("my-note-") && a.id != b.id);
    }
}
