//! Lines of a page and the commits that truly wrote them: what a revert only brought back is followed further.

use std::collections::HashMap;

use bstr::{BStr, BString, ByteSlice};

use crate::git::{self, Hunk, Oid, Repo};
use crate::proposal::trailers;

/// A line and where it comes from.
pub(super) struct Traced {
    /// The commit that wrote it.
    pub commit: Oid,
    /// The file's path in that commit.
    pub path: BString,
    /// Its number in that commit's file, from 1.
    pub line: usize,
    /// Its bytes, without the line end.
    pub text: BString,
    /// The newest commit that only brought it back.
    pub restored: Option<Oid>,
}

/// How many reverts of reverts are followed.
const DEPTH: usize = 16;

/// The lines of a file at a commit, top to bottom.
pub(super) fn trace(repo: &Repo, commit: Oid, path: &BStr) -> git::Result<Vec<Traced>> {
    to_depth(repo, commit, path, DEPTH)
}

fn to_depth(repo: &Repo, commit: Oid, path: &BStr, depth: usize) -> git::Result<Vec<Traced>> {
    let mut lines: Vec<Traced> = repo
        .blame(commit, path)?
        .into_iter()
        .map(|line| Traced { commit: line.commit, path: line.path, line: line.line, text: line.text, restored: None })
        .collect();
    if depth == 0 {
        return Ok(lines);
    }
    // By revert and path: what it brought back, by the line's number there.
    let mut known: HashMap<(Oid, BString), HashMap<usize, Traced>> = HashMap::new();
    for line in &mut lines {
        let key = (line.commit, line.path.clone());
        if !known.contains_key(&key) {
            let brought = brought_back(repo, line.commit, line.path.as_ref(), depth)?;
            known.insert(key.clone(), brought);
        }
        if let Some(origin) = known.get_mut(&key).and_then(|lines| lines.remove(&line.line)) {
            *line = Traced { restored: Some(line.commit), ..origin };
        }
    }
    Ok(lines)
}

/// For a commit that takes another back: the lines of its file that stood there before that other one, by their
/// numbers.
fn brought_back(repo: &Repo, commit: Oid, path: &BStr, depth: usize) -> git::Result<HashMap<usize, Traced>> {
    let none = HashMap::new();
    let Some(taken) = trailers::taken_back(repo.commit(commit)?.message.as_ref()) else { return Ok(none) };
    // A message may name anything: a commit that is not there or has no parent leads nowhere.
    let Some(before) = repo
        .resolve(&taken.commit)?
        .and_then(|taken| repo.commit(taken).ok())
        .and_then(|taken| taken.parents.first().copied())
        .filter(|before| repo.is_ancestor(*before, commit).unwrap_or(false))
    else {
        return Ok(none);
    };
    let (Some(then), Some(now)) = (repo.file(before, path)?, repo.file(commit, path)?) else { return Ok(none) };
    // Whether the last line ends with a line break is no matter here.
    let ended = |bytes: Vec<u8>| bytes.lines().flat_map(|line| [line, b"\n"].concat()).collect::<Vec<u8>>();
    let (then, now) = (ended(then), ended(now));
    let mut places: HashMap<usize, usize> = HashMap::new();
    let (mut old, mut new) = (0, 0);
    let end = Hunk { before: then.lines().count()..0, after: 0..0 };
    for hunk in git::changes(&then, &now).into_iter().chain([end]) {
        places.extend((old..hunk.before.start).enumerate().map(|(n, at)| (at, new + n + 1)));
        (old, new) = (hunk.before.end, hunk.after.end);
    }
    let lines = to_depth(repo, before, path, depth - 1)?.into_iter().enumerate();
    Ok(lines.filter_map(|(at, line)| Some((*places.get(&at)?, line))).collect())
}
