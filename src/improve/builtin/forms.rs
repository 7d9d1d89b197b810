//! Whole sentences that are standing instructions by their form.

use super::compose;
use super::instruction::{Instruction, is_order, without_filler};
use super::judge::{self, pattern};

/// Things of which a project has many, and that are made again and again. "Buttons should always be blue" is a wish for
/// the page at hand; "tests should never hit the network" is one for the project.
macro_rules! made_again {
    () => {
        r"(?:tests?|specs?|migrations?|commits?|commit\smessages?|branch(?:es)?|prs?|pull\srequests?|fixtures?|modules?|crates?|packages?|endpoints?|routes?|scripts?|imports?|releases?|mocks?|snapshots?|functions?|handlers?|commands?|fix(?:es)?|bug\s?fix(?:es)?|features?|changes?|env\svars?|settings?|flags?|dependenc(?:y|ies))"
    };
}

pattern!(
    OBLIGATION,
    concat!(
        r"(?ix)^(?:every|each)\s(?:single\s)?(?:(?:new|public|api|sql|schema|exported|unit|integration)\s){0,2}",
        made_again!(),
        r"\s(?:needs|must\shave|has\sto\shave|should\shave|gets)\s(?:an?|its|both)\s[a-z]+(?:\s\S+)+"
    )
);
pattern!(
    OF_MANY,
    concat!(
        r"(?ix)^(?:(?:our|all|unit|integration|e2e|new|public|api|sql)\s){0,2}",
        made_again!(),
        r"\sshould\s(?:always|never)\s[a-z]+"
    )
);
pattern!(
    ALL_MUST,
    concat!(
        r"(?ix)^(?:all|our)\s(?:(?:new|public|unit|integration|e2e)\s)?",
        made_again!(),
        r"\s(?:must|have\sto|need\sto)\s(?:be|have|use|go)\s([a-z-]+)"
    )
);
pattern!(OF_NOW, r"(?i)^(?:green|passing|fixed|updated|done|finished|ready|working|up)$");
pattern!(
    WHEN_DOING,
    r"(?ix)^when(?:ever)?\s(?:you(?:'re|\sare)?\s)?(?:writing|adding|creating|changing|naming|fixing|editing|touching|reviewing|refactoring|importing)\s(?:an?\s|new\s)?([a-z-]+)[^,]*,\s(?:please\s)?([a-z-]+)\s\S"
);
pattern!(TO_ME, r"(?i)\b(?:tell|show|ping|give) me\b");
pattern!(
    NOT_WITHOUT,
    r"(?ix)^(?:please\s)?(?:don'?t|do\snot)\s([a-z-]+)\s.+\s(?:without\s(?:asking|checking|a\stest|tests|my|an?\sapproval)|unless\si\s(?:ask|say|tell))\b"
);
pattern!(
    STANDS_SO,
    r"(?ix)^(?:we|we're|we've|our|i\sprefer|i\slike|i\swant)\s.{6,}?(?:[,;]|\sso|\sand)\s(?:so\s|and\s)?(?:please\s)?(?:always|never)\s([a-z-]+)\s\S"
);
pattern!(OF_A_BUG, r"(?i)\b(?:errors?|warnings?|bugs|failures|crashes|questions|excuses|mistakes)\b");
// "make" is too wide a word to be an order of its own.
pattern!(
    ABSOLUTE_MAKE,
    r"(?ix)^(?:please\s)?always\smake\s(?:an?\s)(?:new\s|feature\s)?(?:branch|pr|pull\srequest|backup|commit|changelog\sentry)\b"
);
pattern!(NO_MORE, r"(?ix)^no\smore\s[a-z-]+s\s(?:in|for|on|from)\s(?:[a-z]+\s)?[a-z]+$");
pattern!(
    SEE_TO_IT,
    concat!(
        r"(?ix)^(?:please\s)?(?:make|be)\ssure\s(?:that\s)?((?:(?:our|all|unit|integration|e2e|new|public|api|sql)\s){0,2}",
        made_again!(),
        r"\s(?:always|never)\s[a-z]+\s\S.*)$"
    )
);
pattern!(
    GENERATED,
    r"(?ix)^(?:the\s|all\s)?\S+(?:\s\S+){0,4}?\s(?:is|are)\s(?:auto-?)?generated\b[^,;]*[,;]?\s(?:so\s|and\s)?(?:please\s)?(?:never|don'?t\sever|don'?t|do\snot)\s(?:edit|touch|change|modify|commit)\b"
);
pattern!(WHENEVER, r"(?ix)^(?:whenever|every\stime|each\stime)\s(?:you|we)\s([a-z-]+)\s[^,]+$");
pattern!(
    OCCASION,
    r"(?ix)^(?:(?:after|before)\s[a-z]+ing|(?:after|before|when|whenever|if)\s(?:you|we))\s[^,]{3,80}?\s(\S+)\s(?:always|never|don'?t\sever)\s([a-z-]+)\s\S"
);
pattern!(OF_A_PRODUCT, r"(?i)\b(?:users?|customers?|clients?|visitors?|wants?)\b");
pattern!(POINTS, r"(?i)\b(?:it|them|that|these|those)\b");
pattern!(OF_A_PROGRAM, r"(?i)\b(?:it|should|shows?|gets?|fails?|opens?|appears?|crash(?:es)?)\b");
pattern!(STOP, r"(?ix)^(?:please\s)?stop\s+([a-z]+ing)\s+(.+?)\s*[.!]*$");
pattern!(OBJECT_END, r"(?i)[,;]|\s(?:that|which|in|to|for|when|on|after|before|everywhere)\b");

