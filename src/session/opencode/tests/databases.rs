//! The databases: their tables, the ways to open them, and that nothing shows that we were there.

use std::collections::BTreeMap;
use std::fs;

use rusqlite::{Connection, params};

use super::*;

/// The tables of the first generation, and of the second beside them.
const FIRST: &str = "
    CREATE TABLE project(id text PRIMARY KEY, worktree text NOT NULL);
    CREATE TABLE session(id text PRIMARY KEY, project_id text NOT NULL, parent_id text, slug text NOT NULL,
        directory text NOT NULL, title text NOT NULL, version text NOT NULL, revert text,
        time_created integer NOT NULL, time_updated integer NOT NULL);
    CREATE TABLE message(id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL,
        time_updated integer NOT NULL, data text NOT NULL);
    CREATE TABLE part(id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL,
        time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);";
const SECOND: &str = "
    CREATE TABLE session_v2(id text PRIMARY KEY, project_id text NOT NULL, parent_id text, slug text NOT NULL,
        directory text NOT NULL, title text, version text NOT NULL, revert text,
        time_created integer NOT NULL, time_updated integer NOT NULL);
    CREATE TABLE session_message(id text PRIMARY KEY, session_id text NOT NULL, type text NOT NULL, seq integer NOT NULL,
        time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);";

fn create(path: &Path, schema: &str) -> Connection {
    let connection = Connection::open(path).unwrap();
    connection.execute_batch(schema).unwrap();
    connection
}

/// Puts a session into the tables of the first generation, given as an export of it.
fn insert(connection: &Connection, document: &Value) {
    let info = &document["info"];
    let of = |value: &Value| value.as_str().map(str::to_owned);
    let (created, updated) = (info["time"]["created"].as_i64(), info["time"]["updated"].as_i64());
    connection
        .execute(
            "INSERT INTO session VALUES (?1, 'p', ?2, 's', ?3, ?4, ?5, NULL, ?6, ?7)",
            params![
                of(&info["id"]),
                of(&info["parentID"]),
                of(&info["directory"]),
                of(&info["title"]),
                of(&info["version"]),
                created,
                updated
            ],
        )
        .unwrap();
    for message in document["messages"].as_array().unwrap() {
        let (mut data, id) = (message["info"].clone(), of(&message["info"]["id"]));
        let at = data["time"]["created"].as_i64();
        data.as_object_mut().unwrap().retain(|key, _| key != "id" && key != "sessionID");
        connection
            .execute(
                "INSERT INTO message VALUES (?1, ?2, ?3, ?3, ?4)",
                params![id, of(&info["id"]), at, data.to_string()],
            )
            .unwrap();
        for part in message["parts"].as_array().unwrap() {
            let mut data = part.clone();
            data.as_object_mut().unwrap().retain(|key, _| !["id", "sessionID", "messageID"].contains(&key.as_str()));
            connection
                .execute(
                    "INSERT INTO part VALUES (?1, ?2, ?3, ?4, ?4, ?5)",
                    params![of(&part["id"]), id, of(&info["id"]), at, data.to_string()],
                )
                .unwrap();
        }
    }
}

/// Puts a message into the table of the second generation.
fn insert_whole(connection: &Connection, id: &str, kind: &str, seq: u64, data: Value) {
    let mut own = json!({"time": {"created": BEGUN + 1000 * (seq + 1)}});
    merge(&mut own, data);
    let sql = "INSERT INTO session_message VALUES (?1, 'ses_1', ?2, ?3, ?4, ?4, ?5)";
    let at = own["time"]["created"].as_i64();
    connection.execute(sql, params![id, kind, seq as i64, at, own.to_string()]).unwrap();
}

fn conversation() -> Value {
    export(json!({}), &[(user(), vec![text("one two three")]), (assistant(), vec![text("done")])])
}

/// All files of a folder with their bytes.
fn listing(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let name = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()).map(|e| (name(&e), fs::read(e.path()).unwrap())).collect()
}

fn refused(path: &Path) -> String {
    read_with(path, &open()).unwrap_err().to_string()
}

