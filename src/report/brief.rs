//! What an agent should know of a wiki when a session begins.

use std::collections::BTreeSet;

use bstr::ByteSlice;
use schemars::JsonSchema;
use serde::Serialize;

use super::status;
use crate::git::{self, Repo};
use crate::wiki::shown::shown;
use crate::wiki::{Kind, Wiki};

/// What an agent should know of a wiki when a session begins.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Brief {
    /// The wiki's branch.
    pub branch: String,
    /// The folder of the pages; empty: the top.
    pub root: String,
    /// How many pages it has.
    pub pages: usize,
    /// The rules in force.
    pub rules: Vec<Rule>,
    /// The pages that changed last, the newest first.
    pub recent: Vec<Recent>,
    /// How many proposals wait for a decision.
    pub pending: usize,
    /// The command that searches the pages for WORD.
    pub search: String,
    /// The command that prints the page PATH.
    pub read: String,
}

/// A rule.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Rule {
    /// Its page, relative to the wiki's root.
    pub path: String,
    /// Its title.
    pub title: String,
    /// Its text without frontmatter.
    pub text: String,
}

/// A page that changed lately.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Recent {
    /// Relative to the wiki's root.
    pub path: String,
    /// Its title.
    pub title: String,
}

/// Most lines of all rules together.
const RULE_LINES: usize = 14;

/// Most characters of a line.
const WIDTH: usize = 240;

/// How many pages are named.
const RECENT: usize = 8;

/// How many commits are looked at for them.
const COMMITS: &str = "-50";

/// Collects it, of one scope where one is named.
///
/// # Errors
/// When the repository cannot be read.
pub fn brief(wiki: &Wiki, scope: Option<&str>) -> git::Result<Brief> {
    let within = |path: &str| scope.is_none_or(|scope| wiki.scopes.of_page(path).name == scope);
    let status = status::status(wiki, scope)?;
    let mut pages = wiki.pages()?;
    pages.retain(|(path, _)| within(&path.to_str_lossy()));
    let mut rules = Vec::new();
    for (path, oid) in &pages {
        // Only the folder tells: reading every page for its frontmatter would take too long.
        let local = local_path(wiki, &path.to_str_lossy());
        if wiki.layout.kind_of(&local) == Some(Kind::Rule) {
            let page = wiki.read(path.as_ref(), &wiki.repo.blob(*oid)?);
            rules.push(Rule { path: path.to_string(), title: page.title, text: page.body.trim().to_owned() });
        }
    }
    let there: BTreeSet<String> = pages.iter().map(|(path, _)| path.to_string()).collect();
    let told = |path: &str| !matches!(wiki.layout.kind_of(&local_path(wiki, path)), Some(Kind::Rule | Kind::Session));
    let mut recent = Vec::new();
    for path in changed_last(wiki)?.into_iter().filter(|path| there.contains(path) && told(path)).take(RECENT) {
        let bytes = wiki.bytes(&path)?.unwrap_or_default();
        let title = wiki.read(path.as_str().into(), &bytes).title;
        recent.push(Recent { path, title });
    }
    let (branch, root) = (wiki.branch_name().to_owned(), wiki.root.clone());
    let git = match &wiki.code {
        Some(_) => format!("git -C {}", word(&place(&wiki.repo))),
        None => "git".to_owned(),
    };
    let below = if root.is_empty() { String::new() } else { format!(" -- {}", word(&format!(":/{root}"))) };
    let folder = if root.is_empty() { String::new() } else { format!("{root}/") };
    Ok(Brief {
        search: format!("{git} grep --full-name -n -i -e WORD {}{below}", word(&branch)),
        read: format!("{git} show {}", word(&format!("{branch}:{folder}PATH"))),
        pages: status.standing.pages,
        pending: status.standing.pending.count,
        branch,
        root,
        rules,
        recent,
    })
}

