//! What is known already: proposals of earlier times, and pages of every kind.

use std::collections::HashSet;

use super::gist::Gist;
use super::{Candidate, Context, Fault, KnownPage, Operation, Past, ReasonCode, id_of};
use crate::proposal::context::session_of;
use crate::wiki::path::fold;
use crate::wiki::scope::GLOBAL;
use crate::wiki::text::{fold_space, normal, shingle_overlap};
use crate::wiki::{Edit, EditOp, Kind, text};

/// From this share of five-word runs on, one text restates another.
const RESTATED: f64 = 0.8;

/// Fewest characters of a quote that is no accident in two candidates.
const TELLING_QUOTE: usize = 12;

/// Refuses what is pending or was rejected on merit.
pub(super) fn of_past(candidate: &Candidate, context: &Context<'_>) -> Result<(), Fault> {
    let id = id_of(context.scope, candidate);
    let body = candidate.body_markdown.as_deref().unwrap_or_default();
    let restates = |past: &&Past| {
        past.id == id
            || past.paths.iter().any(|path| fold(path.as_str().into()) == fold(candidate.path.as_str().into()))
                && past.operation == candidate.operation
                && shingle_overlap(&statements(body), &statements(&past.body)) >= RESTATED
    };
    if let Some(past) = context.rejected.iter().find(restates) {
        let what = format!("proposal {} was rejected: {}; only new evidence can bring it back", past.id, past.reason);
        return Err((ReasonCode::AlreadyRejected, what));
    }
    // A person who proposes by hand means what they say.
    if !context.by_person && !context.rejected.is_empty() {
        let gist = says(candidate, context);
        if let Some(past) = context.rejected.iter().find(|past| rewords(candidate, &gist, past, context)) {
            let page = past.paths.first().map_or("", String::as_str);
            let what = format!(
                "it says in other words what proposal {} ({page}, \"{}\") said, which was rejected: {}; propose what is \
                 new, without that",
                past.id, past.title, past.reason
            );
            return Err((ReasonCode::AlreadyRejected, what));
        }
    }
    let creates = candidate.operation == Operation::Create;
    let waits = |past: &&Past| {
        // Another text for the same new page is no repetition: staging holds it back behind the first.
        let same_title = || normal(&past.title) == normal(&candidate.title);
        let same_page = || {
            same_title()
                && !past.paths.iter().any(|path| fold(path.as_str().into()) == fold(candidate.path.as_str().into()))
        };
        restates(past) || creates && past.operation == Operation::Create && same_page()
    };
    if let Some(past) = context.pending.iter().find(waits) {
        let page = past.paths.first().map_or("", String::as_str);
        let what = format!("proposal {} ({page}) waits for the same; decide that one", past.id);
        return Err((ReasonCode::AlreadyPending, what));
    }
    Ok(())
}

/// Whether a candidate is a rejected lesson in other words: nearly all words of the shorter text stand in the other, which
/// is of the same kind; or it rests on the same words of the same session and shares half of what it says.
fn rewords(candidate: &Candidate, gist: &Gist, past: &Past, context: &Context<'_>) -> bool {
    let lesson = |operation| matches!(operation, Operation::Create | Operation::Update);
    let here = past.scope == context.scope.name || past.scope == GLOBAL;
    if !here || !lesson(candidate.operation) || !lesson(past.operation) {
        return false;
    }
    let said = past.gist();
    candidate.kind == past.kind && gist.is_like(&said) || shares_a_quote(candidate, past) && gist.is_kin(&said)
}

fn shares_a_quote(candidate: &Candidate, past: &Past) -> bool {
    let place = |source: &str| session_of(source).unwrap_or(source).to_owned();
    candidate.evidence.iter().any(|evidence| {
        let ours = fold_space(&evidence.quote);
        past.quotes.iter().any(|(source, quote)| {
            let theirs = fold_space(quote);
            let telling = ours.chars().count().min(theirs.chars().count()) >= TELLING_QUOTE;
            telling && place(source) == place(&evidence.source) && (ours.contains(&theirs) || theirs.contains(&ours))
        })
    })
}

