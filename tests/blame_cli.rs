//! `git memory blame`: where each line of a page comes from, on real histories.

mod common;
#[path = "matrix/scene.rs"]
mod scene;

use common::Sandbox;
use scene::*;
use serde_json::Value;

/// Where a line comes from.
fn source<'b>(blame: &'b Value, text: &str) -> &'b Value {
    let lines = blame["lines"].as_array().expect("lines");
    let line = lines.iter().find(|line| line["text"] == text).unwrap_or_else(|| panic!("no line {text:?} in {blame}"));
    &blame["sources"][line["source"].as_u64().expect("a place") as usize]
}

/// Proposes a page's text with evidence; returns the id.
fn propose_with(sandbox: &Sandbox, path: &str, text: &str, evidence: &str) -> String {
    let args = ["propose", path, "--rationale", "It came up.", "--evidence", evidence, "--json"];
    let output = sandbox.memory(&args).write_stdin(text).output().expect("starts");
    let value: Value = serde_json::from_slice(&output.stdout).expect("json");
    value["results"][0]["id"].as_str().unwrap_or_else(|| panic!("{value}")).to_owned()
}

#[test]
fn each_line_names_its_proposal_with_evidence_and_approver_or_the_person_who_committed_it() {
    let sandbox = with_page();
    let person = sandbox.rev("main");
    let id = propose_with(&sandbox, "notes/names.md", &PAGE.replace("First", "Better"), "notes/names.md=Second text.");
    sandbox.run(&["accept", &id]);
    let landing = sandbox.rev("main");

    let blame = sandbox.json(&["blame", "notes/names.md"]);
    assert_eq!(blame["commit"], landing);
    let text: Vec<&str> = blame["lines"].as_array().expect("lines").iter().filter_map(|l| l["text"].as_str()).collect();
    assert_eq!(text.join("\n") + "\n", sandbox.read("notes/names.md"));

    let better = source(&blame, "Better text.");
    assert_eq!(better["commit"], sandbox.rev("main^2"), "the change commit wrote it");
    let origin = &better["proposals"][0];
    assert_eq!((&origin["id"], &origin["landing"]), (&id.as_str().into(), &landing.as_str().into()), "{better}");
    assert_eq!((&origin["decision"], &origin["policy"]), (&"accepted".into(), &"manual".into()));
    assert_eq!(origin["approved_by"], "Ada Tester <ada@example.com>");
    assert_eq!(origin["evidence"][0]["quote"], "Second text.");
    assert_eq!(origin["evidence"][0]["source"], "notes/names.md");
    assert_eq!((&origin["status"], &better["edited"]), (&"accepted".into(), &false.into()));

    let second = source(&blame, "Second text.");
    assert_eq!((&second["commit"], &second["proposals"]), (&person.as_str().into(), &serde_json::json!([])));
    assert_eq!(second["author"], "Ada Tester <ada@example.com>");

    let shown = sandbox.run(&["blame", "notes/names.md"]);
    let line = shown.lines().find(|line| line.ends_with("Better text.")).expect("the line");
    assert!(line.starts_with(&id[..8]) && line.contains("Ada Tester") && line.contains("2026-03-01"), "{line}");
    assert!(shown.contains("“Second text.”") && shown.contains("without a proposal"), "{shown}");
    assert_eq!(sandbox.run(&["blame", "-q", "notes/names.md"]).lines().count(), text.len());
}

#[test]
fn a_page_that_was_renamed_keeps_where_its_lines_come_from() {
    let sandbox = wiki();
    let id = propose(&sandbox, "gotchas/z.md", Z);
    sandbox.run(&["accept", &id]);
    sandbox.git(&["mv", "gotchas/z.md", "notes/a name.md"]);
    sandbox.commit("Move it");
    let blame = sandbox.json(&["blame", "notes/a name.md"]);
    let line = source(&blame, "Names hold newlines.");
    assert_eq!((&line["proposals"][0]["id"], &line["path"]), (&id.as_str().into(), &"gotchas/z.md".into()));
    let porcelain = sandbox.run(&["blame", "--porcelain", "notes/a name.md"]);
    assert!(porcelain.contains("filename gotchas/z.md\n"), "{porcelain}");
}

