//! Secrets that are parted, over lines or between pieces.

use proptest::strategy::{Strategy, ValueTree};

use super::super::tokens::has_digit;
use super::{assign, redactor, runner, table, token};

#[test]
fn every_token_of_the_table_is_found_where_a_line_break_parts_it() {
    let redactor = redactor();
    let mut runner = runner();
    let mut bad = Vec::new();
    for (kind, word, rest, digit) in table::TABLE {
        let shape = proptest::string::string_regex(&rest.replace(r"\b", "")).unwrap();
        // Base64 is padded at its end only; the shapes of hashes say themselves where a sign stands.
        let padded = |random: String| if *kind == "password-hash" { random } else { random.replace('=', "x") };
        let mut randoms = (0..40).map(|_| padded(shape.new_tree(&mut runner).unwrap().current()));
        let random = randoms.find(|r| !digit || r.bytes().any(|b| b.is_ascii_digit())).unwrap();
        let token = format!("{word}{random}");
        for at in 1..token.len() {
            // What reads like words is taken for them.
            if assign::is_identifier(&token) || assign::is_identifier(&token[at..]) {
                continue;
            }
            // A rest with signs that divide settings may be the next of them.
            if token[at..].contains([',', '$']) {
                continue;
            }
            for (front, parting, back) in [
                ("", "\n", ""),
                ("Hook sessionStart ", "\n", ": lint failed"),
                ("see (", "\r\n  ", "), it works"),
                ("     7→key ", "\n     8→", "! and more"),
                ("{\"a\":\"", "\\n", "\"}"),
            ] {
                let text = format!("{front}{}{parting}{}{back}", &token[..at], &token[at..]);
                let clean = redactor.redact(&text);
                let mut pieces = random.as_bytes().windows(12).map(|piece| std::str::from_utf8(piece).unwrap());
                if pieces.any(|piece| clean.contains(piece)) || !clean.starts_with(front) || !clean.ends_with(back) {
                    bad.push(format!("{kind}: {text:?} became {clean:?}"));
                }
            }
        }
    }
    assert!(bad.is_empty(), "{} of them: {:#?}", bad.len(), &bad[..bad.len().min(40)]);
}

#[test]
fn lines_that_follow_each_other_are_no_parted_secrets() {
    let redactor = redactor();
    for text in [
        "the prefix is ghp_\nfollowed by letters",
        "starts with sk-proj-\nlong-lived-keys do",
        "CACHE_KEY=1\nDEBUG=true\nSORT_KEY=id\nLIMIT=10",
        "see github_pat_\nhttps://x.test/a/b1c2d3e4f5",
        "hf_\nhub_download2 and npm_\nconfig_registry1",
    ] {
        assert_eq!(redactor.redact(text), text);
    }
    let whole = format!("key {}\nconfiguration follows", token(&["gh", "p_"].concat(), 36));
    assert_eq!(redactor.redact(&whole), "key [REDACTED:github-token]\nconfiguration follows");
}

#[test]
fn a_secret_that_was_cut_between_two_pieces_is_joined_before_it_is_looked_for() {
    let redactor = redactor();
    let secret = token(&["gh", "p_"].concat(), 36);
    let joined = redactor.join(["the key is", &secret[..9], &secret[9..], " end"]);
    assert_eq!(redactor.redact(&joined), "the key is\n[REDACTED:github-token]\n end");
    assert_eq!(redactor.join(["one", "two"]), "one\ntwo");
    let joined = redactor.join(["curl", &format!(" -u svc:{} https://x.test", &secret[4..20])]);
    assert!(!redactor.redact(&joined).contains(&secret[4..16]), "{joined}");
    let remark = "- laptop: ssh me@10.0.0.4 (since March); password: 12082016; sharing is on";
    assert!(redactor.redact(remark).contains("password: [REDACTED:assigned-secret]; sharing"));
}

