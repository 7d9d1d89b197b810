//! Messages, as Anthropic serves them. The reply's form is held by a tool that the model has to call.

use serde_json::{Map, Value, json};

use super::super::{Error, Prompt, StageSettings, Usage};
use super::abilities::{Abilities, Structured};
use super::{Said, counted, empty};

/// The version of the interface that is spoken here.
pub(super) const VERSION: &str = "2023-06-01";

/// The member in which a reply that is no object comes: a tool takes nothing but an object.
const WRAPPED: &str = "value";

pub(super) fn body(settings: &StageSettings, prompt: &Prompt, abilities: &Abilities) -> Value {
    let by_tool = abilities.structured == Structured::Tool;
    let mut body = Map::new();
    body.insert("model".into(), settings.model.clone().into());
    body.insert("max_tokens".into(), abilities.limit(settings.max_output_tokens).into());
    body.insert("system".into(), prompt.system.clone().into());
    body.insert("messages".into(), json!([{"role": "user", "content": prompt.with_schema()}]));
    if let Some(temperature) = settings.temperature.filter(|_| abilities.temperature) {
        // The scale ends at 1 here.
        body.insert("temperature".into(), temperature.min(1.0).into());
    }
    if by_tool {
        let schema = if is_wrapped(prompt) {
            json!({"type": "object", "properties": {WRAPPED: prompt.schema}, "required": [WRAPPED]})
        } else {
            prompt.schema.clone()
        };
        let tool = json!({"name": prompt.schema_name, "description": "Takes the answer.", "input_schema": schema});
        body.insert("tools".into(), json!([tool]));
        body.insert("tool_choice".into(), json!({"type": "tool", "name": prompt.schema_name}));
    }
    body.into()
}

fn is_wrapped(prompt: &Prompt) -> bool {
    prompt.schema["type"].as_str() != Some("object")
}

pub(super) fn read(value: &Value, prompt: &Prompt) -> Result<Said, Error> {
    match value["stop_reason"].as_str() {
        Some("max_tokens" | "model_context_window_exceeded") => {
            return Err(Error::BadReply(
                "it was cut off at its limit of tokens; raise `model.max_output_tokens`".into(),
            ));
        }
        Some("refusal") => return Err(Error::Declined("the model declines to answer".into())),
        _ => {}
    }
    let Some(blocks) = value["content"].as_array() else {
        return Err(Error::BadReply("the server sent no content".into()));
    };
    let called = blocks.iter().find(|block| block["type"] == "tool_use" && block["name"] == prompt.schema_name);
    let text = match called.and_then(|block| block.get("input")) {
        Some(input) => match input.get(WRAPPED) {
            Some(inside) if is_wrapped(prompt) => inside.to_string(),
            _ => input.to_string(),
        },
        None => {
            let texts =
                blocks.iter().filter(|block| block["type"] == "text").filter_map(|block| block["text"].as_str());
            texts.collect()
        }
    };
    if text.trim().is_empty() {
        return Err(empty(blocks.iter().any(|block| block["type"] == "thinking")));
    }
    Ok(Said { text, model: value["model"].as_str().unwrap_or_default().to_owned() })
}

/// What a call cost, where the server says so.
pub(super) fn usage(value: &Value) -> Option<Usage> {
    counted(value, &["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"], "output_tokens")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt(schema: Value) -> Prompt {
        Prompt { system: "s".into(), user: "u".into(), schema_name: "review", schema }
    }

    #[test]
    fn the_tools_input_is_the_reply_and_what_stands_around_it_is_passed_over() {
        let value = json!({"model": "m-1", "stop_reason": "tool_use", "content": [
            {"type": "thinking", "thinking": "{\"a\": 0}"}, {"type": "text", "text": "Here: {\"a\": 2}"},
            {"type": "tool_use", "name": "other", "input": {"a": 3}},
            {"type": "tool_use", "name": "review", "input": {"a": 1}}],
            "usage": {"input_tokens": 3, "cache_read_input_tokens": 4, "output_tokens": 5}});
        let said = read(&value, &prompt(json!({"type": "object"}))).unwrap();
        assert_eq!(
            (said, usage(&value)),
            (Said { text: "{\"a\":1}".into(), model: "m-1".into() }, Some(Usage { input: 7, output: 5 }))
        );
    }

    #[test]
    fn a_list_goes_in_and_comes_out_of_its_wrapping() {
        let prompt = prompt(json!({"type": "array"}));
        let value = json!({"content": [{"type": "tool_use", "name": "review", "input": {"value": [1]}}]});
        assert_eq!(read(&value, &prompt).unwrap().text, "[1]");
    }

    #[test]
    fn no_answer_of_any_form_makes_it_fall_over() {
        let prompt = prompt(json!({"type": "object"}));
        for value in
            [json!({}), json!([]), json!({"content": []}), json!({"content": "x"}), json!({"content": [null, 3]})]
        {
            assert!(matches!(read(&value, &prompt), Err(Error::BadReply(_))), "{value}");
        }
        for (reason, code) in [("max_tokens", "bad_reply"), ("refusal", "refused")] {
            let value = json!({"stop_reason": reason, "content": [{"type": "text", "text": "{}"}]});
            assert_eq!(read(&value, &prompt).unwrap_err().code(), code);
        }
    }
}
