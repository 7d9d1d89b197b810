//! Whole sentences that are standing instructions by their form.

use super::instruction::{Instruction, is_order, without_filler};
use super::judge::{self, pattern};

pattern!(
    STANDS_SO,
    r"(?ix)^(?:we|we're|we've|our|i\sprefer|i\slike|i\swant)\s.{6,}?(?:[,;]|\sso|\sand)\s(?:so\s|and\s)?(?:please\s)?(?:always|never)\s([a-z-]+)\s\S"
);
pattern!(
    GENERATED,
    r"(?ix)^(?:the\s|all\s)?\S+(?:\s\S+){0,4}?\s(?:is|are)\s(?:auto-?)?generated\b[^,;]*[,;]?\s(?:so\s|and\s)?(?:please\s)?(?:never|don'?t\sever|don'?t|do\snot)\s(?:edit|touch|change|modify|commit)\b"
);
pattern!(OF_A_PRODUCT, r"(?i)\b(?:users?|customers?|clients?|visitors?|wants?)\b");
pattern!(POINTS, r"(?i)\b(?:it|them|that|these|those)\b");
pattern!(STOP, r"(?ix)^(?:please\s)?stop\s+([a-z]+ing)\s+(.+?)\s*[.!]*$");
pattern!(OBJECT_END, r"(?i)[,;]|\s(?:that|which|in|to|for|when|on|after|before|everywhere)\b");

/// The order of a sentence that tells how things are and what follows from it.
pub fn lasting(sentence: &str) -> Option<&str> {
    let stands_so = STANDS_SO.captures(sentence).is_some_and(|found| is_order(&found[1]));
    ((stands_so && !POINTS.is_match(sentence) && !OF_A_PRODUCT.is_match(sentence)) || GENERATED.is_match(sentence))
        .then_some(sentence)
}

/// "stop adding comments" about things in general. Its `instead_of` is what is to be stopped.
pub fn stop(sentence: &str) -> Option<Instruction> {
    let plain = judge::plain(sentence);
    let clause = without_filler(&plain);
    let found = STOP.captures(clause)?;
    let object = found[2].trim();
    let first = object.split_whitespace().next()?.to_ascii_lowercase();
    const POINTING: &[&str] = &[
        "the", "it", "that", "this", "these", "those", "them", "him", "me", "a", "an", "my", "your", "and", "now",
        "here", "there", "at",
    ];
    if POINTING.contains(&first.as_str())
        || !(first.ends_with('s') || super::contrast::is_tool(&first) || found[1].eq_ignore_ascii_case("using"))
    {
        return None;
    }
    let end = OBJECT_END.find(object).map_or(object.len(), |end| end.start());
    Some(Instruction {
        words: clause.to_owned(),
        order: clause.trim_end_matches(['.', '!']).to_owned(),
        reason: None,
        lasting: true,
        scoped: false,
        instead_of: Some(object[..end].to_owned()),
    })
}
