//! Whether a sentence chooses something or rejects it, and why.

use super::contrast::is_tool;
use super::instruction::without_filler;
use super::judge::{self, pattern};

/// A choice that a sentence states.
#[derive(Debug, Clone)]
pub struct Choice {
    /// The sentence without a greeting before it.
    pub words: String,
    /// What was chosen, as an order or a statement: "Use SQLite".
    pub what: String,
    /// The reason, when the sentence gives it.
    pub why: Option<String>,
    /// Something was rejected, and nothing chosen.
    pub rejects: bool,
    /// The bare thing that was chosen or rejected, where the sentence has one.
    pub thing: Option<String>,
}

macro_rules! have {
    () => {
        r"(?ix)^(?:after\s(?:some|much|a\slot\sof|a\sbit\sof)\s(?:thought|thinking|discussion|testing|back\sand\sforth),?\s)?(we|i)(?:'ve|\shave|\shad)?(?:\s(?:finally|now|both|all))?\s"
    };
}
pattern!(DECIDED, concat!(have!(), r"(?:decided|agreed|chose)\s(?:to|(?:that\s)?we(?:'ll|\swill)?)\s+(.+)$"));
pattern!(
    LABELLED,
    r"(?ix)^(?:(?:the\s|our\s)?decision(?:\sis|\swas|\smade)?(?:\sto\s+|\s*:\s*)|decided\s*:\s*)(?:(?:we|i)(?:'ll|\swill)?\s)?(.+)$"
);
pattern!(SETTLED, concat!(have!(), r"(?:chose|picked|settled\son|decided\s(?:on|for)|agreed\son|went\swith)\s+(.+)$"));
pattern!(SETTLED_BARE, r"(?ix)^(?:chose|picked|went\swith|settled\son)\s+(.+)$");
pattern!(
    GOING,
    r"(?ix)^(?:so\s)?we(?:'re|\sare|re)\s(?:going|sticking|staying)\swith\s+(.+)$|^we(?:'re|\sare)\sstandardi[sz]ing\son\s+(.+)$"
);
pattern!(
    CHOSEN,
    r"(?ix)^(?:let'?s|we\sshould|we'll|we\swill|i'd\srecommend|i\swould\srecommend|i\srecommend|i\ssuggest|my\srecommendation\sis)\s(?:(?:to\s)?(?:go\swith|use|do|st(?:ick|ay)\s(?:with|to)|keep|adopt|standardi[sz]e\son)|going\swith|using|keeping|sticking\swith)\s+(.+)$"
);
pattern!(
    RECOMMENDED,
    r"(?ix)^(?:i'd|i\swould|i)\s(?:recommend|suggest|pick|choose)\s+(.+)$|^(?:my\s)?recommendation\s*(?::|is)\s+(.+)$|^(?:please\s)?go\swith\s+(.+)$"
);
pattern!(
    WE_USE,
    r"(?ix)^we\s(?:now\s)?(?:use|chose|keep|prefer)\s+(.{2,60}?\s(?:instead\sof|rather\sthan|over|not)\s.+)$"
);
pattern!(WINS, r"(?ix)^(\S+(?:\s\S+){0,2})\swins$");
pattern!(
    REASON_OF,
    r"(?ix)^the\s(?:main\s)?reason\s(?:why\s|that\s)?we\s(?:use|chose|keep|picked|went\swith|prefer)\s+(.{3,60}?)\s(?:is|was)\s(?:that|because)\s+(.{8,}?)[\s.!]*$"
);
pattern!(AGAINST_BARE, r"(?ix)^decided\s(against|not\sto)\s+(.+)$");
pattern!(AGAINST, concat!(have!(), r"(?:decided|chose|agreed)\s(?:against|not\sto)\s+(.+)$"));
pattern!(
    WONT,
    r"(?ix)^we\s?(?:won'?t|\swill\snot|'re\snot\sgoing\sto|\sare\snot\sgoing\sto|\saren't\sgoing\sto)\s(use|adopt|add|introduce|support|switch\sto|move\sto|migrate\sto)\s+(.+)$"
);
pattern!(BECAUSE, r"(?i)^(.{4,}?),?\s+(because|since|so that|due to|as (?:we|it|they))\s+(.{8,}?)\s*[.!]*$");
pattern!(SPLICED, r"(?i)^(.{4,}?)(?:[,;:]|\s[\x{2014}\x{2013}-])\s+(.{8,}?)\s*[.!]*$");
pattern!(
    WEIGHS,
    r"(?ix)\b(?:too|faster|slower|simpler|easier|cheaper|smaller|lighter|safer|overkill|no\slonger|already|can't|cannot|doesn'?t|don'?t|nobody|needs?|supports?|requires?|has\sno)\b"
);
pattern!(
    SINCE_WHEN,
    r"(?i)^(?:\d|then|last|the (?:last|start|beginning)|monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|april|may|june|july|august|september|october|november|december|v\d|version)\b"
);
pattern!(
    OF_THE_DAY,
    r"(?i)\b(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|meet|meeting|lunch|break|deadline|demo|sleep|vacation|holiday|home|office)\b"
);
pattern!(FIRST_OF_ALL, r"(?i)^(?:\d|to\s|up\s|out\s|on\s)|\s(?:first|too|as well)$");
pattern!(WAVERS, r"(?i)\b(?:no,? wait|wait,? no|scratch that|or rather|hm+|i mean)\b");
pattern!(
    TURNS,
    r"(?ix)^(?:(?:on|having)\ssecond\sthoughts?|actually|scrap|forget|(?:i've\s|i\s)?changed\smy\smind)\b[^,;:]{0,40}[,;:]\s+"
);
pattern!(CONTRASTS, r"(?i)\s(?:instead of|rather than|over|and not|not)\s\S");
pattern!(
    POINTS,
    r"(?i)\b(?:it|them|that|this|these|those|him|her|one|options?|approach|suggestion|proposal|idea|plan|gut|name|colou?r)\b"
);

