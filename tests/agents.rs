//! Installing into coding agents: whatever their files look like, they are as before afterwards; and what is installed
//! does what it is there for, run as the agents run it.
#![cfg(unix)]

mod common;

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use common::{BIN, Sandbox};
use serde_json::{Value, json};

/// A repository with a wiki, and an empty home in which every agent has its folder.
fn wiki() -> Sandbox {
    let mut sandbox = Sandbox::new();
    sandbox.now = None;
    sandbox.run(&["init", "--root", "docs/memory", "--no-hooks"]);
    for folder in [".claude", ".codex", ".config/opencode", ".cursor"] {
        fs::create_dir_all(sandbox.home().join(folder)).unwrap();
    }
    sandbox
}

/// Every file and folder below one: path, mode, bytes or what a link names. Our own record is no agent's file.
fn tree(top: &Path) -> Vec<(PathBuf, u32, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![top.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let (path, meta) = (entry.path(), entry.path().symlink_metadata().unwrap());
            if entry.file_name() == ".git" || path.ends_with("home/.local") {
                continue;
            }
            let bytes = match () {
                () if meta.is_dir() => Vec::new(),
                () if meta.is_symlink() => fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes(),
                () => fs::read(&path).unwrap(),
            };
            if meta.is_dir() {
                folders.push(path.clone());
            }
            found.push((path, meta.mode(), bytes));
        }
    }
    found.sort();
    found
}

fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn state(sandbox: &Sandbox, agent: &str, place: &str) -> String {
    let output = sandbox.memory(&["agent", "status", agent, place, "--json"]).output().unwrap();
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    common::is_as_its_schema_says(&value);
    value["agents"][0]["state"].as_str().unwrap().to_owned()
}

