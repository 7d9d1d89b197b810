//! The commands around a decision: list, show, diff, edit, drain, propose; and what they refuse.

use std::io::Write;

use serde_json::{Value, json};

use crate::common::{self, Sandbox};
use crate::{PAGE, Z, propose, proposing, status, wiki, with_page};

#[test]
fn ids_that_name_nothing_or_too_much_are_refused_in_clear_words() {
    let sandbox = wiki();
    propose(&sandbox, "gotchas/z.md", Z);
    assert_eq!(sandbox.json_error(1, &["show", "abc"])["code"], "id_too_short");
    assert_eq!(sandbox.json_error(1, &["accept", "0000000000000000"])["code"], "unknown_id");
    assert_eq!(sandbox.json_error(1, &["diff", "zzzz"])["code"], "unknown_id");
    sandbox.fails(129, &["accept"]);
    sandbox.fails(129, &["list", "--status", "nonsense"]);
    sandbox.fails(1, &["list", "--scope", "nonsense"]);
}

#[test]
fn the_list_is_narrowed_and_has_a_form_for_scripts() {
    let sandbox = wiki();
    let gotcha = propose(&sandbox, "gotchas/z.md", Z);
    let note = propose(&sandbox, "notes/n.md", "# A note\n\nWith words.\n");
    let ids = |args: &[&str]| -> Vec<String> {
        let value = sandbox.json(args);
        let proposals = value["proposals"].as_array().expect("proposals");
        proposals.iter().map(|row| row["id"].as_str().expect("an id").to_owned()).collect()
    };
    let just = |id: &String| vec![id.clone()];
    assert_eq!(ids(&["list"]).len(), 2);
    assert_eq!(ids(&["proposal"]).len(), 2);
    assert_eq!(ids(&["list", "--kind", "pitfall"]), just(&gotcha));
    assert_eq!(ids(&["list", "--page", "notes"]), just(&note));
    assert_eq!(ids(&["list", "--page", "notes/n.md"]), just(&note));
    assert_eq!(ids(&["list", "--lane", "review"]), Vec::<String>::new());
    assert_eq!(ids(&["list", "--since", "2026-03-02"]), Vec::<String>::new());
    assert_eq!(ids(&["list", "--since", "7d"]).len(), 2);
    sandbox.run(&["reject", &gotcha, "--reason", "Known to everybody."]);
    assert_eq!(ids(&["list"]), just(&note));
    assert_eq!(ids(&["list", "--all"]).len(), 2);
    assert_eq!(ids(&["list", "--status", "rejected,accepted"]), just(&gotcha));
    let text = sandbox.run(&["list", "--porcelain", "-z"]);
    let fields: Vec<&str> = text.strip_suffix('\0').expect("a NUL at the end").split('\t').collect();
    assert_eq!(fields, [&note, "pending", "note", "create", "2026-03-01T12:00:00Z", "-", "1", "notes/n.md", "A note"]);
}

#[test]
fn objects_are_what_their_schemas_say() {
    let sandbox = with_page();
    let id = propose(&sandbox, "notes/names.md", &PAGE.replace("First", "Better"));
    let other = propose(&sandbox, "gotchas/z.md", Z);
    let fits = |args: &[&str]| {
        let value = sandbox.json(args);
        let name = value["schema"].as_str().expect("a schema").to_owned();
        let schema: Value = serde_json::from_str(&sandbox.run(&["schema", &name])).expect("json");
        let validator = jsonschema::validator_for(&schema).expect("a schema");
        let faults: Vec<String> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
        assert!(faults.is_empty(), "{args:?}: {faults:?} in {value}");
        name
    };
    assert_eq!(fits(&["list"]), "git-memory.proposals/1");
    assert_eq!(fits(&["show", &id]), "git-memory.proposal/1");
    assert_eq!(fits(&["diff", &id]), "git-memory.proposal-diff/1");
    fits(&["proposal", "log", &id]);
    fits(&["drain", "--dry-run"]);
    fits(&["edit", &id]);
    fits(&["rebase", &id]);
    fits(&["accept", &id]);
    fits(&["revert", &id, "--reason", "no"]);
    fits(&["reopen", &id]);
    fits(&["reject", &other, "--procedural"]);
    sandbox.write("../one.jsonl", "");
    fits(&["propose", "--batch", "../one.jsonl"]);
}

