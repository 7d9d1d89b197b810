//! Where a session ran. The file holds only a hash of the folder; beside it may stand which one that is.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde_json::Value;
use sha2::{Digest, Sha256};

/// How much of a file is looked at for its hash.
const LOOKED_AT: u64 = 64 * 1024;

/// What is known of the folder that a session ran in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Project {
    /// The folder.
    Folder(String),
    /// A hash of it, and none of the known folders has that.
    Hash,
    /// Nothing: the file is not Gemini CLI's.
    Unknown,
}

/// The folder that a session file of Gemini CLI belongs to: what stands beside the file says it, else the one of the
/// `known` folders that has the hash in it.
///
/// # Errors
/// When the file cannot be read.
pub fn project(path: &Path, known: &[String]) -> io::Result<Project> {
    let mut head = Vec::new();
    File::open(path)?.take(LOOKED_AT).read_to_end(&mut head)?;
    let head = String::from_utf8_lossy(&head);
    let value = |name: &str| head.split(name).nth(1)?.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"');
    let Some(hash) = value("\"projectHash\"").and_then(|rest| rest.split('"').next()) else {
        return Ok(Project::Unknown);
    };
    let folder = told_beside(path).or_else(|| known.iter().find(|folder| self::hash(folder) == hash).cloned());
    Ok(folder.map_or(Project::Hash, Project::Folder))
}

/// How the program names a folder.
pub(super) fn hash(folder: &str) -> String {
    Sha256::digest(folder.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The folder that the program wrote down beside its sessions: `<name>/.project_root`, or `projects.json` two folders
/// above, for a session in `<name>/chats/`.
pub(super) fn told_beside(path: &Path) -> Option<String> {
    let chats =
        path.ancestors().skip(1).take(2).find(|folder| folder.file_name().is_some_and(|name| name == "chats"))?;
    let project = chats.parent()?;
    let written = std::fs::read_to_string(project.join(".project_root")).ok();
    if let Some(folder) = written.map(|text| text.trim().to_owned()).filter(|text| Path::new(text).is_absolute()) {
        return Some(folder);
    }
    let name = project.file_name()?.to_str()?;
    let registry = std::fs::read(project.parent()?.parent()?.join("projects.json")).ok()?;
    let registry: Value = serde_json::from_slice(&registry).ok()?;
    let mut projects = registry.get("projects")?.as_object()?.iter();
    projects.find(|(_, slug)| slug.as_str() == Some(name)).map(|(folder, _)| folder.clone())
}

/// The session that a subagent's file belongs to: the folder below `chats` that it stands in.
pub(super) fn parent(path: &Path) -> Option<String> {
    let folder = path.parent()?;
    let below = folder.parent()?.file_name().is_some_and(|name| name == "chats");
    below.then(|| Some(folder.file_name()?.to_string_lossy().into_owned()))?
}
