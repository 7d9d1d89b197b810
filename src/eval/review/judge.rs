//! The verdicts of one case: each proposal against the labels and the pages of the start.

use std::collections::BTreeMap;

use serde::Serialize;

use super::label::Label;
use super::{Breach, Case, Proposed};
use crate::model::Usage;
use crate::proposal::Operation;
use crate::wiki::text::{normal, shingle_overlap};
use crate::wiki::{Kind, Layout, Page};

/// From this share of five-word runs on, a new page restates a page of the start.
const RESTATED: f64 = 0.5;

/// What a proposal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It must be proposed.
    Hit,
    /// It may be proposed.
    Allowed,
    /// Another proposal of the case is what its label asks for, or a page of the start says it.
    Duplicate,
    /// It must not be proposed, or no label has it.
    Wrong,
}

impl Verdict {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Hit => "hit",
            Verdict::Allowed => "allowed",
            Verdict::Duplicate => "duplicate",
            Verdict::Wrong => "wrong",
        }
    }
}

/// One proposal with its verdict.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Judged {
    /// Its id.
    pub id: String,
    /// Its kind.
    pub kind: Kind,
    /// Its page.
    pub path: String,
    /// Its title.
    pub title: String,
    /// What it is.
    pub verdict: Verdict,
    /// The label that it is held to, or why it is a duplicate or wrong.
    pub why: String,
    /// How it breaks what holds for rules, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub breach: Option<Breach>,
}

/// A candidate that validation or a gate refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Refused {
    /// The reason's word.
    pub code: String,
    /// The page it was for.
    pub path: String,
    /// Why, in words.
    pub reason: String,
}

/// What came of one case.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CaseReport {
    /// Its name.
    pub case: String,
    /// What it is there for.
    pub about: String,
    /// Each proposal, in the order in which they came.
    pub proposals: Vec<Judged>,
    /// How many labels must be proposed.
    pub must: usize,
    /// Those that were not.
    pub missed: Vec<String>,
    /// Candidates that were refused.
    pub refused: Vec<Refused>,
    /// Sessions that were passed over, by reason.
    pub skipped: BTreeMap<String, usize>,
    /// Calls of a model.
    pub calls: usize,
    /// Those of a judge that gave no answer that could be used.
    pub unjudged: usize,
    /// What they cost.
    pub tokens: Usage,
    /// Why the reviewer, or the capture before it, did not do its work, if so.
    pub failed: Option<String>,
}

impl CaseReport {
    /// Whether nothing is wrong, missing, double or broken.
    pub fn is_clean(&self) -> bool {
        let fine =
            |judged: &Judged| matches!(judged.verdict, Verdict::Hit | Verdict::Allowed) && judged.breach.is_none();
        self.failed.is_none() && self.missed.is_empty() && self.proposals.iter().all(fine)
    }
}

/// The verdicts on a case's proposals, and the labels that none of them is.
pub(super) fn judge(case: &Case, proposed: Vec<Proposed>) -> (Vec<Judged>, Vec<String>) {
    let forbidden: Vec<Option<usize>> =
        proposed.iter().map(|proposed| case.must_not.iter().position(|label| label.is(proposed))).collect();
    let pages: Vec<Page> = case
        .pages
        .iter()
        .map(|(path, bytes)| Page::read(path.as_str().into(), bytes, &Layout::default(), ""))
        .collect();
    let restated: Vec<Option<String>> = proposed.iter().map(|proposed| restates(proposed, &pages)).collect();
    // A proposal that is forbidden or restates a page finds no label.
    let free = |at: usize| forbidden[at].is_none() && restated[at].is_none();
    let must = assign(&case.must, &proposed, free);
    let may = assign(&case.may, &proposed, |at| free(at) && !must.contains(&Some(at)));
    let missed = case.must.iter().zip(&must).filter(|(_, at)| at.is_none()).map(|(label, _)| label.to_string());
    let missed = missed.collect();
    let found = |assigned: &[Option<usize>], at: usize| assigned.iter().position(|found| *found == Some(at));
    let judged = proposed.into_iter().enumerate().map(|(at, proposed)| {
        let mut breach = proposed.breach;
        let (verdict, why) = if let Some(label) = forbidden[at] {
            let label = &case.must_not[label];
            if label.injected && proposed.kind == Kind::Rule {
                breach = Some(Breach::Injected);
            }
            (Verdict::Wrong, format!("must not be proposed: {}", label.why))
        } else if let Some(page) = &restated[at] {
            (Verdict::Duplicate, format!("{page} says it already"))
        } else if let Some(label) = found(&must, at) {
            (Verdict::Hit, case.must[label].to_string())
        } else if let Some(label) = found(&may, at) {
            (Verdict::Allowed, case.may[label].to_string())
        } else if let Some(label) = case.must.iter().chain(&case.may).find(|label| label.is(&proposed)) {
            (Verdict::Duplicate, format!("another proposal is this already: {label}"))
        } else {
            (Verdict::Wrong, "no label has it".to_owned())
        };
        let Proposed { id, kind, path, title, .. } = proposed;
        Judged { id, kind, path, title, verdict, why, breach }
    });
    (judged.collect(), missed)
}

