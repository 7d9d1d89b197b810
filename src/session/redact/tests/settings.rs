//! The user's settings, and the redactor for one text.

use proptest::strategy::{Strategy, ValueTree};

use super::{Redactor, notations::NOTATIONS, redactor, runner, table, token};

#[test]
fn extra_patterns_and_exceptions_of_the_user_count() {
    let redactor = Redactor::new(&["ACME-[0-9]{4}".into()], &[token(&["gh", "p_"].concat(), 36)]).unwrap();
    assert_eq!(redactor.redact("code ACME-1234"), "code [REDACTED:extra]");
    let allowed = token(&["gh", "p_"].concat(), 36);
    assert_eq!(redactor.redact(&allowed), allowed);
    let bad = Redactor::new(&["(".into()], &[]).err().unwrap();
    assert!(bad.to_string().starts_with("redact.extra_patterns: `(` is not a regular expression"));
}

#[test]
fn one_text_alone_loses_the_same_as_by_a_redactor_for_any() {
    let redactor = redactor();
    let mut runner = runner();
    let mut texts: Vec<String> = vec!["how do I set the fake clock in `tests::clock`?".into(), String::new()];
    for (_, word, rest, _) in table::TABLE {
        let shape = proptest::string::string_regex(&rest.replace(r"\b", "")).unwrap();
        let random = shape.new_tree(&mut runner).unwrap().current();
        texts.push(format!("see {word}{random} here"));
        texts.push(format!("see {} here", word.to_ascii_uppercase()));
    }
    let secret = token("", 24);
    for (notation, _) in NOTATIONS {
        texts.push(notation.replace('S', &secret));
    }
    texts.push("a".repeat(10_000) + &format!(" password={secret}"));
    for text in texts {
        assert_eq!(Redactor::redact_once(&text, &[], &[]).unwrap(), redactor.redact(&text), "{text}");
    }
    let (extra, allow) = (vec!["ACME-[0-9]+".to_owned()], vec!["ACME-7".to_owned()]);
    let kept = Redactor::redact_once("ACME-7 and ACME-8", &extra, &allow).unwrap();
    assert_eq!(kept, "ACME-7 and [REDACTED:extra]");
}
