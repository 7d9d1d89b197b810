//! aider's chat history: many sessions in one markdown file.
//!
//! aider ends each line that it writes itself with two blanks: `#### ` in front of what a person typed, `> ` in front
//! of its own output. Everything else is the model's answer, in which the same marks may stand, mostly without the
//! blanks. So a line is a person's when it has the mark and the blanks, outside of a code fence, after an empty line or
//! another such line. Where an editor took the blanks away, it must also follow aider's own output. An answer that
//! repeats all of this outside of a fence cannot be told from a person's words. Times have no zone: they are local.

mod turn;

use std::collections::HashMap;
use std::io::{self, BufRead};
use std::path::Path;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use self::turn::Open;
use super::builder::digest;
use super::gather::{About, Gathered};
use super::lines::{self, Damage, Lines};
use super::{Agent, ReadOptions, Session};

/// How a session begins.
const HEADER: &str = "# aider chat started at ";

/// Whether a line can only be this agent's.
pub(super) fn is_telling(line: &[u8]) -> bool {
    std::str::from_utf8(line).ok().and_then(started).is_some()
}

/// The time in a session's first line.
fn started(line: &str) -> Option<&str> {
    let time = line.strip_prefix(HEADER)?.trim_end();
    DateTime::strptime("%Y-%m-%d %H:%M:%S", time).is_ok().then_some(time)
}

/// Reads a file; none when there is nothing to learn from it, or nothing of it may be kept.
pub(super) fn read(
    source: impl BufRead,
    path: &Path,
    options: ReadOptions,
    damage: &mut Damage,
) -> io::Result<Vec<Session>> {
    let mut reading = Reading::new(path, options);
    let mut source = Lines::new(source);
    while let Some(line) = source.next_raw(damage)? {
        reading.line(&line, damage);
    }
    Ok(reading.finish())
}

/// Whose lines they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Voice {
    Nobody,
    Person,
    Program,
    Model,
}

/// What is known of a file so far.
struct Reading<'o> {
    options: ReadOptions<'o>,
    folder: String,
    /// How many sessions began at a time.
    times: HashMap<String, usize>,
    now: Option<Talk<'o>>,
    done: Vec<Session>,
    /// The line before was empty, or there was none.
    after_blank: bool,
}

/// A session while it is read.
struct Talk<'o> {
    id: String,
    gathered: Gathered<'o>,
    /// The number of its first line.
    first: usize,
    /// Lines of one voice, and the number of the first of them within the session.
    voice: Voice,
    block: Vec<String>,
    began: usize,
    /// The mark of the code fence that is open in an answer.
    fence: Option<&'static str>,
    /// An editor took the blanks at the ends of lines away; `None`: not known yet.
    trimmed: Option<bool>,
    /// Whoever spoke last, apart from empty lines.
    last: Voice,
    /// aider has introduced itself, or a person has spoken: what follows can be an answer.
    announced: bool,
    /// The next prompt was given on the command line.
    scripted: bool,
    /// The command whose output comes next.
    open: Option<Open>,
}

