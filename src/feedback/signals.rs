//! Searching with what use says of the pages, and recording what was served: from the branch's tip, for a look at an
//! old tree is no use of a page.

use bstr::BString;
use jiff::Timestamp;

use super::episode::ALL_SCOPES;
use super::{By, Recorded, Served, fold, ranking, record};
use crate::config::Priors;
use crate::git;
use crate::ledger::Cache;
use crate::search::context::{self, Context, Task};
use crate::search::{self, Answer, Ask, Pages, Signals};
use crate::wiki::Wiki;

/// What use and outcomes say of the pages, for a search in this scope (`None`: in all).
///
/// # Errors
/// When the ledger cannot be read.
pub fn signals(wiki: &Wiki, scope: Option<&str>, now: Timestamp) -> git::Result<Signals> {
    let folded = fold::load(&wiki.repo, Cache::Use)?;
    let (mode, _) = ranking::mode(wiki, now);
    let mut signals = Signals { mode, ..Signals::default() };
    signals.utility.extend(folded.utilities(now).map(|(page, utility)| (BString::from(page), utility.value)));
    if mode != Priors::Off {
        let home = |page| wiki.scopes.of_page(page).name.as_str();
        let all = folded.priors(home, now).into_iter();
        let here = all.filter(|((of, page), _)| *of == scope.unwrap_or_else(|| home(page)));
        signals.priors.extend(here.map(|((_, page), prior)| (BString::from(page), prior)));
    }
    Ok(signals)
}

/// An answer, and what became of its episode.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The answer.
    pub answer: Answer,
    /// Its episode; `None`: it was not to be recorded.
    pub recorded: Option<Recorded>,
    /// What the person should know about the order, and of what could not be recorded.
    pub notes: Vec<String>,
}

/// The context of a task, and what became of its episode.
#[derive(Debug, Clone)]
pub struct Gathered {
    /// What the wiki holds for the task.
    pub context: Context,
    /// Its episode; `None`: it was not to be recorded.
    pub recorded: Option<Recorded>,
    /// What the person should know about the order, and of what could not be recorded.
    pub notes: Vec<String>,
}

/// Searches these pages. What was served from the branch's tip is recorded unless told otherwise. What use says is left
/// out where the ledger cannot be read: an answer without it is still an answer.
///
/// # Errors
/// As [`Pages::search`].
pub fn ask(pages: &Pages<'_>, ask: &Ask<'_>, to_record: bool, now: Timestamp) -> Result<Asked, search::Error> {
    let wiki = pages.wiki();
    let mut notes: Vec<String> = ranking::mode(wiki, now).1.into_iter().collect();
    let signals = signals_or_note(wiki, ask.scope, now, &mut notes);
    let answer = pages.search(ask, &signals)?;
    let recorded = (to_record && pages.are_of_tip()).then(|| {
        let served: Vec<String> = answer.hits.iter().map(|hit| hit.path.clone()).collect();
        let shadow: Vec<String> = answer.shadow.iter().map(ToString::to_string).collect();
        let episode = Served {
            query: ask.text,
            scope: ask.scope.unwrap_or(ALL_SCOPES),
            by: By::Search,
            priors: word(signals.mode),
            tree: &answer.tree.to_string(),
            candidates: answer.candidates,
            served: &served,
            shadow: &shadow,
            rendered: &served,
        };
        record(wiki, &episode)
    });
    notes.extend(recorded.as_ref().and_then(trouble));
    Ok(Asked { answer, recorded, notes })
}

/// Collects the context of a task, as [`ask`] searches.
///
/// # Errors
/// As [`Pages::search`].
pub fn gather(pages: &Pages<'_>, task: &Task<'_>, to_record: bool, now: Timestamp) -> Result<Gathered, search::Error> {
    let wiki = pages.wiki();
    let mut notes = Vec::new();
    let signals = signals_or_note(wiki, task.scope, now, &mut notes);
    let context = context::gather(pages, task, &signals)?;
    let recorded = (to_record && pages.are_of_tip()).then(|| {
        let served: Vec<String> = context.parts.iter().map(|part| part.page.path.clone()).collect();
        let episode = Served {
            query: task.text,
            scope: task.scope.unwrap_or(ALL_SCOPES),
            by: By::Context,
            priors: word(Priors::Off),
            tree: &context.tree.to_string(),
            candidates: context.candidates,
            served: &served,
            shadow: &served,
            rendered: &served,
        };
        record(wiki, &episode)
    });
    notes.extend(recorded.as_ref().and_then(trouble));
    Ok(Gathered { context, recorded, notes })
}

fn signals_or_note(wiki: &Wiki, scope: Option<&str>, now: Timestamp, notes: &mut Vec<String>) -> Signals {
    signals(wiki, scope, now).unwrap_or_else(|error| {
        notes.push(format!("what use says of the pages is left out: {error}"));
        Signals::default()
    })
}

/// A failure is told; that nobody wants a record is none.
fn trouble(recorded: &Recorded) -> Option<String> {
    recorded.why_not.as_ref().filter(|_| recorded.failed).map(|why| format!("this is not recorded: {why}"))
}

fn word(mode: Priors) -> &'static str {
    match mode {
        Priors::Shadow => "shadow",
        Priors::Serve => "serve",
        Priors::Off => "off",
    }
}
