//! Cases as they lie in folders: `case.toml`, and beside it the sessions and the pages of the wiki at the start.

use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};
use toml::Spanned;

use super::super::faulty::{Faulty, Labelled};
use super::label::{Label, MustNot, Word};
use crate::session::quotable;
use crate::wiki::Kind;
use crate::wiki::open::is_page;

/// The file that makes a folder a case.
pub const CASE_FILE: &str = "case.toml";

/// The folder below which the pages of the wiki at the start stand.
const WIKI: &str = "wiki";

/// The variable that names the folder of recorded sessions that are kept elsewhere.
pub const CORPUS: &str = "GIT_MEMORY_CORPUS";

/// What a name begins with that counts from that folder.
const FROM_CORPUS: &str = "corpus:";

/// A labelled set of sessions.
#[derive(Debug, Clone)]
pub struct Case {
    /// Its folder, relative to the folder that was searched.
    pub name: String,
    /// What it is there for.
    pub about: String,
    /// The files of its sessions.
    pub sessions: Vec<PathBuf>,
    /// The pages of the wiki at the start: path and bytes.
    pub pages: Vec<(String, Vec<u8>)>,
    /// Proposals of earlier times.
    pub earlier: Vec<Earlier>,
    /// What must be proposed.
    pub must: Vec<Label>,
    /// What may be proposed.
    pub may: Vec<Label>,
    /// What must not be proposed.
    pub must_not: Vec<MustNot>,
    /// Recorded sessions that are not at hand: the case cannot be played.
    pub absent: Vec<String>,
}

/// A proposal of earlier times.
#[derive(Debug, Clone, PartialEq)]
pub struct Earlier {
    /// It was rejected on merit, for this reason; `None`: it waits.
    pub rejected: Option<String>,
    /// As `git memory propose` takes it.
    pub candidate: Value,
}

fn unreadable(path: &Path, reason: impl ToString) -> Faulty {
    Faulty::unreadable(Labelled::Case, path, reason)
}

