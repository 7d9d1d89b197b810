//! Two things set against each other: "use X, not Y".

use super::judge::pattern;
use super::lexicon::TOOLS;
use super::practice;

pattern!(
    CONTRAST,
    r"(?ix)^(?:please\s)?(?:for\s\w+(?:\s\w+){0,2},?\s)?(?:(?:we|i)\s(?:only\s)?)?(?:use|prefer|we're\susing|we\sare\susing|(?:this|our|the)\s(?:repo|repository|project|codebase|team|monorepo)\suses)\s+(.{1,40}?)(?:,?\s+(?:and\s)?not\s+|\s+instead\sof\s+|\s+rather\sthan\s+|\s+over\s+|\s+to\s+)(.{1,40}?)(?:[,\s]+(?:for|in)\s(?:all|every|any|new|tests?|scripts?)\b.{0,40}|[,\s]+everywhere)?\s*[.!]*$"
);
pattern!(
    CONTRAST_BACK,
    r"(?ix)^(?:please\s)?(?:(?:we\s)?(?:don'?t|do\snot)\suse|not)\s+(.{1,40}?)\s*[,;]\s*(?:but\s)?(?:we\s)?use\s+(.{1,40}?)\s*[.!]*$"
);

pattern!(
    IN_GENERAL,
    r"(?ix)^(?:please\s)?(?:don'?t|do\snot)\suse\s(`[^`]+`|\S+)\sfor\s\w+(?:\s\w+)?\s*[,;]\s(?:but\s)?use\s(?:the\s)?[\w`./-]+\s*[.!]*$"
);

/// Two things set against each other, both named without pointing. Returns the one not to use.
pub fn contrast(main: &str, marked: bool) -> Option<String> {
    // "don't use print for logging, use the logger" sets a way against another.
    if let Some(found) = IN_GENERAL.captures(main)
        && !begins_with_pointer(&found[1])
    {
        return Some(bare(&found[1]));
    }
    let (wanted, unwanted, prefers) = if let Some(found) = CONTRAST_BACK.captures(main) {
        (found[2].to_owned(), found[1].to_owned(), false)
    } else {
        let found = CONTRAST.captures(main)?;
        let prefers = main.to_ascii_lowercase().contains("prefer ");
        // "use X to do Y" sets nothing against anything.
        if !prefers && found[0][..found.get(2)?.start()].trim_end().to_ascii_lowercase().ends_with(" to") {
            return None;
        }
        (found[1].to_owned(), found[2].to_owned(), prefers)
    };
    let named = |thing: &str| {
        let words: Vec<String> = thing.split_whitespace().map(|w| w.to_ascii_lowercase()).collect();
        let pointing = [
            "the", "a", "an", "this", "that", "my", "your", "it", "its", "these", "those", "one", "what", "his", "her",
            "their", "since", "because", "when", "while", "if", "as", "after", "before",
        ];
        !words.is_empty()
            && words.len() <= 4
            && !words.iter().any(|w| pointing.contains(&w.as_str()))
            && !words[0].starts_with(|c: char| c.is_ascii_digit())
    };
    let known = |thing: &str| thing.split_whitespace().any(is_tool);
    let practice = |thing: &str| thing.split_whitespace().any(practice::is_practice);
    let bare_order = prefers && main.to_ascii_lowercase().starts_with("prefer ");
    let prefers = bare_order
        || (prefers || main.to_ascii_lowercase().contains("we use")) && (practice(&wanted) || practice(&unwanted));
    (named(&wanted) && named(&unwanted) && (marked || prefers || known(&wanted) || known(&unwanted)))
        .then(|| bare(&unwanted))
}

fn begins_with_pointer(thing: &str) -> bool {
    ["the", "a", "an", "this", "that", "my", "your", "it"].contains(&thing.to_ascii_lowercase().as_str())
}

/// Whether a word names a tool between which projects choose.
pub fn is_tool(word: &str) -> bool {
    let word = bare(word).to_ascii_lowercase();
    TOOLS.contains(&word.as_str())
}

/// A word without quotes, code marks and punctuation around it.
fn bare(word: &str) -> String {
    word.trim_matches(|c: char| !c.is_alphanumeric() && c != '_').to_owned()
}
