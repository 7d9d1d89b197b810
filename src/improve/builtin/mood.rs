//! How a clause orders, and what it is about.

use super::contrast::is_tool;
use super::frame::Sign;
use super::judge::{self, pattern};
use super::practice::{self, Object, base};

/// How a clause orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mood {
    /// "always …", "never …".
    Absolute,
    /// "don't …", "stop …ing", "no more …", "avoid …".
    Ban,
    /// "use …".
    Plain,
    /// "we use …", "we don't …".
    Habit,
    /// "every fix needs a test", "tests go in tests/".
    Obligation,
}

/// A mood with the words that the order is about.
pub struct Read<'t> {
    pub mood: Mood,
    pub verb: String,
    pub rest: &'t str,
}

pattern!(
    pub ABSOLUTE,
    r"(?ix)^(?:always|alwyas|allways|never(?:\sever)?|nevr|(?:don'?t|do\snot)\s(?:you\s)?ever|under\sno\scircumstances|at\sno\spoint|only\sever)\s+(?:to\s)?(?:[a-z]+ly\s+)?([a-z][a-z-]*)\b\s*"
);
pattern!(INNER_ABSOLUTE, r"(?ix)^(?:please\s)?([a-z][a-z-]*)\s(?:always|never)\s");
pattern!(
    pub BAN,
    r"(?ix)^(?:don'?t|do\snot|not(?:\sto)?|didn'?t|no\sneed\sto|avoid|stop|quit|refrain\sfrom|never)\s+(?:to\s)?([a-z][a-z-]*)\b\s*"
);
pattern!(NO_THING, r"(?ix)^no(?:\smore)?\s+(?:new\s|direct\s|unnecessary\s)?((?:[a-z-]+\s){0,2}[a-z-]+)\b");
pattern!(
    HABIT,
    r"(?ix)^(?:we|our\steam|the\steam)\s(?:are\s)?(always|never|only|don'?t|do\snot)?\s?(?:ever\s)?([a-z-]+)(?:,\s*|\s+)"
);
pattern!(
    OBLIGED,
    r"(?ix)^((?:(?:all|any|every|each|no|new|our|public|nothing|everything|anything|the)\s)?(?:[\w./*-]+\s){0,4}?[\w./*-]+)\s
      (?:(?:must|should|shall|may|can)(?:\snot|n'?t)?(?:\s(?:always|never|only|also))?|(?:has|have|needs?)\sto(?:\s(?:always|never))?|needs?|gets?|has\sits\sown|(?:is|are)(?:\s(?:always|never|only))?|goes|go|lives?|belongs?|ends?|starts?|stays?|never|always|only|cannot)\s+(.+)$"
);
pattern!(
    pub TERMS,
    r"(?ix)\b(?:unless\s(?:i|asked|told|we|it'?s)|without\s(?:asking|checking|my|an?\s|running|telling)|outside(?:\sof)?\s|by\shand|manually|in\sproduction\scode|in\slibrary\scode|everywhere|anywhere|at\sall\stimes|no\smatter)\b"
);
pattern!(
    pub PROBLEM,
    r"(?ix)\b(?:wrong|broken|failing|fails?|failed|bugs?|crash(?:es|ed)?|slow|missing|down|red|green|errors?|warnings?|failures?|twice|weird|null|undefined|error\smessage)\b"
);
pattern!(
    WANTED,
    r"(?ix)^i\s(?:really\s)?(?:want|need|expect|'d\slike)\s((?:every|each|all|any|no)\s(?:[a-z-]+\s){1,4}to\s(?:be|have|go|use|come|follow|include|start)\b.*)$"
);
pattern!(OF_US, r"(?ix)^we(?:'re|\sare)\s(?:an?\s)?([\w.-]+)\s(?:shop|team|house|project|codebase)\b");

/// The mood of a clause. `forbidden`: what stands before it turns an order into a ban.
pub fn read<'t>(core: &'t str, says: &impl Fn(Sign) -> bool) -> Option<Read<'t>> {
    let forbidden = says(Sign::Forbidden);
    let firm = says(Sign::Lasting) || says(Sign::Stressed);
    if let Some(found) = WANTED.captures(core).or_else(|| OF_US.captures(core).filter(|found| is_tool(&found[1]))) {
        let rest = &core[found.get(1)?.start()..];
        return Some(Read {
            mood: if OF_US.is_match(core) { Mood::Habit } else { Mood::Obligation },
            verb: "want".into(),
            rest,
        });
    }
    if let Some(found) = ABSOLUTE.captures(core) {
        let verb = base(&found[1]).filter(|verb| *verb == found[1].to_lowercase())?;
        let rest = &core[found[0].len()..];
        return (!rest.is_empty()).then_some(Read { mood: Mood::Absolute, verb, rest });
    }
    if let Some(found) = INNER_ABSOLUTE.captures(core)
        && let Some(verb) = base(&found[1]).filter(|verb| *verb == found[1].to_lowercase())
    {
        return Some(Read { mood: Mood::Absolute, verb, rest: &core[found[0].len()..] });
    }
    if let Some(found) = BAN.captures(core) {
        let rest = &core[found[0].len()..];
        let avoids = core.to_lowercase().starts_with("avoid") && base(&found[1]).is_none();
        return match base(&found[1]) {
            Some(verb) => (!rest.is_empty()).then_some(Read { mood: Mood::Ban, verb, rest }),
            None => avoids.then(|| Read { mood: Mood::Ban, verb: "avoid".into(), rest: &core["avoid".len()..] }),
        };
    }
    if let Some(found) = NO_THING.captures(core)
        && found[1].split_whitespace().any(practice::is_practice)
        && (firm || !PROBLEM.is_match(core))
        && (firm || is_qualified(core) || TERMS.is_match(core))
    {
        return Some(Read { mood: Mood::Ban, verb: "no".into(), rest: &core[found.get(1)?.start()..] });
    }
    if let Some(found) = HABIT.captures(core) {
        let verb = base(&found[2]).filter(|verb| *verb == found[2].to_lowercase() || found[2].ends_with("ing"))?;
        let rest = &core[found[0].len()..];
        let mood = match found.get(1).map(|word| word.as_str().to_lowercase()) {
            Some(word) if word == "never" || word == "always" => Mood::Absolute,
            _ => Mood::Habit,
        };
        let complains = (PROBLEM.is_match(rest) && !says(Sign::Scope))
            || matches!(verb.as_str(), "start" | "wait" | "fix" | "give" | "guess" | "restart" | "call");
        return (!complains).then_some(Read { mood, verb, rest });
    }
    if let Some(read) = obliged(core, says) {
        return Some(read);
    }
    let first = core.split_whitespace().next()?;
    let only = first.eq_ignore_ascii_case("only");
    let verb_word = if only { core.split_whitespace().nth(1)? } else { first };
    if forbidden && Object::of(core).practice {
        return Some(Read { mood: Mood::Ban, verb: "want".into(), rest: core });
    }
    if let Some(verb) = base(verb_word).filter(|_| only || !verb_word.ends_with('s') || verb_word.ends_with("ss")) {
        // A form of the past is an order only after "I'd prefer if you".
        let rest = core[core.find(verb_word)? + verb_word.len()..].trim_start();
        let verb = if only { "only".to_owned() } else { verb };
        return (!rest.is_empty()).then_some(Read {
            mood: if forbidden { Mood::Ban } else { Mood::Plain },
            verb,
            rest,
        });
    }
    None
}

