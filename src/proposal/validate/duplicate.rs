//! What is known already: proposals of earlier times, and pages of every kind.

use super::{Candidate, Context, Fault, KnownPage, Operation, Past, ReasonCode, id_of};
use crate::wiki::path::fold;
use crate::wiki::scope::GLOBAL;
use crate::wiki::text::{normal, shingle_overlap};
use crate::wiki::{Kind, text};

/// From this share of five-word runs on, one text restates another.
const RESTATED: f64 = 0.8;

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
