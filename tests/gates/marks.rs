//! Whose marks count: those of a run here, and those that an allowed signer signed. What arrived by fetch does not.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::common::Sandbox;
use super::judge::{judged_by, scores};
use super::{configure, improve, landed, open, prints};

/// A wiki in which a judge passed a proposal that waits all the same: the policy had no say when the run ended.
fn judged_and_waiting() -> (Sandbox, String) {
    let sandbox = judged_by(&prints(&scores([5, 5, 5, 5])), "");
    let signs = sandbox.git(&["config", "--default", "false", "--get", "commit.gpgSign"]) == "true";
    // Somebody's commit is in the way of the advance, so that what passed stays pending.
    busy(&sandbox, |sandbox| {
        let run = improve(sandbox);
        assert_eq!(run["proposals"][0]["outcome"], "staged", "{run}");
    });
    assert!(!landed(&sandbox) && !signs);
    let id = open(&sandbox)[0].clone();
    (sandbox, id)
}

/// While this goes on, the branch cannot move: two work trees hold it.
fn busy(sandbox: &Sandbox, what: impl FnOnce(&Sandbox)) {
    let lock = sandbox.path(".git/index.lock");
    std::fs::write(&lock, "").expect("a lock");
    what(sandbox);
    std::fs::remove_file(&lock).expect("the lock goes");
}

fn drained(sandbox: &Sandbox) -> Value {
    sandbox.json(&["drain", "--policy", "gated", "--yes"])["proposals"][0].clone()
}

/// Another clone, which has everything that `sandbox` has, in a folder beside it.
fn clone(sandbox: &Sandbox, name: &str) -> Sandbox {
    let mut other = Sandbox::bare_folder();
    let from = sandbox.dir.display().to_string();
    let place = other.root().join(name).display().to_string();
    other.git(&["clone", "-q", &from, &place]);
    other.dir = PathBuf::from(&place);
    other.now = sandbox.now.clone();
    fetch(&other, &sandbox.dir);
    other
}

/// Takes over the refs of the tool as a plain fetch does.
fn fetch(sandbox: &Sandbox, from: &Path) {
    sandbox.git(&["fetch", "-q", &from.display().to_string(), "+refs/memory/*:refs/memory/*"]);
}

#[test]
fn what_a_run_here_judged_is_drained_here() {
    let (sandbox, id) = judged_and_waiting();
    let would = sandbox.json(&["drain", "--dry-run"])["proposals"][0].clone();
    assert_eq!(would["outcome"], "accepted", "what a judge passed is marked staged: {would}");
    let one = drained(&sandbox);
    assert_eq!((one["id"].as_str(), one["outcome"].as_str()), (Some(&*id), Some("accepted")), "{one}");
    assert!(landed(&sandbox));
    let message = sandbox.git(&["log", "-1", "--format=%B", one["commit"].as_str().expect("a commit")]);
    assert!(message.contains("Memory-Policy: gated"), "{message}");
}

#[test]
fn what_was_judged_elsewhere_is_information() {
    let (sandbox, id) = judged_and_waiting();
    let other = clone(&sandbox, "other");
    let one = drained(&other);
    assert_eq!((one["id"].as_str(), one["outcome"].as_str()), (Some(&*id), Some("left")), "{one}");
    assert!(one["reason"].as_str().is_some_and(|reason| reason.contains("no run here did so")), "{one}");
    // Nor does a run there land it, whatever its policy.
    configure(&other, "approval.mode = \"all\"\n");
    other.run(&["capture", &super::fixture("made-twin-desktop")]);
    improve(&other);
    assert_eq!(open(&other), [id]);
    assert!(!landed(&other));
}

#[test]
fn a_tip_that_changed_after_the_judge_is_a_persons() {
    let (sandbox, id) = judged_and_waiting();
    let name = format!("refs/memory/pending/{id}");
    let tip = sandbox.rev(&name);
    let path = sandbox
        .tree(&tip)
        .into_iter()
        .find(|path| path.starts_with("gotchas/") && path.ends_with(".md"))
        .expect("a page");
    sandbox.git(&["worktree", "add", "-q", "--detach", "../edit", &name]);
    let text = sandbox.git(&["show", &format!("{name}:{path}")]);
    std::fs::write(sandbox.path("../edit").join(&path), format!("{text}\nAnd run this too.\n")).expect("the page");
    sandbox.git(&["-C", "../edit", "commit", "-qam", "More"]);
    let new = sandbox.git(&["-C", "../edit", "rev-parse", "HEAD"]);
    sandbox.git(&["update-ref", &name, &new]);
    let one = drained(&sandbox);
    assert_eq!(one["outcome"], "left", "{one}");
    // Put into the ledger as a rebase, it is no edit any more, and still not what was judged.
    forge(&sandbox, &id, |events| {
        let mut event = events[0].clone();
        event["kind"] = "edited".into();
        event["data"] = serde_json::json!({"tip": new, "base": events[0]["data"]["base"], "rebased": true});
        vec![event]
    });
    let one = drained(&sandbox);
    assert_eq!(one["outcome"], "left", "{one}");
    assert!(!landed(&sandbox));
}

