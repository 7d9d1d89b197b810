//! Secrets are put wherever a session can hold a text, in whatever spelling, and must not be found again anywhere.

mod common;

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use common::{Sandbox, corpus};
use serde_json::{Value, json};

/// Chance that is the same in every run.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33
    }

    fn below(&mut self, most: usize) -> usize {
        self.next() as usize % most
    }

    /// Random text that has letters of both cases and digits in every stretch, as real ones have.
    fn text(&mut self, length: usize) -> String {
        let sets = ["abcdefghijkmnopqrstuvwxyz", "ABCDEFGHJKLMNPQRSTUVWXYZ", "23456789"];
        (0..length)
            .map(|at| {
                let set = sets[if at % 3 == 2 { at / 3 % 3 } else { self.below(3) }].as_bytes();
                char::from(set[self.below(set.len())])
            })
            .collect()
    }
}

/// A secret: what it looks like, and the part of it that nobody can guess.
#[derive(Clone)]
struct Secret {
    text: String,
    random: String,
}

/// One of each shape, put together at run time.
fn secrets(chance: &mut Chance) -> Vec<Secret> {
    let mut all = Vec::new();
    for (front, length, back) in [
        (["gh", "p_"].concat(), 36, ""),
        (["github", "_pat_"].concat(), 70, ""),
        (["sk-", "ant-api03-"].concat(), 93, "AA"),
        (["sk-", "proj-"].concat(), 74, ""),
        (["xox", "b-123456789012-123456789012-"].concat(), 24, ""),
        (["AI", "za"].concat(), 35, ""),
        (["sk", "_live_"].concat(), 24, ""),
        (["npm", "_"].concat(), 36, ""),
        (["gl", "pat-"].concat(), 20, ""),
        (["h", "f_"].concat(), 34, ""),
        (["SG", ".abcdefghijk23456789012."].concat(), 43, ""),
        ("DB_PASSWORD=".into(), 20, ""),
        ("Authorization: Bearer ".into(), 40, ""),
        ("postgres://svc:".into(), 18, "@db.internal:5432/app"),
        ("curl -u svc:".into(), 18, " https://x.test"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.".into(), 43, ""),
    ] {
        let random = chance.text(length);
        all.push(Secret { text: format!("{front}{random}{back}"), random });
    }
    let key = ["PRIVATE", "KEY"].join(" ");
    let body: Vec<String> = (0..4).map(|_| chance.text(64)).collect();
    let text = format!("-----BEGIN OPENSSH {key}-----\n{}\n-----END OPENSSH {key}-----", body.join("\n"));
    all.push(Secret { text, random: body.concat() });
    all
}

/// A way to write a secret down in a text; the reader of the file undoes none of them.
fn spelled(secret: &Secret, chance: &mut Chance) -> String {
    let text = &secret.text;
    let one_line = !text.contains('\n');
    match chance.below(10) {
        0 => text.chars().map(|c| format!("\\u{:04x}", c as u32)).collect(),
        1 => text.bytes().map(|byte| format!("%{byte:02X}")).collect(),
        2 => {
            // A colour in the middle of the random part.
            let middle = text.find(&secret.random[..12]).unwrap_or(0) + 10;
            format!("\u{1b}[32m{}\u{1b}[1;4m{}\u{1b}[0m", &text[..middle], &text[middle..])
        }
        3 => text.lines().enumerate().fold(String::new(), |mut out, (at, line)| {
            let _ = writeln!(out, "{:6}→{line}", at + 1);
            out
        }),
        4 => text.replace('\n', "\\n"),
        5 => format!("first line\r\n{}\r\nlast line", text.replace('\n', "\r\n")),
        6 if one_line => {
            // Broken by a narrow terminal, far enough in to be known.
            let at = text.find(&secret.random[..12]).unwrap_or(0) + 10;
            format!("{}\n{}", &text[..at], &text[at..])
        }
        7 => json!({ "output": text, "exit": 0 }).to_string(),
        8 => format!("see `{text}`, it works"),
        _ => text.clone(),
    }
}

/// Every string of a line that a secret is put into, by its pointer.
const PLACES: &[&str] = &[
    "/uuid",
    "/parentUuid",
    "/sessionId",
    "/cwd",
    "/gitBranch",
    "/version",
    "/requestId",
    "/slug",
    "/agentId",
    "/message/id",
    "/message/model",
    "/message/content/0/text",
    "/message/content/1/id",
    "/message/content/1/name",
    "/message/content/1/input/command",
    "/message/content/1/input/description",
    "/message/content/1/input/deep/0/x",
    "/message/content/1/input/key",
];

/// The same for lines of results, and for what is no turn.
const OTHERS: &[&str] = &[
    "/message/content/0/content",
    "/message/content/0/tool_use_id",
    "/toolUseResult/stdout",
    "/toolUseResult/file",
    "/message/content/1/content/0/text",
    "/summary",
    "/customTitle",
    "/content",
    "/subtype",
    "/operation",
    "/type",
    "/attachment/prompt",
    "/attachment/type",
    "/hookErrors/0",
    "/message/content/2/text",
    "/timestamp",
    "/error/message",
];

fn turn(n: usize, cwd: &str) -> Value {
    json!({
        "type": "assistant", "uuid": format!("u{n}"), "parentUuid": "p", "sessionId": "planted", "cwd": cwd, "gitBranch": "main",
        "version": "2.1.0", "requestId": "r", "slug": "s", "agentId": "a", "timestamp": "2026-03-01T10:00:00Z",
        "message": { "role": "assistant", "id": format!("m{n}"), "model": "x", "content": [
            { "type": "text", "text": "I run it." },
            { "type": "tool_use", "id": format!("t{n}"), "name": "Bash",
              "input": { "command": "ls", "description": "d", "deep": [{ "x": "y" }], "key": "v" } } ] }
    })
}

fn other(n: usize, cwd: &str, kind: &str) -> Value {
    json!({
        "type": kind, "uuid": format!("o{n}"), "sessionId": "planted", "cwd": cwd, "timestamp": "2026-03-01T10:00:01Z",
        "summary": "s", "customTitle": "t", "content": "c", "subtype": "informational", "operation": "enqueue",
        "attachment": { "type": "queued_command", "prompt": "p" }, "hookErrors": ["e"], "error": { "message": "m" },
        "toolUseResult": { "stdout": "s", "file": "f" },
        "message": { "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": format!("t{n}"), "content": "ok" },
            { "type": "tool_result", "tool_use_id": format!("x{n}"), "content": [{ "type": "text", "text": "ok" }] },
            { "type": "text", "text": "always use pnpm in this repository, never npm" } ] }
    })
}

