//! Lines of a file that may be damaged: read one at a time, and their text made readable.

use std::borrow::Cow;
use std::io::{self, BufRead, ErrorKind, Read, Seek, SeekFrom};

use bstr::ByteSlice;
use serde::{Deserialize, Serialize};

use super::Warning;
use super::builder::number;

/// The longest line that is read; what is longer is passed over.
const LONGEST: usize = 16 << 20;

/// A buffer larger than this is given back when its line was read.
const LARGE: usize = 4 << 20;

/// How many bytes before a place tell whether it is still the same place.
const BEFORE: usize = 512;

/// A place between two lines of a file that only grows at its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Place {
    /// How many bytes stand before it.
    pub offset: u64,
    /// How many lines stand before it.
    pub line: usize,
    /// How many of the bytes right before it are known, and a digest of them.
    known: usize,
    digest: u64,
}

impl Place {
    fn new(offset: u64, line: usize, before: &[u8]) -> Place {
        let known = before.len().min(BEFORE);
        Place { offset, line, known, digest: number(&before[before.len() - known..]) }
    }

    /// Moves a file to this place; false when it is not the file any more that the place was found in.
    pub(super) fn find(&self, file: &mut (impl Read + Seek)) -> io::Result<bool> {
        let mut before = Vec::with_capacity(self.known);
        file.seek(SeekFrom::Start(self.offset.saturating_sub(self.known as u64)))?;
        file.by_ref().take(self.known as u64).read_to_end(&mut before)?;
        Ok(before.len() == self.known && number(&before) == self.digest)
    }
}

/// A file's lines, one at a time, in one buffer.
pub(super) struct Lines<R> {
    source: R,
    buffer: Vec<u8>,
    /// The line before, when it was whole.
    before: Vec<u8>,
    number: usize,
    /// Where the line in the buffer begins, and where it ends.
    start: u64,
    end: u64,
    /// The line in the buffer ends with a line break.
    whole: bool,
    /// There is no further line: what follows cannot be read, or the last line has no end yet. Whoever writes the file
    /// meanwhile may end it, and its rest is no line of its own.
    ended: bool,
}

/// One line, without its line break.
pub(super) struct Line<'b> {
    /// From 1.
    pub number: usize,
    /// Without line break, byte order mark and padding.
    pub bytes: &'b [u8],
    /// It ends with a line break; only the last line of a file may have none.
    pub whole: bool,
    start: u64,
    before: &'b [u8],
}

impl<'b> Line<'b> {
    /// A line that stands in no file by itself.
    pub(super) fn alone(number: usize, bytes: &'b [u8], whole: bool) -> Line<'b> {
        Line { number, bytes, whole, start: 0, before: &[] }
    }

    /// The place right before it.
    pub(super) fn place(&self) -> Place {
        Place::new(self.start, self.number - 1, self.before)
    }
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(source: R) -> Lines<R> {
        Lines {
            source,
            buffer: Vec::new(),
            before: Vec::new(),
            number: 0,
            start: 0,
            end: 0,
            whole: false,
            ended: false,
        }
    }

    /// The lines behind a place that the source was moved to.
    pub(super) fn behind(source: R, place: &Place) -> Lines<R> {
        Lines { number: place.line, start: place.offset, end: place.offset, ..Lines::new(source) }
    }

    /// The next line that is not empty. A packed file whose rest cannot be unpacked ends there.
    pub(super) fn next(&mut self, damage: &mut Damage) -> io::Result<Option<Line<'_>>> {
        loop {
            let Some(fits) = self.fill(damage)? else { return Ok(None) };
            if !fits {
                if self.whole { continue } else { return Ok(None) }
            }
            let (start, end) = self.trimmed(damage);
            if start < end {
                return Ok(Some(Line {
                    number: self.number,
                    bytes: &self.buffer[start..end],
                    whole: self.whole,
                    start: self.start,
                    before: &self.before,
                }));
            }
        }
    }