#[test]
fn what_a_revert_brought_back_is_traced_to_who_wrote_it() {
    let sandbox = with_page();
    let person = sandbox.rev("main");
    let id = propose(&sandbox, "notes/names.md", &PAGE.replace("First", "Better"));
    sandbox.run(&["accept", &id]);
    sandbox.run(&["revert", &id, "--reason", "It is wrong."]);
    let reversal = sandbox.rev("main");
    let blame = sandbox.json(&["blame", "notes/names.md"]);
    let first = source(&blame, "First text.");
    assert_eq!((&first["commit"], &first["proposals"]), (&person.as_str().into(), &serde_json::json!([])), "{first}");
    let restored = &first["restored"];
    assert_eq!((&restored["commit"], &restored["proposal"]), (&reversal.as_str().into(), &id.as_str().into()));
    assert!(source(&blame, "Second text.")["restored"].is_null());

    sandbox.run(&["reopen", &id]);
    sandbox.run(&["accept", &id]);
    let again = sandbox.rev("main");
    let blame = sandbox.json(&["blame", "notes/names.md"]);
    let better = source(&blame, "Better text.");
    assert_eq!((&better["proposals"][0]["landing"], &better["restored"]), (&again.as_str().into(), &Value::Null));

    // A revert by hand, and the revert of that.
    sandbox.git(&["revert", "--no-edit", "-m", "1", "HEAD"]);
    sandbox.git(&["revert", "--no-edit", "HEAD"]);
    let blame = sandbox.json(&["blame", "notes/names.md"]);
    let better = source(&blame, "Better text.");
    assert_eq!(better["proposals"][0]["id"], id, "{better}");
    assert_eq!(better["restored"]["commit"], sandbox.rev("main"));
    assert!(better["restored"]["proposal"].is_null());
}

#[test]
fn a_squashed_landing_is_the_commit_of_its_lines() {
    let sandbox = wiki();
    sandbox.git(&["config", "memory.accept.style", "squash"]);
    let id = propose_with(&sandbox, "gotchas/z.md", Z, "README.md=# Project");
    sandbox.run(&["accept", &id]);
    let line = sandbox.json(&["blame", "gotchas/z.md"]);
    let line = source(&line, "Names hold newlines.");
    assert_eq!(
        (&line["commit"], &line["proposals"][0]["landing"]),
        (&line["proposals"][0]["landing"], &sandbox.rev("main").into())
    );
    assert_eq!(line["proposals"][0]["approved_by"], "Ada Tester <ada@example.com>");
    assert_eq!(line["proposals"][0]["id"], id);
}

#[test]
fn lines_that_a_person_wrote_on_the_proposals_branch_say_so() {
    let sandbox = wiki();
    let id = propose(&sandbox, "gotchas/z.md", Z);
    push_onto(&sandbox, &id, |tree| {
        tree.write("gotchas/z.md", format!("{Z}\nAnd tabs.\n"));
        tree.git(&["-c", "user.name=Bob", "-c", "user.email=bob@example.com", "commit", "-qam", "Say more"]);
    });
    sandbox.run(&["accept", &id]);
    let blame = sandbox.json(&["blame", "gotchas/z.md"]);
    let tabs = source(&blame, "And tabs.");
    assert_eq!((&tabs["edited"], &tabs["author"]), (&true.into(), &"Bob <bob@example.com>".into()), "{tabs}");
    assert_eq!(tabs["proposals"][0]["id"], id);
    assert_eq!(tabs["proposals"][0]["landing"], sandbox.rev("main"));
    assert_eq!(source(&blame, "Names hold newlines.")["edited"], false);
}

/// Two proposals for one page that a forge landed as one commit, with the messages of both.
fn squashed_by_a_forge() -> (Sandbox, String, String) {
    let sandbox = with_page();
    let one = append(&sandbox, "notes/names.md", "One", "Of the first.");
    let two = append(&sandbox, "notes/names.md", "Two", "Of the second.");
    let mut message = String::from("Two lessons (#7)\n");
    sandbox.git(&["checkout", "-q", "--detach"]);
    for id in [&one, &two] {
        let tip = format!("refs/memory/pending/{id}");
        message.push_str(&format!("\n* {}\n", sandbox.git(&["log", "-1", "--format=%B", &tip])));
        sandbox.git(&["merge", "-q", "--no-edit", &tip]);
    }
    let tree = sandbox.rev("HEAD^{tree}");
    let squash = sandbox.git(&["commit-tree", "-p", "main", "-m", &message, &tree]);
    sandbox.git(&["checkout", "-q", "main"]);
    sandbox.git(&["reset", "-q", "--hard", &squash]);
    (sandbox, one, two)
}

#[test]
fn proposals_that_a_forge_squashed_into_one_commit_are_told_apart_by_the_ledger() {
    let (sandbox, one, two) = squashed_by_a_forge();
    let ids = |blame: &Value, text: &str| -> Vec<String> {
        let proposals = source(blame, text)["proposals"].as_array().expect("proposals").clone();
        proposals.iter().filter_map(|origin| origin["id"].as_str().map(str::to_owned)).collect()
    };
    let blame = sandbox.json(&["blame", "notes/names.md"]);
    assert_eq!(ids(&blame, "Of the first."), [one.as_str()]);
    assert_eq!(ids(&blame, "Of the second."), [two.as_str()]);
    // Without the ledger it cannot be told which of the two, and that is what is said.
    sandbox.git(&["update-ref", "-d", "refs/memory/log"]);
    let blame = sandbox.json(&["blame", "notes/names.md"]);
    assert_eq!(ids(&blame, "Of the first."), [one, two]);
}

