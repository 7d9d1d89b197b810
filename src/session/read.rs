//! The boundary to the agents' formats: each reader turns bytes into sessions, and damage into warnings.
//!
//! A reader is a function from a buffered source to a session. A further format adds a variant to [`From`] and to
//! [`Agent`](super::Agent), a line to `recognise`, and its reader beside the others; redaction, cutting and numbering
//! are in `builder`, which every reader uses.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

use super::lines::{Damage, Lines};
use super::{Policy, Redactor, Session, claude, markdown};

/// Which reader to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum From {
    /// By content, not by name.
    Auto,
    /// Claude Code.
    Claude,
    /// A markdown note.
    Markdown,
}

/// Damage that was passed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// The file, redacted.
    pub file: String,
    /// The first line (from 1) with this damage.
    pub line: usize,
    /// The kind's stable name (`cut_last_line`, `broken_line`, `glued_objects`, `lone_surrogate`, `control_character`,
    /// `invalid_utf8`, `bom`, `nul_padding`, `too_deep`, `too_long`, `not_an_object`, `unknown_type`, `odd_message`,
    /// `bad_timestamp`).
    pub kind: &'static str,
    /// In words; how many lines it concerns.
    pub message: String,
}

/// What a file gave.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The sessions in it (usually one); none when there is nothing to learn from, or the policy keeps it out.
    Sessions(Vec<Session>),
    /// No reader knows it; the text is its first line, redacted, cut and made printable.
    Unrecognised(String),
}

/// What holds for every file that is read.
#[derive(Clone, Copy)]
pub struct ReadOptions<'o> {
    /// What takes secrets out.
    pub redactor: &'o Redactor,
    /// What is kept, where no `.gitmemory.toml` above the session's folder says otherwise.
    pub policy: &'o Policy,
}

/// Reads one file, redacted and with exclusions applied. Memory grows with what is kept, not with the file.
///
/// # Errors
/// When the file cannot be opened or read.
pub fn read(path: &Path, from: From, options: ReadOptions) -> io::Result<(Outcome, Vec<Warning>)> {
    let name = options.redactor.redact(&path.to_string_lossy()).into_owned();
    let mut damage = Damage::default();
    let outcome = match recognise(path, from, options.redactor)? {
        Recognised::Empty => Outcome::Sessions(Vec::new()),
        Recognised::Unknown(line) => Outcome::Unrecognised(line),
        Recognised::As(From::Markdown) => {
            Outcome::Sessions(markdown::read(&std::fs::read(path)?, path, options, &mut damage).into_iter().collect())
        }
        Recognised::As(_) => {
            let source = BufReader::with_capacity(1 << 18, File::open(path)?);
            Outcome::Sessions(claude::read(source, path, options, &mut damage)?.into_iter().collect())
        }
    };
    Ok((outcome, damage.warnings(&name)))
}

enum Recognised {
    Empty,
    As(From),
    Unknown(String),
}

/// How many lines are looked at before a file counts as unknown.
const LOOKED_AT: usize = 200;

fn recognise(path: &Path, from: From, redactor: &Redactor) -> io::Result<Recognised> {
    let mut lines = Lines::new(BufReader::with_capacity(1 << 16, File::open(path)?));
    let mut ignored = Damage::default();
    let mut first: Option<String> = None;
    let mut binary = false;
    for _ in 0..LOOKED_AT {
        let Some(line) = lines.next(&mut ignored)? else { break };
        if first.is_none() {
            let head = &line.bytes[..line.bytes.len().min(400)];
            binary = head.iter().any(|b| *b < 9)
                || std::str::from_utf8(head).is_err_and(|error| error.error_len().is_some());
            first = Some(printable(&redactor.redact(&String::from_utf8_lossy(head))));
        }
        if from != From::Markdown && claude::is_telling(line.bytes) {
            return Ok(Recognised::As(From::Claude));
        }
    }
    let Some(first) = first else { return Ok(Recognised::Empty) };
    let noted =
        path.extension().is_some_and(|e| ["md", "markdown", "txt"].iter().any(|known| e.eq_ignore_ascii_case(known)));
    let note =
        from == From::Markdown || from == From::Auto && (noted || first.starts_with("# ") || first.starts_with("---"));
    Ok(if note && !binary { Recognised::As(From::Markdown) } else { Recognised::Unknown(first) })
}

/// At most 120 characters, without control characters.
fn printable(line: &str) -> String {
    let mut out: String = line.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).take(121).collect();
    if out.chars().count() > 120 {
        out.pop();
        out.push('…');
    }
    out
}