    /// The next line as it stands, also an empty one.
    pub(super) fn next_raw(&mut self, damage: &mut Damage) -> io::Result<Option<Line<'_>>> {
        let Some(fits) = self.fill(damage)? else { return Ok(None) };
        let bytes = if fits { self.buffer.as_slice() } else { &[] };
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        let bytes = match bytes.strip_prefix(b"\xef\xbb\xbf") {
            Some(rest) if self.number == 1 => {
                damage.note("bom", 1);
                rest
            }
            _ => bytes,
        };
        let (start, before) = (self.start, self.before.as_slice());
        Ok(Some(Line { number: self.number, bytes, whole: self.whole, start, before }))
    }

    /// Takes the next line into the buffer; false when it is too long, and passed over.
    fn fill(&mut self, damage: &mut Damage) -> io::Result<Option<bool>> {
        if self.whole {
            std::mem::swap(&mut self.buffer, &mut self.before);
            self.start = self.end;
            if self.before.capacity() > LARGE {
                self.before = self.before[self.before.len().saturating_sub(BEFORE)..].to_vec();
            }
        }
        self.whole = false;
        self.buffer.clear();
        if self.ended {
            return Ok(None);
        }
        let read = match io::Read::take(&mut self.source, LONGEST as u64).read_until(b'\n', &mut self.buffer) {
            Err(error) if error.kind() == ErrorKind::InvalidData && (self.number, self.buffer.len()) != (0, 0) => {
                damage.note("broken_archive", self.number + 1);
                self.buffer.len()
            }
            read => read?,
        };
        if read == 0 {
            return Ok(None);
        }
        self.number += 1;
        self.end += read as u64;
        self.whole = self.buffer.last() == Some(&b'\n');
        let fits = self.whole || read < LONGEST;
        if !fits {
            damage.note("too_long", self.number);
            self.skip_line()?;
        }
        self.ended = !self.whole;
        Ok(Some(fits))
    }

    /// The place behind the last whole line, once there is no further line.
    pub(super) fn place(&self) -> Place {
        let number = if self.end > self.start { self.number - 1 } else { self.number };
        Place::new(self.start, number, &self.before)
    }

    fn trimmed(&self, damage: &mut Damage) -> (usize, usize) {
        let mut bytes = self.buffer.as_slice();
        let mut start = 0;
        if self.number == 1 && bytes.starts_with(b"\xef\xbb\xbf") {
            damage.note("bom", 1);
            (bytes, start) = (&bytes[3..], 3);
        }
        let blank = |b: &u8| b.is_ascii_whitespace() || *b == 0;
        let front = bytes.iter().take_while(|b| blank(b)).count();
        let back = bytes[front..].iter().rev().take_while(|b| blank(b)).count();
        let end = bytes.len() - back;
        if bytes[..front].contains(&0) || bytes[end..].contains(&0) {
            damage.note("nul_padding", self.number);
        }
        (start + front, start + end)
    }

    /// Passes over the rest of a line and keeps its end only.
    fn skip_line(&mut self) -> io::Result<()> {
        self.buffer = Vec::new();
        loop {
            let chunk = self.source.fill_buf()?;
            if chunk.is_empty() {
                return Ok(());
            }
            let used = chunk.find_byte(b'\n').map_or(chunk.len(), |at| at + 1);
            self.buffer.extend_from_slice(&chunk[used.saturating_sub(BEFORE)..used]);
            self.whole = chunk[used - 1] == b'\n';
            let surplus = self.buffer.len().saturating_sub(BEFORE);
            self.buffer.drain(..surplus);
            self.source.consume(used);
            self.end += used as u64;
            if self.whole {
                return Ok(());
            }
        }
    }
}

/// Text of bytes; what is no UTF-8 becomes U+FFFD.
pub(super) fn text<'b>(bytes: &'b [u8], number: usize, damage: &mut Damage) -> Cow<'b, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => {
            damage.note("invalid_utf8", number);
            String::from_utf8_lossy(bytes)
        }
    }
}

/// JSON with what parsers refuse put right: half surrogates become U+FFFD, bare control characters are escaped.
/// `None` when there was nothing of the kind.
pub(super) fn repaired(json: &str) -> Option<(String, &'static str)> {
    let bytes = json.as_bytes();
    let mut out = String::with_capacity(json.len() + 8);
    let mut kind = None;
    let (mut at, mut copied, mut inside) = (0, 0, false);
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                inside = !inside;
                at += 1;
            }
            b'\\' if inside => {
                let unit = code_unit(bytes, at);
                match unit {
                    Some(0xd800..=0xdbff) if matches!(code_unit(bytes, at + 6), Some(0xdc00..=0xdfff)) => at += 12,
                    Some(0xd800..=0xdfff) => {
                        out.push_str(&json[copied..at]);
                        out.push_str("\\ufffd");
                        at += 6;
                        copied = at;
                        kind = Some("lone_surrogate");
                    }
                    // A half escape that was cut by the next one, as in `\ud83` before a quote.
                    None if bytes.get(at + 1) == Some(&b'u') => {
                        out.push_str(&json[copied..at]);
                        out.push_str("\\ufffd");
                        at += 2 + bytes[at + 2..].iter().take(4).take_while(|b| b.is_ascii_hexdigit()).count();
                        copied = at;
                        kind = kind.or(Some("lone_surrogate"));
                    }
                    _ => at += 2,
                }
            }
            control @ 0..=0x1f if inside => {
                out.push_str(&json[copied..at]);
                out.push_str(&format!("\\u{control:04x}"));
                at += 1;
                copied = at;
                kind = kind.or(Some("control_character"));
            }
            _ => at += 1,
        }
    }
    out.push_str(&json[copied.min(json.len())..]);
    kind.map(|kind| (out, kind))
}

/// The number of a `\uXXXX` escape at `at`.
fn code_unit(bytes: &[u8], at: usize) -> Option<u16> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    let digits = std::str::from_utf8(digits).ok().filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()))?;
    u16::from_str_radix(digits, 16).ok()
}

