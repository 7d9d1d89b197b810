//! The boundary to the agents' formats: each reader turns bytes into sessions, and damage into warnings.
//!
//! A reader is a function from a buffered source to sessions. A further format adds a variant to [`From`] and to
//! [`Agent`](super::Agent), its lines to `recognise` and `read`, and its reader beside the others; redaction, cutting
//! and numbering are in `builder`, which every reader uses. Files that grow are read on by `resume`.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::builder::{first_line, number};
use super::lines::{Damage, Lines, Place};
use super::resume::End;
use super::unpack::{is_packed, magic, unpacked};
use super::{Observation, Policy, Redactor, Session, aider, claude, codex, copilot, gemini, markdown, opencode};

/// Which reader to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum From {
    /// By content, not by name.
    Auto,
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// OpenCode.
    OpenCode,
    /// Gemini CLI.
    Gemini,
    /// GitHub Copilot CLI.
    Copilot,
    /// aider.
    Aider,
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
    /// `bad_timestamp`, `broken_archive`, and of a session in many files `empty_part`, `broken_part`,
    /// `unreadable_part`).
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

/// A session as it was read, or a part of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Given {
    /// The session.
    pub session: Session,
    /// Only what came behind a bookmark: what was given before stands.
    pub is_tail: bool,
    /// Of a tail: the title that it had stays.
    pub keeps_title: bool,
    /// What is known better now of observations that an earlier read gave.
    pub changed: Vec<Changed>,
    /// Ids of observations that an earlier read may have given and that are none any more.
    pub gone: Vec<String>,
}

impl std::convert::From<Session> for Given {
    fn from(session: Session) -> Given {
        Given { session, is_tail: false, keeps_title: false, changed: Vec::new(), gone: Vec::new() }
    }
}

/// What came to be known of an observation that an earlier read gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Changed {
    /// Its id.
    pub id: String,
    /// How it ended.
    pub exit: Option<i32>,
    /// What it says.
    pub body: Option<String>,
}

impl Changed {
    /// Changes the observation.
    pub fn apply(&self, observation: &mut Observation) {
        observation.exit = self.exit.or(observation.exit);
        if let Some(body) = &self.body {
            observation.body.clone_from(body);
            observation.title = first_line(body);
        }
    }
}

/// Where reading of a file ended, for the next read to go on there. It holds no text of the session.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Bookmark {
    /// A digest of how the file begins.
    head: u64,
    place: Place,
    state: State,
}

/// The state of each reader that can go on.
#[derive(Debug, Clone, Serialize, Deserialize)]
enum State {
    Claude(Box<claude::State>),
    Codex(Box<codex::State>),
    Gemini(Box<gemini::State>),
    Copilot(Box<copilot::State>),
}

/// How reading a file ended.
#[derive(Debug, Clone)]
pub enum Ending {
    /// It was read.
    Read {
        /// Damage that was passed over.
        warnings: Vec<Warning>,
        /// Where the next read goes on; `None`: at the front.
        bookmark: Option<Bookmark>,
        /// The working folder that it records, where no session says it.
        cwd: Option<String>,
    },
    /// No reader knows it; the text is its first line, redacted, cut and made printable.
    Unrecognised(String),
}

/// Reads one file, redacted and with exclusions applied. Memory grows with what is kept, not with the file.
///
/// # Errors
/// When the file cannot be opened or read; [`io::ErrorKind::Unsupported`] when it is known to be something else than a
/// session's, with the word for it.
pub fn read(path: &Path, from: From, options: ReadOptions) -> io::Result<(Outcome, Vec<Warning>)> {
    let mut sessions = Vec::new();
    Ok(match read_on(path, from, options, None, &mut |given| sessions.push(given.session))? {
        Ending::Read { warnings, .. } => (Outcome::Sessions(sessions), warnings),
        Ending::Unrecognised(line) => (Outcome::Unrecognised(line), Vec::new()),
    })
}

