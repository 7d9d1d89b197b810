//! Tokens that are known by their own shape.

use proptest::strategy::{Strategy, ValueTree};

use super::{BASE64, aws_id, aws_secret, redactor, runner, table, token};

#[test]
fn a_secret_becomes_its_kind_so_that_two_sightings_compare_equal() {
    let text = format!("run with {} now", token(&["gh", "p_"].concat(), 36));
    assert_eq!(redactor().redact(&text), "run with [REDACTED:github-token] now");
}

#[test]
fn an_aws_secret_is_found_near_an_access_key_id() {
    let text = format!("deploy with key {} and secret {}", aws_id(), aws_secret());
    assert_eq!(
        redactor().redact(&text),
        "deploy with key [REDACTED:aws-access-key-id] and secret [REDACTED:aws-secret-key]"
    );
}

#[test]
fn every_token_of_the_table_is_found_whole_and_its_prefix_alone_stays() {
    let redactor = redactor();
    let mut runner = runner();
    for (kind, word, rest, digit) in table::TABLE {
        let shape = proptest::string::string_regex(&rest.replace(r"\b", "")).unwrap();
        let mut found = 0;
        for _ in 0..40 {
            let random = shape.new_tree(&mut runner).unwrap().current();
            if *digit && !random.bytes().any(|b| b.is_ascii_digit()) {
                continue;
            }
            let clean = redactor.redact(&format!("see {word}{random} here")).into_owned();
            // A shape that is part of a wider one is named by that.
            found += usize::from(clean == format!("see [REDACTED:{kind}] here"));
            let pieces = random.as_bytes().windows(12).map(|piece| std::str::from_utf8(piece).unwrap());
            let left: Vec<&str> = pieces.filter(|piece| clean.contains(*piece)).collect();
            assert!(left.is_empty(), "{kind} {word}: {left:?} of {random} in {clean}");
        }
        assert!(found > 0, "{kind} {word} is never found as such");
        let prose = format!("The prefix {word} stands before it, as in {word}… or {word}<yours>.");
        assert_eq!(redactor.redact(&prose), prose);
        let example = format!("{word}EXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLE1");
        assert_eq!(redactor.redact(&example), example, "{kind}");
    }
}

#[test]
fn tokens_that_begin_with_no_word_are_known_by_their_shape() {
    let redactor = redactor();
    let discord = ["MTk4NjIyNDgzNDcxOTI1MjQ4", ".", "Cl2FMQ", ".", "ZnCjm1XVW7vRze4b7Cq4se7kKWs"].concat();
    assert_eq!(redactor.redact(&format!("bot {discord}!")), "bot [REDACTED:discord-token]!");
    let telegram = ["123456789", ":AA", &token("", 33)].concat();
    assert_eq!(redactor.redact(&telegram), "[REDACTED:telegram-token]");
    let azure = ["Ab1", "8Q~", &token("", 34)].concat();
    assert_eq!(redactor.redact(&azure), "[REDACTED:azure-client-secret]");
    let terraform = [&token("", 14), ".atlas", "v1.", &token("", 64)].concat();
    assert_eq!(redactor.redact(&terraform), "[REDACTED:terraform-token]");
    let signed = format!("https://b.test/c?sv=2022&sig={}%3D&se=1", token("", 43));
    assert_eq!(redactor.redact(&signed), "https://b.test/c?sv=2022&sig=[REDACTED:signed-url]&se=1");
    let login = ["{\"auths\":{\"r.test\":{\"auth\":\"", "c3ZjOlRyMHViNGRvci14", "\"}}}"].concat();
    assert_eq!(redactor.redact(&login), "{\"auths\":{\"r.test\":{\"auth\":\"[REDACTED:assigned-secret]\"}}}");
    let putty = format!("Private-Lines: 2\n{BASE64}\n{BASE64}\nPrivate-MAC: 00");
    assert_eq!(redactor.redact(&putty), "Private-Lines: 2\n[REDACTED:private-key]\nPrivate-MAC: 00");
    for text in
        ["MTk4.Cl2FMQ.short", "1.234567.8", "version 10.123456.78 of it", "Mon.202601.report-for-the-whole-of-the-year"]
    {
        assert_eq!(redactor.redact(text), text);
    }
}