#[test]
fn diff_takes_the_options_of_git_diff_for_open_and_closed_proposals() {
    let sandbox = with_page();
    let id = propose(&sandbox, "notes/names.md", &PAGE.replace("First", "Better"));
    let check = || {
        assert!(sandbox.run(&["diff", &id, "--stat"]).contains("1 file changed"), "--stat behind");
        assert!(sandbox.run(&["diff", "--word-diff", &id]).contains("[-First-]{+Better+}"), "--word-diff before");
        assert!(sandbox.run(&["diff", &id, "--", "notes/other.md"]).is_empty());
    };
    check();
    sandbox.run(&["accept", &id]);
    check();
    let other = propose(&sandbox, "gotchas/z.md", Z);
    sandbox.run(&["reject", &other, "--reason", "no"]);
    assert!(sandbox.run(&["diff", &other]).contains("+# Use -z"));
    assert!(sandbox.run(&["show", &other]).contains("+# Use -z"));
}

#[test]
fn a_rejection_needs_a_reason_and_reopening_undoes_it() {
    let sandbox = wiki();
    let id = propose(&sandbox, "gotchas/z.md", Z);
    assert_eq!(sandbox.json_error(1, &["reject", &id])["code"], "needs_reason");
    assert_eq!(status(&sandbox, &id), "pending");
    sandbox.run(&["reject", &id, "--reason", "Not so."]);
    assert_eq!(sandbox.json(&["show", &id])["proposal"]["reason"], "Not so.");
    assert_eq!(sandbox.refs("refs/memory/pending"), "");
    sandbox.fails(1, &["accept", &id]);
    sandbox.fails(1, &["reject", &id, "--reason", "Again."]);
    sandbox.fails(1, &["edit", &id]);
    sandbox.run(&["reopen", &id]);
    sandbox.fails(1, &["reopen", &id]);
    sandbox.run(&["accept", &id]);
}

fn editor(sandbox: &mut Sandbox, script: &str) {
    let path = sandbox.root().join("editor.sh");
    let mut file = std::fs::File::create(&path).expect("a script");
    writeln!(file, "#!/bin/sh\n{script}").expect("written");
    sandbox.env.push(("GIT_EDITOR".into(), format!("sh '{}'", path.display())));
}

#[test]
fn an_edited_proposal_lands_as_edited_with_both_hands_in_the_merge() {
    let mut sandbox = wiki();
    let id = propose(&sandbox, "gotchas/z.md", "# Use -z\n\nA tyop.\n");
    assert!(sandbox.run(&["edit", &id]).contains("unchanged"));
    editor(&mut sandbox, "sed -i s/tyop/typo/ \"$1\"");
    assert!(sandbox.run(&["edit", &id]).contains("edited"));
    assert!(sandbox.run(&["list"]).contains("edited"));
    assert!(sandbox.run(&["show", &id]).contains("+A typo."), "the diff shown is that of the branch");
    sandbox.run(&["accept", &id]);
    assert!(sandbox.read("gotchas/z.md").contains("A typo."));
    assert_eq!(sandbox.git(&["rev-list", "--count", "main^1..main"]), "3");
    let left = std::fs::read_dir(sandbox.path(".git/memory/edit")).expect("the folder").count();
    assert_eq!(left, 0, "no file is left behind");
}

#[test]
fn an_edit_that_fails_its_checks_is_kept() {
    let mut sandbox = wiki();
    let id = propose(&sandbox, "gotchas/z.md", Z);
    let tip = sandbox.rev(&format!("refs/memory/pending/{id}"));
    editor(&mut sandbox, "printf '\\nThe key is AKIA%s.\\n' IOSFODNN7EXAMPLQ >> \"$1\"");
    let error = sandbox.json_error(1, &["edit", &id]);
    let hint = error["hint"].as_str().expect("a hint");
    let file = hint.rsplit("kept in ").next().expect("a path").trim();
    assert!(std::fs::read_to_string(file).is_ok_and(|text| text.contains("The key is")), "{error}");
    assert_eq!(sandbox.rev(&format!("refs/memory/pending/{id}")), tip);
    editor(&mut sandbox, "exit 3");
    assert_eq!(sandbox.json_error(1, &["edit", &id])["code"], "editor_failed");
}

