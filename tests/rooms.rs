//! The map of the rooms: imports point downwards, nothing imports the command line, and git has one door.

use std::path::{Path, PathBuf};

/// The rooms from the top of the import order to its bottom.
const ORDER: [&str; 16] = [
    "cli", "mcp", "agent", "eval", "report", "improve", "model", "proposal", "feedback", "search", "session", "ledger",
    "wiki", "config", "process", "git",
];

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// Every Rust file of a room: its path below `src/` and its text without comments.
fn files(room: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![src().join(room)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let text = std::fs::read_to_string(&path).expect("a source file");
                let name = path.strip_prefix(src()).expect("below src").display().to_string();
                found.push((name, without_comments(&text)));
            }
        }
    }
    assert!(!found.is_empty(), "the room {room} is empty");
    found.sort();
    found
}

fn without_comments(text: &str) -> String {
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// The names that directly follow `crate::` anywhere in a text, those of a group in braces too.
fn imported(text: &str) -> Vec<String> {
    let name = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let mut found = Vec::new();
    for (at, word) in text.match_indices("crate::") {
        let rest = &text[at + word.len()..];
        let Some(group) = rest.strip_prefix('{') else {
            found.push(name(rest));
            continue;
        };
        let mut depth = 1;
        let mut begins = true;
        for (at, c) in group.char_indices() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' => begins = depth == 1,
                c if begins && !c.is_whitespace() => {
                    found.push(name(&group[at..]));
                    begins = false;
                }
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
    }
    found
}

#[test]
fn imports_point_downwards() {
    let mut faults = Vec::new();
    for (height, room) in ORDER.iter().enumerate() {
        for (file, text) in files(room) {
            for import in imported(&text) {
                match ORDER.iter().position(|other| *other == import) {
                    Some(target) if target < height => faults.push(format!("{file} imports {import}, which is above")),
                    Some(_) => {}
                    None => faults.push(format!("{file} imports crate::{import}, which is no room")),
                }
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn every_folder_of_the_source_is_a_room_in_the_order() {
    let mut folders: Vec<String> = std::fs::read_dir(src())
        .expect("src")
        .filter_map(|entry| {
            let entry = entry.expect("an entry");
            entry.path().is_dir().then(|| entry.file_name().to_string_lossy().into_owned())
        })
        .collect();
    folders.sort();
    let mut rooms: Vec<String> = ORDER.iter().map(|room| (*room).to_owned()).collect();
    rooms.sort();
    assert_eq!(folders, rooms);
}

#[test]
fn only_the_git_room_opens_git() {
    for room in ORDER.iter().filter(|room| **room != "git") {
        for (file, text) in files(room) {
            // A test may look at a repository with git itself.
            if file.contains("tests") {
                continue;
            }
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
            for door in ["gix::", "use gix", "Command::new(\"git\")"] {
                assert!(!code.contains(door), "{file} mentions {door}");
            }
        }
    }
}

#[test]
fn groups_of_imports_are_read() {
    let text = "use crate::{config, git::{self, Repo}, wiki};\nlet x = crate::ledger::now();";
    assert_eq!(imported(text), ["config", "git", "wiki", "ledger"]);
}
