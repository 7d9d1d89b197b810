//! Whether a clause is a standing order, by what stands around it, its mood and what it is about.

use super::frame::{self, Framed, Sign};
use super::judge::{self, pattern};
use super::mood::{ABSOLUTE, BAN, Mood, PROBLEM, Read, TERMS, read};
use super::occasion::{Recurs, ends_again, occasion};
use super::practice::Object;

pattern!(
    OF_NOW,
    r"(?ix)\b(?:yet|now|still|again|already|immediately|asap|currently|instead\sof\sthat)\b|\b(?:before|until)\swe\s(?:continue|go\son|start)\b|\btell\sme\b|\bshow\sme\b|\bthat\sis\swhy\b|\bi'?m\b|\bfix\s(?:it|that)\b|^no\sneed\b.*\b(?:that|this|it)$"
);
pattern!(WANTS_A_THING, r"(?ix)^(?:a|an|some|two|three|\d+|more)\s");

/// A standing order.
#[derive(Debug, PartialEq)]
pub struct Order {
    /// The order without what stands around it, in words of the clause.
    pub words: String,
    /// It stands for itself, also inside a task.
    pub lasting: bool,
    /// It names the project as the place where it holds.
    pub scoped: bool,
}

/// The standing order that a clause is.
pub fn standing(clause: &str) -> Option<Order> {
    let framed = frame::open(clause);
    let ordered_first = framed.core.trim_end().ends_with(" first")
        && framed.signs.is_empty()
        && !TERMS.is_match(framed.core)
        && !ABSOLUTE.is_match(framed.core)
        && occasion(framed.core).is_none();
    if framed.core.split_whitespace().count() < 2
        || ordered_first
        || OF_NOW.is_match(framed.core)
        || judge::is_past(framed.core)
    {
        return None;
    }
    let (occasion, main) = match occasion(framed.core) {
        Some((recurrent, main)) => (Some(recurrent), main),
        None => (None, framed.core),
    };
    let inner = if occasion.is_some() { frame::open(main) } else { Framed { core: main, signs: Vec::new() } };
    let says = |sign: Sign| framed.says(sign) || inner.says(sign);
    if says(Sign::Asked) && !says(Sign::Lasting) && !is_asked_for_good(clause, inner.core) {
        return None;
    }
    let wanted = read(inner.core, &says);
    if wanted.is_none() && framed.signs.first() == Some(&Sign::Lasting) && is_a_standard(framed.core) {
        let whole =
            if clause.ends_with(framed.core) { super::instruction::without_filler(clause) } else { framed.core };
        return Some(Order { words: whole.to_owned(), lasting: true, scoped: says(Sign::Scope) });
    }
    let read = wanted?;
    let object = Object::of(read.rest);
    let recurs = occasion == Some(Recurs::Plainly) || ends_again(inner.core);
    let weighed = Weighed {
        marked: says(Sign::Lasting),
        stressed: says(Sign::Stressed),
        scoped: says(Sign::Scope),
        told: says(Sign::Told) || says(Sign::Forbidden),
        noted: says(Sign::Noted) || says(Sign::Reproach),
        wished: says(Sign::Wished) || says(Sign::Asked),
        occasion: occasion.is_some(),
        recurs,
        terms: TERMS.is_match(inner.core),
    };
    let lasting = weighed.lasting(&read, object, inner.core)?;
    Some(Order { words: words(clause, &framed, &inner, occasion.is_some(), &read), lasting, scoped: weighed.scoped })
}

/// What a convention says without an order: "our convention is snake_case for file names".
fn is_a_standard(core: &str) -> bool {
    let object = Object::of(core);
    let words = core.split_whitespace().count();
    words >= 3
        && (object.practice || object.tool || object.place || core.to_lowercase().starts_with("no "))
        && !object.points
        && !object.product
        && !PROBLEM.is_match(core)
        && !judge::is_past(core)
}

/// The words to write down: as an order, where they forbid or wish. "I'd prefer if you wrote …" is "write …".
fn words(clause: &str, framed: &Framed, inner: &Framed, occasion: bool, read: &Read) -> String {
    let says = |sign: Sign| framed.says(sign) || inner.says(sign);
    let first = inner.core.split_whitespace().next().unwrap_or_default().to_lowercase();
    let order = if says(Sign::Forbidden) && first == read.verb {
        format!("don't {}", inner.core)
    } else if says(Sign::Wished) && (first == "didn't" || first == "didnt") {
        format!("don't {} {}", read.verb, read.rest)
    } else if says(Sign::Wished) && read.mood == Mood::Plain && first != read.verb {
        format!("{} {}", read.verb, read.rest)
    } else if says(Sign::Forbidden) || read.verb == "want" {
        return super::instruction::without_filler(clause).to_owned();
    } else {
        inner.core.to_owned()
    };
    match framed.core.strip_suffix(inner.core) {
        Some(before) if occasion => format!("{before}{order}"),
        _ => order,
    }
}

/// What speaks for an order to hold beyond the moment.
struct Weighed {
    marked: bool,
    stressed: bool,
    scoped: bool,
    told: bool,
    noted: bool,
    wished: bool,
    occasion: bool,
    recurs: bool,
    terms: bool,
}