/// The choice that a sentence states.
pub fn find(sentence: &str) -> Option<Choice> {
    if !judge::is_fit(sentence) || WAVERS.is_match(sentence) || OF_THE_DAY.is_match(sentence) {
        return None;
    }
    let plain = judge::plain(sentence);
    let clause = without_filler(&plain);
    let clause = TURNS.find(clause).map_or(clause, |turn| &clause[turn.end()..]);
    let skip = plain.chars().count() - clause.chars().count();
    let words: String = sentence.chars().skip(skip).collect();
    if let Some(found) = REASON_OF.captures(clause).filter(|found| is_named(&found[1]) || CONTRASTS.is_match(&found[1]))
    {
        let (what, why) = (format!("Use {}", &found[1]), Some(found[2].to_owned()));
        return Some(Choice { words, what, why, rejects: false, thing: None });
    }
    let (head, why) = reason(clause);
    let head = head.trim_end_matches(['.', '!', ',', ' ']);
    if judge::is_past(head) {
        return None;
    }
    if let Some((what, thing)) = rejected(head) {
        return Some(Choice { words, what, why, rejects: true, thing });
    }
    let (what, thing) = chosen(head)?;
    Some(Choice { words, what, why, rejects: false, thing })
}

/// What stands before the reason, and the reason.
fn reason(clause: &str) -> (&str, Option<String>) {
    if let Some(found) = BECAUSE.captures(clause) {
        let (word, why) = (found[2].to_ascii_lowercase(), &found[3]);
        let is_time = word == "since" && SINCE_WHEN.is_match(why);
        let why = match word.split_once(' ') {
            Some((_, subject)) => format!("{subject} {why}"),
            None => why.to_owned(),
        };
        if !is_time && why.split_whitespace().count() >= 3 {
            return (found.get(1).map_or(clause, |head| head.as_str()), Some(why));
        }
        return (clause, None);
    }
    match SPLICED.captures(clause) {
        Some(found) if found[2].split_whitespace().count() >= 4 && WEIGHS.is_match(&found[2]) => {
            let head = found.get(1).map_or(clause, |head| head.as_str());
            // "decision: we keep …" has its colon before anything was chosen.
            if chosen(head).is_some() || rejected(head).is_some() {
                (head, Some(found[2].to_owned()))
            } else {
                (clause, None)
            }
        }
        _ => (clause, None),
    }
}

