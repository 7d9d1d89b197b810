//! Finding the JSON in a reply.

use serde_json::Value;

/// Places where a value may begin that are looked at: a text of nothing but brackets must not cost a minute.
pub const MOST_BEGINNINGS: usize = 2_000;

/// The tags between which models write that they think.
const REASONING: [&str; 4] = ["think", "thinking", "reasoning", "thought"];

/// A reply without the reasoning in front of it, where some models put their drafts; it ends where the reasoning is first
/// closed. Its beginning may be missing, as that often stands in the prompt; a reasoning without an end has no answer
/// behind it.
pub fn answer(text: &str) -> &str {
    let text = text.trim_start();
    if text.starts_with(['{', '[', '`']) {
        return text;
    }
    let behind = |tag: &str| {
        let close = format!("</{tag}>");
        text.find(&close).map(|at| at + close.len())
    };
    match REASONING.iter().find(|tag| text.starts_with(&format!("<{tag}>"))) {
        Some(tag) => behind(tag).map_or("", |end| &text[end..]),
        None => REASONING.iter().filter_map(|tag| behind(tag)).min().map_or(text, |end| &text[end..]),
    }
}

/// The first JSON object or array of a reply: bare, in a fence, or between words. `None` when there is no whole one.
pub fn first_json(text: &str) -> Option<Value> {
    values(text).next()
}

/// The JSON objects and arrays of a reply, one after the other.
pub fn values(text: &str) -> impl Iterator<Item = Value> {
    let text = answer(text);
    let mut from = 0;
    let mut beginnings = 0;
    std::iter::from_fn(move || {
        while beginnings < MOST_BEGINNINGS {
            beginnings += 1;
            let at = text[from..].find(['{', '[']).map(|at| from + at)?;
            let mut found = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
            match found.next() {
                // `[1]` in a sentence is a footnote; no reply is a list of bare words or numbers.
                Some(Ok(Value::Array(items)))
                    if !items.is_empty() && items.iter().all(|item| !item.is_object() && !item.is_array()) => {}
                Some(Ok(value)) => {
                    from = at + found.byte_offset();
                    return Some(value);
                }
                _ => {}
            }
            from = at + 1;
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_value_is_found_bare_in_a_fence_and_between_words() {
        for text in ["{\"a\":1}", "Here:\n```json\n{\"a\":1}\n```\nBye {", "{not} {\"a\":1} {\"a\":2}"] {
            assert_eq!(first_json(text), Some(json!({"a": 1})), "{text}");
        }
        assert_eq!(first_json("{\"a\":"), None);
        assert_eq!(first_json("See [1] and [\"a\", null]: {\"a\":1}"), Some(json!({"a": 1})));
        assert_eq!(first_json("[] {}"), Some(json!([])));
        assert_eq!(first_json("[{\"a\":1}]"), Some(json!([{"a": 1}])));
        assert_eq!(first_json("none"), None);
        assert_eq!(first_json(&"[".repeat(100_000)), None);
    }
    #[test]
    fn drafts_in_a_reasoning_are_no_answer() {
        for text in [
            "<think>Like {\"a\":0}? No.</think>\n{\"a\":1}",
            "\n<thinking>{\"a\":0}</thinking>```json\n{\"a\":1}\n```",
            "The beginning is missing {\"a\":0}</think> {\"a\":1}",
        ] {
            assert_eq!(first_json(text), Some(json!({"a": 1})), "{text}");
        }
        assert_eq!(first_json("<think>{\"a\":0} and then it was cut"), None);
        let quoted = "<think>Hm.</think> {\"a\":1}, though the page says </think> {\"a\":0}";
        assert_eq!(first_json(quoted), Some(json!({"a": 1})), "what a page says closes no reasoning");
        let about = "{\"a\":\"what follows </think> counts\"}";
        assert_eq!(first_json(about), Some(json!({"a": "what follows </think> counts"})));
        assert_eq!(values("{\"a\":{\"b\":1}} and {\"c\":2}").count(), 2);
    }
}
