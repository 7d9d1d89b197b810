//! What was put on a pending branch and was not reviewed never lands.

use super::common::Sandbox;
use super::scene::*;

/// The accept must be refused with this word, and nothing may reach the branch.
fn never_lands(sandbox: &Sandbox, id: &str, word: &str) {
    refused(sandbox, 1, &["accept", id], word);
    let (out, _) = sandbox.fails(1, &["accept", "--all", "--json"]);
    assert!(out.contains("\"landed\":0") || out.contains("\"landed\": 0"), "{out}");
    let list = sandbox.json(&["list"]);
    assert!(list["proposals"].as_array().is_some_and(|all| all.iter().any(|one| one["id"] == id)), "{list}");
}

/// Commits exactly what the index of the other work tree holds.
fn seal(other: &Sandbox) {
    other.git(&["commit", "-q", "--allow-empty", "-m", "Pushed"]);
}

#[test]
fn foreign_paths_attributes_and_submodules_never_land() {
    let sandbox = wiki();
    let id = propose(&sandbox, "gotchas/z.md", Z);
    let change = sandbox.rev(&format!("refs/memory/pending/{id}"));
    let name = format!("refs/memory/pending/{id}");
    for (path, word) in [
        (".gitattributes", ".gitattributes"),
        ("gotchas/.gitattributes", ".gitattributes"),
        (".gitmodules", ".gitmodules"),
        (".github/workflows/evil.yml", "evil.yml"),
        ("gotchas/other.md", "other.md"),
        ("gotchas/z.md.orig", "z.md.orig"),
        (".gitmemory.toml", ".gitmemory.toml"),
    ] {
        push_onto(&sandbox, &id, |other| {
            other.write(path, "evil\n");
            other.git(&["add", "-A"]);
            seal(other);
        });
        never_lands(&sandbox, &id, word);
        sandbox.git(&["update-ref", &name, &change]);
    }
    let commit = sandbox.rev("main");
    push_onto(&sandbox, &id, |other| {
        other.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{commit},vendor")]);
        seal(other);
    });
    never_lands(&sandbox, &id, "vendor");
    sandbox.git(&["update-ref", &name, &change]);
    push_onto(&sandbox, &id, |other| {
        other.git(&["rm", "-q", "README.md"]);
        seal(other);
    });
    never_lands(&sandbox, &id, "README.md");
    sandbox.git(&["update-ref", &name, &change]);
    sandbox.run(&["accept", &id]);
}

#[test]
fn a_page_that_became_a_link_a_module_or_a_program_never_lands() {
    let sandbox = with_page();
    let better = PAGE.replace("First", "Better");
    for (path, text) in [("gotchas/z.md", Z), ("notes/names.md", &better)] {
        let id = &propose(&sandbox, path, text);
        let name = format!("refs/memory/pending/{id}");
        let change = sandbox.rev(&name);
        let blob = sandbox.rev(&format!("{change}:{path}"));
        let link = {
            let mut command = sandbox.program("git");
            command.args(["hash-object", "-w", "--stdin"]).stdin(std::process::Stdio::piped());
            command.stdout(std::process::Stdio::piped());
            let mut child = command.spawn().expect("git starts");
            std::io::Write::write_all(&mut child.stdin.take().expect("stdin"), b"../../../etc/passwd")
                .expect("written");
            let output = child.wait_with_output().expect("it ends");
            String::from_utf8_lossy(&output.stdout).trim().to_owned()
        };
        let commit = sandbox.rev("main");
        for (mode, oid) in [("120000", &link), ("160000", &commit), ("100755", &blob)] {
            push_onto(&sandbox, id, |other| {
                other.git(&["update-index", "--add", "--cacheinfo", &format!("{mode},{oid},{path}")]);
                seal(other);
            });
            never_lands(&sandbox, id, path);
            sandbox.git(&["update-ref", &name, &change]);
        }
        // The page as a folder.
        push_onto(&sandbox, id, |other| {
            other.git(&["rm", "-q", "--cached", path]);
            other.git(&["update-index", "--add", "--cacheinfo", &format!("100644,{blob},{path}/inner.md")]);
            seal(other);
        });
        never_lands(&sandbox, id, "inner.md");
        sandbox.git(&["update-ref", &name, &change]);
        assert_eq!(sandbox.json(&["accept", "--all"])["landed"], 1);
    }
}

