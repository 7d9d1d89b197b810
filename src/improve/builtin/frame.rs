//! What stands around an order and says how it is meant: "from now on", "I'd prefer if you", "in this repo".

use std::sync::LazyLock;

use regex::Regex;

/// What the words around an order say of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// It holds from now on, or is a rule of the house.
    Lasting,
    /// It holds in the project.
    Scope,
    /// It is worth knowing.
    Noted,
    /// You must, I want you to, make sure to.
    Told,
    /// Let's, we should.
    Proposed,
    /// "…, always", "…, ever".
    Stressed,
    /// You must not, I don't want you to: what follows is forbidden.
    Forbidden,
    /// I'd prefer if you, I like.
    Wished,
    /// Could you please.
    Asked,
    /// The agent was told before, or keeps doing the wrong thing.
    Reproach,
}

/// Openings, the longer before the shorter that begin like it. A space stands for any white space.
const OPENINGS: &[(Sign, &str)] = &[
    (Sign::Lasting, r"from (?:now|here|this point) on(?:wards?)?(?: out)?"),
    (
        Sign::Lasting,
        r"(?:going|moving) forward|in (?:the )?future|henceforth|for (?:all )?future (?:reference|sessions|work|tasks|changes)",
    ),
    (Sign::Lasting, r"(?:the )?next time(?:,| please)"),
    (
        Sign::Lasting,
        r"as a (?:general )?rule(?: of thumb)?|(?:a )?(?:good )?rule of thumb(?: here)?(?: is)?|in general|by convention|by default",
    ),
    (
        Sign::Lasting,
        r"(?:(?:it's|it is) )?(?:house|team|project|our|the|company|my|general|a|one)(?: team's| team| project)? (?:rule|policy|convention|standard|guideline|style)s?(?: here| in this (?:repo|project|team))?(?: (?:is|are)(?: that| to)?| to|:)",
    ),
    (Sign::Lasting, r"(?:convention|policy)(?: here)?(?: is|:)"),
    (Sign::Lasting, r"(?:one more|another|one|a new|new|general) rule(?: of ours| here)?:"),
    (Sign::Lasting, r"(?:let's )?(?:get into|make it|make that|be in) (?:a|the) habit (?:of|to)"),
    (Sign::Lasting, r"(?:as a team,? )?we(?:'ve| have)? (?:all )?agreed that"),
    (Sign::Lasting, r"(?:as|like) (?:always|usual)(?: in this (?:repo|project|codebase)| here)?[,:]"),
    (Sign::Lasting, r"(?:remind yourself|remember|note)(?: for (?:later|next time|the future))(?: that| to|:)?"),
    (
        Sign::Lasting,
        r"(?:one |a |another |quick )?(?:thing|note|tip|reminder|lesson)(?: to (?:remember|keep in mind))? for (?:the future|next time|later|(?:next|later|future) sessions?)",
    ),
    (Sign::Lasting, r"(?:it's|it is) (?:really |very |super )?important (?:that|to)"),
    (
        Sign::Scope,
        r"(?:in|for|on|within|across|throughout) (?:this|our|the whole|the|all our|the entire) (?:\w+ )?(?:repo|repository|project|codebase|code base|workspace|monorepo|team|wiki|org|crate|package|app|service|shop)s?",
    ),
    (Sign::Scope, r"(?:around )?here"),
    (Sign::Noted, r"remember(?: that| to)?|don't forget(?: that| to)?"),
    (
        Sign::Noted,
        r"(?:please )?(?:note|keep in mind|bear in mind|be aware|mind)(?: that)?|fyi|btw|by the way|heads[- ]up|just so you know|(?:very )?important|one gotcha|gotcha",
    ),
    (Sign::Noted, r"(?:a |one )?(?:quick |small |friendly |last )?(?:reminder|note)"),
    (Sign::Forbidden, r"you (?:must not|mustn't|should not|shouldn't|are not allowed to|aren't allowed to|may not)"),
    (Sign::Forbidden, r"(?:can|could|would|will) you (?:please |pls )?not"),
    (
        Sign::Forbidden,
        r"i(?:'m| am)? (?:really |just )?(?:don't like|do not like|hate|dislike|can't stand|not a (?:big )?fan of|allergic to)(?: it when| seeing)?",
    ),
    (Sign::Forbidden, r"i (?:really )?(?:don't|do not) (?:ever )?want(?: you to| to see)?(?: any| new| more)*"),
    (Sign::Told, r"you (?:must|should|have to|need to|ought to|are to|shall)|you're to"),
    (Sign::Told, r"i (?:really )?(?:want|need|expect|would like|'d like) you to|i'd like you to"),
    (Sign::Told, r"(?:make|be) sure(?: to| that you| that we| that| you| we)?"),
    (Sign::Proposed, r"let's|try to|we (?:should|must|have to|need to)"),
    (
        Sign::Wished,
        r"i(?:'d| would) (?:really |much )?(?:prefer|rather|like|love|appreciate)(?: it)?(?: if| that| when)? (?:you|we)(?: would| could| to)?",
    ),
    (
        Sign::Wished,
        r"(?:it'd|it would) be (?:great|nice|good|helpful|lovely|better) if (?:you|we)(?: would| could| can)?",
    ),
    (Sign::Wished, r"my preference (?:is|would be)(?: to| that you| that we)?"),
    (Sign::Asked, r"would you mind|(?:can|could) we(?: (?:please|pls))?"),
    (Sign::Asked, r"(?:can|could|would|will) you(?: (?:please|pls|kindly))?"),
    (
        Sign::Reproach,
        r"how (?:often|many times) (?:do|must) i (?:have to |need to )?(?:say|tell|repeat)(?: it| this| that| you)*",
    ),
    (
        Sign::Reproach,
        r"i(?:'ve| have)?(?: already)? (?:told|asked|said)(?: you| this| it)*(?: before| already| again| many times| twice)*",
    ),
    (Sign::Reproach, r"(?:as|like) (?:i (?:already )?)?(?:said|mentioned)(?: before| earlier)?"),
    (Sign::Reproach, r"you (?:keep|kept|always|again) \w+ing [^.:;,\x{2013}\x{2014}]{2,60}?(?:,| -|;|:| \x{2014})"),
    (Sign::Reproach, r"you forgot [^.:;,\x{2013}\x{2014}]{2,50}? again(?:,| -|;|:| \x{2014})?"),
];

