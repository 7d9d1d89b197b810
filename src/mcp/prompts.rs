//! Prompts: what an agent should know when a session begins.

use super::error::Error;
use super::tools::Call;
use crate::report::brief;

/// The one prompt there is.
pub const BRIEF: &str = "session_brief";

/// What it is for.
pub const ABOUT: &str = "What is known of this project: the rules in force, the pages that matter, what waits";

/// The text of the brief.
///
/// # Errors
/// When there is no wiki, or it cannot be read.
pub fn brief(call: &Call) -> Result<String, Error> {
    let wiki = call.wiki()?;
    let scope = call.scope(&wiki, None)?;
    Ok(brief::brief(&wiki, scope.as_deref(), brief::GLOBAL_LIMIT)?.text())
}
