//! What is found, and what is said of it.

use super::common::Sandbox;
use super::{answer, found, paths, wiki};

const OPENSSL: &str =
    "# OpenSSL is not found\n\nSet `OPENSSL_DIR` before `cargo build`, else the build script fails.\n";
const HOOKS: &str = "# Hooks\n\nPass `--no-verify` to skip them. See `src/git/hook.rs` and `foo::bar`.\n";
const ERRORS: &str = "# Mismatched types\n\nThe compiler says E0308. We configured version 1.2.3 of getUserName().\n";

fn small() -> Sandbox {
    wiki(&[("gotchas/openssl.md", OPENSSL), ("procedures/hooks.md", HOOKS), ("notes/errors.md", ERRORS)])
}

#[test]
fn identifiers_paths_flags_versions_and_codes_are_found_whole_and_by_their_parts() {
    let wiki = small();
    for (query, page) in [
        ("OPENSSL_DIR", "gotchas/openssl.md"),
        ("openssl_dir", "gotchas/openssl.md"),
        ("dir", "gotchas/openssl.md"),
        ("no-verify", "procedures/hooks.md"),
        ("src/git/hook.rs", "procedures/hooks.md"),
        ("hook.rs", "procedures/hooks.md"),
        ("foo::bar", "procedures/hooks.md"),
        ("E0308", "notes/errors.md"),
        ("e0308", "notes/errors.md"),
        ("1.2.3", "notes/errors.md"),
        ("getUserName", "notes/errors.md"),
        ("getusername", "notes/errors.md"),
        ("user name", "notes/errors.md"),
        ("configuration", "notes/errors.md"),
    ] {
        assert_eq!(found(&wiki, &[query])[0], page, "{query}");
    }
    let flag = wiki.run(&["search", "--no-record", "--json", "--", "--no-verify"]);
    assert_eq!(paths(&serde_json::from_str(&flag).expect("json"))[0], "procedures/hooks.md");
}

#[test]
fn a_whole_identifier_ranks_above_its_parts() {
    let wiki = wiki(&[
        ("notes/a.md", "# A\n\nopenssl dir openssl dir\n"),
        ("notes/b.md", "# B\n\nthe variable OPENSSL_DIR and\n"),
    ]);
    assert_eq!(found(&wiki, &["OPENSSL_DIR"])[0], "notes/b.md");
}

#[test]
fn words_in_quotes_stand_in_a_row_where_some_page_has_them_so() {
    let wiki = wiki(&[
        ("notes/row.md", "# Row\n\nthe merge queue stalls\n"),
        ("notes/apart.md", "# Apart\n\nmerge it, then look at the queue\n"),
    ]);
    assert_eq!(found(&wiki, &["\"merge queue\""]), ["notes/row.md"]);
    let answer = answer(&wiki, &["\"queue merge it\""]);
    assert_eq!(answer["results"].as_array().expect("results").len(), 2);
    assert!(answer["notes"][0].as_str().is_some_and(|note| note.contains("queue merge it")), "{answer}");
}

#[test]
fn a_star_finds_what_begins_so() {
    let wiki = small();
    assert_eq!(found(&wiki, &["configurati*"]), ["notes/errors.md"]);
    assert_eq!(found(&wiki, &["opens*"]), ["gotchas/openssl.md"]);
    assert!(found(&wiki, &["zzz*"]).is_empty());
}

#[test]
fn any_query_gets_an_answer_or_a_clear_word() {
    let wiki = small();
    let long = format!("{} openssl", "lorem ipsum ".repeat(9_000));
    let odd = [
        "\"openssl",
        "openssl\" AND",
        "NEAR(openssl, 3)",
        "title:openssl",
        "openssl*\"",
        "(openssl",
        "openssl)",
        "-openssl x",
        "openssl OR 1=1; DROP TABLE pages",
        "^openssl$",
        "[openssl]",
        "{openssl}",
        "\\openssl\\",
        "openssl\u{1b}[31m",
        "óþénßl openssl",
        "%s%n openssl",
        "../../openssl",
        "openssl\n\nopenssl",
        &long,
    ];
    for query in odd {
        wiki.memory(&["search", "--no-record", "--json", "--", query]).assert().success();
    }
    for query in ["", " ", "\"\"", "* - \" '", "…", "\u{202e}"] {
        let error = wiki.json_error(1, &["search", query]);
        assert_eq!(error["code"], "no_words", "{query:?}");
    }
    assert!(found(&wiki, &["nothing-has-this"]).is_empty());
}

#[test]
fn filters_take_kinds_scopes_and_a_limit() {
    let sandbox = Sandbox::new();
    sandbox.run(&["init", "--no-hooks", "--scope", "web=web", "--scope", "api=api"]);
    for path in ["web/gotchas/a.md", "web/notes/b.md", "api/notes/c.md", "notes/d.md"] {
        sandbox.write(path, format!("# Cache {path}\n\nthe cache is stale\n"));
    }
    sandbox.commit("Write pages");
    assert_eq!(found(&sandbox, &["cache", "--all-scopes"]).len(), 4);
    assert_eq!(found(&sandbox, &["cache", "--scope", "web"]), ["web/gotchas/a.md", "web/notes/b.md"]);
    assert_eq!(found(&sandbox, &["cache", "--scope", "web", "--kind", "note"]), ["web/notes/b.md"]);
    assert_eq!(found(&sandbox, &["cache", "--scope", "global"]), ["notes/d.md"]);
    assert_eq!(found(&sandbox, &["cache", "--all-scopes", "-n", "2"]).len(), 2);
    assert_eq!(sandbox.json_error(1, &["search", "cache"])["code"], "scope_unresolved");
    assert_eq!(sandbox.json_error(1, &["search", "cache", "--scope", "app"])["code"], "scope_unresolved");
}

