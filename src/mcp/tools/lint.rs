//! `memory_lint`.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::super::answer::{self, Said};
use super::super::error::Error;
use super::{Call, Effect, Tool};
use crate::report::lint;
use crate::wiki::lint::{Finding, Severity};
use crate::wiki::shown::shown;

/// What [`Lint`] takes.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Pages or folders, relative to the wiki's root [default: the whole wiki]
    #[serde(default)]
    paths: Vec<PathBuf>,
    /// Only this scope of the wiki
    scope: Option<String>,
    /// Only findings of this severity or worse: note, warning or error [default: note]
    severity: Option<Severity>,
    /// Pass over so many findings: where an answer that was cut goes on
    #[serde(default)]
    offset: usize,
}

/// What was found.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Output {
    /// How many pages were looked at.
    pages: usize,
    /// How many findings there are, with those that are left out here.
    total: usize,
    /// By page and line.
    findings: Vec<Item>,
    /// The offset of the next ones, when these are not all.
    next: Option<usize>,
}

/// One finding.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Item {
    /// The page, relative to the wiki's root.
    path: String,
    /// From 1.
    line: usize,
    /// From 1, in characters.
    column: usize,
    /// `note`, `warning` or `error`.
    severity: Severity,
    /// The check's stable name.
    check: &'static str,
    /// In words, with what to do.
    message: String,
}

/// Most findings of one answer.
const MOST: usize = 100;

/// The checks of pages.
pub struct Lint;

impl Tool for Lint {
    const NAME: &'static str = "memory_lint";
    const TITLE: &'static str = "Check pages";
    const ABOUT: &'static str = "Checks wiki pages for broken frontmatter, missing titles, conflict markers, expired \
        pages, dead links and names that clash. Changes nothing: propose a mend with memory_propose.";
    const EFFECT: Effect = Effect::Reads;
    type Input = Input;
    type Output = Output;

    fn call(call: &Call, input: Input) -> Result<Said<Output>, Error> {
        let wiki = call.wiki()?;
        let scope = call.scope(&wiki, input.scope.as_deref())?;
        let linted = match &input.paths[..] {
            [] => lint::all(&wiki, scope.as_deref())?,
            paths => lint::some(&wiki, &call.dir, paths, scope.as_deref())?,
        };
        let least = input.severity.unwrap_or(Severity::Note);
        let all: Vec<Item> =
            linted.findings.into_iter().filter(|finding| finding.severity >= least).map(Item::from).collect();
        let total = all.len();
        let (findings, next) = answer::page(all, input.offset, MOST);
        let mut text = format!("{total} findings in {} pages", linted.pages);
        if !findings.is_empty() {
            let lines: Vec<String> = findings.iter().map(Item::line).collect();
            text = format!("{text}\n{}", answer::data("what the checks say of them", &lines.join("\n")));
        }
        text += &answer::more("findings", next);
        Ok(Said::done(Output { pages: linted.pages, total, findings, next }, text))
    }
}

impl From<Finding> for Item {
    fn from(finding: Finding) -> Item {
        Item {
            path: finding.path.to_string(),
            line: finding.line,
            column: finding.column,
            severity: finding.severity,
            check: finding.check,
            message: finding.message,
        }
    }
}

impl Item {
    fn line(&self) -> String {
        let severity = match self.severity {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        let (path, message) = (shown(&self.path), shown(&self.message));
        format!("{path}:{}:{}: {severity}: {message} [{}]", self.line, self.column, self.check)
    }
}
