//! Chat completions, as OpenAI, llama.cpp, Ollama, vLLM, OpenRouter and others serve them.

use serde_json::{Map, Value, json};

use super::super::{Error, Prompt, StageSettings, Usage};
use super::abilities::{Abilities, Structured};
use super::{Said, counted, empty};

pub(super) fn body(settings: &StageSettings, prompt: &Prompt, abilities: &Abilities) -> Value {
    let mut body = Map::new();
    body.insert("model".into(), settings.model.clone().into());
    body.insert(
        "messages".into(),
        json!([{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.with_schema()}]),
    );
    let limit = if abilities.completion_tokens { "max_completion_tokens" } else { "max_tokens" };
    body.insert(limit.into(), abilities.limit(settings.max_output_tokens).into());
    if let Some(temperature) = settings.temperature.filter(|_| abilities.temperature) {
        body.insert("temperature".into(), temperature.into());
    }
    match abilities.structured {
        Structured::JsonSchema => {
            let schema = json!({
                "name": prompt.schema_name, "schema": prompt.schema, "strict": is_strict(&prompt.schema, true),
            });
            body.insert("response_format".into(), json!({"type": "json_schema", "json_schema": schema}));
        }
        Structured::JsonObject => {
            body.insert("response_format".into(), json!({"type": "json_object"}));
        }
        Structured::Tool | Structured::None => {}
    }
    body.into()
}

/// Whether a schema is of the kind that OpenAI holds a model to: objects throughout that want each of their members and
/// no other.
fn is_strict(schema: &Value, top: bool) -> bool {
    let Some(object) = schema.as_object() else { return false };
    let is_object = object.get("type").and_then(Value::as_str) == Some("object");
    if top && !is_object {
        return false;
    }
    if is_object {
        let names = object.get("properties").and_then(Value::as_object);
        let required = object.get("required").and_then(Value::as_array);
        let all = names.is_some_and(|names| {
            names.keys().all(|name| required.is_some_and(|required| required.iter().any(|word| word == name)))
        });
        if !all || object.get("additionalProperties") != Some(&Value::Bool(false)) {
            return false;
        }
    }
    let members = ["properties", "$defs", "definitions"].iter().filter_map(|key| object.get(*key)?.as_object());
    let lists = ["anyOf", "prefixItems"].iter().filter_map(|key| object.get(*key)?.as_array());
    let unknown = ["oneOf", "allOf", "not", "if", "patternProperties"].iter().any(|key| object.contains_key(*key));
    !unknown
        && members.flat_map(Map::values).all(|inside| is_strict(inside, false))
        && lists.flatten().all(|inside| is_strict(inside, false))
        && object.get("items").is_none_or(|inside| is_strict(inside, false))
}

pub(super) fn read(value: &Value) -> Result<Said, Error> {
    let Some(choice) = value.pointer("/choices/0") else {
        return Err(Error::BadReply("the server sent no choice".into()));
    };
    let message = &choice["message"];
    if let Some(why) = message["refusal"].as_str().filter(|why| !why.trim().is_empty()) {
        return Err(Error::Declined(format!("the model declines: {why}")));
    }
    match choice["finish_reason"].as_str() {
        Some("length") => {
            return Err(Error::BadReply(
                "it was cut off at its limit of tokens; raise `model.max_output_tokens`".into(),
            ));
        }
        Some("content_filter") => return Err(Error::Declined("the server's filter withheld the reply".into())),
        _ => {}
    }
    let text = text(&message["content"]);
    if text.trim().is_empty() {
        let reasoned = ["reasoning_content", "reasoning"].iter().any(|name| message[*name].is_string());
        return Err(empty(reasoned));
    }
    Ok(Said { text, model: value["model"].as_str().unwrap_or_default().to_owned() })
}

/// What a call cost, where the server says so.
pub(super) fn usage(value: &Value) -> Option<Usage> {
    counted(value, &["prompt_tokens"], "completion_tokens")
}

/// A text, or a list of parts of which those with text count.
fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| match part {
                Value::String(text) => Some(text.as_str()),
                part => {
                    part["text"].as_str().filter(|_| !matches!(part["type"].as_str(), Some("thinking" | "reasoning")))
                }
            });
            texts.collect()
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_closed_schemas_are_called_strict() {
        let closed = json!({"type": "object", "additionalProperties": false, "required": ["a"],
            "properties": {"a": {"type": "array", "items": {"type": "object", "additionalProperties": false,
                "required": [], "properties": {}}}}});
        assert!(is_strict(&closed, true));
        let mut open = closed.clone();
        open["properties"]["a"]["items"]["properties"] = json!({"b": {"type": "string"}});
        assert!(!is_strict(&open, true), "a member that may be missing");
        assert!(!is_strict(&json!({"type": "array", "items": closed}), true), "a list at the top");
        assert!(!is_strict(&json!({"type": "object", "properties": {}, "required": []}), true));
    }

    #[test]
    fn parts_are_joined_and_reasoning_left_out() {
        let content = json!([{"type": "reasoning", "text": "hm"}, {"type": "text", "text": "{\"a\""}, {"type": "text",
            "text": ":1}"}, {"type": "image_url"}]);
        assert_eq!(text(&content), "{\"a\":1}");
    }

    #[test]
    fn no_answer_of_any_form_makes_it_fall_over() {
        for value in [
            json!({}),
            json!([]),
            json!({"choices": []}),
            json!({"choices": [null]}),
            json!({"choices": 3}),
            json!({"choices": [{"message": null}]}),
            json!({"choices": [{"message": {"content": null}}]}),
        ] {
            assert!(matches!(read(&value), Err(Error::BadReply(_))), "{value}");
        }
    }
}