#[test]
fn tree_database_and_export_give_the_very_same_session() {
    let tree = "made/storage/session/a1b2c3d4e5f60718293a4b5c6d7e8f9001122334/ses_469cf929cffeBICghRNeI7BWy6.json";
    let (of_tree, of_export) = (read_file(&fixture(tree)).0, read_file(&fixture("made/export.json")).0);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("opencode.db");
    let document: Value = serde_json::from_slice(&fs::read(fixture("made/export.json")).unwrap()).unwrap();
    let connection = create(&path, FIRST);
    insert(&connection, &document);
    drop(connection);
    let (of_database, warnings) = read_file(&path);
    assert_eq!((&of_database, warnings), (&of_export, vec![]));
    assert_eq!(of_tree, of_export);
}

#[test]
fn one_database_gives_all_of_its_sessions() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("opencode.db");
    let connection = create(&path, FIRST);
    for (id, parent, directory) in [("ses_1", None, "/a"), ("ses_2", Some("ses_1"), "/a"), ("ses_3", None, "/b")] {
        let mut document =
            export(json!({"id": id, "parentID": parent, "directory": directory}), &[(user(), vec![text("say it")])]);
        let message = &mut document["messages"][0];
        message["info"]["id"] = format!("msg_{id}").into();
        message["parts"][0]["id"] = format!("prt_{id}").into();
        insert(&connection, &document);
    }
    connection.execute("INSERT INTO part VALUES ('prt_zz', 'msg_ses_3', 'ses_3', 1, 1, '{\"type\":\"te')", []).unwrap();
    connection.execute("INSERT INTO part VALUES ('prt_zy', 'msg_ses_3', 'ses_3', 1, 1, '')", []).unwrap();
    drop(connection);
    let (sessions, mut warnings) = read_file(&path);
    let told: Vec<_> =
        sessions.iter().map(|s| (s.id.as_str(), s.cwd.as_deref().unwrap(), s.prompts().count())).collect();
    assert_eq!(told, [("ses_1", "/a", 1), ("ses_2", "/a", 0), ("ses_3", "/b", 1)]);
    warnings.sort_unstable();
    assert_eq!(warnings, ["broken_part", "empty_part"]);
}

