//! What a server says when it does not do what it was asked, made fit for a message.

use serde_json::Value;

use super::http::Answer;
use crate::session::quotable;
use crate::wiki::shown::shown;

/// Most characters of a stranger's words in a message.
const MOST: usize = 300;

/// The words of an answer: those of its error, the title of a page in HTML, else how it begins.
pub(super) fn of(answer: &Answer, value: Option<&Value>) -> String {
    if let Some(value) = value {
        let places = [
            "/error/message",
            "/choices/0/error/message",
            "/error/error/message",
            "/message",
            "/detail",
            "/error",
            "/errors",
        ];
        let found = places.iter().filter_map(|place| value.pointer(place)).find(|found| !found.is_null());
        return match found {
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => "no words".into(),
        };
    }
    let text = String::from_utf8_lossy(&answer.body);
    let text = text.trim();
    if text.is_empty() {
        return "an empty answer".into();
    }
    if text.starts_with('<') {
        return match title(text) {
            Some(title) => format!("a page in HTML, \"{title}\""),
            None => "a page in HTML".into(),
        };
    }
    // Redaction wants more than what is shown, so that no secret is cut in two before it is found.
    text.chars().take(MOST * 16).collect()
}

fn title(page: &str) -> Option<String> {
    let lower = page.to_ascii_lowercase();
    let start = lower.find("<title")?;
    let start = start + lower[start..].find('>')? + 1;
    let end = start + lower[start..].find("</title")?;
    let words: Vec<&str> = page.get(start..end)?.split_whitespace().collect();
    Some(words.join(" ")).filter(|title| !title.is_empty())
}

/// Whether a refusal means that the account is empty, which no pause and no other form of asking mends.
pub(super) fn is_out_of_credit(status: u16, value: Option<&Value>, words: &str) -> bool {
    const SAYS: [&str; 4] = ["credit balance", "insufficient credit", "insufficient balance", "insufficient_quota"];
    let is = |place: &str| {
        value.and_then(|value| value.pointer(place)).and_then(Value::as_str) == Some("insufficient_quota")
    };
    let words = words.to_ascii_lowercase();
    status == 402 || is("/error/code") || is("/error/type") || SAYS.iter().any(|say| words.contains(say))
}

/// The status of an answer. Some routers answer 200 with an error inside, or in the place of a choice, whose status is a
/// number or one of the words that servers use; 400 stands for all others.
pub(super) fn status(answer: &Answer, value: Option<&Value>) -> u16 {
    if !(200..300).contains(&answer.status) {
        return answer.status;
    }
    let Some(value) = value else { return answer.status };
    let found = ["/error", "/choices/0/error"].iter().filter_map(|place| value.pointer(place));
    let Some(error) = found.into_iter().find(|error| !error.is_null()) else {
        let failed = value.pointer("/choices/0/finish_reason").and_then(Value::as_str) == Some("error");
        return if failed { 502 } else { answer.status };
    };
    match (&error["code"], error["type"].as_str()) {
        (Value::Number(code), _) => {
            let code = code.as_u64().and_then(|code| u16::try_from(code).ok());
            code.filter(|code| (400..600).contains(code)).unwrap_or(400)
        }
        (Value::String(word), _) => by_word(word),
        (_, Some(word)) => by_word(word),
        _ => 400,
    }
}

fn by_word(word: &str) -> u16 {
    match word {
        "rate_limit_exceeded" | "rate_limit_error" | "insufficient_quota" | "429" => 429,
        "overloaded_error" | "server_error" | "api_error" | "internal_server_error" | "503" => 503,
        _ => 400,
    }
}

/// Without the key, whatever it looks like.
pub(super) fn without(text: &str, key: Option<&str>) -> String {
    match key {
        Some(key) if !key.is_empty() => text.replace(key, "[REDACTED:key]"),
        _ => text.to_owned(),
    }
}

/// Without secrets (the key first, whatever it looks like), on one line, escaped, and cut last.
pub fn clean(text: &str, key: Option<&str>) -> String {
    let text = quotable(&without(text, key));
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    // Once more: escapes that parted the key are gone now.
    let line = without(&line, key);
    let safe = shown(&line);
    match safe.char_indices().nth(MOST) {
        Some((at, _)) => format!("{} …", &safe[..at]),
        None => safe.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(body: &str) -> Answer {
        Answer { status: 500, retry_after: None, location: None, body: body.into() }
    }

    #[test]
    fn every_servers_way_of_saying_no_is_read() {
        for (body, words) in [
            (r#"{"error":{"message":"no such model","type":"x"}}"#, "no such model"),
            (r#"{"error":"model not found"}"#, "model not found"),
            (r#"{"object":"error","message":"bad"}"#, "bad"),
            (r#"{"detail":[{"msg":"wrong"}]}"#, r#"[{"msg":"wrong"}]"#),
            ("{}", "no words"),
            ("", "an empty answer"),
            ("upstream failed", "upstream failed"),
            ("<!doctype html><TITLE lang=en>\n 502 Bad\tGateway </title>", "a page in HTML, \"502 Bad Gateway\""),
            ("<html><title>", "a page in HTML"),
        ] {
            let value = serde_json::from_str(body).ok();
            assert_eq!(of(&answer(body), value.as_ref()), words, "{body}");
        }
    }

    #[test]
    fn messages_hold_no_key_no_escape_and_no_novel() {
        let text = format!("bad key hunter2hunter2 \u{1b}[31m{}", "long ".repeat(500));
        let clean = clean(&text, Some("hunter2hunter2"));
        assert!(!clean.contains("hunter2") && !clean.contains('\u{1b}'), "{clean}");
        assert!(clean.starts_with("bad key [REDACTED:key]") && clean.chars().count() < MOST + 10, "{clean}");
        assert_eq!(super::clean("key hunt\u{1b}er2", Some("hunter2")), "key [REDACTED:key]");
    }
}
