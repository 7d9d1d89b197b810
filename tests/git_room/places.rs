use git_memory::git::{Error, Git, RefFormat, Repo};

use crate::sandbox::*;

#[test]
fn the_parts_of_a_repository_are_found_from_every_kind_of_place() {
    let sandbox = Sandbox::new();
    let dir = sandbox.with_files("r", &[], &[("sub/a.md", "a")]);
    let linked = sandbox.path("linked");
    git(&dir, &["worktree", "add", "-q", linked.to_str().unwrap(), "-b", "side"]);
    let bare = sandbox.init("bare.git", &["--bare"]);

    let main = Repo::discover(&dir.join("sub")).unwrap();
    assert_eq!((main.git_dir(), main.workdir()), (dir.join(".git").as_path(), Some(dir.clone())));
    assert_eq!(main.memory_dir(), dir.join(".git/memory"));
    let side = Repo::discover(&linked).unwrap();
    assert_eq!((side.common_dir(), side.workdir()), (dir.join(".git"), Some(linked.clone())));
    assert_eq!(side.git_dir(), dir.join(".git/worktrees/linked"));
    assert_eq!(side.head_branch().unwrap().as_deref(), Some("refs/heads/side"));
    let bare = Repo::open(&bare).unwrap();
    assert!(bare.is_bare() && !main.is_bare());
    assert_eq!(bare.common_dir(), sandbox.path("bare.git"));
    assert!(matches!(Repo::discover(&sandbox.path("")), Err(Error::NotARepository(_))));
    assert!(matches!(Repo::open(&sandbox.path("none")), Err(Error::NotARepository(_))));

    let worktrees = side.worktrees().unwrap();
    let told: Vec<_> =
        worktrees.iter().map(|w| (w.path.clone(), w.git_dir.clone(), w.branch.clone().unwrap())).collect();
    assert_eq!(
        told,
        [
            (dir.clone(), dir.join(".git"), "refs/heads/wiki".to_owned()),
            (linked.clone(), dir.join(".git/worktrees/linked"), "refs/heads/side".to_owned())
        ]
    );
    std::fs::remove_dir_all(&linked).unwrap();
    let gone = &main.worktrees().unwrap()[1];
    assert!(gone.prunable);
    assert_eq!(gone.git_dir, dir.join(".git/worktrees/linked"));
}

#[test]
fn a_repository_in_a_format_we_do_not_know_is_refused_with_the_reason() {
    let sandbox = Sandbox::new();
    for (key, value, word) in [
        ("extensions.fromTheFuture", "true", "fromTheFuture"),
        ("extensions.refStorage", "cloud", "cloud"),
        ("extensions.objectFormat", "sha512", "sha512"),
        ("core.repositoryFormatVersion", "7", "7"),
    ] {
        let dir = sandbox.init(word, &[]);
        git(&dir, &["config", "core.repositoryFormatVersion", "1"]);
        git(&dir, &["config", key, value]);
        match Repo::open(&dir) {
            Err(Error::Open { reason, .. }) => assert!(reason.contains(word), "{key}: {reason}"),
            Err(other) => panic!("{key}: {other}"),
            Ok(_) => panic!("{key}: opened"),
        }
    }
    let dir = sandbox.init("reftable", &["--ref-format=reftable"]);
    assert_eq!(Repo::open(&dir).unwrap().ref_format(), RefFormat::Reftable);
}

#[test]
fn settings_come_from_all_layers_with_their_origin() {
    let sandbox = Sandbox::new();
    let dir = sandbox.init("r", &[]);
    git(&dir, &["config", "memory.wiki.branch", "notes"]);
    git(&dir, &["config", "memory.scheduler.intervalSecs", "5"]);
    git(&dir, &["config", "--add", "memory.list", "one"]);
    git(&dir, &["config", "--add", "memory.list", "two"]);
    git(&dir, &["config", "remote.origin.url", "https://example.org/x.git"]);
    std::fs::write(dir.join(".git/more"), "[memory]\n\tflag\n").unwrap();
    git(&dir, &["config", "include.path", "more"]);
    let repo = Repo::open(&dir).unwrap();
    assert_eq!(repo.config("memory.wiki.branch").as_deref(), Some("notes"));
    let all = repo.memory_config();
    let local = dir.join(".git/config");
    for (key, value) in [("wiki.branch", "notes"), ("scheduler.intervalSecs", "5"), ("list", "one"), ("list", "two")] {
        assert!(all.contains(&(key.into(), value.into(), local.clone())), "{key} in {all:?}");
    }
    assert!(all.contains(&("flag".into(), "true".into(), dir.join(".git/more"))), "{all:?}");
    assert_eq!(repo.remotes(), ["https://example.org/x.git"]);
    repo.set_config("memory.wiki.branch", "other").unwrap();
    assert_eq!(Repo::open(&dir).unwrap().config("memory.wiki.branch").as_deref(), Some("other"));
    assert_eq!(repo.operator().unwrap(), person());
}

