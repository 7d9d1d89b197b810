//! `git memory init`: what it makes, where, and what it leaves alone.

mod common;

use common::Sandbox;

const FOLDERS: [&str; 7] = ["_rules", "_slots", "concepts", "decisions", "gotchas", "notes", "procedures"];

fn made(root: &str) -> Vec<String> {
    let below = |name: &str| if root.is_empty() { name.to_owned() } else { format!("{root}/{name}") };
    let mut paths = vec![".gitmemory.toml".to_owned(), below(".gitattributes")];
    paths.extend(FOLDERS.iter().map(|folder| below(&format!("{folder}/.gitkeep"))));
    paths.sort();
    paths
}

#[test]
fn an_existing_repository_gets_one_commit_and_a_second_run_changes_nothing() {
    let sandbox = Sandbox::new();
    let before = sandbox.rev("HEAD");
    let report = sandbox.json(&["init", "--root", "docs/memory"]);
    assert_eq!(report["changed"], true);
    assert_eq!(sandbox.rev("HEAD^"), before);
    let mut expected = made("docs/memory");
    expected.insert(1, "README.md".into());
    let mut tree = sandbox.tree("HEAD");
    tree.sort();
    expected.sort();
    assert_eq!(tree, expected);
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    assert_eq!(sandbox.git(&["config", "memory.wiki.branch"]), "main");
    assert_eq!(sandbox.git(&["config", "--get-all", "log.excludeDecoration"]), "refs/memory/*");
    assert_eq!(sandbox.git(&["log", "-1", "--format=%an %cn %s"]), "Ada Tester Ada Tester memory: start the wiki");

    let state = sandbox.state();
    let again = sandbox.json(&["init", "--root", "docs/memory"]);
    assert_eq!((&again["changed"], &again["commit"]), (&false.into(), &serde_json::Value::Null));
    assert!(sandbox.run(&["init"]).starts_with("Nothing to do"));
    assert_eq!(sandbox.state(), state);
    sandbox.fsck();
}

#[test]
fn a_folder_that_is_no_repository_becomes_one_and_its_notes_are_left_to_the_person() {
    let sandbox = Sandbox::bare_folder();
    sandbox.write("pitfalls/a.md", "# A\n");
    sandbox.write("adr/1.md", "# One\n");
    let report = sandbox.json(&["init", "--adopt"]);
    assert_eq!(report["repository_made"], true);
    assert_eq!(sandbox.tree("main"), [".gitattributes", ".gitmemory.toml"]);
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "?? adr/\n?? pitfalls/");
    let settings = sandbox.read(".gitmemory.toml");
    assert!(settings.contains("gotcha = \"pitfalls\"") && settings.contains("decision = \"adr\""), "{settings}");
    sandbox.fsck();
}

#[test]
fn an_orphan_branch_is_made_without_being_checked_out() {
    let sandbox = Sandbox::new();
    sandbox.write("README.md", "# Changed\n");
    sandbox.write("staged.txt", "staged\n");
    sandbox.git(&["add", "staged.txt"]);
    let before = sandbox.state();
    sandbox.run(&["init", "--branch", "wiki"]);
    let after = sandbox.state();
    assert_eq!((&after.index, &after.status, &after.files), (&before.index, &before.status, &before.files));
    assert_eq!(sandbox.tree("wiki"), made(""));
    assert_eq!(sandbox.git(&["rev-list", "--count", "wiki"]), "1");
    assert_eq!(sandbox.git(&["symbolic-ref", "HEAD"]), "refs/heads/main");
    sandbox.run(&["init", "--branch", "wiki"]);
    assert_eq!(sandbox.state(), after);
    assert_eq!(sandbox.json_error(1, &["init", "--branch", "other"])["code"], "already_initialised");
}

#[test]
fn a_bare_repository_and_a_linked_worktree_work() {
    let sandbox = Sandbox::new();
    sandbox.git(&["worktree", "add", "-q", "-b", "side", "../side"]);
    let mut side = Sandbox::new();
    side.dir = sandbox.root().join("side");
    side.run(&["init", "--root", "memory"]);
    assert_eq!(sandbox.git(&["config", "memory.wiki.branch"]), "side");
    assert_eq!(side.git(&["status", "--porcelain"]), "");
    assert!(side.path("memory/gotchas/.gitkeep").is_file());
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");

    let bare = Sandbox::bare_folder();
    bare.git(&["init", "-q", "--bare"]);
    bare.run(&["init"]);
    assert_eq!(bare.tree("main"), made(""));
    bare.fsck();
}

#[test]
fn dirty_and_staged_files_survive_on_a_checked_out_branch() {
    let sandbox = Sandbox::new();
    sandbox.write("README.md", "# Changed\n");
    sandbox.write("staged.txt", "staged\n");
    sandbox.git(&["add", "staged.txt"]);
    sandbox.write("untracked.txt", "mine\n");
    sandbox.run(&["init", "--root", "memory"]);
    assert_eq!(sandbox.git(&["status", "--porcelain"]), " M README.md\nA  staged.txt\n?? untracked.txt");
    assert_eq!(sandbox.tree("HEAD").len(), 10);
}