/// A secret beside words, or alone where a name stands.
fn put(line: &mut Value, place: &str, text: &str) {
    if let Some(field) = line.pointer_mut(place) {
        *field = json!(text);
    }
}

/// A line in which some characters are escaped that need not be.
fn escaped(line: &Value, chance: &mut Chance) -> String {
    let text = line.to_string();
    if chance.below(3) > 0 {
        return text;
    }
    let mut out = String::new();
    let mut quoted = false;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            // What is escaped already stays.
            '\\' => {
                out.push(c);
                let kind = chars.next().into_iter().inspect(|c| out.push(*c)).any(|c| c == 'u');
                out.extend(chars.by_ref().take(if kind { 4 } else { 0 }));
            }
            c if quoted && c.is_ascii_alphanumeric() && chance.below(4) == 0 => {
                let _ = write!(out, "\\u{:04X}", c as u32);
            }
            c => {
                quoted ^= c == '"';
                out.push(c);
            }
        }
    }
    out
}

fn session(chance: &mut Chance, secrets: &[Secret], cwd: &str) -> String {
    let mut out = String::new();
    let mut write = |line: String, chance: &mut Chance| {
        out.push_str(&line);
        out.push_str(if chance.below(4) == 0 { "\r\n" } else { "\n" });
    };
    let first = json!({ "type": "user", "uuid": "first", "sessionId": "planted", "cwd": cwd, "timestamp": "2026-03-01T10:00:00Z",
        "message": { "role": "user", "content": "No, that is wrong: always run the linter before you commit" } });
    write(first.to_string(), chance);
    for (n, secret) in secrets.iter().cycle().take(secrets.len() * 4).enumerate() {
        let mut line = if chance.below(2) == 0 {
            let mut line = turn(n, cwd);
            put(&mut line, PLACES[chance.below(PLACES.len())], &spelled(secret, chance));
            line
        } else {
            let kinds = ["user", "system", "attachment", "queue-operation", "summary", "custom-title"];
            let mut line = other(n, cwd, kinds[chance.below(kinds.len())]);
            put(&mut line, OTHERS[chance.below(OTHERS.len())], &spelled(secret, chance));
            line
        };
        // Parted between two blocks: before the random part is long enough to matter, or in the middle of it.
        if chance.below(5) == 0 && !secret.text.contains('\n') {
            let at = 3 + chance.below(secret.text.len() - 3);
            let blocks = [&secret.text[..at], &secret.text[at..]].map(|text| json!({ "type": "text", "text": text }));
            line = turn(n, cwd);
            if let Some(content) = line.pointer_mut("/message/content") {
                *content = json!(blocks);
            }
        }
        write(escaped(&line, chance), chance);
    }
    // A line that no reader knows, and one that was cut.
    write(format!("{{\"type\": \"user\", \"message\": {}", json!(secrets[0].text)), chance);
    out
}