/// A token over lines as a window shows it: what stands before the first, between two, and behind the last.
const WINDOWS: &[(&str, &str, &str)] = &[
    ("", "\n", "\n"),
    ("0.602s\n ", "\n", ""),
    ("export KEY=", "\r\n    ", "\r\n"),
    ("│ ", " │\n│ ", " │\n"),
    ("│ key  │ ", " │\n│      │ ", " │\n"),
    ("┃", "┃\n┃", "┃"),
    ("| ", " |\n| ", " |"),
    ("  ⎿  ", "\n     ", "\n"),
    ("> ", "\n> ", "\n> ok"),
    ("> > ", "\n> > ", ""),
    ("# the key is\n#   ", "\n#   ", "\n"),
    ("// ", "\n// ", "\n"),
    ("+", "\n+", "\n-old"),
    ("-    ", "\n-    ", "\n+new"),
    ("   7→", "\n   8→", "\n   9→x"),
    ("  7 │ ", "\n  8 │ ", "\n"),
    (r#"{"out":"see "#, r"\n", r#""}"#),
    (r#"{"out":"│ "#, r" │\n│ ", r#" │"}"#),
    (r#"{\"out\":\"a\\n> "#, r"\\n> ", r#"\\n"}"#),
    ("see \\\n  ", "\\\n  ", " \\\n  more"),
];

#[test]
fn every_token_of_the_table_is_found_over_the_lines_of_any_window() {
    let redactor = redactor();
    let mut runner = runner();
    let mut bad = Vec::new();
    for (kind, word, rest, digit) in table::TABLE {
        let shape = proptest::string::string_regex(&rest.replace(r"\b", "")).unwrap();
        let mut randoms = (0..40).map(|_| shape.new_tree(&mut runner).unwrap().current());
        // Only what it is broken into by chance may read like words, or begin with the sign of a diff.
        let random =
            randoms.find(|r| !r.contains(['=', ',', '$', '-', '+', '/', '.', '_']) && (!digit || has_digit(r)));
        let Some(random) = random.filter(|random| random.len() >= 20) else { continue };
        for width in [word.len() + 10, word.len() + 18] {
            let token = format!("{word}{random}");
            let mut lines: Vec<&str> =
                token.as_bytes().chunks(width).map(|l| std::str::from_utf8(l).unwrap()).collect();
            // A rest that short is told apart from no word.
            if lines.last().is_some_and(|last| last.len() < 8) {
                lines.truncate(lines.len() - 2);
                lines.push(&token[lines.len() * width..]);
            }
            if lines.len() < 2 || lines[1..].iter().any(|line| assign::is_identifier(line) || !has_digit(line)) {
                continue;
            }
            for (front, parting, back) in WINDOWS {
                let text = format!("{front}{}{back}", lines.join(parting));
                let clean = redactor.redact(&text);
                let mut pieces = random.as_bytes().windows(10).map(|piece| std::str::from_utf8(piece).unwrap());
                let kept = pieces.any(|piece| clean.contains(piece));
                let edges = clean.starts_with(front.trim_end()) && clean.ends_with(back);
                if kept || !edges && !front.contains("KEY=") {
                    bad.push(format!("{kind}: {text:?} became {clean:?}"));
                }
            }
        }
    }
    assert!(bad.is_empty(), "{} of them: {:#?}", bad.len(), &bad[..bad.len().min(400)]);
}

#[test]
fn the_next_line_is_no_rest_of_a_whole_token() {
    let redactor = redactor();
    for (word, length) in
        [("gh\0p_", 36), ("sk-\0ant-api03-", 60), ("gl\0pat-", 20), ("np\0m_", 36), ("xo\0xb-12345678-", 24)]
    {
        let token = token(&word.replace('\0', ""), length);
        for next in [
            "configuration follows",
            "README.md",
            "src/session/redact2/view.rs",
            "node_modules/.bin/tsc",
            "dist/a1b2c3d4e5f6.js 12 kB",
            "x86_64-unknown-linux-gnu",
            "v1.2.3-beta4 is out",
            "2026-03-01T10:00:00Z started",
            "2026-03-01 10:00:00 started",
            "1234567890",
            "7d1c1e3b-5a57-4b64-8a53-1d6d1f0b2f11",
            "5a57e2f0d3c1b4a69788a9b0c1d2e3f405162738",
            "DB_HOST2=a1b2c3d4",
            "test tests::a1b2c3d4 ... ok",
            "user_id2: a1b2c3d4",
            "get_a1b2c3d4(x)",
            "https://x.test/a1b2c3d4e5",
            "",
        ] {
            for (front, parting) in
                [("", "\n"), ("- ", "\n- "), ("> ", "\n> "), ("│ ", " │\n│ "), ("{\"a\":\"", "\\n"), ("| ", " |\n| ")]
            {
                let clean = redactor.redact(&format!("{front}{token}{parting}{next}")).into_owned();
                assert!(clean.ends_with(&format!("]{parting}{next}")), "{clean:?} of {next:?}");
            }
        }
        // Two entries of a list, and two of a table with room beside them.
        for (front, parting) in [("- ", "\n- "), ("│ ", "    │\n│ "), ("", "\n\n")] {
            let clean = redactor.redact(&format!("{front}{token}{parting}a1B2c3D4e5F6")).into_owned();
            assert!(clean.ends_with(&format!("]{parting}a1B2c3D4e5F6")), "{clean:?}");
        }
    }
}
