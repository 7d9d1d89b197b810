//! `git memory capture` of OpenCode's sessions, from outside: every form, all forms together, a program that writes
//! meanwhile, and files that cannot be read.

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use common::{Sandbox, corpus};
use rusqlite::{Connection, params};
use serde_json::{Value, json};

const MADE: &str = "ses_469cf929cffeBICghRNeI7BWy6";

const TABLES: &str = "
    CREATE TABLE session(id text PRIMARY KEY, parent_id text, directory text NOT NULL, title text NOT NULL,
        version text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL);
    CREATE TABLE message(id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, data text NOT NULL);
    CREATE TABLE part(id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, data text NOT NULL);";

fn wiki() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.run(&["init", "--branch", "wiki"]);
    sandbox
}

fn fixture(path: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/opencode").join(path).display().to_string()
}

/// An empty folder outside of the repository.
fn folder(sandbox: &Sandbox, name: &str) -> PathBuf {
    let folder = sandbox.root().join(name);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn database(path: &Path, mode: &str) -> Connection {
    let connection = Connection::open(path).unwrap();
    connection.execute_batch(&format!("PRAGMA journal_mode={mode}; PRAGMA wal_autocheckpoint=0;{TABLES}")).unwrap();
    connection
}

/// A session, by its record.
fn session(connection: &Connection, id: &str, cwd: &Path) {
    let sql = "INSERT INTO session VALUES (?1, NULL, ?2, 'New session', '1.2.10', 1772359200000, 1772359290000)";
    connection.execute(sql, params![id, cwd.to_str()]).unwrap();
}

/// A message of one part.
fn turn(connection: &Connection, session: &str, number: i64, role: &str, text: &str) {
    let (id, at) = (format!("{session}_{number}"), 1_772_359_200_000 + 1000 * number);
    let data = json!({"role": role, "time": {"created": at}}).to_string();
    connection
        .execute("INSERT INTO message VALUES (?1, ?2, ?3, ?4)", params![format!("msg_{id}"), session, at, data])
        .unwrap();
    let data = json!({"type": "text", "text": text}).to_string();
    connection
        .execute(
            "INSERT INTO part VALUES (?1, ?2, ?3, ?4)",
            params![format!("prt_{id}"), format!("msg_{id}"), session, data],
        )
        .unwrap();
}

/// The tree's session as a database.
fn made_database(path: &Path) {
    let document: Value = serde_json::from_slice(&fs::read(fixture("made/export.json")).unwrap()).unwrap();
    let connection = database(path, "WAL");
    session(&connection, MADE, Path::new("/home/dev/proj"));
    for message in document["messages"].as_array().unwrap() {
        let (info, id) = (&message["info"], message["info"]["id"].as_str());
        let at = info["time"]["created"].as_i64();
        let row = params![id, MADE, at, info.to_string()];
        connection.execute("INSERT INTO message VALUES (?1, ?2, ?3, ?4)", row).unwrap();
        for part in message["parts"].as_array().unwrap() {
            let row = params![part["id"].as_str(), id, MADE, part.to_string()];
            connection.execute("INSERT INTO part VALUES (?1, ?2, ?3, ?4)", row).unwrap();
        }
    }
}

/// The JSON report, whatever the exit code.
fn report(sandbox: &Sandbox, args: &[&str]) -> Value {
    let output = sandbox.memory(&[args, &["--json"]].concat()).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!("{error}: {}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
    })
}

/// Outcome, observations and prompts of each session, by its id.
fn sessions(report: &Value) -> BTreeMap<String, (String, u64, u64)> {
    let one = |s: &Value| {
        let text = |name: &str| s[name].as_str().unwrap().to_owned();
        (text("id"), (text("outcome"), s["observations"].as_u64().unwrap(), s["prompts"].as_u64().unwrap()))
    };
    report["sessions"].as_array().unwrap().iter().map(one).collect()
}

