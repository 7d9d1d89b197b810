//! Whether a sentence is a standing instruction, and what it orders.

use super::contrast::contrast;
use super::forms;
use super::frame::{self, Sign};
use super::grammar;
use super::judge::{self, pattern};
use super::language;
use super::lexicon::ORDERS;
use super::mood::{ABSOLUTE, BAN};

/// An instruction found in a sentence.
#[derive(Debug, Clone, PartialEq)]
pub struct Instruction {
    /// The words to quote: the sentence without a greeting or label before it.
    pub words: String,
    /// The order itself, without "from now on", "please", "remember that", and without its reason.
    pub order: String,
    /// Its reason, from the connecting word on.
    pub reason: Option<String>,
    /// A word in it makes it last.
    pub lasting: bool,
    /// It names the project as the place where it holds.
    pub scoped: bool,
    /// The thing not to use, where two are set against each other.
    pub instead_of: Option<String>,
}

/// Words before an instruction that say nothing: greetings, politeness, connectives, labels of a note.
macro_rules! filler {
    () => {
        r"(?:ok(?:ay)?|great|thanks?|thank\syou|good|nice|perfect|cool|also|please|pls|and|so|but|btw|fyi|ps|nb|note|no|nope|yes|yep|well|again|reminder|important
            |rule|(?:an)?other\sthing|one\smore\sthing|to\sbe\sclear|for\sthe\srecord|by\sthe\sway|hey|hi|hello|claude|as\sa\sreminder|finally|oh|alright
            |that's\s(?:wrong|not\sright|incorrect)|wrong|(?:(?:as|like)\s)?i\s(?:already\s)?(?:said|told\syou)(?:\s(?:already|before|twice))?(?:\s(?:to|that))?|actually|just)"
    };
}

pattern!(
    FILLER,
    concat!(r"(?ix)^(?:\*\*|_|\()*", filler!(), r"(?:\*\*)?(?:\s*[,:;.!\x{2014}\x{2013}-]+\s*|\s+)(?:\*\*)?")
);
pattern!(LABEL, r"^([^\s:`/.]+(?:\s[^\s:`/.]+){0,2}):\s+");
pattern!(
    REMEMBER_THAT,
    r"(?ix)^(?:please\s+)?(?:(?:always|also)\s+)?(?:remember(?:\sfor\s(?:the\sfuture|later|(?:next|later|future)\ssessions?))?|don'?t\sforget|note\sfor\s(?:the\sfuture|(?:next|later|future)\ssessions?)|keep\sin\smind|bear\sin\smind|be\saware)(?:\s+that\s+|\s*[:,-]\s+)"
);
pattern!(
    pub CIRCUMSTANCE,
    r"(?ix)^(?:when(?:ever)?|before|after|every\stime|each\stime|if\syou|for\s(?:all|every|any|new|each))\s[^,]{3,80},\s+(?:please\s+)?"
);
pattern!(
    PASSING_STATE,
    r"(?ix)\b(?:is|are|was|were)\s(?:down|broken|failing|red|slow|busy|running|being|still|currently|not\sworking|now|monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b"
);
pattern!(WE_USE, r"(?ix)^we\s(?:only\s|don'?t\s|do\snot\s|never\s|always\s)?([a-z-]+)\s+\S");
pattern!(REPORTED, r"(?i)\b(?:says|said|claims|claimed|wrote|tells|told|according to)\b");
pattern!(
    REASON,
    r"(?i)[,;]?\s+(?:\(|\x{2014}\s*|- )?(because|since|otherwise|so that|as it|as they|or else|or it|or they)\s+\S"
);
pattern!(
    SPLICED_REASON,
    r"(?ix)(?:[,;:]|\s[\x{2014}\x{2013}-])\s+((?:it|they)\s(?:breaks?|makes?|causes?|confuses?|slows?|blocks?|hides?|leaks?|costs?|keeps?|writes?|fails?|will|is|are)|that'?s\s(?:what|how|where)|it's|they're)\s+\S"
);
pattern!(
    COLON_REASON,
    r"(?ix):\s+((?:\S+\s){1,4}?(?:is|are|has|have|can't|cannot|will|does|do|doesn't|don't|writes?|breaks?|needs?|makes?|takes?|runs?|loses?|expects?)\s+\S+\s\S.*)$"
);
pattern!(
    SINCE_WHEN,
    r"(?i)^since\s+(?:\d|then|last|monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|april|may|june|july|august|september|october|november|december|v\d|version|we (?:started|began))"
);