impl Brief {
    /// The text that an agent reads: about thirty lines, none longer than 240 characters, without what a terminal acts
    /// on.
    pub fn text(&self) -> String {
        let count = |many: usize, what: &str| if many == 1 { format!("1 {what}") } else { format!("{many} {what}s") };
        let place = if self.root.is_empty() { String::new() } else { format!(", in {}", shown(&self.root)) };
        let pages = count(self.pages, "page");
        let mut lines = vec![
            format!(
                "This project has a git-memory wiki of reviewed knowledge: {pages} on branch {}{place}.",
                shown(&self.branch)
            ),
            format!("Search it before you investigate what may be known: {}", shown(&self.search)),
            format!("Read a page: {}", shown(&self.read)),
        ];
        if !self.rules.is_empty() {
            lines.push(String::new());
            lines.push("Rules in force:".into());
            let all: Vec<String> = self.rules.iter().flat_map(rule).collect();
            lines.extend(all.iter().take(RULE_LINES).cloned());
            if all.len() > RULE_LINES {
                let paths: Vec<&str> = self.rules.iter().map(|rule| rule.path.as_str()).collect();
                lines.push(format!("(cut; read all of them: {})", line(&paths.join(" "))));
            }
        }
        if !self.recent.is_empty() {
            lines.push(String::new());
            lines.push("Pages that changed last:".into());
            lines.extend(self.recent.iter().map(|page| line(&format!("- {}: {}", page.path, page.title))));
        }
        lines.push(String::new());
        if self.pending > 0 {
            let verb = if self.pending == 1 { "waits" } else { "wait" };
            lines
                .push(format!("{} {verb} for a person (`git memory proposal list`).", count(self.pending, "proposal")));
        }
        lines.push(
            "Do not edit pages; propose with `git memory proposal propose`. Never accept: a person decides.".into(),
        );
        lines.join("\n")
    }
}

/// A rule's title and its text; a heading that only repeats the title is left out.
fn rule(rule: &Rule) -> Vec<String> {
    let text = rule.text.lines().map(str::trim_end).filter(|text| !text.is_empty());
    let text = text.filter(|text| text.trim_start_matches('#').trim() != rule.title);
    std::iter::once(line(&format!("- {} ({})", rule.title, rule.path)))
        .chain(text.map(|text| line(&format!("  {text}"))))
        .collect()
}

/// One line of limited length without what a terminal acts on.
fn line(text: &str) -> String {
    let text = shown(text);
    match text.char_indices().nth(WIDTH) {
        Some((at, _)) => format!("{} …", &text[..at]),
        None => text.into_owned(),
    }
}

/// A page's path within its scope.
fn local_path(wiki: &Wiki, path: &str) -> String {
    let scope = &wiki.scopes.of_page(path).path;
    let inner = path.strip_prefix(scope.as_str()).and_then(|rest| rest.strip_prefix('/'));
    inner.filter(|_| !scope.is_empty()).unwrap_or(path).to_owned()
}

/// The pages that the branch's last commits changed, the newest first, each once.
fn changed_last(wiki: &Wiki) -> git::Result<Vec<String>> {
    let Some(tip) = wiki.tip else { return Ok(Vec::new()) };
    let log = ["log", "--first-parent", "-m", "--format=", "--name-only", "--no-renames", "-z", COMMITS];
    let git = wiki.repo.git().args(log).arg(tip.to_string()).arg("--");
    let out = if wiki.root.is_empty() { git } else { git.arg(format!(":(top,literal){}", wiki.root)) }.run()?;
    let mut seen = BTreeSet::new();
    let names =
        out.split(|&byte| byte == 0).filter_map(|name| wiki.page_path(name.trim_start_with(|c| c == '\n').as_bstr()));
    Ok(names.map(|name| name.to_string()).filter(|name| !name.is_empty() && seen.insert(name.clone())).collect())
}

fn place(repo: &Repo) -> String {
    repo.workdir().unwrap_or_else(|| repo.common_dir()).display().to_string()
}

/// A word for the shell, quoted where that is needed.
fn word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@,+".contains(c);
    if text.chars().all(plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}