/// What a candidate says: all of a new page, else what it brings to its page.
fn says(candidate: &Candidate, context: &Context<'_>) -> Gist {
    let body = candidate.body_markdown.as_deref().unwrap_or_default();
    if candidate.operation == Operation::Create {
        return Gist::of(&statements(&format!("{}.\n{body}", candidate.title)));
    }
    // A field or a word that is put right is no lesson.
    let brings = |edit: &&Edit| !matches!(edit.op, EditOp::SetField | EditOp::ReplaceText);
    let edits = candidate.edits.iter().filter(brings).map(|edit| edit.content.as_str());
    let text = edits.chain([body]).collect::<Vec<_>>().join("\n");
    let before = context.known.page(&candidate.path).map_or("", |page| page.body.as_str());
    Gist::of(&statements(&added(before, &text)))
}

impl Past {
    fn gist(&self) -> Gist {
        Gist::of(&statements(&match self.operation {
            Operation::Create => format!("{}.\n{}", self.title, self.body),
            _ => self.added.clone(),
        }))
    }
}

/// The lines of a text that another has not.
pub fn added(before: &str, after: &str) -> String {
    let known: HashSet<&str> = before.lines().map(str::trim).collect();
    after.lines().filter(|line| !known.contains(line.trim())).collect::<Vec<_>>().join("\n")
}

/// Refuses a new page whose title or whole text stands elsewhere.
pub(super) fn of_pages(candidate: &Candidate, context: &Context<'_>) -> Result<(), Fault> {
    if candidate.operation != Operation::Create {
        return Ok(());
    }
    let near = |paths: &'_ [String]| {
        paths.iter().find(|path| context.known.page(path).is_some_and(|page| counts(page, context))).cloned()
    };
    if let Some(path) = near(context.known.titled(&candidate.title)) {
        let what = format!("already known: {path} has the title \"{}\"; change that page", candidate.title);
        return Err((ReasonCode::DuplicateExistingTitle, what));
    }
    if let Some(path) = near(context.known.with_body(candidate.body_markdown.as_deref().unwrap_or_default())) {
        return Err((ReasonCode::DuplicateExistingContent, format!("already known: {path} has the same text")));
    }
    Ok(())
}

/// Refuses a new page that says what a page says already. Last, as it reads every page.
pub(super) fn of_content(candidate: &Candidate, context: &Context<'_>) -> Result<(), Fault> {
    let (Operation::Create, Some(body)) = (candidate.operation, &candidate.body_markdown) else { return Ok(()) };
    let said = statements(body);
    let runs = runs(&normal(&said));
    if runs.is_empty() {
        return Ok(());
    }
    for (path, page) in context.known.pages().filter(|(_, page)| counts(page, context)) {
        let text = page.normal_body();
        let mut missing = 0;
        let allowed = runs.len() - needed(runs.len());
        let restated = runs.iter().all(|run| {
            missing += usize::from(!text.contains(run.as_str()));
            missing <= allowed
        });
        if restated {
            let what = format!("already known: {path} says the same; change that page where it falls short");
            return Err((ReasonCode::DuplicateExistingContent, what));
        }
    }
    Ok(())
}

/// Whether a page counts as "known": of this scope or of all scopes, and knowledge rather than a record.
fn counts(page: &KnownPage, context: &Context<'_>) -> bool {
    let here = page.scope == context.scope.name || page.scope == GLOBAL;
    here && !matches!(page.kind, Some(Kind::Session | Kind::Slot))
}

/// How many of so many runs must stand in a page.
fn needed(count: usize) -> usize {
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a page has few words"
    )]
    {
        (count as f64 * RESTATED).ceil() as usize
    }
}

/// The distinct runs of five words; a text of fewer words (at least three) is one run.
fn runs(normal: &str) -> Vec<String> {
    let words: Vec<_> = normal.split(' ').filter(|word| !word.is_empty()).collect();
    let mut runs: Vec<_> = match words.len() {
        0..3 => Vec::new(),
        3..5 => vec![words.join(" ")],
        _ => words.windows(5).map(|run| run.join(" ")).collect(),
    };
    runs.sort_unstable();
    runs.dedup();
    runs
}

/// A body without its headings: what it claims.
fn statements(body: &str) -> String {
    let lines = body.lines().filter(|line| !line.trim_start().starts_with('#'));
    text::fold_space(&lines.collect::<Vec<_>>().join("\n"))
}
