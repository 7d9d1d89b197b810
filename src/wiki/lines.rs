//! Lines of a page as bytes: `\n`, `\r\n` and a lone `\r` end one, as markdown and YAML have it.

use std::ops::Range;

/// A UTF-8 byte order mark.
pub(super) const BOM: &[u8] = b"\xef\xbb\xbf";

/// How the lines of a page end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Eol {
    Lf,
    CrLf,
    Cr,
}

impl Eol {
    /// What most lines of these bytes end with; without any line end: `\n`.
    pub(super) fn of(bytes: &[u8]) -> Eol {
        let (mut lf, mut crlf, mut cr) = (0usize, 0usize, 0usize);
        for line in lines(bytes, 0) {
            match &bytes[line.text.end..line.end] {
                b"\n" => lf += 1,
                b"\r\n" => crlf += 1,
                b"\r" => cr += 1,
                _ => {}
            }
        }
        if crlf > lf && crlf >= cr {
            Eol::CrLf
        } else if cr > lf {
            Eol::Cr
        } else {
            Eol::Lf
        }
    }

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Eol::Lf => "\n",
            Eol::CrLf => "\r\n",
            Eol::Cr => "\r",
        }
    }

    /// The text with this line end everywhere.
    pub(super) fn apply(self, text: &str) -> String {
        let plain = lf(text);
        if self == Eol::Lf { plain } else { plain.replace('\n', self.as_str()) }
    }
}

/// The text with `\n` line ends.
pub(super) fn lf(text: &str) -> String {
    if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n") } else { text.to_owned() }
}

/// One line.
#[derive(Debug, Clone)]
pub(super) struct Line {
    /// Without its end.
    pub(super) text: Range<usize>,
    /// Behind its end.
    pub(super) end: usize,
}

/// The lines from a byte on. A file that ends with a line end has no empty line behind it.
pub(super) fn lines(bytes: &[u8], from: usize) -> impl Iterator<Item = Line> + '_ {
    let mut at = from;
    std::iter::from_fn(move || {
        if at >= bytes.len() {
            return None;
        }
        let start = at;
        let stop = bytes[start..].iter().position(|&b| b == b'\n' || b == b'\r').map_or(bytes.len(), |n| start + n);
        at = match bytes.get(stop..stop + 2) {
            Some(b"\r\n") => stop + 2,
            _ => (stop + 1).min(bytes.len()),
        };
        Some(Line { text: start..stop, end: at })
    })
}

/// Whether a line holds nothing but spaces and tabs.
pub(super) fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|b| matches!(b, b' ' | b'\t' | b'\n' | b'\r'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_line_end_ends_a_line() {
        let bytes = b"a\nb\r\nc\rd";
        let got: Vec<&[u8]> = lines(bytes, 0).map(|line| &bytes[line.text]).collect();
        assert_eq!(got, [b"a", b"b", b"c", b"d"]);
        assert_eq!(lines(b"a\n", 0).count(), 1);
        assert_eq!(lines(b"\n\n", 0).count(), 2);
    }

    #[test]
    fn the_commonest_line_end_is_the_pages() {
        assert_eq!(Eol::of(b"a\r\nb\r\nc\n"), Eol::CrLf);
        assert_eq!(Eol::of(b"a\rb\r"), Eol::Cr);
        assert_eq!(Eol::of(b"a"), Eol::Lf);
        assert_eq!(Eol::CrLf.apply("a\nb\r\nc"), "a\r\nb\r\nc");
    }
}
