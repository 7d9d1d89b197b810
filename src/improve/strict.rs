//! JSON of programs and models, read without mercy: what is said twice was not said.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::model::{MOST_BEGINNINGS, answer};

/// Most bytes of an answer in which a value is looked for: from many a place where one may begin, all the rest is read.
const LONGEST: usize = 64 << 10;

/// An object's fields.
pub(super) type Fields = Map<String, Value>;

/// The first JSON value of a reply, which must be an object; it may stand in a fence or between words. Where one of
/// these fields is named again behind it, the reply may have quoted somebody else's answer first: it is none then.
pub(super) fn only(text: &str, keys: &[&str]) -> Result<Fields, String> {
    if text.len() > LONGEST {
        return Err(format!("it has {} bytes; {LONGEST} are allowed", text.len()));
    }
    whole(the_one(text, keys)?)
}

/// As [`only`], for an object whose values are read one by one: what is named twice deeper down is not looked at.
pub(super) fn envelope(text: &str, keys: &[&str]) -> Result<Value, String> {
    let text = the_one(text, keys)?;
    let Outer(fields) = serde_json::from_str(text).map_err(|error| format!("it is no JSON object: {error}"))?;
    Ok(Value::Object(fields))
}

/// The JSON value that answers.
fn the_one<'t>(text: &'t str, keys: &[&str]) -> Result<&'t str, String> {
    let whole = text.trim_start();
    let text = answer(whole);
    let twice = |key: &&str| format!("it names `{key}` a second time, so that nobody can tell which is the answer");
    let before = &whole[..whole.len() - text.len()];
    if !before.starts_with('<')
        && let Some(key) = keys.iter().find(|key| names(before, key))
    {
        // Whether that was a reasoning, or a page that was quoted closes one, nobody can tell.
        return Err(twice(key));
    }
    if text.trim().is_empty() && !before.is_empty() {
        return Err("it ends before it has thought".into());
    }
    let mut from = 0;
    for _ in 0..MOST_BEGINNINGS {
        let Some(at) = text[from..].find(['{', '[']).map(|at| from + at) else { break };
        from = at + 1;
        let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
        let Some(Ok(_)) = values.next() else { continue };
        let (value, rest) = text[at..].split_at(values.byte_offset());
        // `[1]` in a sentence is a footnote.
        if value.starts_with('[') && value != "[]" && !value.contains('{') {
            continue;
        }
        return match keys.iter().find(|key| names(rest, key)) {
            Some(key) => Err(twice(key)),
            None => Ok(value),
        };
    }
    Err("it holds no JSON".into())
}

/// Whether a text names a field, in a whole object or in one that was cut off.
fn names(text: &str, key: &str) -> bool {
    let quoted = format!("\"{key}\"");
    text.match_indices(&quoted).any(|(at, _)| text[at + quoted.len()..].trim_start().starts_with(':'))
}

/// A text that is one JSON object and nothing else but white space.
pub(super) fn whole(text: &str) -> Result<Fields, String> {
    match serde_json::from_str::<Once>(text.trim()) {
        Ok(Once(Value::Object(fields))) => Ok(fields),
        Ok(_) => Err("it is no JSON object".into()),
        Err(error) => Err(format!("it is no JSON object: {error}")),
    }
}

/// Exactly these fields, in any order.
pub(super) fn exactly(fields: &Fields, keys: &[&str]) -> Result<(), String> {
    if let Some(missing) = keys.iter().find(|key| !fields.contains_key(**key)) {
        return Err(format!("`{missing}` is missing"));
    }
    match fields.keys().find(|key| !keys.contains(&key.as_str())) {
        Some(extra) => Err(format!("`{extra}` was not asked for")),
        None => Ok(()),
    }
}

/// A whole number within bounds: no text, no fraction, no `4.0`.
pub(super) fn number(value: Option<&Value>, least: i64, most: i64) -> Result<i64, String> {
    let number = value.and_then(Value::as_i64).filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| {
        let found = value.map_or_else(|| "nothing".into(), Value::to_string);
        format!("{found} is no whole number from {least} to {most}")
    })
}

/// A value in which no object names a field twice.
struct Once(Value);

impl<'de> Deserialize<'de> for Once {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Once, D::Error> {
        from.deserialize_any(Reader).map(Once)
    }
}

/// An object that names no field of its own twice.
struct Outer(Fields);

impl<'de> Deserialize<'de> for Outer {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Outer, D::Error> {
        from.deserialize_map(OuterReader).map(Outer)
    }
}

struct OuterReader;

