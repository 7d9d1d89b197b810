//! A sealed place for tests of the binary: its own home, no system or user git configuration, no agent's environment.

#![allow(dead_code)]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The binary under test.
pub const BIN: &str = env!("CARGO_BIN_EXE_git-memory");

/// The time at which a sandbox's clock stands unless a test sets another: for git's dates and for the binary.
pub const NOW: &str = "2026-03-01T12:00:00Z";

/// The corpus of real transcripts, when it is at hand: `GIT_MEMORY_CORPUS`, else `../shared/corpus`.
pub fn corpus() -> Option<PathBuf> {
    let path = std::env::var_os("GIT_MEMORY_CORPUS")
        .map(PathBuf::from)
        .unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus"));
    path.is_dir().then_some(path)
}

/// A temporary folder with a home of its own and a working folder `work`, in which everything runs.
pub struct Sandbox {
    root: tempfile::TempDir,
    /// The folder that commands run in; a test may point it elsewhere.
    pub dir: PathBuf,
    /// The clock; `None` is the real one.
    pub now: Option<String>,
    /// Further environment of every command.
    pub env: Vec<(String, String)>,
}

/// What a command must not have changed. Compare with `assert_eq!`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// All refs with their values, and HEAD.
    pub refs: String,
    /// The index: modes, blobs, stages, flags, paths.
    pub index: String,
    /// `git status` with untracked and ignored files.
    pub status: String,
    /// The repository's own config file.
    pub config: String,
    /// ORIG_HEAD and FETCH_HEAD.
    pub heads: String,
    /// Every file of the work tree outside `.git`, with its bytes.
    pub files: Vec<(PathBuf, Vec<u8>)>,
}

impl Sandbox {
    /// A home and an empty folder that is no repository.
    pub fn bare_folder() -> Sandbox {
        let root = tempfile::tempdir().expect("a temporary folder");
        let path = root.path().canonicalize().expect("its real path");
        for folder in ["home/.config", "work"] {
            std::fs::create_dir_all(path.join(folder)).expect("folders");
        }
        let identity = "[user]\n\tname = Ada Tester\n\temail = ada@example.com\n[init]\n\tdefaultBranch = main\n\
                        [advice]\n\tdefaultBranchName = false\n[core]\n\tautocrlf = false\n[gc]\n\tauto = 0\n";
        std::fs::write(path.join("home/gitconfig"), identity).expect("git configuration");
        Sandbox { dir: path.join("work"), root, now: Some(NOW.into()), env: Vec::new() }
    }

    /// A repository without commits.
    pub fn empty() -> Sandbox {
        let sandbox = Sandbox::bare_folder();
        sandbox.git(&["init", "-q"]);
        sandbox
    }

    /// A repository with one commit, of `README.md`.
    pub fn new() -> Sandbox {
        let sandbox = Sandbox::empty();
        sandbox.write("README.md", "# Project\n");
        sandbox.commit("Start");
        sandbox
    }

    /// The same place once more, to be changed without the other: everything below the folder is copied.
    pub fn copy(&self) -> Sandbox {
        let root = tempfile::tempdir().expect("a temporary folder");
        let to = root.path().canonicalize().expect("its real path");
        copy_folder(&self.root(), &to);
        let dir = to.join(self.dir.strip_prefix(self.root()).expect("the working folder is below"));
        Sandbox { dir, root, now: self.now.clone(), env: self.env.clone() }
    }

    /// The folder that holds everything (`home/`, `work/`, and what a test adds beside them).
    pub fn root(&self) -> PathBuf {
        self.root.path().canonicalize().expect("its real path")
    }

    /// The home folder.
    pub fn home(&self) -> PathBuf {
        self.root().join("home")
    }

