use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use crate::session::{From, ObservationKind, Outcome, Policy, ReadOptions, Redactor, Session, Speaker, Warning, read};

fn read_with(path: &Path, policy: &Policy) -> (Outcome, Vec<Warning>) {
    static REDACTOR: LazyLock<Redactor> = LazyLock::new(|| Redactor::new(&[], &[]).unwrap());
    read(path, From::Auto, ReadOptions { redactor: &REDACTOR, policy }).unwrap()
}

fn open() -> Policy {
    Policy::new(true, false, &[]).unwrap()
}

fn read_file(path: &Path) -> (Outcome, Vec<Warning>) {
    read_with(path, &open())
}

fn session(outcome: Outcome) -> Option<Session> {
    match outcome {
        Outcome::Sessions(sessions) => sessions.into_iter().next(),
        Outcome::Unrecognised(line) => panic!("unrecognised: {line}"),
    }
}

fn prompts(session: &Session) -> Vec<&str> {
    session.prompts().map(|o| o.body.as_str()).collect()
}

/// A session of these lines, in a file of its own.
fn of_lines(lines: &[&str]) -> (Option<Session>, Vec<&'static str>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    std::fs::write(&path, lines.join("\n") + "\n").unwrap();
    let (outcome, warnings) = read_file(&path);
    (session(outcome), warnings.into_iter().map(|w| w.kind).collect())
}

/// The folder with transcripts of many versions and tools, where there is one.
fn corpus() -> Option<PathBuf> {
    let named = std::env::var_os("GIT_MEMORY_CORPUS").map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus");
    let found = named.unwrap_or(beside).join("transcripts/claude");
    if found.is_dir() {
        return Some(found);
    }
    eprintln!("skipped: no corpus (set GIT_MEMORY_CORPUS)");
    None
}

