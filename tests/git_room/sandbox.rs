//! A sealed environment: own home, fixed dates, no configuration but what a test writes.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use git_memory::git::{Batch, Entry, Mode, NewCommit, Oid, Person, Repo};
use tempfile::TempDir;

static HOME: OnceLock<TempDir> = OnceLock::new();

/// A folder for repositories; gone when dropped.
pub struct Sandbox {
    dir: TempDir,
}

impl Sandbox {
    pub fn new() -> Sandbox {
        HOME.get_or_init(|| {
            let home = tempfile::tempdir().unwrap();
            let config = "[user]\n\tname = Ada Tester\n\temail = ada@example.org\n[init]\n\tdefaultBranch = wiki\n";
            std::fs::write(home.path().join(".gitconfig"), config).unwrap();
            let dir = home.path();
            // SAFETY: every test begins here, so no other thread reads the environment before this is done.
            unsafe {
                for (key, _) in std::env::vars().filter(|(key, _)| key.starts_with("GIT_") || key == "EMAIL") {
                    std::env::remove_var(key);
                }
                std::env::set_var("HOME", dir);
                std::env::set_var("XDG_CONFIG_HOME", dir.join("xdg"));
                std::env::set_var("GIT_CONFIG_NOSYSTEM", "1");
                std::env::set_var("GIT_CONFIG_GLOBAL", dir.join(".gitconfig"));
                std::env::set_var("GIT_AUTHOR_DATE", "2026-01-02T03:04:05Z");
                std::env::set_var("GIT_COMMITTER_DATE", "2026-01-02T03:04:05Z");
            }
            home
        });
        Sandbox { dir: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(name)
    }

    /// A new repository; `options` go to `git init`.
    pub fn init(&self, name: &str, options: &[&str]) -> PathBuf {
        let path = self.path(name);
        let mut args = vec!["init", "-q"];
        args.extend_from_slice(options);
        let text = path.to_str().unwrap().to_owned();
        args.push(&text);
        git(self.dir.path(), &args);
        path
    }

    /// A repository with one commit that holds these files.
    pub fn with_files(&self, name: &str, options: &[&str], files: &[(&str, &str)]) -> PathBuf {
        let path = self.init(name, options);
        commit_files(&path, files, "first");
        path
    }
}

/// Runs git; panics with what it said when it fails.
pub fn git(dir: &Path, args: &[&str]) -> String {
    let (code, out, err) = try_git(dir, args);
    assert_eq!(code, Some(0), "git {args:?} in {}: {out}{err}", dir.display());
    out
}

pub fn try_git(dir: &Path, args: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new("git").current_dir(dir).args(args).stdin(Stdio::null()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

pub fn write(dir: &Path, file: &str, text: &str) {
    let path = dir.join(file);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

pub fn read(dir: &Path, file: &str) -> String {
    std::fs::read_to_string(dir.join(file)).unwrap()
}

pub fn commit_files(dir: &Path, files: &[(&str, &str)], message: &str) -> String {
    for (file, text) in files {
        write(dir, file, text);
        git(dir, &["add", "-f", "--", file]);
    }
    git(dir, &["commit", "-q", "--allow-empty", "-m", message]);
    git(dir, &["rev-parse", "HEAD"])
}

pub fn oid(text: &str) -> Oid {
    Oid::from_hex(text.as_bytes()).unwrap()
}

pub fn rev(dir: &Path, spec: &str) -> Oid {
    oid(&git(dir, &["rev-parse", "--verify", spec]))
}

pub fn person() -> Person {
    Person { name: "Ada Tester".into(), email: "ada@example.org".into() }
}

pub fn new_commit(tree: Oid, parents: &[Oid], message: &str) -> NewCommit {
    NewCommit {
        tree,
        parents: parents.to_vec(),
        author: person(),
        committer: person(),
        time: 1_767_323_045,
        message: message.to_owned(),
        sign: false,
    }
}

/// A durable commit on `parent` with these changes (`None` removes), named by no ref.
pub fn change(repo: &Repo, parent: Oid, edits: &[(&str, Option<&str>)]) -> Oid {
    let mut batch = Batch::new(repo);
    let mut list = Vec::new();
    for (path, text) in edits {
        let entry = text.map(|text| Entry { mode: Mode::Blob, oid: batch.blob(text.as_bytes()).unwrap() });
        list.push(((*path).into(), entry));
    }
    let tree = batch.tree(Some(parent), &list).unwrap();
    let commit = batch.commit(&new_commit(tree, &[parent], "change\n")).unwrap();
    batch.flush().unwrap();
    commit
}
