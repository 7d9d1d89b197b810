//! What makes a sentence unfit to be kept, whichever rule found it.

use super::frame::{self, Sign};

/// A pattern that is compiled once.
macro_rules! pattern {
    ($visible:vis $name:ident, $text:expr) => {
        $visible static $name: std::sync::LazyLock<regex::Regex> =
            std::sync::LazyLock::new(|| regex::Regex::new($text).expect("a fixed pattern"));
    };
}
pub(super) use pattern;

pattern!(
    QUESTION,
    r"(?ix)^(?:so\s+|and\s+|but\s+|ok(?:ay)?,?\s+|wait,?\s+|hm+,?\s+)?
      (?:can|could|would|will|shall|should|does|did|is|are|was|were|has|had|may|might|why|what|what's|how|who|where|which
        |isn't|aren't|doesn't|won't|can't|couldn't|shouldn't|wouldn't|do\s(?:you|we|i|they)|don't\s(?:you|we|i|they)|have\s(?:you|we|i)|any\s(?:idea|reason|chance))\b"
);
pattern!(
    UNSURE,
    r"(?ix)\b(?:maybe|perhaps|possibly|probably|presumably|suppose|imagine|pretend|hypothetically|in\stheory|what\sif
        |i\s(?:wish|guess|wonder|think|assume|believe|suspect)|i'd\s(?:guess|say|prefer|rather)|not\ssure|unsure|let's\s(?:say|pretend|assume|see|try)|say\swe
        |might\s(?:want|be|have)|could\sbe|may\sbe|would\sbe\snice|seems?|looks?\slike|appears?\sto|if\sonly|for\sexample|for\sinstance)\b"
);
pattern!(
    MOCKING,
    r"(?ix)(?:^(?:sure(?:\sthing)?|yeah|right|of\scourse|oh\s(?:wonderful|great|nice|perfect|sure|yes|joy)|wow|great,\sso)[\s,]+(?:(?:let's|so|we|just|we'll|please)\s)*(?:always|never|delete|skip|ship|push|commit|break|ignore|remove)\b
        |\bwho\sneeds\b|\bgreat\sidea\b|\bworks\severy\stime\b|\bthat\swill\s(?:go|end)\s(?:so\s)?well\b|\bas\swe\sall\sknow\b|\blike\sreal\s(?:men|programmers|developers)\b|\bliving\son\sthe\sedge\b
        |\bnever\s(?:ever\s)?(?:test|review|document|back\sup|sleep|write\s(?:any\s)?(?:tests?|docs)|read\sthe\sdocs|run\s(?:any\s)?tests?)(?:\s(?:anything|at\sall|ever))?\s*(?:[.!,]|$)
        |\b(?:always|just)\s(?:ignore|skip|delete|disable|break)\s(?:the\s|all\s)*(?:tests?|linter|errors?|warnings?|reviews?|ci|build|failing)\b|\s/s\b|\byeah\sright\b|\bas\sif\b|\boh\sgreat\b|\bapparently\b|\bthanks\sfor\snothing\b|\blo+l\b|\bhaha|\blmao\b|\bbrilliant\b|\bgenius\b
        |\byolo\b|\b(?:awesome|fantastic|wonderful|excellent|terrific|lovely)\sidea\b|\bwork(?:s|ed)\s(?:out\s)?(?:so|really|super)\s(?:well|great)\b|\b(?:always\s)?ends?\swell\b|\bare\sfor\s(?:cowards|losers|the\sweak|wimps)\b|\bgood\sluck\swith\b|\bbecause\swhy\snot\b|\bwho\scares\b|\bliving\sdangerously\b|\bwhat\selse\sis\snew\b|\blove\s(?:how|it\swhen|that)\b|\bwhy\snot\b|\bwhat\scould\s(?:possibly\s)?go\swrong\b|^(?:sure|yeah|right),?\s(?:just\s)?(?:always|never)|🙄|🙃|😏|;\)|\bright\?)"
);
pattern!(
    AT_HAND,
    r"(?ix)\b(?:this\stime|this\sonce|just\sonce|once\sonly|for\snow|right\snow|for\sthe\smoment|for\sthe\stime\sbeing|at\sthe\smoment|today|tonight|tomorrow
        |this\s(?:week|month|morning|afternoon|evening|sprint)|until|temporarily|for\sthe\srest\sof|before\si\s(?:get|come|leave)|while\s(?:i|we|i'm|we're)\b
        |in\sthe\smeantime|next\stime|when\s(?:you're|you\sare|we're|we\sare|you\shave|you've|all|it's|it\sis|that's)?\s?(?:\w+\s)?(?:done|finished|ready|complete|completed)
        |after\s(?:that|this|you're|you\sare)|just\sfor|only\sfor\s(?:this|that|now)|instead\sof\sthat|as\sabove|the\s(?:above|following)|below
        |the\s(?:other|first|second|third|last|latter|former|next|previous|same|old|new)\s(?:one|file|option|approach|version|test|branch|way|idea|column|button|name|function|variable|line|part|section|config|setting)
        |the\s(?:first|second|third|latter|former)$)"
);
pattern!(AT_HAND_NOUN, r"(?i)\b(?:this|that|these|those)\s+(\w+)");
pattern!(HERE, r"(?i)\bhere\b");
pattern!(ONWARDS, r"(?i)\bfrom (?:here|this point) on\b");
pattern!(
    WE_HERE,
    r"(?i)\b(?:everything|all|every|everywhere)\b[^.]*\bhere\b|\b(?:convention|policy|rule) here\b|\bwe(?:'re| are)? (?:only |don't |do not |never |always )?[a-z]+ [^.]*\bhere\b"
);
pattern!(
    PAST,
    r"(?i)\b(?:yesterday|last (?:week|time|month|night|year)|earlier|ago|used to|back then|previously|already)\b"
);
pattern!(
    LOCAL,
    r"(?x)\b\d{4}-\d{2}-\d{2}\b | (?:^|[\s(])[\#!]\d+\b | \b[A-Z][A-Z0-9]+-\d+\b | \bPR\s?\#?\d+ | \b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-
      | \b[0-9a-f]{12,40}\b | (?:/home/|/Users/|/tmp/|/var/folders/|/private/|[A-Za-z]:\\) | ~/ | \b\d{1,3}(?:\.\d{1,3}){3}\b | \b\d{1,2}:\d{2}:\d{2}\b
      | \b[\w-]+\.(?:local|internal|lan|corp|home)\b | \w@[\w-]+ | https?://"
);
pattern!(LOCAL_TICKET_LIKE, r"^(?:UTF|ISO|SHA|RFC|MD|AES|RSA|ES|PEP|CVE|BASE|UCS|CP|HTTP|WIN|X|TLS|SSL)-?\d+");
pattern!(
    OVERRIDE,
    r"(?i)\b(?:ignore|disregard|forget|override) (?:all |any |the |your )*(?:previous|prior|above|earlier|existing|system) (?:instructions?|rules|prompts?|messages?)|\bsystem prompt\b|\bjailbreak"
);
pattern!(SECRET_MARK, r"\[REDACTED:");
pattern!(
    OURS,
    r"(?m)(?:^|\s)Memory-[A-Z][A-Za-z-]*: |refs/memory/(?:pending|log|sessions)|^\s*[+ ]?kind: (?:rule|gotcha|decision|procedure|concept|note)\s*$"
);
pattern!(
    TEMPLATE,
    r"(?i)^\s*(?:you are (?:an?|the|now|claude|\w+, an?)\b|act as\b|your (?:task|role|job) is\b|system:|#\s*(?:role|task|system)\b|\{|<\?xml)"
);

/// Nouns after "this" that name the project as a whole, not the thing at hand.
const WHOLE: &[&str] = &[
    "repo",
    "repository",
    "project",
    "codebase",
    "workspace",
    "monorepo",
    "team",
    "wiki",
    "org",
    "package",
    "crate",
    "organization",
    "organisation",
    "code",
];

/// The longest quote.
pub const MAX_QUOTE: usize = 400;

/// A question, also one without its mark.
pub fn is_question(text: &str) -> bool {
    text.trim_end().trim_end_matches([')', '"', '!']).ends_with('?') || QUESTION.is_match(&plain(text))
}

/// Said as a guess, a wish or an example.
pub fn is_unsure(text: &str) -> bool {
    UNSURE.is_match(&plain(text))
}

/// An order whose object only the sentence before names: "stick to that", "never do it like this".
pub fn is_about_it(order: &str) -> bool {
    pattern!(
        ABOUT_IT,
        r"(?ix)^(?:(?:always|never|please|don'?t|do\snot|just|only|you|we|must|should|stop|ever)\s)*[a-z]+(?:\s(?:to|with|at|on|by|for|from|like|of|up))?\s(?:that|it|this|them|these|those|so)(?:\s(?:like|way|always|ever|here|everywhere|too|again|first|that|this|please|from|now|on|in|future|the))*[\s.!]*$"
    );
    ABOUT_IT.is_match(&plain(order))
}

/// Said in mockery.
pub fn is_mocking(text: &str) -> bool {
    MOCKING.is_match(&plain(text))
}

/// About what happened.
pub fn is_past(text: &str) -> bool {
    PAST.is_match(text)
}

/// About the task at hand: it points at something that only the conversation knows, or ends with it.
pub fn is_at_hand(text: &str) -> bool {
    // What stands in code is a name: `date.today()` is not about today.
    pattern!(CODE, r"`[^`]*`|\b\w+(?:\.\w+)+\(?\)?|\b\w+\(\)");
    let text = plain(text);
    let text = CODE.replace_all(&text, "x");
    let text = ONWARDS.replace_all(&text, "always").replace("so that ", "so ");
    AT_HAND.is_match(&text)
        // "we use pnpm here" speaks of the project, "use the other file here" does not.
        || (HERE.is_match(&text) && !WE_HERE.is_match(&text))
        || AT_HAND_NOUN.captures_iter(&text).any(|found| {
            let pointer = found[0].to_ascii_lowercase();
            let noun = found[1].to_ascii_lowercase();
            // "that" mostly joins clauses; it points only before the nouns of a conversation.
            let points = !pointer.starts_with("that ")
                || matches!(noun.as_str(), "one" | "file" | "test" | "function" | "line" | "thing" | "part" | "way" | "option" | "branch" | "again" | "anymore");
            points && !WHOLE.contains(&noun.as_str())
        })
        || text.split(|c: char| !c.is_alphanumeric()).any(|word| word.eq_ignore_ascii_case("this"))
            && !AT_HAND_NOUN.is_match(&text)
}

/// Names a date, a ticket, a host, an address or a folder of one machine, which no page should carry.
pub fn is_local(text: &str) -> bool {
    LOCAL.find_iter(text).any(|found| !LOCAL_TICKET_LIKE.is_match(found.as_str()))
}

/// Carries a redacted secret, or tries to change what the agent may do.
pub fn is_unsafe(text: &str) -> bool {
    SECRET_MARK.is_match(text) || OVERRIDE.is_match(text)
}

/// Text that shows what we ourselves wrote: proposals, their commits, their pages.
pub fn is_ours(text: &str) -> bool {
    OURS.is_match(text)
}

/// A prompt that a program sends: it gives the agent a role, and its rules end with the task.
pub fn is_prompt_template(text: &str) -> bool {
    TEMPLATE.is_match(text)
}

/// Whether a sentence may be kept at all, as words of a lesson.
pub fn is_fit(text: &str) -> bool {
    let length = text.chars().count();
    length <= MAX_QUOTE
        && text.split_whitespace().count() >= 3
        && !goes_on(text)
        && !is_question(text)
        && !is_unsure(text)
        && !is_mocking(text)
        && !is_at_hand(text)
        && !is_local(text)
        && !is_unsafe(text)
        && !is_ours(text)
}

/// Fit for an order, which may be asked for or wished: "could you please stop …", "I'd prefer if you …". What stands
/// around it does not count.
pub fn is_fit_order(text: &str) -> bool {
    pattern!(AHEAD, r"(?ix)\bnext\stime(?:,|\splease|\syou)|\bdon't\syou\sever\b");
    let plain = plain(text);
    let framed = frame::open(&plain);
    let asked = framed.says(Sign::Asked) || framed.says(Sign::Reproach);
    let core = AHEAD.replace(framed.core, "always");
    let core = if asked { core.trim_end_matches(['?', ' ']) } else { &core };
    let here = HERE.is_match(&ONWARDS.replace_all(&plain, "x"))
        && !WE_HERE.is_match(&plain)
        && !plain.to_lowercase().starts_with("here we");
    let questions = !asked && is_question(core);
    !here
        && !questions
        && !is_mocking(&plain)
        && plain.chars().count() <= MAX_QUOTE
        && plain.split_whitespace().count() >= 3
        && is_fit(&format!("please now {core}"))
}

/// What it says stands after it: it ends in a colon, or in a word that waits for another.
fn goes_on(text: &str) -> bool {
    const WAITING: &[&str] =
        &["a", "an", "the", "and", "or", "to", "of", "with", "for", "by", "from", "at", "as", "is", "are"];
    let last = text.split_whitespace().next_back().unwrap_or_default();
    last.ends_with(':') || WAITING.contains(&last.to_ascii_lowercase().as_str())
}

/// Typographic apostrophes made plain, for patterns. Not for quotes.
pub fn plain(text: &str) -> String {
    text.replace(['\u{2019}', '\u{2018}'], "'")
}
