//! What a new wiki's commit holds. Pure: names and text in, files out.

use std::collections::BTreeMap;

use bstr::BString;

use crate::cli::{CliError, Result};
use crate::config::FILE;
use crate::wiki::Kind;

/// What a wiki is to be like.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The branch, without `refs/heads/`.
    pub branch: String,
    /// The folder of the pages, without slashes at its ends; empty: the top.
    pub root: String,
    /// Scopes: name and folder below the root.
    pub scopes: Vec<(String, String)>,
    /// Folders that hold a kind in place of the default one.
    pub folders: BTreeMap<Kind, String>,
}

/// One file of the commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFile {
    /// The path from the tree's top.
    pub path: BString,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// A person's own file of that name is kept in its place.
    pub optional: bool,
}

/// Folders that a new wiki has; sessions are not pages of the branch unless asked for.
const FOLDERS: [Kind; 7] =
    [Kind::Rule, Kind::Decision, Kind::Gotcha, Kind::Procedure, Kind::Concept, Kind::Note, Kind::Slot];

/// The files of the commit. `has_pages`: there are notes already, so no empty folders are put beside them. `has_crlf`:
/// some of them end their lines with CRLF.
pub fn files(wanted: &Wanted, has_pages: bool, has_crlf: bool) -> Vec<NewFile> {
    let below = |path: String| if wanted.root.is_empty() { path } else { format!("{}/{path}", wanted.root) };
    let mut files = vec![
        NewFile { path: FILE.into(), bytes: settings(wanted).into_bytes(), optional: false },
        NewFile { path: below(".gitattributes".into()).into(), bytes: attributes(has_crlf).into(), optional: true },
    ];
    let mut keep = |folder: String| {
        files.push(NewFile { path: below(format!("{folder}/.gitkeep")).into(), bytes: Vec::new(), optional: true });
    };
    if !has_pages {
        FOLDERS.iter().for_each(|kind| keep(kind.default_folder().to_owned()));
    }
    wanted.scopes.iter().for_each(|(_, path)| keep(path.clone()));
    files
}

/// Pages have LF everywhere, whatever core.autocrlf says. Where pages with CRLF exist, that would show them all as
/// changed: there git leaves the bytes alone.
fn attributes(has_crlf: bool) -> &'static str {
    if has_crlf {
        "# Pages keep their bytes, whatever core.autocrlf says.\n*.md -text\n"
    } else {
        "# Pages have LF line ends, whatever core.autocrlf says.\n*.md text eol=lf\n"
    }
}

fn settings(wanted: &Wanted) -> String {
    let quoted = |text: &str| toml::Value::from(text).to_string();
    let mut text = format!(
        "# The settings of this wiki, for everybody who works with it.\n\
         # `git memory config --origin -v` shows and explains all of them.\n\n\
         [wiki]\n\
         root = {}\n\
         branch = {}\n\
         # Pages that only a person's yes may change, as globs:\n\
         # protected = [\"decisions/charter.md\"]\n",
        quoted(&wanted.root),
        quoted(&wanted.branch)
    );
    if !wanted.folders.is_empty() {
        text.push_str("\n# Folders that hold a kind of pages in place of the usual one.\n[wiki.folders]\n");
        for (kind, folder) in &wanted.folders {
            text.push_str(&format!("{kind} = {}\n", quoted(folder)));
        }
    }
    for (name, path) in &wanted.scopes {
        text.push_str(&format!(
            "\n[[scope]]\nname = {}\npath = {}\n\
             # The sessions that belong to it, by their repositories' remote URLs or by globs of their working folders.\n\
             repos = []\ndirs = []\n",
            quoted(name),
            quoted(path)
        ));
    }
    text
}

