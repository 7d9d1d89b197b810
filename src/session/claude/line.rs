//! One line of Claude Code's file, read leniently: a field of an unexpected type is absent, a field that stands twice
//! counts as it stood last, and what is not kept is skipped without being decoded.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// A field of any type, of which only simple values are of interest.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) enum Loose<'a> {
    /// Not there, null, or a list or an object.
    #[default]
    Other,
    Bool(bool),
    Number(f64),
    Text(Cow<'a, str>),
}

impl Loose<'_> {
    pub(super) fn text(&self) -> Option<&str> {
        if let Loose::Text(text) = self { Some(text) } else { None }
    }

    /// True, or the word; some versions wrote booleans as strings.
    pub(super) fn is_true(&self) -> bool {
        matches!(self, Loose::Bool(true)) || self.text() == Some("true")
    }
}

struct LooseVisitor;

impl<'de> Visitor<'de> for LooseVisitor {
    type Value = Loose<'de>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("anything")
    }
    fn visit_bool<E>(self, value: bool) -> Result<Loose<'de>, E> {
        Ok(Loose::Bool(value))
    }
    fn visit_i64<E>(self, value: i64) -> Result<Loose<'de>, E> {
        Ok(Loose::Number(value as f64))
    }
    fn visit_u64<E>(self, value: u64) -> Result<Loose<'de>, E> {
        Ok(Loose::Number(value as f64))
    }
    fn visit_f64<E>(self, value: f64) -> Result<Loose<'de>, E> {
        Ok(Loose::Number(value))
    }
    fn visit_unit<E>(self) -> Result<Loose<'de>, E> {
        Ok(Loose::Other)
    }
    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Loose<'de>, E> {
        Ok(Loose::Text(Cow::Borrowed(value)))
    }
    fn visit_str<E>(self, value: &str) -> Result<Loose<'de>, E> {
        Ok(Loose::Text(Cow::Owned(value.to_owned())))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Loose<'de>, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Loose::Other)
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Loose<'de>, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Loose::Other)
    }
}

impl<'de> Deserialize<'de> for Loose<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LooseVisitor)
    }
}

/// The content of a message or of a tool's result: a string, or a list of blocks.
#[derive(Debug, Default)]
pub(super) enum Content<'a> {
    #[default]
    None,
    Text(Cow<'a, str>),
    Blocks(Vec<Block<'a>>),
}

/// One block of a content list. A bare string in the list is a text block.
#[derive(Debug, Default)]
pub(super) struct Block<'a> {
    pub kind: Loose<'a>,
    pub text: Loose<'a>,
    pub id: Loose<'a>,
    pub name: Loose<'a>,
    pub input: Option<&'a RawValue>,
    pub tool_use_id: Loose<'a>,
    pub content: Content<'a>,
    pub is_error: Loose<'a>,
    /// It was a list, which no version writes.
    pub nested: bool,
}

/// `message` of a `user` or `assistant` line.
#[derive(Debug, Default)]
pub(super) struct Message<'a> {
    pub id: Loose<'a>,
    pub role: Loose<'a>,
    pub model: Loose<'a>,
    pub content: Content<'a>,
    /// The field was there and an object.
    pub present: bool,
}

/// A line.
#[derive(Debug, Default)]
pub(super) struct Line<'a> {
    pub kind: Loose<'a>,
    pub uuid: Loose<'a>,
    pub session: Loose<'a>,
    pub timestamp: Loose<'a>,
    pub cwd: Loose<'a>,
    pub branch: Loose<'a>,
    pub version: Loose<'a>,
    pub agent: Loose<'a>,
    pub sidechain: Loose<'a>,
    pub meta: Loose<'a>,
    pub compact_summary: Loose<'a>,
    pub transcript_only: Loose<'a>,
    pub api_error: Loose<'a>,
    pub prompt_source: Loose<'a>,
    pub subtype: Loose<'a>,
    pub operation: Loose<'a>,
    /// `content` of system lines and queue operations.
    pub content: Content<'a>,
    pub message: Message<'a>,
    pub tool_use_result: Loose<'a>,
    /// `kind` of the origin, where there is one.
    pub origin: Named<'a>,
    pub attachment: Option<&'a RawValue>,
    pub prevented_continuation: Loose<'a>,
    pub hook_errors: Option<&'a RawValue>,
    /// Another agent's envelope.
    pub payload: bool,
    /// Some field of an object's shape that only this agent writes.
    pub leaf: bool,
}

/// An object of which only `kind` is of interest.
#[derive(Debug, Default)]
pub(super) struct Named<'a>(pub Loose<'a>);

/// Reads a map field by field; what is no map gives the default.
macro_rules! lenient_map {
    ($type:ident, $visitor:ident, |$out:ident, $map:ident, $name:ident| { $($key:pat => $body:expr,)* } $(, $($more:item)*)?) => {
        struct $visitor;

        impl<'de> Visitor<'de> for $visitor {
            type Value = $type<'de>;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("anything")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut $map: A) -> Result<Self::Value, A::Error> {
                let mut $out = $type::default();
                while let Some($name) = $map.next_key::<Loose>()? {
                    match $name.text().unwrap_or_default() {
                        $($key => { $body; })*
                        _ => { $map.next_value::<IgnoredAny>()?; }
                    }
                }
                Ok($out)
            }
            fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> { Ok($type::default()) }
            fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> { Ok($type::default()) }
            fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> { Ok($type::default()) }
            fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> { Ok($type::default()) }
            fn visit_unit<E>(self) -> Result<Self::Value, E> { Ok($type::default()) }
            $($($more)*)?
        }

        impl<'de> Deserialize<'de> for $type<'de> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any($visitor)
            }
        }
    };
}