/// As [`read`], from a bookmark where the file is still the one that it was put into and has only grown, else from the
/// front. Sessions are handed over as they are read, very long ones in parts, each a session of its own.
///
/// # Errors
/// As [`read`]; what was handed over until then is good.
pub fn read_on(
    path: &Path,
    from: From,
    options: ReadOptions,
    bookmark: Option<Bookmark>,
    give: &mut dyn FnMut(Given),
) -> io::Result<Ending> {
    let name = options.redactor.redact(&path.to_string_lossy()).into_owned();
    let give = &mut |mut given: Given| {
        each_once(&mut given.session.observations);
        give(given);
    };
    if let Some(bookmark) = bookmark {
        let mut damage = Damage::default();
        if let Some((bookmark, cwd)) = go_on(bookmark, path, options, &mut damage, give)? {
            return Ok(Ending::Read { warnings: damage.warnings(&name), bookmark, cwd });
        }
    }
    let mut damage = Damage::default();
    let (mut bookmark, mut cwd) = (None, None);
    let sessions = match recognise(path, from, options.redactor)? {
        Recognised::Empty => Vec::new(),
        Recognised::Unknown(line) => return Ok(Ending::Unrecognised(line)),
        Recognised::Markdown => markdown::read(&std::fs::read(path)?, path, options, &mut damage).into_iter().collect(),
        Recognised::Database => {
            let mut database = opencode::open_database(path, options)?;
            loop {
                match database.next(&mut damage)? {
                    sessions if sessions.is_empty() => break sessions,
                    sessions => sessions.into_iter().for_each(|session| give(session.into())),
                }
            }
        }
        Recognised::As(form) => {
            let head = head_of(&mut File::open(path)?)?;
            let source = BufReader::with_capacity(1 << 16, unpacked(path)?);
            let damage = &mut damage;
            let (mut end, mut sessions) = (End::Read { bookmark: None, cwd: None }, Vec::new());
            match form {
                Form::Claude => end = claude::read(source, path, options, None, damage, give)?.map(State::Claude),
                Form::Codex => end = codex::read(source, path, options, None, damage, give)?.map(State::Codex),
                Form::Gemini => end = gemini::read(source, path, options, None, damage, give)?.map(State::Gemini),
                Form::Copilot => end = copilot::read(source, path, options, None, damage, give)?.map(State::Copilot),
                Form::OpenCode => sessions = opencode::read(source, path, options, damage)?,
                Form::Aider => sessions = aider::read(source, path, options, damage)?,
            }
            (bookmark, cwd) = reached(end, head, options.redactor).unwrap_or_default();
            if is_packed(path)? {
                bookmark = None;
            }
            sessions
        }
    };
    sessions.into_iter().for_each(|session| give(session.into()));
    Ok(Ending::Read { warnings: damage.warnings(&name), bookmark, cwd })
}

/// Of observations with the same id, as a file has them that somebody put together, the first stays.
fn each_once(observations: &mut Vec<Observation>) {
    let ids: HashSet<&str> = observations.iter().map(|o| o.id.as_str()).collect();
    if ids.len() == observations.len() {
        return;
    }
    let mut met = HashSet::new();
    observations.retain(|o| met.insert(o.id.clone()));
    for (at, observation) in observations.iter_mut().enumerate() {
        observation.seq = at as u32 + 1;
    }
}