#[test]
fn an_unborn_branch_keeps_what_is_staged_and_a_file_in_the_way_stops_it() {
    let sandbox = Sandbox::empty();
    sandbox.write("staged.txt", "staged\n");
    sandbox.git(&["add", "staged.txt"]);
    sandbox.write(".gitmemory.toml", "mine\n");
    let before = sandbox.state();
    let error = sandbox.json_error(1, &["init"]);
    assert_eq!(error["code"], "in_the_way");
    assert!(error["message"].as_str().is_some_and(|text| text.contains(".gitmemory.toml")), "{error}");
    assert_eq!(sandbox.state(), before);

    std::fs::remove_file(sandbox.path(".gitmemory.toml")).expect("removed");
    sandbox.run(&["init"]);
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "A  staged.txt");
    assert_eq!(sandbox.tree("HEAD"), made(""));
}

#[test]
fn a_persons_gitattributes_are_kept() {
    let sandbox = Sandbox::new();
    sandbox.write(".gitattributes", "*.png binary\n");
    sandbox.commit("Attributes");
    let report = sandbox.json(&["init"]);
    assert_eq!(sandbox.read(".gitattributes"), "*.png binary\n");
    assert!(!report["files"].as_array().expect("files").contains(&".gitattributes".into()));
}

#[test]
fn existing_notes_are_mapped_and_never_moved_or_shown_as_changed() {
    let sandbox = Sandbox::empty();
    sandbox.write("notes/docs/adr/0001.md", "# One\r\n\r\nText\r\n");
    sandbox.write("notes/pitfalls/a.md", "# A\n");
    sandbox.write("notes/misc/b.md", "# B\n");
    sandbox.commit("Notes");
    let text = sandbox.run(&["init", "--root", "notes", "--adopt"]);
    assert!(text.contains("docs/adr/") && text.contains("decision"), "{text}");
    assert!(text.contains("misc/") && text.contains("as the page says"), "{text}");
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    let attributes = sandbox.read("notes/.gitattributes");
    assert!(attributes.contains("*.md -text"), "{attributes}");
    sandbox.git(&["update-index", "--really-refresh"]);
    sandbox.write("notes/docs/adr/0001.md", "# One\r\n\r\nText\r\n");
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    assert_eq!(sandbox.json(&["config", "get", "wiki.folders"])["value"]["decision"], "docs/adr");
    // Shown again later, and nothing is written.
    let state = sandbox.state();
    assert!(sandbox.run(&["init", "--adopt"]).contains("pitfalls/"));
    assert_eq!(sandbox.state(), state);
}

#[test]
fn a_clone_finds_the_wiki_branch_of_its_remote() {
    let origin = Sandbox::new();
    origin.run(&["init", "--branch", "wiki", "--scope", "api=projects/api"]);
    assert!(origin.tree("wiki").contains(&"projects/api/.gitkeep".to_owned()));
    let clone = Sandbox::bare_folder();
    clone.git(&["clone", "-q", origin.dir.to_str().expect("a path"), "."]);
    clone.run(&["init"]);
    assert_eq!(clone.rev("wiki"), origin.rev("wiki"));
    assert_eq!(clone.git(&["config", "memory.wiki.branch"]), "wiki");
    assert_eq!(clone.git(&["symbolic-ref", "HEAD"]), "refs/heads/main");
    assert_eq!(clone.json_error(1, &["init", "--root", "elsewhere"])["code"], "already_initialised");
    assert_eq!(clone.json_error(1, &["init", "--scope", "web=projects/web"])["code"], "already_initialised");
    assert_eq!(clone.json(&["init", "--scope", "api=projects/api"])["changed"], false);
}

#[test]
fn what_cannot_be_done_is_refused_and_nothing_is_changed() {
    let sandbox = Sandbox::new();
    let before = sandbox.state();
    for (args, code) in [
        (vec!["init", "--root", "../outside"], "bad_folder"),
        (vec!["init", "--root", "README.md"], "bad_folder"),
        (vec!["init", "--root", ".git/x"], "bad_folder"),
        (vec!["init", "--scope", "api"], "bad_scope"),
        (vec!["init", "--scope", "a=x", "--scope", "a=y"], "bad_scope"),
        (vec!["init", "--branch", "a..b"], "bad_branch"),
        (vec!["init", "--branch", "@{-1}"], "bad_branch"),
    ] {
        assert_eq!(sandbox.json_error(1, &args)["code"], code, "{args:?}");
    }
    sandbox.git(&["checkout", "-q", "--detach"]);
    assert_eq!(sandbox.json_error(1, &["init"])["code"], "detached");
    sandbox.git(&["checkout", "-q", "main"]);
    sandbox.git(&["config", "memory.wiki", "../wiki"]);
    assert_eq!(sandbox.json_error(1, &["init"])["code"], "wiki_elsewhere");
    sandbox.git(&["config", "--unset", "memory.wiki"]);
    assert_eq!(sandbox.state().refs, before.refs);
    assert_eq!(sandbox.state().files, before.files);
}

