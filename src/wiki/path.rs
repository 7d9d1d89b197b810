//! Names of pages: what we write is portable, what we read may be anything.

use bstr::{BStr, ByteSlice};
use sha2::{Digest, Sha256};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Longest part of a path, in bytes: file systems allow 255, some tools append to names.
const MAX_PART: usize = 200;
/// Longest path, in bytes: room for a work tree's own path below Windows' and git's limits.
const MAX_PATH: usize = 1000;
/// Longest slug, in characters.
const MAX_SLUG: usize = 60;

/// Why a path cannot be a page's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {reason}")]
pub struct PathFault {
    /// The path as given, made printable.
    pub path: String,
    /// What is wrong with it.
    pub reason: &'static str,
}

/// Checks a path that we are about to write (relative to the wiki's root): a `.md` file, relative, no empty, `.` or
/// `..` part, nothing that git or Windows treats specially (`.git`, `git~1`, reserved device names, trailing dot or
/// space, `:` and control characters, leading `-`), valid UTF-8, at most 200 bytes a part and 1000 in all.
pub fn check(path: &str) -> Result<(), PathFault> {
    match reason(path) {
        None => Ok(()),
        Some(reason) => Err(PathFault { path: path.escape_debug().to_string(), reason }),
    }
}

/// What keeps a path from being a page's, if anything does.
fn reason(path: &str) -> Option<&'static str> {
    if path.is_empty() {
        return Some("the path is empty");
    }
    if path.len() > MAX_PATH {
        return Some("the path is longer than 1000 bytes");
    }
    if path.starts_with('/') {
        return Some("the path must be relative to the wiki's root");
    }
    if let Some(reason) = path.split('/').find_map(unportable) {
        return Some(reason);
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    match name.strip_suffix(".md") {
        None => Some("a page's name ends with `.md`"),
        Some("") => Some("the name has nothing before `.md`"),
        Some(_) => None,
    }
}

/// Why one part of a path is not portable: some system or git itself could not check it out, or would take it for
/// something else.
pub fn unportable(part: &str) -> Option<&'static str> {
    if part.is_empty() {
        return Some("a part of the path is empty");
    }
    if part == "." || part == ".." {
        return Some("`.` and `..` are not allowed in a path");
    }
    if part.len() > MAX_PART {
        return Some("a part of the path is longer than 200 bytes");
    }
    if part.starts_with('-') {
        return Some("a name that begins with `-` reads as an option");
    }
    if part.chars().any(|c| c.is_control() || "\\:*?\"<>|".contains(c)) {
        return Some("control characters and `\\ : * ? \" < > |` are not portable");
    }
    if part.chars().any(is_invisible) {
        return Some("invisible characters make names that only look alike");
    }
    if part.ends_with('.') || part.ends_with(' ') || part.starts_with(' ') {
        return Some("a name may not begin with a space nor end with a dot or a space");
    }
    let lower = part.to_ascii_lowercase();
    if is_git_name(&lower) {
        return Some("the name belongs to git");
    }
    if is_device(&lower) {
        return Some("the name is a device on Windows");
    }
    None
}

/// Names that git reads as its own, and the short names under which Windows finds them.
fn is_git_name(lower: &str) -> bool {
    if matches!(lower, ".git" | ".gitmodules" | ".gitattributes" | ".gitignore" | ".mailmap") {
        return true;
    }
    // `git~1` is `.git`; `gitmod~1`, `gi7eba~1` and their like are `.gitmodules`.
    lower.split_once('~').is_some_and(|(stem, number)| {
        stem.starts_with("gi") && number.bytes().next().is_some_and(|b| b.is_ascii_digit())
    })
}

/// Reserved device names, with any extension.
fn is_device(lower: &str) -> bool {
    let stem = lower.split('.').next().unwrap_or(lower).trim_end();
    if matches!(stem, "con" | "prn" | "aux" | "nul" | "conin$" | "conout$" | "clock$") {
        return true;
    }
    let port = stem.strip_prefix("com").or_else(|| stem.strip_prefix("lpt"));
    port.is_some_and(|n| matches!(n, "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9" | "¹" | "²" | "³"))
}

