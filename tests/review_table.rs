//! What the built-in reviewer must propose, and what it must not: a labelled table, and the recorded sessions.

mod review;

use git_memory::improve::builtin;
use git_memory::session::{From, Outcome, Policy, ReadOptions, Redactor, Session, Speaker, read};
use review::lessons::{CORRECTIONS, DECISIONS, FAILURES};
use review::near::{NEAR_LESSONS, NEAR_RULES};
use review::rules::{NO_RULES, RULES};
use review::said::{SAID, SAID_IN_PASSING};
use review::talk::talk;
use review::wording::{WORDED_LESSONS, WORDED_RULES};
use review::{E, E::*, listed, session};

#[test]
fn the_reviewer_proposes_what_the_table_says_and_nothing_else() {
    let mut wrong = Vec::new();
    let tables =
        [RULES, NO_RULES, CORRECTIONS, FAILURES, DECISIONS, WORDED_RULES, WORDED_LESSONS, NEAR_RULES, NEAR_LESSONS];
    for (why, events, expected) in tables.into_iter().flatten() {
        let got = listed(&builtin::review(&session("s", events), &[]));
        if got != *expected {
            wrong.push(format!("{why}\n  expected {expected:?}\n  got      {got:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} rows:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_sentence_typed_to_an_agent_at_work_is_a_lesson_or_is_none() {
    let of = |words: &'static str| listed(&builtin::review(&session("s", &[H("go"), A("Done."), H(words)]), &[]));
    let mut wrong: Vec<String> = Vec::new();
    wrong.extend(SAID.iter().filter(|(said, lesson)| of(said) != [*lesson]).map(|(said, _)| format!("+ {said}")));
    wrong.extend(SAID_IN_PASSING.iter().filter(|said| !of(said).is_empty()).map(|said| format!("- {said}")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_people_say_to_an_agent_is_read_by_its_grammar() {
    let mut wrong = Vec::new();
    for (kind, words) in talk() {
        let found = builtin::review(&session("s", &[H("go"), A("Done."), H(words)]), &[]);
        let got: Vec<_> = found.iter().map(|found| found.kind.as_str()).collect();
        let right = match kind {
            "-" => got.is_empty(),
            "fact" => got == ["gotcha"] || got == ["rule"],
            kind => got == [kind],
        };
        if !right {
            wrong.push(format!("{kind}\t{words}\n  got {:?}", listed(&found)));
        }
        // Whatever is made of it rests on the person's words.
        assert!(found.iter().all(|found| words.contains(&found.evidence[0].quote)), "{words}");
    }
    assert!(wrong.is_empty(), "{} rows:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn instructions_of_one_breath_about_one_thing_are_one_page() {
    let found = |words| builtin::review(&session("s", &[H("go"), A("Done."), H(words)]), &[]);
    let together = found("Never commit snapshots by hand. Always record the snapshots with make record.");
    assert_eq!(listed(&together), ["_rules/never-commit-snapshots-by-hand.md | Never commit snapshots by hand"]);
    let body = together[0].body_markdown.as_deref().expect("a body");
    assert!(body.contains("by hand. Always record the snapshots with make record."), "{body}");
    let quotes: Vec<&str> = together[0].evidence.iter().map(|evidence| evidence.quote.as_str()).collect();
    assert_eq!(quotes.len(), 2, "each of them is quoted: {quotes:?}");
    let apart = found("Never commit snapshots by hand. Always answer in English.");
    assert_eq!(apart.len(), 2, "{:?}", listed(&apart));
    let back =
        [H("go"), A("Done."), H("Never commit snapshots by hand. Always record the snapshots with make record.")];
    let back =
        [&back[..], &[A("Fine."), H("Actually, forget that about recording the snapshots with make record.")]].concat();
    let kept = builtin::review(&session("s", &back), &[]);
    assert!(
        kept.iter().all(|kept| !kept.body_markdown.as_deref().unwrap_or_default().contains("make record")),
        "{kept:?}"
    );
}

#[test]
fn every_quote_stands_in_its_observation_and_every_rule_has_a_persons_words() {
    let fold = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for (why, events, _) in
        [RULES, CORRECTIONS, FAILURES, DECISIONS, WORDED_RULES, WORDED_LESSONS].into_iter().flatten()
    {
        let session = session("s", events);
        for candidate in builtin::review(&session, &[]) {
            assert!(candidate.confidence >= 0.75 && candidate.confidence <= 0.95, "{why}: {}", candidate.confidence);
            assert!(candidate.title.chars().count() <= 70, "{why}");
            let body = candidate.body_markdown.as_deref().unwrap_or_default();
            assert!(body.starts_with("# ") && body.matches("\n# ").count() == 0, "{why}: {body}");
            assert!(!body.contains("s#") && !candidate.rationale.is_empty(), "{why}");
            for evidence in &candidate.evidence {
                let seq: usize =
                    evidence.source.strip_prefix("sessions/s#").expect("a source").parse().expect("a number");
                let observation = &session.observations[seq - 1];
                assert!(fold(&observation.body).contains(&evidence.quote), "{why}: {}", evidence.quote);
                assert_eq!(evidence.speaker, Some(observation.speaker), "{why}");
                assert!(evidence.quote.chars().count() <= 400, "{why}");
            }
            if candidate.path.starts_with("_rules/") {
                let own = candidate.evidence.iter().filter(|e| e.speaker == Some(Speaker::Human)).any(|e| {
                    session.prompts().any(|turn| fold(&git_memory::session::own_words(&turn.body)).contains(&e.quote))
                });
                assert!(own, "{why}: no words of a person");
            }
        }
    }
}

#[test]
fn a_correction_shows_both_sides() {
    let session = session("s", CORRECTIONS[0].1);
    let candidate = builtin::review(&session, &[]).remove(0);
    assert_eq!(
        candidate.body_markdown.as_deref(),
        Some(
            "# Use pnpm, not npm\n\nUse pnpm, not npm.\n\n## What the agent did\n\n```sh\nnpm install lodash\n```\n\n## Correction\n\n> use pnpm, not npm\n"
        )
    );
    assert_eq!(candidate.evidence.len(), 2);
}

#[test]
fn twins_on_two_machines_give_the_same_page() {
    let twin = |prompt| {
        session(
            "t",
            &[
                H(prompt),
                Run("cargo test", 1, "error: linking with `cc` failed: ld: library not found for -lssl"),
                A("Root cause: OPENSSL_DIR is unset. Fix: export OPENSSL_DIR before cargo test."),
            ],
        )
    };
    let (laptop, desktop) = (
        builtin::review(&twin("ci fails only on laptop"), &[]),
        builtin::review(&twin("ci fails only on desktop"), &[]),
    );
    assert_eq!(laptop, desktop);
    assert_eq!(
        laptop[0].body_markdown.as_deref(),
        Some(
            "# Export OPENSSL_DIR before cargo test\n\n## Symptom\n\n```text\nerror: linking with `cc` failed: ld: library not found for -lssl\n```\n\n\
             ## Cause\n\nOPENSSL_DIR is unset.\n\n## Fix\n\nExport OPENSSL_DIR before cargo test.\n\n## Seen with\n\n```sh\ncargo test\n```\n"
        )
    );
    assert_eq!(laptop[0].confidence, 0.75);
}

#[test]
fn a_reason_becomes_the_pages_why() {
    let found = builtin::review(&session("s", &[H("Never use sleep in tests because the runners are slow.")]), &[]);
    assert_eq!(
        found[0].body_markdown.as_deref(),
        Some("# Never use sleep in tests\n\nNever use sleep in tests.\n\n## Why\n\nThe runners are slow.\n")
    );
}

#[test]
fn our_own_sessions_and_sessions_without_a_person_teach_nothing() {
    let mut own = session("s", &[H("never push on Fridays")]);
    own.own = true;
    assert!(builtin::review(&own, &[]).is_empty());
    assert!(builtin::review(&session("s", &[A("never push on Fridays"), Tool("always use tabs")]), &[]).is_empty());
    assert!(builtin::review(&session("s", &[]), &[]).is_empty());
}

const RELEASE: &[E] = &[
    H("release it"),
    Run("cargo test --workspace", 0, "ok"),
    Run("git status", 0, "clean"),
    Run("cargo build --release", 0, "ok"),
    Run("./scripts/package dist", 0, "ok"),
];

#[test]
fn the_same_commands_in_two_sessions_are_a_procedure() {
    let found = builtin::review(&session("b", RELEASE), &[session("a", RELEASE)]);
    assert_eq!(
        listed(&found),
        [
            "procedures/run-cargo-test-then-cargo-build-then-scripts-package.md | Run cargo test, then cargo build, then ./scripts/package"
        ]
    );
    assert!(found[0].body_markdown.as_deref().is_some_and(|body| {
        body.contains("1. `cargo test --workspace`\n2. `cargo build --release`\n3. `./scripts/package dist`")
    }));
    let sources: Vec<&str> = found[0].evidence.iter().map(|e| e.source.split('#').next().unwrap_or_default()).collect();
    assert!(sources.contains(&"sessions/a") && sources.contains(&"sessions/b"));
}

#[test]
fn commands_of_one_session_of_a_resumed_copy_or_with_a_failure_are_no_procedure() {
    assert!(builtin::review(&session("b", RELEASE), &[]).is_empty());
    let mut copy = session("a", RELEASE);
    copy.id = "b".into();
    copy.observations.clone_from(&session("b", RELEASE).observations);
    copy.id = "c".into();
    assert!(
        builtin::review(&session("b", RELEASE), &[copy]).is_empty(),
        "the events of a resumed session are the same events"
    );
    let mut failed = RELEASE.to_vec();
    failed[3] = Run("cargo build --release", 1, "error");
    assert!(builtin::review(&session("b", RELEASE), &[session("a", &failed)]).is_empty());
    let looking = [H("look"), Run("ls", 0, ""), Run("cat a", 0, ""), Run("git status", 0, ""), Run("grep x y", 0, "")];
    assert!(builtin::review(&session("b", &looking), &[session("a", &looking)]).is_empty());
}

#[test]
fn a_prefix_of_a_session_gives_the_lessons_of_that_prefix() {
    let whole: &[E] = &[
        H("use pnpm, not npm, in this repo"),
        A("Noted: pnpm only."),
        H("continue with the release"),
        A("pnpm publish failed: not logged in."),
    ];
    let (first, resumed) =
        (builtin::review(&session("s", &whole[..2]), &[]), builtin::review(&session("s", whole), &[]));
    assert_eq!(first, resumed);
}

/// The recorded sessions: `GIT_MEMORY_CORPUS`, or beside the repository.
fn corpus() -> Option<std::path::PathBuf> {
    let beside = || std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus");
    let folder = std::env::var_os("GIT_MEMORY_CORPUS").map_or_else(beside, Into::into).join("transcripts/claude");
    folder.is_dir().then_some(folder)
}

/// Everything that the reviewer proposes on the recorded sessions. Most of them teach nothing, and must go on to.
const ON_RECORDED: &[&str] = &[
    "made/04-resume-a.jsonl: _rules/use-pnpm-not-npm.md | Use pnpm, not npm",
    "made/04-resume-b.jsonl: _rules/use-pnpm-not-npm.md | Use pnpm, not npm",
    "made/08-wrapped-prompts.jsonl: _rules/never-push-on-fridays.md | Never push on Fridays",
    "made/15-nul-padded.jsonl: _rules/use-pnpm-not-npm.md | Use pnpm, not npm",
    "made/18-twin-desktop.jsonl: gotchas/export-openssl-dir-before-cargo-test.md | Export OPENSSL_DIR before cargo test",
    "made/18-twin-laptop.jsonl: gotchas/export-openssl-dir-before-cargo-test.md | Export OPENSSL_DIR before cargo test",
    "made/22-dag-broken.jsonl: _rules/prefer-uv-over-pip.md | Prefer uv over pip",
];

#[test]
fn recorded_sessions_give_these_proposals_and_no_others() {
    let Some(folder) = corpus() else {
        eprintln!("skipped: no recorded sessions; set GIT_MEMORY_CORPUS to their folder");
        return;
    };
    let read_sessions = read_all(&folder);
    assert!(read_sessions.len() >= 50, "only {} sessions", read_sessions.len());
    assert_eq!(proposed(&read_sessions), ON_RECORDED);
}

/// Every session below a folder, with the name of its file.
fn read_all(folder: &std::path::Path) -> Vec<(String, Session)> {
    let redactor = Redactor::new(&[], &[]).expect("no patterns of its own");
    let policy = Policy::new(true, false, &[]).expect("no patterns of its own");
    let mut files: Vec<_> = walkdir::WalkDir::new(folder)
        .sort_by_file_name()
        .into_iter()
        .filter_map(Result::ok)
        .map(walkdir::DirEntry::into_path)
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .collect();
    files.sort();
    let mut read_sessions: Vec<(String, Session)> = Vec::new();
    for file in &files {
        let name = file.strip_prefix(folder).expect("inside").to_string_lossy().replace('\\', "/");
        let options = ReadOptions { redactor: &redactor, policy: &policy };
        if let (Outcome::Sessions(sessions), _) = read(file, From::Auto, options).expect("a readable file") {
            read_sessions.extend(sessions.into_iter().map(|session| (name.clone(), session)));
        }
    }
    read_sessions
}

/// What is proposed for each, as `file: path | title`.
fn proposed(read_sessions: &[(String, Session)]) -> Vec<String> {
    let all: Vec<Session> = read_sessions.iter().map(|(_, session)| session.clone()).collect();
    let mut got = Vec::new();
    for (name, session) in read_sessions {
        got.extend(listed(&builtin::review(session, &all)).into_iter().map(|line| format!("{name}: {line}")));
    }
    got
}

/// Everything that the reviewer proposes on the sessions that stand beside the tests, the demonstration's among them.
const ON_FIXTURES: &[&str] = &[
    "hand-pnpm-rule.jsonl: _rules/always-use-pnpm-in-this-repository-never-npm.md | Always use pnpm in this repository, never npm",
    "hand-pnpm-rule.jsonl: _rules/always-add-a-test-that-failed-before-when-you-fix-a-bug.md | Always add a test that failed before, when you fix a bug",
    "hand-queue-decision.jsonl: decisions/use-the-postgres-table-not-redis.md | Use the Postgres table, not Redis",
    "hand-queue-decision.jsonl: _rules/dont-send-mail-from-tests.md | Don't send mail from tests",
    "hand-sqlx-offline-gotcha.jsonl: gotchas/the-migration-was-committed-without-the-query-cache.md | The migration was committed without the query cache",
    "made-broken-chain.jsonl: _rules/prefer-uv-over-pip.md | Prefer uv over pip",
    "made-resume-a.jsonl: _rules/use-pnpm-not-npm.md | Use pnpm, not npm",
    "made-resume-b.jsonl: _rules/use-pnpm-not-npm.md | Use pnpm, not npm",
    "made-twin-desktop.jsonl: gotchas/export-openssl-dir-before-cargo-test.md | Export OPENSSL_DIR before cargo test",
    "made-twin-laptop.jsonl: gotchas/export-openssl-dir-before-cargo-test.md | Export OPENSSL_DIR before cargo test",
    "made-wrapped-prompts.jsonl: _rules/never-push-on-fridays.md | Never push on Fridays",
];

#[test]
fn the_sessions_beside_the_tests_give_these_proposals_and_no_others() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/sessions");
    assert_eq!(proposed(&read_all(&folder)), ON_FIXTURES);
}
