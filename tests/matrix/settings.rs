//! Settings of the user that would bend what we do.

use super::common::Sandbox;
use super::scene::*;

#[cfg(unix)]
fn failing_hooks(folder: &std::path::Path, names: &[&str]) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::create_dir_all(folder).expect("a folder");
    for name in names {
        let path = folder.join(name);
        std::fs::write(&path, "#!/bin/sh\necho refused >&2\nexit 1\n").expect("a hook");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("permissions");
    }
}

const HOOKS: [&str; 14] = [
    "pre-commit",
    "pre-merge-commit",
    "commit-msg",
    "prepare-commit-msg",
    "post-commit",
    "post-merge",
    "post-checkout",
    "post-rewrite",
    "pre-rebase",
    "pre-push",
    "post-index-change",
    "applypatch-msg",
    "fsmonitor-watchman",
    "pre-auto-gc",
];

/// Everything hostile that a user's configuration can hold, at once.
const HOSTILE: &str = r#"
[merge]
	ff = false
	autoStash = true
	verifySignatures = true
	renames = copies
	directoryRenames = true
	conflictStyle = zdiff3
	log = true
	stat = true
	renormalize = true
	suppressDest = *
	tool = false
[merge "evil"]
	name = never
	driver = false
[merge "ours"]
	driver = false
[diff]
	external = false
	noprefix = true
	mnemonicPrefix = true
	renames = copies
	submodule = log
	algorithm = patience
	context = 0
	ignoreSubmodules = all
	colorMoved = zebra
	wordRegex = .
[diff "evil"]
	command = false
	textconv = false
[branch "main"]
	mergeOptions = --squash --no-commit --no-ff
	rebase = interactive
[pull]
	rebase = true
	ff = only
[rebase]
	autoStash = true
	autoSquash = true
	updateRefs = true
[commit]
	template = /nowhere
	verbose = true
	cleanup = scissors
[core]
	pager = "sh -c 'exit 9'"
	editor = false
	quotePath = true
	fsmonitor = false
	untrackedCache = true
	commentChar = M
	abbrev = 4
	attributesFile = ATTRIBUTES
	hooksPath = HOOKS
	whitespace = trailing-space,space-before-tab
	logAllRefUpdates = always
	checkStat = minimal
	preloadIndex = false
	ignoreCase = true
[pager]
	memory = false
	log = "sh -c 'exit 9'"
[push]
	followTags = true
	default = matching
[fetch]
	prune = true
	pruneTags = true
	writeCommitGraph = true
[remote]
	pushDefault = nowhere
[rerere]
	enabled = true
	autoUpdate = true
[i18n]
	commitEncoding = ISO-8859-1
	logOutputEncoding = ISO-8859-1
[log]
	showSignature = true
	date = relative
	decorate = full
	follow = true
	mailmap = true
	showRoot = false
[format]
	pretty = oneline
	notes = true
	signOff = true
[column]
	ui = always
[color]
	ui = always
[status]
	showUntrackedFiles = no
	short = true
	branch = true
	relativePaths = false
	submoduleSummary = true
[safe]
	bareRepository = explicit
[advice]
	mergeConflict = true
	detachedHead = true
	ignoredHook = true
	objectNameWarning = true
[submodule]
	recurse = true
[sequence]
	editor = false
[trailer]
	separators = %
	where = start
	ifexists = replace
[interactive]
	diffFilter = false
[index]
	version = 4
	threads = true
[feature]
	manyFiles = true
[checkout]
	defaultRemote = nowhere
	workers = 4
[clean]
	requireForce = false
[alias]
	merge = !false
	update-ref = !false
	cat-file = !false
	rev-parse = !false
	diff = !false
	log = !false
[user]
	useConfigOnly = true
[transfer]
	fsckObjects = true
[gc]
	auto = 1
[maintenance]
	auto = true
"#;

#[cfg(unix)]
fn hostile(sandbox: &Sandbox) {
    let hooks = sandbox.root().join("hooks");
    failing_hooks(&hooks, &HOOKS);
    let attributes = sandbox.root().join("attributes");
    std::fs::write(&attributes, "*.md merge=evil diff=evil -text\n* merge=evil\n").expect("attributes");
    let text =
        HOSTILE.replace("ATTRIBUTES", &attributes.display().to_string()).replace("HOOKS", &hooks.display().to_string());
    let file = sandbox.home().join("gitconfig");
    let known = std::fs::read_to_string(&file).expect("the settings");
    std::fs::write(file, known + &text).expect("the settings");
}

