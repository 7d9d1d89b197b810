//! Fetching and pushing refs of ours, through the git program: with the user's transport, credentials and hooks, and
//! without touching FETCH_HEAD, tags, or anything that the user's refspecs name.

use super::{Error, Git, Oid, Output, Repo, Result};

/// What came of a push.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pushed {
    /// The remote has it.
    Done,
    /// Somebody else was faster: the remote holds what is not known here.
    Behind,
}

impl Repo {
    /// Fetches one ref of a remote into a ref of ours; returns its value, `None` when the remote has no such ref.
    ///
    /// # Errors
    /// [`Error::Command`] when the remote cannot be reached, or refuses.
    pub fn fetch(&self, remote: &str, from: &str, into: &str) -> Result<Option<Oid>> {
        let git = self
            .transport()
            .args(["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance"])
            // Without this, a fetched ref that the user's own refspec covers would be written there as well.
            .args(["--refmap=", "--no-recurse-submodules", "--no-prune", "--end-of-options", remote])
            .arg(format!("+{from}:{into}"));
        let line = git.line();
        let output = git.output()?;
        match output.code {
            Some(0) => self.reference(into),
            _ if output.stderr.contains("couldn't find remote ref") => Ok(None),
            _ => Err(output.failed(line)),
        }
    }

    /// Pushes a commit to one ref of a remote, never by force.
    ///
    /// # Errors
    /// [`Error::Command`] when the remote cannot be reached, or refuses for another reason than that it is ahead.
    pub fn push(&self, remote: &str, commit: Oid, to: &str) -> Result<Pushed> {
        let git = self
            .transport()
            .args(["push", "--porcelain", "--no-follow-tags", "--recurse-submodules=no", "--end-of-options", remote])
            .arg(format!("{commit}:{to}"));
        let line = git.line();
        let output = git.output()?;
        match output.code {
            Some(0) => Ok(Pushed::Done),
            _ if is_behind(&output, to) => Ok(Pushed::Behind),
            _ => Err(refused(&output, line)),
        }
    }

    fn transport(&self) -> Git {
        self.git().args(["-c", "core.fsync=objects,reference", "-c", "gc.auto=0", "-c", "maintenance.auto=false"])
    }
}

/// Whether the remote said that its ref is not what we built on. Two pushes at once meet at the ref's lock, which each
/// version of git says in other words.
fn is_behind(output: &Output, to: &str) -> bool {
    let told = String::from_utf8_lossy(&output.stdout);
    let races = [
        "fetch first",
        "non-fast-forward",
        "stale info",
        "remote ref updated since checkout",
        "incorrect old value",
        "reference already exists",
        "failed to update ref",
        "cannot lock ref",
        "failed to lock",
    ];
    told.lines()
        .filter(|line| line.starts_with('!') && line.contains(to))
        .any(|line| races.iter().any(|race| line.contains(race)))
}

/// The error of a push: what the remote said of the ref stands on standard output.
fn refused(output: &Output, line: String) -> Error {
    let told = String::from_utf8_lossy(&output.stdout);
    let of_ref = told.lines().filter(|line| line.starts_with('!'));
    let said: Vec<&str> = of_ref.chain([output.stderr.trim()]).filter(|part| !part.is_empty()).collect();
    Output { stderr: said.join("; "), ..output.clone() }.failed(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(stdout: &str) -> Output {
        Output { code: Some(1), stdout: stdout.into(), stderr: "error: failed to push some refs".into() }
    }

    #[test]
    fn a_lost_race_is_told_from_a_refusal() {
        let to = "refs/memory/log";
        let line = |why: &str| said(&format!("To ../remote\n!\tabc:{to}\t{why}\nDone\n"));
        for why in [
            "[rejected] (fetch first)",
            "[rejected] (non-fast-forward)",
            "[remote rejected] (cannot lock ref 'refs/memory/log': is at 1 but expected 2)",
            "[remote rejected] (incorrect old value provided)",
        ] {
            assert!(is_behind(&line(why), to), "{why}");
        }
        for why in ["[remote rejected] (pre-receive hook declined)", "[remote rejected] (deny updating a hidden ref)"] {
            assert!(!is_behind(&line(why), to), "{why}");
        }
        assert!(refused(&line("[remote rejected] (hook declined)"), "git push".into()).to_string().contains("hook"));
    }
}
