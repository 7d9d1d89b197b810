//! Secrets are put wherever a session can hold a text, in whatever spelling, and must not be found again anywhere.

#[path = "../common/mod.rs"]
mod common;

mod figures;
mod formats;
mod places;
mod secrets;
mod session;
mod unread;

use std::fs;

use serde_json::{Value, json};

use common::Sandbox;
use places::{Places, run};
use secrets::{Chance, secrets, spelled};
use session::session;

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
