//! Whether a sentence is a standing instruction, and what it orders.

use super::contrast::contrast;
use super::forms;
use super::judge::{self, pattern};
use super::lexicon::ORDERS;

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
    FROM_NOW,
    r"(?ix)^(?:from\s(?:now|here|this\spoint)\son(?:wards?)?|going\sforward|moving\sforward|in\s(?:the\s)?future|for\sfuture\s(?:reference|sessions)|by\sconvention|our\sconvention(?:\shere)?\sis(?:\sto)?|as\sa\s(?:general\s)?rule(?:\sof\sthumb)?|henceforth|in\sgeneral)\s*[,:-]?\s+(?:please\s+)?"
);
pattern!(
    FROM_NOW_END,
    r"(?ix)(?:[,\s]+(?:from\snow\son(?:wards)?|going\sforward|moving\sforward|in\s(?:the\s)?future|as\sa\s(?:general\s)?rule)|,\s*(?:ever|always|no\smatter\swhat|no\sexceptions))\s*[.!]*$"
);
pattern!(
    REMEMBER_THAT,
    r"(?ix)^(?:please\s+)?(?:(?:always|also)\s+)?(?:remember(?:\sfor\s(?:the\sfuture|later|(?:next|later|future)\ssessions?))?|don'?t\sforget|note\sfor\s(?:the\sfuture|(?:next|later|future)\ssessions?)|keep\sin\smind|bear\sin\smind|be\saware)(?:\s+that\s+|\s*[:,-]\s+)"
);
pattern!(REMEMBER, r"(?ix)^(?:please\s+)?(?:remember|don'?t\sforget)\s+(?:to\s+)?");
pattern!(
    SCOPE,
    r"(?ix)^(?:in|for|on|within|across|throughout)\s(?:this|our|the\swhole|the|all|any|every)\s(?:\w+\s)?(?:repo(?:sitory)?|project|codebase|code\sbase|workspace|monorepo|team|wiki|org|crate|package)s?\s*[,:]?\s+"
);
pattern!(
    SCOPE_END,
    r"(?ix)[,\s]+(?:in|for|on|within|across|throughout)\s(?:this|our|the\swhole|all\sour)\s(?:\w+\s)?(?:repo(?:sitory)?|project|codebase|code\sbase|workspace|monorepo|team|wiki|org)s?\s*[.!]*$|[,\s]+(?:around\s)?here\s*[.!]*$"
);
pattern!(
    pub CIRCUMSTANCE,
    r"(?ix)^(?:when(?:ever)?|before|after|every\stime|each\stime|if\syou|for\s(?:all|every|any|new|each))\s[^,]{3,80},\s+(?:please\s+)?"
);
pattern!(REPEATED_CIRCUMSTANCE, r"(?ix)\b(?:whenever|every\stime|each\stime|(?:before|after)\s(?:every|each|any))\b");
pattern!(
    SUBJECT,
    r"(?ix)^(?:you\s(?:must|should|have\sto|need\sto|shall)|you're\sto|you\sare\sto|i\s(?:want|need|expect)\syou\sto|i'd\slike\syou\sto|(?:please\s)?(?:make|be)\ssure\s(?:to|that\syou|you|that\swe|we)|we(?:\s(?:should|must))?|let's)\s+"
);
pattern!(
    ABSOLUTE,
    r"(?ix)^(?:please\s)?(always|never(?:\sever)?|don'?t\sever|do\snot\sever|under\sno\scircumstances|only\sever)\s+(?:[a-z]+ly\s+)?([a-z][a-z'-]*)\b"
);
pattern!(POLITE_END, r"(?ix)[,\s]+(?:please|pls|thanks|thank\syou)\s*[.!]*$");
pattern!(
    AS_SAID,
    r"(?ix)^(?:\W*(?:no|nope|stop|wrong|hey)\W+)?(?:(?:as|like)\s)?i\s(?:already\s)?(?:said|told\syou)\b"
);
pattern!(NOTED, r"(?ix)^(?:for\sfuture\s(?:reference|sessions)|by\sconvention,?\swe\s|our\sconvention(?:\shere)?\sis)");
pattern!(
    PASSING_STATE,
    r"(?ix)\b(?:is|are|was|were)\s(?:down|broken|failing|red|slow|busy|running|being|still|currently|not\sworking|now)\b"
);
pattern!(FORBID, r"(?ix)^(?:please\s)?(?:don'?t|do\snot)\s+([a-z][a-z-]*)\b");
pattern!(ANY_MORE, r"(?ix)\b(?:any\s?more|again)\s*[.!]*$");
pattern!(WE_USE, r"(?ix)^we\s(?:only\s|don'?t\s|do\snot\s|never\s|always\s)?([a-z-]+)\s+\S");
pattern!(REPORTED, r"(?i)\b(?:says|said|claims|claimed|wrote|tells|told|according to)\b");
pattern!(
    OF_ALL,
    r"(?ix)^(?:all\s|our\s)?(?:[a-z][a-z-]*\s){0,3}[a-z-]+s\s(?:must|have\sto)\s(?:always|never)\s(?:be\s)?[a-z]+"
);
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
    VAGUE,
    r"(?ix)^(?:(?:please|always|never|ever|don'?t|do\snot)\s)*[a-z-]+\s(?:it|that|this|them|so|those|these|again|here|there|one|me|us)\b(?:\s(?:again|like\sthat|that\sway|way|please|first|anyway))?\s*[.!]*$"
);
pattern!(
    SINCE_WHEN,
    r"(?i)^since\s+(?:\d|then|last|monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|april|may|june|july|august|september|october|november|december|v\d|version|we (?:started|began))"
);