/// Code points that HFS+ passes over when it compares names, and other characters that leave no mark.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// A lower-case ASCII slug for a title, at most 60 characters, never empty, never a reserved name.
pub fn slug(title: &str) -> String {
    let mut slug = String::new();
    for c in title.nfd().filter(|&c| !is_combining_mark(c) && c != '\'' && c != '’') {
        let start = slug.len();
        match c {
            'ß' | 'ẞ' => slug.push_str("ss"),
            'æ' | 'Æ' => slug.push_str("ae"),
            'œ' | 'Œ' => slug.push_str("oe"),
            'ø' | 'Ø' => slug.push('o'),
            'ł' | 'Ł' => slug.push('l'),
            'đ' | 'Đ' => slug.push('d'),
            _ if c.is_ascii_alphanumeric() => slug.push(c.to_ascii_lowercase()),
            _ if slug.is_empty() || slug.ends_with('-') => {}
            _ => slug.push('-'),
        }
        if slug.len() > MAX_SLUG {
            // Cut between words where there is a word to keep.
            slug.truncate(start);
            if !slug.ends_with('-')
                && c.is_ascii_alphanumeric()
                && let Some(cut) = slug.rfind('-')
            {
                slug.truncate(cut);
            }
            break;
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() {
        // Nothing ASCII in it: the same title still always gets the same name.
        let digest = Sha256::digest(title.as_bytes());
        return format!("page-{:02x}{:02x}{:02x}{:02x}", digest[0], digest[1], digest[2], digest[3]);
    }
    if is_device(slug) { format!("{slug}-page") } else { slug.to_owned() }
}

/// What a path is after case folding and NFC, for finding names that some file systems hold to be equal. Bytes that
/// are not UTF-8 stay apart from each other (as `\xHH`).
pub fn fold(path: &BStr) -> String {
    if path.is_ascii() {
        return path.to_ascii_lowercase().to_str_lossy().into_owned();
    }
    let mut folded = String::with_capacity(path.len());
    for chunk in path.utf8_chunks() {
        // Upper case first: it opens up `ß` and `ſ`, which lower case alone leaves as they are.
        let upper = chunk.valid().nfd().flat_map(char::to_uppercase);
        folded.extend(upper.flat_map(char::to_lowercase).nfc());
        for byte in chunk.invalid() {
            folded.push_str(&format!("\\x{byte:02x}"));
        }
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ordinary_names_pass() {
        for path in
            ["gotchas/openssl-dir.md", "_rules/a.md", "a.md", "notes/日本語 メモ.md", "x/y/z/Upper.md", "a/.x.md"]
        {
            assert_eq!(check(path), Ok(()), "{path}");
        }
    }

    #[test]
    fn names_that_some_system_reads_otherwise_are_refused() {
        for path in [
            "",
            "/a.md",
            "a//b.md",
            "./a.md",
            "a/../b.md",
            "a.txt",
            "a.MD",
            ".md",
            "x/.md",
            "-rf.md",
            "a/--help.md",
            "a/CON.md",
            "con.md",
            "a/com1.x.md",
            "Aux/x.md",
            "LPT¹.md",
            ".git/x.md",
            ".GIT/x.md",
            "git~1/x.md",
            "GIT~2/a.md",
            "a/.gitmodules/x.md",
            "gi7eba~1/a.md",
            ".g\u{200c}it/x.md",
            "a./b.md",
            "a /b.md",
            " a.md",
            "a:b.md",
            "a\\b.md",
            "a\nb.md",
            "a\0.md",
            "a?.md",
            "C:/x.md",
        ] {
            assert!(check(path).is_err(), "{path:?} passed");
        }
        assert!(check(&format!("{}.md", "é".repeat(120))).is_err());
        assert!(check(&format!("{}a.md", "d/".repeat(600))).is_err());
    }

    #[test]
    fn a_slug_is_readable_and_portable() {
        assert_eq!(slug("OPENSSL_DIR must be set on macOS!"), "openssl-dir-must-be-set-on-macos");
        assert_eq!(slug("Straße überprüfen: don't"), "strasse-uberprufen-dont");
        assert_eq!(slug("CON"), "con-page");
        assert_eq!(slug("日本語"), slug("日本語"));
        assert_ne!(slug("日本語"), slug("中文"));
        assert_eq!(slug(&"word ".repeat(40)), ["word"; 12].join("-"));
        assert_eq!(slug(&"x".repeat(90)), "x".repeat(60));
    }

    #[test]
    fn names_that_a_file_system_holds_equal_fold_together() {
        assert_eq!(fold("gotchas/README.md".into()), fold("Gotchas/readme.md".into()));
        assert_eq!(fold("café.md".into()), fold("CAFE\u{301}.md".into()));
        assert_eq!(fold("straße.md".into()), fold("STRASSE.md".into()));
        assert_ne!(fold(b"lat\xefn.md".as_bstr()), fold(b"lat\xeen.md".as_bstr()));
    }

    proptest! {
        #[test]
        fn every_title_has_a_slug_that_is_a_page_name(title in "\\PC{0,80}") {
            let slug = slug(&title);
            prop_assert!(slug.len() <= MAX_SLUG + "-page".len());
            prop_assert!(slug.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'));
            prop_assert_eq!(check(&format!("notes/{slug}.md")), Ok(()));
        }

        #[test]
        fn folding_twice_is_folding_once(name in "\\PC{0,20}") {
            let once = fold(name.as_str().into());
            prop_assert_eq!(fold(once.as_str().into()), once);
        }
    }
}