fn observations(sandbox: &Sandbox, id: &str) -> Vec<Value> {
    let text = sandbox.git(&["show", &format!("refs/memory/sessions/{id}:observations.jsonl")]);
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn listing(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    entries.map(|e| (e.file_name().to_string_lossy().into_owned(), fs::read(e.path()).unwrap())).collect()
}

/// As [`listing`], with sizes and times instead of bytes: reading a file would end this process's locks on it.
fn looks(folder: &Path) -> BTreeMap<String, (u64, std::time::SystemTime)> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let look = |meta: fs::Metadata| (meta.len(), meta.modified().unwrap());
    entries.map(|e| (e.file_name().to_string_lossy().into_owned(), look(e.metadata().unwrap()))).collect()
}

#[test]
fn all_forms_of_a_session_make_one_session_in_any_order_and_a_second_time_changes_nothing() {
    let mut held = Vec::new();
    for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2]] {
        let sandbox = wiki();
        let place = folder(&sandbox, "data");
        made_database(&place.join("opencode.db"));
        let forms =
            [fixture("made/storage"), place.join("opencode.db").display().to_string(), fixture("made/export.json")];
        let paths = order.map(|at| forms[at].as_str());
        let args = [&["capture"][..], &paths].concat();
        let before = listing(&place);
        let first = report(&sandbox, &args);
        assert_eq!(sessions(&first), [(MADE.into(), ("new".into(), 10, 1))].into(), "{first}");
        assert_eq!((&first["failed"], &first["unrecognised"]), (&json!([]), &json!([])), "{first}");
        let kinds: Vec<&Value> = first["warnings"].as_array().unwrap().iter().map(|w| &w["kind"]).collect();
        assert_eq!(kinds.len(), 2, "{first}");
        let refs = sandbox.refs("refs/memory/");
        assert_eq!(sessions(&report(&sandbox, &args))[MADE].0, "unchanged");
        for path in paths {
            assert_eq!(sessions(&report(&sandbox, &["capture", path]))[MADE].0, "unchanged", "{path}");
        }
        assert_eq!(sandbox.refs("refs/memory/"), refs);
        assert_eq!(listing(&place), before);
        held.push(observations(&sandbox, MADE));
    }
    assert!(held.iter().all(|one| *one == held[0]));
    let human: Vec<&Value> = held[0].iter().filter(|o| o["speaker"] == "human").map(|o| &o["body"]).collect();
    assert_eq!(human, ["the clock test is flaky, fix it"]);
}

