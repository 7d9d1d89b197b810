//! Pages that only say again what an agent reads anyway.

use std::collections::HashSet;
use std::fs;

use crate::git::{self, Repo};
use crate::wiki::Wiki;

/// What agents and people read of a project without being told.
const FILES: [&str; 3] = ["README.md", "AGENTS.md", "CLAUDE.md"];

/// A page restates a document that has this share of its words.
const RESTATED: f64 = 0.6;

/// Shorter words stand in every text.
const SHORTEST_WORD: usize = 4;

/// Longest document that is read, in bytes.
const LONGEST: u64 = 1 << 20;

/// The words of each document.
pub(super) struct Documents(Vec<HashSet<String>>);

impl Documents {
    /// Reads those at the top of the project: in its work tree, else at its HEAD.
    pub fn read(wiki: &Wiki) -> git::Result<Documents> {
        let repo = wiki.code.as_ref().unwrap_or(&wiki.repo);
        let mut found = Vec::new();
        for name in FILES {
            if let Some(text) = document(repo, name)? {
                found.push(words(&text));
            }
        }
        Ok(Documents(found))
    }

    /// Whether one of them says what a page says.
    #[expect(clippy::cast_precision_loss, reason = "the words of a page")]
    pub fn state(&self, body: &str) -> bool {
        let words = words(body);
        let needed = words.len() as f64 * RESTATED;
        !words.is_empty() && self.0.iter().any(|document| words.intersection(document).count() as f64 >= needed)
    }
}

fn document(repo: &Repo, name: &str) -> git::Result<Option<String>> {
    let bytes = match repo.workdir() {
        Some(top) => {
            let path = top.join(name);
            let is_small = fs::metadata(&path).is_ok_and(|file| file.is_file() && file.len() <= LONGEST);
            if is_small { fs::read(&path).ok() } else { None }
        }
        None => match repo.reference("HEAD")? {
            Some(head) => repo.file(head, name.into())?,
            None => None,
        },
    };
    Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

/// The distinct words of a text, in lower case.
fn words(text: &str) -> HashSet<String> {
    let lower = text.to_lowercase();
    let all = lower.split(|c: char| !c.is_alphanumeric());
    all.filter(|word| word.chars().count() >= SHORTEST_WORD).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_restates_a_document_that_has_six_of_ten_of_its_words() {
        let documents = Documents(vec![words("Install with pnpm, never with npm: the lockfile matters here.")]);
        assert!(documents.state("# Install with pnpm\n\nThe lockfile matters.\n"));
        assert!(!documents.state("# Install with pnpm\n\nCorepack pins another version of node modules.\n"));
        assert!(!documents.state(""));
        assert!(!Documents(Vec::new()).state("install"));
    }
}