/// Everything that was written or said, by place.
struct Places(Vec<(PathBuf, Vec<u8>)>);

impl Places {
    fn of(sandbox: &Sandbox, said: Vec<u8>) -> Places {
        let objects = sandbox.program("git").args(["cat-file", "--batch-all-objects", "--batch"]).output().unwrap();
        assert!(objects.status.success());
        let mut all = vec![(PathBuf::from("objects"), objects.stdout), ("output".into(), said)];
        for (path, bytes) in sandbox.git_files().into_iter().chain(common::files(&sandbox.dir)) {
            all.push(("a file's name".into(), path.as_os_str().as_encoded_bytes().to_vec()));
            all.push((path, bytes));
        }
        Places(all)
    }

    /// Fails where any twelve bytes of a secret stand.
    fn hold_none_of(&self, secrets: &[Secret]) {
        for secret in secrets {
            let pieces: Vec<&[u8]> = secret.random.as_bytes().windows(12).collect();
            for (place, bytes) in &self.0 {
                for piece in &pieces {
                    if let Some(at) = bstr::ByteSlice::find(bytes.as_slice(), piece) {
                        let near = &bytes[at.saturating_sub(120)..(at + 40).min(bytes.len())];
                        panic!(
                            "{:?} of {:?} stands in {}: {}",
                            String::from_utf8_lossy(piece),
                            secret.text,
                            place.display(),
                            String::from_utf8_lossy(near)
                        );
                    }
                }
            }
        }
    }
}

fn run(sandbox: &Sandbox, args: &[&str], input: &str, said: &mut Vec<u8>) {
    let output = sandbox.memory(args).write_stdin(input).output().unwrap();
    assert!(output.status.code().is_some_and(|code| code != 101), "{args:?}: {output:?}");
    said.extend_from_slice(&output.stdout);
    said.extend_from_slice(&output.stderr);
}