#[test]
fn a_command_that_answers_while_it_reads_does_not_block() {
    let sandbox = Sandbox::new();
    let dir = sandbox.with_files("r", &[], &[("a.md", &"x".repeat(100_000))]);
    let repo = Repo::open(&dir).unwrap();
    let asked = "HEAD:a.md\n".repeat(200);
    let out = repo.git().args(["cat-file", "--batch"]).stdin(asked).run().unwrap();
    assert!(out.len() > 20_000_000);
    match repo.git().args(["rev-parse", "--verify", "no such"]).run() {
        Err(Error::Command { command, stderr, .. }) => {
            assert_eq!(command, "git rev-parse --verify 'no such'");
            assert!(stderr.starts_with("fatal:"));
        }
        other => panic!("{other:?}"),
    }
    assert!(repo.git_version().unwrap().major >= 2);
    assert!(std::fs::read_to_string(dir.join(".git/memory/git-version")).unwrap().contains("git version"));
    assert_eq!(Git::anywhere().arg("version").output().unwrap().code, Some(0));
}

#[test]
fn history_is_walked_by_first_parents_and_ends_at_a_shallow_cut() {
    let sandbox = Sandbox::new();
    let dir = sandbox.with_files("r", &[], &[("a.md", "0")]);
    let root = rev(&dir, "HEAD");
    git(&dir, &["switch", "-qc", "side"]);
    let side = oid(&commit_files(&dir, &[("s.md", "s")], "side"));
    git(&dir, &["switch", "-q", "wiki"]);
    for n in 1..100 {
        commit_files(&dir, &[("a.md", &n.to_string())], "next");
    }
    git(&dir, &["merge", "-q", "--no-ff", "-m", "merge", "side"]);
    let tip = rev(&dir, "HEAD");
    let repo = Repo::open(&dir).unwrap();
    let (chain, met) = repo.first_parents(tip, Some(root)).unwrap();
    assert_eq!((chain.len(), met), (100, true));
    assert_eq!(chain[0].parents[1], side);
    assert!(!repo.first_parents(tip, Some(side)).unwrap().1);
    assert!(repo.is_ancestor(root, tip).unwrap() && repo.is_ancestor(side, tip).unwrap());
    assert!(!repo.is_ancestor(tip, root).unwrap() && !repo.is_ancestor(side, chain[1].oid).unwrap());

    let url = format!("file://{}", dir.display());
    let clone = sandbox.path("shallow");
    git(&sandbox.path(""), &["clone", "-q", "--depth=3", &url, clone.to_str().unwrap()]);
    let shallow = Repo::open(&clone).unwrap();
    assert!(shallow.is_shallow() && !repo.is_shallow());
    let (chain, met) = shallow.first_parents(tip, Some(root)).unwrap();
    assert_eq!((chain.len(), met), (3, false));
    assert!(shallow.is_ancestor(chain[2].oid, tip).unwrap());
}

#[test]
fn a_partial_clone_gets_a_missing_blob_from_its_remote() {
    let sandbox = Sandbox::new();
    let dir = sandbox.with_files("r", &[], &[("a.md", "far away")]);
    git(&dir, &["config", "uploadpack.allowFilter", "true"]);
    git(&dir, &["config", "uploadpack.allowAnySHA1InWant", "true"]);
    let url = format!("file://{}", dir.display());
    let clone = sandbox.path("partial");
    git(&sandbox.path(""), &["clone", "-q", "--no-checkout", "--filter=blob:none", &url, clone.to_str().unwrap()]);
    let repo = Repo::open(&clone).unwrap();
    assert!(repo.is_partial());
    assert_eq!(repo.file(rev(&clone, "HEAD"), "a.md".into()).unwrap().unwrap(), b"far away");
}