#[test]
fn a_program_that_has_the_database_open_is_not_disturbed_and_its_last_words_are_read() {
    let sandbox = wiki();
    let place = folder(&sandbox, "data");
    let path = place.join("opencode.db");
    let program = database(&path, "WAL");
    session(&program, "ses_live", &sandbox.dir);
    turn(&program, "ses_live", 1, "user", "say it in one line");
    let before = listing(&place);
    assert_eq!(before.len(), 3);
    let named = path.display().to_string();
    let captured = |outcome: &str, observations: u64| {
        let report = report(&sandbox, &["capture", &named]);
        assert_eq!(sessions(&report)["ses_live"], (outcome.into(), observations, 1), "{report}");
    };
    captured("new", 1);
    let after = listing(&place);
    assert!(before.keys().eq(after.keys()));
    assert!(["opencode.db", "opencode.db-wal"].iter().all(|name| before[*name] == after[*name]));
    captured("unchanged", 1);
    // Only the log grows.
    turn(&program, "ses_live", 2, "assistant", "Done.");
    captured("grown", 2);
    program.execute_batch("BEGIN IMMEDIATE; DELETE FROM message").unwrap();
    captured("unchanged", 2);
    program.execute_batch("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    drop(program);
    assert_eq!(listing(&place).len(), 1);
}

#[test]
fn each_file_that_cannot_be_read_is_told_in_clear_words_and_the_rest_is_captured() {
    let sandbox = wiki();
    let place = folder(&sandbox, "mixed");
    let exclusive = database(&place.join("alone.db"), "WAL");
    session(&exclusive, "ses_alone", &sandbox.dir);
    exclusive.execute_batch("PRAGMA locking_mode=EXCLUSIVE").unwrap();
    turn(&exclusive, "ses_alone", 1, "user", "nobody sees this");
    let writing = database(&place.join("writing.db"), "DELETE");
    writing.execute_batch("BEGIN EXCLUSIVE").unwrap();
    fs::write(place.join("encrypted.db"), [&b"SQLite format 3\0"[..], &[0x9d; 4096]].concat()).unwrap();
    Connection::open(place.join("other.db")).unwrap().execute_batch("CREATE TABLE bookmarks(url)").unwrap();
    Connection::open(place.join("newer.db")).unwrap().execute_batch("CREATE TABLE session(id, folder)").unwrap();
    fs::copy(fixture("made/export.json"), place.join("export.json")).unwrap();
    let good = database(&place.join("good.db"), "WAL");
    session(&good, "ses_good", &sandbox.dir);
    turn(&good, "ses_good", 1, "user", "keep the good ones");
    drop(good);
    let before = looks(&place);
    let report = report(&sandbox, &["capture", place.to_str().unwrap()]);
    let told: BTreeMap<String, &str> = report["failed"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| (f["file"].as_str().unwrap().rsplit('/').next().unwrap().into(), f["reason"].as_str().unwrap()))
        .collect();
    let locked = "the database is locked by another program; try again";
    assert_eq!(told["alone.db"], locked, "{report}");
    assert_eq!(told["writing.db"], locked);
    assert!(told["encrypted.db"].ends_with("it is damaged or encrypted"), "{told:?}");
    assert_eq!(told.len(), 3, "{told:?}");
    // Met in a folder, a database of something else is no failure.
    let passed: Vec<&str> =
        report["foreign"].as_array().unwrap().iter().map(|u| u["reason"].as_str().unwrap()).collect();
    assert_eq!(passed.len(), 2, "{report}");
    assert!(passed[0].contains("the column `directory` of `session`"), "{passed:?}");
    assert!(passed[1].contains("without OpenCode's tables"), "{passed:?}");
    let ids: Vec<String> = sessions(&report).into_keys().collect();
    assert_eq!(ids, [MADE, "ses_good"]);
    assert!(before == looks(&place));
    // Named itself it is.
    let other = place.join("other.db").display().to_string();
    let (_, err) = sandbox.fails(1, &["capture", &other]);
    assert!(err.contains("other.db: a SQLite database without OpenCode's tables"), "{err}");
    let message = fixture("made/storage/message").to_owned() + &format!("/{MADE}/msg_b96306dcompact.json");
    let (_, err) = sandbox.fails(1, &["capture", &message]);
    assert!(err.contains("part of an OpenCode session: name its session file or the storage folder"), "{err}");
}

#[test]
fn a_tree_is_read_again_when_only_its_parts_have_changed() {
    let sandbox = wiki();
    let storage = folder(&sandbox, "storage");
    let write = |path: &str, value: Value| {
        let path = storage.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, value.to_string()).unwrap();
    };
    let time = json!({"created": 1_772_359_200_000_u64, "updated": 1_772_359_290_000_u64});
    write(
        "session/p/ses_1.json",
        json!({"id": "ses_1", "title": "t", "version": "1.1.0", "directory": sandbox.dir, "time": time}),
    );
    write(
        "message/ses_1/msg_1.json",
        json!({"id": "msg_1", "sessionID": "ses_1", "role": "user", "time": {"created": 1_772_359_201_000_u64}}),
    );
    write(
        "part/msg_1/prt_1.json",
        json!({"id": "prt_1", "messageID": "msg_1", "type": "text", "text": "fix the clock test"}),
    );
    let named = storage.display().to_string();
    let captured = |outcome: &str, observations: u64, prompts: u64| {
        let report = report(&sandbox, &["capture", &named]);
        assert_eq!(sessions(&report), [("ses_1".into(), (outcome.into(), observations, prompts))].into(), "{report}");
        assert_eq!((&report["unrecognised"], &report["failed"]), (&json!([]), &json!([])), "{report}");
    };
    captured("new", 1, 1);
    captured("unchanged", 1, 1);
    let call = |state: Value| json!({"id": "prt_2", "messageID": "msg_2", "type": "tool", "callID": "c", "tool": "bash", "state": state});
    write(
        "message/ses_1/msg_2.json",
        json!({"id": "msg_2", "sessionID": "ses_1", "role": "assistant", "time": {"created": 1_772_359_202_000_u64}}),
    );
    write("part/msg_2/prt_2.json", call(json!({"status": "running", "input": {"command": "cargo test"}})));
    captured("grown", 2, 1);
    captured("unchanged", 2, 1);
    write(
        "part/msg_2/prt_2.json",
        call(json!({"status": "completed", "input": {"command": "cargo test"}, "output": "ok"})),
    );
    captured("grown", 3, 1);
    let page = sandbox.git(&["show", "refs/memory/sessions/ses_1:page.md"]);
    assert!(page.contains("> fix the clock test") && page.contains("call bash: `cargo test`"), "{page}");
}