#[test]
fn nobody_known_to_git_is_a_clear_error() {
    let mut sandbox = Sandbox::new();
    sandbox.env.push(("GIT_CONFIG_GLOBAL".into(), "/dev/null".into()));
    sandbox.git(&["config", "user.useConfigOnly", "true"]);
    let before = sandbox.state();
    assert_eq!(sandbox.json_error(128, &["init"])["code"], "no_identity");
    assert_eq!(sandbox.state(), before);
}

#[test]
fn yes_sets_rebase_merges_and_without_a_terminal_the_command_is_told() {
    let sandbox = Sandbox::new();
    let report = sandbox.json(&["init"]);
    assert!(report["suggestions"].as_array().expect("a list").contains(&"git config branch.main.rebase merges".into()));
    sandbox.run(&["init", "--yes"]);
    assert_eq!(sandbox.git(&["config", "branch.main.rebase"]), "merges");
}

#[test]
fn hooks_are_installed_when_asked_for_and_a_second_run_leaves_them() {
    let sandbox = Sandbox::new();
    let report = sandbox.json(&["init", "--hooks"]);
    assert!(report["hooks"].as_array().is_some_and(|hooks| hooks.iter().any(|hook| hook["result"] == "installed")));
    assert_eq!(sandbox.json(&["hooks", "status", "--events", "post-commit"])["hooks"][0]["fires"], true);
    let files = sandbox.git_files();
    assert_eq!(sandbox.json(&["init", "--hooks"])["changed"], false);
    assert_eq!(sandbox.git_files(), files);
}

#[test]
fn it_works_from_a_subdirectory_and_in_a_shallow_clone() {
    let origin = Sandbox::new();
    origin.commit("More");
    let clone = Sandbox::bare_folder();
    clone.git(&["clone", "-q", "--depth=1", &format!("file://{}", origin.dir.display()), "."]);
    clone.write("src/x.rs", "");
    let mut command = clone.memory(&["-C", "src", "init", "--root", "memory"]);
    command.assert().success();
    assert!(clone.path("memory/gotchas/.gitkeep").is_file());
    assert_eq!(clone.git(&["status", "--porcelain"]), "?? src/");
}

#[cfg(debug_assertions)]
#[test]
fn a_killed_run_leaves_a_sound_repository_and_the_next_one_completes() {
    for point in ["init.before-advance", "init.before-ref", "init.after-advance"] {
        for started in [false, true] {
            let mut sandbox = if started { Sandbox::new() } else { Sandbox::empty() };
            sandbox.env.push(("GIT_MEMORY_FAULT".into(), point.into()));
            let killed = sandbox.memory(&["init", "--root", "memory"]).output().expect("starts").status;
            sandbox.env.pop();
            // A branch that has commits is not begun.
            assert_eq!(killed.code().is_none(), point != "init.before-ref" || !started, "{point}: {killed}");
            sandbox.fsck();
            sandbox.run(&["init", "--root", "memory"]);
            assert_eq!(sandbox.git(&["status", "--porcelain"]), "", "{point}");
            assert_eq!(sandbox.git(&["rev-list", "--count", "main"]), if started { "2" } else { "1" }, "{point}");
            assert_eq!(sandbox.git(&["config", "memory.wiki.branch"]), "main");
            assert_eq!(sandbox.tree("main").len(), made("memory").len() + usize::from(started), "{point}");
        }
    }
}

#[test]
fn a_read_only_repository_is_a_clear_error() {
    let sandbox = Sandbox::new();
    let before = sandbox.refs("refs/");
    // Root may write anywhere; another user stands for a folder that is not ours.
    let root = sandbox.program("id").arg("-u").output().is_ok_and(|output| output.stdout.starts_with(b"0"));
    if !root {
        return;
    }
    sandbox.git(&["config", "--global", "safe.directory", "*"]);
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(sandbox.root(), open).expect("permissions");
    // The binary may stand below a folder that others cannot enter.
    let copy = sandbox.root().join("git-memory");
    std::fs::copy(common::BIN, &copy).expect("a copy");
    let mut command = sandbox.program("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(copy).args(["init", "--json"]);
    let Ok(output) = command.output() else { return };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(128), "{output:?}");
    let error: serde_json::Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    assert_eq!(error["code"], "cannot_write", "{error}");
    assert_eq!(sandbox.refs("refs/"), before);
}

#[test]
fn other_hashes_and_ref_formats_work_or_say_why_not() {
    for format in [["--object-format=sha256", "--ref-format=files"], ["--object-format=sha1", "--ref-format=reftable"]]
    {
        let sandbox = Sandbox::bare_folder();
        if !sandbox.try_git(&["init", "-q", format[0], format[1]]).status.success() {
            continue;
        }
        sandbox.run(&["init"]);
        assert_eq!(sandbox.tree("main"), made(""), "{format:?}");
        assert_eq!(sandbox.json(&["init"])["changed"], false, "{format:?}");
        sandbox.fsck();
    }
}
