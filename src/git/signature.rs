//! Who signed a commit, when that is somebody whom this repository's git allows to.

use super::{Oid, Repo, Result};

impl Repo {
    /// The allowed signer of a commit: the name that `gpg.ssh.allowedSignersFile` gives the key of its SSH signature.
    /// `None` for a commit that nobody signed, that somebody else did, or whose signature does not hold. Other kinds of
    /// signatures tell who somebody is, not who may sign here: they do not count.
    ///
    /// # Errors
    /// When git cannot be started. What git cannot check was signed by nobody.
    pub fn allowed_signer(&self, commit: Oid) -> Result<Option<String>> {
        if !self.knows_signers() {
            return Ok(None);
        }
        let git = self.git().env("GIT_NO_REPLACE_OBJECTS", "1");
        let format = "--format=%G?%x00%GF%x00%GS";
        let output = git.args(["log", "-1", "--no-show-signature", format, &commit.to_string()]).output()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let fields: Vec<&str> = text.trim_end_matches('\n').split('\0').collect();
        // `G`: good, by a key that is listed; `U` would be a good signature of a key that is not. Only the fingerprint of
        // an SSH key begins so.
        Ok(match (output.code, &fields[..]) {
            (Some(0), ["G", key, who]) if key.starts_with("SHA256:") && !who.is_empty() => Some((*who).to_owned()),
            _ => None,
        })
    }

    /// Whether anybody is allowed to sign here at all.
    pub fn knows_signers(&self) -> bool {
        self.config("gpg.ssh.allowedSignersFile").is_some_and(|file| !file.trim().is_empty())
    }

    /// The commits between the root and `tip` that brought a path in: they have it, and their one parent has not.
    ///
    /// # Errors
    /// When the history cannot be read.
    pub fn commits_that_add(&self, tip: Oid, path: &str) -> Result<Vec<Oid>> {
        let git = self.git().env("GIT_NO_REPLACE_OBJECTS", "1").env("GIT_LITERAL_PATHSPECS", "1");
        let options = ["log", "--format=%H", "--no-show-signature", "--full-history", "--no-merges"];
        let found = git.args(options).args(["--diff-filter=A", "--no-renames", &tip.to_string(), "--", path]).run()?;
        let lines = String::from_utf8_lossy(&found).into_owned();
        Ok(lines.lines().filter_map(|line| Oid::from_hex(line.as_bytes()).ok()).collect())
    }
}
