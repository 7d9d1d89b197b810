//! Programs that outlive whoever started them: each is noted in a file while it runs, so that a later run can end what a
//! killed one left at work.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::group;

/// The variable by which whatever a program starts is known as ours.
pub(super) const VARIABLE: &str = "GIT_MEMORY_STARTED_BY";

/// A process. Its number alone may be another's by now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Process {
    pid: u32,
    /// When it began, as the system tells it.
    began: String,
}

/// What is noted of a program that runs.
#[derive(Debug, Serialize, Deserialize)]
struct Note {
    program: Process,
    by: Process,
}

/// The note of a program that is running; it goes with this.
pub(super) struct Noted(PathBuf);

impl Drop for Noted {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

impl Process {
    fn of(pid: u32) -> Option<Process> {
        Some(Process { pid, began: began(pid)? })
    }

    fn lives(&self) -> bool {
        began(self.pid).as_ref() == Some(&self.began)
    }

    /// What stands in [`VARIABLE`] of everything that it starts.
    fn mark(&self) -> String {
        format!("{} {}", self.pid, self.began)
    }
}

/// What stands in [`VARIABLE`] of what this process starts.
pub(super) fn mark() -> Option<String> {
    Process::of(std::process::id()).map(|us| us.mark())
}

/// The folder of notes below the local folder of a repository.
pub fn notes(memory_dir: &Path) -> PathBuf {
    memory_dir.join("programs")
}

/// Notes that a program runs, with everything in its group. One that cannot be noted runs all the same.
pub(super) fn note(folder: &Path, program: u32) -> Option<Noted> {
    let note = Note { program: Process::of(program)?, by: Process::of(std::process::id())? };
    fs::create_dir_all(folder).ok()?;
    let path = folder.join(format!("{program}.json"));
    fs::write(&path, serde_json::to_vec(&note).ok()?).ok()?;
    Some(Noted(path))
}

/// Ends the programs that are noted in a folder and whose starters live no more, each with everything in its group.
pub fn end_left_behind(folder: &Path) {
    for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        let note = fs::read(&path).ok().and_then(|bytes| serde_json::from_slice::<Note>(&bytes).ok());
        if let Some(note) = &note {
            if note.by.lives() {
                continue;
            }
            if note.program.lives() || is_led_by_the_dead(note) {
                group::kill_group(note.program.pid);
            }
        }
        let _ = fs::remove_file(path);
    }
}

/// Whether something that the program started lives on in its group without it.
fn is_led_by_the_dead(note: &Note) -> bool {
    if began(note.program.pid).is_some() {
        // The number is another's.
        return false;
    }
    let mark = format!("{VARIABLE}={}", note.by.mark());
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok()).any(|pid| {
        let group = stat(pid).and_then(|fields| fields.get(2)?.parse::<u32>().ok());
        let is_ours = || {
            let variables = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            variables.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
        };
        group == Some(note.program.pid) && is_ours()
    })
}

/// When a process began; `None` when there is none, or nothing but its exit code is left of it.
#[cfg(target_os = "linux")]
fn began(pid: u32) -> Option<String> {
    let fields = stat(pid)?;
    if matches!(fields.first()?.as_str(), "Z" | "X") { None } else { fields.get(19).cloned() }
}

/// When a process began; `None` when there is none.
#[cfg(not(target_os = "linux"))]
fn began(pid: u32) -> Option<String> {
    let told = std::process::Command::new("ps").args(["-o", "lstart=", "-p", &pid.to_string()]).output().ok()?;
    let text = String::from_utf8_lossy(&told.stdout).trim().to_owned();
    (!text.is_empty()).then_some(text)
}

/// The fields of `/proc/<pid>/stat` behind the name, which may hold anything: state, parent, group …
fn stat(pid: u32) -> Option<Vec<String>> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = text.rsplit_once(')')?;
    Some(fields.split_whitespace().map(str::to_owned).collect())
}
