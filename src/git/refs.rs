//! Reading refs, and changing them in one transaction.

use std::error::Error as StdError;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bstr::{BStr, ByteSlice};

use super::command::explain;
use super::{Error, Oid, Output, Repo, Result, fault, packed_refs};

/// How the repository stores its refs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefFormat {
    /// Loose files and `packed-refs`.
    Files,
    /// Reftable: read through the git program, as gix would list nothing and report no error.
    Reftable,
}

/// One change of one ref inside a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefEdit {
    /// The full name, `refs/…`.
    pub name: String,
    /// The value it must have now; `None`: it must not exist.
    pub old: Option<Oid>,
    /// The value it gets; `None`: it is deleted.
    pub new: Option<Oid>,
}

/// How long a transaction waits for the locks of others before it gives up.
const PATIENCE: Duration = Duration::from_secs(2);

/// How many symbolic refs may point to each other in a row; git's own limit.
const DEPTH: usize = 5;

impl Repo {
    /// The commit (or other object) that a full ref name points to, symbolic refs followed.
    ///
    /// # Errors
    /// [`Error::Read`] when the ref exists and is broken.
    pub fn reference(&self, name: &str) -> Result<Option<Oid>> {
        match self.format() {
            RefFormat::Files => self.follow(name),
            RefFormat::Reftable if name.starts_with("refs/") => {
                let found = self.for_each_ref(name)?;
                Ok(found.into_iter().find(|(full, _)| full == name).map(|(_, oid)| oid))
            }
            RefFormat::Reftable => {
                let out = self.git().args(["rev-parse", "--quiet", "--verify", name]).output()?;
                if out.code == Some(0) { oid_of(&out.stdout, name).map(Some) } else { Ok(None) }
            }
        }
    }

    fn format(&self) -> RefFormat {
        self.ref_format()
    }

    fn follow(&self, name: &str) -> Result<Option<Oid>> {
        let mut at = name.to_owned();
        for _ in 0..DEPTH {
            let broken = |reason: String| Error::Read { what: at.clone(), reason };
            let full = gix::refs::FullName::try_from(at.as_str()).map_err(|error| broken(error.to_string()))?;
            let Some(found) = self.inner.try_find_reference(full.as_ref()).map_err(|error| broken(explain(&error)))?
            else {
                return Ok(None);
            };
            // A short-hand lookup may answer with `refs/refs/…`; only the very name counts.
            if found.name() != full.as_ref() {
                return Ok(None);
            }
            match found.target() {
                gix::refs::TargetRef::Object(oid) => return Ok(Some(oid.to_owned())),
                gix::refs::TargetRef::Symbolic(next) => at = next.as_bstr().to_str_lossy().into_owned(),
            }
        }
        Err(Error::read(name, "symbolic refs point to each other in a circle"))
    }

    /// All refs below a prefix such as `refs/memory/pending/`, sorted by name, with full names. Symbolic refs that
    /// point nowhere are left out.
    ///
    /// # Errors
    /// [`Error::Read`] when any of them is broken.
    pub fn references(&self, prefix: &str) -> Result<Vec<(String, Oid)>> {
        if self.format() == RefFormat::Reftable {
            return self.for_each_ref(prefix);
        }
        let broken = |reason: String| Error::Read { what: format!("the refs below {prefix}"), reason };
        match self.walk(prefix) {
            Ok(refs) => Ok(refs),
            // Somebody deleted or packed a ref between the folder's listing and its reading. Git reads the loose refs
            // before the packed ones and knows how to look again.
            Err(error) if vanished(error.as_ref()) => self.for_each_ref(prefix),
            Err(error) => Err(broken(error.to_string())),
        }
    }

    fn walk(&self, prefix: &str) -> std::result::Result<Vec<(String, Oid)>, Box<dyn StdError + Send + Sync>> {
        let platform = self.inner.references()?;
        let mut refs = Vec::new();
        for reference in platform.prefixed(prefix.as_bytes())? {
            let reference = reference?;
            let name = reference.name().as_bstr().to_str_lossy().into_owned();
            let oid = match reference.target() {
                gix::refs::TargetRef::Object(oid) => Some(oid.to_owned()),
                gix::refs::TargetRef::Symbolic(_) => self.follow(&name)?,
            };
            if let Some(oid) = oid {
                refs.push((name, oid));
            }
        }
        refs.sort_unstable();
        Ok(refs)
    }

    fn for_each_ref(&self, prefix: &str) -> Result<Vec<(String, Oid)>> {
        let pattern = prefix.trim_end_matches('/');
        let out = self.git().args(["for-each-ref", "--format=%(objectname) %(refname)", pattern]).run()?;
        let mut refs = Vec::new();
        for line in out.lines() {
            let Some((oid, name)) = line.split_once_str(" ") else { continue };
            let name = name.to_str_lossy().into_owned();
            if name.starts_with(prefix) {
                refs.push((name.clone(), oid_of(oid, &name)?));
            }
        }
        refs.sort_unstable();
        Ok(refs)
    }

    /// The full name of the branch HEAD is on (also when unborn); `None` when HEAD is detached.
    ///
    /// # Errors
    /// [`Error::Read`] when HEAD cannot be read.
    pub fn head_branch(&self) -> Result<Option<String>> {
        if self.format() == RefFormat::Reftable {
            let out = self.git().args(["symbolic-ref", "--quiet", "HEAD"]).output()?;
            let name = out.stdout.trim().to_str_lossy().into_owned();
            return Ok((out.code == Some(0) && !name.is_empty()).then_some(name));
        }
        let head = self.inner.head_name().map_err(|error| Error::read("HEAD", explain(&error)))?;
        Ok(head.map(|name| name.as_bstr().to_str_lossy().into_owned()))
    }

