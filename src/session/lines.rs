//! Lines of a file that may be damaged: read one at a time, and their text made readable.

use std::borrow::Cow;
use std::io::{self, BufRead, ErrorKind};

use super::Warning;

/// The longest line that is read; what is longer is passed over.
const LONGEST: usize = 64 << 20;

/// A file's lines, one at a time, in one buffer.
pub(super) struct Lines<R> {
    source: R,
    buffer: Vec<u8>,
    number: usize,
    /// What follows cannot be read.
    broken: bool,
}

/// One line, without its line break.
pub(super) struct Line<'b> {
    /// From 1.
    pub number: usize,
    /// Without line break, byte order mark and padding.
    pub bytes: &'b [u8],
    /// It ends with a line break; only the last line of a file may have none.
    pub whole: bool,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(source: R) -> Lines<R> {
        Lines { source, buffer: Vec::new(), number: 0, broken: false }
    }

    /// The next line that is not empty. A packed file whose rest cannot be unpacked ends there.
    pub(super) fn next(&mut self, damage: &mut Damage) -> io::Result<Option<Line<'_>>> {
        loop {
            self.buffer.clear();
            if self.broken {
                return Ok(None);
            }
            let read = match io::Read::take(&mut self.source, LONGEST as u64).read_until(b'\n', &mut self.buffer) {
                Err(error) if error.kind() == ErrorKind::InvalidData && (self.number, self.buffer.len()) != (0, 0) => {
                    damage.note("broken_archive", self.number + 1);
                    self.broken = true;
                    self.buffer.len()
                }
                read => read?,
            };
            if read == 0 {
                return Ok(None);
            }
            self.number += 1;
            let mut whole = self.buffer.last() == Some(&b'\n');
            if !whole && read == LONGEST {
                damage.note("too_long", self.number);
                whole = skip_line(&mut self.source)?;
                if whole { continue } else { return Ok(None) }
            }
            let (start, end) = self.trimmed(damage);
            if start < end {
                return Ok(Some(Line { number: self.number, bytes: &self.buffer[start..end], whole }));
            }
        }
    }

    /// The next line as it stands, also an empty one.
    pub(super) fn next_raw(&mut self, damage: &mut Damage) -> io::Result<Option<Line<'_>>> {
        self.buffer.clear();
        let read = io::Read::take(&mut self.source, LONGEST as u64).read_until(b'\n', &mut self.buffer)?;
        if read == 0 {
            return Ok(None);
        }
        self.number += 1;
        let mut whole = self.buffer.last() == Some(&b'\n');
        if !whole && read == LONGEST {
            damage.note("too_long", self.number);
            self.buffer.clear();
            whole = skip_line(&mut self.source)?;
        }
        let bytes = self.buffer.strip_suffix(b"\n").unwrap_or(&self.buffer);
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        let bytes = match bytes.strip_prefix(b"\xef\xbb\xbf") {
            Some(rest) if self.number == 1 => {
                damage.note("bom", 1);
                rest
            }
            _ => bytes,
        };
        Ok(Some(Line { number: self.number, bytes, whole }))
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
}

fn skip_line(source: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let chunk = source.fill_buf()?;
        if chunk.is_empty() {
            return Ok(false);
        }
        let (used, done) = match chunk.iter().position(|b| *b == b'\n') {
            Some(at) => (at + 1, true),
            None => (chunk.len(), false),
        };
        source.consume(used);
        if done {
            return Ok(true);
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
            "too_long" => "a line longer than 64 MiB, left out",
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