/// The order of a sentence that is one by its form, which may begin after "make sure that".
pub fn lasting(sentence: &str) -> Option<&str> {
    if let Some(found) = SEE_TO_IT.captures(sentence) {
        return found.get(1).map(|order| order.as_str());
    }
    let whenever = || {
        WHENEVER.captures(sentence).is_some_and(|found| {
            is_order(&found[1]) && sentence.split_whitespace().skip(4).any(is_order) && !OF_A_PROGRAM.is_match(sentence)
        })
    };
    let occasion = || {
        OCCASION.captures(sentence).is_some_and(|found| {
            let pronoun = ["it", "they", "he", "she", "we", "you", "i", "users", "that"];
            is_order(&found[2]) && !pronoun.contains(&found[1].to_ascii_lowercase().as_str())
        })
    };
    let ordered = |found: Option<regex::Captures>, verb: usize| found.is_some_and(|found| is_order(&found[verb]));
    let when_doing = || {
        WHEN_DOING.captures(sentence).is_some_and(|found| {
            is_order(&found[2])
                && !TO_ME.is_match(sentence)
                && !["the", "this", "that", "these", "it", "them"].contains(&&found[1].to_lowercase()[..])
        })
    };
    ((OBLIGATION.is_match(sentence) && !POINTS.is_match(sentence))
        || ALL_MUST.captures(sentence).is_some_and(|found| !OF_NOW.is_match(&found[1]))
        || when_doing()
        || ordered(NOT_WITHOUT.captures(sentence), 1)
        || (ordered(STANDS_SO.captures(sentence), 1) && !POINTS.is_match(sentence) && !OF_A_PRODUCT.is_match(sentence))
        || (NO_MORE.is_match(sentence) && !OF_A_BUG.is_match(sentence))
        || ABSOLUTE_MAKE.is_match(sentence)
        || OF_MANY.is_match(sentence)
        || GENERATED.is_match(sentence)
        || whenever()
        || occasion())
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

/// The same where nothing shows what the agent did: only habits of writing code, and nothing that a task is made of.
pub fn stop_a_habit(sentence: &str) -> Option<Instruction> {
    const HABITS: &[&str] = &[
        "using",
        "adding",
        "writing",
        "putting",
        "importing",
        "committing",
        "mocking",
        "leaving",
        "introducing",
        "hardcoding",
        "inlining",
        "wrapping",
        "catching",
    ];
    const OF_A_TASK: &[&str] = &["files", "changes", "things", "tests", "questions", "fixes", "words", "tasks", "as"];
    let plain = judge::plain(sentence);
    let verb = STOP.captures(without_filler(&plain))?[1].to_ascii_lowercase();
    let found = stop(sentence).filter(|_| HABITS.contains(&verb.as_str()) && judge::is_fit(sentence))?;
    let object = compose::fold(found.instead_of.as_deref()?).to_ascii_lowercase();
    (!OF_A_TASK.contains(&object.as_str())).then_some(found)
}