#[test]
fn the_second_generation_is_read_alone_and_continues_what_it_took_over() {
    let whole = |connection: &Connection| {
        insert_whole(
            connection,
            "msg_u",
            "user",
            10,
            json!({"text": "and now the docs", "files": [{"uri": "data:x;base64,QUJD", "name": "a.png", "mime": "image/png"}]}),
        );
        let tool = json!({
            "type": "tool", "id": "call_9", "name": "shell", "time": {"created": BEGUN + 11_500, "completed": BEGUN + 11_900},
            "state": {"status": "completed", "input": {"command": "make docs"}, "content": [{"type": "text", "text": "no rule"}], "metadata": {"exit": 2}},
        });
        let failed = json!({
            "type": "tool", "id": "call_10", "name": "edit", "time": {"created": BEGUN + 11_950},
            "state": {"status": "error", "input": {"path": "/p/a.md"}, "error": {"type": "tool", "message": "not found"}},
        });
        let content =
            json!([{"type": "reasoning", "text": "hm"}, tool, failed, {"type": "text", "text": "No such target."}]);
        let snapshot = json!({"files": ["Makefile"]});
        insert_whole(
            connection,
            "msg_a",
            "assistant",
            11,
            json!({"content": content, "snapshot": snapshot, "agent": "build"}),
        );
        insert_whole(
            connection,
            "msg_s",
            "shell",
            12,
            json!({"shellID": "sh_1", "command": "git status", "status": "exited", "exit": 0, "output": {"output": "clean"}}),
        );
        insert_whole(
            connection,
            "msg_c",
            "compaction",
            13,
            json!({"status": "completed", "reason": "auto", "summary": "So far", "recent": "x"}),
        );
        insert_whole(connection, "msg_y", "synthetic", 14, json!({"text": "put in"}));
        insert_whole(connection, "msg_i", "idle", 15, json!({"outcome": "succeeded"}));
        let error = json!({"error": {"type": "provider.rate-limit", "message": "slow down"}, "content": []});
        insert_whole(connection, "msg_e", "assistant", 16, error);
    };
    let newer = [
        "Prompt human: and now the docs",
        "Other system: Attached a.png",
        "ToolCall assistant: make docs",
        "ToolResult tool 2: no rule",
        "ToolCall assistant: path: /p/a.md",
        "ToolResult tool 1: not found",
        "Answer assistant: No such target.",
        "Other system: Changed Makefile",
        "ToolCall assistant: git status",
        "ToolResult tool 0: clean",
        "Compaction system: So far",
        "Notification system: provider.rate-limit: slow down",
    ];
    let record = format!(
        "INSERT INTO session_v2 VALUES ('ses_1', 'p', NULL, 's', '/home/dev/proj', NULL, '2.0.7', NULL, {BEGUN}, {BEGUN})"
    );
    let dir = tempfile::tempdir().unwrap();
    let alone = dir.path().join("alone.db");
    let connection = create(&alone, SECOND);
    connection.execute(&record, []).unwrap();
    whole(&connection);
    drop(connection);
    let (sessions, warnings) = read_file(&alone);
    assert_eq!((told(&sessions[0]), warnings), (newer.map(str::to_owned).to_vec(), vec![]));
    assert_eq!((sessions[0].version.as_deref(), sessions[0].title.as_str()), (Some("2.0.7"), "and now the docs"));

    let both = dir.path().join("both.db");
    let connection = create(&both, &format!("{FIRST}{SECOND}"));
    insert(&connection, &conversation());
    connection.execute(&record, []).unwrap();
    // Taken over: the same ids, and one that the taking over made up.
    insert_whole(&connection, "msg_0", "user", 0, json!({"text": "one two three"}));
    insert_whole(&connection, "msg_1", "assistant", 1, json!({"content": [{"type": "text", "text": "done"}]}));
    insert_whole(&connection, "msg_1x", "user", 1, json!({"text": "one two three"}));
    whole(&connection);
    // A session of before that was never taken over.
    let mut other = conversation();
    other["info"]["id"] = "ses_0".into();
    other["messages"] = json!([]);
    insert(&connection, &other);
    connection.execute("INSERT INTO message VALUES ('msg_z', 'ses_0', 1, 1, '{\"role\":\"user\",\"time\":{\"created\":1772359300000}}')", []).unwrap();
    connection
        .execute(
            "INSERT INTO part VALUES ('prt_z', 'msg_z', 'ses_0', 1, 1, '{\"type\":\"text\",\"text\":\"older\"}')",
            [],
        )
        .unwrap();
    drop(connection);
    let (sessions, _) = read_file(&both);
    let expected = ["Prompt human: one two three", "Answer assistant: done"].into_iter().chain(newer);
    assert_eq!(told(&sessions[1]), expected.collect::<Vec<_>>());
    assert_eq!(prompts(&sessions[0]), ["older"]);
}

#[test]
fn what_is_no_database_of_opencode_is_told_by_what_is_missing() {
    let dir = tempfile::tempdir().unwrap();
    let made = |name: &str, schema: &str| {
        let path = dir.path().join(name);
        drop(create(&path, schema));
        refused(&path)
    };
    assert_eq!(made("other.db", "CREATE TABLE t(x)"), "a SQLite database without OpenCode's tables");
    let view = format!("{} CREATE VIEW message AS SELECT 1 AS id;", FIRST.replace("TABLE message(", "TABLE other("));
    assert!(made("view.db", &view).contains("the table `message`"));
    let only =
        made("only.db", "CREATE TABLE message(id TEXT PRIMARY KEY, session_id TEXT NOT NULL, data TEXT NOT NULL)");
    assert!(only.ends_with("form that is not known: the table `session`, the table `part` is not there"), "{only}");
    let newer = made("newer.db", &FIRST.replace("data text", "body blob"));
    assert!(newer.contains("the column `data` of `message`, the column `data` of `part` is not there"), "{newer}");
    let garbage = dir.path().join("garbage.db");
    let mut bytes = b"SQLite format 3\0".to_vec();
    bytes.extend((0..8000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8));
    fs::write(&garbage, bytes).unwrap();
    assert_eq!(refused(&garbage), "no database behind SQLite's mark: it is damaged or encrypted");
    let cut = dir.path().join("cut.db");
    let connection = create(&cut, FIRST);
    insert(&connection, &conversation());
    drop(connection);
    let bytes = fs::read(&cut).unwrap();
    fs::write(&cut, &bytes[..bytes.len() / 2]).unwrap();
    assert!(refused(&cut).contains("damaged"), "{}", refused(&cut));
}

