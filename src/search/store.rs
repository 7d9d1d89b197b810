//! The files of an index, below `memory/index/` of the repository: `search-<version>-<what>.idx` and, with what changed
//! since that was written, `.more`. Both are written beside their place and renamed, so that nobody waits and nobody
//! sees half of one; what is damaged, old or of another wiki is as good as absent.

use std::borrow::Cow;
use std::fs;
use std::io::Write;
use std::ops::Range;
use std::path::PathBuf;

use super::bytes::{Cursor, put_number, put_text};
use crate::wiki::Wiki;

/// The form of the files, of the terms in them and of the vectors: a change of any of these counts it up.
pub(super) const VERSION: u32 = 1;

const MAGIC: &[u8; 8] = b"gmsearch";

/// Tells one state of a file from another: checksum and length.
pub(super) type Stamp = (u32, u32);

/// What stands in a file.
pub(super) struct Stored {
    /// Everything, as read.
    pub bytes: Vec<u8>,
    /// The tree whose pages it holds (with those of the file that it adds to).
    pub tree: Vec<u8>,
    /// Which state of the main file this one adds to; `None`: it is the main file.
    pub base: Option<Stamp>,
    /// What is no longer there of each segment of the main file, a bit for each page.
    pub dead: Vec<Vec<u8>>,
    /// Its own segments.
    pub segments: Vec<Range<usize>>,
    /// Its own state.
    pub stamp: Stamp,
}

/// Where the files of one wiki's index are.
pub(super) struct Store {
    folder: PathBuf,
    name: String,
    covers: String,
}

/// Why there is nothing to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lacking {
    /// There is no file.
    Absent,
    /// There is one that cannot be used.
    Damaged,
}

/// Which of the two files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum File {
    /// The main one.
    Main,
    /// What changed since.
    More,
}

impl Store {
    /// The place for a wiki's index.
    pub fn of(wiki: &Wiki) -> Store {
        let covers = format!("{}\n{}", wiki.branch, wiki.root);
        let name = format!("search-{VERSION}-{:08x}", crc32fast::hash(covers.as_bytes()));
        Store { folder: wiki.repo.memory_dir().join("index"), name, covers }
    }

    fn path(&self, file: File) -> PathBuf {
        let ending = match file {
            File::Main => "idx",
            File::More => "more",
        };
        self.folder.join(format!("{}.{ending}", self.name))
    }

    /// Reads a file.
    pub fn read(&self, file: File) -> Result<Stored, Lacking> {
        let bytes = fs::read(self.path(file)).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Lacking::Absent,
            _ => Lacking::Damaged,
        })?;
        let stored = self.parse(bytes).ok_or(Lacking::Damaged)?;
        let whole = stored.base.is_none() == (file == File::Main);
        if whole { Ok(stored) } else { Err(Lacking::Damaged) }
    }

    fn parse(&self, bytes: Vec<u8>) -> Option<Stored> {
        let mut cursor = Cursor::new(&bytes);
        let head = cursor.take(MAGIC.len())?;
        let (version, sum) = (cursor.word()?, cursor.word()?);
        let body = &bytes[MAGIC.len() + 8..];
        if head != MAGIC || version != VERSION || crc32fast::hash(body) != sum {
            return None;
        }
        if cursor.text()? != self.covers.as_bytes() {
            return None;
        }
        let tree = cursor.text()?.to_vec();
        let base = (cursor.word()?, cursor.word()?);
        let mut dead = Vec::new();
        for _ in 0..cursor.number()? {
            dead.push(cursor.text()?.to_vec());
        }
        let mut segments = Vec::new();
        for _ in 0..cursor.number()? {
            let length = cursor.text()?.len();
            let end = bytes.len() - cursor.left();
            segments.push(end - length..end);
        }
        let base = (base != (0, 0)).then_some(base);
        let stamp = (sum, u32::try_from(bytes.len()).ok()?);
        Some(Stored { tree, base, dead, segments, stamp, bytes })
    }

    /// Writes a file in the place of the one that is there.
    ///
    /// # Errors
    /// What the file system says; the old file is still there then.
    pub fn write(
        &self,
        file: File,
        tree: &[u8],
        base: Option<Stamp>,
        dead: &[Vec<u8>],
        segments: &[&[u8]],
    ) -> std::io::Result<()> {
        let mut head = Vec::new();
        put_text(&mut head, self.covers.as_bytes());
        put_text(&mut head, tree);
        let (sum, length) = base.unwrap_or((0, 0));
        head.extend_from_slice(&sum.to_le_bytes());
        head.extend_from_slice(&length.to_le_bytes());
        put_number(&mut head, dead.len() as u32);
        for bits in dead {
            put_text(&mut head, bits);
        }
        put_number(&mut head, segments.len() as u32);

        // Segments are large: they are written from where they stand.
        let mut parts = vec![Cow::from(head)];
        for segment in segments {
            let mut length = Vec::new();
            put_number(&mut length, segment.len() as u32);
            parts.extend([Cow::from(length), Cow::from(*segment)]);
        }
        let mut sum = crc32fast::Hasher::new();
        parts.iter().for_each(|part| sum.update(part));

        fs::create_dir_all(&self.folder)?;
        let mut beside = tempfile::Builder::new().prefix("search-").suffix(".part").tempfile_in(&self.folder)?;
        beside.write_all(MAGIC)?;
        beside.write_all(&VERSION.to_le_bytes())?;
        beside.write_all(&sum.finalize().to_le_bytes())?;
        parts.iter().try_for_each(|part| beside.write_all(part))?;
        beside.persist(self.path(file))?;
        if file == File::Main {
            self.tidy();
        }
        Ok(())
    }

    /// Takes away what older versions, and processes that were killed, left behind.
    fn tidy(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let Some(rest) = name.to_str().and_then(|name| name.strip_prefix("search-")) else { continue };
            let older =
                rest.split_once('-').and_then(|(version, _)| version.parse().ok()).is_some_and(|n: u32| n < VERSION);
            let forgotten = rest.ends_with(".part")
                && entry
                    .metadata()
                    .and_then(|data| data.modified())
                    .is_ok_and(|time| time.elapsed().is_ok_and(|age| age.as_secs() > 3_600));
            if older || forgotten {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}