#[test]
fn a_plain_clone_has_proposals_evidence_and_approvers_from_the_messages() {
    let sandbox = with_page();
    let id = propose_with(&sandbox, "gotchas/z.md", Z, "notes/names.md=Second text.");
    sandbox.run(&["accept", &id]);
    sandbox.git(&["clone", "-q", ".", "../clone"]);
    let mut clone = Sandbox::bare_folder();
    clone.dir = sandbox.root().join("clone");
    let blame = clone.json(&["blame", "gotchas/z.md"]);
    let origin = &source(&blame, "Names hold newlines.")["proposals"][0];
    assert_eq!((&origin["id"], &origin["status"]), (&id.as_str().into(), &Value::Null));
    assert_eq!(origin["evidence"][0]["quote"], "Second text.");
    assert_eq!(origin["evidence"][0]["source"], "notes/names.md");
    assert_eq!(origin["approved_by"], "Ada Tester <ada@example.com>");
    assert!(clone.run(&["blame", "gotchas/z.md"]).contains("“Second text.”"));
}

#[test]
fn a_page_is_named_from_the_wikis_root_or_the_repositorys_top_and_at_any_commit() {
    let sandbox = Sandbox::new();
    sandbox.run(&["init", "--no-hooks", "--root", "docs/memory"]);
    let id = propose(&sandbox, "gotchas/z.md", Z);
    sandbox.run(&["accept", &id]);
    let by_root = sandbox.json(&["blame", "gotchas/z.md"]);
    assert_eq!(by_root["page"], "gotchas/z.md");
    assert_eq!(sandbox.json(&["blame", "docs/memory/gotchas/z.md"]), by_root);
    assert_eq!(sandbox.json(&["-C", "docs", "blame", "./gotchas/z.md"]), by_root);
    assert_eq!(source(&by_root, "# Use -z")["path"], "gotchas/z.md");
    sandbox.git(&["rm", "-q", "docs/memory/gotchas/z.md"]);
    sandbox.commit("Take it away");
    assert_eq!(sandbox.json(&["blame", "gotchas/z.md", "--at", "HEAD~1"]), by_root);
    assert_eq!(sandbox.json_error(1, &["blame", "gotchas/z.md"])["code"], "no_such_page");
    let (_, err) = sandbox.fails(1, &["blame", "--", "-x.md"]);
    assert!(err.contains("no page `-x.md`"), "{err}");
    assert_eq!(sandbox.json_error(1, &["blame", "gotchas"])["code"], "no_such_page");
    assert_eq!(sandbox.json_error(1, &["blame", "gotchas/z.md", "--at=--all"])["code"], "unknown_revision");
}

#[test]
fn a_bare_repository_is_blamed_and_nothing_is_written_but_the_cache() {
    let sandbox = Sandbox::bare_folder();
    sandbox.git(&["init", "-q", "--bare"]);
    sandbox.run(&["init", "--no-hooks"]);
    let id = propose(&sandbox, "gotchas/z.md", Z);
    sandbox.run(&["accept", &id]);
    let before = sandbox.state();
    let blame = sandbox.json(&["blame", "gotchas/z.md"]);
    assert_eq!(source(&blame, "# Use -z")["proposals"][0]["id"], id);
    assert_eq!(sandbox.state(), before);
}

#[test]
fn neither_settings_of_git_blame_nor_converters_take_part() {
    let sandbox = with_page();
    sandbox.write(".gitattributes", "*.md diff=shout\n");
    let mark = sandbox.root().join("ran");
    sandbox.git(&["config", "diff.shout.textconv", &format!("touch {}; cat", mark.display())]);
    sandbox.git(&["config", "blame.ignoreRevsFile", "no-such-file"]);
    sandbox.git(&["config", "blame.showEmail", "true"]);
    sandbox.commit("Attributes");
    assert!(!sandbox.json(&["blame", "notes/names.md"])["lines"].as_array().expect("lines").is_empty());
    assert!(!mark.exists());
}

#[test]
fn terminal_escapes_in_a_page_stay_harmless() {
    let sandbox = wiki();
    sandbox.write("notes/evil.md", "# Evil\r\n\x1b[31mred\r\n");
    sandbox.commit("Subject \x1b[0m");
    for args in [&["blame", "notes/evil.md"][..], &["blame", "--porcelain", "notes/evil.md"]] {
        let out = sandbox.run(args);
        assert!(out.contains("\\x1b[31mred") && !out.contains('\x1b') && !out.contains('\r'), "{out:?}");
    }
    sandbox.write("notes/empty.md", "");
    sandbox.commit("Empty");
    assert_eq!(sandbox.run(&["blame", "notes/empty.md"]), "");
}