#[test]
fn draining_closes_what_is_empty_and_leaves_what_no_judge_has_passed() {
    let sandbox = with_page();
    let text = PAGE.replace("First", "Better");
    let empty = propose(&sandbox, "notes/names.md", &text);
    let other = propose(&sandbox, "gotchas/z.md", Z);
    sandbox.write("notes/names.md", &text);
    let head = sandbox.commit("Write it by hand");
    let before = sandbox.refs("refs/memory");
    let value = sandbox.json(&["drain", "--dry-run"]);
    assert_eq!(sandbox.refs("refs/memory"), before);
    let find = |value: &Value, id: &str| -> Value {
        let all = value["proposals"].as_array().expect("proposals");
        all.iter().find(|one| one["id"] == id).cloned().unwrap_or_else(|| panic!("{id} in {value}"))
    };
    assert_eq!(find(&value, &empty)["outcome"], "closed");
    assert_eq!(sandbox.json_error(1, &["drain"])["code"], "needs_answer");
    let value = sandbox.json(&["drain", "--policy", "gated", "--yes"]);
    assert_eq!(find(&value, &empty)["outcome"], "closed");
    assert_eq!(find(&value, &other)["outcome"], "left");
    assert_eq!(status(&sandbox, &empty), "rejected");
    assert_eq!(status(&sandbox, &other), "pending");
    assert_eq!(sandbox.rev("main"), head);
}

#[test]
fn under_an_agent_a_proposal_needs_evidence() {
    let mut sandbox = with_page();
    sandbox.env.push(("CLAUDECODE".into(), "1".into()));
    let made = proposing(&sandbox, "gotchas/z.md", Z);
    assert_eq!(made["results"][0]["code"], "missing_evidence", "{made}");
    let mut command = sandbox.memory(&[
        "propose",
        "gotchas/z.md",
        "--rationale",
        "It is so.",
        "--json",
        "--evidence",
        "notes/names.md=First text.",
    ]);
    let output = command.write_stdin("# Use -z\n\nNames hold newlines.\n").output().expect("starts");
    let made: Value = serde_json::from_slice(&output.stdout).expect("json");
    assert_eq!(made["results"][0]["outcome"], "staged", "{made}");
}

#[test]
fn a_batch_keeps_what_is_good_and_names_what_is_not() {
    let sandbox = wiki();
    let good = json!({ "path": "notes/a.md", "title": "A", "rationale": "r", "body_markdown": "# A\n\nText.\n" });
    let outside =
        json!({ "path": "../a.md", "title": "B", "rationale": "r", "body_markdown": "# B\n\nText.\n", "kind": "note" });
    sandbox.write("../batch.jsonl", format!("{good}\nnot json\n{outside}\n{good}\n"));
    let (out, err) = sandbox.fails(1, &["propose", "--batch", "../batch.jsonl", "--json"]);
    let value: Value = serde_json::from_str(&out).expect("json");
    let outcomes: Vec<&str> =
        value["results"].as_array().expect("results").iter().filter_map(|made| made["outcome"].as_str()).collect();
    assert_eq!(outcomes, ["staged", "refused", "refused", "sighted"], "{value}");
    assert!(err.contains("line 2"), "{err}");
}

#[test]
fn a_page_that_became_pinned_waits_for_a_person() {
    let sandbox = with_page();
    let id = propose(&sandbox, "notes/names.md", &PAGE.replace("First", "Better"));
    sandbox.write("notes/names.md", format!("---\npinned: true\n---\n\n{PAGE}"));
    let head = sandbox.commit("Pin it");
    let mut command = sandbox.program("setsid");
    let output = command.args(["-w", common::BIN, "accept", &id, "--yes"]).output().expect("starts");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("pinned"), "{output:?}");
    assert_eq!(sandbox.rev("main"), head);
}
