//! `notify` in Codex's settings: the program that Codex starts after each turn, with what happened as its last
//! argument. One that is there already is kept: ours is put before it, and starts it.

use toml_edit::{Array, Document, Item};

use super::Fault;
use super::program::{Program, is_ours};

/// What stands between our program and the one that was there before.
const ARGUMENTS: [&str; 3] = ["agent", "notify", "--"];

/// How many words of the list are ours.
const OURS: usize = 1 + ARGUMENTS.len();

/// The program of ours that is notified.
///
/// # Errors
/// When the text is no TOML, or `notify` no list of words.
pub(super) fn find(text: &str) -> Result<Option<String>, Fault> {
    let document = parse(text)?;
    Ok(list(&document, text)?.and_then(ours).map(str::to_owned))
}

/// The text with our program notified.
///
/// # Errors
/// As [`find`].
pub(super) fn add(text: &str, program: &Program) -> Result<String, Fault> {
    let document = parse(text)?;
    let words: Vec<String> = std::iter::once(program.word()).chain(ARGUMENTS).map(quoted).collect();
    let words = words.join(", ");
    if let Some(list) = list(&document, text)? {
        let Some(open) = list.span().map(|span| span.start + 1) else { return Err(odd()) };
        let rest = &text[open..];
        let gap = match rest.chars().next() {
            _ if list.is_empty() => "",
            Some(c) if c.is_whitespace() => ",",
            _ => ", ",
        };
        return Ok(format!("{}{words}{gap}{rest}", &text[..open]));
    }
    // The top of the file belongs to no table. A comment for tools has to stay above.
    let mut at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    for line in text[at..].split_inclusive('\n') {
        if !line.starts_with("#:") {
            break;
        }
        at += line.len();
    }
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let before = if at > 0 && !text[..at].ends_with('\n') && !text[..at].ends_with('\u{feff}') { end } else { "" };
    Ok(format!("{}{before}notify = [{words}]{end}{}", &text[..at], &text[at..]))
}

/// The text without our program; the one that it was put before is notified again.
///
/// # Errors
/// As [`find`].
pub(super) fn strip(text: &str) -> Result<String, Fault> {
    let document = parse(text)?;
    let Some(list) = list(&document, text)?.filter(|list| ours(list).is_some()) else { return Ok(text.to_owned()) };
    let Some(span) = list.span() else { return Err(odd()) };
    if list.len() > OURS {
        let last = list.get(OURS - 1).and_then(toml_edit::Value::span).ok_or_else(odd)?;
        let rest = &text[last.end..];
        let rest = rest.trim_start().strip_prefix(',').unwrap_or(rest);
        // One blank is ours; a line end, or more blanks, were there.
        let rest = match rest.strip_prefix(' ') {
            Some(inner) if !inner.starts_with(char::is_whitespace) => inner,
            _ => rest,
        };
        return Ok(format!("{}{rest}", &text[..span.start + 1]));
    }
    let line = text[..span.start].rfind('\n').map_or(0, |at| at + 1);
    let line = if line == 0 && text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { line };
    let end = text[span.end..].find('\n').map_or(text.len(), |at| span.end + at + 1);
    Ok(format!("{}{}", &text[..line], &text[end..]))
}

fn odd() -> Fault {
    Fault::new("`notify` stands in no place of its own")
}

fn parse(text: &str) -> Result<Document<&str>, Fault> {
    // Spans count from the BOM, which is no part of what is parsed.
    Document::parse(text).map_err(|error| {
        let message = error.message().lines().collect::<Vec<_>>().join(" ");
        match error.span() {
            Some(span) => Fault::at(text, span.start, message),
            None => Fault::new(message),
        }
    })
}

fn list<'d>(document: &'d Document<&str>, text: &str) -> Result<Option<&'d Array>, Fault> {
    let Some(item) = document.get("notify") else { return Ok(None) };
    let at = item.span().map_or(0, |span| span.start);
    let list = item.as_array().filter(|list| list.iter().all(|word| word.as_str().is_some()));
    list.map(Some).ok_or_else(|| match item {
        Item::None => Fault::new("`notify` is empty"),
        _ => Fault::at(text, at, "`notify` is no list of words"),
    })
}

/// The program, when the list begins with ours.
fn ours(list: &Array) -> Option<&str> {
    let program = list.get(0)?.as_str().filter(|program| is_ours(program))?;
    let same = ARGUMENTS.iter().enumerate().all(|(n, word)| list.get(n + 1).and_then(|w| w.as_str()) == Some(word));
    same.then_some(program)
}

/// A word as TOML has it.
fn quoted(word: &str) -> String {
    toml_edit::Value::from(word).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: &str = "\"git-memory\", \"agent\", \"notify\", \"--\"";

    #[test]
    fn without_a_list_ours_is_put_to_the_top() {
        for (text, new) in [
            ("", format!("notify = [{OURS}]\n")),
            ("[tui]\nx = 1\n", format!("notify = [{OURS}]\n[tui]\nx = 1\n")),
            ("#:schema s\n# mine\r\na = 1 # x", format!("#:schema s\nnotify = [{OURS}]\r\n# mine\r\na = 1 # x")),
            ("\u{feff}a = 1\n", format!("\u{feff}notify = [{OURS}]\na = 1\n")),
        ] {
            let added = add(text, &Program::by_name()).unwrap();
            assert_eq!(added, new);
            assert_eq!(find(&added).unwrap().as_deref(), Some("git-memory"));
            assert_eq!(strip(&added).unwrap(), text);
        }
    }

    #[test]
    fn a_list_that_is_there_stays_behind_ours_as_it_is_written() {
        for (text, new) in [
            ("notify = [\"say\", 'it''s'] # mine\n", None),
            ("a = 1\nnotify=['py', \"x.py\"]\n[t]\n", Some(format!("a = 1\nnotify=[{OURS}, 'py', \"x.py\"]\n[t]\n"))),
            (
                "notify = [\n  \"py\", # two\n  \"x\",\n]\n",
                Some(format!("notify = [{OURS},\n  \"py\", # two\n  \"x\",\n]\n")),
            ),
            ("notify = []\n", Some(format!("notify = [{OURS}]\n"))),
        ] {
            let Some(new) = new else {
                assert!(add(text, &Program::by_name()).is_err());
                continue;
            };
            let added = add(text, &Program::by_name()).unwrap();
            assert_eq!(added, new);
            if !text.contains("[]") {
                assert_eq!(strip(&added).unwrap(), text);
            }
        }
    }

    #[test]
    fn what_is_no_list_of_words_is_an_error_with_its_line() {
        assert_eq!(find("a = 1\nnotify = \"x\"\n").unwrap_err().line, Some(2));
        assert_eq!(find("a = 1\n[b\n").unwrap_err().line, Some(2));
        assert!(find("notify = [1]\n").is_err());
        assert_eq!(find("[tui]\nnotify = true\n").unwrap(), None);
    }
}
