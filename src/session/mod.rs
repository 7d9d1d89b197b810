//! Sessions of agents: reading them, keeping secrets out, and the page that tells what happened.

mod aider;
mod builder;
mod claude;
mod codex;
mod copilot;
mod exclude;
mod forget;
mod gather;
mod gemini;
mod json_lines;
mod lines;
mod markdown;
mod merge;
mod opencode;
mod own;
mod own_words;
mod page;
mod policy;
mod read;
mod redact;
mod resume;
mod retain;
mod sample;
mod seen;
mod store;
mod stored;
mod times;
mod tools;
mod types;
mod unpack;
mod wrappers;

pub use builder::LONGEST_BODY;
pub use codex::told_cwd;
pub use exclude::Exclusions;
pub use forget::{Gone, Leaving, clear_caches, forget, lock};
pub use gemini::{Project, project};
pub use own::{MARKER as OWN_SESSION_MARKER, in_our_folder};
pub use own_words::{GAP, own_words};
pub use page::page;
pub use policy::Policy;
pub use read::{Bookmark, Changed, Ending, From, Given, Outcome, ReadOptions, Warning, further_files, read, read_on};
pub use redact::{BadPattern, MARK as REDACTION_MARK, Redactor, WITHHELD, quotable};
pub use retain::{retain, retain_daily};
pub use sample::{Sampled, WITH_PAGE, WITHOUT_PAGE, drop_least, ends, sample};
pub use store::{Captured, Kept, capture};
pub use stored::{Meta, REFS, Stored, at, list, load, stored, whole};
pub use tools::{ToolClass, command_key, shell_command, tool_class};
pub use types::*;
pub use unpack::unpacked;

#[cfg(test)]
mod tests;
