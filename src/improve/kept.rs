//! What models were asked and answered, for its owner's eyes: `prompts/<sha256>.txt` and `responses/<sha256>.txt` in
//! the local folder, named as the run's record names them. Kept as long as observations are; forgetting a session takes
//! all of it away.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// The folder of prompts.
pub const PROMPTS: &str = "prompts";
/// The folder of replies.
pub const RESPONSES: &str = "responses";

/// Keeps a text under its name. It must be clean of secrets.
///
/// # Errors
/// When it cannot be written.
pub fn write(memory_dir: &Path, folder: &str, name: &str, text: &str) -> std::io::Result<()> {
    let folder = memory_dir.join(folder);
    fs::create_dir_all(&folder)?;
    // A temporary file is made for its owner alone (0600), and stays so when it gets its name.
    let mut file = tempfile::NamedTempFile::new_in(&folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(folder.join(format!("{name}.txt")))?;
    Ok(())
}

/// Drops all of it.
///
/// # Errors
/// When something stays.
pub fn clear(memory_dir: &Path) -> std::io::Result<()> {
    for folder in [PROMPTS, RESPONSES] {
        match fs::remove_dir_all(memory_dir.join(folder)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Drops what was kept for so many days. What cannot be dropped now is dropped later.
pub(super) fn expire(memory_dir: &Path, days: u32) {
    let Some(since) = SystemTime::now().checked_sub(Duration::from_secs(u64::from(days) * 86_400)) else { return };
    for folder in [PROMPTS, RESPONSES] {
        for entry in fs::read_dir(memory_dir.join(folder)).into_iter().flatten().flatten() {
            let old = entry.metadata().is_ok_and(|meta| meta.is_file() && meta.modified().is_ok_and(|at| at < since));
            if old {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}
