//! Words by which an order is known to be about how a project is worked on, and not about the thing at hand.

use super::contrast::is_tool;
use super::instruction::is_order;

/// What is made again and again while a project is worked on. "Keep commits small" is for every day, "keep the header
/// small" is for one page.
#[rustfmt::skip]
const PRACTICE: &[&str] = &[
    "abbreviation", "annotation", "api", "approval", "artifact", "assertion", "backup", "branch", "branches", "bug", "bugfix", "build",
    "callback", "change", "changelog", "class", "classes", "code", "comment", "commit", "commits", "component", "constant",
    "console.log", "console.logs", "constructor", "container", "convention", "coverage", "crate", "credential", "data", "database", "date",
    "dependency", "dependencies", "diff", "doc", "docs", "docstring", "document", "documentation", "email", "emoji", "emojis", "endpoint",
    "enum", "env", "error", "exception", "export", "feature", "file", "filename", "fix", "fixes", "fixture", "flag", "footer", "fstring",
    "function", "global", "handler", "helper", "hook", "hooks", "id", "identifier", "import", "indentation", "inheritance",
    "integration", "interface", "key", "language", "library", "libraries", "line", "lint", "linter", "loop", "lockfile", "log", "logging",
    "logger", "macro", "markdown", "merge", "message", "method", "migration", "mock", "module", "mutation", "name", "naming",
    "package", "parameter", "password", "patch", "patches", "pattern", "path", "permission", "plan", "port", "pr", "prs", "price", "print", "prints", "promise",
    "push", "pushes", "quote", "readme", "refactor", "refactoring", "release", "request", "return", "review", "route", "rule", "schema", "script",
    "secret", "semicolon", "setting", "snapshot", "snippet", "spec", "state", "statement", "string", "style", "subject", "summary", "summaries", "symbol",
    "tab", "tag", "task", "test", "tests", "testing", "timestamp", "title", "todo", "token", "tool", "trait", "translation", "try/catch", "type", "types",
    "typing", "unwrap", "utility", "value", "variable", "version", "warning", "wrapper",
    // What everything is written in.
    "english", "german", "french", "spanish", "utc", "snake_case", "kebab-case", "camelcase", "typescript", "python", "sql",
    // Gestures of an agent that people want or do not want.
    "async/await", "early", "one-liner", "ternary", "ternaries", "nested", "diagram", "apology", "apologies", "explanation", "answer", "question",
];

/// What a program shows, and whom it serves. An order about these is about the product.
#[rustfmt::skip]
const PRODUCT: &[&str] = &[
    "avatar", "badge", "banner", "browser", "button", "card", "cart", "chart", "checkbox", "checkout", "client", "clients", "colour", "color", "column", "cursor",
    "customer", "dashboard", "dialog", "dropdown", "form", "header", "headings", "icon", "image", "layout", "logo", "menu", "modal",
    "navbar", "page", "pages", "photo", "player", "popup", "row", "screen", "shadow", "sidebar", "slider", "spinner", "table", "text",
    "theme", "toast", "toggle", "tooltip", "user", "users", "visitor", "widget", "window", "design", "visitors", "list", "game", "video",
];

/// The one of its kind that each project has: "the schema" points at nothing that only the conversation knows.
#[rustfmt::skip]
const ONLY_ONE: &[&str] = &[
    "api", "apis", "backend", "build", "changelog", "ci", "cli", "client", "code", "codebase", "config", "database", "db", "dependencies",
    "docs", "documentation", "fix", "implementation", "formatter", "frontend", "history", "imperative", "library", "linter", "lockfile", "logger", "migrations", "openapi", "package", "payment",
    "pipeline", "prod", "production", "proto", "protos", "public", "readme", "release", "repo", "repository", "schema", "schemas", "server", "staging", "standard",
    "suite", "test", "tests", "translations", "types", "version", "versions", "spec", "source", "main", "master", "wiki", "project", "team",
];

/// Words that point at something which only the conversation knows.
const POINTING: &[&str] = &[
    "the",
    "this",
    "that",
    "these",
    "those",
    "it",
    "its",
    "them",
    "him",
    "her",
    "his",
    "their",
    "my",
    "me",
    "your",
    "there",
    "here",
    "what",
    "whatever",
    "one",
    "both",
    "us",
    "again",
    "now",
    "so",
    "something",
    "someone",
    "yet",
];

/// What an order is about: the words behind its verb.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Object {
    /// It points at something that only the conversation knows.
    pub points: bool,
    /// It names things of the daily work, in general.
    pub practice: bool,
    /// It says all, any, every, nothing, everywhere.
    pub all: bool,
    /// It names a folder or a kind of files.
    pub place: bool,
    /// It names a tool.
    pub tool: bool,
    /// It is about what the product shows.
    pub product: bool,
    /// It names one thing among others of its kind: "the parser".
    pub specific: bool,
}

