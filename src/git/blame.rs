//! Where the lines of a file come from, as `git blame` tells it.

use std::collections::HashMap;

use bstr::{BStr, BString, ByteSlice};

use super::{Error, Oid, Repo, Result};

/// One line of a file, and the commit that brought it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlamedLine {
    /// The commit that wrote it last.
    pub commit: Oid,
    /// The file's path in that commit.
    pub path: BString,
    /// Its number in that commit's file, from 1.
    pub line: usize,
    /// Its bytes, without the line end.
    pub text: BString,
}

impl Repo {
    /// The lines of a file at a commit, top to bottom. Renames of the whole file are followed. Neither the user's
    /// list of revisions to ignore nor a text conversion takes part.
    ///
    /// # Errors
    /// [`Error::Command`] when the file is not there, [`Error::Read`] when git's answer cannot be read.
    pub fn blame(&self, commit: Oid, path: &BStr) -> Result<Vec<BlamedLine>> {
        let file = gix::path::from_bstr(path)
            .map_err(|_| Error::read(path.to_string(), "this system has no such file names"))?;
        let out = self
            .git()
            .args(["-c", "core.quotePath=false", "blame", "--porcelain", "--no-textconv", "--no-ignore-revs-file"])
            .arg(commit.to_string())
            .arg("--")
            .arg(file.as_os_str())
            .run()?;
        parse(&out).ok_or_else(|| Error::read(path.to_string(), "git blame answered in a form that is not known"))
    }
}

/// Reads the porcelain form: a line of the commit and the line's numbers, headers where something new is to be said
/// of the commit, and the text behind a tab.
fn parse(out: &[u8]) -> Option<Vec<BlamedLine>> {
    let mut paths: HashMap<Oid, BString> = HashMap::new();
    let mut lines = Vec::new();
    let mut head: Option<(Oid, usize)> = None;
    for raw in out.strip_suffix(b"\n").unwrap_or(out).split(|&byte| byte == b'\n') {
        if out.is_empty() {
            break;
        }
        let Some((commit, line)) = head else {
            let mut words = raw.split(|&byte| byte == b' ');
            let commit = Oid::from_hex(words.next()?).ok()?;
            head = Some((commit, words.next()?.to_str().ok()?.parse().ok()?));
            continue;
        };
        if let Some(text) = raw.strip_prefix(b"\t") {
            lines.push(BlamedLine { commit, path: paths.get(&commit)?.clone(), line, text: text.into() });
            head = None;
        } else if let Some(name) = raw.strip_prefix(b"filename ") {
            let (name, _) = gix::quote::ansi_c::undo(name.as_bstr()).ok()?;
            paths.insert(commit, name.into_owned());
        }
    }
    head.is_none().then_some(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_described_once_and_its_file_may_change() {
        let (a, b) = ("a".repeat(40), "b".repeat(40));
        let text = format!(
            "{a} 1 1 1\nauthor A\nsummary filename of nothing\nfilename notes/old.md\n\tone\n\
             {b} 7 2 2\nauthor B\nfilename \"notes/a\\\"b.md\"\n\ttwo\r\n{b} 8 3\n\t\n{a} 2 4 1\nfilename new.md\n\t\tfour\n"
        );
        let lines = parse(text.as_bytes()).expect("read");
        let told: Vec<(String, String, usize, String)> = lines
            .iter()
            .map(|l| (l.commit.to_string()[..1].into(), l.path.to_string(), l.line, l.text.to_string()))
            .collect();
        let expected = [
            ("a", "notes/old.md", 1, "one"),
            ("b", "notes/a\"b.md", 7, "two\r"),
            ("b", "notes/a\"b.md", 8, ""),
            ("a", "new.md", 2, "\tfour"),
        ];
        assert_eq!(told, expected.map(|(c, p, n, t)| (c.into(), p.into(), n, t.into())));
    }

    #[test]
    fn an_empty_file_has_no_lines_and_a_cut_answer_is_none() {
        assert_eq!(parse(b""), Some(Vec::new()));
        assert_eq!(parse(format!("{} 1 1 1\nauthor A\n", "a".repeat(40)).as_bytes()), None);
        assert_eq!(parse(b"nonsense\n"), None);
    }
}
