//! Opening a database to read it, without a trace in its folder and without standing in a writer's way.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

/// How long a writer is waited for.
const PATIENCE: Duration = Duration::from_secs(3);

/// A database that is open to be read, in one state from the first question to the last.
pub(super) struct Database {
    pub connection: Connection,
    /// Opened without locks: the file, and what it looked like.
    unlocked: Option<(PathBuf, Look)>,
    /// Where the copy lies that is read instead.
    _copy: Option<tempfile::TempDir>,
}

/// What changes when a file does.
type Look = (u64, Option<SystemTime>);

/// Opens a database.
///
/// # Errors
/// In words, when it is locked or cannot be opened.
pub(super) fn open(path: &Path) -> io::Result<Database> {
    // SQLite keeps its files beside the file that a link leads to.
    let path = path.canonicalize()?;
    let look = look(&path)?;
    let (wal, shm) = (beside(&path, "-wal"), beside(&path, "-shm"));
    let logged = fs::metadata(&wal).is_ok_and(|wal| wal.len() > 0);
    let mut database = if !uses_log(&path)? || logged && shm.exists() {
        // Locks keep the state still while it is read. Everything that SQLite needs is there already.
        Database { connection: connect(&path, false)?, unlocked: None, _copy: None }
    } else if logged {
        // With no index beside its log the database is nobody's now, and SQLite would make one.
        refuse_locked(&path)?;
        copied(&path, &wal)?
    } else {
        // Nobody has it open, and opening it in the ordinary way would make a log and an index.
        refuse_locked(&path)?;
        let connection = connect(Path::new(&format!("{}?immutable=1", uri(&path))), true)?;
        Database { connection, unlocked: Some((path, look)), _copy: None }
    };
    begin(&mut database.connection)?;
    Ok(database)
}

impl Database {
    /// Whether what was read can be relied on.
    ///
    /// # Errors
    /// When somebody wrote to a file that was read without locks.
    pub(super) fn check(&self) -> io::Result<()> {
        match &self.unlocked {
            Some((path, seen)) if look(path)? != *seen => {
                Err(io::Error::other("the database changed while it was read; try again"))
            }
            _ => Ok(()),
        }
    }
}

/// The file that SQLite keeps beside a database.
pub(super) fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}

/// SQLite's trouble, in words.
pub(super) fn in_words(error: rusqlite::Error) -> io::Error {
    let said = error.to_string();
    io::Error::other(match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => LOCKED.to_owned(),
        Some(ErrorCode::NotADatabase) => "no database behind SQLite's mark: it is damaged or encrypted".to_owned(),
        Some(ErrorCode::DatabaseCorrupt) => format!("the database is damaged: {said}"),
        Some(ErrorCode::ReadOnly) => {
            "a write to the database was broken off: open it with OpenCode once, which completes it".to_owned()
        }
        _ => format!("the database cannot be read: {said}"),
    })
}

const LOCKED: &str = "the database is locked by another program; try again";

fn connect(name: &Path, uri: bool) -> io::Result<Connection> {
    let mut flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    flags.set(OpenFlags::SQLITE_OPEN_URI, uri);
    let connection = Connection::open_with_flags(name, flags).map_err(in_words)?;
    connection.busy_timeout(PATIENCE).map_err(in_words)?;
    // Who closes a database last writes its log back and deletes it; that is for its owner to do.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(in_words)?;
    Ok(connection)
}

fn begin(connection: &mut Connection) -> io::Result<()> {
    // Nothing of the schema may run, whoever wrote it.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false).map_err(in_words)?;
    connection.execute_batch("BEGIN").map_err(in_words)?;
    let first = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()));
    first.map_err(in_words)
}

/// Reads a copy of a database and its log, in a folder that only its owner can look into.
fn copied(path: &Path, wal: &Path) -> io::Result<Database> {
    let folder = tempfile::Builder::new().prefix("git-memory-").tempdir()?;
    let copy = folder.path().join("copy.db");
    fs::copy(path, &copy)?;
    fs::copy(wal, beside(&copy, "-wal"))?;
    writable(&copy)?;
    let connection = connect(&copy, false)?;
    Ok(Database { connection, unlocked: None, _copy: Some(folder) })
}

/// A copy has its original's rights, which may forbid what SQLite has to do with it.
#[cfg(unix)]
fn writable(copy: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(copy, fs::Permissions::from_mode(0o600))?;
    fs::set_permissions(beside(copy, "-wal"), fs::Permissions::from_mode(0o600))
}

#[cfg(not(unix))]
fn writable(_copy: &Path) -> io::Result<()> {
    Ok(())
}

/// Whether a database keeps its last changes in a log (`-wal`), by its header.
fn uses_log(path: &Path) -> io::Result<bool> {
    let mut head = Vec::new();
    File::open(path)?.take(20).read_to_end(&mut head)?;
    Ok(head.get(18..20).is_some_and(|versions| versions.contains(&2)))
}

/// Refuses a database that a program keeps for itself alone; it has no index beside it either.
#[cfg(unix)]
fn refuse_locked(path: &Path) -> io::Result<()> {
    use rustix::fs::{FlockOperation, fcntl_lock};
    match fcntl_lock(File::open(path)?, FlockOperation::NonBlockingLockShared) {
        Err(rustix::io::Errno::AGAIN | rustix::io::Errno::ACCESS) => Err(io::Error::new(ErrorKind::WouldBlock, LOCKED)),
        // A file system without locks has no locked files.
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
fn refuse_locked(_path: &Path) -> io::Result<()> {
    Ok(())
}

fn look(path: &Path) -> io::Result<Look> {
    let meta = fs::metadata(path)?;
    Ok((meta.len(), meta.modified().ok()))
}

/// A path as SQLite's `file:` address.
fn uri(path: &Path) -> String {
    let bytes = path.as_os_str().as_encoded_bytes();
    let bytes = bytes.strip_prefix(br"\\?\").unwrap_or(bytes);
    let mut uri = String::from(if bytes.starts_with(b"/") { "file:" } else { "file:/" });
    for byte in bytes {
        match byte {
            b'\\' if cfg!(windows) => uri.push('/'),
            b'/' | b':' | b'.' | b'-' | b'_' | b'~' => uri.push(*byte as char),
            byte if byte.is_ascii_alphanumeric() => uri.push(*byte as char),
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}
