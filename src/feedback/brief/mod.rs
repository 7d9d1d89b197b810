//! The brief: what an agent should know of a wiki when a session begins.

mod choose;
mod memory_md;
mod recent;
mod restated;
mod text;

use bstr::ByteSlice;
use jiff::Timestamp;
use serde::Serialize;

use super::signals::signals;
use crate::git::{self, Repo};
use crate::search::{Facts, Pages};
use crate::wiki::scope::GLOBAL;
use crate::wiki::{Kind, Status, Wiki};

pub use memory_md::{Kept, keep};

/// What an agent should know of a wiki when a session begins.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Brief {
    /// The wiki's branch.
    pub branch: String,
    /// The folder of the pages; empty: the top.
    pub root: String,
    /// The scope that it is about; null: all of the wiki.
    pub scope: Option<String>,
    /// How many pages it has.
    pub pages: usize,
    /// What does not work, in words; empty: nothing is known to be wrong.
    pub health: Vec<String>,
    /// The rules in force.
    pub rules: Vec<Rule>,
    /// What is being worked on.
    pub focus: Option<Rule>,
    /// The pages that matter most, by category.
    pub categories: Vec<Category>,
    /// Pages of no project, where the brief is about one.
    pub global: Vec<Line>,
    /// What waits for people.
    #[serde(flatten)]
    pub waiting: Waiting,
    /// The command that searches the pages for WORDS.
    pub search: String,
    /// The command that prints the page PATH.
    pub read: String,
}

/// What waits for people.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Waiting {
    /// How many proposals wait for a decision.
    pub pending: usize,
    /// When the oldest of them was staged.
    pub oldest: Option<Timestamp>,
    /// The newest runs that failed.
    pub failed_runs: Vec<String>,
    /// Sessions whose reviews failed too often to be tried again.
    pub parked: Vec<String>,
}

/// A page whose text stands in the brief.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Rule {
    /// Its page, relative to the wiki's root.
    pub path: String,
    /// Its title.
    pub title: String,
    /// Its text without frontmatter.
    pub text: String,
}

/// Pages of one sort.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Category {
    /// `decisions`, `fixes`, `known failures`, `commands`, `follow-ups` or `background`.
    pub name: String,
    /// The first first.
    pub pages: Vec<Line>,
    /// How many more there are.
    pub more: usize,
}

/// A page in one line.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Line {
    /// Relative to the wiki's root.
    pub path: String,
    /// Its title.
    pub title: String,
    /// 3 (can wait) to 7 (look at it first).
    pub priority: u8,
}

/// What the brief is to be about, and what the rooms above know.
#[derive(Debug, Clone, Default)]
pub struct About<'a> {
    /// The scope; `None`: all of the wiki.
    pub scope: Option<&'a str>,
    /// Most pages of no project.
    pub global_limit: usize,
    /// What waits for people.
    pub waiting: Waiting,
    /// What does not work, in words.
    pub health: Vec<String>,
}

/// How many pages of no project are named unless asked otherwise.
pub const GLOBAL_LIMIT: usize = 2;

/// Most rules that are read: a wiki with more has other worries.
const MOST_RULES: usize = 40;

/// Collects it. Reads, beside the index of the search, only the pages that it names and some that it does not.
///
/// # Errors
/// When the repository cannot be read.
pub fn brief(wiki: &Wiki, about: About<'_>, now: Timestamp) -> git::Result<Brief> {
    let all = Pages::at(wiki, None).map_err(git_error)?.facts();
    let within = |page: &&Facts| about.scope.is_none_or(|scope| scope == page.scope);
    let alive = |page: &&Facts| matches!(page.status, Status::Active | Status::Stale);
    let here: Vec<&Facts> = all.iter().filter(within).collect();
    let rules_of = |page: &&Facts| page.kind == Some(Kind::Rule) && (within(page) || page.scope == GLOBAL);
    let mut rules = Vec::new();
    for page in all.iter().filter(alive).filter(rules_of).take(MOST_RULES) {
        rules.push(read(wiki, page)?);
    }
    let mut focus = None;
    if let Some(page) =
        here.iter().find(|page| page.kind == Some(Kind::Slot) && page.path.ends_with(b"current-focus.md"))
    {
        focus = Some(read(wiki, page)?).filter(|focus| !focus.text.is_empty());
    }
    let use_of = signals(wiki, about.scope, now).unwrap_or_default();
    let mut chooser = choose::Chooser::new(wiki, &use_of, recent::pages(wiki)?, restated::Documents::read(wiki)?);
    let categories = chooser.categories(&here)?;
    let others = all.iter().filter(|page| page.scope == GLOBAL && about.scope.is_some_and(|scope| scope != GLOBAL));
    let global = chooser.best(&others.collect::<Vec<_>>(), about.global_limit)?;
    Ok(Brief {
        search: search_command(wiki, about.scope),
        read: read_command(wiki),
        branch: wiki.branch_name().to_owned(),
        root: wiki.root.clone(),
        scope: about.scope.map(str::to_owned),
        pages: here.len(),
        health: about.health,
        rules,
        focus,
        categories,
        global,
        waiting: about.waiting,
    })
}

fn git_error(error: crate::search::Error) -> git::Error {
    match error {
        crate::search::Error::Git(error) => error,
        other => git::Error::read("the index", other.to_string()),
    }
}

fn read(wiki: &Wiki, page: &Facts) -> git::Result<Rule> {
    let text = wiki.read(page.path.as_ref(), &wiki.repo.blob(page.blob)?).body.trim().to_owned();
    Ok(Rule { path: page.path.to_str_lossy().into_owned(), title: page.title.clone(), text })
}

fn search_command(wiki: &Wiki, scope: Option<&str>) -> String {
    let several = wiki.scopes.all.len() > 1;
    let scope = scope.filter(|_| several).map_or(String::new(), |scope| format!(" --scope {}", word(scope)));
    format!("git memory search{scope} \"WORDS\"")
}

fn read_command(wiki: &Wiki) -> String {
    let git = match &wiki.code {
        Some(_) => format!("git -C {}", word(&place(&wiki.repo))),
        None => "git".to_owned(),
    };
    let folder = if wiki.root.is_empty() { String::new() } else { format!("{}/", wiki.root) };
    format!("{git} show {}", word(&format!("{}:{folder}PATH", wiki.branch_name())))
}

fn place(repo: &Repo) -> String {
    repo.workdir().unwrap_or_else(|| repo.common_dir()).display().to_string()
}

/// A word for the shell, quoted where that is needed.
fn word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@,+".contains(c);
    if text.chars().all(plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}