impl<'o> Reading<'o> {
    fn new(path: &Path, options: ReadOptions<'o>) -> Self {
        let path = path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned());
        let folder = path.parent().unwrap_or(&path).to_string_lossy().into_owned();
        Reading { options, folder, times: HashMap::new(), now: None, done: Vec::new(), after_blank: true }
    }

    fn line(&mut self, line: &lines::Line, damage: &mut Damage) {
        let text = lines::text(line.bytes, line.number, damage);
        let text = text.trim_start_matches('\0');
        let after_blank = std::mem::replace(&mut self.after_blank, text.trim().is_empty());
        let fenced = self.now.as_ref().is_some_and(|talk| talk.fence.is_some());
        if after_blank && !fenced && text.starts_with(HEADER) {
            self.end();
            self.begin(text, line.number, damage);
            return;
        }
        match &mut self.now {
            Some(talk) => talk.line(text, line.number - talk.first, after_blank),
            None if text.trim().is_empty() => {}
            None => damage.note("unknown_type", line.number),
        }
    }

    fn begin(&mut self, header: &str, number: usize, damage: &mut Damage) {
        let at = started(header).and_then(local);
        if at.is_none() {
            damage.note("bad_timestamp", number);
        }
        let time = header[HEADER.len()..].trim().to_owned();
        let nth = self.times.entry(time.clone()).or_default();
        *nth += 1;
        let mut gathered = Gathered::new(self.options, About::default());
        gathered.ran_in(&self.folder);
        gathered.happened(at);
        self.now = Some(Talk {
            id: format!("aider-{}", digest(format!("{}\n{time}\n{nth}", self.folder).as_bytes())),
            gathered,
            first: number,
            voice: Voice::Nobody,
            block: Vec::new(),
            began: 0,
            fence: None,
            trimmed: None,
            last: Voice::Nobody,
            announced: false,
            scripted: false,
            open: None,
        });
    }

    fn end(&mut self) {
        if let Some(mut talk) = self.now.take() {
            talk.flush();
            talk.close();
            let given = talk.gathered.close(Agent::Aider, &talk.id, None, false);
            self.done.extend(given.ok().flatten().map(|given| given.session));
        }
    }

    fn finish(mut self) -> Vec<Session> {
        self.end();
        self.done
    }
}

impl Talk<'_> {
    fn line(&mut self, text: &str, number: usize, after_blank: bool) {
        let voice = self.voice_of(text, after_blank);
        if voice == Voice::Nobody {
            // An empty line ends what a person or aider said, and belongs to an answer.
            match self.voice {
                Voice::Model => self.block.push(String::new()),
                _ => self.flush(),
            }
            return;
        }
        if voice != self.voice {
            self.flush();
            self.voice = voice;
            self.began = number;
        }
        self.last = voice;
        match voice {
            Voice::Person => self.block.push(text["####".len()..].trim().to_owned()),
            Voice::Program => self.block.push(text[1..].trim().to_owned()),
            _ => self.block.push(text.to_owned()),
        }
    }

    fn voice_of(&mut self, text: &str, after_blank: bool) -> Voice {
        let (typed, told) = (text.starts_with("#### "), text.starts_with("> "));
        let blanks = text.ends_with("  ");
        if (typed || told) && self.trimmed.is_none() {
            self.trimmed = Some(!blanks);
        }
        let trimmed = self.trimmed == Some(true);
        if told && blanks {
            // aider speaks only when the answer is over, whether the answer closed its fence or not.
            self.fence = None;
            return Voice::Program;
        }
        let body = text.trim_start();
        if self.fence.is_some() {
            if self
                .fence
                .is_some_and(|mark| body.starts_with(mark) && body.trim().trim_start_matches(&mark[..1]).is_empty())
            {
                self.fence = None;
            }
            return Voice::Model;
        }
        if text.trim().is_empty() {
            return Voice::Nobody;
        }
        if told && trimmed {
            return Voice::Program;
        }
        let continued = self.voice == Voice::Person && !after_blank;
        if typed && (after_blank || continued) && (blanks || trimmed && (continued || self.last != Voice::Model)) {
            return Voice::Person;
        }
        self.fence = ["```", "~~~"].into_iter().find(|mark| body.starts_with(mark));
        Voice::Model
    }

    /// Takes the lines of one voice as what they are.
    fn flush(&mut self) {
        let block = std::mem::take(&mut self.block);
        match std::mem::replace(&mut self.voice, Voice::Nobody) {
            Voice::Nobody => {}
            Voice::Person => self.typed(block.join("\n").trim()),
            Voice::Program => self.told(&block),
            Voice::Model => self.answered(&block),
        }
    }
}

/// A time of this machine's zone.
fn local(time: &str) -> Option<Timestamp> {
    let time = DateTime::strptime("%Y-%m-%d %H:%M:%S", time).ok()?;
    Some(time.to_zoned(TimeZone::system()).ok()?.timestamp())
}

#[cfg(test)]
mod tests;
