//! Values that are given to a name that says what they are: `DB_PASSWORD=…`, `"api_key": "…"`, `--token …`.

use super::tokens::has_digit;
use super::{MARK, Span, placeholder};

/// The words that a telling name ends with.
pub(super) const WORDS: &[&str] =
    &["key", "token", "secret", "password", "passwd", "passphrase", "pwd", "credential", "credentials"];

/// What stands before `key` when it is no secret.
const HARMLESS_KEYS: &[&str] = &[
    "idempotency",
    "primary",
    "foreign",
    "public",
    "pub",
    "cache",
    "sort",
    "partition",
    "shard",
    "group",
    "row",
    "index",
    "map",
    "object",
    "dict",
    "unique",
    "composite",
    "storage",
    "translation",
    "registry",
    "config",
    "event",
    "hot",
    "arrow",
    "host",
    "react",
    "query",
    "lookup",
    "dedupe",
    "dedup",
    "issue",
    "project",
    "page",
    "continuation",
    "node",
    "item",
    "list",
    "field",
    "column",
    "data",
    "parent",
    "child",
    "last",
    "first",
    "prev",
    "old",
    "hash",
    "feature",
    "i18n",
    "message",
    "label",
    "flag",
    "route",
    "state",
    "theme",
    "turbo",
    "metadata",
    "resource",
];

/// What stands before `token` when it is no secret.
const HARMLESS_TOKENS: &[&str] =
    &["next", "continuation", "page", "pagination", "cancellation", "sync", "max", "stop", "eos", "bos", "pad", "unk"];

/// What makes a `key` telling when it is written without a separator or in small letters.
const QUALIFIERS: &[&str] = &[
    "api",
    "access",
    "secret",
    "private",
    "auth",
    "encryption",
    "signing",
    "service",
    "master",
    "account",
    "client",
    "app",
    "admin",
    "license",
    "deploy",
    "ssh",
    "aes",
    "hmac",
    "jwt",
    "session",
    "storage_account",
    "bot",
    "user",
    "webhook",
];

/// A name, a sign and a value, as they stand in the text.
struct Assignment<'t> {
    name: &'t str,
    word: &'t str,
    value: &'t str,
    start: usize,
    quoted: bool,
    /// As in a shell or an `.env` file: `NAME=value` in capitals, or `--name value`.
    environment: bool,
}

/// The value that is given to the name which has its telling word at `start..end`.
pub(super) fn at(text: &str, start: usize, end: usize) -> Option<Span> {
    let found = read(text, start, end)?;
    (is_telling(&found) && is_secret(&found)).then(|| Span {
        start: found.start,
        end: found.start + found.value.len(),
        kind: "assigned-secret",
    })
}

fn read(text: &str, start: usize, end: usize) -> Option<Assignment<'_>> {
    let bytes = text.as_bytes();
    // The name ends with the word, but for a number: `TOKEN_2`.
    let mut name_end = end;
    if bytes.get(name_end) == Some(&b'_') {
        let digits = bytes[name_end + 1..].iter().take_while(|b| b.is_ascii_digit()).count();
        name_end += if digits > 0 { 1 + digits } else { 0 };
    }
    if bytes.get(name_end).is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')) {
        return None;
    }
    // A quote, a bracket (`env["TOKEN"] = …`) and blanks; then one sign, which a flag can do without.
    let past = |mut at: usize, set: &[u8]| {
        while bytes.get(at).is_some_and(|b| set.contains(b)) {
            at += 1;
        }
        at
    };
    let after_name = past(name_end, b"\"'\\`]");
    let mut at = past(after_name, b" \t");
    let next = bytes.get(at + 1).copied().unwrap_or(0);
    let sign = *bytes.get(at)?;
    let is_name = |b: &&u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
    if !matches!(sign, b'=' | b':') && at == after_name {
        return None;
    }
    let name_start = start - bytes[..start].iter().rev().take(64).take_while(is_name).count();
    let full = &text[name_start..name_end];
    let flag = full.starts_with("--");
    let tight = at == after_name && sign == b'=';
    match (sign, next) {
        (b'=', b'=') | (b':', b':') => return None,
        (b'=', b'>' | b'~') | (b':', b'=') => at += 2,
        (b'=' | b':', _) => at += 1,
        _ if flag => {}
        _ => return None,
    }
    at = past(at, b" \t\\");
    let quote = bytes.get(at).copied().filter(|b| matches!(b, b'"' | b'\'' | b'`'));
    let value_start = if quote.is_some() { at + 1 } else { at };
    let name = full.trim_start_matches('-');
    let environment = flag || tight && !name.bytes().any(|b| b.is_ascii_lowercase());
    let stops = |c: char| match quote {
        Some(quote) => c == quote as char || c == '\n',
        None if environment => c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ';'),
        None => c.is_whitespace() || "\"'`;,)}]<>&|({".contains(c),
    };
    let rest = &text[value_start..];
    let value = rest[..rest.find(stops).unwrap_or(rest.len())].trim_end_matches('\\');
    Some(Assignment { name, word: &text[start..end], value, start: value_start, quoted: quote.is_some(), environment })
}