impl Weighed {
    /// Whether it holds beyond the moment: also inside a task (`true`), or only on its own (`false`).
    fn lasting(&self, read: &Read, object: Object, core: &str) -> Option<bool> {
        let general = object.is_general();
        let firm = self.marked || self.recurs || self.scoped;
        match read.mood {
            Mood::Absolute => (firm || !points_at_it(read.rest)).then_some(true),
            _ if object.points && !self.marked && !(self.occasion && self.recurs) => None,
            _ if object.product && !self.marked && !(self.occasion && self.recurs) => None,
            _ if self.marked => Some(true),
            _ if self.stressed => (!object.specific).then_some(true),
            _ if self.recurs => Some(self.occasion || self.told || self.noted),
            Mood::Ban if read.verb == "no" => {
                ((self.scoped || core.split_whitespace().count() >= 4) && !object.specific).then_some(self.terms)
            }
            Mood::Ban if self.terms && !begins_with_terms(read.rest) => Some(true),
            Mood::Ban if self.told && general && !object.specific => Some(false),
            Mood::Ban if self.scoped => Some(true),
            Mood::Ban => {
                let settled = general && !object.specific && is_a_habit(&read.verb, object);
                (settled && core.split_whitespace().count() >= 4).then_some(self.noted || self.wished)
            }
            Mood::Habit if self.scoped || self.noted => Some(true),
            Mood::Habit => (general && !object.specific).then_some(false),
            Mood::Obligation => Some(self.scoped || self.noted),
            Mood::Plain if self.occasion => Some(false),
            Mood::Plain if WANTS_A_THING.is_match(read.rest) => None,
            Mood::Plain if object.specific => None,
            Mood::Plain if self.scoped => (general && is_a_way(&read.verb)).then_some(true),
            Mood::Plain if self.told || self.wished || self.noted => {
                (general && read.rest.split_whitespace().count() >= 2 && is_a_way(&read.verb)).then_some(false)
            }
            Mood::Plain => {
                let kept =
                    object.all || self.terms || matches!(read.verb.as_str(), "keep" | "prefer" | "stick" | "only");
                (kept && general && core.split_whitespace().count() >= 4 && is_a_way(&read.verb)).then_some(false)
            }
        }
    }
}

/// "always do it like that" says nothing.
fn points_at_it(rest: &str) -> bool {
    let first = rest.split_whitespace().next().unwrap_or_default().to_lowercase();
    ["it", "this", "that", "them", "these", "those", "so", "him", "her", "me", "us"]
        .contains(&first.trim_end_matches(|c: char| !c.is_alphanumeric()))
}

/// "don't merge without asking" leaves open what.
fn begins_with_terms(rest: &str) -> bool {
    ["without", "unless", "before", "until", "manually", "by hand"]
        .iter()
        .any(|word| rest.to_lowercase().starts_with(word))
}

/// Verbs whose ban is about a habit, as opposed to what must not happen now.
fn is_a_habit(verb: &str, object: Object) -> bool {
    const HABITS: &[&str] = &[
        "add",
        "use",
        "write",
        "put",
        "create",
        "introduce",
        "leave",
        "mock",
        "hardcode",
        "hard-code",
        "import",
        "name",
        "format",
        "wrap",
        "catch",
        "cast",
        "mention",
        "include",
        "generate",
        "explain",
        "summarize",
        "avoid",
        "want",
        "make",
        "swallow",
        "suppress",
        "inline",
        "duplicate",
        "append",
        "prefix",
        "comment",
        "log",
        "print",
        "return",
        "throw",
        "invent",
        "guess",
        "assume",
        "apologize",
        "reformat",
        "ask",
        "amend",
        "bump",
        "abbreviate",
        "rewrite",
        "squash",
        "force-push",
    ];
    HABITS.contains(&verb)
        || ((object.place || object.all) && ["touch", "edit", "modify", "change", "format", "commit"].contains(&verb))
}

/// Verbs of how something is done, as opposed to what is to be done now.
fn is_a_way(verb: &str) -> bool {
    const WAYS: &[&str] = &[
        "use", "keep", "prefer", "write", "follow", "name", "format", "stick", "sign", "prefix", "respond", "reply",
        "answer", "put", "place", "store", "only", "separate", "limit", "treat", "favor", "favour", "commit", "ask",
        "wrap", "avoid", "leave",
    ];
    WAYS.contains(&verb)
}

/// A request in the form of a question asks for good when it says please and forbids, or always.
fn is_asked_for_good(clause: &str, core: &str) -> bool {
    let please = clause.to_lowercase().contains("please");
    let first = core.split_whitespace().next().unwrap_or_default().to_lowercase();
    let rest = core.get(first.len()..).unwrap_or_default();
    let keeps = matches!(first.as_str(), "keep" | "stick" | "writing" | "keeping") && Object::of(rest).is_general();
    first == "stop" || keeps || (please && (ABSOLUTE.is_match(core) || BAN.is_match(core)))
}
