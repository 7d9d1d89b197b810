//! Secrets in every format that there is a fixture of.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use super::common::Sandbox;
use super::places::{Places, run};
use super::secrets::{Chance, Secret, escaped, secrets, spelled};

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