#[test]
fn a_prompt_is_the_same_as_a_string_a_block_or_a_bare_string_in_a_list() {
    let line = |content: &str| {
        format!(
            r#"{{"type":"user","message":{{"role":"user","content":{content}}},"uuid":"u1","sessionId":"s","cwd":"/p","timestamp":"2026-03-01T10:00:00Z"}}"#
        )
    };
    let forms =
        [r#""use pnpm, not npm""#, r#"[{"type":"text","text":"use pnpm, not npm"}]"#, r#"["use pnpm, not npm"]"#];
    let read: Vec<_> = forms.iter().map(|form| of_lines(&[&line(form)]).0.unwrap()).collect();
    assert_eq!(prompts(&read[0]), ["use pnpm, not npm"]);
    assert!(read.iter().all(|session| *session == read[0]));
}

#[test]
fn made_files_give_exactly_the_turns_and_warnings_that_they_were_made_for() {
    let Some(corpus) = corpus() else { return };
    let table: &[(&str, &[&str], &[&str])] = &[
        ("01-truncated-midchar", &["fix the flaky résumé test"], &["cut_last_line"]),
        ("02-invalid-utf8", &["grep the logs"], &["invalid_utf8"]),
        ("03-glued", &["where are hooks installed?"], &["glued_objects"]),
        ("04-resume-a", &["use pnpm, not npm, in this repo"], &[]),
        ("04-resume-b", &["use pnpm, not npm, in this repo", "continue with the release"], &[]),
        ("05-bom-crlf", &["why does the build break on Windows?"], &["bom"]),
        ("06-huge-result", &["dump the table"], &["lone_surrogate"]),
        ("07-injected-only", &[], &[]),
        (
            "08-wrapped-prompts",
            &[
                "rename main to run",
                "never push on Fridays",
                "Document that `<command-name>` and <system-reminder> are wrappers the parser must strip.",
            ],
            &[],
        ),
        ("09-streaming", &["status?"], &[]),
        ("10-compacted", &["migrate to sqlx 0.8", "now bump MSRV"], &[]),
        (
            "12-odd-json",
            &["bare string", "[[[[["],
            &["not_an_object", "unknown_type", "odd_message", "bad_timestamp", "too_deep"],
        ),
        ("15-nul-padded", &["use pnpm, not npm, in this repo"], &["nul_padding"]),
        ("16-injected-rule", &["read the docs page"], &[]),
        ("17-own-output", &["what did the memory loop propose?"], &[]),
        ("18-twin-desktop", &["ci fails only on desktop"], &[]),
        ("18-twin-laptop", &["ci fails only on laptop"], &[]),
        ("19-nonascii-paths", &[], &[]),
        ("20-lone-surrogate", &["show the log"], &["lone_surrogate"]),
        ("21-uuid-echo", &["pin rust to 1.82"], &[]),
        ("22-dag-broken", &["a", "orphan prompt: prefer uv over pip", "second root"], &[]),
    ];
    for (name, turns, kinds) in table {
        let (outcome, warnings) = read_file(&corpus.join(format!("made/{name}.jsonl")));
        let session = session(outcome).unwrap_or_else(|| panic!("{name}: no session"));
        assert_eq!(prompts(&session), *turns, "{name}");
        assert_eq!(warnings.iter().map(|w| w.kind).collect::<Vec<_>>(), *kinds, "{name}");
    }
    for name in ["13-empty", "14-only-newlines"] {
        assert_eq!(read_file(&corpus.join(format!("made/{name}.jsonl"))).0, Outcome::Sessions(vec![]), "{name}");
    }
}

#[test]
fn growing_snapshots_of_one_answer_are_one_observation_and_its_tool_call_another() {
    let Some(corpus) = corpus() else { return };
    let session = session(read_file(&corpus.join("made/09-streaming.jsonl")).0).unwrap();
    let told: Vec<_> = session.observations.iter().map(|o| (o.kind, o.body.as_str())).collect();
    assert_eq!(
        told,
        [
            (ObservationKind::Prompt, "status?"),
            (ObservationKind::Answer, "Looking at CI: red since Monday."),
            (ObservationKind::ToolCall, "gh run list"),
        ]
    );
}

#[test]
fn no_secret_and_no_piece_of_one_is_left_in_any_field() {
    let Some(corpus) = corpus() else { return };
    let dir = tempfile::tempdir().unwrap();
    let made = std::process::Command::new("python3").arg(corpus.join("../../gen_made.py")).arg(dir.path()).output();
    if !made.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: gen_made.py did not run");
        return;
    }
    let made = dir.path().join("claude/made");
    let expected = std::fs::read(made.join("11-secrets.expected.json")).unwrap();
    let expected: std::collections::BTreeMap<String, String> = serde_json::from_slice(&expected).unwrap();
    assert_eq!(expected.len(), 16);
    let session = session(read_file(&made.join("11-secrets.jsonl")).0).unwrap();
    let kept =
        serde_json::to_string(&session).unwrap() + &format!("{session:?}") + &crate::session::page(&session, "global");
    for (name, value) in &expected {
        for text in value.lines() {
            assert!(!kept.contains(text), "{name}");
        }
        // The random part: behind the last sign of the prefix, or all of it.
        let random = match name.as_str() {
            "url" => "Tr0ub4dor-x",
            "basic" => value.rsplit(' ').next().unwrap(),
            "pem" => value.lines().nth(1).unwrap(),
            "fine" => &value[11..],
            "ant" => &value[13..],
            "oai" => &value[8..],
            _ => &value[value.find(['_', '-']).map_or(4, |at| at + 1)..],
        };
        let pieces = if random.len() < 12 {
            vec![random]
        } else {
            (0..=random.len() - 12).map(|at| &random[at..at + 12]).collect()
        };
        for piece in pieces {
            assert!(!kept.contains(piece), "{name}: {piece}");
        }
    }
    assert!(kept.contains("AKIAIOSFODNN7EXAMPLE"));
    assert!(kept.contains(&format!("ghp_{}", "a".repeat(36))));
    assert!(session.branch.unwrap().starts_with("wip/token-[REDACTED:"));
}