fn wait_for(what: &str, mut ready: impl FnMut() -> bool) {
    let start = Instant::now();
    while !ready() {
        assert!(start.elapsed() < Duration::from_secs(30), "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// What settings in JSON may look like.
const JSON: [&str; 20] = [
    "",
    "{}",
    "{\"\u{e9}\":1,\"b\":[],\"\u{e9}\":2}",
    "{}\n",
    "{ }",
    "{\n  \"hooks\": {\n    \"SessionEnd\": [\n      {\"hooks\": []} // theirs, kept\n    ],\n    \"sessionStart\": [\n      {\"command\": \"say\"} // theirs, too\n    ] // end\n  } // all\n}\n",
    "{\n}\n",
    "{\n  // nothing yet\n}\n",
    "{\n  \"model\": \"opus\",\n  \"env\": {\n    \"B\": \"1\",\n    \"A\": \"2\"\n  }\n}\n",
    "{\n  \"z\": 1,\n  \"hooks\": {},\n  \"a\": [1, 2]\n}",
    "// mine\n{\n\t\"a\": 1, // one\n\t/* two */\n\t\"b\": [\n\t\t1,\n\t],\n}\n",
    "{\n\t\"a\": {\n\t\t\"b\": true\n\t}\n}\n",
    "{\n   \"a\": {\n      \"b\": true\n   }\n}\n",
    "{\n\"a\": {\n\"b\": true\n}\n}\n",
    "{\r\n  \"a\": 1,\r\n  \"hooks\": {\r\n  }\r\n}\r\n",
    "\u{feff}{\n  \"a\": \"\u{e9}\\u00e9\"\n}\n",
    "{\"a\":1,\"hooks\":{\"Stop\":[]}}",
    "{\n  \"hooks\": {\n    \"SessionEnd\": [],\n    \"sessionStart\": []\n  }\n}\n",
    "{\n  \"version\": 1,\n  \"hooks\": {\n    \"SessionEnd\": [\n      {\n        \"hooks\": [\n          { \"type\": \"command\", \"command\": \"say bye\" }\n        ]\n      }\n    ],\n    \"sessionStart\": [\n      { \"command\": \"say hi\" }\n    ]\n  }\n}\n",
    "{\"hooks\":{\"SessionStart\":[{\"matcher\":\"startup\",\"hooks\":[{\"type\":\"command\",\"command\":\"say\"}]}],\"sessionStart\":[{\"command\":\"say\"}]},\"last\":null}",
];

/// What instructions may look like.
const MARKDOWN: [&str; 7] = [
    "",
    "# Project\n\nUse tabs.\n",
    "# No line end",
    "\n\n# Blank lines at its end\n\n\n",
    "# Windows\r\n\r\nText.\r\n",
    "\u{feff}# Mark\n",
    "Write `<!-- git-memory:start -->`:\n\n```\n<!-- git-memory:start -->\n```\n\n> <!-- git-memory:end -->\n",
];

/// What Codex's settings may look like.
const TOML: [&str; 9] = [
    "",
    "model = \"o3\" # mine\n\n[tui]\nnotify = true\n",
    "[features]\na = true",
    "# head\r\nmodel = \"o3\"\r\n\r\n[tui]\r\n",
    "\u{feff}model = \"o3\"\n",
    "notify = [\"say\", \"done\"] # told\nmodel = \"o3\"\n",
    "model='o3'\nnotify=['say']\n[a]\nb=1\n",
    "notify = [\n  \"python3\", # runs\n  \"/x y/n.py\",\n]\n",
    "#:schema https://example.com/s.json\n\tnotify = [ \"say\" ]\n",
];

/// Installs, looks, installs again, takes out: everything is as before.
fn there_and_back(sandbox: &Sandbox, agent: &str, place: &str, what: &str) {
    round_trip(sandbox, agent, place, &[], what);
}

fn round_trip(sandbox: &Sandbox, agent: &str, place: &str, more: &[&str], what: &str) {
    let everything = |sandbox: &Sandbox| tree(&sandbox.root());
    let (before, git) = (everything(sandbox), sandbox.state());
    assert_eq!(state(sandbox, agent, place), "absent", "{agent} {place} {what:?}");
    let install = [&["agent", "install", agent, place, "--yes"], more].concat();
    sandbox.run(&install);
    assert_eq!(state(sandbox, agent, place), "installed", "{agent} {place} {what:?}");
    let installed = everything(sandbox);
    assert_ne!(installed, before);
    assert!(sandbox.run(&["agent", "install", agent, place]).starts_with("nothing to do\n"), "{agent} {what:?}");
    assert!(sandbox.run(&install).starts_with("nothing to do\n"), "{agent} {what:?}");
    assert_eq!(everything(sandbox), installed, "{agent} {place} {what:?}");
    assert_eq!(sandbox.state().index, git.index);
    sandbox.run(&["agent", "uninstall", agent, place, "--yes"]);
    for (now, then) in everything(sandbox).iter().zip(&before) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert_eq!((&now.0, text(&now.2)), (&then.0, text(&then.2)), "{agent} {place} {what:?}");
    }
    assert_eq!(everything(sandbox), before, "{agent} {place} {what:?}");
    assert_eq!(sandbox.state(), git);
    assert!(!sandbox.path(".git/memory/agents.json").exists());
    assert!(sandbox.run(&["agent", "uninstall", agent, place]).starts_with("nothing to do\n"));
}

/// Runs it for each text in the file that `path` names in a sandbox, and without that file.
fn whatever(texts: &[&str], agent: &str, place: &str, path: impl Fn(&Sandbox) -> PathBuf) {
    let sandbox = wiki();
    there_and_back(&sandbox, agent, place, "no file");
    for text in texts {
        put(&path(&sandbox), text);
        there_and_back(&sandbox, agent, place, text);
    }
}

// ---- there and back

#[test]
fn claudes_settings_are_as_before() {
    whatever(&JSON, "claude", "--project", |sandbox| sandbox.path(".claude/settings.json"));
    whatever(&JSON, "claude", "--user", |sandbox| sandbox.home().join(".claude/settings.json"));
}

#[test]
fn cursors_hooks_are_as_before() {
    whatever(&JSON, "cursor", "--project", |sandbox| sandbox.path(".cursor/hooks.json"));
    whatever(&JSON[..3], "cursor", "--user", |sandbox| sandbox.home().join(".cursor/hooks.json"));
}

#[test]
fn codexs_settings_are_as_before() {
    for place in ["--project", "--user"] {
        whatever(&TOML, "codex", place, |sandbox| sandbox.home().join(".codex/config.toml"));
    }
}

#[test]
fn instructions_are_as_before() {
    whatever(&MARKDOWN, "codex", "--project", |sandbox| sandbox.path("AGENTS.md"));
    whatever(&MARKDOWN, "claude", "--project", |sandbox| sandbox.path("CLAUDE.md"));
    whatever(&MARKDOWN, "opencode", "--user", |sandbox| sandbox.home().join(".config/opencode/AGENTS.md"));
    whatever(&MARKDOWN[..2], "opencode", "--project", |sandbox| sandbox.path("AGENTS.md"));
}

/// What settings with servers may look like; `LIST` is where an agent has them.
const SERVERS: [&str; 6] = [
    "{\"LIST\":{}}",
    "{\n  \"LIST\": {\n    \"other\": { \"command\": \"npx\", \"args\": [\"-y\", \"x\"] }\n  },\n  \"z\": 1\n}\n",
    "{\n\t// mine\n\t\"LIST\": {\n\t\t\"other\": {}, // theirs\n\t},\n}\n",
    "{\r\n  \"a\": [],\r\n  \"LIST\": {\r\n  }\r\n}\r\n",
    "{\"a\": {\"LIST\": 1}}",
    "\u{feff}{\n  \"LIST\": {\"git-memory-other\": {\"command\": \"git-memory-other\"}}\n}",
];

/// What Codex's settings with servers may look like.
const TOML_SERVERS: [&str; 4] = [
    "[mcp_servers.other]\ncommand = \"npx\"\nargs = [\"-y\"]\n\n[mcp_servers.other.env]\nA = \"1\"\n",
    "notify = [\"say\"]\n\n[mcp_servers.other]\r\ncommand = \"npx\"",
    "# mine\n[mcp_servers]\n\n[tui]\na = 1 # one\n\n\n",
    "[mcp_servers.\"git-memory-other\"]\ncommand = \"git-memory-other\"\n",
];

#[test]
fn settings_with_servers_are_as_before() {
    let with = |agent: &str, place: &str, list: &str, path: &dyn Fn(&Sandbox) -> PathBuf| {
        let sandbox = wiki();
        round_trip(&sandbox, agent, place, &["--mcp"], "no file");
        for text in JSON.iter().copied().filter(|text| !text.contains("hooks")).chain(SERVERS) {
            let text = text.replace("LIST", list);
            put(&path(&sandbox), &text);
            round_trip(&sandbox, agent, place, &["--mcp"], &text);
        }
    };
    with("claude", "--project", "mcpServers", &|sandbox| sandbox.path(".mcp.json"));
    with("cursor", "--project", "mcpServers", &|sandbox| sandbox.path(".cursor/mcp.json"));
    with("cursor", "--user", "mcpServers", &|sandbox| sandbox.home().join(".cursor/mcp.json"));
    with("opencode", "--project", "mcp", &|sandbox| sandbox.path("opencode.json"));
    with("opencode", "--user", "mcp", &|sandbox| sandbox.home().join(".config/opencode/opencode.jsonc"));
    let sandbox = wiki();
    round_trip(&sandbox, "codex", "--user", &["--mcp"], "no file");
    for text in TOML.into_iter().chain(TOML_SERVERS) {
        put(&sandbox.home().join(".codex/config.toml"), text);
        round_trip(&sandbox, "codex", "--user", &["--mcp"], text);
        round_trip(&sandbox, "codex", "--project", &["--mcp"], text);
    }
}

#[test]
fn the_server_is_there_only_where_it_was_asked_for_and_starts_as_it_is_written() {
    let sandbox = wiki();
    sandbox.run(&["agent", "install", "all", "--yes"]);
    assert!(!sandbox.path(".mcp.json").exists() && !sandbox.path("opencode.json").exists());
    sandbox.run(&["agent", "install", "all", "--mcp", "--yes"]);
    let settings: Value = serde_json::from_str(&sandbox.read(".mcp.json")).unwrap();
    let entry = &settings["mcpServers"]["git-memory"];
    let arguments = entry["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned());
    let mut server = sandbox.program(entry["command"].as_str().unwrap());
    server.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut server = server.spawn().unwrap();
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}});
    std::io::Write::write_all(&mut server.stdin.take().unwrap(), format!("{hello}\n").as_bytes()).unwrap();
    let said = server.wait_with_output().unwrap();
    assert!(said.status.success() && String::from_utf8_lossy(&said.stdout).contains("git-memory"), "{said:?}");
    // One that was changed by hand is neither replaced nor taken out unasked.
    let mine = sandbox.read(".mcp.json").replace("\"mcp\"", "\"--scope\", \"acme\", \"mcp\"");
    sandbox.write(".mcp.json", &mine);
    assert_eq!(state(&sandbox, "claude", "--project"), "modified");
    for action in ["install", "uninstall"] {
        assert!(sandbox.fails(1, &["agent", action, "claude", "--yes"]).1.contains("edited by hand"));
    }
    assert_eq!(sandbox.read(".mcp.json"), mine);
    sandbox.run(&["agent", "uninstall", "all", "--force", "--yes"]);
    assert!(!sandbox.path(".mcp.json").exists());
}