#[test]
fn a_database_at_rest_is_read_without_a_trace() {
    let dir = tempfile::tempdir().unwrap();
    for (name, mode) in [("w a%l?#.db", "WAL"), ("plain.db", "DELETE")] {
        let path = dir.path().join(name);
        let connection = create(&path, &format!("PRAGMA journal_mode={mode};{FIRST}"));
        insert(&connection, &conversation());
        drop(connection);
        let before = listing(dir.path());
        assert!(before.contains_key(name) && !before.contains_key(&format!("{name}-wal")));
        assert_eq!(prompts(&read_file(&path).0[0]), ["one two three"], "{name}");
        assert_eq!(listing(dir.path()), before, "{name}");
    }
}

#[test]
fn what_a_live_writer_has_not_written_back_is_seen_and_nothing_of_its_files_is_touched() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("opencode.db");
    let writer = create(&path, &format!("PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0;{FIRST}"));
    insert(&writer, &conversation());
    let before = listing(dir.path());
    assert_eq!(
        before.keys().map(String::as_str).collect::<Vec<_>>(),
        ["opencode.db", "opencode.db-shm", "opencode.db-wal"]
    );
    assert_eq!(prompts(&read_file(&path).0[0]), ["one two three"]);
    // In the middle of a write as well.
    writer.execute_batch("BEGIN IMMEDIATE; DELETE FROM part").unwrap();
    assert_eq!(prompts(&read_file(&path).0[0]), ["one two three"]);
    writer.execute_batch("ROLLBACK").unwrap();
    let after = listing(dir.path());
    assert!(before.keys().eq(after.keys()));
    for name in ["opencode.db", "opencode.db-wal"] {
        assert!(before[name] == after[name], "{name}");
    }
    // The writer goes on as if nobody had been there.
    let mut second = conversation();
    second["info"]["id"] = "ses_2".into();
    second["messages"] = json!([]);
    insert(&writer, &second);
    drop(writer);
    assert_eq!(listing(dir.path()).len(), 1);
}

#[test]
fn a_log_that_was_left_behind_is_read_from_a_copy() {
    let dir = tempfile::tempdir().unwrap();
    let live = dir.path().join("live.db");
    let writer = create(&live, &format!("PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0;{FIRST}"));
    insert(&writer, &conversation());
    let folder = dir.path().join("left");
    fs::create_dir(&folder).unwrap();
    let path = folder.join("opencode.db");
    fs::copy(&live, &path).unwrap();
    fs::copy(dir.path().join("live.db-wal"), folder.join("opencode.db-wal")).unwrap();
    let before = listing(&folder);
    assert_eq!(prompts(&read_file(&path).0[0]), ["one two three"]);
    assert_eq!(listing(&folder), before);
    // With the index that a crash leaves behind, too.
    fs::copy(dir.path().join("live.db-shm"), folder.join("opencode.db-shm")).unwrap();
    let before = listing(&folder);
    assert_eq!(prompts(&read_file(&path).0[0]), ["one two three"]);
    let after = listing(&folder);
    assert!(before.keys().eq(after.keys()) && before["opencode.db"] == after["opencode.db"]);
    assert!(before["opencode.db-wal"] == after["opencode.db-wal"]);
    // An empty log says nothing.
    fs::remove_file(folder.join("opencode.db-shm")).unwrap();
    fs::write(folder.join("opencode.db-wal"), "").unwrap();
    let before = listing(&folder);
    assert!(refused(&path).contains("a SQLite database without OpenCode's tables"));
    assert_eq!(listing(&folder), before);
}

#[test]
fn a_database_that_somebody_keeps_for_himself_is_named_as_locked() {
    let locked = "the database is locked by another program; try again";
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("plain.db");
    let writer = create(&path, FIRST);
    writer.execute_batch("PRAGMA busy_timeout=0; BEGIN EXCLUSIVE").unwrap();
    let before = listing(dir.path());
    assert_eq!(refused(&path), locked);
    assert_eq!(listing(dir.path()), before);
}