/// Reads on from a bookmark; `None` when the file must be read from its front. Nothing was handed over then.
fn go_on(
    bookmark: Bookmark,
    path: &Path,
    options: ReadOptions,
    damage: &mut Damage,
    give: &mut dyn FnMut(Given),
) -> io::Result<Option<(Option<Bookmark>, Option<String>)>> {
    let Bookmark { head, place, state } = bookmark;
    let mut file = File::open(path)?;
    if head_of(&mut file)? != head || !place.find(&mut file)? {
        return Ok(None);
    }
    let source = BufReader::with_capacity(1 << 16, file);
    let end = match state {
        State::Claude(state) => {
            claude::read(source, path, options, Some((&place, *state)), damage, give)?.map(State::Claude)
        }
        State::Codex(state) => {
            codex::read(source, path, options, Some((&place, *state)), damage, give)?.map(State::Codex)
        }
        State::Gemini(state) => {
            gemini::read(source, path, options, Some((&place, *state)), damage, give)?.map(State::Gemini)
        }
        State::Copilot(state) => {
            copilot::read(source, path, options, Some((&place, *state)), damage, give)?.map(State::Copilot)
        }
    };
    Ok(reached(end, head, options.redactor))
}

/// What a read reached: a bookmark, which is left out where what the reader must know is, or holds, a secret, and the
/// folder. `None` when the file must be read from its front.
fn reached(end: End<State>, head: u64, redactor: &Redactor) -> Option<(Option<Bookmark>, Option<String>)> {
    let End::Read { bookmark, cwd } = end else { return None };
    let bookmark = bookmark.map(|(place, state)| Bookmark { head, place, state });
    let is_clean =
        |bookmark: &Bookmark| serde_json::to_value(&bookmark.state).is_ok_and(|state| !tells(&state, redactor));
    Some((bookmark.filter(is_clean), cwd))
}

/// Whether a secret stands in a value.
fn tells(value: &Value, redactor: &Redactor) -> bool {
    let mut texts = HashSet::new();
    gather(value, &mut texts);
    texts.into_iter().any(|text| redactor.finds(text))
}

/// The texts in a value, each once: most of them are the names of a few tools.
fn gather<'v>(value: &'v Value, texts: &mut HashSet<&'v str>) {
    match value {
        Value::String(text) => drop(texts.insert(text)),
        Value::Array(items) => items.iter().for_each(|item| gather(item, texts)),
        Value::Object(fields) => {
            for (name, value) in fields {
                // A digest is no secret.
                if !name.bytes().all(|byte| byte.is_ascii_digit()) {
                    texts.insert(name);
                }
                gather(value, texts);
            }
        }
        _ => {}
    }
}

/// How many bytes of a file's front tell whether it is the same file.
const HEAD: u64 = 1024;

fn head_of(file: &mut File) -> io::Result<u64> {
    let mut head = Vec::new();
    file.by_ref().take(HEAD).read_to_end(&mut head)?;
    let line = head.iter().position(|byte| *byte == b'\n').unwrap_or(head.len());
    Ok(number(&head[..line]))
}

/// The further files that a session's file stands for, wherever an agent keeps one session in several: nothing has
/// changed in the session while none of them has.
pub fn further_files(path: &Path) -> Vec<PathBuf> {
    opencode::further_files(path)
}

/// How a SQLite database begins.
const SQLITE: &[u8] = b"SQLite format 3\0";

/// How files begin in which no session can stand, and what to say of them.
const FOREIGN: [(&[u8], &str); 4] = [
    (b"PK\x03\x04", "a zip archive: unpack it first"),
    (b"\x1f\x8b", "packed with gzip: unpack it first"),
    (b"BZh", "packed with bzip2: unpack it first"),
    (b"\xfd7zXZ\0", "packed with xz: unpack it first"),
];

enum Recognised {
    Empty,
    As(Form),
    Markdown,
    Database,
    Unknown(String),
}

#[derive(Clone, Copy)]
enum Form {
    Claude,
    Codex,
    OpenCode,
    Gemini,
    Copilot,
    Aider,
}

/// What tells a line of each format that is read line by line.
type Telling = (From, Form, fn(&[u8]) -> bool);
const BY_LINE: [Telling; 5] = [
    (From::Claude, Form::Claude, claude::is_telling),
    (From::Codex, Form::Codex, codex::is_telling),
    (From::Gemini, Form::Gemini, gemini::is_telling),
    (From::Copilot, Form::Copilot, copilot::is_telling),
    (From::Aider, Form::Aider, aider::is_telling),
];

