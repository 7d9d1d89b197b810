//! JSON objects read leniently: a field is decoded when it is asked for, one of an unexpected type is absent, one that
//! stands twice counts as it stood last.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// The fields of an object.
#[derive(Debug, Default)]
pub(super) struct Fields<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Fields<'a> {
    /// The fields of a JSON object; `None` when it is none.
    pub(super) fn read(json: &'a str) -> Option<Fields<'a>> {
        serde_json::from_str(json).ok()
    }

    /// A field's JSON; `None` when it is not there or null.
    pub(super) fn raw(&self, name: &str) -> Option<&'a str> {
        let field = self.0.iter().rev().find(|(known, _)| known == name);
        field.map(|(_, raw)| raw.get()).filter(|raw| *raw != "null")
    }

    /// Whether a field is there, null or not.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(known, _)| known == name)
    }

    /// A string field.
    pub(super) fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        text(self.raw(name)?)
    }

    /// A string field that says something.
    pub(super) fn word(&self, name: &str) -> Option<Cow<'a, str>> {
        self.text(name).filter(|text| !text.is_empty())
    }

    /// A whole number.
    pub(super) fn number(&self, name: &str) -> Option<i64> {
        self.raw(name)?.parse().ok()
    }

    /// Whether a field is `false`.
    pub(super) fn is_false(&self, name: &str) -> bool {
        self.raw(name) == Some("false")
    }

    /// An object field.
    pub(super) fn fields(&self, name: &str) -> Option<Fields<'a>> {
        Fields::read(self.raw(name)?)
    }

    /// The fields of a list's objects; of an object that was not put into a list, its own.
    pub(super) fn list(&self, name: &str) -> Vec<&'a str> {
        match self.raw(name) {
            Some(raw) if raw.starts_with('[') => {
                serde_json::from_str::<Vec<&RawValue>>(raw).unwrap_or_default().into_iter().map(RawValue::get).collect()
            }
            Some(raw) => vec![raw],
            None => Vec::new(),
        }
    }

    /// Any field, decoded; `None` also when it nests too deeply.
    pub(super) fn value(&self, name: &str) -> Option<Value> {
        serde_json::from_str(self.raw(name)?).ok()
    }
}

/// A JSON string, decoded.
pub(super) fn text(raw: &str) -> Option<Cow<'_, str>> {
    let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
    match inner.contains('\\') {
        false => Some(Cow::Borrowed(inner)),
        true => serde_json::from_str(raw).ok().map(Cow::Owned),
    }
}

/// The texts of a message's or an output's content: a string, a block, or a list of both. Images are named.
pub(super) fn texts<'a>(content: &[&'a str]) -> Vec<Cow<'a, str>> {
    let block = |raw: &&'a str| {
        text(raw).or_else(|| {
            let block = Fields::read(raw)?;
            let is_image = block.text("type").is_some_and(|kind| kind.to_ascii_lowercase().contains("image"));
            block.text("text").or_else(|| is_image.then_some(Cow::Borrowed("[image]")))
        })
    };
    content.iter().filter_map(block).collect()
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields<'de>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an object")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
        let mut fields = Vec::new();
        while let Some(Key(name)) = map.next_key()? {
            fields.push((name, map.next_value()?));
        }
        Ok(Fields(fields))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FieldsVisitor)
    }
}

struct Key<'a>(Cow<'a, str>);

struct KeyVisitor;

impl<'de> Visitor<'de> for KeyVisitor {
    type Value = Key<'de>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a name")
    }
    fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Key<'de>, E> {
        Ok(Key(Cow::Borrowed(name)))
    }
    fn visit_str<E>(self, name: &str) -> Result<Key<'de>, E> {
        Ok(Key(Cow::Owned(name.to_owned())))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Key<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(KeyVisitor)
    }
}