impl Object {
    /// Reads the words behind a verb.
    pub fn of(words: &str) -> Object {
        let mut object = Object::default();
        let lower = words.to_lowercase();
        let clause = lower.split([',', ';', ':']).next().unwrap_or_default();
        let bare =
            |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '/' | '_' | '.')).to_owned();
        let all: Vec<String> = clause.split_whitespace().map(bare).filter(|word| !word.is_empty()).collect();
        let first = all.iter().position(|word| !LEADING.contains(&word.as_str())).unwrap_or(0);
        object.points = all.get(first).is_some_and(|word| {
            POINTING.contains(&word.as_str())
                && !all.get(first + 1).is_some_and(|next| word == "the" && ONLY_ONE.contains(&next.as_str()))
        });
        object.practice = all.iter().take(first + 5).any(|word| is_practice(word));
        object.all = all.iter().any(|word| ALL.contains(&word.as_str()))
            || lower.contains("by hand")
            || lower.contains("manually");
        object.place = all.iter().any(|word| is_place(word));
        object.tool = all.iter().any(|word| is_tool(word) && !VERBS_TOO.contains(&word.as_str()));
        object.specific = all.windows(2).any(|pair| {
            ["the", "this", "these", "those"].contains(&pair[0].as_str()) && !ONLY_ONE.contains(&pair[1].as_str())
        });
        object.product = all.iter().any(|word| is_product(word));
        object
    }

    /// It is about the daily work in general.
    pub fn is_general(self) -> bool {
        !self.points && !self.product && (self.practice || self.all || self.place || self.tool)
    }
}

/// Words before the first that can point.
const LEADING: &[&str] = &[
    "to", "in", "on", "into", "from", "for", "with", "at", "under", "about", "of", "as", "up", "down", "only",
    "directly",
];
/// Names of tools that are other words as well.
const VERBS_TOO: &[&str] = &[
    "merge", "rebase", "squash", "log", "fetch", "next", "less", "just", "main", "master", "http", "go", "rest",
    "click", "express", "clap", "black", "fish", "make", "sh", "git",
];
const ALL: &[&str] =
    &["all", "any", "every", "each", "anything", "everything", "nothing", "everywhere", "whole", "whenever"];

/// Things of the daily work, one or many.
pub fn is_practice(word: &str) -> bool {
    holds(PRACTICE, word) || word.contains("_case") || word.contains("-case")
}

/// What the product shows, or whom it serves.
pub fn is_product(word: &str) -> bool {
    holds(PRODUCT, word)
}

fn holds(words: &[&str], word: &str) -> bool {
    words.contains(&word)
        || word.strip_suffix('s').is_some_and(|one| words.contains(&one))
        || word.split('-').next_back().is_some_and(|last| last != word && holds(words, last))
}

/// A folder or a pattern of files.
fn is_place(word: &str) -> bool {
    (word.ends_with('/') || word.starts_with('.') || word.starts_with('/'))
        && word.len() > 2
        && word.chars().any(char::is_alphabetic)
        || word.starts_with("*.")
        || (word.contains('/')
            && word.chars().filter(|c| *c == '/').count() == 1
            && !word.contains("and/or")
            && word.split('/').all(|part| part.len() > 2 && !part.contains('.'))
            && word != "try/catch"
            && word != "async/await")
}

/// The order that a word is a form of: `write` of "writing", "wrote", "writes".
pub fn base(word: &str) -> Option<String> {
    const IRREGULAR: &[(&str, &str)] = &[
        ("wrote", "write"),
        ("kept", "keep"),
        ("made", "make"),
        ("ran", "run"),
        ("gave", "give"),
        ("left", "leave"),
        ("sent", "send"),
        ("took", "take"),
        ("told", "tell"),
        ("threw", "throw"),
        ("built", "build"),
        ("caught", "catch"),
        ("chose", "choose"),
        ("did", "do"),
        ("running", "run"),
        ("putting", "put"),
        ("committing", "commit"),
        ("committed", "commit"),
        ("splitting", "split"),
        ("getting", "get"),
        ("stuck", "stick"),
    ];
    let word = word.to_lowercase();
    if is_order(&word) || matches!(word.as_str(), "make" | "do" | "tell" | "stick" | "create") {
        return Some(word);
    }
    if let Some((_, order)) = IRREGULAR.iter().find(|(form, _)| *form == word) {
        return Some((*order).to_owned());
    }
    ["ing", "ed", "es", "s", "d"].iter().find_map(|end| {
        let stem = word.strip_suffix(end)?;
        let doubled = || stem.chars().next_back().and_then(|last| stem.strip_suffix(last)).map(str::to_owned);
        [Some(stem.to_owned()), Some(format!("{stem}e")), doubled()]
            .into_iter()
            .flatten()
            .find(|form| is_order(form) || form == "make")
    })
}
