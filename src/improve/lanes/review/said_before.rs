//! What a candidate of the built-in reviewer says that a page says already, or that was turned down, in other words.
//! The rules know nothing of either; validation finds only what is told in nearly the same words.

use std::collections::BTreeSet;

use super::super::Bench;
use crate::git;
use crate::ledger::Status;
use crate::proposal::Candidate;
use crate::wiki::scope::GLOBAL;
use crate::wiki::text::normal;
use crate::wiki::{Kind, Page};

/// From this share of its telling words on, a candidate's statement stands in a sentence that is known.
const TOLD: f64 = 0.8;

/// Fewer telling words say too little to be known again.
const FEWEST: usize = 2;

/// Statements that are known, and where from.
pub struct SaidBefore {
    statements: Vec<Statement>,
}

struct Statement {
    words: BTreeSet<String>,
    forbids: bool,
    normal: String,
    /// It was turned down: more words around it do not make it another.
    rejected: bool,
    from: String,
}

impl SaidBefore {
    /// What the pages of a scope say, and what was proposed for it and turned down.
    pub fn load(bench: &Bench<'_>, scope: &str) -> git::Result<SaidBefore> {
        let here = |name: &str| name == scope || name == GLOBAL;
        let mut statements = Vec::new();
        for (path, blob) in bench.wiki.pages()? {
            let page = bench.wiki.read(path.as_ref(), &bench.wiki.repo.blob(blob)?);
            let record = matches!(page.kind, Some(Kind::Session | Kind::Slot));
            if !record && here(&bench.wiki.scopes.of_page(&page.path.to_string()).name) {
                let from = format!("{} says it already", page.path);
                statements.extend(sentences(&page).map(|text| Statement::of(text, false, &from)));
            }
        }
        for item in &bench.view.items {
            let proposal = &item.proposal;
            if item.status == Status::Rejected
                && proposal.merit
                && here(&proposal.scope)
                && bench.view.state.withdrawn_from(item.id()).is_none()
            {
                statements.push(Statement::of(
                    &proposal.title,
                    true,
                    &format!("proposal {} was rejected and says the same", item.id()),
                ));
            }
        }
        Ok(SaidBefore { statements })
    }

    /// Where a candidate's statement is known from. What is told in the same words is left to validation, which has
    /// codes for it.
    pub fn of(&self, candidate: &Candidate) -> Option<&str> {
        let said = Statement::of(&candidate.title, false, "");
        let found = self.statements.iter().find(|known| {
            known.forbids == said.forbids
                && !known.normal.contains(&said.normal)
                && if known.rejected {
                    share(&known.words, &said.words) >= 1.0
                } else {
                    share(&said.words, &known.words) >= TOLD
                }
        });
        found.map(|known| known.from.as_str())
    }
}

impl Statement {
    fn of(text: &str, rejected: bool, from: &str) -> Statement {
        let normal = normal(text);
        const FORBIDS: &[&str] = &[
            "never", "don", "dont", "not", "no", "stop", "avoid", "without", "cannot", "nie", "kein", "jamais", "nunca",
        ];
        let forbids = normal.split(' ').any(|word| FORBIDS.contains(&word));
        Statement { words: telling(&normal), forbids, normal, rejected, from: from.to_owned() }
    }
}

/// The share of the first words that are among the second.
fn share(of: &BTreeSet<String>, among: &BTreeSet<String>) -> f64 {
    if of.len() < FEWEST {
        return 0.0;
    }
    of.intersection(among).count() as f64 / of.len() as f64
}

/// The words that tell something, in one form each.
fn telling(normal: &str) -> BTreeSet<String> {
    const COMMON: &[&str] = &[
        "the", "and", "for", "with", "that", "this", "our", "are", "was", "from", "into", "you", "your", "always",
        "never", "not", "don", "dont", "here", "please", "must", "should", "all", "any", "when", "before", "after",
        "has", "have", "been", "its", "can", "repo", "project", "stop",
    ];
    normal.split(' ').filter(|word| word.len() >= 3 && !COMMON.contains(word)).map(stem).collect()
}

fn stem(word: &str) -> String {
    let cut =
        ["ing", "ed", "es", "s", "e"].iter().find_map(|end| word.strip_suffix(end).filter(|stem| stem.len() >= 3));
    cut.unwrap_or(word).to_owned()
}

/// The title and the sentences of a page.
fn sentences(page: &Page) -> impl Iterator<Item = &str> {
    let lines = page.body.lines().filter(|line| !line.trim_start().starts_with('#'));
    std::iter::once(page.title.as_str())
        .chain(lines.flat_map(|line| line.split_inclusive(". ")))
        .filter(|text| !text.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proposal::Operation;

    fn known(page: &[&str], rejected: &[&str]) -> SaidBefore {
        let of_page = page.iter().map(|text| Statement::of(text, false, "a page"));
        SaidBefore {
            statements: of_page.chain(rejected.iter().map(|text| Statement::of(text, true, "a rejection"))).collect(),
        }
    }

    fn candidate(title: &str) -> Candidate {
        Candidate {
            operation: Operation::Create,
            path: "_rules/x.md".into(),
            title: title.into(),
            kind: Kind::Rule,
            confidence: 0.8,
            rationale: String::new(),
            evidence: Vec::new(),
            body_markdown: None,
            edits: Vec::new(),
        }
    }

    #[test]
    fn a_page_that_says_it_with_more_words_around_it_is_found() {
        let said = known(&["The API server needs Redis: always start Redis before the API server."], &[]);
        assert_eq!(said.of(&candidate("Redis must be started before the api server")), Some("a page"));
        assert_eq!(said.of(&candidate("Start the queue before the api server")), None);
        assert_eq!(said.of(&candidate("Never start redis before the api server")), None, "the opposite is news");
    }

    #[test]
    fn a_rejected_rule_stays_rejected_with_words_added() {
        let said = known(&[], &["Never use isort"]);
        assert_eq!(said.of(&candidate("Never use isort in this repo, ruff sorts the imports")), Some("a rejection"));
        assert_eq!(said.of(&candidate("Always use isort for imports")), None);
        assert_eq!(said.of(&candidate("Never use black")), None);
    }
}