/// `case.toml`, as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    about: String,
    #[serde(default)]
    sessions: Vec<Spanned<String>>,
    #[serde(default)]
    none: Option<Spanned<bool>>,
    #[serde(default)]
    must: Vec<Spanned<WrittenLabel>>,
    #[serde(default)]
    may: Vec<Spanned<WrittenLabel>>,
    #[serde(default)]
    must_not: Vec<Spanned<WrittenMustNot>>,
    #[serde(default)]
    earlier: Vec<Spanned<WrittenEarlier>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenLabel {
    kind: Spanned<String>,
    about: Vec<Spanned<String>>,
    #[serde(default)]
    quote: Vec<Spanned<String>>,
    path: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenMustNot {
    kind: Option<Spanned<String>>,
    about: Vec<Spanned<String>>,
    why: String,
    #[serde(default)]
    injected: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenEarlier {
    decision: Spanned<String>,
    path: String,
    title: String,
    body: String,
    #[serde(default)]
    reason: Option<String>,
}

/// The cases at or below a folder, by name.
///
/// # Errors
/// When there is none, or one of them is not as it has to be.
pub fn find(folder: &Path) -> Result<Vec<Case>, Faulty> {
    let mut files = Vec::new();
    search(folder, &mut files)?;
    if files.is_empty() {
        return Err(unreadable(folder, format!("there is no {CASE_FILE} in it or below it")));
    }
    files.sort_unstable();
    files.iter().map(|file| read(folder, file)).collect()
}

fn search(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Faulty> {
    let failed = |error: std::io::Error| unreadable(folder, error);
    let own = folder.join(CASE_FILE);
    if own.is_file() {
        // What lies below belongs to the case.
        files.push(own);
        return Ok(());
    }
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if entry.file_type().map_err(failed)?.is_dir() {
            search(&entry.path(), files)?;
        }
    }
    Ok(())
}

fn read(top: &Path, file: &Path) -> Result<Case, Faulty> {
    let text = std::fs::read_to_string(file).map_err(|error| unreadable(file, error))?;
    let folder = file.parent().unwrap_or(top);
    let source = Source { file, text: &text };
    let written: Written = toml::from_str(&text)
        .map_err(|error| source.wrong(error.span().unwrap_or_default(), quotable(error.message())))?;
    if written.about.trim().is_empty() {
        return Err(source.wrong(0..0, "`about` must say what the case is there for".into()));
    }
    let must: Vec<Label> = written.must.iter().map(|label| source.label(label)).collect::<Result<_, _>>()?;
    let may: Vec<Label> = written.may.iter().map(|label| source.label(label)).collect::<Result<_, _>>()?;
    let expects_none = written.none.as_ref().is_some_and(|none| *none.get_ref());
    match (must.is_empty() && may.is_empty(), expects_none) {
        (true, false) => {
            let why = "it has no `must` and no `may`; say `none = true` where nothing is to be proposed";
            return Err(source.wrong(0..0, why.into()));
        }
        (false, true) => {
            let at = written.none.as_ref().map(Spanned::span).unwrap_or_default();
            return Err(source.wrong(at, "it says `none = true` and what is to be proposed".into()));
        }
        _ => {}
    }
    let must_not = written.must_not.iter().map(|label| source.must_not(label)).collect::<Result<_, _>>()?;
    let earlier = written.earlier.iter().map(|earlier| source.earlier(earlier)).collect::<Result<_, _>>()?;
    let (sessions, absent) = sessions(&source, folder, &written.sessions)?;
    let name = folder.strip_prefix(top).unwrap_or(folder).to_string_lossy().replace('\\', "/");
    let name = if name.is_empty() { last(folder) } else { name };
    let pages = pages(&folder.join(WIKI))?;
    Ok(Case { name, about: written.about, sessions, pages, earlier, must, may, must_not, absent })
}

fn last(folder: &Path) -> String {
    folder.file_name().map_or_else(|| ".".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// The files of a case's sessions: those it names, else every file beside `case.toml`. Also what is not at hand.
fn sessions(
    source: &Source<'_>,
    folder: &Path,
    named: &[Spanned<String>],
) -> Result<(Vec<PathBuf>, Vec<String>), Faulty> {
    if named.is_empty() {
        let failed = |error: std::io::Error| unreadable(folder, error);
        let mut found = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if entry.file_type().map_err(failed)?.is_file() && entry.file_name() != CASE_FILE {
                found.push(entry.path());
            }
        }
        found.sort_unstable();
        if found.is_empty() {
            return Err(source.wrong(0..0, "no session lies beside it, and it names none with `sessions`".into()));
        }
        return Ok((found, Vec::new()));
    }
    let (mut found, mut absent) = (Vec::new(), Vec::new());
    for name in named {
        match name.get_ref().strip_prefix(FROM_CORPUS) {
            Some(rest) => {
                let path = std::env::var_os(CORPUS).map(|corpus| PathBuf::from(corpus).join(rest));
                match path.filter(|path| path.exists()) {
                    Some(path) => found.push(path),
                    None => absent.push(name.get_ref().clone()),
                }
            }
            None => {
                let path = folder.join(name.get_ref());
                if !path.exists() {
                    return Err(source.wrong(name.span(), format!("there is no session `{}`", name.get_ref())));
                }
                found.push(path);
            }
        }
    }
    Ok((found, absent))
}

/// The pages below a folder, by path.
fn pages(top: &Path) -> Result<Vec<(String, Vec<u8>)>, Faulty> {
    let mut found = Vec::new();
    let mut folders = if top.is_dir() { vec![top.to_owned()] } else { Vec::new() };
    while let Some(folder) = folders.pop() {
        let failed = |error: std::io::Error| unreadable(&folder, error);
        for entry in std::fs::read_dir(&folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(top).unwrap_or(&path).to_string_lossy().replace('\\', "/");
            if is_page(name.as_str().into()) {
                found.push((name, std::fs::read(&path).map_err(|error| unreadable(&path, error))?));
            }
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// A `case.toml` that is being read, for errors that name the line.
struct Source<'t> {
    file: &'t Path,
    text: &'t str,
}

impl Source<'_> {
    fn wrong(&self, at: Range<usize>, reason: String) -> Faulty {
        let before = self.text.get(..at.start).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        Faulty::line(Labelled::Case, self.file, line, reason)
    }

    /// One kind, or several with `|` between them.
    fn kinds(&self, words: &Spanned<String>) -> Result<Vec<Kind>, Faulty> {
        let kind = |word: &str| {
            Kind::ALL.into_iter().find(|kind| kind.as_str() == word.trim()).ok_or_else(|| {
                let known: Vec<&str> = Kind::ALL.iter().map(|kind| kind.as_str()).collect();
                self.wrong(words.span(), format!("`{word}` is no kind: {}", known.join(", ")))
            })
        };
        words.get_ref().split('|').map(kind).collect()
    }

    fn words(&self, words: &[Spanned<String>], holder: Range<usize>) -> Result<Vec<Word>, Faulty> {
        if words.is_empty() {
            return Err(self.wrong(holder, "`about` must have a word".into()));
        }
        words.iter().map(|word| Word::parse(word.get_ref()).map_err(|why| self.wrong(word.span(), why))).collect()
    }

    fn label(&self, label: &Spanned<WrittenLabel>) -> Result<Label, Faulty> {
        let written = label.get_ref();
        let quote = written.quote.iter();
        let quote = quote.map(|word| Word::parse(word.get_ref()).map_err(|why| self.wrong(word.span(), why)));
        Ok(Label {
            kinds: self.kinds(&written.kind)?,
            about: self.words(&written.about, label.span())?,
            quote: quote.collect::<Result<_, _>>()?,
            path: written.path.as_ref().map(|path| path.get_ref().clone()),
        })
    }

    fn must_not(&self, label: &Spanned<WrittenMustNot>) -> Result<MustNot, Faulty> {
        let written = label.get_ref();
        Ok(MustNot {
            kinds: written.kind.as_ref().map(|kinds| self.kinds(kinds)).transpose()?.unwrap_or_default(),
            about: self.words(&written.about, label.span())?,
            why: written.why.clone(),
            injected: written.injected,
        })
    }

    fn earlier(&self, earlier: &Spanned<WrittenEarlier>) -> Result<Earlier, Faulty> {
        let written = earlier.get_ref();
        let rejected = match (written.decision.get_ref().as_str(), &written.reason) {
            ("rejected", Some(reason)) => Some(reason.clone()),
            ("rejected", None) => {
                return Err(self.wrong(earlier.span(), "a rejected proposal needs its `reason`".into()));
            }
            ("pending", _) => None,
            (other, _) => {
                let why = format!("`{other}` is no decision: `rejected` or `pending`");
                return Err(self.wrong(written.decision.span(), why));
            }
        };
        let candidate = json!({
            "operation": "create",
            "path": written.path,
            "title": written.title,
            "rationale": "Proposed earlier.",
            "body_markdown": written.body,
        });
        Ok(Earlier { rejected, candidate })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Result<Case, String> {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("s.jsonl"), "{}\n").expect("written");
        std::fs::write(folder.path().join(CASE_FILE), text).expect("written");
        let top = folder.path().display().to_string();
        let mut cases = find(folder.path()).map_err(|error| error.to_string().replace(&top, ""))?;
        Ok(cases.remove(0))
    }

    #[test]
    fn what_cannot_be_is_named_with_its_line() {
        for (text, line, words) in [
            ("about = 'x'\n", 1, "say `none = true`"),
            ("about = ''\nnone = true\n", 1, "what the case is there for"),
            ("about = 'x'\nnone = true\nmuts = 1\n", 3, "unknown field `muts`"),
            ("about = 'x'\nnone = true\n[[must]]\nkind = 'rule'\nabout = ['a']\n", 2, "and what is to be proposed"),
            ("about = 'x'\n[[must]]\nkind = 'law'\nabout = ['a']\n", 3, "`law` is no kind"),
            ("about = 'x'\n[[must]]\nkind = 'rule'\nabout = []\n", 2, "must have a word"),
            ("about = 'x'\n[[must]]\nkind = 'rule'\nabout = [\n'a',\n'/(/']\n", 6, "no pattern"),
            ("about = 'x'\n[[must]]\nkind = 'rule'\nabout = ['--']\n", 4, "neither letters nor digits"),
            ("about = 'x'\nnone = true\nsessions = ['no.jsonl']\n", 3, "there is no session `no.jsonl`"),
            ("about = 'x'\nnone = true\n[[must_not]]\nabout = ['a']\n", 3, "missing field `why`"),
            (
                "about = 'x'\nnone = true\n[[earlier]]\ndecision = 'lost'\npath = 'a'\ntitle = 'a'\nbody = 'a'\n",
                4,
                "no decision",
            ),
            (
                "about = 'x'\nnone = true\n[[earlier]]\ndecision = 'rejected'\npath = 'a'\ntitle = 'a'\nbody = 'a'\n",
                3,
                "needs its `reason`",
            ),
            ("about = 'x\n", 1, ""),
        ] {
            let error = one(text).expect_err(text);
            assert!(error.starts_with(&format!("/case.toml:{line}: ")) && error.contains(words), "{text}: {error}");
        }
    }

    #[test]
    fn sessions_that_are_kept_elsewhere_are_told_when_they_are_not_at_hand() {
        let case =
            one("about = 'x'\nnone = true\nsessions = ['corpus:no/such/file.jsonl', 's.jsonl']\n").expect("read");
        assert_eq!((case.absent, case.sessions.len()), (vec!["corpus:no/such/file.jsonl".to_owned()], 1));
        let case = one("about = 'x'\nnone = true\n").expect("read");
        assert_eq!(case.sessions.len(), 1, "what lies beside it");
    }
}
