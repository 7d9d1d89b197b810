//! Which session files were read, and how far, so that an unchanged one is not read again and a grown one only from
//! there on. Local, and may be lost.

use std::collections::HashMap;
use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use crate::session::Bookmark;

/// The shape of the file, and of what is read from sessions; another number is the same as nothing.
const SHAPE: u32 = 2;

/// How much of a file's end must be as it was.
const TAIL: u64 = 4096;

/// The files that were read.
pub struct Remembered {
    place: PathBuf,
    /// A digest of the settings that decide what is kept of a file.
    settings: String,
    files: HashMap<String, Entry>,
    added: HashMap<String, Entry>,
    /// The digests of [`rules`] that this process has made.
    rules: HashMap<Vec<String>, String>,
}

/// What a file looked like when it was read, and what it gave.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Entry {
    stamp: Stamp,
    settings: String,
    /// The folders of its sessions, and a digest of the rules above them.
    cwds: Vec<String>,
    rules: String,
    gave: Gave,
    bookmark: Option<Box<RawValue>>,
}

/// What a file gave.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gave {
    /// The ids of its sessions, with how many observations each held then.
    pub sessions: Vec<(String, u32)>,
    /// How many of its sessions are our own.
    pub own: usize,
}

/// What is known of a file as it is now.
pub enum Known<'r> {
    /// It is as it was.
    Same(&'r Gave),
    /// It has grown, from where the bookmark, a [`Bookmark`] in JSON, stands.
    Grown(&'r Gave, &'r RawValue),
    /// It must be read.
    Nothing,
}

/// What changes when a file does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stamp {
    inode: u64,
    size: u64,
    modified: u128,
    /// A digest of its end.
    tail: String,
    /// A digest of the names, sizes and times of the further files that belong to it.
    #[serde(default)]
    further: String,
}

#[derive(Serialize, Deserialize)]
struct Stored {
    shape: u32,
    files: HashMap<String, Entry>,
}

impl Stamp {
    /// Of a file as it is now.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn of(path: &Path) -> io::Result<Stamp> {
        let mut file = File::open(path)?;
        let meta = file.metadata()?;
        let mut tail = Vec::with_capacity(TAIL as usize + 1);
        file.seek(SeekFrom::Start(meta.len().saturating_sub(TAIL)))?;
        file.take(TAIL).read_to_end(&mut tail)?;
        let modified = meta.modified()?.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
        Ok(Stamp { inode: inode(&meta), size: meta.len(), modified, tail: digest(&tail), further: further(path) })
    }
}

fn further(path: &Path) -> String {
    let files = crate::session::further_files(path);
    let look = |file: &PathBuf| (file.clone(), fs::metadata(file).ok().map(|meta| (meta.len(), meta.modified().ok())));
    let looks: Vec<_> = files.iter().map(look).collect();
    if looks.is_empty() { String::new() } else { digest(format!("{looks:?}").as_bytes()) }
}

#[cfg(unix)]
fn inode(meta: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(meta)
}

#[cfg(not(unix))]
fn inode(_meta: &Metadata) -> u64 {
    0
}

impl Remembered {
    /// What stands in the local folder. `settings` is everything that decides what is kept of a file.
    pub fn load(memory: &Path, settings: &impl Serialize) -> Remembered {
        let place = memory.join("index").join("files.json");
        let read = fs::read(&place).ok().and_then(|bytes| serde_json::from_slice::<Stored>(&bytes).ok());
        let files = read.filter(|stored| stored.shape == SHAPE).map(|stored| stored.files).unwrap_or_default();
        let text = serde_json::to_vec(&(env!("CARGO_PKG_VERSION"), settings)).unwrap_or_default();
        Remembered { place, settings: digest(&text), files, added: HashMap::new(), rules: HashMap::new() }
    }

