//! Commits and how they hang together.

use bstr::{BStr, BString, ByteSlice};
use gix::objs::{CommitRef, Kind};

use super::command::explain;
use super::{Error, Oid, Person, Repo, Result, refs};

/// A commit, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// Its id.
    pub oid: Oid,
    /// Its tree.
    pub tree: Oid,
    /// Its parents, first first.
    pub parents: Vec<Oid>,
    /// Who wrote it.
    pub author: Person,
    /// Who made the commit.
    pub committer: Person,
    /// Seconds since the epoch of the committer's date.
    pub time: i64,
    /// The whole message.
    pub message: BString,
}

/// How far down the first parents an ancestor is looked for before the whole graph is walked.
const NEAR: usize = 64;

impl Repo {
    /// Reads a commit.
    ///
    /// # Errors
    /// [`Error::Read`] when there is no such commit.
    pub fn commit(&self, oid: Oid) -> Result<Commit> {
        let (kind, bytes) = self.object(oid)?;
        if kind != Kind::Commit {
            return Err(Error::read(oid.to_string(), format!("it is a {kind}, not a commit")));
        }
        let broken = |error: gix::Error| Error::read(oid.to_string(), explain(&error));
        let commit = CommitRef::from_bytes(&bytes, self.inner.object_hash()).map_err(broken)?;
        let (author, _) = signature(commit.author);
        let (committer, time) = signature(commit.committer);
        Ok(Commit {
            oid,
            tree: commit.tree(),
            parents: commit.parents().collect(),
            author,
            committer,
            time,
            message: commit.message.to_owned(),
        })
    }

    /// The commit that a person's words name: `HEAD~2`, a branch, a tag, a short id. `None` when they name none.
    ///
    /// # Errors
    /// [`Error::Command`] when git cannot be asked.
    pub fn resolve(&self, revision: &str) -> Result<Option<Oid>> {
        let named = format!("{revision}^{{commit}}");
        let git = self.git().args(["rev-parse", "--verify", "--quiet", "--end-of-options", &named]);
        match git.output()? {
            output if output.code == Some(0) => refs::oid_of(&output.stdout, revision).map(Some),
            _ => Ok(None),
        }
    }

    /// Whether `ancestor` is `descendant` or reachable from it. False in a shallow history where it cannot be told.
    ///
    /// # Errors
    /// [`Error::Read`] when a commit is missing or broken.
    pub fn is_ancestor(&self, ancestor: Oid, descendant: Oid) -> Result<bool> {
        if ancestor == descendant {
            return Ok(true);
        }
        if self.is_shallow() {
            let (a, d) = (ancestor.to_string(), descendant.to_string());
            let git = self.git().args(["merge-base", "--is-ancestor", &a, &d]);
            let line = git.line();
            let output = git.output()?;
            return match output.code {
                Some(0) => Ok(true),
                Some(1) => Ok(false),
                _ => Err(output.failed(line)),
            };
        }
        // Nearly always it is one of the last landings, or below them.
        let mut at = descendant;
        for _ in 0..NEAR {
            let commit = self.commit(at)?;
            if commit.parents.contains(&ancestor) {
                return Ok(true);
            }
            match commit.parents.first() {
                Some(&parent) => at = parent,
                None => break,
            }
        }
        Ok(self.merge_bases(ancestor, descendant)?.contains(&ancestor))
    }

    /// The best common ancestor of two commits; `None` when they share no history, or in a shallow one not enough.
    ///
    /// # Errors
    /// [`Error::Read`] when a commit is missing or broken.
    pub fn merge_base(&self, a: Oid, b: Oid) -> Result<Option<Oid>> {
        if self.is_shallow() {
            let git = self.git().args(["merge-base", &a.to_string(), &b.to_string()]);
            let line = git.line();
            let output = git.output()?;
            return match output.code {
                Some(0) => refs::oid_of(&output.stdout, "the merge base").map(Some),
                Some(1) => Ok(None),
                _ => Err(output.failed(line)),
            };
        }
        Ok(self.merge_bases(a, b)?.first().copied())
    }

    fn merge_bases(&self, a: Oid, b: Oid) -> Result<Vec<Oid>> {
        let bases = self
            .inner
            .merge_bases_many(a, &[b])
            .map_err(|error| Error::read(format!("the common history of {a} and {b}"), explain(&error)))?;
        Ok(bases.into_iter().map(|id| id.detach()).collect())
    }

    /// The commits of the first-parent chain from `tip` down, newest first, until `until` (left out) or the root (or
    /// the end of a shallow history). The bool tells whether `until` was met.
    ///
    /// # Errors
    /// [`Error::Read`] when a commit is missing or broken.
    pub fn first_parents(&self, tip: Oid, until: Option<Oid>) -> Result<(Vec<Commit>, bool)> {
        let cut = self.shallow_boundary()?;
        let mut commits = Vec::new();
        let mut at = Some(tip);
        while let Some(oid) = at {
            if Some(oid) == until {
                return Ok((commits, true));
            }
            let commit = self.commit(oid)?;
            at = commit.parents.first().copied().filter(|_| !cut.contains(&oid));
            commits.push(commit);
        }
        Ok((commits, false))
    }

    /// The newest commit of the first-parent chain from `tip` down that was made at `time` (seconds since 1970) or
    /// before; `None` when the chain begins later, or is cut off before it gets there.
    ///
    /// # Errors
    /// [`Error::Read`] when a commit is missing or broken.
    pub fn as_of(&self, tip: Oid, time: i64) -> Result<Option<Oid>> {
        let cut = self.shallow_boundary()?;
        let mut at = tip;
        loop {
            let commit = self.commit(at)?;
            if commit.time <= time {
                return Ok(Some(at));
            }
            match commit.parents.first() {
                Some(&parent) if !cut.contains(&at) => at = parent,
                _ => return Ok(None),
            }
        }
    }

    /// The commits whose parents were left out of a shallow clone.
    fn shallow_boundary(&self) -> Result<Vec<Oid>> {
        if !self.is_shallow() {
            return Ok(Vec::new());
        }
        let path = self.common_dir().join("shallow");
        let text = std::fs::read(&path).map_err(|error| Error::read(path.display().to_string(), error))?;
        text.lines().map(|line| refs::oid_of(line, "shallow")).collect()
    }
}

/// Reads `Name <address> seconds zone`, taking what there is of a malformed one: old commits must stay readable.
fn signature(raw: &BStr) -> (Person, i64) {
    let text = raw.to_str_lossy();
    let (name, rest) = text.split_once('<').unwrap_or((&text, ""));
    let (email, date) = rest.rsplit_once('>').unwrap_or((rest, ""));
    let time = date.split_whitespace().next().and_then(|secs| secs.parse().ok()).unwrap_or(0);
    (Person { name: name.trim().to_owned(), email: email.trim().to_owned() }, time)
}

#[cfg(test)]
mod tests {
    use super::signature;

    #[test]
    fn a_malformed_signature_gives_what_there_is() {
        let (person, time) = signature("Ada <ada@example.org> 1700000000 +0100".into());
        assert_eq!((person.to_string().as_str(), time), ("Ada <ada@example.org>", 1_700_000_000));
        let (person, time) = signature("just a name".into());
        assert_eq!((person.name.as_str(), person.email.as_str(), time), ("just a name", "", 0));
    }
}