#[test]
fn a_successor_stands_in_for_what_it_replaced_and_what_is_retired_is_left_out() {
    let old = |status: &str, successor: &str| {
        let successor = if successor.is_empty() { String::new() } else { format!("superseded_by: {successor}\n") };
        format!("---\ntitle: Old\nstatus: {status}\n{successor}---\n\nthe frobnicator leaks\n")
    };
    let wiki = wiki(&[
        ("notes/a.md", &old("superseded", "notes/b.md")),
        ("notes/b.md", &old("superseded", "\"[[c]]\"")),
        ("notes/c.md", "# New\n\nnothing of that any more\n"),
        ("notes/gone.md", &old("retired", "")),
        ("notes/x.md", &old("superseded", "notes/y.md")),
        ("notes/y.md", &old("superseded", "notes/x.md")),
        ("notes/dangling.md", &old("active", "notes/nowhere.md")),
        ("_archive/notes/z.md", &old("active", "")),
        ("notes/template.md", &old("active", "")),
        ("_templates/t.md", &old("active", "")),
    ]);
    let answer = answer(&wiki, &["frobnicator", "--explain"]);
    let results = answer["results"].as_array().expect("results");
    let all: Vec<&str> = results.iter().map(|result| result["path"].as_str().expect("a path")).collect();
    assert_eq!(all.iter().collect::<std::collections::BTreeSet<_>>().len(), all.len());
    let mut sorted = all.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, ["notes/c.md", "notes/dangling.md"]);
    let heir = results.iter().find(|result| result["path"] == "notes/c.md").expect("the heir");
    assert!(heir["factors"]["stands_for"].as_str().is_some_and(|old| old == "notes/a.md" || old == "notes/b.md"));
}

#[test]
fn sessions_rank_below_everything_else_unless_they_are_asked_for() {
    let wiki = wiki(&[
        ("sessions/s1.md", "# Frobnicator frobnicator\n\nfrobnicator frobnicator\n"),
        ("notes/long.md", &format!("# Long\n\nfrobnicator {}\n", "and more words ".repeat(300))),
    ]);
    assert_eq!(found(&wiki, &["frobnicator"]), ["notes/long.md", "sessions/s1.md"]);
    assert_eq!(found(&wiki, &["frobnicator", "--kind", "session"]), ["sessions/s1.md"]);
}

#[test]
fn a_snippet_is_the_passage_that_fits_on_one_line_without_control_characters() {
    let text = format!(
        "# Title\n\n{}\n\nhere \u{1b}[31m the frobnicator\u{202e}\nstands\r\n\n{}",
        "words ".repeat(200),
        "more ".repeat(200)
    );
    let wiki = wiki(&[("notes/a.md", &text)]);
    let answer = answer(&wiki, &["frobnicator"]);
    let snippet = answer["results"][0]["snippet"].as_str().expect("a snippet");
    assert!(snippet.contains("frobnicator") && snippet.chars().count() < 200, "{snippet:?}");
    assert!(!snippet.contains(|c: char| c.is_control() || c == '\u{202e}'), "{snippet:?}");
    let words = wiki.run(&["search", "--no-record", "frobnicator", "--color", "always"]);
    assert!(words.contains("\u{1b}[1m\u{1b}[33mfrobnicator") || words.contains("mfrobnicator\u{1b}[0m"), "{words:?}");
}

#[test]
fn explain_tells_what_each_word_adds() {
    let wiki = small();
    let answer = answer(&wiki, &["openssl build", "--explain"]);
    let factors = &answer["results"][0]["factors"];
    let sum: f64 =
        factors["words"].as_array().expect("words").iter().map(|word| word["adds"].as_f64().expect("a number")).sum();
    assert!((sum - factors["text"].as_f64().expect("a number")).abs() < 1e-9, "{answer}");
    assert_eq!(factors["utility"], 1.0);
    let words = wiki.run(&["search", "--no-record", "openssl", "--explain"]);
    assert!(words.contains("score") && words.contains("openssl"), "{words}");
}

#[test]
fn equal_pages_stand_in_the_order_of_their_paths() {
    let wiki = wiki(&[("notes/c.md", "same words"), ("notes/a.md", "same words"), ("notes/b.md", "same words")]);
    assert_eq!(found(&wiki, &["words"]), ["notes/a.md", "notes/b.md", "notes/c.md"]);
}

#[test]
fn pages_of_any_bytes_are_found() {
    let sandbox =
        wiki(&[("notes/größe 1.md", "# Größe\n\nnaïve café\n"), ("notes/日本.md", "# 日本語の検索\n\n東京都に住む\n")]);
    sandbox.write("notes/latin.md", b"# Latin\n\nbytes \xff\xfe of frobnicator\n");
    sandbox.write("notes/null.md", b"# Null\n\nzero\0frobnicator2\n");
    sandbox.write("notes/empty.md", b"");
    sandbox.commit("More");
    assert_eq!(found(&sandbox, &["naive cafe"]), ["notes/größe 1.md"]);
    assert_eq!(found(&sandbox, &["東京"]), ["notes/日本.md"]);
    assert_eq!(found(&sandbox, &["検索"]), ["notes/日本.md"]);
    assert_eq!(found(&sandbox, &["frobnicator"]), ["notes/latin.md"]);
    assert_eq!(found(&sandbox, &["frobnicator2"]), ["notes/null.md"]);
}