/// A folder that a person named, without `./`, and slashes at its ends; empty or `.`: the top.
pub fn folder(text: &str) -> Result<String> {
    let bad = |why: &str| {
        CliError::refused("bad_folder", format!("'{text}' cannot be a folder of the wiki: {why}"))
            .hint("name a folder by its path from the top of the repository, such as docs/memory")
    };
    let text_with_slashes = if cfg!(windows) { text.replace('\\', "/") } else { text.to_owned() };
    if text_with_slashes.starts_with('/') || text_with_slashes.get(1..2) == Some(":") {
        return Err(bad("it is absolute"));
    }
    let mut parts = Vec::new();
    for part in text_with_slashes.split('/') {
        let folded = part.to_ascii_lowercase();
        match part {
            "" | "." => continue,
            ".." => return Err(bad("it leads outside")),
            _ if folded == ".git" || folded.starts_with("git~") => return Err(bad("git keeps its own files there")),
            _ if part.starts_with('.') => return Err(bad("hidden folders hold no pages")),
            _ if part.chars().any(|c| c.is_control() || "\\:*?\"<>|".contains(c)) => {
                return Err(bad("not every system can have such a name"));
            }
            _ if part.ends_with(['.', ' ']) => return Err(bad("not every system can have such a name")),
            _ => parts.push(part),
        }
    }
    Ok(parts.join("/"))
}

/// `NAME=PATH` of `--scope`.
pub fn scope(text: &str) -> Result<(String, String)> {
    let bad = |why: &str| {
        CliError::refused("bad_scope", format!("'{text}' names no scope: {why}"))
            .hint("say --scope NAME=PATH, such as --scope api=projects/api")
    };
    let (name, path) = text.split_once('=').ok_or_else(|| bad("there is no '='"))?;
    let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || !name.chars().all(fine) {
        return Err(bad("a name has letters, digits, '-', '_' and '.'"));
    }
    if name == crate::wiki::scope::GLOBAL {
        return Err(bad("global is the scope that every wiki has"));
    }
    let path = folder(path)?;
    if path.is_empty() {
        return Err(bad("the top belongs to the global scope"));
    }
    Ok((name.to_owned(), path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Inputs, merge};

    #[test]
    fn the_settings_that_are_written_read_back_as_they_were_wanted() {
        let wanted = Wanted {
            branch: "wi\"ki".into(),
            root: "docs/größe".into(),
            scopes: vec![("api".into(), "projects/api".into())],
            folders: [(Kind::Decision, "adr".to_owned())].into(),
        };
        let file = files(&wanted, false, false).remove(0);
        let text = String::from_utf8(file.bytes).expect("text");
        let config = merge(&Inputs { committed: Some((FILE.into(), text)), ..Inputs::default() }).expect("settings");
        assert_eq!(config.settings.wiki.root, "docs/größe");
        assert_eq!(config.settings.wiki.branch, "wi\"ki");
        assert_eq!(config.settings.wiki.folders.get("decision").map(String::as_str), Some("adr"));
        assert_eq!(
            (config.settings.scope[0].name.as_str(), config.settings.scope[0].path.as_str()),
            ("api", "projects/api")
        );
        assert!(config.notes.is_empty(), "{:?}", config.notes);
    }

    #[test]
    fn folders_that_lead_outside_or_into_git_are_refused() {
        for text in ["/etc", "../x", "a/../../x", ".git/x", "a/.GIT", "a/.hidden", "c:x", "a/b ", "a\nb"] {
            assert!(folder(text).is_err(), "{text}");
        }
        assert_eq!(folder("./docs//memory/").ok().as_deref(), Some("docs/memory"));
        assert_eq!(folder(".").ok().as_deref(), Some(""));
    }

    #[test]
    fn a_scope_needs_a_name_and_a_folder_of_its_own() {
        for text in ["api", "=x", "api=", "api=..", "global=x", "a b=x"] {
            assert!(scope(text).is_err(), "{text}");
        }
        assert_eq!(scope("api=projects/api/").ok(), Some(("api".into(), "projects/api".into())));
    }

    #[test]
    fn existing_notes_get_no_empty_folders_beside_them() {
        let names = |has_pages| {
            let files = files(&Wanted { root: "n".into(), ..Wanted::default() }, has_pages, false);
            files.into_iter().map(|file| file.path.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(names(true), [".gitmemory.toml", "n/.gitattributes"]);
        assert!(names(false).contains(&"n/gotchas/.gitkeep".to_owned()));
    }
}
