//! A wiki with proposals, and the loop that each place has to go through.

#![allow(dead_code)]

use serde_json::{Value, json};

use super::common::Sandbox;

/// A page of two sections.
pub const PAGE: &str = "# Names\n\n## One\n\nFirst text.\n\n## Two\n\nSecond text.\n";

/// A small page.
pub const Z: &str = "# Use -z\n\nNames hold newlines.\n";

/// A wiki on the branch that is checked out.
pub fn wiki() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.run(&["init", "--no-hooks"]);
    sandbox
}

/// A wiki with [`PAGE`] as `notes/names.md`.
pub fn with_page() -> Sandbox {
    let sandbox = wiki();
    sandbox.write("notes/names.md", PAGE);
    sandbox.commit("Write a page");
    sandbox
}

/// What `propose` answers, whatever its exit code.
pub fn proposing(sandbox: &Sandbox, path: &str, text: &str) -> Value {
    let mut command = sandbox.memory(&["propose", "--rationale", "It came up twice.", "--json", "--", path]);
    let output = command.write_stdin(text).output().expect("the binary starts");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

/// Proposes a page's text; returns the id.
pub fn propose(sandbox: &Sandbox, path: &str, text: &str) -> String {
    let value = proposing(sandbox, path, text);
    assert_eq!(value["results"][0]["outcome"], "staged", "{value}");
    value["results"][0]["id"].as_str().expect("an id").to_owned()
}

/// Proposes to append to a section; returns the id.
pub fn append(sandbox: &Sandbox, path: &str, anchor: &str, text: &str) -> String {
    let line = json!({ "path": path, "title": format!("More of {anchor}"), "rationale": "It came up.",
        "operation": "update", "edits": [{ "op": "append", "anchor": anchor, "content": text }] });
    sandbox.write(&sandbox.root().join("one.jsonl").display().to_string(), format!("{line}\n"));
    let value = sandbox.json(&["propose", "--batch", &sandbox.root().join("one.jsonl").display().to_string()]);
    value["results"][0]["id"].as_str().unwrap_or_else(|| panic!("{value}")).to_owned()
}

/// Where a proposal stands.
pub fn status(sandbox: &Sandbox, id: &str) -> String {
    let value = sandbox.json(&["show", id]);
    value["proposal"]["status"].as_str().expect("a status").to_owned()
}

/// Propose, accept, revert, reopen, accept, and what history must look like. `wiki` is where git looks at the result,
/// `branch` the wiki's branch, `root` the wiki's folder in it (with its `/`, or empty).
pub fn the_loop(sandbox: &Sandbox, wiki: &Sandbox, branch: &str, root: &str) -> String {
    let id = propose(sandbox, "gotchas/z.md", Z);
    let page = format!("{root}gotchas/z.md");
    let holds = || wiki.tree(branch).contains(&page);
    let start = wiki.rev(branch);
    let reviewed = wiki.rev(&format!("refs/memory/pending/{id}:{page}"));
    sandbox.run(&["accept", &id]);
    assert_eq!(wiki.rev(&format!("{branch}:{page}")), reviewed, "what was reviewed is what landed");
    assert_eq!(wiki.rev(&format!("{branch}^1")), start);
    assert_eq!(status(sandbox, &id), "accepted");
    sandbox.run(&["revert", &id, "--reason", "It is wrong."]);
    assert!(!holds());
    assert_eq!(
        wiki.rev(&format!("{branch}^{{tree}}")),
        wiki.rev(&format!("{start}^{{tree}}")),
        "the old bytes are back"
    );
    sandbox.run(&["reopen", &id]);
    assert_eq!(status(sandbox, &id), "pending");
    sandbox.run(&["accept", &id]);
    assert!(holds(), "accepting it again is no silent nothing");
    assert_eq!(wiki.rev(&format!("{branch}:{page}")), reviewed);
    let log = wiki.git(&["log", "--first-parent", "--format=%P", &format!("{start}..{branch}")]);
    let parents: Vec<usize> = log.lines().map(|line| line.split(' ').count()).collect();
    assert_eq!(parents, [2, 1, 2], "merge, revert, merge");
    assert_eq!(wiki.refs(&format!("refs/memory/pending/{id}")), "");
    wiki.fsck();
    id
}

/// Runs the binary, which must end with this exit code, say this word, and change nothing that git shows.
pub fn refused(sandbox: &Sandbox, code: i32, args: &[&str], word: &str) {
    let before = sandbox.state();
    let (out, err) = sandbox.fails(code, args);
    assert!(err.contains(word) || out.contains(word), "{word:?} in {args:?}: {out}{err}");
    assert_eq!(sandbox.state(), before, "{args:?} changed something");
}

/// Puts a commit with what `work` does onto a pending branch, as a push would.
pub fn push_onto(sandbox: &Sandbox, id: &str, work: impl FnOnce(&Sandbox)) {
    let name = format!("refs/memory/pending/{id}");
    sandbox.git(&["worktree", "add", "-q", "--detach", "../pushed", &name]);
    let mut other = Sandbox::bare_folder();
    other.dir = sandbox.root().join("pushed");
    other.now = sandbox.now.clone();
    work(&other);
    let tip = other.git(&["rev-parse", "HEAD"]);
    sandbox.git(&["update-ref", &name, &tip]);
    sandbox.git(&["worktree", "remove", "--force", "../pushed"]);
}

/// Whether the tests run as root, which may mount and look away from permissions.
pub fn is_root(sandbox: &Sandbox) -> bool {
    sandbox.program("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}
