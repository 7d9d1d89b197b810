//! What tells Codex's files from others.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::fields::Fields;
use crate::session::json_lines;

/// What to say of a file that only lists sessions.
pub(in crate::session) const INDEX: &str =
    "one of Codex's indexes, in which no session stands: name the files below `sessions`";

/// The types of lines, in an envelope of their own.
pub(super) const ENVELOPES: &[&str] = &[
    "session_meta",
    "response_item",
    "event_msg",
    "turn_context",
    "compacted",
    "world_state",
    "inter_agent_communication",
    "inter_agent_communication_metadata",
];

/// Whether a line can only be Codex's, also when it is damaged.
pub(in crate::session) fn is_telling(line: &[u8]) -> bool {
    if !line.starts_with(b"{") {
        return false;
    }
    let text = String::from_utf8_lossy(line);
    match json_lines::first(&text) {
        Some((fields, _)) => tells(&fields),
        None => claims(&text),
    }
}

/// Whether an object can only be a line of Codex's.
pub(super) fn tells(fields: &Fields) -> bool {
    let kind = fields.text("type");
    match kind.as_deref() {
        Some(kind) if ENVELOPES.contains(&kind) => fields.raw("payload").is_some_and(|raw| raw.starts_with('{')),
        // The first generation has no envelope.
        Some("message") => {
            let told = |block: &&str| block.contains("\"input_text\"") || block.contains("\"output_text\"");
            fields.text("role").is_some() && fields.list("content").iter().any(told)
        }
        Some("function_call") => fields.raw("call_id").is_some() && fields.raw("arguments").is_some(),
        Some("function_call_output") => fields.raw("call_id").is_some() && fields.raw("output").is_some(),
        Some("local_shell_call") => fields.raw("action").is_some(),
        Some("reasoning") => fields.raw("summary").is_some() || fields.raw("encrypted_content").is_some(),
        Some(_) => false,
        None => is_state(fields) || is_head(fields),
    }
}

/// `{"record_type":"state"}` of the first generation.
pub(super) fn is_state(fields: &Fields) -> bool {
    fields.raw("record_type").is_some()
}

/// The first line of the first generation.
pub(super) fn is_head(fields: &Fields) -> bool {
    let told = fields.has("instructions") || fields.has("git");
    fields.text("type").is_none() && fields.text("id").is_some() && fields.text("timestamp").is_some() && told
}

/// A line that cannot be read: its beginning tells.
fn claims(text: &str) -> bool {
    let head: String = text.chars().take(300).filter(|c| !c.is_whitespace()).collect();
    let claims = |kind: &str| head.contains(&format!("\"type\":\"{kind}\""));
    head.contains("\"payload\":{") && ENVELOPES.iter().any(|kind| claims(kind))
        || head.starts_with("{\"type\":\"message\",\"role\":")
            && (head.contains("\"type\":\"input_text\"") || head.contains("\"type\":\"output_text\""))
}

/// What to say of a file whose first line this is, when it only lists sessions or prompts.
pub(in crate::session) fn is_index(line: &[u8]) -> Option<&'static str> {
    let fields = Fields::read(std::str::from_utf8(line).ok()?)?;
    let names = fields.has("id") && fields.has("thread_name");
    let history = fields.has("session_id") && fields.has("ts") && fields.has("text");
    (!fields.has("type") && (names || history)).then_some(INDEX)
}

/// Whether an SQLite file is Codex's own state: its table of threads names their files.
///
/// # Errors
/// When the file cannot be read.
pub(in crate::session) fn is_state_file(path: &Path) -> io::Result<bool> {
    let mut head = Vec::new();
    File::open(path)?.take(1 << 18).read_to_end(&mut head)?;
    let contains = |word: &[u8]| head.windows(word.len()).any(|window| window == word);
    Ok(contains(b"TABLE threads") && contains(b"rollout_path"))
}

#[cfg(test)]
mod tests {
    use super::{is_index, is_telling};

    #[test]
    fn lines_of_every_generation_are_told_and_those_of_other_agents_are_not() {
        for line in [
            r#"{"timestamp":"2026-03-01T10:00:00Z","type":"session_meta","payload":{"id":"x"}}"#,
            r#"{"payload":{"cwd":"/tmp","id":"x"},"timestamp":"2024-01-01T10:00:00Z","type":"session_meta"}"#,
            r#"{"type": "world_state", "payload": {}}"#,
            r#"{"id":"x","timestamp":"2025-05-07T17:24:21.597Z","instructions":null,"git":{"branch":"main"}}"#,
            r#"{"record_type":"state"}"#,
            r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"x"}]}"#,
            r#"{"type":"function_call","name":"shell","arguments":"{}","call_id":"c"}"#,
            r#"{"timestamp":"2026-03-01T10:00:00Z","type":"response_item","payload":{"type":"message","role":"us"#,
            "{\"timestamp\":\"x\",\"type\":\"event_msg\",\"payload\":{\"a\":\"\u{1}\"}}",
        ] {
            assert!(is_telling(line.as_bytes()), "{line}");
        }
        for line in [
            r#"{"type":"user","message":{"role":"user","content":"x"},"uuid":"u","sessionId":"s"}"#,
            r#"{"type":"user","uuid":"u","message":{"content":"\"type\":\"event_msg\" \"payload\":{"#,
            r#"{"id":"1","timestamp":"2026-01-01T00:00:00Z","type":"user","content":"x"}"#,
            r#"{"sessionId":"x","projectHash":"y","startTime":"2026-01-01T00:00:00Z","kind":"main"}"#,
            r#"{"type":"user.message","data":{"content":"x"},"id":"1","timestamp":"2026-01-01T00:00:00Z","parentId":null}"#,
            r#"{"type":"message","id":"m1","role":"user","content":[{"type":"text","text":"x"}]}"#,
            r#"{"role":"user","content":"x"}"#,
            r#"["type","event_msg"]"#,
        ] {
            assert!(!is_telling(line.as_bytes()), "{line}");
        }
    }

    #[test]
    fn indexes_are_no_sessions() {
        assert!(is_index(br#"{"id":"019c","thread_name":"fix","updated_at":"2026-03-01T10:00:00Z"}"#).is_some());
        assert!(is_index(br#"{"session_id":"019c","ts":1772359200,"text":"fix it"}"#).is_some());
        assert!(is_index(br#"{"type":"session_meta","payload":{"id":"x"}}"#).is_none());
    }
}
