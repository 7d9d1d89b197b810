//! The wiki: pages, their names and kinds, frontmatter, sections, edits, scopes, lint. Knows bytes, not git.

pub mod edit;
mod field;
mod frontmatter;
mod kind;
mod lines;
pub mod links;
pub mod lint;
pub mod merge;
pub mod open;
mod page;
pub mod path;
mod plain_yaml;
pub mod priority;
pub mod protect;
pub mod scope;
pub mod section;
pub mod shown;
pub mod text;
mod yaml;

pub use edit::{Edit, EditOp};
pub use frontmatter::keys_that_differ;
pub use kind::{Kind, Layout, Tier};
pub use open::{OpenError, Wiki};
pub use page::{Frontmatter, Page, Status, compose};
pub use protect::Protection;