#[test]
fn all_agents_together_are_as_before() {
    let sandbox = wiki();
    sandbox.write("CLAUDE.md", "# C\n");
    sandbox.write("AGENTS.md", "# A\n");
    let before = tree(&sandbox.root());
    let changed = sandbox.json(&["agent", "install", "all", "--yes"]);
    assert_eq!((changed["written"].clone(), changed["skipped"].clone()), (json!(true), json!([])));
    let status = sandbox.json(&["agent", "status"]);
    let installed = |entry: &&Value| entry["state"] == "installed";
    assert_eq!(status["agents"].as_array().unwrap().iter().filter(installed).count(), 4, "{status}");
    sandbox.run(&["agent", "uninstall", "all", "--yes"]);
    assert_eq!(tree(&sandbox.root()), before);
}

#[test]
fn what_the_user_changed_meanwhile_stays() {
    let sandbox = wiki();
    let settings = sandbox.path(".claude/settings.json");
    let first = "{\n  \"a\": 1,\n  \"hooks\": {\n    \"SessionEnd\": [\n      {\"hooks\": [{\"command\": \"bye\"}]}\n    ]\n  }\n}\n";
    let edit = |from: &str, to: &str| {
        let text = fs::read_to_string(&settings).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(&settings, text.replacen(from, to, 1)).unwrap();
    };
    // Elsewhere in the file: only our part goes.
    put(&settings, first);
    sandbox.run(&["agent", "install", "claude", "--yes"]);
    edit("\"a\": 1,", "\"a\": 1,\n  \"b\": [2],");
    sandbox.run(&["agent", "uninstall", "claude", "--yes"]);
    assert_eq!(fs::read_to_string(&settings).unwrap(), first.replace("\"a\": 1,", "\"a\": 1,\n  \"b\": [2],"));
    // Right beside ours, and with another layout: what is not ours is still there.
    for reformat in [false, true] {
        put(&settings, first);
        sandbox.run(&["agent", "install", "claude", "--yes"]);
        let mut value: Value = serde_json::from_str(&fs::read_to_string(&settings).unwrap()).unwrap();
        for event in ["SessionStart", "SessionEnd", "PreCompact"] {
            let list = value["hooks"][event].as_array_mut().unwrap();
            list.push(json!({"hooks": [{"type": "command", "command": "after"}]}));
            list.insert(0, json!({"hooks": [{"type": "command", "command": "before"}]}));
        }
        let text = if reformat { value.to_string() } else { serde_json::to_string_pretty(&value).unwrap() };
        fs::write(&settings, text).unwrap();
        sandbox.run(&["agent", "uninstall", "claude", "--yes"]);
        let left: Value = serde_json::from_str(&fs::read_to_string(&settings).unwrap()).unwrap();
        let commands = |event: &str| -> Vec<String> {
            let groups = left["hooks"][event].as_array().unwrap();
            groups.iter().map(|group| group["hooks"][0]["command"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(commands("SessionStart"), ["before", "after"]);
        assert_eq!(commands("SessionEnd"), ["before", "bye", "after"]);
        assert_eq!(left["a"], 1);
    }
    // A file that was made by us and then used by others stays with what is theirs.
    fs::remove_file(&settings).unwrap();
    sandbox.run(&["agent", "install", "claude", "--yes"]);
    edit("{\n", "{\n  \"mine\": true,\n");
    sandbox.run(&["agent", "uninstall", "claude", "--yes"]);
    assert_eq!(serde_json::from_str::<Value>(&fs::read_to_string(&settings).unwrap()).unwrap(), json!({"mine": true}));
    // Text below our block.
    sandbox.write("CLAUDE.md", "# Mine\n");
    sandbox.run(&["agent", "install", "claude", "--yes"]);
    sandbox.write("CLAUDE.md", sandbox.read("CLAUDE.md") + "\nMore.\n");
    sandbox.run(&["agent", "uninstall", "claude", "--yes"]);
    assert_eq!(sandbox.read("CLAUDE.md"), "# Mine\n\nMore.\n");
}

#[test]
fn without_the_record_our_parts_are_still_known() {
    let sandbox = wiki();
    let config = sandbox.home().join(".codex/config.toml");
    put(&config, "model = \"o3\"\nnotify = [\"say\"]\n");
    sandbox.write(".claude/settings.json", "{\n  \"a\": 1\n}\n");
    sandbox.write("CLAUDE.md", "# Mine\n");
    let before = tree(&sandbox.root());
    sandbox.run(&["agent", "install", "all", "--yes"]);
    fs::remove_file(sandbox.path(".git/memory/agents.json")).unwrap();
    fs::remove_dir_all(sandbox.home().join(".local")).unwrap();
    sandbox.run(&["agent", "uninstall", "all", "--yes"]);
    let files = |tree: Vec<(PathBuf, u32, Vec<u8>)>| -> Vec<(PathBuf, String)> {
        let files = tree.into_iter().filter(|(path, ..)| path.is_file());
        files.map(|(path, _, bytes)| (path, String::from_utf8_lossy(&bytes).into_owned())).collect()
    };
    assert_eq!(files(tree(&sandbox.root())), files(before));
}

// ---- what is refused

#[test]
fn files_that_cannot_be_edited_are_named_with_their_line_and_nothing_changes() {
    let sandbox = wiki();
    let start = "<!-- git-memory:start -->";
    let end = "<!-- git-memory:end -->";
    let settings = sandbox.path(".claude/settings.json");
    let config = sandbox.home().join(".codex/config.toml");
    let instructions = sandbox.path("CLAUDE.md");
    for (agent, path, text, place) in [
        ("claude", &settings, "{\n  \"a\": 1\n  \"b\": 2\n}\n".to_owned(), "settings.json:2"),
        ("claude", &settings, "[]".to_owned(), "settings.json"),
        ("claude", &settings, "{\"hooks\": 3}".to_owned(), "settings.json"),
        ("claude", &settings, "{\"hooks\": {\"SessionEnd\": {}}}".to_owned(), "settings.json"),
        ("claude", &settings, "{\"hooks\": {}, \"hooks\": {}}".to_owned(), "settings.json"),
        ("claude", &instructions, format!("a\n{start}\nb\n"), "CLAUDE.md:2"),
        ("claude", &instructions, format!("{start}\n{start}\n{end}\n"), "CLAUDE.md:2"),
        ("claude", &instructions, format!("{end}\n{start}\n"), "CLAUDE.md:1"),
        ("claude", &instructions, "```\nnever closed\n".to_owned(), "CLAUDE.md"),
        ("codex", &config, "a = \n".to_owned(), "config.toml:1"),
        ("codex", &config, "a = 1\nnotify = \"say\"\n".to_owned(), "config.toml:2"),
    ] {
        put(path, &text);
        let before = tree(&sandbox.root());
        for action in ["install", "uninstall"] {
            if action == "uninstall" && text.starts_with("```") {
                continue;
            }
            let (_, err) = sandbox.fails(1, &["agent", action, agent, "--yes"]);
            assert!(err.contains(place) && err.contains("nothing was changed"), "{err}");
            assert_eq!(tree(&sandbox.root()), before);
        }
        fs::remove_file(path).unwrap();
    }
    fs::write(&settings, b"{\"a\": \"\xff\"}").unwrap();
    assert!(sandbox.fails(1, &["agent", "install", "claude", "--yes"]).1.contains("no UTF-8"));
    fs::remove_file(&settings).unwrap();
    let skill = sandbox.path(".claude/skills/git-memory/SKILL.md");
    put(&skill, "# Mine\n");
    assert!(sandbox.fails(1, &["agent", "install", "claude", "--yes", "--force"]).1.contains("not of git-memory"));
    assert!(!settings.exists());
}

#[test]
fn without_an_answer_only_the_diff_is_shown() {
    let sandbox = wiki();
    sandbox.write(".claude/settings.json", "{\n  \"a\": 1\n}\n");
    let before = tree(&sandbox.root());
    let diff = sandbox.run(&["agent", "install", "claude", "--dry-run"]);
    assert!(diff.contains("-  \"a\": 1\n+  \"a\": 1,\n") && diff.contains("+++ "), "{diff}");
    let (shown, err) = sandbox.fails(1, &["agent", "install", "claude"]);
    assert_eq!(shown, diff);
    assert!(err.contains("--yes"), "{err}");
    sandbox.json_error(1, &["agent", "install", "claude"]);
    let dry = sandbox.json(&["agent", "install", "claude", "--dry-run"]);
    assert_eq!((dry["written"].clone(), dry["diff"].as_str().unwrap()), (json!(false), diff.as_str()));
    assert_eq!(tree(&sandbox.root()), before);
    assert!(!sandbox.path(".git/memory/agents.json").exists());
}

#[test]
fn what_was_edited_by_hand_is_replaced_only_when_that_is_asked_for() {
    let sandbox = wiki();
    sandbox.run(&["agent", "install", "claude", "--yes"]);
    sandbox.write("CLAUDE.md", sandbox.read("CLAUDE.md").replace("Never accept", "Always accept"));
    assert_eq!(state(&sandbox, "claude", "--project"), "modified");
    sandbox.fails(1, &["agent", "status", "claude"]);
    for action in ["install", "uninstall"] {
        assert!(sandbox.fails(1, &["agent", action, "claude", "--yes"]).1.contains("--force"));
    }
    sandbox.run(&["agent", "install", "claude", "--yes", "--force"]);
    assert_eq!(state(&sandbox, "claude", "--project"), "installed");
    sandbox.run(&["agent", "uninstall", "claude", "--yes"]);
    assert!(!sandbox.path("CLAUDE.md").exists() && !sandbox.path(".claude").exists());
}

// ---- places

#[test]
fn a_link_is_written_through_and_keeps_the_mode_of_its_file() {
    let sandbox = wiki();
    let dotfiles = sandbox.root().join("dotfiles");
    put(&dotfiles.join("claude.json"), "{}\n");
    fs::set_permissions(dotfiles.join("claude.json"), fs::Permissions::from_mode(0o600)).unwrap();
    let link = sandbox.home().join(".claude/settings.json");
    symlink(dotfiles.join("claude.json"), &link).unwrap();
    sandbox.run(&["agent", "install", "claude", "--user", "--yes"]);
    assert!(link.symlink_metadata().unwrap().is_symlink());
    let file = dotfiles.join("claude.json");
    assert!(fs::read_to_string(&file).unwrap().contains("session-start"));
    assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o600);
    assert_eq!(fs::read_dir(&dotfiles).unwrap().count(), 1, "nothing is left beside it");
    sandbox.run(&["agent", "uninstall", "claude", "--user", "--yes"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), "{}\n");
    fs::remove_file(&file).unwrap();
    assert!(sandbox.fails(1, &["agent", "install", "claude", "--user", "--yes"]).1.contains("leads nowhere"));
}

#[test]
fn all_means_the_agents_that_are_there_and_a_named_one_is_always_meant() {
    let mut sandbox = Sandbox::new();
    sandbox.now = None;
    fs::create_dir(sandbox.home().join(".codex")).unwrap();
    sandbox.write(".cursor/rules/x.mdc", "x");
    let changed = sandbox.json(&["agent", "install", "all", "--yes"]);
    assert_eq!(changed["skipped"], json!(["claude", "opencode"]));
    assert!(sandbox.path("AGENTS.md").exists() && sandbox.path(".cursor/hooks.json").exists());
    assert!(!sandbox.path("CLAUDE.md").exists());
    sandbox.run(&["agent", "install", "claude", "--yes"]);
    assert!(sandbox.path("CLAUDE.md").exists());
    // Outside of a repository the user's own files are meant.
    let mut bare = Sandbox::bare_folder();
    bare.now = None;
    assert_eq!(bare.json(&["agent", "install", "claude", "--yes"])["place"], "user");
    assert!(bare.home().join(".claude/CLAUDE.md").exists());
    bare.fails(128, &["agent", "install", "claude", "--project", "--yes"]);
    bare.git(&["init", "-q", "--bare"]);
    bare.fails(128, &["agent", "install", "claude", "--project", "--yes"]);
}

#[test]
fn what_two_agents_or_two_projects_share_stays_until_the_last_one_goes() {
    let mut sandbox = wiki();
    let config = sandbox.home().join(".codex/config.toml");
    sandbox.run(&["agent", "install", "codex,opencode", "--yes"]);
    let first = sandbox.dir.clone();
    sandbox.dir = sandbox.root().join("second");
    fs::create_dir(&sandbox.dir).unwrap();
    sandbox.git(&["init", "-q"]);
    sandbox.run(&["agent", "install", "codex", "--yes"]);
    sandbox.dir = first;
    let said = sandbox.run(&["agent", "uninstall", "codex", "--yes"]);
    assert!(said.contains("kept, used by codex in "), "{said}");
    assert!(sandbox.path("AGENTS.md").exists() && config.exists());
    assert_eq!(state(&sandbox, "codex", "--project"), "installed", "all of it is still there for the others");
    assert_eq!(state(&sandbox, "opencode", "--project"), "installed");
    sandbox.run(&["agent", "uninstall", "opencode", "--yes"]);
    assert!(!sandbox.path("AGENTS.md").exists() && !sandbox.path(".agents").exists());
    assert!(config.exists());
    sandbox.dir = sandbox.root().join("second");
    sandbox.run(&["agent", "uninstall", "codex", "--yes"]);
    assert!(!config.exists());
}

#[test]
fn opencode_does_not_lose_the_instructions_that_it_reads() {
    let sandbox = wiki();
    sandbox.write("CLAUDE.md", "# Mine\n");
    sandbox.run(&["agent", "install", "opencode", "--yes"]);
    assert!(!sandbox.path("AGENTS.md").exists());
    assert!(sandbox.read("CLAUDE.md").contains("git-memory:start"));
    assert_eq!(state(&sandbox, "opencode", "--project"), "installed");
    sandbox.run(&["agent", "uninstall", "opencode", "--yes"]);
    assert_eq!(sandbox.read("CLAUDE.md"), "# Mine\n");
}

#[test]
fn a_template_of_the_users_is_taken_and_what_came_before_it_is_outdated() {
    let sandbox = wiki();
    sandbox.run(&["agent", "install", "claude", "--yes"]);
    put(&sandbox.home().join(".config/git-memory/templates/instructions.md"), "Ask Ada.\n");
    assert_eq!(state(&sandbox, "claude", "--project"), "outdated");
    sandbox.fails(4, &["agent", "status", "claude"]);
    sandbox.run(&["agent", "install", "claude", "--yes"]);
    assert!(sandbox.read("CLAUDE.md").contains("\nAsk Ada.\n"));
    assert_eq!(state(&sandbox, "claude", "--project"), "installed");
    sandbox.run(&["agent", "uninstall", "claude", "--yes"]);
    assert!(!sandbox.path("CLAUDE.md").exists());
}

// ---- run as the agents run it

/// The program in a folder whose name needs quoting, found first on PATH.
fn elsewhere(sandbox: &mut Sandbox) -> PathBuf {
    let folder = sandbox.root().join("my $bin's");
    fs::create_dir(&folder).unwrap();
    symlink(BIN, folder.join("git-memory")).unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    sandbox.env.push(("PATH".into(), format!("{}:{path}", folder.display())));
    folder.join("git-memory")
}

/// Claude Code's file of a session with one prompt.
fn session(sandbox: &Sandbox, id: &str) -> PathBuf {
    let path = sandbox.home().join(format!(".claude/projects/shop/{id}.jsonl"));
    let line = |n: u32, role: &str, content: Value| {
        json!({"type": role, "uuid": format!("{id}-{n}"), "parentUuid": null, "sessionId": id, "cwd": sandbox.dir,
               "version": "2.1.0", "timestamp": format!("2026-03-01T12:00:0{n}Z"), "isSidechain": false,
               "message": {"role": role, "content": content}})
        .to_string()
    };
    let answer = json!([{"type": "text", "text": "Done."}]);
    put(&path, &format!("{}\n{}\n", line(1, "user", json!("Use pnpm here")), line(2, "assistant", answer)));
    path
}

fn sessions(sandbox: &Sandbox) -> usize {
    sandbox.refs("refs/memory/sessions/").lines().count()
}

/// The command of a hook in Claude Code's settings.
fn command(settings: &Path, event: &str) -> String {
    let value: Value = serde_json::from_str(&fs::read_to_string(settings).unwrap()).unwrap();
    value["hooks"][event][0]["hooks"][0]["command"].as_str().unwrap().to_owned()
}

/// Runs a hook's command with this input; how long it took, and what it printed.
fn fire(sandbox: &Sandbox, folder: &Path, line: &str, input: &Value) -> (Duration, String) {
    let start = Instant::now();
    let mut child = sandbox
        .program("sh")
        .args(["-c", line])
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), input.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    (start.elapsed(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn claudes_hooks_capture_its_session_without_keeping_it_waiting() {
    for place in ["--project", "--user"] {
        let mut sandbox = wiki();
        let program = elsewhere(&mut sandbox);
        sandbox.run(&["agent", "install", "claude", place, "--yes"]);
        let folder = if place == "--user" { sandbox.home() } else { sandbox.dir.clone() };
        let settings = folder.join(".claude/settings.json");
        for (nth, event) in ["SessionEnd", "PreCompact"].into_iter().enumerate() {
            let id = format!("00000000-0000-4000-8000-00000000000{nth}");
            let path = session(&sandbox, &id);
            let input =
                json!({"session_id": id, "transcript_path": path, "cwd": sandbox.dir, "hook_event_name": event});
            let line = command(&settings, event);
            assert_eq!(line.contains("my $bin"), place == "--user", "{line}");
            let (_, out) = fire(&sandbox, Path::new("/"), &line, &input);
            assert_eq!(out, "");
            wait_for("the session", || sessions(&sandbox) == nth + 1);
        }
        // Without the program the agent is not disturbed either, and status tells.
        fs::remove_file(program).unwrap();
        if place == "--user" {
            let line = command(&settings, "SessionEnd");
            let output = sandbox.program("sh").args(["-c", &line]).stdin(Stdio::null()).output().unwrap();
            assert!(output.status.success());
            sandbox.env.clear();
            assert_eq!(state(&sandbox, "claude", "--user"), "broken");
            sandbox.run(&["agent", "install", "claude", "--user", "--yes"]);
            assert_eq!(state(&sandbox, "claude", "--user"), "installed");
        } else {
            let tools = std::env::var("PATH").unwrap_or_default();
            sandbox.env.push(("PATH".into(), tools));
            assert_eq!(state(&sandbox, "claude", "--project"), "broken");
        }
    }
}

#[test]
fn a_capture_in_the_background_outlives_the_group_of_its_hook() {
    use std::os::unix::process::CommandExt;
    let sandbox = wiki();
    sandbox.run(&["agent", "install", "claude", "--yes"]);
    let id = "00000000-0000-4000-8000-000000000009";
    let path = session(&sandbox, id);
    let line = command(&sandbox.path(".claude/settings.json"), "SessionEnd");
    let mut hook = sandbox.program("sh");
    let mut child =
        hook.args(["-c", &format!("{line}; sleep 60")]).process_group(0).stdin(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    // The hook is killed while the capture still waits for its input.
    std::thread::sleep(Duration::from_millis(1500));
    let killed = sandbox.program("kill").args(["-9", "--", &format!("-{}", child.id())]).status().unwrap();
    assert!(killed.success());
    child.wait().unwrap();
    let input = json!({"session_id": id, "transcript_path": path, "cwd": sandbox.dir, "hook_event_name": "SessionEnd"});
    std::io::Write::write_all(&mut pipe, input.to_string().as_bytes()).unwrap();
    drop(pipe);
    wait_for("the session", || sessions(&sandbox) == 1);
}

#[test]
fn a_session_begins_with_what_the_wiki_knows() {
    let sandbox = wiki();
    sandbox.run(&["agent", "install", "claude,cursor", "--yes"]);
    sandbox
        .write("docs/memory/_rules/pnpm.md", "---\ntitle: Always use pnpm\n---\n\n# Always use pnpm\n\nNever npm.\n");
    sandbox.write("docs/memory/gotchas/openssl.md", "# Export OPENSSL_DIR\n\nBefore cargo test.\n");
    sandbox.commit("Pages");
    let line = command(&sandbox.path(".claude/settings.json"), "SessionStart");
    let input = json!({"session_id": "x", "cwd": sandbox.path("docs"), "hook_event_name": "SessionStart"});
    let (_, out) = fire(&sandbox, Path::new("/"), &line, &input);
    for part in
        ["2 pages on branch main, in docs/memory", "Always use pnpm", "Never npm.", "gotchas/openssl.md (5): Export"]
    {
        assert!(out.contains(part), "no {part:?} in {out}");
    }
    assert!(out.lines().count() <= 30, "{out}");
    // The command that it names finds the page.
    let search = out.lines().find_map(|line| line.split_once("known: ")).unwrap().1.replace("WORDS", "openssl_dir");
    let found = sandbox.program("sh").args(["-c", &search]).current_dir(sandbox.path("docs")).output().unwrap();
    assert!(String::from_utf8_lossy(&found.stdout).contains("gotchas/openssl.md"), "{search}");
    let read = out.lines().find_map(|line| line.strip_prefix("Read a page: ")).unwrap();
    let read = read.replace("PATH", "gotchas/openssl.md");
    let page = sandbox.program("sh").args(["-c", &read]).output().unwrap();
    assert!(String::from_utf8_lossy(&page.stdout).contains("Before cargo test."), "{read}");
    assert_eq!(sandbox.json(&["session-start"])["rules"][0]["text"], "# Always use pnpm\n\nNever npm.");

    // Cursor takes JSON, and names its folders otherwise.
    let hooks: Value = serde_json::from_str(&sandbox.read(".cursor/hooks.json")).unwrap();
    assert_eq!(hooks["version"], 1);
    let line = hooks["hooks"]["sessionStart"][0]["command"].as_str().unwrap();
    let input = json!({"conversation_id": "x", "workspace_roots": [sandbox.dir], "cursor_version": "2.4.0"});
    let (_, out) = fire(&sandbox, Path::new("/"), line, &input);
    let value: Value = serde_json::from_str(&out).unwrap();
    assert!(value["additional_context"].as_str().unwrap().contains("Always use pnpm"));

    // Where no wiki is, nothing is said.
    let (_, out) = fire(&Sandbox::new(), &sandbox.root(), "git-memory session-start --hook", &json!({}));
    assert_eq!(out, "");
    Sandbox::new().fails(128, &["session-start"]);
}

#[test]
fn codexs_notify_captures_and_starts_the_program_that_was_notified_before() {
    let sandbox = wiki();
    let (log, script) = (sandbox.root().join("log"), sandbox.root().join("told me.sh"));
    put(&script, &format!("#!/bin/sh\nprintf '%s\\n' \"$@\" >'{}'\n", log.display()));
    let config = sandbox.home().join(".codex/config.toml");
    put(&config, &format!("notify = [\"sh\", '{}', \"-x\"]\n", script.display()));
    sandbox.run(&["agent", "install", "codex", "--yes"]);
    let table: toml::Table = fs::read_to_string(&config).unwrap().parse().unwrap();
    let words: Vec<&str> = table["notify"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    // The session that is told of is in no file that is known: what Codex wrote anew in the project is captured.
    let meta = json!({"timestamp": "2026-03-01T10:00:00Z", "type": "session_meta", "payload": {"id": "t", "cwd": sandbox.dir}});
    let prompt = json!({"timestamp": "2026-03-01T10:00:01Z", "type": "event_msg",
                        "payload": {"type": "user_message", "message": "use pnpm"}});
    put(&sandbox.home().join(".codex/sessions/2026/03/01/rollout-t.jsonl"), &format!("{meta}\n{prompt}\n"));
    session(&sandbox, "00000000-0000-4000-8000-000000000005");
    let told = json!({"type": "agent-turn-complete", "thread-id": "b5f6c1c2-1111-2222-3333-444455556666", "turn-id": "1",
                      "cwd": sandbox.dir, "input-messages": ["say \"hi\""], "last-assistant-message": "- done"});
    let status = sandbox.program(words[0]).args(&words[1..]).arg(told.to_string()).stdin(Stdio::null()).status();
    assert!(status.unwrap().success());
    wait_for("the session", || sessions(&sandbox) == 1);
    wait_for("the program before", || fs::read_to_string(&log).is_ok_and(|text| text.ends_with("}\n")));
    assert_eq!(fs::read_to_string(&log).unwrap(), format!("-x\n{told}\n"));
}

/// A session in OpenCode's own folder, with one prompt.
fn opencode_session(sandbox: &Sandbox, id: &str) {
    let storage = sandbox.home().join(".local/share/opencode/storage");
    let time = json!({"created": 1_772_359_201_000_u64, "updated": 1_772_359_202_000_u64});
    let file = |path: String, value: Value| put(&storage.join(path), &value.to_string());
    let session = json!({"id": id, "title": "t", "version": "1.1.0", "directory": sandbox.dir, "time": time});
    file(format!("session/p/{id}.json"), session);
    let message = json!({"id": format!("msg_{id}"), "sessionID": id, "role": "user", "time": time});
    file(format!("message/{id}/msg_{id}.json"), message);
    let part = json!({"id": format!("prt_{id}"), "messageID": format!("msg_{id}"), "sessionID": id, "type": "text", "text": "Use pnpm"});
    file(format!("part/msg_{id}/prt_{id}.json"), part);
}

#[test]
fn opencodes_plugin_captures_after_a_turn() {
    let sandbox = wiki();
    if sandbox.program("node").arg("--version").output().is_err() {
        eprintln!("skipped: there is no node");
        return;
    }
    sandbox.run(&["agent", "install", "opencode", "--yes"]);
    let plugin = sandbox.path(".opencode/plugins/git-memory.js");
    let module = sandbox.root().join("plugin.mjs");
    fs::copy(plugin, &module).unwrap();
    for (nth, body) in [
        // As OpenCode 1 calls it.
        "const hooks = await plugin.server({ directory });
         await hooks.event({ event: { type: 'session.updated', properties: {} } });
         await hooks.event({ event: { type: 'session.idle', properties: { sessionID: 'ses_1' } } });",
        // As OpenCode 2 calls it.
        "plugin.setup({
           event: { async *subscribe() { yield { type: 'session.execution.succeeded', data: { sessionID: 'ses_2' } } } },
           session: { get: async () => ({ location: { directory } }) },
         })",
    ]
    .into_iter()
    .enumerate()
    {
        opencode_session(&sandbox, &format!("ses_{}", nth + 1));
        let (module, folder) = (json!(module), json!(sandbox.dir));
        let driver = format!("const plugin = (await import({module})).default; const directory = {folder};\n{body}");
        let output = sandbox.program("node").args(["--input-type=module", "-e", &driver]).current_dir("/").output();
        let output = output.unwrap();
        assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
        wait_for("the session", || sessions(&sandbox) == nth + 1);
    }
}