/// The instruction that a sentence is, if it is one.
pub fn instruction(sentence: &str) -> Option<Instruction> {
    if !judge::is_fit(sentence) {
        return None;
    }
    // Patterns see plain apostrophes; they are as many characters, so the end of the sentence can be cut by count.
    let plain = judge::plain(sentence);
    let clause = without_label(without_filler(&plain))?;
    if REPORTED.is_match(clause) || FROM_NOW.find(clause).is_some_and(|now| judge::is_question(&clause[now.end()..])) {
        return None;
    }
    let as_said = AS_SAID.is_match(&plain);
    let words = tail_of(sentence, clause);
    let (head, reason) = split_reason(clause);
    parse(head, as_said).map(|(order, lasting, scoped, instead_of)| Instruction {
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
    if REMEMBER_THAT.is_match(text) || REMEMBER.is_match(text) || FROM_NOW.is_match(text) || SCOPE.is_match(text) {
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
    text.split_whitespace().count() >= 4 && (ABSOLUTE.is_match(text) || FORBID.is_match(text))
}

/// `(order, lasting, scoped, instead_of)`. `as_said`: the person says it a second time. A command at the end, after a
/// colon, belongs to the order and says nothing of what kind of sentence it is: "we use vitest here: `pnpm vitest run`".
fn parse(clause: &str, as_said: bool) -> Option<(String, bool, bool, Option<String>)> {
    pattern!(COMMAND_END, r":\s*`[^`]+`[\s.!]*$");
    match COMMAND_END.find(clause) {
        None => parse_words(clause, as_said),
        Some(tail) => parse_words(&clause[..tail.start()], as_said).map(|(order, lasting, scoped, instead_of)| {
            (format!("{order}{}", tail.as_str().trim_end()), lasting, scoped, instead_of)
        }),
    }
}

fn parse_words(clause: &str, as_said: bool) -> Option<(String, bool, bool, Option<String>)> {
    let mut rest = clause.trim_end_matches([',', ' ']);
    let (mut lasting, mut scoped) = (false, false);
    let polite = POLITE_END.find(rest);
    rest = polite.map_or(rest, |found| &rest[..found.start()]);
    let noted = NOTED.is_match(rest);
    if let Some(found) = SCOPE_END.find(rest) {
        (rest, scoped) = (&rest[..found.start()], true);
    }
    if let Some(found) = FROM_NOW_END.find(rest) {
        // "would be added in the future" tells of plans.
        if !["would", "will", "may", "might", "could"].iter().any(|word| rest.split_whitespace().any(|w| w == *word)) {
            (rest, lasting) = (&rest[..found.start()], true);
        }
    }
    let scoped_at_end = scoped;
    let by_name = scoped_at_end && !clause.trim_end_matches(['.', '!', ' ']).to_ascii_lowercase().ends_with("here");
    loop {
        let (from_now, scope) = (FROM_NOW.find(rest), SCOPE.find(rest));
        match (from_now, scope) {
            (Some(found), _) => (rest, lasting) = (&rest[found.end()..], true),
            (None, Some(found)) => (rest, scoped) = (without_filler(&rest[found.end()..]), true),
            _ => break,
        }
    }
    if let Some(found) = REMEMBER_THAT.find(rest) {
        let fact = &rest[found.end()..];
        return is_lasting_fact(fact).then(|| (fact.to_owned(), true, scoped, None));
    }
    let mut reminded = false;
    if let Some(found) = REMEMBER.find(rest) {
        (rest, reminded) = (&rest[found.end()..], true);
    }
    if let Some(order) = forms::lasting(rest) {
        return Some((order.to_owned(), true, scoped, None));
    }
    let order = rest;
    let circumstance = CIRCUMSTANCE.find(rest).map(|found| found.as_str());
    let main = circumstance.map_or(rest, |before| &rest[before.len()..]);
    // "always ask me" says nothing; "when in doubt, always ask me" does.
    let says_when = circumstance.is_some() && main.trim_end_matches(['.', '!']).ends_with(" me");
    if VAGUE.is_match(main) && !says_when || main.split_whitespace().count() < 2 {
        return None;
    }
    if let Some(subject) = SUBJECT.find(main)
        && let Some(found) = ABSOLUTE.captures(&main[subject.end()..])
    {
        let spoken = &main[subject.end()..];
        let of_us = subject.as_str().to_ascii_lowercase().trim_end() == "we";
        // "we always run into this" is a complaint.
        let complaint = of_us
            && matches!(
                &found[2].to_ascii_lowercase()[..],
                "start" | "wait" | "fix" | "give" | "guess" | "restart" | "call"
            );
        return (is_order(&found[2]) && !complaint && !VAGUE.is_match(spoken)).then(|| {
            let order = match (of_us, circumstance) {
                (true, _) => order.to_owned(),
                (false, Some(before)) => format!("{before}{spoken}"),
                (false, None) => spoken.to_owned(),
            };
            (order, true, scoped, None)
        });
    }
    if let Some(found) = ABSOLUTE.captures(main) {
        return is_order(&found[2]).then(|| (order.to_owned(), true, scoped, None));
    }
    if OF_ALL.is_match(main) && !starts_with_pointer(main) {
        return Some((order.to_owned(), true, scoped, None));
    }
    if let Some(instead_of) = contrast(main, lasting || scoped) {
        let prefers = main.to_ascii_lowercase().contains("prefer ");
        return Some((order.to_owned(), lasting || scoped || prefers, scoped, Some(instead_of)));
    }
    let first = main.split_whitespace().next().unwrap_or_default().trim_end_matches(',');
    let forbidden = FORBID.captures(main).is_some_and(|found| is_order(&found[1]));
    let ours = WE_USE.captures(main).is_some_and(|found| {
        is_order(&found[1]) || (found[1].eq_ignore_ascii_case("do") && !main.to_ascii_lowercase().starts_with("we do "))
    });
    let of_all = ["all", "every", "each", "only"].contains(&first.to_ascii_lowercase().as_str());
    let repeated = REPEATED_CIRCUMSTANCE.is_match(rest);
    let subject = SUBJECT.find(main).map_or(0, |found| found.end());
    let told = subject > 0 && is_order(main[subject..].split_whitespace().next().unwrap_or_default());
    let lasts = (lasting && (is_order(first) || forbidden || ours || first.eq_ignore_ascii_case("no")))
        || (repeated && told)
        || (repeated && (is_order(first) || forbidden))
        || ((scoped || reminded || as_said) && ours)
        || (noted && is_lasting_fact(main))
        || (scoped && polite.is_some() && first.eq_ignore_ascii_case("no"))
        || (scoped
            && !scoped_at_end
            && (forbidden || first.eq_ignore_ascii_case("use") || first.eq_ignore_ascii_case("prefer")))
        || (scoped && !scoped_at_end && of_all && is_lasting_fact(main))
        || (by_name && forbidden && is_of_a_kind(main))
        || (by_name && told && ends_in_circumstance(main))
        || (forbidden && ANY_MORE.is_match(main) && main.split_whitespace().count() >= 4 && !main.contains(" the "))
        || (reminded && is_order(first) && (repeated || circumstance.is_some() || ends_in_circumstance(main)));
    (lasts && main.split_whitespace().count() >= 3).then(|| (order.to_owned(), true, scoped, None))
}

/// Whether what is forbidden is things of a kind: "don't write docstrings", and not "don't push to main".
fn is_of_a_kind(main: &str) -> bool {
    let object = main.trim_start_matches("please ").trim_start_matches("do not ");
    object.split_whitespace().skip(2).take(2).any(|word| word.ends_with('s')) && !main.contains(" the ")
}

/// Whether a subject points at something that only the conversation knows.
fn starts_with_pointer(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
    [
        "the", "this", "that", "these", "those", "it", "they", "he", "she", "i", "you", "we", "its", "his", "her",
        "their", "users",
    ]
    .contains(&first.as_str())
}

fn ends_in_circumstance(text: &str) -> bool {
    pattern!(END, r"(?i)\b(?:before|after|when|whenever) \w+ing\b|\b(?:before|after|when|whenever) (?:you|we) \w+");
    END.is_match(text)
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

pub fn is_order(word: &str) -> bool {
    ORDERS.binary_search(&word.to_ascii_lowercase().as_str()).is_ok()
        || ORDERS.contains(&word.to_ascii_lowercase().as_str())
}