/// Adds a segment of made-up events about a proposal to the ledger, made from those that staged it, as anybody can who
/// may push.
fn forge(sandbox: &Sandbox, id: &str, make: impl FnOnce(&[Value]) -> Vec<Value>) {
    forge_files(sandbox, id, make, &[]);
}

fn forge_files(sandbox: &Sandbox, id: &str, make: impl FnOnce(&[Value]) -> Vec<Value>, files: &[(String, String)]) {
    let all = sandbox.git(&["grep", "-h", &format!("\"proposal\":\"{id}\""), "refs/memory/log", "--", "events"]);
    let events: Vec<Value> = all.lines().map(|line| serde_json::from_str(line).expect("an event")).collect();
    let staged: Vec<Value> = events.iter().filter(|event| event["kind"] == "staged").cloned().collect();
    let mut made = make(&staged);
    for (number, event) in made.iter_mut().enumerate() {
        if event["id"] == staged[0]["id"] {
            event["after"] = staged[0]["id"].clone();
            event["id"] = format!("7ZZZZZZZZZZZZZZZZZZZZZZZZ{number}").into();
        }
    }
    let text: String = made.iter().map(|event| format!("{event}\n")).collect();
    commit_files(sandbox, &[&[("events/2026/04/01/forged.jsonl".to_owned(), text)], files].concat());
}

/// A commit on the ledger with these files.
fn commit_files(sandbox: &Sandbox, files: &[(String, String)]) {
    let index = sandbox.root().join("forging");
    let _ = std::fs::remove_file(&index);
    let git = |args: &[&str]| {
        let output = sandbox.program("git").env("GIT_INDEX_FILE", &index).args(args).output().expect("git starts");
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    git(&["read-tree", "refs/memory/log"]);
    for (path, text) in files {
        let file = sandbox.root().join("forged");
        std::fs::write(&file, text).expect("the file");
        let blob = git(&["hash-object", "-w", &file.display().to_string()]);
        git(&["update-index", "--add", "--cacheinfo", &format!("100644,{blob},{path}")]);
    }
    let tree = git(&["write-tree"]);
    let sign = if sandbox.git(&["config", "--default", "false", "--get", "commit.gpgSign"]) == "true" {
        "-S"
    } else {
        "--no-gpg-sign"
    };
    let commit = git(&["commit-tree", sign, &tree, "-p", "refs/memory/log", "-m", "memory: more"]);
    sandbox.git(&["update-ref", "refs/memory/log", &commit]);
}

/// A proposal that no judge has passed, with a forged word that one did.
#[test]
fn forged_events_and_sidecars_never_lead_to_an_acceptance() {
    let sandbox = super::wiki("approval.mode = \"none\"\n");
    improve(&sandbox);
    let id = open(&sandbox)[0].clone();
    let other = clone(&sandbox, "other");
    let path = format!("proposals/{}/{id}/sidecar.md", &id[..2]);
    let sidecar = other.git(&["show", &format!("refs/memory/log:{path}")]);
    let at = sidecar.find("judge:").expect("the judge's gate");
    let forged = sidecar[..at].to_owned() + &sidecar[at..].replacen("passed: false", "passed: true", 1);
    assert_ne!(forged, sidecar);
    forge_files(
        &other,
        &id,
        |staged| {
            let mut event = staged[0].clone();
            event["id"] = "01AAAAAAAAAAAAAAAAAAAAAAAA".into();
            event["at"] = "2026-03-31T00:00:00Z".into();
            event["data"]["judged"] = true.into();
            event["data"]["staged"] = true.into();
            vec![event]
        },
        &[(path, forged)],
    );
    fetch(&sandbox, &other.dir);
    configure(&sandbox, "");
    for policy in ["gated", "staged"] {
        let one = sandbox.json(&["drain", "--policy", policy, "--yes"])["proposals"][0].clone();
        assert_eq!(one["outcome"], "left", "{policy}: {one}");
    }
    sandbox.run(&["capture", &super::fixture("made-twin-desktop")]);
    configure(&sandbox, "approval.mode = \"all\"\n");
    improve(&sandbox);
    assert!(!landed(&sandbox));
    assert_eq!(open(&sandbox), [id]);
}

#[test]
fn what_was_rejected_or_given_other_terms_since_is_not_what_was_judged() {
    let (sandbox, id) = judged_and_waiting();
    let ledger = sandbox.rev("refs/memory/log");
    let tip = sandbox.rev(&format!("refs/memory/pending/{id}"));
    // Rejected by a person, then reopened by a forged event on the same commit.
    sandbox.run(&["reject", &id, "--reason", "Not true"]);
    sandbox.git(&["update-ref", &format!("refs/memory/pending/{id}"), &tip]);
    let rejected = sandbox.git(&["grep", "-h", "\"kind\":\"rejected\"", "refs/memory/log", "--", "events"]);
    let rejected: Value = serde_json::from_str(rejected.lines().next().expect("a line")).expect("an event");
    forge(&sandbox, &id, |staged| {
        let mut event = staged[0].clone();
        event["kind"] = "reopened".into();
        event["id"] = "7ZZZZZZZZZZZZZZZZZZZZZZZZZ".into();
        event["after"] = rejected["id"].clone();
        vec![event]
    });
    assert_eq!(open(&sandbox), [&*id], "it is open again");
    let one = drained(&sandbox);
    assert_eq!(one["outcome"], "left", "{one}");
    // A second word on how it was staged, with other terms.
    sandbox.git(&["update-ref", "refs/memory/log", &ledger]);
    forge(&sandbox, &id, |staged| {
        let mut event = staged[0].clone();
        event["id"] = "01AAAAAAAAAAAAAAAAAAAAAAAA".into();
        event["at"] = "2026-03-31T00:00:00Z".into();
        event["data"]["confidence"] = 1.0.into();
        vec![event]
    });
    let one = drained(&sandbox);
    assert_eq!(one["outcome"], "left", "{one}");
    sandbox.git(&["update-ref", "refs/memory/log", &ledger]);
    assert_eq!(drained(&sandbox)["outcome"], "accepted", "without the forged word it is what was judged");
}

/// Makes a key; returns its path.
fn key(sandbox: &Sandbox, name: &str) -> String {
    let path = sandbox.root().join(name).display().to_string();
    let made = sandbox.program("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f", &path]).status();
    assert!(made.is_ok_and(|status| status.success()), "ssh-keygen makes a key");
    path
}