#[test]
fn a_deleted_page_was_not_reviewed_as_a_deletion() {
    let sandbox = with_page();
    let id = propose(&sandbox, "notes/names.md", &PAGE.replace("First", "Better"));
    push_onto(&sandbox, &id, |other| {
        other.git(&["rm", "-q", "notes/names.md"]);
        seal(other);
    });
    never_lands(&sandbox, &id, "notes/names.md");
}

#[test]
fn names_that_belong_to_git_never_land() {
    let sandbox = wiki();
    let id = propose(&sandbox, "gotchas/z.md", Z);
    let name = format!("refs/memory/pending/{id}");
    let change = sandbox.rev(&name);
    let blob = sandbox.rev(&format!("{change}:gotchas/z.md"));
    // git's own commands refuse such a tree; a push without fsck does not.
    for evil in [".git", ".GIT", "git~1", ".g\u{200c}it"] {
        let listing = sandbox.git(&["ls-tree", &change]);
        let inner = mktree(&sandbox, &format!("100644 blob {blob}\tconfig\n"));
        let tree = mktree(&sandbox, &format!("{listing}\n040000 tree {inner}\t{evil}\n"));
        let commit = sandbox.git(&["commit-tree", "-p", &change, "-m", "Pushed", &tree]);
        sandbox.git(&["update-ref", &name, &commit]);
        let head = sandbox.rev("main");
        let config = std::fs::read(sandbox.path(".git/config")).expect("the settings");
        sandbox.fails(1, &["accept", &id]);
        assert_eq!(sandbox.rev("main"), head, "{evil}");
        assert_eq!(std::fs::read(sandbox.path(".git/config")).expect("the settings"), config);
        sandbox.git(&["update-ref", &name, &change]);
    }
    sandbox.run(&["accept", &id]);
}

