//! Files that a report goes to.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::super::{CliError, Context, Result, output};

/// What a file's ending asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Json,
    Markdown,
}

/// A file to be written, as an option's value.
pub(super) fn target(word: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(word);
    form(&path).map(|_| path).ok_or_else(|| "a report's name ends with .json or .md".to_owned())
}

fn form(path: &Path) -> Option<Form> {
    match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "json" => Some(Form::Json),
        "md" | "markdown" => Some(Form::Markdown),
        _ => None,
    }
}

/// Refuses before anything is measured when a file is there already.
pub(super) fn check(ctx: &Context, targets: &[PathBuf]) -> Result<()> {
    match targets.iter().map(|target| ctx.dir.join(target)).find(|path| path.symlink_metadata().is_ok()) {
        Some(path) => Err(exists(&path)),
        None => Ok(()),
    }
}

fn exists(path: &Path) -> CliError {
    CliError::refused("file_exists", format!("{} is there already, and reports overwrite nothing", path.display()))
        .hint("name another file, or move that one away")
}

/// Writes a report to each file, in the form that its name asks for.
pub(super) fn write(
    ctx: &Context,
    targets: &[PathBuf],
    name: &str,
    report: &impl Serialize,
    markdown: impl Fn() -> String,
) -> Result<()> {
    for target in targets {
        let path = ctx.dir.join(target);
        let mut bytes = Vec::new();
        match form(&path) {
            Some(Form::Markdown) => bytes.extend_from_slice(markdown().as_bytes()),
            _ => output::json(&mut bytes, name, report)?,
        }
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::AlreadyExists => exists(&path),
            _ => CliError::fatal("cannot_write", format!("{}: {error}", path.display())),
        };
        let mut file = OpenOptions::new().write(true).create_new(true).open(&path).map_err(failed)?;
        file.write_all(&bytes).and_then(|()| file.sync_all()).map_err(failed)?;
        ctx.note(format!("wrote {}", path.display()));
    }
    Ok(())
}