/// The instruction that a sentence is, if it is one.
pub fn instruction(sentence: &str) -> Option<Instruction> {
    english(sentence).or_else(|| language::instruction(sentence))
}

fn english(sentence: &str) -> Option<Instruction> {
    if !judge::is_fit_order(sentence) {
        return None;
    }
    // Patterns see plain apostrophes; they are as many characters, so the end of the sentence can be cut by count.
    let plain = judge::plain(sentence);
    let clause = if frame::is_opened(&plain) { &plain } else { without_label(without_filler(&plain))? };
    let framed = frame::open(clause);
    if REPORTED.is_match(framed.core) && !framed.says(Sign::Wished) {
        return None;
    }
    let words = tail_of(sentence, without_filler(clause));
    let (head, reason) = split_reason(clause);
    parse(head).map(|(order, lasting, scoped, instead_of)| Instruction {
        words: words.to_owned(),
        order: tail_like(sentence, &order),
        reason: reason.map(|reason| tail_like(sentence, reason)),
        lasting,
        scoped,
        instead_of,
    })
}

/// The clause in the sentence's own spelling: the same number of characters from its end.
pub fn tail_of<'s>(sentence: &'s str, clause: &str) -> &'s str {
    let skip = sentence.chars().count() - clause.chars().count();
    sentence.char_indices().nth(skip).map_or("", |(at, _)| &sentence[at..])
}

/// Words of the plain sentence in the spelling of the original.
fn tail_like(sentence: &str, words: &str) -> String {
    let plain = judge::plain(sentence);
    match plain.find(words) {
        Some(at) => sentence.chars().skip(plain[..at].chars().count()).take(words.chars().count()).collect(),
        None => words.to_owned(),
    }
}

/// Greetings and connectives off the front.
pub fn without_filler(mut text: &str) -> &str {
    while let Some(found) = FILLER.find(text) {
        // "no tabs" is an instruction, "no, tabs" is not.
        let spoken = &text[..found.end()];
        if spoken.trim_end().eq_ignore_ascii_case("no")
            || spoken.trim_end().eq_ignore_ascii_case("just") && text.len() < 12
        {
            break;
        }
        text = &text[found.end()..];
    }
    text
}

/// A label before a colon is a title of what follows, unless it names somebody or something that says it.
fn without_label(text: &str) -> Option<&str> {
    const SPEAKERS: &[&str] = &[
        "docs",
        "doc",
        "documentation",
        "readme",
        "guide",
        "manual",
        "reviewer",
        "review",
        "bot",
        "user",
        "assistant",
        "system",
        "error",
        "warning",
        "log",
        "linter",
        "ci",
        "output",
        "article",
        "page",
        "website",
        "comment",
        "email",
        "he",
        "she",
        "they",
        "agent",
        "human",
        "prompt:",
        "title",
        "message",
        "test",
        "example",
        "q",
        "a",
        "todo",
        "task",
        "tasks",
        "step",
        "steps",
        "criteria",
        "requirement",
        "requirements",
        "ticket",
        "story",
        "goal",
        "quote",
    ];
    pattern!(
        RULES_LABEL,
        r"(?i)^(?:(?:an?|the|some|our|my|one|two|three|four|few|more|new|another|house|general|other)\s){0,3}rules?(?:\s\w+){0,4}:\s+"
    );
    if let Some(label) = RULES_LABEL.find(text) {
        return Some(without_filler(&text[label.end()..]));
    }
    let Some(found) = LABEL.captures(text) else { return Some(text) };
    let label = &found[1];
    if frame::is_opened(text) {
        return Some(text);
    }
    let names_somebody = label.split_whitespace().any(|word| SPEAKERS.contains(&word.to_ascii_lowercase().as_str()))
        || label.chars().next().is_some_and(char::is_uppercase)
            && !label.split_whitespace().any(|word| word.eq_ignore_ascii_case("rules"));
    (!names_somebody).then(|| without_filler(&text[found[0].len()..]))
}

