//! Numbers and texts in the index's files. Reading never fails hard: what is not there is `None`.

/// Appends a number in as few bytes as it needs, seven bits each.
#[inline]
pub(super) fn put_number(out: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Appends a text with its length.
pub(super) fn put_text(out: &mut Vec<u8>, text: &[u8]) {
    put_number(out, text.len() as u32);
    out.extend_from_slice(text);
}

/// Reads from the front of a slice.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'b> {
    rest: &'b [u8],
}

impl<'b> Cursor<'b> {
    /// From its first byte.
    pub fn new(bytes: &'b [u8]) -> Cursor<'b> {
        Cursor { rest: bytes }
    }

    /// What [`put_number`] wrote.
    #[inline]
    pub fn number(&mut self) -> Option<u32> {
        let (&first, rest) = self.rest.split_first()?;
        if first < 0x80 {
            self.rest = rest;
            return Some(u32::from(first));
        }
        let mut number = 0u32;
        for (n, &byte) in self.rest.iter().enumerate().take(5) {
            number |= u32::from(byte & 0x7f) << (7 * n);
            if byte < 0x80 {
                self.rest = &self.rest[n + 1..];
                return Some(number);
            }
        }
        None
    }

    /// So many bytes.
    pub fn take(&mut self, count: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(taken)
    }

    /// What [`put_text`] wrote.
    pub fn text(&mut self) -> Option<&'b [u8]> {
        let length = self.number()?;
        self.take(length as usize)
    }

    /// How many bytes are left.
    pub fn left(&self) -> usize {
        self.rest.len()
    }

    /// A number of four bytes.
    pub fn word(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }
}

/// The number of four bytes at a place in a row of them.
pub(super) fn word_at(row: &[u8], place: u32) -> Option<u32> {
    let start = place as usize * 4;
    Some(u32::from_le_bytes(row.get(start..start + 4)?.try_into().ok()?))
}

/// The number at a place in a row of numbers that have so many bits each, at most 25, without gaps.
pub(super) fn bits_at(row: &[u8], width: u32, place: u32) -> Option<u32> {
    let bit = width as usize * place as usize;
    let bytes = row.get(bit / 8..)?;
    let mut word = [0; 4];
    let there = bytes.len().min(4);
    word[..there].copy_from_slice(&bytes[..there]);
    Some(u32::from_le_bytes(word) >> (bit % 8) & ((1 << width) - 1))
}