#[cfg(unix)]
#[test]
fn every_hostile_setting_at_once_changes_nothing() {
    let sandbox = with_page();
    sandbox.write(".gitattributes", "*.md merge=ours diff=evil\n_rules/** merge=union\n");
    sandbox.commit("Attributes");
    sandbox.git(&["update-ref", "ORIG_HEAD", "HEAD~1"]);
    sandbox.write(".git/FETCH_HEAD", format!("{}\t\tbranch 'x' of y\n", sandbox.rev("HEAD")));
    let update = propose(&sandbox, "notes/names.md", &PAGE.replace("First", "Better"));
    hostile(&sandbox);
    let before = sandbox.state();
    the_loop(&sandbox, &sandbox, "main", "");
    // Another section was changed meanwhile: a merge that no driver may touch.
    sandbox.write("notes/names.md", PAGE.replace("Second", "Changed"));
    sandbox.git(&["-c", "core.hooksPath=/dev/null", "-c", "commit.template=", "commit", "-q", "-am", "Edit by hand"]);
    sandbox.run(&["accept", &update]);
    let page = sandbox.read("notes/names.md");
    assert!(page.contains("Better text.") && page.contains("Changed text."), "{page}");
    let after = sandbox.state();
    assert_eq!((after.heads, after.config), (before.heads, before.config));
    assert_eq!(sandbox.git(&["status", "--porcelain", "-unormal"]), "");
    let shown = sandbox.run(&["show", &update]);
    assert!(shown.contains("+Better text."), "{shown}");
    sandbox.run(&["diff", &update, "--no-ext-diff", "--no-textconv"]);
    sandbox.run(&["log"]);
    sandbox.run(&["status"]);
    let message = sandbox.git(&["log", "-1", "--format=%B", "--encoding=UTF-8", "--no-show-signature", "--no-color"]);
    assert!(message.lines().any(|line| line == format!("Memory-Proposal: {update}")), "{message}");
    assert!(!message.contains("Signed-off-by"), "{message}");
}

#[cfg(unix)]
#[test]
fn a_bare_repository_that_has_to_be_named_says_so() {
    let sandbox = Sandbox::bare_folder();
    sandbox.git(&["init", "-q", "--bare"]);
    sandbox.run(&["init", "--no-hooks"]);
    sandbox.git(&["config", "--global", "safe.bareRepository", "explicit"]);
    let (_, err) = sandbox.fails(128, &["list"]);
    assert!(err.contains("safe.bareRepository") || err.contains("not a git repository"), "{err}");
    let mut named = Sandbox::bare_folder();
    named.dir = sandbox.dir.clone();
    named.env.push(("GIT_DIR".into(), sandbox.dir.display().to_string()));
    named.run(&["list"]);
}

#[test]
fn a_fast_forward_only_user_gets_a_merge_all_the_same() {
    for (key, value) in [("merge.ff", "only"), ("pull.ff", "only"), ("branch.main.mergeOptions", "--ff-only")] {
        let sandbox = wiki();
        sandbox.git(&["config", "--global", key, value]);
        the_loop(&sandbox, &sandbox, "main", "");
    }
}

#[test]
fn signing_without_a_key_is_a_clear_error_and_changes_nothing() {
    let sandbox = wiki();
    let id = propose(&sandbox, "gotchas/z.md", Z);
    let other = propose(&sandbox, "gotchas/y.md", "# Why\n\nBecause of that.\n");
    sandbox.run(&["accept", &other]);
    for (format, key) in [("ssh", "/nowhere/key.pub"), ("openpgp", "nobody@example.com")] {
        sandbox.git(&["config", "--global", "commit.gpgSign", "true"]);
        sandbox.git(&["config", "--global", "gpg.format", format]);
        sandbox.git(&["config", "--global", "user.signingKey", key]);
        refused(&sandbox, 128, &["accept", &id], "sign");
        refused(&sandbox, 128, &["revert", &other, "--reason", "no"], "sign");
        let before = sandbox.state();
        let mut command = sandbox.memory(&["propose", "gotchas/x.md", "--rationale", "r"]);
        let output = command.write_stdin("# An X\n\nWords of it.\n").output().expect("starts");
        assert_eq!(output.status.code(), Some(128), "{output:?}");
        assert_eq!(sandbox.state(), before);
    }
    sandbox.git(&["config", "--global", "commit.gpgSign", "false"]);
    sandbox.run(&["accept", &id]);
}