fn chosen(head: &str) -> Option<(String, Option<String>)> {
    if let Some(found) = DECIDED.captures(head) {
        let by_one = found[1].eq_ignore_ascii_case("i") && !is_named(&found[2]);
        return (!by_one && is_whole(&found[2])).then(|| (found[2].to_owned(), None));
    }
    if let Some(found) = LABELLED.captures(head) {
        return is_whole(&found[1]).then(|| (found[1].to_owned(), None));
    }
    let thing = if let Some(found) = SETTLED.captures(head) {
        found[2].to_owned()
    } else if let Some(found) = SETTLED_BARE.captures(head) {
        found[1].to_owned()
    } else if let Some(found) = GOING.captures(head) {
        found.get(1).or(found.get(2))?.as_str().to_owned()
    } else if let Some(found) = WINS.captures(head).or_else(|| WE_USE.captures(head)).or_else(|| CHOSEN.captures(head))
    {
        let named = |thing: &String| is_named(thing) || (CONTRASTS.is_match(thing) && !begins_with_article(thing));
        Some(found[1].to_owned()).filter(named)?
    } else {
        let found = RECOMMENDED.captures(head)?;
        let thing = found.get(1).or(found.get(2)).or(found.get(3))?.as_str().to_owned();
        Some(thing).filter(|thing| is_named(thing))?
    };
    let known = is_named(&thing) || CONTRASTS.is_match(&thing) || (is_whole(&thing) && !begins_with_article(&thing));
    (known && !POINTS.is_match(&thing) && !FIRST_OF_ALL.is_match(&thing)).then(|| (format!("Use {thing}"), Some(thing)))
}

fn rejected(head: &str) -> Option<(String, Option<String>)> {
    if let Some(found) =
        AGAINST.captures(head).or_else(|| AGAINST_BARE.captures(head)).filter(|found| !POINTS.is_match(&found[2]))
    {
        let not_to = head.to_ascii_lowercase().contains(" not to ");
        let what = if not_to { format!("Don't {}", &found[2]) } else { format!("Decided against {}", &found[2]) };
        return Some((what, Some(found[2].trim_start_matches("using ").to_owned()).filter(|_| !not_to)));
    }
    let found = WONT.captures(head).filter(|found| !POINTS.is_match(&found[2]))?;
    Some((format!("Don't {} {}", &found[1], &found[2]), Some(found[2].to_owned())))
}

/// Says something without the talk around it.
fn is_whole(text: &str) -> bool {
    text.split_whitespace().count() >= 2 && !POINTS.is_match(text)
}

fn begins_with_article(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
    ["the", "a", "an", "my", "your", "our", "some", "what", "whatever", "both"].contains(&first.as_str())
}

/// What was chosen has a name: a tool, code, a path, or a proper noun. "the second one" has not.
fn is_named(choice: &str) -> bool {
    pattern!(NAME, r"`[^`]+`|\b[A-Z][\w.+-]*|\b\w+[_/.]\w+");
    NAME.is_match(choice) || choice.split_whitespace().any(is_tool)
}

/// The words by which a choice is known again, in lower case.
pub fn names(text: &str) -> Vec<String> {
    const COMMON: &[&str] = &[
        "use", "keep", "with", "over", "instead", "rather", "than", "the", "and", "not", "for", "from", "into",
        "let's", "lets", "decided", "against", "we", "our", "all", "don't", "store", "go", "because", "that", "this",
        "have",
    ];
    text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '\''))
        .map(str::to_lowercase)
        .filter(|word| word.len() >= 3 && !COMMON.contains(&word.as_str()))
        .collect()
}
