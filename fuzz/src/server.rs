//! Answers of models' servers: each is a reply, or one error in words that tell no secret.

use git_memory::model::Prompt;
use git_memory::model::fuzzed::{Answered, KEY, read};
use serde_json::json;

use crate::in_time;

/// Most characters of an error: a stranger's words are cut at 300, ours stand around them.
const LONGEST: usize = 700;

/// An answer of HTTP, less strict than on the wire: `openai 200`, headers, an empty line, the body. With `list` behind
/// the status the reply is to be a list.
pub fn check(bytes: &[u8]) {
    let cut = bytes.windows(2).position(|two| two == b"\n\n");
    let (head, body) = cut.map_or((bytes, &b""[..]), |at| (&bytes[..at], &bytes[at + 2..]));
    let head = String::from_utf8_lossy(head);
    let mut lines = head.lines();
    let first: Vec<&str> = lines.next().unwrap_or_default().split(' ').collect();
    let headers: Vec<(&str, &str)> = lines.filter_map(|line| line.split_once(": ")).collect();
    let header = |name: &str| headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| *value);
    let answered = Answered {
        anthropic: first[0] == "anthropic",
        status: first.get(1).and_then(|status| status.parse().ok()).unwrap_or(200),
        retry_after: header("retry-after"),
        location: header("location"),
        body,
    };
    let form = if first.get(2) == Some(&"list") { "array" } else { "object" };
    let prompt = Prompt { system: "s".into(), user: "u".into(), schema_name: "review", schema: json!({"type": form}) };
    let (read, wait) = in_time(bytes.len(), || read(&answered, &prompt));
    match read {
        Ok(reply) => {
            assert!((200..300).contains(&answered.status), "a reply with status {}", answered.status);
            assert!(!reply.text.trim().is_empty(), "an empty reply");
            crate::replies(reply.text.as_bytes());
        }
        Err(error) => {
            let words = error.to_string();
            assert!(!words.contains(KEY), "{words}");
            crate::is_message(&words, LONGEST);
        }
    }
    // No server makes anybody wait for more than a day.
    assert!(wait.is_none_or(|wait| wait.as_secs() <= 86_401), "{wait:?}");
}
