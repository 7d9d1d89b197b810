//! `git memory lint`.

use std::io::Write;
use std::path::PathBuf;

use bstr::ByteSlice;
use clap::ValueEnum;
use serde::Serialize;

use super::output::JsonList;
use super::{CliError, Context, Exit, Meaning, Out, Result, sarif, shown};
use crate::report::lint::{self, Linted};
use crate::wiki::Wiki;
use crate::wiki::lint::{Finding, Severity};

/// Check pages: frontmatter, titles, conflict markers, expiry, links, names.
///
/// Checks the pages of the wiki branch's newest commit. With paths, those pages alone (a folder stands for all pages
/// below it): as they are in the work tree that has the wiki branch checked out, else as they are on the branch.
/// Nothing is ever changed. The exit code is 1 when there are findings of --fail-on or worse.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Pages or folders: from here, from the wiki's root, or from the top of its repository
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// How to print: `sarif` for code scanning, `github` as annotations of a workflow
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Text)]
    format: Format,

    /// From which severity on to fail
    #[arg(long, value_enum, value_name = "SEVERITY", default_value_t = Level::Error)]
    fail_on: Level,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A line for each finding
    Text,
    /// The same as --json
    Json,
    /// SARIF 2.1.0
    Sarif,
    /// GitHub annotations
    Github,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Level {
    Note,
    Warning,
    Error,
}

/// What `lint --json` prints.
#[cfg(test)]
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Report {
    /// How many pages were looked at.
    pages: usize,
    /// By page and line.
    findings: Vec<Item>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Item {
    /// The page, relative to the wiki's root; bytes that are not UTF-8 are replaced.
    path: String,
    /// From 1.
    line: usize,
    /// From 1, in characters.
    column: usize,
    severity: Severity,
    /// The check's stable name.
    check: &'static str,
    /// In words, with what to do.
    message: String,
}

pub(super) fn run(ctx: &Context, args: Args) -> Result<Exit> {
    let wiki = ctx.wiki()?;
    if let Some(name) = &ctx.scope {
        wiki.scopes.named(name)?;
    }
    let scope = ctx.scope.as_deref();
    let linted = match &args.paths[..] {
        [] => lint::all(&wiki, scope)?,
        paths => lint::some(&wiki, &ctx.dir, paths, scope)?,
    };
    let mut out = ctx.out();
    match args.format {
        _ if ctx.json => json(&mut out, &linted)?,
        Format::Json => json(&mut out, &linted)?,
        Format::Sarif => sarif::write(&mut out, &wiki, &linted.findings)?,
        Format::Github => github(&mut out, &wiki, &linted.findings)?,
        Format::Text => {
            text(ctx, &mut out, &wiki, &linted.findings)?;
            out.finish()?;
            ctx.note(summary(&linted));
            return Ok(verdict(&linted, args.fail_on));
        }
    }
    out.finish()?;
    Ok(verdict(&linted, args.fail_on))
}

fn verdict(linted: &Linted, least: Level) -> Exit {
    let least = match least {
        Level::Note => Severity::Note,
        Level::Warning => Severity::Warning,
        Level::Error => Severity::Error,
    };
    if linted.findings.iter().any(|finding| finding.severity >= least) { Exit::Refused } else { Exit::Done }
}

fn summary(linted: &Linted) -> String {
    let of = |severity: Severity| linted.findings.iter().filter(|finding| finding.severity == severity).count();
    let parts = [(of(Severity::Error), "error"), (of(Severity::Warning), "warning"), (of(Severity::Note), "note")];
    let parts: Vec<String> =
        parts.iter().filter(|(many, _)| *many > 0).map(|&(many, word)| count(many, word)).collect();
    let found = if parts.is_empty() { "nothing found".into() } else { parts.join(", ") };
    format!("{found} in {}", count(linted.pages, "page"))
}

fn count(many: usize, what: &str) -> String {
    if many == 1 { format!("1 {what}") } else { format!("{many} {what}s") }
}

fn json(out: &mut Out, linted: &Linted) -> Result<()> {
    let mut head = serde_json::Map::new();
    head.insert("pages".into(), linted.pages.into());
    let mut list = JsonList::start(out, "lint", &head, "findings")?;
    for finding in &linted.findings {
        list.item(&Item {
            path: finding.path.to_str_lossy().into_owned(),
            line: finding.line,
            column: finding.column,
            severity: finding.severity,
            check: finding.check,
            message: finding.message.clone(),
        })?;
    }
    list.end()
}

fn text(ctx: &Context, out: &mut Out, wiki: &Wiki, findings: &[Finding]) -> Result<()> {
    for finding in findings {
        let meaning = match finding.severity {
            Severity::Error => Meaning::Bad,
            Severity::Warning => Meaning::Warn,
            Severity::Note => Meaning::Dim,
        };
        let place = ctx.paint(Meaning::Place, shown(&full_path(wiki, finding).to_str_lossy()));
        let severity = ctx.paint(meaning, severity(finding.severity));
        let check = ctx.paint(Meaning::Dim, format!("[{}]", finding.check));
        let message = shown(&finding.message);
        writeln!(out, "{place}:{}:{}: {severity}: {message} {check}", finding.line, finding.column)?;
    }
    Ok(())
}

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}

/// The page's path from the top of the repository, as bytes: what other tools open.
pub(super) fn full_path(wiki: &Wiki, finding: &Finding) -> Vec<u8> {
    if wiki.root.is_empty() {
        return finding.path.to_vec();
    }
    [wiki.root.as_bytes(), b"/", &finding.path].concat()
}

/// Workflow commands: one line each, whatever stands in them.
fn github(out: &mut Out, wiki: &Wiki, findings: &[Finding]) -> Result<()> {
    for finding in findings {
        let command = match finding.severity {
            Severity::Note => "notice",
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        let file = property(&full_path(wiki, finding).to_str_lossy());
        let (line, column) = (finding.line, finding.column);
        let (title, message) = (property(finding.check), data(&finding.message));
        writeln!(out, "::{command} file={file},line={line},col={column},title={title}::{message}")?;
    }
    Ok(())
}

fn data(text: &str) -> String {
    let text = text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    shown(&text).into_owned()
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

impl From<lint::Error> for CliError {
    fn from(error: lint::Error) -> CliError {
        match error {
            lint::Error::Git(error) => error.into(),
            lint::Error::NoSuchPage { .. } => CliError::refused("no_such_page", error.to_string())
                .hint("give the page from here, from the wiki's root, or from the top of its repository"),
            lint::Error::NotAPage { .. } => CliError::refused("not_a_page", error.to_string()),
            lint::Error::Io { .. } => CliError::fatal("io", error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_finding_ends_an_annotation_or_begins_another() {
        assert_eq!(data("100%\r\n::error::x"), "100%25%0D%0A::error::x");
        assert_eq!(property("a,b:c\nd"), "a%2Cb%3Ac%0Ad");
        assert_eq!(data("\u{1b}[31m"), "\\x1b[31m");
    }
}
