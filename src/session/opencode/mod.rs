//! OpenCode's sessions: a tree of JSON files, a SQLite database, or an exported document. Whichever form a session has,
//! its observations are the same ones, known by the ids of the parts that they come from.

mod database;
mod export;
mod json;
mod open;
mod parts;
mod second;
mod tree;

use std::io::{self, BufRead, ErrorKind, Read};
use std::path::{Path, PathBuf};

pub(super) use self::database::Batches;
use self::parts::{About, Reading};
use super::lines::Damage;
use super::{ReadOptions, Session};

/// Longest document that is read: a session's record, a message, a part, an export.
const LONGEST: u64 = 256 << 20;

/// Whether a whole file, one JSON document, is this agent's, by its top-level keys.
pub(super) fn is_document(keys: &[String]) -> bool {
    is_session(keys) || is_export(keys) || is_piece(keys)
}

fn has(keys: &[String], names: &[&str]) -> bool {
    names.iter().all(|name| keys.iter().any(|key| key == name))
}

fn is_session(keys: &[String]) -> bool {
    has(keys, &["id", "title", "version", "time"]) && !has(keys, &["role"])
}

fn is_export(keys: &[String]) -> bool {
    has(keys, &["info", "messages"])
}

/// A message or a part, which says nothing without its session.
fn is_piece(keys: &[String]) -> bool {
    has(keys, &["id", "messageID", "type"]) || has(keys, &["id", "sessionID", "role"])
}

/// Reads a session's record in a storage tree and what lies around it, or an exported session; none when there is
/// nothing to learn from it, or nothing of it may be kept.
pub(super) fn read(
    source: impl BufRead,
    path: &Path,
    options: ReadOptions,
    damage: &mut Damage,
) -> io::Result<Vec<Session>> {
    let mut bytes = Vec::new();
    if source.take(LONGEST + 1).read_to_end(&mut bytes)? as u64 > LONGEST {
        return Err(foreign("larger than 256 MiB: name OpenCode's database instead"));
    }
    let Some(document) = json::keys(&bytes) else {
        return Err(foreign("no whole JSON document"));
    };
    if is_export(&document) {
        return export::read(bytes, options, damage);
    }
    if is_piece(&document) {
        return Err(foreign("part of an OpenCode session: name its session file or the storage folder"));
    }
    let Some(about) = json::value(&bytes, damage).as_ref().and_then(About::read) else { return Ok(Vec::new()) };
    let Some(tree) = tree::Tree::around(path, &about.id) else {
        return Err(foreign("an OpenCode session without its messages: name it inside the storage folder"));
    };
    let mut reading = Reading::new(about, options);
    tree.read(&mut reading, damage);
    Ok(reading.finish().into_iter().collect())
}

/// Opens a database, to read its sessions without a trace in its folder.
///
/// # Errors
/// In words, when it is locked, damaged, or none of OpenCode's.
pub(super) fn open_database<'o>(path: &Path, options: ReadOptions<'o>) -> io::Result<Batches<'o>> {
    Batches::open(path, options)
}

/// The further files that a session file stands for: of a storage tree's record its messages and parts, of a database
/// its log. Nothing has changed in the session while none of them has.
pub(super) fn further_files(path: &Path) -> Vec<PathBuf> {
    let mut files = tree::files(path);
    files.extend(Some(open::beside(path, "-wal")).filter(|wal| wal.exists()));
    files
}

/// What is said of a file in which no session can stand.
fn foreign(what: &str) -> io::Error {
    io::Error::new(ErrorKind::Unsupported, what)
}

#[cfg(test)]
mod tests;