/// The order, and its reason from the connecting word on.
fn split_reason(clause: &str) -> (&str, Option<&str>) {
    let spliced = || SPLICED_REASON.captures(clause).filter(|_| CIRCUMSTANCE.find(clause).is_none());
    let colon = || {
        COLON_REASON.captures(clause).filter(|found| has_order_before(&clause[..found.get(0).map_or(0, |m| m.start())]))
    };
    let Some(found) = REASON.captures(clause).or_else(spliced).or_else(colon) else { return (clause, None) };
    let (whole, word) =
        (found.get(0).expect("group 0 always matches"), found.get(1).expect("the group is not optional"));
    let reason = clause[word.start()..].trim_end_matches([')', '.', '!']);
    if SINCE_WHEN.is_match(reason) || reason.split_whitespace().count() < 3 {
        return (clause, None);
    }
    (&clause[..whole.start()], Some(reason))
}

/// Whether the text before a colon is a whole order, and not the name of a list.
fn has_order_before(text: &str) -> bool {
    text.split_whitespace().count() >= 4 && (ABSOLUTE.is_match(text) || BAN.is_match(text))
}

/// An order, whether it lasts, whether it names the project, and the thing not to use.
type Parsed = (String, bool, bool, Option<String>);

/// A command at the end, after a colon, belongs to the order and says nothing of what kind of sentence it is: "we use
/// vitest here: `pnpm vitest run`".
fn parse(clause: &str) -> Option<Parsed> {
    pattern!(COMMAND_END, r":\s*`[^`]+`[\s.!]*$");
    match COMMAND_END.find(clause) {
        None => parse_words(clause),
        Some(tail) => parse_words(&clause[..tail.start()]).map(|(order, lasting, scoped, instead_of)| {
            (format!("{order}{}", tail.as_str().trim_end()), lasting, scoped, instead_of)
        }),
    }
}

fn parse_words(clause: &str) -> Option<Parsed> {
    let bare = without_filler(clause);
    if let Some(found) = REMEMBER_THAT.find(bare) {
        let fact = &bare[found.end()..];
        return is_lasting_fact(fact).then(|| (fact.to_owned(), true, false, None));
    }
    let framed = frame::open(clause);
    let scoped = framed.says(Sign::Scope);
    if let Some(order) = forms::lasting(framed.core) {
        return Some((order.to_owned(), true, scoped, None));
    }
    let firm = framed.says(Sign::Lasting) || scoped;
    if let Some(instead_of) = contrast(framed.core, firm) {
        let prefers = framed.core.to_ascii_lowercase().contains("prefer ");
        return Some((framed.core.to_owned(), firm || prefers, scoped, Some(instead_of)));
    }
    let order = grammar::standing(clause)?;
    Some((order.words, order.lasting, order.scoped, None))
}

/// A fact that holds on.
fn is_lasting_fact(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
    let of_a_person = ["i", "i'm", "i've", "you", "you're", "my"].contains(&first.as_str());
    is_statement(text)
        && !of_a_person
        && !judge::is_past(text)
        && !PASSING_STATE.is_match(text)
        && !judge::is_question(text)
}

/// A fact that can be remembered: it has a subject and a verb, and is not "my build command".
fn is_statement(text: &str) -> bool {
    pattern!(
        VERB,
        r"(?ix)\b(?:is|are|isn't|aren't|must|needs?|requires?|uses?|lives?|runs?|goes|go|has|have|does|doesn't|don't|only|cannot|can't|can|should|never|always|expects?|returns?|belongs?|comes?|works?|use|run|supports?|depends?)\b"
    );
    text.split_whitespace().count() >= 4
        && (VERB.is_match(text) || WE_USE.captures(text).is_some_and(|found| is_order(&found[1])))
}

pub(super) fn is_order(word: &str) -> bool {
    ORDERS.binary_search(&word.to_ascii_lowercase().as_str()).is_ok()
        || ORDERS.contains(&word.to_ascii_lowercase().as_str())
}