#[test]
fn no_secret_is_found_again_wherever_it_was_put() {
    let rounds = if std::env::var_os("GIT_MEMORY_TEST_FULL").is_some() { 8 } else { 5 };
    for round in 0..rounds {
        let mut chance = Chance(0x9E37_79B9_7F4A_7C15 ^ (round * 7919 + 1));
        let secrets = secrets(&mut chance);
        let sandbox = Sandbox::new();
        sandbox.run(&["init", "--branch", "wiki"]);
        let cwd = match round % 3 {
            0 => format!("/home/dev/{}", secrets[0].text),
            _ => sandbox.dir.display().to_string(),
        };
        let folder = sandbox.root().join("files").join(format!("of {}", secrets[1].text));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join(format!("{}.jsonl", secrets[2].text));
        fs::write(&path, session(&mut chance, &secrets, &cwd)).unwrap();
        let broken = folder.join("broken.dat");
        fs::write(&broken, format!("{} is what it begins with\n", spelled(&secrets[3], &mut chance))).unwrap();
        let absent = folder.join(format!("absent-{}", secrets[4].text));
        let (path, broken, absent) = (path.to_str().unwrap(), broken.to_str().unwrap(), absent.to_str().unwrap());
        let hook = json!({ "session_id": secrets[5].text, "transcript_path": path, "cwd": sandbox.dir, "hook_event_name": "Stop" });
        let lost = json!({ "session_id": secrets[5].text, "transcript_path": absent, "cwd": sandbox.dir, "hook_event_name": secrets[6].text });
        let mut said = Vec::new();
        let run = |args: &[&str], input: &str, said: &mut Vec<u8>| run(&sandbox, args, input, said);
        run(&["capture", "-v", path, broken, absent], "", &mut said);
        run(&["capture", "--json", path, broken], "", &mut said);
        run(&["capture", "--hook"], &hook.to_string(), &mut said);
        run(&["capture", "--hook"], &lost.to_string(), &mut said);
        run(&["capture", "--hook"], &format!("{{\"cwd\": {}", json!(secrets[7].text)), &mut said);
        run(&["capture", "--session", "planted", path], "", &mut said);
        run(&["improve", "--all", "--dry-run", "-v"], "", &mut said);
        run(&["improve", "--all", "--json"], "", &mut said);
        for args in [
            &["session", "list"] as &[&str],
            &["session", "list", "--json"],
            &["list"],
            &["list", "--json"],
            &["log"],
            &["status"],
            &["run", "list"],
            &["doctor"],
        ] {
            run(args, "", &mut said);
        }
        let listed = sandbox.memory(&["list", "--json"]).output().unwrap();
        let listed: Value = serde_json::from_slice(&listed.stdout).unwrap_or_default();
        for proposal in listed["proposals"].as_array().into_iter().flatten() {
            let id = proposal["id"].as_str().unwrap();
            run(&["show", id], "", &mut said);
            run(&["diff", id], "", &mut said);
        }
        for name in sandbox.refs("refs/memory/sessions/").lines() {
            let id = name.split(' ').next().unwrap().rsplit('/').next().unwrap();
            run(&["session", "show", id], "", &mut said);
        }
        let places = Places::of(&sandbox, said);
        let kept = String::from_utf8_lossy(&places.0[0].1).matches("[REDACTED:").count();
        assert!(kept > 20, "the session is not there: {kept}");
        places.hold_none_of(&secrets);
    }
}