/// What tells a document, by its top-level keys.
type TellingKeys = (From, Form, fn(&[String]) -> bool);
const BY_KEYS: [TellingKeys; 2] =
    [(From::Gemini, Form::Gemini, gemini::is_document), (From::OpenCode, Form::OpenCode, opencode::is_document)];

/// How many lines are looked at before a file counts as unknown.
const LOOKED_AT: usize = 200;

/// How much of a file that no reader knows is redacted, so that its first line can be told.
const BEGINNING: usize = 1 << 14;

fn recognise(path: &Path, from: From, redactor: &Redactor) -> io::Result<Recognised> {
    let asked = |format: From| from == From::Auto || from == format;
    let head = magic(path)?;
    if head == SQLITE && codex::is_state_file(path)? {
        return Err(foreign(codex::INDEX));
    }
    if head == SQLITE && asked(From::OpenCode) {
        return Ok(Recognised::Database);
    }
    if let Some((_, what)) = FOREIGN.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Err(foreign(what));
    }
    let mut lines = Lines::new(BufReader::with_capacity(1 << 13, unpacked(path)?));
    let mut ignored = Damage::default();
    let mut beginning: Option<Vec<u8>> = None;
    let (mut binary, mut document) = (false, false);
    for _ in 0..LOOKED_AT {
        let Some(line) = lines.next(&mut ignored)? else { break };
        if beginning.is_none() {
            if let Some(what) = codex::is_index(line.bytes).filter(|_| asked(From::Codex)) {
                return Err(foreign(what));
            }
            let head = &line.bytes[..line.bytes.len().min(400)];
            binary = head.iter().any(|b| *b < 9)
                || std::str::from_utf8(head).is_err_and(|error| error.error_len().is_some());
            document = head.starts_with(b"{");
        }
        let beginning = beginning.get_or_insert_default();
        // More than is shown: a secret may go on behind that, or in the next line.
        let room = BEGINNING.saturating_sub(beginning.len());
        beginning.extend_from_slice(&line.bytes[..line.bytes.len().min(room)]);
        beginning.push(b'\n');
        let told = BY_LINE.iter().find(|(format, _, is_telling)| asked(*format) && is_telling(line.bytes));
        if let Some((_, form, _)) = told {
            return Ok(Recognised::As(*form));
        }
    }
    let Some(beginning) = beginning else { return Ok(Recognised::Empty) };
    if document && let Some(keys) = top_level_keys(path)? {
        let told = BY_KEYS.iter().find(|(format, _, is_document)| asked(*format) && is_document(&keys));
        if let Some((_, form, _)) = told {
            return Ok(Recognised::As(*form));
        }
    }
    let noted =
        path.extension().is_some_and(|e| ["md", "markdown", "txt"].iter().any(|known| e.eq_ignore_ascii_case(known)));
    let note = from == From::Markdown
        || from == From::Auto && (noted || beginning.starts_with(b"# ") || beginning.starts_with(b"---"));
    if binary && path.extension().is_some_and(|end| end.eq_ignore_ascii_case("db")) {
        return Err(foreign("no SQLite database, or an encrypted one"));
    }
    Ok(if note && !binary {
        Recognised::Markdown
    } else {
        let quotable = redactor.quotable(&String::from_utf8_lossy(&beginning));
        Recognised::Unknown(printable(quotable.lines().next().unwrap_or_default()))
    })
}

/// A file that is known to hold no session is an error that says what it is.
fn foreign(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, what.to_owned())
}

/// The keys of the object that the whole file is; `None` when it is none.
fn top_level_keys(path: &Path) -> io::Result<Option<Vec<String>>> {
    let source = BufReader::with_capacity(1 << 16, unpacked(path)?);
    let object: Result<HashMap<String, IgnoredAny>, _> = serde_json::from_reader(source);
    Ok(object.ok().map(|object| object.into_keys().collect()))
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
