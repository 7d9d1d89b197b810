//! What it costs.

use super::redactor;

#[test]
fn the_time_grows_with_the_text_only() {
    let redactor = redactor();
    let begun = std::time::Instant::now();
    for piece in [
        "secret",
        "sk-proj-",
        "TOKEN=",
        "authorization:",
        "://a:b@",
        "curl -u ",
        "password='",
        "cookie: a=b;",
        "kind: Secret\n",
        "\"kty\"",
        "\\u0041",
        "%41",
        "a1b2c3d4\n",
        "-----BEGIN PRIVATE KEY-----\n",
        "eyJ",
        "AKIA",
        "MTk4.aaaaaa.",
        "mysql -p",
        "[REDACTED:",
    ] {
        redactor.redact(&piece.repeat(8_000 / piece.len()));
    }
    assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
}

#[test]
fn names_in_a_row_are_not_each_held_against_all_that_follows() {
    let redactor = redactor();
    let begun = std::time::Instant::now();
    for piece in ["password=", "secret=a-", "api_key: ["] {
        redactor.redact(&piece.repeat(60_000 / piece.len()));
    }
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
    // A long value is still taken to its end.
    let value = "a1B2".repeat(3_000);
    let text = format!("password={value}\\ and more");
    assert_eq!(redactor.redact(&text), "password=[REDACTED:assigned-secret]\\ and more");
}

#[test]
fn the_time_to_read_all_spellings_grows_with_the_text_only() {
    let redactor = redactor();
    let begun = std::time::Instant::now();
    for piece in
        ["a b ", "ab cd ", "a.", ". ", "<b>", "<", "\\", "\\u005c", "%25", "&amp;", "QUJD", "QUJD\n", "ｗ", "\u{fdfa}"]
    {
        redactor.finds_however_spelled(&piece.repeat(60_000 / piece.len()));
    }
    assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
}