lenient_map!(Line, LineVisitor, |line, map, name| {
    "type" => line.kind = map.next_value()?,
    "uuid" => line.uuid = map.next_value()?,
    "sessionId" => line.session = map.next_value()?,
    "timestamp" => line.timestamp = map.next_value()?,
    "cwd" => line.cwd = map.next_value()?,
    "gitBranch" => line.branch = map.next_value()?,
    "version" => line.version = map.next_value()?,
    "agentId" => line.agent = map.next_value()?,
    "isSidechain" => line.sidechain = map.next_value()?,
    "isMeta" => line.meta = map.next_value()?,
    "isCompactSummary" => line.compact_summary = map.next_value()?,
    "isVisibleInTranscriptOnly" => line.transcript_only = map.next_value()?,
    "isApiErrorMessage" => line.api_error = map.next_value()?,
    "promptSource" => line.prompt_source = map.next_value()?,
    "subtype" => line.subtype = map.next_value()?,
    "operation" => line.operation = map.next_value()?,
    "content" => line.content = map.next_value()?,
    "message" => line.message = map.next_value()?,
    "toolUseResult" => line.tool_use_result = map.next_value()?,
    "origin" => line.origin = map.next_value()?,
    "attachment" => line.attachment = Some(map.next_value()?),
    "preventedContinuation" => line.prevented_continuation = map.next_value()?,
    "hookErrors" => line.hook_errors = Some(map.next_value()?),
    "payload" => { line.payload = true; map.next_value::<IgnoredAny>()? },
    "parentUuid" | "leafUuid" | "messageId" | "userType" => { line.leaf = true; map.next_value::<IgnoredAny>()? },
});

lenient_map!(Message, MessageVisitor, |message, map, name| {
    "id" => { message.present = true; message.id = map.next_value()? },
    "role" => { message.present = true; message.role = map.next_value()? },
    "model" => { message.present = true; message.model = map.next_value()? },
    "content" => { message.present = true; message.content = map.next_value()? },
},
    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> { Ok(Message::default()) }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Message::default())
    }
);

lenient_map!(Named, NamedVisitor, |named, map, name| {
    "kind" => named.0 = map.next_value()?,
},
    fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> { Ok(Named(Loose::Text(value.to_owned().into()))) }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Named::default())
    }
);

lenient_map!(Block, BlockVisitor, |block, map, name| {
    "type" => block.kind = map.next_value()?,
    "text" => block.text = map.next_value()?,
    "id" => block.id = map.next_value()?,
    "name" => block.name = map.next_value()?,
    "input" => block.input = Some(map.next_value()?),
    "tool_use_id" => block.tool_use_id = map.next_value()?,
    "content" => block.content = map.next_value()?,
    "is_error" => block.is_error = map.next_value()?,
},
    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> { Ok(text_block(Cow::Borrowed(text))) }
    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> { Ok(text_block(Cow::Owned(text.to_owned()))) }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Block { nested: true, ..Block::default() })
    }
);

fn text_block(text: Cow<'_, str>) -> Block<'_> {
    Block { kind: Loose::Text("text".into()), text: Loose::Text(text), ..Block::default() }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content<'de>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("anything")
    }
    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Content::None)
    }
    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(Content::None)
    }
    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(Content::None)
    }
    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Content::None)
    }
    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Content::None)
    }
    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Content::Text(Cow::Borrowed(text)))
    }
    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Content::Text(Cow::Owned(text.to_owned())))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut blocks = Vec::new();
        while let Some(block) = seq.next_element()? {
            blocks.push(block);
        }
        Ok(Content::Blocks(blocks))
    }
    /// One block that was not put into a list.
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        Ok(Content::Blocks(vec![BlockVisitor.visit_map(map)?]))
    }
}

impl<'de> Deserialize<'de> for Content<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

/// The line types of all versions that are known.
const TYPES: &[&str] = &[
    "user",
    "assistant",
    "system",
    "progress",
    "attachment",
    "summary",
    "file-history-snapshot",
    "file-history-delta",
    "queue-operation",
    "permission-mode",
    "last-prompt",
    "mode",
    "pr-link",
    "atis-latch",
    "ai-title",
    "custom-title",
    "agent-name",
    "agent-setting",
    "agent-color",
    "bridge-session",
    "tag",
    "turn_end",
    "continued-in",
    "started",
    "result",
    "worktree-state",
    "frame-link",
    "relocated",
    "session_start",
    "session_end",
    "tool_use",
    "tool_result",
];

impl Line<'_> {
    /// The line's type; where a tool left it out, the role says it.
    pub(super) fn kind(&self) -> Option<&str> {
        self.kind.text().or_else(|| self.message.role.text().filter(|role| matches!(*role, "user" | "assistant")))
    }

    /// Whether this is a type that some version writes.
    pub(super) fn is_known(&self) -> bool {
        self.kind().is_some_and(|kind| TYPES.contains(&kind))
    }

    /// Whether the line can only be Claude Code's.
    pub(super) fn is_telling(&self) -> bool {
        let Some(kind) = self.kind() else { return false };
        if self.payload {
            return false;
        }
        match kind {
            "user" | "assistant" => self.message.present || self.leaf && self.uuid.text().is_some(),
            "summary" | "system" | "progress" | "attachment" => self.leaf || self.session.text().is_some(),
            "queue-operation" | "file-history-snapshot" | "permission-mode" | "ai-title" | "custom-title" => true,
            "started" | "result" => self.agent.text().is_some(),
            _ => self.is_known() && self.session.text().is_some(),
        }
    }
}
