//! Sessions of agents: reading them, keeping secrets out, and the page that tells what happened.

mod aider;
mod builder;
mod claude;
mod codex;
mod copilot;
mod exclude;
mod gather;
mod gemini;
mod lines;
mod markdown;
mod opencode;
mod own;
mod own_words;
mod page;
mod policy;
mod read;
mod redact;
mod retain;
mod seen;
mod store;
mod types;

pub use builder::LONGEST_BODY;
pub use exclude::Exclusions;
pub use gemini::{Project, project};
pub use own::MARKER as OWN_SESSION_MARKER;
pub use own_words::{GAP, own_words};
pub use page::page;
pub use policy::Policy;
pub use read::{From, Outcome, ReadOptions, Warning, further_files, read};
pub use redact::{BadPattern, MARK as REDACTION_MARK, Redactor};
pub use retain::retain;
pub use store::{Captured, Meta, REFS, Stored, at, capture, list, load, stored};
pub use types::*;
