//! A session that is one JSON document, taken apart while it is read: it is never held as a whole.

use std::io::{self, BufRead};

use crate::session::lines::Damage;

/// The longest message that is read.
const LONGEST: usize = 64 << 20;

/// The most that is kept of what stands beside the messages.
const LONGEST_HEADER: usize = 1 << 20;

/// A part of the document.
pub(super) struct Piece {
    /// The line it begins on, from 1.
    pub number: usize,
    pub bytes: Vec<u8>,
    /// A message; else the document without its messages, as far as it was read.
    pub message: bool,
}

/// Whether a file that begins so is one document, not one record a line.
pub(super) fn is_one(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    if !head.starts_with(b"{") {
        return false;
    }
    let (first, rest) = match head.iter().position(|b| *b == b'\n') {
        Some(end) => (&head[..end], head[end..].trim_ascii_start()),
        None => (head, &head[..0]),
    };
    let whole =
        first.trim_ascii_end().ends_with(b"}") && serde_json::from_slice::<serde::de::IgnoredAny>(first).is_ok();
    // Records begin with a brace each; the second line of a document does not.
    !whole && !rest.starts_with(b"{")
}

/// A document and how far it was read.
pub(super) struct Document<R> {
    source: R,
    line: usize,
    depth: usize,
    inside: bool,
    escaped: bool,
    in_messages: bool,
    header: Vec<u8>,
    /// The length of the header up to its last whole field.
    fields: usize,
    message: Vec<u8>,
    began: usize,
    over: bool,
}

impl<R: BufRead> Document<R> {
    pub(super) fn new(source: R) -> Document<R> {
        Document {
            source,
            line: 1,
            depth: 0,
            inside: false,
            escaped: false,
            in_messages: false,
            header: Vec::new(),
            fields: 0,
            message: Vec::new(),
            began: 1,
            over: false,
        }
    }

    /// The next message, and the header before the first of them and at the end.
    pub(super) fn next(&mut self, damage: &mut Damage) -> io::Result<Option<Piece>> {
        while !self.over {
            let chunk = self.source.fill_buf()?;
            let chunk = chunk[..chunk.len().min(1 << 12)].to_vec();
            if chunk.is_empty() {
                self.over = true;
                damage.note("cut_last_line", self.line);
                self.header.truncate(self.fields.max(1));
                return Ok(Some(self.head(b"}")));
            }
            for (at, byte) in chunk.iter().enumerate() {
                if let Some(piece) = self.byte(*byte, damage) {
                    self.source.consume(at + 1);
                    return Ok(Some(piece));
                }
            }
            self.source.consume(chunk.len());
        }
        Ok(None)
    }

    /// Takes one byte; the piece that it ends.
    fn byte(&mut self, byte: u8, damage: &mut Damage) -> Option<Piece> {
        self.line += usize::from(byte == b'\n');
        if self.inside {
            self.inside = self.escaped || byte != b'"';
            self.escaped = !self.escaped && byte == b'\\';
            self.keep(byte);
            return None;
        }
        match byte {
            b'"' => self.inside = true,
            b'{' | b'[' => {
                let messages = byte == b'[' && self.depth == 1 && self.key() == b"\"messages\"";
                self.depth += 1;
                if messages {
                    self.in_messages = true;
                    return Some(self.head(b"0}"));
                }
                if self.in_messages && self.depth == 3 {
                    self.began = self.line;
                    self.message.clear();
                }
            }
            b'}' | b']' => {
                self.keep(byte);
                self.depth = self.depth.saturating_sub(1);
                return match self.depth {
                    0 => {
                        self.over = true;
                        Some(self.head(b""))
                    }
                    1 if self.in_messages => {
                        self.in_messages = false;
                        self.header.push(b'0');
                        None
                    }
                    2 if self.in_messages => self.whole(damage),
                    _ => None,
                };
            }
            b',' if self.depth == 1 => self.fields = self.header.len(),
            _ => {}
        }
        self.keep(byte);
        None
    }

    fn keep(&mut self, byte: u8) {
        match self.in_messages {
            true if self.depth > 2 && self.message.len() < LONGEST => self.message.push(byte),
            false if self.depth > 0 && self.header.len() < LONGEST_HEADER => self.header.push(byte),
            _ => {}
        }
    }

    /// The name of the field whose value comes next.
    fn key(&self) -> &[u8] {
        let header = self.header.trim_ascii_end();
        let name = header.strip_suffix(b":").unwrap_or(header).trim_ascii_end();
        &name[name.len().saturating_sub(b"\"messages\"".len())..]
    }

    fn head(&self, end: &[u8]) -> Piece {
        Piece { number: 1, bytes: [&self.header, end].concat(), message: false }
    }

    fn whole(&mut self, damage: &mut Damage) -> Option<Piece> {
        let bytes = std::mem::take(&mut self.message);
        if bytes.len() >= LONGEST {
            damage.note("too_long", self.began);
            return None;
        }
        Some(Piece { number: self.began, bytes, message: true })
    }
}
