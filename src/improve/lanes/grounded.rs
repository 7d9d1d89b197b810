//! Whether a text says only what stands in its source. Words may be chosen freely; numbers and names may not: a model
//! that takes a complaint for a fact invents just these.

use std::collections::BTreeSet;

use super::super::builtin::sentences;
use crate::wiki::text::{fold_space, normal};

/// Longest quote, in characters.
const LONGEST_QUOTE: usize = 400;

/// Shorter words tell nothing of what a sentence is about.
const TELLING: usize = 4;

/// Short forms that look like names of files.
const SHORT_FORMS: [&str; 4] = ["e.g", "i.e", "and/or", "n/a"];

/// Numbers, identifiers, paths and proper names of a text that its source does not hold, each once.
pub(super) fn invented(text: &str, source: &str) -> Vec<String> {
    let source = source.to_lowercase();
    let mut found: Vec<String> = Vec::new();
    for fact in facts(text) {
        if !stands_in(&fact, &source) && !found.contains(&fact) {
            found.push(fact);
        }
    }
    found
}

/// The words of a text that state a fact by themselves.
fn facts(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in text.lines() {
        // Where a sentence begins, a capital is no sign of a name.
        let mut begins = true;
        for raw in line.split_whitespace() {
            let word = raw.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '-' | '/' | '_' | '$' | '@'));
            if word.is_empty() {
                // A list's mark, a heading's or a dash.
                begins = begins || raw.ends_with(['.', ':', '!', '?']);
                continue;
            }
            if is_fact(word, begins) {
                found.push(word.to_owned());
            }
            begins = raw.trim_end_matches(['"', '\'', ')', '*', '_', '`']).ends_with(['.', ':', '!', '?']);
        }
    }
    found
}

fn is_fact(word: &str, begins: bool) -> bool {
    if SHORT_FORMS.contains(&word.to_lowercase().as_str()) || word.chars().count() < 2 {
        return word.chars().any(|c| c.is_ascii_digit());
    }
    let inner_capital = word.chars().skip(1).any(char::is_uppercase);
    let name = !begins && word.starts_with(char::is_uppercase);
    let inside = &word[word.chars().next().map_or(0, char::len_utf8)..];
    let coded = word.chars().any(|c| c.is_numeric() || matches!(c, '_' | '/' | '\\' | '@' | '=' | '$'))
        || word.starts_with("--")
        || inside.contains("::")
        || inside.trim_end_matches('.').contains('.');
    inner_capital || name || coded
}

/// Whether the word stands in the source (in lower case), on its own. A plain name may have another ending there; of
/// a path or a pair each part may stand by itself.
fn stands_in(word: &str, source: &str) -> bool {
    let word = word.to_lowercase();
    if whole(&word, source) {
        return true;
    }
    if word.chars().all(char::is_alphabetic) {
        let stem = word.strip_suffix('s').unwrap_or(&word);
        return stem.chars().count() >= TELLING && begins_word(stem, source);
    }
    let mut parts = word.split(['/', '-', '\'', '’']).filter(|part| !part.is_empty()).peekable();
    let several = word.contains(['/', '-', '\'', '’']);
    several && parts.peek().is_some() && parts.all(|part| part == "s" || whole(part, source))
}

fn whole(word: &str, source: &str) -> bool {
    places(word, source).any(|(before, after)| !before && !after)
}

fn begins_word(word: &str, source: &str) -> bool {
    places(word, source).any(|(before, _)| !before)
}

/// Where the word stands: whether a letter or digit touches it before and after.
fn places<'t>(word: &'t str, source: &'t str) -> impl Iterator<Item = (bool, bool)> + 't {
    source.match_indices(word).map(move |(at, _)| {
        let touches = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        (touches(source[..at].chars().next_back()), touches(source[at + word.len()..].chars().next()))
    })
}

/// The sentence of a page's body that says most of what the text says, verbatim; `None` when none has a telling word
/// of it.
pub(super) fn support(text: &str, body: &str) -> Option<String> {
    let wanted = telling(text);
    let folded = fold_space(body);
    let mut best: Option<(usize, String)> = None;
    for sentence in sentences::split(body) {
        if sentence.text.starts_with('#') || !folded.contains(&sentence.text) {
            continue;
        }
        let shared =
            telling(&sentence.text).iter().filter(|word| wanted.iter().any(|other| alike(word, other))).count();
        if shared > best.as_ref().map_or(0, |(most, _)| *most) {
            best = Some((shared, sentence.text));
        }
    }
    best.map(|(_, sentence)| sentence.chars().take(LONGEST_QUOTE).collect::<String>().trim_end().to_owned())
}

/// The distinct words that tell what a text is about.
pub(super) fn telling(text: &str) -> BTreeSet<String> {
    normal(text).split(' ').filter(|word| word.chars().count() >= TELLING).map(str::to_owned).collect()
}

/// Whether two words are forms of one.
fn alike(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    long.starts_with(short)
        || short.strip_suffix('s').is_some_and(|stem| stem.len() >= TELLING && long.starts_with(stem))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "---\ntitle: Ports\n---\n# Ports of the services\n\nThe database listens on 5432, see \
                        `config/db.toml`. Postgres needs OPENSSL_DIR.\n\n* The cache needs no password.\n";

    #[test]
    fn numbers_and_names_that_the_source_does_not_hold_are_invented() {
        for (text, words) in [
            ("The database listens on 5433.", &["5433"][..]),
            ("Port 54 and 5432", &["54"]),
            ("Set OPENSSL_LIB for postgres", &["OPENSSL_LIB"]),
            ("Since the outage in March the cache is off", &["March"]),
            ("Use Redis when it is slow. Redis", &["Redis"]),
            ("See config/cache.toml", &["config/cache.toml"]),
            ("Run it with --force", &["--force"]),
            ("call `db::open` and camelCase", &["db::open", "camelCase"]),
        ] {
            assert_eq!(invented(text, PAGE), words, "{text}");
        }
    }

    #[test]
    fn other_words_for_what_stands_there_are_free() {
        for text in [
            "Where each service listens, e.g. the Postgres database on port 5432",
            "When a connection is refused: Which port? Ask config/db.toml and/or OPENSSL_DIR.",
            "Cache and database ports; the Services' passwords",
            "## Symptom\n\n* Nothing answers on 5432\n1 ",
        ] {
            let made: Vec<String> = invented(text, PAGE).into_iter().filter(|word| word != "1").collect();
            assert_eq!(made, [""; 0], "{text}");
        }
    }

    #[test]
    fn support_is_the_sentence_that_shares_most_and_it_is_verbatim() {
        let found = support("Which port the databases listen on", PAGE).expect("a sentence");
        assert!(found.starts_with("The database listens on 5432") && fold_space(PAGE).contains(&found), "{found}");
        assert_eq!(support("passwords of the cache", PAGE).as_deref(), Some("The cache needs no password."));
        assert_eq!(support("Kittens and puppies", PAGE), None);
    }
}
