//! Secrets in headers, cookies and addresses.

use std::sync::LazyLock;

use regex::Regex;

use super::tokens::{has_digit, shape};
use super::{Span, floor, placeholder};

/// How far after its name a header is looked at.
const WINDOW: usize = 4096;

fn window(text: &str, start: usize) -> &str {
    &text[start..floor(text, start + WINDOW)]
}

static AUTHORIZATION: LazyLock<Regex> = LazyLock::new(|| {
    shape(
        r#"\A(?i:authorization)["'\\]*\s{0,4}[:=,]\s{0,4}["'\\`]*(?:(?i:(basic|bearer|token|digest|apikey|api-key|negotiate|ssws|key|bot|aws4-hmac-sha256))(?:\s|%20|\+)+)?([^\s"'\\,;`<>]+)"#,
    )
});
static BEARER: LazyLock<Regex> =
    LazyLock::new(|| shape(r#"\A(?i:bearer)["'\\]*(?:[\s:=]|%20)+["'\\]*([A-Za-z0-9._~+/=-]{12,})"#));

/// The credentials of an `Authorization` header or after `Bearer`.
pub(super) fn authorization(text: &str, start: usize) -> Option<Span> {
    let rest = window(text, start);
    let span =
        |value: regex::Match| Span { start: start + value.start(), end: start + value.end(), kind: "authorization" };
    if let Some(found) = AUTHORIZATION.captures(rest) {
        let value = found.get(2)?;
        let known = found.get(1).is_some();
        let long_enough = if known { value.len() >= 8 } else { value.len() >= 16 };
        let telling = has_digit(value.as_str())
            || value.as_str().ends_with('=')
            || (known && (value.len() >= 24 || is_mixed(value.as_str())));
        return (long_enough && telling && !placeholder::is(value.as_str())).then(|| span(value));
    }
    let value = BEARER.captures(rest)?.get(1)?;
    (has_digit(value.as_str()) && !placeholder::is(value.as_str())).then(|| span(value))
}

fn is_mixed(text: &str) -> bool {
    text.bytes().skip(1).any(|b| b.is_ascii_uppercase()) && text.bytes().any(|b| b.is_ascii_lowercase())
}

/// What a cookie says of itself beside its value.
const ATTRIBUTES: &[&str] = &["path", "domain", "expires", "max-age", "samesite", "priority", "version", "comment"];

static COOKIE: LazyLock<Regex> = LazyLock::new(|| {
    shape(r#"\A(?i:cookies?)["'\\]*\s{0,4}[:=,]\s{0,4}["'\\`]*((?:[^\s"'\\;=,<>]{1,128}=[^\s"'\\;<>]*[; ]*)+)"#)
});

/// The values in a `Cookie` or `Set-Cookie` header that are long and no words.
pub(super) fn cookies(text: &str, start: usize, found: &mut Vec<Span>) {
    let Some(pairs) = COOKIE.captures(window(text, start)).and_then(|found| found.get(1)) else { return };
    let mut at = start + pairs.start();
    for pair in pairs.as_str().split(';') {
        let begun = at;
        at += pair.len() + 1;
        let Some((name, value)) = pair.split_once('=') else { continue };
        let value = value.trim_end();
        let is_attribute = ATTRIBUTES.iter().any(|known| name.trim().eq_ignore_ascii_case(known));
        if !is_attribute && value.len() >= 12 && has_digit(value) && !placeholder::is(value) {
            let from = begun + name.len() + 1;
            found.push(Span { start: from, end: from + value.len(), kind: "cookie" });
        }
    }
}

/// The cookies that hold a session and are known by their names.
pub(super) const SESSION_COOKIES: &[&str] = &[
    "phpsessid",
    "jsessionid",
    "connect.sid",
    "_gitlab_session",
    "laravel_session",
    "asp.net_sessionid",
    "user_session",
    "sessionid",
    ".aspnetcore.cookies",
];

static SESSION: LazyLock<Regex> = LazyLock::new(|| shape(r"\A=([A-Za-z0-9%._~+/-]{16,})"));

/// The value of a session's cookie whose name stands at `start..end`.
pub(super) fn session_cookie(text: &str, start: usize, end: usize) -> Option<Span> {
    if text[..start].ends_with(|c: char| c.is_ascii_alphanumeric()) {
        return None;
    }
    let value = SESSION.captures(window(text, end))?.get(1)?;
    let is_uuid = value.len() == 36 && value.as_str().bytes().filter(|b| *b == b'-').count() == 4;
    (has_digit(value.as_str()) && !is_uuid && !placeholder::is(value.as_str())).then(|| Span {
        start: end + value.start(),
        end: end + value.end(),
        kind: "cookie",
    })
}

static URL: LazyLock<Regex> =
    LazyLock::new(|| shape(r#"\A://([^\s/:@'"<>`\\]{0,128})(?::([^\s/@'"<>`\\]{3,256}))?@[A-Za-z0-9\[$_.%-]"#));

/// The password of `scheme://user:password@host`, or the token that stands alone before the host; `://` is at `start`.
pub(super) fn url(text: &str, start: usize) -> Option<Span> {
    let found = URL.captures(&text[start..floor(text, start + 512)])?;
    let value = found.get(2).or_else(|| {
        found.get(1).filter(|user| {
            let user = user.as_str();
            user.len() >= 20 && has_digit(user) && user.bytes().any(|b| b.is_ascii_alphabetic()) && !user.contains('.')
        })
    })?;
    (!placeholder::is(value.as_str())).then(|| Span {
        start: start + value.start(),
        end: start + value.end(),
        kind: "url-password",
    })
}

static SIGNATURE: LazyLock<Regex> =
    LazyLock::new(|| shape(r"\A(?i:sig|x-amz-signature|x-goog-signature)=([A-Za-z0-9%+/]{40,600}={0,2})"));

/// The signature that makes an address a key: of Azure, AWS, Google.
pub(super) fn signature(text: &str, start: usize) -> Option<Span> {
    if !text[..start].ends_with(['?', '&', ';', '"', '\'', ' ']) {
        return None;
    }
    let value = SIGNATURE.captures(&text[start..floor(text, start + 700)])?.get(1)?;
    has_digit(value.as_str()).then(|| Span {
        start: start + value.start(),
        end: start + value.end(),
        kind: "signed-url",
    })
}