#[test]
fn every_real_file_is_read_and_human_turns_hold_no_wrapper() {
    let Some(corpus) = corpus() else { return };
    let mut files = 0;
    for entry in walkdir::WalkDir::new(&corpus).sort_by_file_name() {
        let path = entry.unwrap().into_path();
        if path.extension().is_none_or(|e| e != "jsonl") {
            continue;
        }
        files += 1;
        let (outcome, warnings) = read_file(&path);
        let mut kinds: Vec<_> = warnings.iter().map(|w| w.kind).collect();
        kinds.sort();
        kinds.dedup();
        assert_eq!(kinds.len(), warnings.len(), "one warning per kind: {}", path.display());
        let Some(session) = session(outcome) else { continue };
        if std::env::var_os("SHOW").is_some() {
            let name = path.strip_prefix(&corpus).unwrap().display().to_string();
            let turns: Vec<_> = session.prompts().map(|o| o.title.chars().take(60).collect::<String>()).collect();
            println!("{name} | {} obs | {:?} | {turns:?}", session.observations.len(), kinds);
        }
        for (at, observation) in session.observations.iter().enumerate() {
            assert_eq!(observation.seq as usize, at + 1);
            assert!(observation.body.len() <= crate::session::LONGEST_BODY);
            if observation.speaker == Speaker::Human {
                let body = observation.body.trim_start();
                for front in [
                    "<system-reminder>\n",
                    "<command-",
                    "<local-command",
                    "<bash-",
                    "<task-notification>",
                    "[Request interr",
                ] {
                    assert!(!body.starts_with(front), "{}: {body}", path.display());
                }
            }
        }
    }
    assert!(files > 80, "{files}");
}

#[test]
fn the_sessions_that_come_with_the_sources_give_these_turns() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/sessions");
    let table: &[(&str, usize, &str)] = &[
        ("hand-pnpm-rule", 3, "The price on the basket page is off by one cent for some quantities"),
        ("hand-queue-decision", 3, "We need background jobs for sending mail"),
        ("hand-sqlx-offline-gotcha", 2, "CI is red since the schema change: \"set DATABASE_URL\""),
        ("made-broken-chain", 3, "orphan prompt: prefer uv over pip"),
        ("made-resume-a", 1, "use pnpm, not npm, in this repo"),
        ("made-resume-b", 2, "use pnpm, not npm, in this repo"),
        ("made-twin-desktop", 1, "ci fails only on desktop"),
        ("made-twin-laptop", 1, "ci fails only on laptop"),
        ("made-wrapped-prompts", 3, "rename main to run"),
        ("real-geese", 2, "write a file about geese in docs"),
        ("real-init", 0, "Session 1af7fc5e of 2025-09-03"),
        (
            "real-least-nested-path",
            1,
            "have a look at this patch diff, I changed my mind a bit about it and would like…",
        ),
        ("real-lint-keep-parameters", 1, "mise run lint throws issues"),
        ("real-summary-only", 1, "Summarize this part of a conversation in 2-3 sentences"),
        ("real-too-tentative", 2, "Lately, I've noticed you being very tentative"),
    ];
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), table.len());
    for (name, turns, title) in table {
        let (outcome, warnings) = read_file(&folder.join(format!("{name}.jsonl")));
        let session = session(outcome).unwrap();
        assert_eq!((session.prompts().count(), session.title.as_str()), (*turns, *title), "{name}");
        assert_eq!(warnings, [], "{name}");
    }
    let session = session(read_file(&folder.join("hand-sqlx-offline-gotcha.jsonl")).0).unwrap();
    let failed: Vec<_> = session.observations.iter().filter_map(|o| o.exit).collect();
    assert_eq!(failed, [101, 1, 0, 0, 0, 0, 0]);
}

/// A line of a session, as the program writes it.
fn line(uuid: &str, kind: &str, more: &str, content: &str) -> String {
    format!(
        r#"{{"parentUuid":null,"uuid":"{uuid}","type":"{kind}","sessionId":"s","cwd":"/p"{more},"message":{{"role":"{kind}","content":{content}}}}}"#
    )
}