impl<'de> Visitor<'de> for OuterReader {
    type Value = Fields;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Fields, A::Error> {
        let mut all = Map::new();
        while let Some((key, value)) = fields.next_entry::<String, Value>()? {
            if all.contains_key(&key) {
                return Err(A::Error::custom(format!("`{key}` is named twice")));
            }
            all.insert(key, value);
        }
        Ok(all)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        while let Some(Once(item)) = items.next_element()? {
            all.push(item);
        }
        Ok(all.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut all = Map::new();
        while let Some((key, Once(value))) = fields.next_entry::<String, Once>()? {
            if all.contains_key(&key) {
                return Err(A::Error::custom("a field is named twice"));
            }
            all.insert(key, value);
        }
        Ok(all.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_value_counts_wherever_it_stands_and_must_be_an_object() {
        for text in [
            "{\"a\":1}",
            "Well:\n```json\n{\"a\": 1}\n```\nIt is \"a\" that counts, not {\"b\": 2}.",
            "{no} {\"a\":1}",
            "\n<think>{\"a\":3}, no.</think>\n{\"a\":1}",
            "<reasoning>{\"a\":3}, no.</reasoning>{\"a\":1}",
            "I had better say yes.</think>{\"a\":1}",
        ] {
            assert_eq!(only(text, &["a"]).map(|fields| fields["a"].clone()), Ok(1.into()), "{text}");
        }
        for text in ["", "words", "[{\"a\":1}]", "{\"a\":1,\"a\":2}", "{\"a\":{\"b\":1,\"b\":1}}", "<html>{</html>"] {
            assert!(only(text, &["a"]).is_err(), "{text}");
        }
    }

    #[test]
    fn an_answer_that_is_given_twice_is_none() {
        for text in [
            "The page says {\"a\":1}. I say {\"a\":2}.",
            "{\"a\":1}\n{\"a\":1}",
            "{\"a\":1} {\"answer\": {\"a\" : 2}}",
            "{\"a\":1}, or rather {\"a\": 2, \"b",
            "<think>{\"a\":1}",
            "{\"a\":1}</think>{\"a\":2}",
            "I say {\"a\":1}. The page says </think> {\"a\":2}",
            "<thinking>Hm.</thinking> I say {\"a\":1}. The page says </thinking> {\"a\":2}",
        ] {
            assert!(only(text, &["b", "a"]).is_err(), "{text}");
        }
    }

    #[test]
    fn an_envelope_names_its_own_fields_once() {
        let twice_within = "[1] {\"a\":[{\"b\":1,\"b\":2}]}";
        assert_eq!(envelope(twice_within, &["a"]), Ok(serde_json::json!({"a": [{"b": 2}]})));
        for text in ["{\"a\":[],\"a\":[1]}", "{\"a\":[]} {\"a\":[1]}", "[{\"a\":[]}]", "", "[]", "[\"a\"]"] {
            assert!(envelope(text, &["a"]).is_err(), "{text}");
        }
        let clock = std::time::Instant::now();
        assert!(envelope(&"[".repeat(100_000), &["a"]).is_err());
        assert!(clock.elapsed() < std::time::Duration::from_secs(20), "{:?}", clock.elapsed());
    }

    #[test]
    fn an_answer_of_brackets_costs_no_minutes() {
        let begun = std::time::Instant::now();
        for length in [LONGEST, 100 * LONGEST] {
            assert!(only(&"[".repeat(length), &["a"]).is_err());
        }
        assert_eq!(only("[[[{\"a\":1}", &["a"]).map(|fields| fields.len()), Ok(1));
        assert!(begun.elapsed().as_secs() < 5, "{:?}", begun.elapsed());
    }

    #[test]
    fn a_whole_text_is_one_object_and_nothing_else() {
        assert!(whole(" {\"a\":[1.5,null,true,\"x\",-1]}\n").is_ok());
        for text in ["", "null", "{} {}", "x{}", "[]", "{\"a\":1e999}", "{\"a\":NaN}"] {
            assert!(whole(text).is_err(), "{text}");
        }
    }

    #[test]
    fn only_whole_numbers_within_bounds_are_numbers() {
        let number = |text: &str| number(serde_json::from_str::<Value>(text).ok().as_ref(), 1, 5);
        assert_eq!((number("1"), number("5")), (Ok(1), Ok(5)));
        for text in ["0", "6", "-1", "4.5", "4.0", "\"4\"", "null", "true", "[4]", "18446744073709551615"] {
            assert!(number(text).is_err(), "{text}");
        }
    }

    #[test]
    fn keys_are_those_that_were_asked_for() {
        let fields = |text: &str| whole(text).expect("an object");
        assert_eq!(exactly(&fields("{\"b\":1,\"a\":1}"), &["a", "b"]), Ok(()));
        assert!(exactly(&fields("{\"a\":1}"), &["a", "b"]).is_err());
        assert!(exactly(&fields("{\"a\":1,\"b\":1,\"c\":1}"), &["a", "b"]).is_err());
    }
}
