//! The occasion that an order is for: "when you add a flag, …", "before every commit …".

use super::judge::{self, pattern};
use super::practice::{self, Object, base};

pattern!(
    OCCASION,
    r"(?ix)^(?:(?:for|on|in|with|before|after)\s((?:all|any|every|each|new|future|other|our|python|rust|go|typescript|javascript|sql|tests?)\b[^,]{0,50}?)|(?:when(?:ever)?|before|after|every\stime|each\stime|(?:the\s)?next\stime|if|once|as\ssoon\sas)\s(?:(?:you're|you\sare|we're|we\sare|you|we|you've|we've)\s)?((?:[a-z]+ly\s)?[a-z-]+)(\s[^,]{0,70}?)?)(?:,\s+|\s(?:please\s|always\s|never\s|then\s)|\s-\s|:\s)"
);
pattern!(
    OCCASION_END,
    r"(?ix)\b(?:(?:before|after|when|whenever|while)\s([a-z]+ing)\b|(?:whenever|every\stime|each\stime|before|after|when|if)\s(?:you|we)\s([a-z-]+)|(?:before|after|for|with|in|on)\s(?:every|each|any|all)\b)"
);

/// How often an occasion comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recurs {
    /// Again and again, by its words.
    Plainly,
    /// It may be the one at hand.
    Perhaps,
}

/// The occasion before the main clause, and the main clause.
pub fn occasion(core: &str) -> Option<(Recurs, &str)> {
    split_occasion(core).or_else(|| {
        // Without a comma the main clause begins with its verb: "before every commit run make fmt".
        core.match_indices(' ').skip(1).take(8).find_map(|(at, _)| {
            let main = &core[at + 1..];
            let first = main.split_whitespace().next()?.to_lowercase();
            let whole = !["the", "a", "an", "this", "our", "new", "to", "and", "no"]
                .contains(&core[..at].split(' ').next_back()?);
            let orders = base(&first).is_some_and(|verb| verb == first)
                || ["you", "we", "don't", "make"].contains(&first.as_str());
            let begins = whole && orders;
            let (recurs, rest) = split_occasion(&format!("{}, {main}", &core[..at]))
                .filter(|_| begins)
                .map(|(recurs, rest)| (recurs, rest.len()))?;
            (recurs == Recurs::Plainly && rest == main.len()).then_some((recurs, main))
        })
    })
}

fn split_occasion(core: &str) -> Option<(Recurs, &str)> {
    let found = OCCASION.captures(core)?;
    let whole = found.get(0)?.as_str();
    // "always" and "never" belong to what is to be done.
    let kept = ["always ", "never ", "please "]
        .iter()
        .find(|word| whole.to_lowercase().ends_with(*word))
        .map_or(0, |word| word.len());
    let main = &core[whole.len() - kept..];
    let lower = whole.to_lowercase();
    if let Some(kind) = found.get(1) {
        let general = Object::of(kind.as_str());
        return (general.is_general() && (general.practice || general.tool || general.place))
            .then_some((Recurs::Plainly, main));
    }
    let verb = found.get(2)?.as_str();
    let rest = found.get(3).map_or("", |rest| rest.as_str());
    let by_us = base(verb).is_some_and(|_| verb.ends_with("ing") || lower.contains("you") || lower.contains("we "))
        || matches!(verb.to_lowercase().as_str(), "unsure" | "doubt");
    // "whenever a migration is added": of a thing of the daily work, to which something is done.
    let done = rest.split_whitespace().next_back().is_some_and(|last| last.ends_with("ed") && base(last).is_some());
    let passive = done && rest.split_whitespace().any(practice::is_practice);
    let in_doubt = lower.starts_with("when in doubt") || lower.starts_with("if in doubt");
    let supposed =
        verb.ends_with("ed") || main.split_whitespace().any(|word| matches!(word, "would" | "could" | "might"));
    if (!by_us || supposed) && !passive && !in_doubt {
        return None;
    }
    let object = Object::of(rest);
    let often = ["whenever", "every time", "each time", "next time", "the next time"]
        .iter()
        .any(|word| lower.starts_with(word));
    if (object.points || object.product) && !often || judge::is_at_hand(rest) {
        return None;
    }
    let unbound = rest.trim().is_empty()
        || rest.split_whitespace().any(|word| matches!(word, "a" | "an" | "any" | "new"))
        || object.practice;
    Some((if often || unbound || in_doubt { Recurs::Plainly } else { Recurs::Perhaps }, main))
}

/// Whether an order ends in an occasion that comes again and again: "… whenever you add a flag".
pub fn ends_again(core: &str) -> bool {
    OCCASION_END
        .captures(core)
        .is_some_and(|found| found.get(1).or(found.get(2)).is_none_or(|verb| base(verb.as_str()).is_some()))
}