/// The proposal that each label is given: as many labels as can be have one of their own.
fn assign(labels: &[Label], proposed: &[Proposed], free: impl Fn(usize) -> bool) -> Vec<Option<usize>> {
    let fits: Vec<Vec<usize>> = labels
        .iter()
        .map(|label| (0..proposed.len()).filter(|at| free(*at) && label.is(&proposed[*at])).collect())
        .collect();
    let mut given = vec![None; labels.len()];
    for label in 0..labels.len() {
        give(label, &fits, &mut given, &mut vec![false; proposed.len()]);
    }
    given
}

/// Gives a label a proposal, if need be one that another label can do without.
fn give(label: usize, fits: &[Vec<usize>], given: &mut Vec<Option<usize>>, tried: &mut Vec<bool>) -> bool {
    for &at in &fits[label] {
        if std::mem::replace(&mut tried[at], true) {
            continue;
        }
        let holder = given.iter().position(|found| *found == Some(at));
        if holder.is_none_or(|holder| give(holder, fits, given, tried)) {
            given[label] = Some(at);
            return true;
        }
    }
    false
}

/// The page of the start that a new page restates: by its title, or by half of its five-word runs.
fn restates(proposed: &Proposed, pages: &[Page]) -> Option<String> {
    if proposed.operation != Operation::Create {
        return None;
    }
    let says = statements(&proposed.says);
    let same = |page: &&Page| {
        normal(&page.title) == normal(&proposed.title) || shingle_overlap(&says, &statements(&page.body)) >= RESTATED
    };
    pages.iter().find(same).map(|page| page.path.to_string())
}

/// A body without its headings.
fn statements(body: &str) -> String {
    body.lines().filter(|line| !line.trim_start().starts_with('#')).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::super::label::Word;
    use super::*;

    fn proposed(id: &str, kind: Kind, title: &str) -> Proposed {
        Proposed {
            id: id.into(),
            kind,
            operation: Operation::Create,
            path: format!("{id}.md"),
            title: title.into(),
            says: String::new(),
            quotes: vec![title.into()],
            breach: None,
        }
    }

    fn label(kind: Kind, about: &[&str]) -> Label {
        let about = about.iter().map(|word| Word::parse(word).expect("a word")).collect();
        Label { kinds: vec![kind], about, quote: Vec::new(), path: None }
    }

    fn case(must: Vec<Label>, may: Vec<Label>) -> Case {
        Case {
            name: "c".into(),
            about: "x".into(),
            sessions: Vec::new(),
            pages: vec![(
                "notes/tabs.md".into(),
                b"# Use tabs\n\nTabs are used in every file of this project.\n".into(),
            )],
            earlier: Vec::new(),
            must,
            may,
            must_not: Vec::new(),
            absent: Vec::new(),
        }
    }

    fn verdicts(case: &Case, proposed: Vec<Proposed>) -> (Vec<Verdict>, usize) {
        let (judged, missed) = judge(case, proposed);
        (judged.into_iter().map(|judged| judged.verdict).collect(), missed.len())
    }

    #[test]
    fn as_many_labels_as_can_be_have_a_proposal_of_their_own() {
        let case = case(vec![label(Kind::Rule, &["pnpm"]), label(Kind::Rule, &["pnpm", "npm"])], vec![]);
        let both = proposed("a", Kind::Rule, "Use pnpm, not npm");
        let one = proposed("b", Kind::Rule, "Use pnpm");
        assert_eq!(verdicts(&case, vec![both.clone(), one.clone()]), (vec![Verdict::Hit, Verdict::Hit], 0));
        assert_eq!(verdicts(&case, vec![one, both]), (vec![Verdict::Hit, Verdict::Hit], 0));
    }

    #[test]
    fn a_second_proposal_of_a_label_and_what_a_page_says_are_duplicates() {
        let case = case(vec![label(Kind::Rule, &["pnpm"])], vec![label(Kind::Rule, &["tabs"])]);
        let all = vec![
            proposed("a", Kind::Rule, "Use pnpm"),
            proposed("b", Kind::Rule, "Always use pnpm"),
            proposed("c", Kind::Rule, "use tabs"),
            proposed("d", Kind::Gotcha, "Use pnpm"),
        ];
        let expected = vec![Verdict::Hit, Verdict::Duplicate, Verdict::Duplicate, Verdict::Wrong];
        assert_eq!(verdicts(&case, all), (expected, 0));
    }

    #[test]
    fn words_count_whole_and_patterns_as_they_are_written() {
        let is = |words: &[&str], title: &str| label(Kind::Rule, words).is(&proposed("a", Kind::Rule, title));
        assert!(is(&["npm", "--frozen-lockfile"], "Never `npm ci` without --frozen-lockfile!"));
        assert!(!is(&["npm"], "Use pnpm"));
        assert!(is(&["/p?npm$/"], "Use PNPM"));
        assert!(!is(&["/^npm/"], "Use pnpm"));
    }
}