    /// A path in the working folder.
    pub fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.dir.join(path)
    }

    /// The environment of every command: nothing but what is named here.
    pub fn variables(&self) -> Vec<(String, String)> {
        let home = self.home().display().to_string();
        let tools = std::env::var("PATH").unwrap_or_default();
        let binary = Path::new(BIN).parent().expect("the binary's folder").display();
        let mut all = vec![
            ("PATH".into(), format!("{binary}:{tools}")),
            ("HOME".into(), home.clone()),
            ("XDG_CONFIG_HOME".into(), format!("{home}/.config")),
            ("GIT_CONFIG_NOSYSTEM".into(), "1".into()),
            ("GIT_CONFIG_GLOBAL".into(), format!("{home}/gitconfig")),
            ("GIT_TERMINAL_PROMPT".into(), "0".into()),
            ("GIT_EDITOR".into(), "true".into()),
            ("GIT_PAGER".into(), "cat".into()),
            ("LC_ALL".into(), "C.UTF-8".into()),
            ("TZ".into(), "UTC".into()),
            ("TERM".into(), "dumb".into()),
        ];
        for name in ["GIT_MEMORY_BACKTRACE", "LLVM_PROFILE_FILE", "SystemRoot", "TMPDIR"] {
            if let Ok(value) = std::env::var(name) {
                all.push((name.into(), value));
            }
        }
        if let Some(now) = &self.now {
            all.push(("GIT_MEMORY_NOW".into(), now.clone()));
            all.push(("GIT_AUTHOR_DATE".into(), now.clone()));
            all.push(("GIT_COMMITTER_DATE".into(), now.clone()));
        }
        all.extend(self.env.iter().cloned());
        all
    }

    /// Any program, sealed, in the working folder.
    pub fn program(&self, name: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(name);
        command.env_clear().envs(self.variables()).current_dir(&self.dir);
        command
    }

    /// Runs git; panics with what it said when it fails. Returns standard output without its last newline.
    pub fn git(&self, args: &[&str]) -> String {
        let output = self.try_git(args);
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim_end_matches('\n').to_owned()
    }

    /// Runs git, whatever comes of it.
    pub fn try_git(&self, args: &[&str]) -> Output {
        self.program("git").args(args).output().expect("git starts")
    }

    /// The binary with these arguments, sealed, in the working folder, without standard input.
    pub fn memory(&self, args: &[&str]) -> assert_cmd::Command {
        let mut command = assert_cmd::Command::from_std(self.program(BIN));
        command.args(args).write_stdin("");
        command
    }

    /// Runs the binary, which must succeed; returns standard output.
    pub fn run(&self, args: &[&str]) -> String {
        let output = self.memory(args).output().expect("the binary starts");
        assert!(
            output.status.success(),
            "git-memory {args:?} ({}): {}{}",
            output.status,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Runs the binary, which must end with this exit code; returns standard output and standard error.
    pub fn fails(&self, code: i32, args: &[&str]) -> (String, String) {
        let output = self.memory(args).output().expect("the binary starts");
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(code), "git-memory {args:?}: {out}{err}");
        (out.into_owned(), err.into_owned())
    }

    /// Runs the binary with `--json`, which must succeed; returns the one object, which is as its schema says.
    pub fn json(&self, args: &[&str]) -> serde_json::Value {
        let mut all = args.to_vec();
        all.push("--json");
        let text = self.run(&all);
        let value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("git-memory {all:?}: {error} in {text}"));
        is_as_its_schema_says(&value);
        value
    }

    /// Runs the binary with `--json`, which must end with this exit code; returns the error object.
    pub fn json_error(&self, code: i32, args: &[&str]) -> serde_json::Value {
        let mut all = args.to_vec();
        all.push("--json");
        let (text, _) = self.fails(code, &all);
        let value: serde_json::Value =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("git-memory {all:?}: {error} in {text}"));
        assert_eq!(value["schema"], "git-memory.error/1", "{value}");
        is_as_its_schema_says(&value);
        value
    }

    /// Writes a file in the working folder, with its folders.
    pub fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.dir.join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        std::fs::write(&path, bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }

    /// Reads a file in the working folder.
    pub fn read(&self, path: &str) -> String {
        let bytes = std::fs::read(self.dir.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Commits everything in the work tree; returns the commit.
    pub fn commit(&self, message: &str) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// What a revision names.
    pub fn rev(&self, revision: &str) -> String {
        self.git(&["rev-parse", "--verify", revision])
    }

    /// All refs below a prefix, with their values.
    pub fn refs(&self, prefix: &str) -> String {
        self.git(&["for-each-ref", "--format=%(refname) %(objectname)", prefix])
    }

    /// The paths of a commit's tree.
    pub fn tree(&self, revision: &str) -> Vec<String> {
        self.git(&["ls-tree", "-r", "-z", "--name-only", revision]).split_terminator('\0').map(str::to_owned).collect()
    }

    /// `git fsck --strict` finds nothing wrong.
    pub fn fsck(&self) {
        let output = self.try_git(&["fsck", "--strict", "--no-dangling"]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git fsck: {}{said}", String::from_utf8_lossy(&output.stdout));
    }

    /// Everything that a refused command must leave as it was.
    pub fn state(&self) -> State {
        let git = |args: &[&str]| {
            let output = self.program("git").env("GIT_OPTIONAL_LOCKS", "0").args(args).output().expect("git starts");
            String::from_utf8_lossy(&output.stdout).into_owned()
        };
        let folder = PathBuf::from(git(&["rev-parse", "--absolute-git-dir"]).trim_end());
        let common = PathBuf::from(git(&["rev-parse", "--path-format=absolute", "--git-common-dir"]).trim_end());
        let file = |path: PathBuf| std::fs::read_to_string(path).unwrap_or_default();
        let top = git(&["rev-parse", "--show-toplevel"]);
        State {
            refs: git(&["for-each-ref", "--format=%(refname) %(objectname)"]) + &file(folder.join("HEAD")),
            index: git(&["ls-files", "--stage", "-v"]),
            status: git(&["status", "--porcelain=v1", "--untracked-files=all", "--ignored"]),
            config: file(common.join("config")),
            heads: file(folder.join("ORIG_HEAD")) + &file(folder.join("FETCH_HEAD")),
            files: if top.is_empty() { Vec::new() } else { files(Path::new(top.trim_end())) },
        }
    }

    /// Every file below the repository's git folder with its bytes: refs, objects, index, configuration, local state.
    /// For showing that a command wrote nothing at all.
    pub fn git_files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        files(Path::new(&self.git(&["rev-parse", "--path-format=absolute", "--git-common-dir"])))
    }
}

/// Fails unless the object names a schema that `git memory schema` has, and is what that says.
pub fn is_as_its_schema_says(value: &serde_json::Value) {
    use git_memory::cli::schema;
    let id = value["schema"].as_str().unwrap_or_else(|| panic!("no schema is named in {value}"));
    let schema = schema::find(id).unwrap_or_else(|| panic!("{id} has no row in src/cli/schema/made.rs"));
    let validator = jsonschema::validator_for(&schema).unwrap_or_else(|error| panic!("{id}: {error}"));
    let faults: Vec<String> = validator.iter_errors(value).map(|fault| fault.to_string()).collect();
    assert!(faults.is_empty(), "{value} is not {id}: {faults:?}");
}

fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder").flatten() {
        let (old, new) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().expect("a kind");
        if kind.is_dir() {
            copy_folder(&old, &new);
        } else if kind.is_file() {
            std::fs::copy(&old, &new).expect("a copy");
        }
    }
}

/// Every file below a folder (not below a `.git` in it), with its bytes, by path.
pub fn files(top: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![top.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder").flatten() {
            let path = entry.path();
            if entry.file_name() == ".git" {
                continue;
            }
            let kind = entry.file_type().expect("a kind");
            if kind.is_dir() {
                folders.push(path);
                continue;
            }
            let bytes = if kind.is_symlink() {
                std::fs::read_link(&path).expect("a link").into_os_string().into_encoded_bytes()
            } else {
                std::fs::read(&path).unwrap_or_default()
            };
            found.push((path.strip_prefix(top).expect("below it").to_owned(), bytes));
        }
    }
    found.sort();
    found
}

/// Whether a line is as expected; `…` in it stands for anything.
pub fn line_matches(expected: &str, line: &str) -> bool {
    let mut parts = expected.trim_end().split('…');
    let Some(mut rest) = parts.next().and_then(|first| line.trim_end().strip_prefix(first)) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}