/// "no tests" tells a state; "no new tests", "no direct commits", "no more comments" forbid.
fn is_qualified(core: &str) -> bool {
    pattern!(
        QUALIFIED,
        r"(?ix)^no\s(?:more|new|direct|unnecessary|needless|useless|trailing|inline|default|global|magic|nested|third|[a-z]+-[a-z-]+|[a-z]+ed|[a-z]+ing)\s|\swithout\s"
    );
    QUALIFIED.is_match(core)
}

/// What things of the daily work must be.
fn obliged<'t>(core: &'t str, says: &impl Fn(Sign) -> bool) -> Option<Read<'t>> {
    let (scoped, told) = (says(Sign::Scope), says(Sign::Told));
    let found = OBLIGED.captures(core)?;
    let subject = found[1].to_lowercase();
    let words: Vec<&str> = subject.split_whitespace().collect();
    let head = words.last()?;
    let quantified = ["all", "any", "every", "each", "no", "nothing", "everything", "anything"].contains(&words[0]);
    let many = head.ends_with('s') && !head.ends_with("ss");
    let place = Object::of(&subject).place;
    let practice = words.iter().any(|word| practice::is_practice(word));
    let product = words.iter().any(|word| practice::is_product(word));
    let pointing = ["the", "this", "that", "these", "those", "it", "my", "your"].contains(&words[0]);
    let modal = core[found.get(1)?.end()..found.get(2)?.start()].trim().to_lowercase();
    let rest = found.get(2)?.as_str();
    if pointing || product || PROBLEM.is_match(rest) || rest.chars().next().is_some_and(|c| c.is_ascii_digit()) {
        return None;
    }
    let own = modal == "has its own" && quantified && scoped;
    let must =
        ["must", "should", "shall", "may", "has", "have", "need", "can"].iter().any(|word| modal.starts_with(word));
    let absolute =
        modal.contains("never") || modal.contains("always") || modal.contains("only") || modal.contains("not");
    let state = ["go", "live", "belong", "end", "start", "stay"].iter().any(|word| modal.starts_with(word));
    let contrast = rest.contains(", never ") || rest.contains(", not ") || rest.contains(" everywhere");
    let object = Object::of(rest);
    let fits = own
        || (told && practice && many && (modal == "never" || modal == "always"))
        || (scoped && many && !object.points && (must || modal.starts_with("are") || state))
        || (practice
            && many
            && absolute
            && ["in ", "on ", "under ", "with "].iter().any(|word| rest.starts_with(word))
            && !object.points)
        || (place && (must || absolute || modal == "is"))
        || (practice && quantified && (must || state))
        || (practice && many && must && !object.points && !is_task_like(rest))
        || (many
            && !object.points
            && absolute
            && (must || is_said_of_many(rest.split_whitespace().next()?) || object.is_general())
            && (practice || contrast || !modal.starts_with("are")))
        || (practice && many && state && (object.place || contrast || rest.contains('_') || rest.contains('`')))
        || (many && contrast && (state || modal.starts_with("are") || must) && !object.points);
    fits.then_some(Read { mood: Mood::Obligation, verb: modal, rest })
}

/// What holds for things of a kind: an order, or where they are and what they have.
fn is_said_of_many(verb: &str) -> bool {
    base(verb).is_some()
        || ["go", "live", "belong", "come", "need", "have", "get", "contain", "end", "stay"]
            .contains(&verb.to_lowercase().as_str())
}

/// What is to be done to things once.
fn is_task_like(rest: &str) -> bool {
    pattern!(
        TASK,
        r"(?ix)^be\s(?:fixed|updated|changed|removed|deleted|added|moved|renamed|parsed|green|passing|done|ready|shown|displayed|sorted|disabled|visible)\b|^(?:pass|work)\b|,\s(?:add|fix|please|so)\b"
    );
    TASK.is_match(rest) || judge::is_past(rest)
}
