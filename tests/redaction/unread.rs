//! What is told of texts that could not be read as what they should be.

use std::fmt::Write as _;
use std::fs;

use serde_json::json;

use super::common::Sandbox;
use super::places::{Places, run};
use super::secrets::{Chance, Secret, secrets};

/// The ways in which the beginning of a file, or a word of a program, hides a secret until it is read twice.
fn hidden(secret: &Secret) -> Vec<String> {
    let escaped = |text: &str| {
        text.chars().fold(String::new(), |mut out, c| {
            let _ = write!(out, "\\u{:04x}", c as u32);
            out
        })
    };
    let text = &secret.text;
    let at = text.find(&secret.random[..12]).unwrap_or(0) + 6;
    let colour = escaped("\u{1b}[32m");
    vec![
        text.clone(),
        escaped(text),
        format!("{colour}{}{colour}{}", escaped(&text[..at]), escaped(&text[at..])),
        format!("\\u001b[\\u0031m{}\\u001b[\\u0030\\u006d{}", &text[..at], &text[at..]),
        text.bytes().fold(String::new(), |out, b| out + &format!("%25{b:02x}")),
        text.chars().fold(String::new(), |out, c| out + &format!("&#{};", c as u32)),
        // It goes on where nothing is shown any more, or in the next line.
        format!("{}{text}", "x ".repeat(55)),
        format!("{}\n{}", &text[..at], &text[at..]),
    ]
}

#[test]
fn no_secret_is_told_of_what_could_not_be_read() {
    let secrets = secrets(&mut Chance(0xA076_1D64_78BD_642F));
    let secrets: Vec<Secret> = secrets.into_iter().filter(|secret| !secret.text.contains('\n')).collect();
    let sandbox = Sandbox::new();
    sandbox.run(&["init", "--branch", "wiki"]);
    let folder = sandbox.root().join("files");
    fs::create_dir_all(&folder).unwrap();
    let mut said = Vec::new();
    for (n, secret) in secrets.iter().enumerate() {
        for (way, text) in hidden(secret).into_iter().enumerate() {
            let path = folder.join(format!("{n}-{way}.dat"));
            fs::write(&path, format!("{text}\nand more\n")).unwrap();
        }
        let export = json!({ "info": { "id": "ses_1", "title": "t" }, "messages": secret.text });
        fs::write(folder.join(format!("{n}-export.json")), export.to_string()).unwrap();
    }
    let entries = fs::read_dir(&folder).unwrap().flatten();
    let files: Vec<String> = entries.map(|entry| entry.path().display().to_string()).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    run(&sandbox, &[&["capture", "-v"], files.as_slice()].concat(), "", &mut said);
    run(&sandbox, &[&["capture", "--json"], files.as_slice()].concat(), "", &mut said);
    let told = String::from_utf8_lossy(&said).matches("its first line is").count();
    assert!(told >= secrets.len() * 8, "{told} first lines were told");

    // Damaged records of our own.
    let memory = sandbox.path(".git/memory");
    fs::create_dir_all(memory.join("queue")).unwrap();
    let mut lines = String::new();
    for (n, secret) in secrets.iter().enumerate() {
        let queued = json!({ "event": secret.text, "repo": 7, "at": secret.text });
        fs::write(memory.join(format!("queue/{n}.json")), queued.to_string()).unwrap();
        let _ = writeln!(lines, "{}", json!({ "kind": secret.text, "at": secret.text, "query": 7 }));
    }
    fs::write(memory.join("spool.jsonl"), &lines).unwrap();
    fs::write(memory.join("queries.jsonl"), &lines).unwrap();
    for args in [
        &["doctor"] as &[&str],
        &["doctor", "--json"],
        &["status"],
        &["status", "--json"],
        &["log"],
        &["improve", "--all"],
    ] {
        run(&sandbox, args, "", &mut said);
    }
    let places = Places(vec![("output".into(), said)]);
    assert!(places.0[0].1.len() > 10_000, "too little was said");
    places.hold_none_of(&secrets);
}

#[test]
fn no_secret_is_told_or_kept_of_a_reply_that_is_none() {
    let secrets = secrets(&mut Chance(0xE703_7ED1_A0B4_28DB));
    let tokens = secrets.iter().filter(|secret| !secret.text.contains(['\n', ' ', '=', ':', '/', '"'])).cloned();
    for secret in tokens.collect::<Vec<_>>() {
        let sandbox = Sandbox::new();
        sandbox.run(&["init", "--branch", "wiki"]);
        let session = folder_of_sessions().join("session.jsonl");
        sandbox.run(&["capture", session.to_str().unwrap()]);
        let reply = sandbox.root().join("reply.txt");
        let settings =
            format!("[model.review]\nprovider = \"command\"\ncommand = [\"cat\", {:?}]\n", reply.display().to_string());
        let config = sandbox.home().join(".config/git-memory");
        fs::create_dir_all(&config).unwrap();
        fs::write(config.join("config.toml"), settings).unwrap();
        let mut said = Vec::new();
        let text = &secret.text;
        let wide: String = text.chars().filter_map(|c| char::from_u32(u32::from(c) + 0xfee0)).collect();
        for reply_text in [
            format!("{{\"summary\": \"s\", \"proposals\": [], \"{text}\": 1, \"{text}\": 2}}"),
            format!("{{\"summary\": \"{wide}\", \"proposals\": []}}"),
            format!("{{\"summary\": \"s\", \"proposals\": \"{text}\"}}"),
            format!("\"{text}\""),
            format!("I cannot: {text}"),
        ] {
            fs::write(&reply, reply_text).unwrap();
            run(&sandbox, &["improve", "--all", "--json"], "", &mut said);
            run(&sandbox, &["run", "list"], "", &mut said);
        }
        fs::remove_file(&reply).unwrap();
        let said_of = String::from_utf8_lossy(&said).into_owned();
        assert!(said_of.contains("refused whole"), "{said_of}");
        let places = Places::of(&sandbox, said);
        places.hold_none_of(std::slice::from_ref(&secret));
        let random: String = secret.random.chars().filter_map(|c| char::from_u32(u32::from(c) + 0xfee0)).collect();
        places.hold_none_of(&[Secret { text: wide, random }]);
    }
}

/// Where a session is that a model may be asked about.
fn folder_of_sessions() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/cases/held/rejected-earlier")
}
