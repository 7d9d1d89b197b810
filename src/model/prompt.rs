//! What a model is asked.

use serde_json::Value;
use sha2::{Digest, Sha256};

/// One prompt. All of it goes into its hash, so the same hash is the same question.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    /// What the model is to do: words of ours alone.
    pub system: String,
    /// What it works on: words of sessions and pages, as JSON strings in a marked block.
    pub user: String,
    /// The name of the reply's schema, for providers that ask for one: letters, digits and `_`.
    pub schema_name: &'static str,
    /// The JSON Schema of the reply.
    pub schema: Value,
}

impl Prompt {
    /// SHA-256 (hex) over all its parts.
    pub fn sha256(&self) -> String {
        let mut hash = Sha256::new();
        for part in [self.system.as_str(), self.user.as_str(), self.schema_name, &self.schema.to_string()] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The whole of it as one text, for programs that read a prompt from standard input and for people.
    pub fn text(&self) -> String {
        format!("{}\n\n{}", self.system.trim_end(), self.with_schema())
    }

    /// What it works on, and in words what form the answer has, for those who cannot be held to a schema.
    pub(super) fn with_schema(&self) -> String {
        let schema = serde_json::to_string_pretty(&self.schema).unwrap_or_default();
        format!(
            "{}\n\nAnswer with one JSON value and nothing else. It must match this schema:\n\n{schema}\n",
            self.user.trim_end(),
        )
    }

    /// About how many tokens it has: characters / 4.
    pub fn tokens(&self) -> usize {
        (self.system.chars().count() + self.user.chars().count() + self.schema.to_string().len()).div_ceil(4)
    }
}
