//! `worker.log`: what went wrong where nobody was looking.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;

/// When the log has grown to this many bytes it becomes `worker.log.1`, and a new one begins.
const LIMIT: u64 = 1024 * 1024;

/// Most characters of one entry.
const LONGEST: usize = 2_000;

/// Appends a line with the time to the log in the local folder (`$GIT_COMMON_DIR/memory`). Failures have nowhere to
/// go from here, so that they are dropped.
///
/// The text must hold no prompt, no query and no session text.
pub fn note(memory: &Path, text: &str) {
    let _ = append(memory, text);
}

fn append(memory: &Path, text: &str) -> std::io::Result<()> {
    fs::create_dir_all(memory)?;
    let path = memory.join("worker.log");
    if fs::metadata(&path).is_ok_and(|meta| meta.len() >= LIMIT) {
        fs::rename(&path, memory.join("worker.log.1"))?;
    }
    let mut file = open(&path)?;
    let line: String = text.chars().take(LONGEST).map(|c| if c.is_control() { ' ' } else { c }).collect();
    // One write, so that lines of two processes do not mix.
    file.write_all(format!("{:.0} {}\n", jiff::Timestamp::now(), line.trim()).as_bytes())
}

#[cfg(unix)]
fn open(path: &Path) -> std::io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    OpenOptions::new().create(true).append(true).mode(0o600).open(path)
}

#[cfg(not(unix))]
fn open(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().create(true).append(true).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_one_line_that_only_its_owner_reads() {
        let memory = tempfile::tempdir().unwrap();
        note(memory.path(), "a\nb\u{1b}[31m");
        let path = memory.path().join("worker.log");
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.ends_with("Z a b [31m\n"), "{text}");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn a_full_log_gives_way_to_a_new_one() {
        let memory = tempfile::tempdir().unwrap();
        fs::write(memory.path().join("worker.log"), vec![b'x'; LIMIT as usize]).unwrap();
        note(memory.path(), "new");
        assert!(fs::metadata(memory.path().join("worker.log")).unwrap().len() < 100);
        assert_eq!(fs::metadata(memory.path().join("worker.log.1")).unwrap().len(), LIMIT);
    }
}