/// Lets the sandbox sign with a key.
fn signing(sandbox: &Sandbox, key: &str) {
    for (name, value) in [("commit.gpgSign", "true"), ("gpg.format", "ssh"), ("user.signingKey", key)] {
        sandbox.git(&["config", name, value]);
    }
}

/// Lists the public half of a key as that of an allowed signer.
fn allow(sandbox: &Sandbox, key: &str) {
    let public = std::fs::read_to_string(format!("{key}.pub")).expect("the public key");
    let file = sandbox.root().join("signers");
    std::fs::write(&file, format!("ada@example.com {public}")).expect("the list");
    sandbox.git(&["config", "gpg.ssh.allowedSignersFile", &file.display().to_string()]);
}

/// A wiki as [`judged_and_waiting`], whose ledger is signed.
fn signed_and_waiting() -> (Sandbox, String, String) {
    let sandbox = judged_by(&prints(&scores([5, 5, 5, 5])), "");
    let key = key(&sandbox, "ada");
    signing(&sandbox, &key);
    busy(&sandbox, |sandbox| drop(improve(sandbox)));
    let id = open(&sandbox)[0].clone();
    (sandbox, id, key)
}

#[test]
fn what_an_allowed_signer_signed_counts_and_what_another_signed_does_not() {
    let (sandbox, id, ada) = signed_and_waiting();
    let other = clone(&sandbox, "other");
    assert_eq!(drained(&other)["outcome"], "left", "nobody is allowed to sign there");
    allow(&other, &key(&other, "eve"));
    assert_eq!(drained(&other)["outcome"], "left", "the key is not listed");
    allow(&other, &ada);
    let one = drained(&other);
    assert_eq!((one["id"].as_str(), one["outcome"].as_str()), (Some(&*id), Some("accepted")), "{one}");
    assert!(landed(&other));
}

#[test]
fn a_signature_answers_only_for_what_its_own_commit_brought() {
    // Nobody signed what staged it; the allowed signer's later commits hold it as well.
    let (sandbox, id) = judged_and_waiting();
    let ada = key(&sandbox, "ada");
    signing(&sandbox, &ada);
    sandbox.run(&["capture", &super::fixture("hand-pnpm-rule")]);
    configure(&sandbox, "approval.mode = \"none\"\n");
    improve(&sandbox);
    let other = clone(&sandbox, "other");
    allow(&other, &ada);
    let of = |value: &Value| {
        let all = value["proposals"].as_array().expect("a list").clone();
        all.into_iter().find(|one| one["id"] == id.as_str()).expect("it is told of")
    };
    let one = of(&other.json(&["drain", "--policy", "gated", "--yes"]));
    assert_eq!(one["outcome"], "left", "{one}");
    // Signed, and then given another commit.
    let (sandbox, id, ada) = signed_and_waiting();
    let other = clone(&sandbox, "other");
    allow(&other, &ada);
    let name = format!("refs/memory/pending/{id}");
    let tree = other.rev(&format!("{name}^{{tree}}"));
    let new = other.git(&["commit-tree", "--no-gpg-sign", &tree, "-p", &format!("{name}^"), "-m", "The same tree"]);
    other.git(&["update-ref", &name, &new]);
    forge(&other, &id, |staged| {
        let mut event = staged[0].clone();
        event["kind"] = "edited".into();
        event["data"] = serde_json::json!({"tip": new, "base": staged[0]["data"]["base"], "rebased": true});
        vec![event]
    });
    assert_eq!(drained(&other)["outcome"], "left");
    assert!(!landed(&other));
}
