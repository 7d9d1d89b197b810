//! Finding the JSON in a reply.

use serde_json::Value;

/// Places where a value may begin that are looked at: a text of nothing but brackets must not cost a minute.
pub const MOST_BEGINNINGS: usize = 2_000;

/// The first JSON object or array of a text: bare, in a fence, or between words. `None` when there is no whole one.
pub fn first_json(text: &str) -> Option<Value> {
    let mut from = 0;
    for _ in 0..MOST_BEGINNINGS {
        let at = text[from..].find(['{', '[']).map(|at| from + at)?;
        let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
        match values.next() {
            // `[1]` in a sentence is a footnote; no reply is a list of bare words or numbers.
            Some(Ok(Value::Array(items)))
                if !items.is_empty() && items.iter().all(|item| !item.is_object() && !item.is_array()) => {}
            Some(Ok(value)) => return Some(value),
            _ => {}
        }
        from = at + 1;
    }
    None
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
}