fn mktree(sandbox: &Sandbox, listing: &str) -> String {
    let mut command = sandbox.program("git");
    command.args(["mktree"]).stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut child = command.spawn().expect("git starts");
    std::io::Write::write_all(&mut child.stdin.take().expect("stdin"), listing.as_bytes()).expect("written");
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

#[test]
fn history_that_is_not_the_proposals_never_lands() {
    let sandbox = wiki();
    let id = propose(&sandbox, "gotchas/z.md", Z);
    let name = format!("refs/memory/pending/{id}");
    let change = sandbox.rev(&name);
    // An unrelated root merged in, its files left out again: the tree is innocent, the history is not.
    let foreign = sandbox.git(&["commit-tree", "-m", "Somebody else's", "main^{tree}"]);
    let tree = sandbox.rev(&format!("{change}^{{tree}}"));
    let merged = sandbox.git(&["commit-tree", "-p", &change, "-p", &foreign, "-m", "Merge", &tree]);
    sandbox.git(&["update-ref", &name, &merged]);
    never_lands(&sandbox, &id, &id);
    assert!(!sandbox.try_git(&["merge-base", "--is-ancestor", &foreign, "main"]).status.success());
    // Added and removed again on the way.
    sandbox.git(&["update-ref", &name, &change]);
    push_onto(&sandbox, &id, |other| {
        other.write("secret.txt", "a secret\n");
        other.git(&["add", "-A"]);
        seal(other);
        other.git(&["rm", "-q", "secret.txt"]);
        seal(other);
    });
    never_lands(&sandbox, &id, "secret.txt");
    // `rebase` takes the page alone.
    sandbox.commit("Move on");
    sandbox.run(&["rebase", &id]);
    sandbox.run(&["accept", &id]);
    assert!(!sandbox.git(&["log", "--name-only", "--format=", "main"]).contains("secret.txt"));
}

#[test]
fn a_secret_in_an_earlier_version_on_the_branch_never_lands() {
    let sandbox = wiki();
    let id = propose(&sandbox, "gotchas/z.md", Z);
    let key = format!("AKIA{}", "IOSFODNN7EXAMPLQ");
    push_onto(&sandbox, &id, |other| {
        other.write("gotchas/z.md", format!("{Z}\nThe key is {key}.\n"));
        other.git(&["add", "-A"]);
        seal(other);
        other.write("gotchas/z.md", format!("{Z}\nThe key is not here.\n"));
        other.git(&["add", "-A"]);
        seal(other);
    });
    let before = [sandbox.rev("main"), sandbox.refs("refs/memory/pending")];
    let (_, err) = sandbox.fails(1, &["accept", &id]);
    assert!(err.contains("secret"), "{err}");
    // That the accept failed is on record, and nothing else has changed.
    assert_eq!([sandbox.rev("main"), sandbox.refs("refs/memory/pending")], before);
    assert!(sandbox.fails(1, &["accept", "--all"]).1.contains("secret"));
}

#[test]
fn an_empty_commit_on_top_changes_nothing_and_an_empty_change_lands_nothing() {
    let sandbox = wiki();
    let id = propose(&sandbox, "gotchas/z.md", Z);
    push_onto(&sandbox, &id, seal);
    sandbox.run(&["accept", &id]);
    assert_eq!(sandbox.git(&["diff", "--name-only", "main^1", "main"]), "gotchas/z.md");
    let other = propose(&sandbox, "gotchas/y.md", "# Why\n\nBecause of that.\n");
    push_onto(&sandbox, &other, |tree| {
        tree.git(&["rm", "-q", "gotchas/y.md"]);
        seal(tree);
    });
    never_lands(&sandbox, &other, &other);
    // A branch that equals its base has landed nothing.
    let base = sandbox.rev("main");
    sandbox.git(&["update-ref", &format!("refs/memory/pending/{other}"), &base]);
    assert_eq!(status(&sandbox, &other), "pending");
    never_lands(&sandbox, &other, &other);
}

#[test]
fn names_that_some_file_system_holds_equal_never_stand_side_by_side() {
    let sandbox = wiki();
    sandbox.write("gotchas/README.md", "# Read me\n");
    sandbox.write("notes/café.md", "# Coffee\n");
    sandbox.commit("Pages");
    for path in ["gotchas/Readme.md", "Gotchas/README.md", "notes/CAFE\u{301}.md", "notes/cafe\u{301}.md"] {
        let made = proposing(&sandbox, path, "# Another\n\nWith other words.\n");
        assert_eq!(made["results"][0]["outcome"], "refused", "{path}: {made}");
    }
    // And when the other page came later.
    let id = propose(&sandbox, "gotchas/late.md", "# Late\n\nWords of it.\n");
    sandbox.write("gotchas/Late.md", "# By hand\n");
    sandbox.commit("By hand");
    never_lands(&sandbox, &id, "Late.md");
}

#[test]
fn two_pending_pages_that_fold_together_do_not_both_land() {
    let sandbox = wiki();
    let first = propose(&sandbox, "gotchas/one.md", "# One thing\n\nFirst words.\n");
    let made = proposing(&sandbox, "gotchas/One.md", "# Another thing\n\nQuite other text here.\n");
    if made["results"][0]["outcome"] == "staged" {
        sandbox.fails(1, &["accept", "--all"]);
    } else {
        sandbox.run(&["accept", &first]);
    }
    let tree = sandbox.tree("main");
    assert_eq!(tree.iter().filter(|path| path.eq_ignore_ascii_case("gotchas/one.md")).count(), 1, "{tree:?}");
}

#[test]
fn a_file_where_a_folder_has_to_be_is_no_silent_loss() {
    let sandbox = wiki();
    let id = propose(&sandbox, "notes/deep/a.md", "# Deep\n\nDeep words.\n");
    sandbox.write("notes/deep", "a file\n");
    sandbox.commit("By hand");
    let head = sandbox.rev("main");
    let (out, err) = sandbox.fails(1, &["accept", &id]);
    assert!(format!("{out}{err}").contains("notes/deep"), "{out}{err}");
    assert_eq!(sandbox.rev("main"), head);
    assert_eq!(sandbox.read("notes/deep"), "a file\n");
    assert!(["conflicted", "pending"].contains(&status(&sandbox, &id).as_str()));
}

#[cfg(unix)]
#[test]
fn a_link_that_is_committed_in_the_way_is_never_followed() {
    let sandbox = with_page();
    let outside = sandbox.root().join("outside");
    std::fs::create_dir_all(&outside).expect("a folder");
    let create = propose(&sandbox, "notes/deep/a.md", "# Deep\n\nDeep words.\n");
    let update = propose(&sandbox, "notes/names.md", &PAGE.replace("First", "Better"));
    std::os::unix::fs::symlink(&outside, sandbox.path("notes/deep")).expect("a link");
    std::fs::remove_file(sandbox.path("notes/names.md")).expect("removed");
    std::os::unix::fs::symlink("/etc/hostname", sandbox.path("notes/names.md")).expect("a link");
    sandbox.commit("Links");
    let head = sandbox.rev("main");
    for id in [&create, &update] {
        sandbox.fails(1, &["accept", id]);
        sandbox.fails(1, &["rebase", id]);
    }
    assert_eq!(sandbox.rev("main"), head);
    assert!(std::fs::read_dir(&outside).expect("the folder").next().is_none());
    // And none is proposed through a link.
    for path in ["notes/deep/b.md", "notes/names.md"] {
        let made = proposing(&sandbox, path, "# Another\n\nWith other words.\n");
        assert_eq!(made["results"][0]["outcome"], "refused", "{path}: {made}");
    }
}

#[test]
fn what_a_person_pinned_meanwhile_needs_a_person() {
    for front in ["pinned: true", "owner: human", "slot_kind: invariant"] {
        let sandbox = with_page();
        let id = propose(&sandbox, "notes/names.md", &PAGE.replace("First", "Better"));
        sandbox.write("notes/names.md", format!("---\n{front}\n---\n\n{PAGE}"));
        sandbox.commit("Protect it");
        if front.starts_with("slot_kind") {
            continue;
        }
        let before = sandbox.state();
        let output = sandbox.program("setsid").args(["-w", super::common::BIN, "accept", &id, "--yes"]).output();
        let output = output.expect("starts");
        assert_eq!(output.status.code(), Some(1), "{front}: {output:?}");
        assert_eq!(sandbox.state(), before, "{front}");
    }
    // By the settings, whatever the page says.
    for key in ["protected", "human_owned"] {
        let sandbox = with_page();
        let id = propose(&sandbox, "notes/names.md", &PAGE.replace("First", "Better"));
        let known = sandbox.read(".gitmemory.toml");
        assert!(!known.contains("[wiki]") || known.contains("[wiki]\n"), "{known}");
        let text = if known.contains("[wiki]\n") {
            known.replace("[wiki]\n", &format!("[wiki]\n{key} = [\"notes/**\"]\n"))
        } else {
            format!("{known}\n[wiki]\n{key} = [\"notes/**\"]\n")
        };
        sandbox.write(".gitmemory.toml", text);
        sandbox.commit("Protect it");
        let output = sandbox.program("setsid").args(["-w", super::common::BIN, "accept", &id, "--yes"]).output();
        let output = output.expect("starts");
        assert_eq!(output.status.code(), Some(1), "{key}: {output:?}");
        assert_eq!(status(&sandbox, &id), "pending", "{key}");
    }
}

#[test]
fn edits_of_two_sections_both_land_and_edits_of_one_conflict() {
    let sandbox = with_page();
    let one = append(&sandbox, "notes/names.md", "## One", "Added to one.\n");
    let two = append(&sandbox, "notes/names.md", "## Two", "Added to two.\n");
    let value = sandbox.json(&["accept", "--all"]);
    assert_eq!(value["landed"], 2, "{value}");
    let page = sandbox.read("notes/names.md");
    assert_eq!(page, PAGE.replace("First text.\n", "First text.\n\nAdded to one.\n") + "\nAdded to two.\n");
    for id in [&one, &two] {
        sandbox.run(&["revert", id, "--reason", "no"]);
    }
    assert_eq!(sandbox.read("notes/names.md"), PAGE);
}