/// Endings.
const ENDINGS: &[(Sign, &str)] = &[
    (
        Sign::Lasting,
        r"from now on(?:wards)?|going forward|moving forward|in (?:the )?future|as a (?:general )?rule|no matter what|no exceptions",
    ),
    (Sign::Stressed, r"(?:ever|always)"),
    (
        Sign::Scope,
        r"(?:in|for|on|within|across|throughout) (?:this|our|the whole|the entire|all our) (?:\w+ )?(?:repo|repository|project|codebase|code base|workspace|monorepo|team|wiki|org|app|service)s?",
    ),
    (Sign::Scope, r"(?:around )?here"),
];

fn table(rows: &'static [(Sign, &'static str)], form: impl Fn(&str) -> String) -> Vec<(Sign, Regex)> {
    rows.iter().map(|(sign, words)| (*sign, Regex::new(&form(words)).expect("a fixed pattern"))).collect()
}

static OPEN: LazyLock<Vec<(Sign, Regex)>> = LazyLock::new(|| {
    table(OPENINGS, |words| {
        format!(r"(?i)^(?:please )?(?:{words})(?:\s*[,:;\x{{2013}}\x{{2014}}-]+\s*|\s+)(?:please )?")
    })
});
static CLOSE: LazyLock<Vec<(Sign, Regex)>> = LazyLock::new(|| {
    table(ENDINGS, |words| {
        let comma = if words.starts_with("(?:ever") {
            r"(?:,\s*|\s[\x{2013}\x{2014}-]\s)"
        } else {
            r"[,\s]+(?:[\x{2013}\x{2014}-]\s)?"
        };
        format!(r"(?i){comma}(?:{words})\s*[.!]*$")
    })
});
static POLITE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)[,\s]+(?:please|pls|thanks|thank you|ok|okay)\s*[.!?]*$").expect("a fixed pattern")
});

/// A clause without what stands around it.
#[derive(Debug, Clone)]
pub struct Framed<'t> {
    /// What is left.
    pub core: &'t str,
    /// What was said around it, in the order in which it was found.
    pub signs: Vec<Sign>,
}

impl Framed<'_> {
    /// Whether the words around it say this.
    pub fn says(&self, sign: Sign) -> bool {
        self.signs.contains(&sign)
    }
}

/// Whether a sentence begins with words that say how it is meant.
pub fn is_opened(sentence: &str) -> bool {
    OPEN.iter().any(|(_, pattern)| pattern.is_match(sentence))
}

/// Takes off what stands before and after an order.
pub fn open(clause: &str) -> Framed<'_> {
    let mut framed = Framed { core: clause.trim(), signs: Vec::new() };
    loop {
        let opening = |text: &str| OPEN.iter().find_map(|(sign, pattern)| Some((*sign, pattern.find(text)?.end())));
        // "just so you know" before "just", which says nothing.
        let (core, found) = match opening(framed.core) {
            Some(found) => (framed.core, Some(found)),
            None => {
                let bare = super::instruction::without_filler(framed.core);
                (bare, opening(bare))
            }
        };
        let Some((sign, end)) = found.filter(|(_, end)| *end < core.len()) else {
            framed.core = core;
            break;
        };
        framed.signs.push(sign);
        framed.core = &core[end..];
    }
    loop {
        let core = framed.core.trim_end_matches([',', ' ']);
        let core = POLITE.find(core).map_or(core, |found| &core[..found.start()]);
        let found = CLOSE.iter().find_map(|(sign, pattern)| Some((*sign, pattern.find(core)?.start())));
        let Some((sign, start)) = found.filter(|(_, start)| *start > 0) else {
            framed.core = core;
            break;
        };
        framed.signs.push(sign);
        framed.core = &core[..start];
    }
    framed
}
