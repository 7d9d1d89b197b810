//! Capture against plain parsing: the speed of reading about 100 MB of transcripts, compared with parsing the same lines
//! with `serde_json` into `Value`, and the most memory that reading took.
//!
//! `GIT_MEMORY_CORPUS=<folder with transcripts/claude> cargo bench --bench capture`
//!
//! With the arguments `parse <folder>` it only parses the lines of the folder's files: what `scripts/bench` compares
//! the whole command with.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::time::Instant;

use git_memory::session::{From, Outcome, Policy, ReadOptions, Redactor, read};

const SIZE: usize = 100 << 20;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    if let Some(at) = args.iter().position(|arg| arg == "parse") {
        let files = walkdir::WalkDir::new(&args[at + 1]).into_iter().filter_map(Result::ok);
        let lines: usize = files.filter(|file| file.file_type().is_file()).map(|file| parse(file.path())).sum();
        assert!(lines > 0, "nothing was parsed");
        return;
    }
    let Some(corpus) = std::env::var_os("GIT_MEMORY_CORPUS").map(|path| PathBuf::from(path).join("transcripts/claude"))
    else {
        eprintln!("skipped: no corpus (set GIT_MEMORY_CORPUS)");
        return;
    };
    let dir = tempfile::tempdir().expect("a temporary folder");
    let file = dir.path().join("large.jsonl");
    let bytes = write_large(&corpus, &file) as f64;

    let redactor = Redactor::new(&[], &[]).expect("the built-in rules");
    let policy = Policy::new(true, false, &[]).expect("no patterns");
    let before = peak_memory();
    let mut best = (f64::MAX, f64::MAX);
    let mut observations = 0;
    for _ in 0..3 {
        let start = Instant::now();
        let (outcome, _) =
            read(&file, From::Auto, ReadOptions { redactor: &redactor, policy: &policy }).expect("readable");
        best.0 = best.0.min(start.elapsed().as_secs_f64());
        if let Outcome::Sessions(sessions) = outcome {
            observations = sessions.iter().map(|s| s.observations.len()).sum();
        }
    }
    let memory = peak_memory();
    for _ in 0..3 {
        let start = Instant::now();
        assert!(parse(&file) > 0);
        best.1 = best.1.min(start.elapsed().as_secs_f64());
    }
    let speed = |seconds: f64| bytes / seconds / 1e6;
    let mut out = String::new();
    let _ = writeln!(out, "{:.0} MB, {observations} observations", bytes / 1e6);
    let _ = writeln!(
        out,
        "capture   {:6.0} MB/s, peak memory {} MB (before: {} MB)",
        speed(best.0),
        memory / 1024,
        before / 1024
    );
    let _ = writeln!(out, "serde_json{:6.0} MB/s", speed(best.1));
    let _ = writeln!(out, "ratio     {:.2} (at least 0.5 is wanted)", best.1 / best.0);
    print!("{out}");
}

/// Parses each line and drops it again; how many lines were JSON.
fn parse(file: &Path) -> usize {
    let lines = BufReader::new(std::fs::File::open(file).expect("the file")).lines();
    lines.filter(|line| serde_json::from_str::<serde_json::Value>(line.as_ref().expect("text")).is_ok()).count()
}

/// Real files over and over, with other identities each time, so that no line counts as already read.
fn write_large(corpus: &Path, to: &Path) -> usize {
    let mut sources: Vec<String> = walkdir::WalkDir::new(corpus)
        .sort_by_file_name()
        .into_iter()
        .filter_map(Result::ok)
        .filter(|entry| {
            entry.path().extension().is_some_and(|e| e == "jsonl") && !entry.path().to_string_lossy().contains("/made/")
        })
        .filter_map(|entry| std::fs::read_to_string(entry.path()).ok())
        .filter(|text| text.len() > 20_000)
        .collect();
    for text in &mut sources {
        if !text.ends_with('\n') {
            text.push('\n');
        }
    }
    let mut out = std::io::BufWriter::new(std::fs::File::create(to).expect("a file"));
    let mut written = 0;
    for round in 0.. {
        for text in &sources {
            let text = text
                .replace("\"uuid\":\"", &format!("\"uuid\":\"{round}-"))
                .replace("\"id\":\"", &format!("\"id\":\"{round}-"))
                .replace("\"tool_use_id\":\"", &format!("\"tool_use_id\":\"{round}-"))
                .replace("\"isSidechain\":true", "\"isSidechain\":false");
            out.write_all(text.as_bytes()).expect("room on the disk");
            written += text.len();
        }
        if written >= SIZE || sources.is_empty() {
            break;
        }
    }
    out.flush().expect("room on the disk");
    written
}

/// The process's peak memory in KiB, where the system tells.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse().ok()).unwrap_or(0)
}