/// Whether the name promises a secret. `key` and `token` alone are words of everyday code.
fn is_telling(found: &Assignment) -> bool {
    let name = found.name.to_ascii_lowercase();
    let word = found.word.to_ascii_lowercase();
    let before = name.rfind(&word).map_or("", |at| &name[..at]);
    let bare = before.trim_end_matches(['_', '-', '.']);
    let ends_with_one_of = |set: &[&str]| set.iter().any(|entry| bare.ends_with(entry));
    match word.as_str() {
        "key" => {
            !bare.is_empty() && !ends_with_one_of(HARMLESS_KEYS) && {
                let separated = bare.len() < before.len();
                ends_with_one_of(QUALIFIERS) || separated && found.environment
            }
        }
        "token" => !ends_with_one_of(HARMLESS_TOKENS),
        _ => true,
    }
}

fn is_secret(found: &Assignment) -> bool {
    let value = found.value;
    if value.contains(MARK) || placeholder::is(value) || is_path(value) {
        return false;
    }
    let letter = value.bytes().any(|b| b.is_ascii_alphabetic());
    let password = matches!(found.word.as_bytes()[0], b'p' | b'P');
    let code = value.contains(['(', ')', '{', '}']) || value.contains("::") || value.contains("->");
    if found.quoted {
        let one_word = !value.contains(char::is_whitespace);
        return one_word && if password { value.len() >= 5 } else { value.len() >= 8 && !is_identifier(value) };
    }
    if found.environment {
        // A telling name in capitals; what is left to rule out is code and plain words.
        return value.len() >= 6
            && !code
            && (letter || password)
            && (password || !is_identifier(value) || value.len() >= 20);
    }
    // Unquoted, small letters: YAML, or code. Code has no digits and letters mixed outside identifiers.
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"+/=_~!@#$%^*-.".contains(&b);
    value.len() >= 8 && letter && has_digit(value) && !code && value.bytes().all(plain) && !is_identifier(value)
}

/// A file's path or an address: what a key stands in, not the key.
fn is_path(value: &str) -> bool {
    let rooted = value.starts_with(['/', '.', '~']) || value.get(1..3) == Some(":\\") || value.contains("://");
    let capitals = value.bytes().filter(u8::is_ascii_uppercase).count();
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    rooted && !(value.len() >= 32 && capitals >= 4 && digits >= 2 && !value.contains('.'))
}

/// A name of code: words of letters, joined by `_`, `-` or `.`; a number only at the end of a word.
fn is_identifier(value: &str) -> bool {
    value.split(['_', '-', '.', ':', '/']).all(|part| {
        let letters = part.trim_end_matches(|c: char| c.is_ascii_digit());
        let humps = letters.bytes().skip(1).filter(u8::is_ascii_uppercase).count();
        let digits = part.len() - letters.len();
        letters.bytes().all(|b| b.is_ascii_alphabetic())
            && digits <= 3
            && (humps * 4 <= letters.len() || humps + 1 >= letters.len())
            && (!letters.is_empty() || part.is_empty())
    })
}