#[test]
fn what_the_program_marks_as_its_own_is_not_human() {
    for mark in [
        r#","isMeta":true"#,
        r#","isCompactSummary":true"#,
        r#","isVisibleInTranscriptOnly":true"#,
        r#","isSidechain":true"#,
        r#","isSidechain":"true""#,
        r#","promptSource":"sdk""#,
        r#","promptSource":"system""#,
        r#","origin":{"kind":"task-notification"}"#,
    ] {
        let (session, _) =
            of_lines(&[&line("u1", "user", mark, "\"do this\""), &line("u2", "user", "", "\"and that\"")]);
        assert_eq!(prompts(&session.unwrap()), ["and that"], "{mark}");
    }
    let (session, _) =
        of_lines(&[&line("u1", "user", r#","isSidechain":"false","promptSource":"typed""#, "\"do this\"")]);
    assert_eq!(prompts(&session.unwrap()), ["do this"]);
}

#[test]
fn the_words_of_a_rejection_are_a_persons_and_those_of_a_failing_tool_are_not() {
    let rejection =
        "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\\nuse pnpm";
    let result = |error: bool| {
        format!(r#"[{{"type":"tool_result","tool_use_id":"t","content":"{rejection}","is_error":{error}}}]"#)
    };
    let real = line("u1", "user", r#","toolUseResult":"User rejected tool use""#, &result(true));
    let (session, _) = of_lines(&[&real]);
    assert_eq!(prompts(&session.unwrap()), ["use pnpm"]);
    let printed = line("u1", "user", r#","toolUseResult":{"stdout":"x"}"#, &result(false));
    assert_eq!(of_lines(&[&printed]).0.unwrap().prompts().count(), 0);
    let failed = line("u1", "user", r#","toolUseResult":"Error: command failed""#, &result(true));
    assert_eq!(of_lines(&[&failed]).0.unwrap().prompts().count(), 0);
    // The side field repeats an error, so what a server's error says proves nothing.
    let call = |name: &str| {
        line("a1", "assistant", "", &format!(r#"[{{"type":"tool_use","id":"t","name":"{name}","input":{{}}}}]"#))
    };
    let repeated = line("u1", "user", &format!(r#","toolUseResult":"Error: {rejection}""#), &result(true));
    assert_eq!(prompts(&of_lines(&[&call("Bash"), &repeated]).0.unwrap()), ["use pnpm"]);
    let session = of_lines(&[&call("mcp__tickets__get"), &repeated]).0.unwrap();
    assert_eq!(session.prompts().count(), 0);
    assert!(session.observations.iter().any(|observation| observation.body.ends_with("use pnpm")), "nothing is lost");
    assert_eq!(prompts(&of_lines(&[&call("mcp__tickets__get"), &real]).0.unwrap()), ["use pnpm"]);
}

#[test]
fn a_queued_prompt_counts_once_and_one_that_was_taken_back_not_at_all() {
    let queued = |operation: &str, text: &str| {
        format!(
            r#"{{"type":"queue-operation","operation":"{operation}","content":"{text}","sessionId":"s","timestamp":"2026-03-01T10:00:00Z"}}"#
        )
    };
    let attached = |text: &str| {
        format!(
            r#"{{"parentUuid":null,"uuid":"a1","type":"attachment","sessionId":"s","attachment":{{"type":"queued_command","prompt":"{text}","commandMode":"prompt"}}}}"#
        )
    };
    let first = line("u0", "user", "", "\"start\"");
    let (session, _) = of_lines(&[&first, &queued("enqueue", "use uv"), &attached("use uv")]);
    assert_eq!(prompts(&session.unwrap()), ["start", "use uv"]);
    let (session, _) = of_lines(&[&first, &queued("enqueue", "use uv"), &line("u1", "user", "", "\"use uv\"")]);
    assert_eq!(prompts(&session.unwrap()), ["start", "use uv"]);
    let (session, _) = of_lines(&[&first, &queued("enqueue", "use uv")]);
    assert_eq!(prompts(&session.unwrap()), ["start", "use uv"]);
    let (session, _) = of_lines(&[&first, &queued("enqueue", "use uv"), &queued("popAll", "use uv")]);
    assert_eq!(prompts(&session.unwrap()), ["start"]);
}

#[test]
fn events_on_excluded_paths_go_with_their_results() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    let call = |id: &str, command: &str| {
        line(
            &format!("c{id}"),
            "assistant",
            "",
            &format!(r#"[{{"type":"tool_use","id":"{id}","name":"Bash","input":{{"command":"{command}"}}}}]"#),
        )
    };
    let result = |id: &str, text: &str| {
        line(
            &format!("r{id}"),
            "user",
            "",
            &format!(r#"[{{"type":"tool_result","tool_use_id":"{id}","content":"{text}"}}]"#),
        )
    };
    let lines = [call("1", "cat '.env'"), result("1", "A=1"), call("2", "ls"), result("2", "src")];
    std::fs::write(&path, lines.join("\n")).unwrap();
    let policy = Policy::new(true, false, &[".env".into()]).unwrap();
    let session = session(read_with(&path, &policy).0).unwrap();
    assert_eq!(session.observations.iter().map(|o| o.body.as_str()).collect::<Vec<_>>(), ["ls", "src"]);
}

#[test]
fn an_unreadable_policy_lets_only_start_and_end_pass() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join(".gitmemory.toml"), "[capture").unwrap();
    let path = dir.path().join("s.jsonl");
    let cwd = serde_json::to_string(dir.path().to_str().unwrap()).unwrap();
    std::fs::write(&path, line("u1", "user", "", "\"hello there\"").replace("\"/p\"", &cwd)).unwrap();
    let session = session(read_file(&path).0).unwrap();
    let kinds: Vec<_> = session.observations.iter().map(|o| o.kind).collect();
    assert_eq!(kinds, [ObservationKind::Start, ObservationKind::End]);
    assert_eq!((session.title.as_str(), session.cwd), ("", None));
}

#[test]
fn subagents_are_sessions_of_their_own_and_can_be_dropped() {
    let dir = tempfile::tempdir().unwrap();
    let side = r#","isSidechain":true,"agentId":"abc""#;
    let path = dir.path().join("agent-abc.jsonl");
    std::fs::write(&path, line("u1", "user", side, "\"look around\"")).unwrap();
    let child = session(read_file(&path).0).unwrap();
    assert_eq!((child.id.as_str(), child.parent.as_deref(), child.prompts().count()), ("s-agent-abc", Some("s"), 0));
    let dropping = Policy::new(true, true, &[]).unwrap();
    assert_eq!(read_with(&path, &dropping).0, Outcome::Sessions(vec![]));
    let mixed = dir.path().join("s.jsonl");
    std::fs::write(&mixed, [line("u1", "user", side, "\"look\""), line("u2", "user", "", "\"real\"")].join("\n"))
        .unwrap();
    assert_eq!(session(read_with(&mixed, &dropping).0).unwrap().observations.len(), 1);
    assert_eq!(session(read_file(&mixed).0).unwrap().observations.len(), 2);
}

#[test]
fn a_session_with_our_mark_in_its_first_prompt_is_ours() {
    let marked = format!("\"<!-- {} -->\\nreview\"", crate::session::OWN_SESSION_MARKER);
    assert!(of_lines(&[&line("u1", "user", "", &marked)]).0.unwrap().own);
    assert!(!of_lines(&[&line("u1", "user", "", "\"hi\""), &line("u2", "user", "", &marked)]).0.unwrap().own);
}

#[test]
fn files_of_other_kinds_are_unrecognised_and_shown_by_their_first_line() {
    let dir = tempfile::tempdir().unwrap();
    for (name, bytes) in [("text.jsonl", &b"hello\n"[..]), ("binary.md", b"\x00\x01\x02")] {
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        match read_file(&path).0 {
            Outcome::Unrecognised(line) => assert!(!line.is_empty() && !line.contains(char::is_control), "{name}"),
            Outcome::Sessions(_) => panic!("{name} was taken for a session"),
        }
    }
}

#[test]
fn a_line_without_an_identity_counts_once() {
    let again = line("x", "user", "", "\"continue\"").replace("\"uuid\":\"x\",", "");
    assert!(!again.contains("uuid\":\"x"), "{again}");
    let (session, _) = of_lines(&[&line("u0", "user", "", "\"zero\""), &again, &again]);
    assert_eq!(prompts(&session.unwrap()), ["zero", "continue"]);
}

#[test]
fn a_cut_line_with_a_whole_one_behind_it_loses_only_itself() {
    let whole = line("u2", "user", "", "\"second\"");
    let glued = format!("{}{whole}", &line("u1", "user", "", "\"first\"")[..60]);
    let (session, warnings) = of_lines(&[&line("u0", "user", "", "\"zero\""), &glued]);
    assert_eq!(prompts(&session.unwrap()), ["zero", "second"]);
    assert_eq!(warnings, ["broken_line"]);
}

#[test]
fn a_file_that_is_cut_or_spoilt_anywhere_is_read_without_failing() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/sessions");
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    for name in ["made-wrapped-prompts", "hand-pnpm-rule"] {
        let whole = std::fs::read(folder.join(format!("{name}.jsonl"))).unwrap();
        for at in (0..whole.len()).step_by(97) {
            std::fs::write(&path, &whole[..at]).unwrap();
            read_file(&path);
            let mut spoilt = whole.clone();
            spoilt[at] = [b'"', 0xff, b'\n', 0, b'{', b'\\'][at % 6];
            std::fs::write(&path, &spoilt).unwrap();
            read_file(&path);
        }
    }
}