#[test]
fn line_ends_that_git_converts_leave_the_reviewed_bytes() {
    for value in ["true", "input"] {
        let sandbox = with_page();
        sandbox.git(&["config", "--global", "core.autocrlf", value]);
        sandbox.git(&["config", "--global", "core.eol", "crlf"]);
        the_loop(&sandbox, &sandbox, "main", "");
        sandbox.git(&["update-index", "-q", "--really-refresh"]);
        assert_eq!(sandbox.git(&["status", "--porcelain"]), "", "{value}");
        assert!(!sandbox.git(&["cat-file", "-p", "main:gotchas/z.md"]).contains('\r'));
        assert_eq!(sandbox.git(&["diff", "--name-only"]), "");
    }
}

#[cfg(unix)]
#[test]
fn our_own_hooks_are_on_while_proposals_land() {
    let mut sandbox = Sandbox::new();
    sandbox.now = None;
    sandbox.run(&["init", "--hooks"]);
    failing_hooks(&sandbox.path(".git/hooks"), &["pre-commit", "pre-merge-commit", "commit-msg"]);
    the_loop(&sandbox, &sandbox, "main", "");
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    let queue = std::fs::read_dir(sandbox.path(".git/memory/queue")).map_or(0, Iterator::count);
    assert_eq!(queue, 0, "our own landings are no trigger");
}

#[cfg(unix)]
#[test]
fn a_failing_post_merge_hook_of_the_user_does_not_undo_a_landing() {
    let sandbox = wiki();
    failing_hooks(&sandbox.path(".git/hooks"), &HOOKS);
    the_loop(&sandbox, &sandbox, "main", "");
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
}

#[cfg(unix)]
#[test]
fn a_reference_transaction_hook_that_refuses_is_reported_and_nothing_is_half_done() {
    let sandbox = wiki();
    let id = propose(&sandbox, "gotchas/z.md", Z);
    failing_hooks(&sandbox.path(".git/hooks"), &["reference-transaction"]);
    let head = sandbox.rev("main");
    let output = sandbox.memory(&["accept", &id]).output().expect("starts");
    assert!(matches!(output.status.code(), Some(1 | 75 | 128)), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("refused") || said.contains("hook"), "{said}");
    assert_eq!(sandbox.rev("main"), head);
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    std::fs::remove_file(sandbox.path(".git/hooks/reference-transaction")).expect("removed");
    sandbox.run(&["accept", &id]);
}

#[test]
fn variables_of_a_calling_git_lead_nowhere_else() {
    // As a hook of another repository would have them, and as a hook of this one has them.
    let mut sandbox = with_page();
    sandbox.write("a.rs", "staged\n");
    sandbox.git(&["add", "a.rs"]);
    sandbox.write("README.md", "# Dirty\n");
    let id = propose(&sandbox, "gotchas/z.md", Z);
    let index = sandbox.path(".git/index.other");
    std::fs::copy(sandbox.path(".git/index"), &index).expect("an index");
    let other = std::fs::read(&index).expect("the other index");
    let entry = sandbox.git(&["ls-files", "--stage", "a.rs"]);
    sandbox.env.push(("GIT_DIR".into(), sandbox.path(".git").display().to_string()));
    sandbox.env.push(("GIT_INDEX_FILE".into(), index.display().to_string()));
    sandbox.env.push(("GIT_PREFIX".into(), "notes/".into()));
    sandbox.env.push(("GIT_WORK_TREE".into(), sandbox.dir.display().to_string()));
    sandbox.run(&["accept", &id]);
    sandbox.env.clear();
    assert_eq!(std::fs::read(&index).expect("the other index"), other, "the index of the caller is not ours to write");
    assert_eq!(sandbox.git(&["ls-files", "--stage", "a.rs"]), entry);
    assert_eq!(sandbox.git(&["status", "--porcelain"]), " M README.md\nA  a.rs");
    assert!(sandbox.path("gotchas/z.md").is_file());
}
