//! Secrets in the files that are made for them.

use std::sync::LazyLock;

use regex::Regex;

use super::tokens::{has_digit, shape};
use super::{Span, ceil, floor, placeholder};

/// How far around the word that gives such a file away it is read.
const REACH: usize = 8 * 1024;

static NETRC: LazyLock<Regex> = LazyLock::new(|| {
    shape(
        r#"\A(?:machine\s+\S{1,256}|default)(?:\s+(?:login|account)\s+\S{1,256})*\s+password\s+["']?([^\s"']{3,256})"#,
    )
});

/// The password of an entry in `.netrc`.
pub(super) fn netrc(text: &str, start: usize) -> Option<Span> {
    let value = NETRC.captures(&text[start..floor(text, start + 1200)])?.get(1)?;
    (!placeholder::is(value.as_str())).then(|| Span {
        start: start + value.start(),
        end: start + value.end(),
        kind: "netrc-password",
    })
}

static PGPASS: LazyLock<Regex> = LazyLock::new(|| {
    shape(r"(?:^|[\s→])[^:\s#→/]{1,256}:(?:\d{2,5}|\*):[^:\s]{1,64}:[^:\s]{1,64}:([^\s:]{3,256})\s*\z")
});

/// The password of a line in `.pgpass`; the words stand somewhere before it.
pub(super) fn pgpass(text: &str, start: usize) -> Option<Span> {
    let line_start = text[ceil(text, start.saturating_sub(300))..start]
        .rfind('\n')
        .map(|at| ceil(text, start.saturating_sub(300)) + at + 1);
    let from = line_start.unwrap_or_else(|| ceil(text, start.saturating_sub(300)));
    let rest = &text[start..floor(text, start + 600)];
    let to = start + rest.find('\n').unwrap_or(rest.len());
    let value = PGPASS.captures(&text[from..to])?.get(1)?;
    (!placeholder::is(value.as_str())).then(|| Span {
        start: from + value.start(),
        end: from + value.end(),
        kind: "pgpass-password",
    })
}

static YAML_VALUE: LazyLock<Regex> = LazyLock::new(|| {
    shape(
        r#"\A[^\S\n]*(?:\d+[→|:\t])?([ \t]+)["']?[A-Za-z0-9_.-]{1,253}["']?:[ \t]+["']?([^\s"'|>{\[]\S{3,}?)["']?[ \t\r]*\z"#,
    )
});
static JSON_DATA: LazyLock<Regex> = LazyLock::new(|| shape(r#"\\*"(?:data|stringData)\\*"\s*:\s*\{([^{}]{0,8000})"#));
static JSON_VALUE: LazyLock<Regex> = LazyLock::new(|| shape(r#"\\*":\s*\\*"([^"\\\s]{4,})\\*""#));

/// The values of a Kubernetes secret, in YAML or JSON, whose kind is named at `start`.
pub(super) fn kubernetes(text: &str, start: usize, found: &mut Vec<Span>) {
    let from = ceil(text, start.saturating_sub(REACH));
    let document = &text[from..floor(text, start + REACH)];
    let here = start - from;
    let first = document[..here].rfind("\n---").map_or(0, |at| at + 4);
    let last = document[here..].find("\n---").map_or(document.len(), |at| here + at);
    let document = &document[first..last];
    let from = from + first;
    let mut push = |value: regex::Match, base: usize| {
        if !placeholder::is(value.as_str()) {
            let start = base + value.start();
            found.push(Span { start, end: start + value.len(), kind: "kubernetes-secret" });
        }
    };
    for data in JSON_DATA.captures_iter(document).filter_map(|data| data.get(1)) {
        for value in JSON_VALUE.captures_iter(data.as_str()).filter_map(|value| value.get(1)) {
            push(value, from + data.start());
        }
    }
    let mut inside = false;
    let mut at = from;
    for line in document.split_inclusive('\n') {
        let whole = line.trim_end_matches('\n');
        let name = whole.trim_end().rsplit(['→', '|', '\t', ' ']).next().unwrap_or_default();
        match YAML_VALUE.captures(whole) {
            _ if matches!(name, "data:" | "stringData:") => inside = true,
            Some(value) if inside => value.get(2).into_iter().for_each(|value| push(value, at)),
            None if inside && !whole.trim().is_empty() => inside = false,
            _ => {}
        }
        at += line.len();
    }
}

static JWK: LazyLock<Regex> =
    LazyLock::new(|| shape(r#""(?:d|p|q|dp|dq|qi|k)\\*"\s*:\s*\\*"([A-Za-z0-9_-]{20,})\\*""#));

/// The private parts of a JSON web key whose `kty` stands at `start`.
pub(super) fn jwk(text: &str, start: usize, found: &mut Vec<Span>) {
    let from = ceil(text, start.saturating_sub(REACH / 2));
    let near = &text[from..floor(text, start + REACH / 2)];
    let here = start - from;
    let first = near[..here].rfind('{').unwrap_or(0);
    let last = near[here..].find('}').map_or(near.len(), |at| here + at);
    for value in JWK.captures_iter(&near[first..last]).filter_map(|value| value.get(1)) {
        let start = from + first + value.start();
        found.push(Span { start, end: start + value.len(), kind: "private-key" });
    }
}

static PUTTY: LazyLock<Regex> = LazyLock::new(|| {
    shape(r"\A(?i:private-lines): ?\d+\s*\n((?:[^\S\n]*(?:\d+[→|:\t])?[A-Za-z0-9+/=]{4,}[ \r]*(?:\n|\z))+)")
});

/// The private lines of a PuTTY key.
pub(super) fn putty(text: &str, start: usize) -> Option<Span> {
    let lines = PUTTY.captures(&text[start..floor(text, start + REACH)])?.get(1)?;
    let value = lines.as_str().trim_end();
    has_digit(value).then(|| Span {
        start: start + lines.start(),
        end: start + lines.start() + value.len(),
        kind: "private-key",
    })
}