/// Runs [`report_from_the_environment`] in a process of its own, as a hook would be, and returns what it saw.
fn seen_by_a_child(dir: &std::path::Path, variables: &[(&str, &str)]) -> String {
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "places::report_from_the_environment", "--ignored", "--nocapture"])
        .current_dir(dir)
        .env("SEEN_FROM", dir)
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().find_map(|line| line.split_once("SEEN ")).map(|(_, seen)| seen.to_owned()).unwrap_or(text)
}

#[test]
#[ignore = "the child of other tests"]
fn report_from_the_environment() {
    // The parent sealed the environment already.
    let Some(dir) = std::env::var_os("SEEN_FROM") else { return };
    let show = |repo: Result<Repo, Error>| match repo {
        Ok(repo) => format!(
            "{} {} {}",
            repo.git_dir().display(),
            repo.workdir().map_or("-".to_owned(), |dir| dir.display().to_string()),
            String::from_utf8_lossy(&repo.git().args(["rev-parse", "--absolute-git-dir"]).run().unwrap()).trim()
        ),
        Err(error) => error.to_string(),
    };
    let other = std::env::var_os("SEEN_OTHER").map(|other| show(Repo::open(other.as_ref()))).unwrap_or_default();
    let setting = Repo::discover(dir.as_ref()).ok().and_then(|repo| repo.config("memory.seen")).unwrap_or_default();
    println!("\nSEEN {}|{}|{}|{setting}", show(Repo::discover(dir.as_ref())), show(Repo::above(dir.as_ref())), other);
}

#[test]
fn variables_of_a_calling_git_choose_the_repository_in_discover_and_nowhere_else() {
    let sandbox = Sandbox::new();
    let (here, there) =
        (sandbox.with_files("here", &[], &[("a", "a")]), sandbox.with_files("there", &[], &[("a", "a")]));
    let (here_git, there_git) = (here.join(".git"), there.join(".git"));
    let told = |git: &std::path::Path, work: &std::path::Path| format!("{0} {1} {0}", git.display(), work.display());
    let mine = told(&here_git, &here);
    let other = here.to_str().unwrap();

    assert_eq!(
        seen_by_a_child(&here, &[("SEEN_OTHER", there.to_str().unwrap())]),
        format!("{mine}|{mine}|{}|", told(&there_git, &there))
    );
    let hook = [
        ("GIT_DIR", there_git.to_str().unwrap()),
        ("GIT_WORK_TREE", there.to_str().unwrap()),
        ("GIT_INDEX_FILE", "/nonexistent/index"),
        ("GIT_OBJECT_DIRECTORY", "/nonexistent/objects"),
        ("GIT_NAMESPACE", "space"),
        ("GIT_PREFIX", "sub/"),
        ("SEEN_OTHER", other),
    ];
    assert_eq!(seen_by_a_child(&here, &hook), format!("{}|{mine}|{mine}|", told(&there_git, &there)));
    assert_eq!(
        seen_by_a_child(&here, &[("GIT_DIR", "../there/.git"), ("SEEN_OTHER", other)]).split('|').next().unwrap(),
        told(&there_git, &there)
    );
    let wrong = [("GIT_DIR", there_git.to_str().unwrap()), ("GIT_COMMON_DIR", here_git.to_str().unwrap())];
    assert!(seen_by_a_child(&here, &wrong).contains("GIT_COMMON_DIR"));
    for variables in [
        vec![("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", "memory.seen"), ("GIT_CONFIG_VALUE_0", "yes")],
        vec![("GIT_CONFIG_PARAMETERS", "'memory.seen'='yes'")],
    ] {
        assert!(seen_by_a_child(&here, &variables).ends_with("|yes"), "{variables:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_repository_of_another_user_is_refused_until_it_is_declared_safe() {
    let sandbox = Sandbox::new();
    let dir = sandbox.with_files("r", &[], &[("a", "a")]);
    let given = std::process::Command::new("chown").args(["-R", "12345"]).arg(&dir).status().unwrap();
    if !given.success() {
        return; // Only root can give files away.
    }
    let seen = seen_by_a_child(&dir, &[]);
    assert!(seen.contains("another user") && seen.contains("safe.directory"), "{seen}");
    let global = sandbox.path("global");
    std::fs::write(&global, format!("[safe]\n\tdirectory = {}\n", dir.display())).unwrap();
    let safe = [("GIT_CONFIG_GLOBAL", global.to_str().unwrap())];
    let seen = seen_by_a_child(&dir, &safe);
    assert!(seen.starts_with(dir.join(".git").to_str().unwrap()), "{seen}");
}
