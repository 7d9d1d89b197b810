//! Words that a narrow window had broken over lines, whole again: with nothing between their parts but the break and
//! what stands at the edges of lines, such as indentation, a viewer's line number, the frame of a box, the mark of a
//! quote, of a comment or of a diff.

use bstr::ByteSlice;

use super::assign::is_identifier;
use super::view::{Builder, View};
use super::{floor, is_uuid};

/// How far a word, or a line, is looked at on either side of a break.
const REACH: usize = 512;

/// A rest that is shorter is no rest of its own.
const SHORTEST_REST: usize = 8;

/// Two runs that could be one secret are joined, and whatever `is_parted` says: it is given the joined word, how long its
/// first part is, and whether the second looks like the rest of a secret.
pub(super) fn unbroken(text: &str, is_parted: impl Fn(&str, usize, bool) -> bool) -> Option<View> {
    /// No secret that is known by its shape is shorter.
    const SHORTEST: usize = 10;
    let bytes = text.as_bytes();
    let mut out = Builder::new(text);
    let mut word = String::new();
    let mut from = 0;
    while let Some(at) = bytes.get(from..).and_then(|rest| rest.find_byteset(b"\n\\")).map(|found| from + found) {
        from = at + 1;
        let Some(begins) = line_break(bytes, at) else { continue };
        let mut end = at;
        while end > out.done && matches!(bytes[end - 1], b'\r' | b'\\') {
            end -= 1;
        }
        let end = without_frame(text, end).max(out.done);
        if end == out.done || !is_in_word(&bytes[end - 1]) {
            continue;
        }
        let next = begins + margin(&text[begins..floor(text, begins + 64)], || first_sign(bytes, at));
        let behind = bytes[next..].iter().take(REACH).take_while(|b| is_in_word(b)).count();
        if behind == 0 {
            continue;
        }
        let left = bytes[out.done..end].iter().rev().take(32).take_while(|b| is_part(b)).count();
        let left = &text[end - left..end];
        let is_rest = is_rest(left, text, next);
        let is_front = left.len() >= 16 || left.len() >= 4 && left.bytes().any(|b| b.is_ascii_digit());
        let is_whole = is_front && is_rest || {
            word.clear();
            let before = bytes[out.done..end].iter().rev().take(REACH).take_while(|b| is_in_word(b)).count();
            if end - before == out.done {
                let joined = out.view.text.as_bytes().iter().rev().take(REACH).take_while(|b| is_in_word(b)).count();
                word.push_str(&out.view.text[out.view.text.len() - joined..]);
            }
            word.push_str(&text[end - before..end]);
            let parted = word.len();
            word.push_str(&text[next..next + behind]);
            word.len() >= SHORTEST && is_parted(&word, parted, is_rest)
        };
        if is_whole {
            out.replace(end, next, None);
            from = next;
        }
    }
    out.finish()
}

/// Whether a byte may stand in a token.
pub(super) fn is_part(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/_.~-".contains(byte)
}

fn is_in_word(byte: &u8) -> bool {
    byte.is_ascii_graphic() && !b"\"'`<>\\".contains(byte)
}

/// Whether what stands at `next` looks like the rest of a secret of which `left` ends the line above.
fn is_rest(left: &str, text: &str, next: usize) -> bool {
    let bytes = text.as_bytes();
    let right = bytes[next..].iter().take(REACH).take_while(|b| is_part(b)).count();
    let right = right + bytes[next + right..].iter().take(2).take_while(|b| **b == b'=').count();
    let goes_on = match bytes.get(next + right) {
        Some(b':') => matches!(bytes.get(next + right + 1), Some(b':' | b'/')),
        Some(b) => is_part(b) || b"=([{".contains(b),
        None => false,
    };
    !goes_on && is_random(left, &text[next..next + right])
}

/// Whether a text is long enough for a rest, and nothing that a line begins with otherwise.
pub(super) fn is_random(left: &str, right: &str) -> bool {
    right.len() >= SHORTEST_REST && !is_ordinary(left, right)
}

/// Whether a line may begin so that has nothing to do with `left` above it: words, versions, times, numbers, ids.
fn is_ordinary(left: &str, right: &str) -> bool {
    let is_words = || {
        let parts = || right.split(['_', '-', '.', ':', '/']);
        let letters = parts().map(letters).filter(|letters| letters.len() >= 3).map(str::len).sum::<usize>();
        parts().all(is_word) && letters * 2 >= right.len()
    };
    let is_version = || {
        let mut parts = right.strip_prefix('v').unwrap_or(right).split('.');
        (0..2).all(|_| parts.next().is_some_and(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit())))
    };
    let is_date = || {
        let shape = |(at, b): (usize, u8)| if matches!(at, 4 | 7) { b == b'-' } else { b.is_ascii_digit() };
        right.len() >= 10 && right.bytes().take(10).enumerate().all(shape)
    };
    // The id of a commit, where what stands above is no such number itself.
    let is_commit = || {
        let is_hex = |text: &str| text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        matches!(right.len(), 40 | 64) && is_hex(right) && !is_hex(&left[left.len().saturating_sub(8)..])
    };
    let is_number = !right.bytes().any(|b| b.is_ascii_alphabetic());
    is_number || is_identifier(right) || is_words() || is_version() || is_date() || is_uuid(right) || is_commit()
}