    /// Applies all edits in one `git update-ref --stdin -z` transaction, or none of them. An edit whose two values
    /// are equal only checks. Waits about two seconds for locks of others. Many new refs go into `packed-refs` at once.
    ///
    /// # Errors
    /// [`Error::RefMoved`] when a ref does not have its old value; [`Error::Busy`] when somebody keeps a lock;
    /// [`Error::Write`] when the disk is full or cannot be written.
    pub fn update_refs(&self, edits: &[RefEdit], reflog: &str) -> Result<()> {
        if edits.is_empty() {
            return Ok(());
        }
        fault::point("refs.before");
        if packed_refs::update(self, edits)? {
            fault::point("refs.after");
            return Ok(());
        }
        let input = self.transaction(edits);
        let end = Instant::now() + PATIENCE;
        let mut pause = Duration::from_millis(10 + u64::from(std::process::id() % 10));
        loop {
            let git = self
                .git()
                .args(["-c", "core.fsync=objects,reference", "-c", "core.warnAmbiguousRefs=false"])
                .args(["update-ref", "-m", reflog, "--stdin", "-z"])
                .stdin(input.clone());
            let line = git.line();
            let output = git.output()?;
            if output.code == Some(0) {
                break;
            }
            if !locked(&output.stderr) || Instant::now() >= end {
                return Err(self.classify(output, line));
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(200));
        }
        fault::point("refs.after");
        Ok(())
    }

    fn transaction(&self, edits: &[RefEdit]) -> Vec<u8> {
        let null = self.null_oid();
        let mut input = b"start\0".to_vec();
        for edit in edits {
            let old = edit.old.unwrap_or(null);
            let line = match (edit.old, edit.new) {
                (old, new) if old == new => format!("verify {}\0{}\0", edit.name, old.unwrap_or(null)),
                (_, Some(new)) => format!("update {}\0{new}\0{old}\0", edit.name),
                (_, None) => format!("delete {}\0{old}\0", edit.name),
            };
            input.extend_from_slice(line.as_bytes());
        }
        input.extend_from_slice(b"prepare\0commit\0");
        input
    }

    fn classify(&self, output: Output, line: String) -> Error {
        let said = output.stderr.as_str();
        if locked(said) {
            let whole = self.common_dir().join("reftable/tables.list.lock");
            let reason = if whole.exists() { held_lock(&whole) } else { lock_advice(said) };
            return Error::Busy { reason };
        }
        let moved = ["but expected", "reference already exists", "unable to resolve reference", "reference is missing"];
        if moved.iter().any(|text| said.contains(text)) {
            let name = said.split('\'').find(|part| part.starts_with("refs/")).unwrap_or("a ref").to_owned();
            return Error::RefMoved { name };
        }
        if disk_trouble(said) {
            return Error::write(format!("refs in {}", self.common_dir().display()), said.trim());
        }
        output.failed(line)
    }
}

/// Whether a file was gone when it was to be read.
fn vanished(error: &(dyn StdError + 'static)) -> bool {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if error.downcast_ref::<io::Error>().is_some_and(|io| io.kind() == io::ErrorKind::NotFound) {
            return true;
        }
        cause = error.source();
    }
    false
}

/// The id at the start of what git printed.
pub(super) fn oid_of(text: &[u8], what: &str) -> Result<Oid> {
    Oid::from_hex(text.trim()).map_err(|error| Error::read(what, error))
}

/// Whether git failed because of a lock that somebody else holds.
fn locked(said: &str) -> bool {
    (said.contains(".lock'") && said.contains("File exists"))
        // A reftable is locked as a whole, and git does not name the file.
        || said.contains("data is locked")
        || said.contains("cannot lock references")
}

/// Whether git failed because nothing can be written. It does not always say why.
pub(super) fn disk_trouble(said: &str) -> bool {
    [
        "No space left on device",
        "Read-only file system",
        "Permission denied",
        "Disk quota exceeded",
        "couldn't write",
        "unable to write",
        "write error",
    ]
    .iter()
    .any(|text| said.contains(text))
}

/// What to do about the lock file that a message of git names.
pub(super) fn lock_advice(said: &str) -> String {
    match said.split('\'').find(|part| part.ends_with(".lock")) {
        Some(path) => held_lock(Path::new(path)),
        None => format!("git could not take a lock: {}", said.trim()),
    }
}

/// Names a lock file, its age and the way to get rid of it when git died and left it.
pub(super) fn held_lock(path: &Path) -> String {
    let age = std::fs::metadata(path).and_then(|file| file.modified()).ok().and_then(|at| at.elapsed().ok());
    let age = age.map_or_else(|| "of unknown age".to_owned(), |age| format!("{} old", spoken(age)));
    format!(
        "{path} exists ({age}): another git is at work here. If none is, a killed one left it; remove it with: rm '{path}'",
        path = path.display()
    )
}

fn spoken(age: Duration) -> String {
    match age.as_secs() {
        secs @ 0..120 => format!("{secs} s"),
        secs @ 120..7200 => format!("{} min", secs / 60),
        secs @ 7200..172_800 => format!("{} h", secs / 3600),
        secs => format!("{} days", secs / 86_400),
    }
}

/// A path that git printed.
pub(super) fn path_of(bytes: &BStr) -> PathBuf {
    gix::path::from_bstr(bytes).map_or_else(|_| PathBuf::from(bytes.to_string()), |path| path.into_owned())
}
