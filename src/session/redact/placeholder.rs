//! What only looks like a secret: the stand-ins of documentation.

use super::MARK;

/// Words that stand in for a password.
const WORDS: &[&str] = &[
    "password",
    "passwd",
    "pass",
    "secret",
    "token",
    "changeme",
    "change-me",
    "change_me",
    "placeholder",
    "dummy",
    "none",
    "null",
    "nil",
    "true",
    "false",
    "undefined",
    "todo",
    "tbd",
    "user",
    "admin",
    "test",
    "testing",
    "string",
    "required",
    "optional",
    "redacted",
    "hidden",
    "masked",
    "removed",
    "empty",
    "value",
    "foo",
    "bar",
    "foobar",
    "key",
    "mypassword",
    "mysecret",
    "my-secret",
    "my_secret",
    "postgres",
    "root",
    "guest",
    "scrubbed",
    "pwd",
    "default",
    "unknown",
];

/// Whether a value is a documented placeholder: `AKIAIOSFODNN7EXAMPLE`, a repeated character, `<your-token>`, `xxxx`,
/// `***`, a variable.
pub(super) fn is(value: &str) -> bool {
    let value = value.trim_matches(|c: char| matches!(c, '"' | '\'' | '`' | ',' | ';'));
    // A mark that is none is no excuse.
    if value.starts_with(['<', '$', '{', '%', '*', '(', '[']) && !value.starts_with(MARK)
        || value.contains("${")
        || value.contains("{{")
    {
        return true;
    }
    let lower = value.to_ascii_lowercase();
    if lower.contains("example") || lower.contains("xxxx") || lower.contains("****") || lower.contains("....") {
        return true;
    }
    if [
        "your-",
        "your_",
        "yourtoken",
        "yourkey",
        "yoursecret",
        "yourpassword",
        "my-token",
        "insert-",
        "replace-",
        "replace_",
    ]
    .iter()
    .any(|word| lower.contains(word))
    {
        return true;
    }
    WORDS.contains(&lower.as_str()) || is_repetition(&lower)
}

/// Few different characters after the last separator, whatever stands before it as a prefix.
fn is_repetition(value: &str) -> bool {
    let body = value.rsplit(['_', '-', '.']).find(|part| part.len() >= 6).unwrap_or(value);
    let mut seen = [false; 256];
    let mut different = 0;
    for byte in body.bytes() {
        if !std::mem::replace(&mut seen[byte as usize], true) {
            different += 1;
        }
    }
    body.len() >= 6 && different <= 2
}