/// Puts secrets into the strings of a JSON value: into many texts, and now and then into what the format lives on.
fn planted(value: &mut Value, key: &str, secrets: &[Secret], chance: &mut Chance) {
    const FORMAT: &[&str] = &["type", "role", "kind", "status", "timestamp", "operation", "$set"];
    match value {
        Value::String(text) => {
            let often = if FORMAT.contains(&key) { 60 } else { 4 };
            if chance.below(often) == 0 {
                let secret = spelled(&secrets[chance.below(secrets.len())], chance);
                *text = if chance.below(3) == 0 { secret } else { format!("{text} {secret}") };
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| planted(item, key, secrets, chance)),
        Value::Object(fields) => fields.iter_mut().for_each(|(key, value)| planted(value, key, secrets, chance)),
        _ => {}
    }
}

#[test]
fn no_secret_is_found_again_in_whatever_format_it_was_put() {
    let rounds = if std::env::var_os("GIT_MEMORY_TEST_FULL").is_some() { 6 } else { 3 };
    let fixtures = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    for round in 0..rounds {
        let mut chance = Chance(0xD1B5_4A32_D192_ED03 ^ (round * 104_729 + 1));
        let secrets = secrets(&mut chance);
        let sandbox = Sandbox::new();
        sandbox.run(&["init", "--branch", "wiki"]);
        let target = sandbox.root().join("files");
        for entry in walkdir::WalkDir::new(&fixtures).sort_by_file_name().into_iter().flatten() {
            // Labelled sessions bring no format of their own.
            if entry.path().starts_with(fixtures.join("cases")) {
                continue;
            }
            let Ok(text) = fs::read_to_string(entry.path()) else { continue };
            let end = entry.path().extension().and_then(|end| end.to_str()).unwrap_or_default();
            let seeded = |text: &str, chance: &mut Chance| match serde_json::from_str::<Value>(text) {
                Ok(mut value) => {
                    planted(&mut value, "", &secrets, chance);
                    escaped(&value, chance)
                }
                // A line of such a file belongs to one speaker.
                Err(_) if chance.below(6) == 0 => {
                    let secret = spelled(&secrets[chance.below(secrets.len())], chance);
                    if secret.contains('\n') { text.to_owned() } else { format!("{text} {secret}") }
                }
                Err(_) => text.to_owned(),
            };
            let text = match end {
                "json" => seeded(&text, &mut chance),
                _ => text.lines().fold(String::new(), |all, line| all + &seeded(line, &mut chance) + "\n"),
            };
            let path = target.join(entry.path().strip_prefix(&fixtures).unwrap());
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let mut said = Vec::new();
        let folder = target.to_str().unwrap();
        for args in [
            &["capture", "-v", folder] as &[&str],
            &["capture", "--json", folder],
            &["improve", "--all", "--json"],
            &["session", "list"],
            &["list", "--json"],
            &["log"],
        ] {
            run(&sandbox, args, "", &mut said);
        }
        let places = Places::of(&sandbox, said);
        let kept = String::from_utf8_lossy(&places.0[0].1).matches("[REDACTED:").count();
        assert!(kept > 50, "the sessions are not there: {kept}");
        places.hold_none_of(&secrets);
    }
}

/// What is redacted in the corpus, with the words around it, to be looked at by a person. Run it by its name with
/// `--ignored --nocapture`.
#[test]
#[ignore = "prints figures"]
fn redactions_of_the_corpus() {
    let Some(corpus) = corpus() else {
        eprintln!("skipped: no corpus (set GIT_MEMORY_CORPUS)");
        return;
    };
    let redactor = git_memory::session::Redactor::new(&[], &[]).unwrap();
    let (mut texts, mut bytes) = (0, 0);
    let mut found: std::collections::BTreeMap<String, usize> = Default::default();
    let mut look = |text: &str| {
        texts += 1;
        bytes += text.len();
        let clean = redactor.redact(text);
        let mark = git_memory::session::REDACTION_MARK;
        let known = text.matches(mark).count();
        for (at, _) in clean.match_indices(mark).skip(known) {
            let from = clean[..at].char_indices().rev().nth(60).map_or(0, |(at, _)| at);
            let to = clean[at..].find(']').map_or(clean.len(), |end| at + end + 1);
            *found.entry(clean[from..to].replace('\n', "⏎")).or_default() += 1;
        }
    };
    for entry in walkdir::WalkDir::new(&corpus).sort_by_file_name().into_iter().flatten() {
        let Ok(text) = fs::read(entry.path()).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()) else {
            continue;
        };
        match entry.path().extension().and_then(|end| end.to_str()) {
            Some("jsonl") => {
                text.lines().for_each(|line| strings(&serde_json::from_str(line).unwrap_or(json!(line)), &mut look))
            }
            Some("json") => strings(&serde_json::from_str(&text).unwrap_or(json!(text)), &mut look),
            Some("xz") => {}
            _ => look(&text),
        }
    }
    for (context, count) in &found {
        println!("{count:5}  {context}");
    }
    println!(
        "{} redactions, {} distinct, in {texts} texts of {bytes} bytes",
        found.values().sum::<usize>(),
        found.len()
    );
}

/// Every string in a JSON value.
fn strings(value: &Value, look: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => look(text),
        Value::Array(items) => items.iter().for_each(|item| strings(item, look)),
        Value::Object(fields) => fields.values().for_each(|value| strings(value, look)),
        _ => {}
    }
}
