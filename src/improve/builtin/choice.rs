//! Whether a sentence chooses something or rejects it, and why.

use super::contrast::is_tool;
use super::instruction::without_filler;
use super::judge::{self, pattern};
use super::lexicon::ARCHITECTURE;

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
        r"(?ix)^(?:after\s(?:some|a\sfew|much|a\slot\sof|a\sbit\sof)\s(?:thought|thinking|discussion|testing|benchmarks|measuring|research|back\sand\sforth),?\s)?(we|i)(?:'ve|\shave|\shad)?(?:\s(?:finally|now|both|all))?\s"
    };
}
pattern!(DECIDED, concat!(have!(), r"(?:decided|agreed|chose)\s(?:to|(?:that\s)?we(?:'ll|\swill)?)\s+(.+)$"));
pattern!(
    LABELLED,
    r"(?ix)^(?:(?:the\s|our\s|final\s|my\s)*(?:decision|plan)(?:\sis|\swas|\smade)?(?:\sto\s+|\s*:\s*)|decided\s*:\s*)(?:(?:we|i)(?:'ll|\swill)?\s)?(.+)$"
);
pattern!(
    SETTLED,
    concat!(
        have!(),
        r"(?:chose|picked|settled\son|decided\s(?:on|for)|agreed\son|went\swith|opted\sfor|ended\sup\s(?:choosing|using|picking|with|going\swith)|want\sto\s(?:go|stay|stick)\swith)\s+(.+)$"
    )
);
pattern!(
    SETTLED_BARE,
    r"(?ix)^(?:chose|picked|went\swith|settled\son|opted\sfor|going\swith|sticking\swith|staying\swith|keeping)\s+(.+)$"
);
pattern!(
    CHANGED,
    concat!(have!(), r"(?:moved|switched|migrated)\s(?:away\s)?from\s+(\S+(?:\s\S+){0,2}?)\sto\s+(\S+(?:\s\S+){0,2})$")
);
pattern!(DECIDED_BARE, r"(?ix)^(?:we\s)?decided\s(?:to|that\swe(?:'ll|\swill)?)\s+(.+)$");
pattern!(DOING, r"(?ix)^we(?:'re|\sare)\s(dropping|removing|adopting|replacing|retiring|deprecating)\s+(.+)$");
pattern!(IT_IS, r"(?ix)^(\S+(?:\s\S+){0,2})\sit\sis$");
pattern!(LETS_DROP, r"(?ix)^let'?s\s((?:drop|remove|retire|replace)\s.+?\s(?:in\sfavou?r\sof|with|for)\s.+)$");
pattern!(
    WE_WILL,
    r"(?ix)^we(?:'ll|\swill|\sshould)?\s((?:store|keep|write|run|host|put|use|generate|ship|render|cache)\s.+)$"
);
pattern!(
    GOING,
    r"(?ix)^(?:so\s)?we(?:'re|\sare|re)\s(?:(?:going|sticking|staying)\swith|keeping)\s+(.+)$|^we(?:'re|\sare)\sstandardi[sz]ing\son\s+(.+)$"
);
pattern!(
    CHOSEN,
    r"(?ix)^(?:let'?s|we\sshould|we'll|we\swill|i'd\srecommend|i\swould\srecommend|i\srecommend|i\ssuggest|my\srecommendation\sis)\s(?:(?:to\s)?(?:go\s(?:with|for)|use|do|st(?:ick|ay)\s(?:with|to)|keep|adopt|standardi[sz]e\son)|going\swith|using|keeping|sticking\swith)\s+(.+)$"
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
pattern!(AGAINST_BARE, r"(?ix)^(?:we\s|i\s)?(decided\sagainst|decided\snot\sto|rejected|ruled\sout|dismissed)\s+(.+)$");
pattern!(AGAINST, concat!(have!(), r"(?:decided|chose|agreed)\s(?:against|not\sto)\s+(.+)$"));
pattern!(
    WONT,
    r"(?ix)^we\s?(?:won'?t|\swill\snot|'re\snot\sgoing\sto|\sare\snot\sgoing\sto|\saren't\sgoing\sto)\s(use|adopt|add|introduce|support|switch\sto|move\sto|migrate\sto)\s+(.+)$"
);
pattern!(LETS_NOT, r"(?ix)^let'?s\snot\s(use|adopt|add|introduce|support|go\swith)\s+(.+)$");
pattern!(
    BECAUSE,
    r"(?i)^(.{4,}?),?\s+(because of|because|since|so that|due to|given that|given|seeing that|on account of|owing to|the reason (?:being|is)(?: that)?|(?:and )?the reason:|as (?:we|it|they|nobody|no one|everyone|everybody|there|most|none))\s+(.{8,}?)\s*[.!]*$"
);
pattern!(AS, r"(?i)^(.{4,}?),\s+as\s+(.{8,}?)\s*[.!]*$");
pattern!(SPLICED_AT, r"(?:[,;:]|\s[\x{2014}\x{2013}-])\s+");
pattern!(
    WEIGHS,
    r"(?ix)\b(?:too|faster|slower|simpler|easier|cheaper|smaller|lighter|safer|overkill|no\slonger|already|can't|cannot|doesn'?t|don'?t|nobody|needs?|supports?|requires?|has\sno|overkill|costs?|it's|they're|we're|would|only|never|always|more|less|enough)\b"
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
    let (what, thing) = chosen(head, why.is_some())?;
    Some(Choice { words, what, why, rejects: false, thing })
}

/// What stands before the reason, and the reason.
fn reason(clause: &str) -> (&str, Option<String>) {
    if let Some(found) = BECAUSE.captures(clause) {
        let (word, why) = (found[2].to_ascii_lowercase(), &found[3]);
        let is_time = word == "since" && SINCE_WHEN.is_match(why);
        let why = match word.strip_prefix("as ") {
            Some(subject) => format!("{subject} {why}"),
            None => why.to_owned(),
        };
        if !is_time
            && why.split_whitespace().count()
                >= if word.ends_with(" of") || word.ends_with(" to") || word == "because" { 2 } else { 3 }
        {
            return (found.get(1).map_or(clause, |head| head.as_str()), Some(why));
        }
        return (clause, None);
    }
    // "as a library" gives no reason, ", as retries hide failures" does.
    match AS.captures(clause).filter(|found| is_as_a_reason(clause, &found[1], &found[2])) {
        Some(found) => (found.get(1).map_or(clause, |head| head.as_str()), Some(found[2].to_owned())),
        None => spliced(clause),
    }
}

/// A reason that follows a colon, a dash or a comma without a word that says so.
fn spliced(clause: &str) -> (&str, Option<String>) {
    SPLICED_AT
        .find_iter(clause)
        .filter_map(|mark| {
            let (head, why) =
                (clause[..mark.start()].trim_end(), clause[mark.end()..].trim_end_matches(['.', '!', ' ']));
            let firm = !mark.as_str().starts_with(',');
            let said = why.split_whitespace().count() >= if LABELLED.is_match(head) { 3 } else { 4 }
                && (firm || WEIGHS.is_match(why))
                && !is_an_order(why)
                && choice_of(head).is_some();
            said.then(|| (head, Some(why.to_owned())))
        })
        .next()
        .unwrap_or((clause, None))
}

/// "decision: we keep …" has its colon before anything was chosen.
fn choice_of(head: &str) -> Option<()> {
    (head.split_whitespace().count() >= 3 || IT_IS.is_match(head) || SETTLED_BARE.is_match(head)).then_some(())?;
    chosen(head, true).map(|_| ()).or_else(|| rejected(head).map(|_| ()))
}

/// What is to be done next is no reason.
fn is_an_order(why: &str) -> bool {
    let first = why.split_whitespace().next().unwrap_or_default();
    super::instruction::is_order(first)
        || ["please", "then", "and", "but", "so", "i", "can", "let's"].contains(&first.to_ascii_lowercase().as_str())
}

fn is_as_a_reason(clause: &str, head: &str, why: &str) -> bool {
    let words: Vec<&str> = why.split_whitespace().collect();
    clause[head.len()..].trim_start().starts_with(',')
        && words.len() >= 3
        && !["a", "an", "the", "well", "in", "usual", "long", "soon", "possible"]
            .contains(&words[0].to_ascii_lowercase().as_str())
}

fn chosen(head: &str, with_reason: bool) -> Option<(String, Option<String>)> {
    if let Some(found) = CHANGED.captures(head).filter(|found| is_named(&found[2]) || is_named(&found[3])) {
        let (from, to) = (&found[2], found[3].to_owned());
        return (!POINTS.is_match(from) && !POINTS.is_match(&to))
            .then(|| (format!("Use {to} instead of {from}"), Some(to)));
    }
    if let Some(found) = LETS_DROP.captures(head).filter(|found| !POINTS.is_match(&found[1])) {
        return with_reason.then(|| (found[1].to_owned(), None));
    }
    if let Some(found) = IT_IS.captures(head).filter(|found| is_named(&found[1])) {
        return Some((format!("Use {}", &found[1]), Some(found[1].to_owned())));
    }
    if let Some(found) =
        WE_WILL.captures(head).filter(|found| with_reason && !WE_USE.is_match(head) && is_named(&found[1]))
    {
        return (!POINTS.is_match(&found[1])).then(|| (found[1].to_owned(), None));
    }
    if let Some(found) = DECIDED.captures(head) {
        let by_one = found[1].eq_ignore_ascii_case("i") && !is_named(&found[2]);
        return (!by_one && is_whole(&found[2])).then(|| (found[2].to_owned(), None));
    }
    if let Some(found) = DECIDED_BARE.captures(head) {
        return is_named(&found[1]).then(|| (found[1].to_owned(), None));
    }
    if let Some(found) =
        DOING.captures(head).filter(|found| with_reason && is_named(&found[2]) && !POINTS.is_match(&found[2]))
    {
        let verb = super::practice::base(&found[1]).unwrap_or_else(|| found[1].to_owned());
        return Some((format!("{verb} {}", &found[2]), None));
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
        let not_to =
            head.to_ascii_lowercase().contains("decided not to ") || head.to_ascii_lowercase().contains(" not to ");
        let what = if not_to { format!("Don't {}", &found[2]) } else { format!("Decided against {}", &found[2]) };
        return Some((what, Some(found[2].trim_start_matches("using ").to_owned()).filter(|_| !not_to)));
    }
    let found = WONT.captures(head).or_else(|| LETS_NOT.captures(head)).filter(|found| !POINTS.is_match(&found[2]))?;
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
    NAME.is_match(choice)
        || choice.split_whitespace().any(|word| {
            is_tool(word)
                || ARCHITECTURE.contains(&word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase().as_str())
        })
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