#[test]
fn auto_takes_of_databases_and_trees_the_sessions_of_this_project_only() {
    let mut sandbox = wiki();
    let data = folder(&sandbox, "home/.local/share/opencode");
    let other = folder(&sandbox, "other");
    let inner = folder(&sandbox, "work/deep/inside");
    for (name, prefix) in [("opencode.db", "a"), ("opencode-next.db", "b")] {
        let connection = database(&data.join(name), "WAL");
        for (id, cwd) in [("here", &sandbox.dir), ("inside", &inner), ("there", &other)] {
            let id = format!("ses_{prefix}_{id}");
            session(&connection, &id, cwd);
            turn(&connection, &id, 1, "user", &format!("work on {id}"));
        }
    }
    for (id, cwd) in [("ses_tree", &sandbox.dir), ("ses_strange", &other)] {
        let write = |path: String, value: Value| {
            let path = data.join("storage").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, serde_json::to_vec_pretty(&value).unwrap()).unwrap();
        };
        let time = json!({"created": 1_772_359_200_000_u64});
        write(
            format!("session/p/{id}.json"),
            json!({"id": id, "title": "t", "version": "1", "directory": cwd, "time": time}),
        );
        write(
            format!("message/{id}/msg_{id}.json"),
            json!({"id": format!("msg_{id}"), "sessionID": id, "role": "user", "time": time}),
        );
        write(
            format!("part/msg_{id}/prt_{id}.json"),
            json!({"id": format!("prt_{id}"), "messageID": format!("msg_{id}"), "type": "text", "text": "work here"}),
        );
    }
    let first = report(&sandbox, &["capture", "--auto"]);
    let ids: Vec<String> = sessions(&first).into_keys().collect();
    assert_eq!(ids, ["ses_a_here", "ses_a_inside", "ses_b_here", "ses_b_inside", "ses_tree"], "{first}");
    assert_eq!((&first["unmatched"], &first["failed"]), (&json!(3), &json!([])), "{first}");
    assert!(sessions(&report(&sandbox, &["capture", "--auto"])).values().all(|(outcome, ..)| outcome == "unchanged"));
    // Elsewhere, when the environment says so.
    sandbox.env.push(("XDG_DATA_HOME".into(), folder(&sandbox, "empty").display().to_string()));
    assert_eq!(report(&sandbox, &["capture", "--auto"])["sessions"], json!([]));
}

#[test]
fn the_corpus_is_read_without_a_failure_but_for_the_database_without_sessions() {
    let Some(corpus) = corpus() else {
        eprintln!("skipped: no corpus (set GIT_MEMORY_CORPUS)");
        return;
    };
    let sandbox = wiki();
    let report = report(&sandbox, &["capture", corpus.join("transcripts/opencode").to_str().unwrap()]);
    let expected = [
        (MADE, 10, 1),
        ("s_stage0_drift", 3, 0),
        ("s_stage0_large", 9, 2),
        ("s_stage0_small", 4, 1),
        ("session_add_tests", 5, 1),
    ];
    let expected =
        expected.map(|(id, observations, prompts)| (id.to_owned(), ("new".to_owned(), observations, prompts)));
    assert_eq!(sessions(&report), expected.into(), "{report}");
    assert_eq!(report["failed"], json!([]), "{report}");
    let foreign = report["foreign"].as_array().unwrap();
    assert_eq!(foreign.len(), 1, "{report}");
    assert!(foreign[0]["reason"].as_str().unwrap().contains("the table `session`, the table `part` is not there"));
}
