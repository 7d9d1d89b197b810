//! What Claude Code keeps beside a session's file: what a subagent was started for, and outputs that were too long.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::session::builder;
use crate::session::{Exclusions, Redactor};

/// Most bytes of a subagent's description that are read.
const LONGEST_META: u64 = 64 << 10;

/// How much of either end of a long output is read; more than a body keeps of it.
const END: u64 = 32 << 10;

/// What a subagent was started for; `None` where nothing says so.
pub(super) fn task(transcript: &Path) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Meta {
        agent_type: Option<String>,
        description: Option<String>,
    }
    let file = File::open(transcript.with_extension("meta.json")).ok()?;
    let meta: Meta = serde_json::from_reader(file.take(LONGEST_META)).ok()?;
    let said = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
    said(meta.description).or(said(meta.agent_type))
}

/// An output that stands in a file of its own.
pub(super) struct Output {
    head: String,
    /// The other end, where not all of it was read.
    tail: Option<String>,
    size: u64,
}

impl Output {
    /// The body of its observation.
    pub(super) fn body(&self, redactor: &Redactor, exclusions: &Exclusions) -> String {
        let head = exclusions.without_excluded_lines(&self.head);
        match &self.tail {
            None => builder::body(redactor, &head),
            Some(tail) => {
                let tail = exclusions.without_excluded_lines(tail);
                builder::body_of_ends(redactor, &head, &tail, self.size as usize)
            }
        }
    }
}

/// The output that a tool's result only names: a file in the session's own folder for them, and no other.
pub(super) fn output(result: &str, transcript: &Path, sessions: &[(String, usize)]) -> Option<Output> {
    let notice = result.trim_start().strip_prefix("<persisted-output>")?;
    let (_, rest) = notice.split_once("Full output saved to:")?;
    let named = Path::new(rest.lines().next()?.trim());
    let folders: Vec<PathBuf> = folders(transcript, sessions).iter().filter_map(|f| f.canonicalize().ok()).collect();
    // Where the agent's folder was moved, the file of that name in it is meant.
    let moved = folders.iter().filter_map(|folder| Some(folder.join(named.file_name()?)));
    let places = std::iter::once(named.to_owned()).chain(moved);
    let place = places.filter(|place| place.is_absolute()).find_map(|place| {
        let place = place.canonicalize().ok()?;
        folders.iter().any(|folder| place.starts_with(folder)).then_some(place)
    })?;
    read(&place)
}

/// Where the outputs of the session can be: beside its file, or beside the file of the session that started it.
fn folders(transcript: &Path, sessions: &[(String, usize)]) -> Vec<PathBuf> {
    let mut of_sessions = vec![transcript.with_extension("")];
    let subagents = transcript.ancestors().skip(1).take(4).find(|folder| folder.ends_with("subagents"));
    of_sessions.extend(subagents.and_then(Path::parent).map(Path::to_owned));
    let is_agent = transcript.file_stem().is_some_and(|stem| stem.to_string_lossy().starts_with("agent-"));
    if let Some(folder) = transcript.parent().filter(|_| is_agent) {
        let plain = |id: &&(String, usize)| !id.0.is_empty() && !id.0.starts_with('.') && !id.0.contains(['/', '\\']);
        of_sessions.extend(sessions.iter().filter(plain).map(|(id, _)| folder.join(id)));
    }
    of_sessions.into_iter().map(|folder| folder.join("tool-results")).collect()
}

fn read(place: &Path) -> Option<Output> {
    // A pipe or a device would keep the reader waiting.
    if !place.metadata().ok()?.is_file() {
        return None;
    }
    let mut file = File::open(place).ok()?;
    let size = file.metadata().ok()?.len();
    let mut part = |from: u64, most: u64| {
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(from)).ok()?;
        file.by_ref().take(most).read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    };
    if size <= 2 * END {
        return Some(Output { head: part(0, 2 * END)?, tail: None, size });
    }
    Some(Output { head: part(0, END)?, tail: Some(part(size - END, END)?), size })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notice(place: &Path) -> String {
        format!("<persisted-output>\nOutput too large (50.1KB). Full output saved to: {}\n\nPreview", place.display())
    }

    #[test]
    fn an_output_is_read_from_the_sessions_own_folder_and_from_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let own = dir.path().join("s1/tool-results");
        let others = dir.path().join("s2/tool-results");
        for folder in [&own, &others] {
            std::fs::create_dir_all(folder).unwrap();
            std::fs::write(folder.join("x.txt"), format!("of {}", folder.parent().unwrap().display())).unwrap();
        }
        std::fs::write(others.join("only.txt"), "secret").unwrap();
        let transcript = dir.path().join("s1.jsonl");
        let redactor = Redactor::new(&[], &[]).unwrap();
        let read = |place: &Path| {
            output(&notice(place), &transcript, &[])
                .map(|output| output.body(&redactor, &Exclusions::new(&[]).unwrap()))
        };
        assert!(read(&own.join("x.txt")).unwrap().ends_with("s1"));
        // The agent's folder stands elsewhere than when it was written.
        assert!(read(Path::new("/old/place/s1/tool-results/x.txt")).unwrap().ends_with("s1"));
        assert!(read(&others.join("x.txt")).unwrap().ends_with("s1"));
        for absent in [others.join("only.txt"), own.join("../../s2/tool-results/only.txt"), "/etc/passwd".into()] {
            assert_eq!(read(&absent), None, "{}", absent.display());
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(others.join("only.txt"), own.join("only.txt")).unwrap();
            assert_eq!(read(&own.join("only.txt")), None);
        }
        // A subagent's outputs stand with those of the session that started it.
        for agent in ["s1/subagents/agent-1.jsonl", "s1/subagents/workflows/wf/agent-2.jsonl", "agent-01234567.jsonl"] {
            let found = output(&notice(&own.join("x.txt")), &dir.path().join(agent), &[("s1".into(), 1)]);
            assert!(found.is_some(), "{agent}");
        }
    }

    #[test]
    fn of_a_long_output_both_ends_are_kept_and_no_secret() {
        let dir = tempfile::tempdir().unwrap();
        let own = dir.path().join("s/tool-results");
        std::fs::create_dir_all(&own).unwrap();
        let secret = ["gh", "p_", "912QBrTVzLvmcw24LoNx1iyXBNZvHYBrRuNk"].concat();
        let line = format!("{secret} a line of output\n");
        let text = format!("first\n{}last\n", line.repeat(100_000));
        std::fs::write(own.join("x.txt"), &text).unwrap();
        let found = output(&notice(&own.join("x.txt")), &dir.path().join("s.jsonl"), &[]).unwrap();
        let body = found.body(&Redactor::new(&[], &[]).unwrap(), &Exclusions::new(&[]).unwrap());
        assert!(body.starts_with("first\n") && body.ends_with("last\n") && body.len() <= builder::LONGEST_BODY);
        assert!(body.contains("[REDACTED:") && !body.contains(&secret[4..12]) && !body.contains(&secret[24..36]));
        assert!(body.contains("bytes left out …]"));
    }
}