    /// What is known of a file, when nothing has changed since that could give another result.
    pub fn known(&self, path: &Path, stamp: &Stamp) -> Known<'_> {
        if self.files.is_empty() {
            return Known::Nothing;
        }
        let entry = self.files.get(&key(path)).filter(|entry| entry.settings == self.settings);
        match entry.filter(|entry| entry.rules == rules(&entry.cwds)) {
            Some(entry) if entry.stamp == *stamp => Known::Same(&entry.gave),
            Some(Entry { stamp: before, gave, bookmark: Some(bookmark), .. })
                if before.inode == stamp.inode && before.size < stamp.size =>
            {
                Known::Grown(gave, bookmark)
            }
            _ => Known::Nothing,
        }
    }

    /// Notes a file that was read, with the folders of its sessions.
    pub fn add(&mut self, path: &Path, stamp: Stamp, cwds: Vec<String>, gave: Gave, bookmark: Option<&Bookmark>) {
        let settings = self.settings.clone();
        let rules = self.rules.entry(cwds.clone()).or_insert_with(|| rules(&cwds)).clone();
        let bookmark = bookmark.and_then(|bookmark| serde_json::value::to_raw_value(bookmark).ok());
        self.added.insert(key(path), Entry { stamp, settings, cwds, rules, gave, bookmark });
    }

    /// Writes what was added. Another process may have added more meanwhile; failing is no failure.
    pub fn save(self) {
        let Some(folder) = self.place.parent().filter(|_| !self.added.is_empty()) else { return };
        let read = fs::read(&self.place).ok().and_then(|bytes| serde_json::from_slice::<Stored>(&bytes).ok());
        let mut files = read.filter(|stored| stored.shape == SHAPE).map(|stored| stored.files).unwrap_or_default();
        files.extend(self.added);
        let _ = fs::create_dir_all(folder).and_then(|()| {
            let mut file = tempfile::NamedTempFile::new_in(folder)?;
            serde_json::to_writer(io::BufWriter::new(&mut file), &Stored { shape: SHAPE, files })?;
            file.persist(&self.place).map(drop).map_err(|error| error.error)
        });
    }
}

/// A file's name may hold a secret, so that a digest stands for it.
fn key(path: &Path) -> String {
    digest(path.canonicalize().unwrap_or_else(|_| path.to_owned()).as_os_str().as_encoded_bytes())
}

/// A digest of the nearest `.gitmemory.toml` at or above each folder, which decide what may be kept.
fn rules(cwds: &[String]) -> String {
    let mut all = Vec::new();
    for cwd in cwds {
        let nearest = Path::new(cwd).ancestors().find_map(|folder| match fs::read(folder.join(crate::config::FILE)) {
            Ok(bytes) => Some(bytes),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => None,
            Err(error) => Some(error.to_string().into_bytes()),
        });
        all.extend_from_slice(digest(&nearest.unwrap_or_default()).as_bytes());
    }
    digest(&all)
}

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_until_it_or_the_rules_change() {
        let dir = tempfile::tempdir().unwrap();
        let (file, memory) = (dir.path().join("s.jsonl"), dir.path().join("memory"));
        fs::write(&file, "one\n").unwrap();
        let cwd = dir.path().join("project");
        fs::create_dir(&cwd).unwrap();
        let stamp = Stamp::of(&file).unwrap();
        let gave = Gave { sessions: vec![("s".into(), 1)], own: 0 };
        let mut remembered = Remembered::load(&memory, &"a");
        remembered.add(&file, stamp.clone(), vec![cwd.to_str().unwrap().into()], gave.clone(), None);
        remembered.save();

        let again = Remembered::load(&memory, &"a");
        let is_same = |remembered: &Remembered, stamp: &Stamp| matches!(remembered.known(&file, stamp), Known::Same(known) if *known == gave);
        assert!(is_same(&again, &stamp));
        assert!(!is_same(&Remembered::load(&memory, &"b"), &stamp));
        fs::write(cwd.join(".gitmemory.toml"), "[capture]\nenabled = false\n").unwrap();
        assert!(!is_same(&again, &stamp));
        fs::remove_file(cwd.join(".gitmemory.toml")).unwrap();
        fs::write(&file, "one\ntwo\n").unwrap();
        assert!(matches!(again.known(&file, &Stamp::of(&file).unwrap()), Known::Nothing));
    }
}