/// A part of a name without the number behind it.
fn letters(part: &str) -> &str {
    part.trim_end_matches(|c: char| c.is_ascii_digit())
}

/// A short number, or a word in letters of one size (but for a capital) with one behind it.
fn is_word(part: &str) -> bool {
    let letters = letters(part);
    let small = |text: &str| text.bytes().all(|b| b.is_ascii_lowercase());
    let is_plain = letters.get(1..).is_none_or(small) || letters.bytes().all(|b| b.is_ascii_uppercase());
    let most_digits = if letters.is_empty() { 4 } else { 3 };
    !part.is_empty()
        && letters.bytes().all(|b| b.is_ascii_alphabetic())
        && is_plain
        && part.len() - letters.len() <= most_digits
}

/// The end of the line break at `at`, also of one that is escaped, however often.
fn line_break(bytes: &[u8], at: usize) -> Option<usize> {
    if bytes[at] == b'\n' {
        return Some(at + 1);
    }
    let escaped = |at: usize, letter: u8| {
        let slashes = bytes.get(at..)?.iter().take(16).take_while(|b| **b == b'\\').count();
        (slashes > 0 && bytes.get(at + slashes) == Some(&letter)).then_some(at + slashes + 1)
    };
    escaped(escaped(at, b'r').unwrap_or(at), b'n')
}

/// What boxes are drawn with, and what programs put before lines that belong to something above.
const FRAMES: &[char] = &['│', '┃', '║', '▏', '▎', '▍', '▌', '▐', '▕', '┆', '┊', '╎', '⎿', '↪', '↳', '⋮'];

/// Where the text of a line ends that ends at `end`: before the right side of a box, which stands close to a word that
/// had to be broken.
fn without_frame(text: &str, end: usize) -> usize {
    let close = |line: &str| {
        let bare = line.trim_end_matches(' ');
        if line.len() - bare.len() <= 2 { bare.len() } else { line.len() }
    };
    let bytes = text.as_bytes();
    if !matches!(bytes.get(end.wrapping_sub(1)), Some(b' ' | b'|' | 0x80..)) {
        return end;
    }
    let line = &text[..close(&text[..end])];
    match line.strip_suffix(FRAMES).or_else(|| line.strip_suffix('|')) {
        Some(inside) => close(inside),
        None => end,
    }
}

/// How long what stands before the text of a line is. Signs that a word may begin with as well count where the line
/// above begins with the same one, which `above` tells.
fn margin(line: &str, above: impl Fn() -> Option<u8>) -> usize {
    let mut rest = line;
    let mut numbered = false;
    loop {
        rest = rest.trim_start_matches([' ', '\t']);
        let number = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        let number = if number.starts_with(" │") || number.starts_with(" | ") { &number[1..] } else { number };
        let inside = match rest.bytes().next() {
            Some(b'>' | b'|') => Some(&rest[1..]),
            Some(0x80..) => rest.strip_prefix(FRAMES),
            Some(b'0'..=b'9') if !numbered && number.starts_with(['→', '|', '\t', '│']) => {
                numbered = true;
                Some(number.trim_start_matches(['→', '|', '\t', '│']))
            }
            Some(sign @ (b'#' | b'/' | b';')) if above() == Some(sign) => Some(&rest[1..]),
            // With a blank behind it, it is an entry of a list.
            Some(sign @ (b'+' | b'-' | b'*')) if rest.len() == line.len() && above() == Some(sign) => {
                let inside = &rest[1..];
                let blanks = inside.len() - inside.trim_start_matches(' ').len();
                (blanks != 1).then_some(inside)
            }
            _ => None,
        };
        match inside {
            Some(inside) => rest = inside,
            None => return line.len() - rest.len(),
        }
    }
}

/// The first sign of the line that ends at `at`, where its beginning is near.
fn first_sign(bytes: &[u8], at: usize) -> Option<u8> {
    let line = &bytes[at.saturating_sub(REACH)..at];
    let raw = line.rfind_byte(b'\n').map(|at| at + 1);
    let is_escaped = bytes[at] == b'\\';
    let escaped = is_escaped.then(|| line.rfind(b"\\n").map(|at| at + 2)).flatten();
    let begins = raw.max(escaped).or((line.len() == at).then_some(0))?;
    line[begins..].iter().find(|b| !matches!(b, b' ' | b'\t')).copied()
}
