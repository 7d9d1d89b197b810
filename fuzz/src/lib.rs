//! What must hold for every input, however it was made.

pub mod candidates;
pub mod config;
pub mod edits;
pub mod lanes;
pub mod ledger;
pub mod server;
pub mod templates;

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use git_memory::session::{
    Exclusions, From, LONGEST_BODY, Outcome, Policy, ReadOptions, Redactor, Session, Warning, read,
};

static REDACTOR: LazyLock<Redactor> = LazyLock::new(|| Redactor::new(&[], &[]).expect("no patterns"));
static EXCLUSIONS: LazyLock<Exclusions> =
    LazyLock::new(|| Exclusions::new(&["secrets/".into(), ".env*".into(), "/config/*.yml".into()]).expect("patterns"));
static POLICY: LazyLock<Policy> =
    LazyLock::new(|| Policy::new(true, false, &["secrets/".into(), ".env*".into()]).expect("patterns"));

/// The most that an input of this many bytes may take; far above what it does take, far below what a square would.
fn allowed(bytes: usize) -> Duration {
    Duration::from_millis(2000 + bytes as u64 / 20)
}

/// A folder of this process, kept in memory.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let top = if cfg!(target_os = "linux") { "/dev/shm".into() } else { std::env::temp_dir() };
    let folder = top.join(format!("git-memory-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
});

/// What separates the parts of an input that has several.
const SEPARATOR: char = '\u{1e}';

/// Does something with an input of so many bytes, in time.
fn in_time<T>(bytes: usize, done: impl FnOnce() -> T) -> T {
    let begun = Instant::now();
    let result = done();
    assert!(begun.elapsed() < allowed(bytes), "{:?} for {bytes} bytes", begun.elapsed());
    result
}

/// Words for a person's terminal or a run record: one line, not long, no control characters.
fn is_message(text: &str, most: usize) {
    assert!(!text.contains(char::is_control), "{text:?}");
    assert!(text.chars().count() <= most, "{} characters: {text}", text.chars().count());
}

/// The input as a file of its own, kept in memory.
fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let path = FOLDER.join(name);
    std::fs::write(&path, bytes).expect("a file");
    path
}

/// A reader takes any bytes: what it makes of them is well formed, and the same the second time.
pub fn reads(from: From, name: &str, bytes: &[u8]) {
    let path = file(name, bytes);
    let options = ReadOptions { redactor: &REDACTOR, policy: &POLICY };
    let begun = Instant::now();
    let Ok((outcome, warnings)) = read(&path, from, options) else { return };
    assert!(begun.elapsed() < allowed(bytes.len()), "{:?} for {} bytes", begun.elapsed(), bytes.len());
    is_well_formed(&outcome, &warnings);
    let again = read(&path, from, options).expect("it was read before");
    assert_eq!(again, (outcome, warnings), "a second read gives something else");
}

fn is_well_formed(outcome: &Outcome, warnings: &[Warning]) {
    let kinds: HashSet<&str> = warnings.iter().map(|warning| warning.kind).collect();
    assert_eq!(kinds.len(), warnings.len(), "more than one warning of a kind: {warnings:?}");
    let Outcome::Sessions(sessions) = outcome else { return };
    let names: HashSet<&str> = sessions.iter().map(|session| session.id.as_str()).collect();
    assert_eq!(names.len(), sessions.len(), "two sessions with one id");
    sessions.iter().for_each(is_a_session);
}

fn is_a_session(session: &Session) {
    let safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    assert!(!session.id.is_empty() && session.id.chars().all(safe), "{:?} is no safe id", session.id);
    assert!(!session.title.contains(char::is_control), "{:?}", session.title);
    let mut ids = HashSet::new();
    for (at, observation) in session.observations.iter().enumerate() {
        assert_eq!(observation.seq as usize, at + 1, "the numbers are not dense");
        assert!(ids.insert(observation.id.as_str()), "{:?} twice", observation.id);
        assert!(observation.body.len() <= LONGEST_BODY, "a body of {} bytes", observation.body.len());
        assert!(!observation.title.contains(char::is_control), "{:?}", observation.title);
    }
}

/// A secret goes wherever it is planted, what was redacted stays as it is, and the time grows with the length only.
pub fn redacts(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let begun = Instant::now();
    let once = REDACTOR.redact(&text).into_owned();
    assert!(begun.elapsed() < allowed(text.len()), "{:?} for {} bytes", begun.elapsed(), text.len());
    assert_eq!(REDACTOR.redact(&once), once, "redacting again changes something");
    assert!(!REDACTOR.finds(&once), "a secret is left in {once:?}");

    // The place follows from the input, so that a finding can be played again.
    let at = bytes.iter().fold(0usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(*byte as usize));
    let mut at = at % (text.len() + 1);
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    // No seed holds it: a token that the planted one parts is not the planted one.
    let random = ["x7Kq2ZpLmN4vRt8WcYb3", "Hj6TdF9sGk1PaQ5e"].concat();
    let planted = format!("{}\nghp_{random}\n{}", &text[..at], &text[at..]);
    let clean = REDACTOR.redact(&planted);
    assert!(!random.as_bytes().windows(12).any(|piece| bytes_in(clean.as_bytes(), piece)), "it is left in {clean:?}");
}

fn bytes_in(text: &[u8], piece: &[u8]) -> bool {
    text.windows(piece.len()).any(|window| window == piece)
}

/// Any text is judged in time, and one that names an excluded path beside others is found.
pub fn excludes(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let begun = Instant::now();
    let named = EXCLUSIONS.names(&text);
    EXCLUSIONS.path(&text);
    assert!(begun.elapsed() < allowed(text.len()), "{:?} for {} bytes", begun.elapsed(), text.len());
    assert_eq!(named, EXCLUSIONS.names(&text));
    // A line of its own before it: whatever follows cannot take it back.
    assert!(EXCLUSIONS.names(&format!("cat secrets/key.txt\n{text}")), "{text:?} hides what stands before it");
}

/// A model's reply is any text: the value in it is found in time, and is found again in a fence.
pub fn replies(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let begun = Instant::now();
    let found = git_memory::model::first_json(&text);
    assert!(begun.elapsed() < allowed(bytes.len()), "{:?} for {} bytes", begun.elapsed(), bytes.len());
    let Some(value) = found else { return };
    assert!(value.is_object() || value.is_array(), "{value}");
    let wrapped = format!("Sure.\n```json\n{value}\n```\n{text}");
    assert!(git_memory::model::first_json(&wrapped).is_some(), "{wrapped}");
}