/// How deep brackets nest in a JSON text.
pub(super) fn depth(json: &str) -> usize {
    let (mut now, mut most, mut inside, mut escaped) = (0usize, 0usize, false, false);
    for byte in json.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if inside => escaped = true,
            b'"' => inside = !inside,
            b'[' | b'{' if !inside => {
                now += 1;
                most = most.max(now);
            }
            b']' | b'}' if !inside => now = now.saturating_sub(1),
            _ => {}
        }
    }
    most
}

/// The damage that was met in one file, by kind.
#[derive(Default)]
pub(super) struct Damage {
    kinds: Vec<(&'static str, usize, usize)>,
}

impl Damage {
    /// Notes one line with this kind of damage.
    pub(super) fn note(&mut self, kind: &'static str, line: usize) {
        match self.kinds.iter_mut().find(|(known, ..)| *known == kind) {
            Some((_, _, count)) => *count += 1,
            None => self.kinds.push((kind, line, 1)),
        }
    }

    /// One warning per kind.
    pub(super) fn warnings(self, file: &str) -> Vec<Warning> {
        let in_words = |kind| match kind {
            "cut_last_line" => "the last line is cut off; it was left out",
            "broken_line" => "a broken line; what could be read of it was used",
            "glued_objects" => "several objects on one line; all were used",
            "lone_surrogate" => "half a surrogate pair, replaced by U+FFFD",
            "control_character" => "a bare control character inside a string",
            "invalid_utf8" => "bytes that are no UTF-8, replaced by U+FFFD",
            "bom" => "a byte order mark, left out",
            "nul_padding" => "NUL bytes, left out",
            "too_deep" => "nesting deeper than 128, kept as text only",
            "too_long" => "a line longer than 16 MiB, left out",
            "not_an_object" => "a line that is no JSON object, left out",
            "unknown_type" => "a line of an unknown type, left out",
            "odd_message" => "a message without readable content, left out",
            "broken_archive" => "the rest of the packed file cannot be unpacked; it was left out",
            "bad_timestamp" => "a time that cannot be read, left out",
            "empty_part" => "an empty message or part, left out",
            "broken_part" => "a broken or half-written message or part, left out",
            "unreadable_part" => "a file or folder of the session that cannot be read, left out",
            _ => "damage",
        };
        let warning = |(kind, line, count): (&'static str, usize, usize)| {
            let more = if count > 1 { format!(" ({count} lines)") } else { String::new() };
            Warning { file: file.to_owned(), line, kind, message: format!("{}{more}", in_words(kind)) }
        };
        self.kinds.into_iter().map(warning).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Damage, Lines, depth, repaired};

    fn all(bytes: &[u8]) -> (Vec<(usize, String, bool)>, Vec<&'static str>) {
        let (mut lines, mut damage, mut out) = (Lines::new(bytes), Damage::default(), Vec::new());
        while let Some(line) = lines.next(&mut damage).unwrap() {
            out.push((line.number, String::from_utf8_lossy(line.bytes).into_owned(), line.whole));
        }
        (out, damage.warnings("f").into_iter().map(|w| w.kind).collect())
    }

    #[test]
    fn blank_lines_marks_and_padding_are_left_out_and_lines_keep_their_numbers() {
        let (lines, damage) = all(b"\xef\xbb\xbf{}\r\n\n  \n{\"a\":1}\n\0\0\0");
        assert_eq!(lines, [(1, "{}".into(), true), (4, "{\"a\":1}".into(), true)]);
        assert_eq!(damage, ["bom", "nul_padding"]);
    }

    #[test]
    fn the_rest_of_a_line_that_is_written_meanwhile_is_no_line() {
        struct Growing(Vec<&'static [u8]>);
        impl std::io::Read for Growing {
            fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
                let Some(piece) = self.0.pop() else { return Ok(0) };
                into[..piece.len()].copy_from_slice(piece);
                Ok(piece.len())
            }
        }
        let growing = Growing(vec![b"\"b\":2}\n{\"c\":3}\n", b"", b"{\"a\":1}\n{"]);
        let (mut lines, mut damage) = (Lines::new(std::io::BufReader::new(growing)), Damage::default());
        let mut next = || lines.next(&mut damage).unwrap().map(|line| line.bytes.to_vec());
        assert_eq!([next(), next(), next()], [Some(b"{\"a\":1}".to_vec()), Some(b"{".to_vec()), None]);
        assert_eq!((lines.place().offset, lines.place().line), (8, 1));
    }

    #[test]
    fn half_surrogates_are_replaced_and_whole_ones_stay() {
        assert_eq!(
            repaired(r#"{"a":"x\ud83d\ude00 \ud83d y \udcb2"}"#),
            Some((r#"{"a":"x\ud83d\ude00 \ufffd y \ufffd"}"#.into(), "lone_surrogate"))
        );
        assert_eq!(repaired(r#"{"a":"\\ud83d \" \n"}"#), None);
    }

    #[test]
    fn depth_counts_brackets_outside_strings_only() {
        assert_eq!(depth(r#"{"a":[["[[[", "\"[" ]]}"#), 3);
    }
}
