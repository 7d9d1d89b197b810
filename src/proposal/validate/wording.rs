//! Text that must not land: secrets, orders to machines, and the traces of careless writing.

use std::sync::LazyLock;

use regex::bytes::{RegexSet as ByteSet, RegexSetBuilder};
use regex::{Captures, Regex, RegexSet};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::{Candidate, Fault, ReasonCode, hidden};
use crate::wiki::text::fold_space;

/// Refuses a candidate that holds a secret anywhere. The message names the place only.
pub(super) fn secrets(candidate: &Candidate, finds: &dyn Fn(&str) -> bool) -> Result<(), Fault> {
    match texts(candidate).into_iter().find(|(_, text)| finds(text)) {
        None => Ok(()),
        Some((place, _)) => {
            let what = format!("a secret stands in the {place}; say it without the value");
            Err((ReasonCode::ContainsSecret, what))
        }
    }
}

/// Refuses a candidate that gives orders to agents or models, or hides text from the reader.
pub(super) fn overrides(candidate: &Candidate) -> Result<(), Fault> {
    for (place, text) in texts(candidate) {
        if let Some(c) = hidden::first(text, place == "evidence") {
            let what = format!("a hidden character (U+{:04X}) stands in the {place}; take it out", u32::from(c));
            return Err((ReasonCode::ContainsInstructionOverride, what));
        }
        if is_order(text) {
            let what = format!(
                "the {place} reads like an order to agents or models (to ignore instructions, reveal prompts, skip \
                 checks); state the fact instead"
            );
            return Err((ReasonCode::ContainsInstructionOverride, what));
        }
    }
    Ok(())
}

/// Refuses added text with conflict markers.
pub(super) fn conflicts(path: &str, added: &str) -> Result<(), Fault> {
    match (1..).zip(added.lines()).find(|(_, text)| CONFLICT.is_match(text)) {
        None => Ok(()),
        Some((line, _)) => {
            let what = format!("a conflict marker stands in line {line} of what {path} gains; merge the two sides");
            Err((ReasonCode::ConflictMarkers, what))
        }
    }
}

/// Refuses added text with placeholders or marks of left-out text.
pub(super) fn careless(path: &str, added: &str) -> Result<(), Fault> {
    let prose = prose(added);
    for text in added.lines() {
        if LEFT_OUT_ANYWHERE.is_match(text) {
            return Err(left_out(path, text));
        }
    }
    for text in prose.lines() {
        if LEFT_OUT.is_match(text) {
            return Err(left_out(path, text));
        }
        if PLACEHOLDER.is_match(text) {
            let what = format!("\"{}\" in {path} stands for text that was never written; write it", shown(text));
            return Err((ReasonCode::PlaceholderText, what));
        }
    }
    Ok(())
}

fn left_out(path: &str, text: &str) -> Fault {
    let what = format!("\"{}\" in {path} stands for text that was left out; send the whole text", shown(text));
    (ReasonCode::TruncationMarker, what)
}

fn shown(line: &str) -> String {
    line.trim().chars().take(60).collect()
}

/// Every text of a candidate that could reach a page, a commit message or a sidecar, and what it is called.
fn texts(candidate: &Candidate) -> Vec<(&'static str, &str)> {
    let mut all: Vec<(&'static str, &str)> =
        vec![("path", &candidate.path), ("title", &candidate.title), ("rationale", &candidate.rationale)];
    all.extend(candidate.body_markdown.iter().map(|body| ("body", body.as_str())));
    for edit in &candidate.edits {
        all.extend([("edits", edit.anchor.as_str()), ("edits", edit.content.as_str())]);
    }
    for evidence in &candidate.evidence {
        all.extend([("evidence", evidence.source.as_str()), ("evidence", evidence.quote.as_str())]);
    }
    all
}

/// Whether a text tells a machine to leave its instructions or skip its checks. "Never skip the review" does not, nor
/// does a sentence on what programs do: "configs override the existing rules".
pub fn is_order(text: &str) -> bool {
    let orders = |text: &str| OVERRIDES.is_match(FORBIDDEN.replace_all(&plain(text), "keep ").as_bytes());
    let text = TAG_IN_CODE.replace_all(text, "code");
    // What HTML makes of it, too: words with tags and comments between their letters.
    orders(&text) || text.contains(['<', '&']) && orders(&ENTITY.replace_all(&MARKUP.replace_all(&text, ""), decoded))
}

/// The character that a reference of HTML stands for.
fn decoded(found: &Captures<'_>) -> String {
    let number = match (found.get(1), found.get(2)) {
        (Some(digits), _) => digits.as_str().parse().ok(),
        (_, Some(digits)) => u32::from_str_radix(digits.as_str(), 16).ok(),
        _ => Some(u32::from(' ')),
    };
    number.and_then(char::from_u32).map_or_else(|| found[0].to_owned(), String::from)
}

/// Whether a text that is read, rather than proposed, tries to give orders: what [`is_order`] finds, or text that runs
/// against the reading direction.
pub fn reads_like_order(text: &str) -> bool {
    text.contains(['\u{202d}', '\u{202e}']) || is_order(text)
}

/// In ASCII: lower case, compatibility forms and white space folded, accents gone, letters that only look Latin made
/// Latin, tag letters made visible, nothing of zero width between the letters, and one sign for every other character.
/// Lines stay lines.
fn plain(text: &str) -> String {
    let seen = text.nfkd().filter(|c| {
        !matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '*' | '`' | '_')
            && (c.is_ascii() || !is_combining_mark(*c))
    });
    let lines: String = seen.collect();
    let lines = lines.lines().map(|line| fold_space(line).to_lowercase()).filter(|line| !line.is_empty());
    let lower = lines.collect::<Vec<_>>().join("\n");
    if lower.is_ascii() {
        return lower;
    }
    let mut plain = String::with_capacity(lower.len());
    let mut in_tags = false;
    for c in lower.chars() {
        let tag = matches!(c, '\u{e0020}'..='\u{e007e}');
        if tag != in_tags {
            // What they say is no part of the word that they are hung on.
            plain.push(' ');
        }
        in_tags = tag;
        plain.push(looks_like(c));
    }
    plain
}

/// The Latin letter that one of another script is taken for, and the letter behind a tag letter.
fn looks_like(c: char) -> char {
    const OTHER: char = '\u{1a}';
    const ALIKE: [(&str, &str); 4] = [
        ("аеіјокрсухѕһԁԛԝмтвнпгո", "aeijokpcyxshdqwmtbhnro"),
        ("αεικνορτυχ", "aeikvoptux"),
        ("օսհցզ", "ouhgq"),
        ("ıɡȷɩɑ", "igjia"),
    ];
    match c {
        c if c.is_ascii() => return c,
        '\u{2018}' | '\u{2019}' => return '\'',
        '\u{2013}' | '\u{2014}' => return '-',
        '\u{e0020}'..='\u{e007e}' => {
            return char::from_u32(u32::from(c) - 0xe0000).map_or(OTHER, |c| c.to_ascii_lowercase());
        }
        _ => {}
    }
    let found = ALIKE.iter().find_map(|(odd, latin)| odd.chars().zip(latin.chars()).find(|(odd, _)| *odd == c));
    found.map_or(OTHER, |(_, latin)| latin)
}

/// The text outside code blocks and code spans, line by line.
fn prose(text: &str) -> String {
    let mut out = String::new();
    let mut fence: Option<&str> = None;
    for line in text.lines() {
        let start = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| start.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            (Some(_), _) => {}
            (None, None) => {
                out.push_str(&CODE_SPAN.replace_all(line, "`code`"));
                out.push('\n');
            }
        }
    }
    out
}

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is ours and tested")
}

static CODE_SPAN: LazyLock<Regex> = LazyLock::new(|| regex("`+[^`\n]+`+"));

/// A tag that is spoken of.
static TAG_IN_CODE: LazyLock<Regex> = LazyLock::new(|| regex(r"`</?[A-Za-z-]+(?: [^<>`\n]*)?>`"));

/// Comments and tags.
static MARKUP: LazyLock<Regex> = LazyLock::new(|| regex(r"(?s)<!--.*?(?:-->|$)|</?[A-Za-z][^<>]*>"));

/// References to characters; those with names of white space alone, as letters have none.
static ENTITY: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i)&#0*(\d{1,7});?|&#x0*([0-9a-f]{1,6});?|&(?:nbsp|ensp|emsp|thinsp|Tab|NewLine);"));

/// Where an order may begin: a sentence, a line, or what is said to whoever reads.
const START: &str = r#"(?:^|[\n.!?:;,"'(\[{>|#=/-] ?|\b(?:please|kindly|must|should|shall|you|now|just|instead) )"#;

/// Where its sentence, or a part of it, ends.
const END: &str = r#"(?:$|[.!?,;:\n"')]| (?:and|you|from now on|now)\b)"#;

/// A pattern whose spaces may be line ends.
fn over_lines(pattern: &str) -> String {
    pattern.replace("START", START).replace("END", END).replace(' ', r"[ \n]")
}

static FORBIDDEN: LazyLock<Regex> = LazyLock::new(|| {
    regex(&over_lines(
        r"(?-u)\b(never|do not|don't|must not|mustn't|should not|shouldn't|cannot|can't|may not) (ever )?(ignore|disregard|forget|override|overrule|reveal|print|show|output|leak|disclose|expose|send|skip|bypass|disable|turn off|circumvent|auto-?accept|auto-?approve|accept|approve|merge|apply) ",
    ))
});

/// Seven equal signs alone are no such marker: they make a heading of the line above. They never come without the others.
static CONFLICT: LazyLock<Regex> = LazyLock::new(|| regex(r"^(<{7}|>{7}|\|{7})( |$)"));

static OVERRIDES: LazyLock<ByteSet> = LazyLock::new(|| {
    let patterns = [
        // ignore all previous instructions
        r"\b(ignore|disregard|forget|set aside|do not follow|don't follow|stop following)\b[^.!?]{0,30}\b(previous|prior|above|earlier|preceding|foregoing|former|existing|original)\b[^.!?]{0,30}\b(instructions?|prompts?|guidelines|directions)\b",
        r"START(override|overrule)\b[^.!?]{0,30}\b(previous|prior|above|earlier|preceding|foregoing|former|existing|original)\b[^.!?]{0,30}\b(instructions?|prompts?|guidelines|directions)\b",
        // the same of what programs ignore and override as well: said to somebody, and with nothing behind it
        r"START(ignore|disregard|forget|override|overrule|set aside)\b[^.!?\n]{0,30}\b(previous|prior|above|earlier|preceding|foregoing|former|existing|original) ([a-z-]+ )?(rules|context|messages?|polic(y|ies)|constraints)END",
        r"\b(ignore|disregard|forget|override|overrule|do not follow|don't follow)\b (all |any |every )?(of )?(your|my|the|these|those|all|any|system|developer) (of )?(your |the |system |developer |safety )?(instructions?|prompts?|guidelines|programming|training|system prompt)\b",
        r"\b(ignore|disregard|forget) everything (above|before|you|i)\b",
        // you are now …
        r"\byou are now (an? |the |acting|free|unrestricted|jailbroken|dan\b|my |no longer)",
        r"\byou are now in (developer|god|admin|debug|maintenance|dan|root|unrestricted) mode\b",
        r"\byou are no longer (bound|restricted|limited|required|subject|an? )",
        // reveal your system prompt
        r"\b(reveal|print|show|output|repeat|leak|disclose|expose|recite|send)\b[^.!?]{0,30}\b(your (system |hidden |initial |secret |developer )*|(the |any )?(system|hidden|initial|secret|developer) )(prompt|instructions)\b",
        r"\b(new|updated|real|actual|true) system (prompt|instructions?)\b",
        r"\bsystem prompt ?[:=]",
        r"\bnew instructions? ?:",
        // tags that agent programs use for their own words
        r"</?\s*(system-reminder|system-?prompt|system-?message|importantinstructions)( [^<>]{0,60})?\s*>",
        // alone it is an element of many formats, with a word or two in it
        r"<\s*system( [^<>]{0,60})?\s*> ?([^ <>\n]+ ){3}",
        r"<\|(im-?start|imstart|im-?end|imend|system|endoftext|startheaderid)\|?>",
        r"\[/?inst\]|<<sys>>",
        // addressed to machines
        r"\b(important|attention|note|notice|message|reminder)[ :,]*(for|to) (all |any |every )?(other |future )?(ai|llms?|language models?|memory systems?)\b",
        r"\battention[ :,!]*(all |any |every )?(ai|llms?|language models?|agents?|assistants?)\b",
        r"\bimportant[ :,!]*(all |any |every )?(ai|llms?|language models?) (agents?|assistants?|models?|systems?|must|should)\b",
        r"\b(note|message|instructions?|reminder) (for|to) (all |any |every )?(other |future )?(agents?|assistants?|models?)\b[a-z ,:]{0,30}\b(must|should|trust|obey)\b",
        // the end of the block that our own prompts put data into
        r"=== ?(end|data) [0-9a-f]{8,} ?===",
        // addressed to whoever grades
        r"\b(note|message|instructions?|reminder|word) (to|for) (the |any |every )?(judges?|graders?|evaluators?)\b",
        r"\bjudges? ?[:,] ?(please )?(pass|score|rate|grade|give|approve|accept)\b",
        r"\b(rate|score|grade|give|mark)\b[^.!?]{0,25}\b(every|each|all)\b[^.!?]{0,12}\bcriteri(on|a)\b[^.!?]{0,30}\b(5|five|full|highest|maximum|top|pass)\b",
        r"\b(rate|score|grade) (this|it)\b[^.!?]{0,30}\b(5|five|full marks|highest|maximum)\b",
        // skip the checks, change the policy
        r"\b(skip|bypass|disable|turn off|circumvent|ignore)\b[^.!?]{0,20}\b(guardrails?|human review|safety (checks?|rules|filters?|guidelines)|review gate|memory (polic(y|ies)|validation|review)|validation gates?)\b",
        r"START(skip|bypass|disable|turn off|circumvent|ignore) (the |all |any |every |human |user )*(approvals?|judges?)( (for|of) (this|these|all|every|any)\b|END)",
        r"\b(set|change|switch|turn)\b[^.!?]{0,20}\b(approval|memory|review)[ .](policy|mode) ?(to|=|into) ?.?(all|none|auto|off)\b",
        r"\b(accept|approve|merge|apply) this (proposal|page|memory|rule|change) (automatically|without (a )?(review|asking|approval)|immediately|at once)\b",
        r"\bauto-?(accept|approve) (this|(this|all|every) (proposal|page|memor(y|ies)|rule|change)s?)END",
        // behind the person's back
        r"\b(do not|don't|never) (tell|inform|notify|alert|mention (this|it) to) (the )?(user|human|developer|operator|reviewer)s? (about|of|that|for) (this|these|it|what)\b",
    ];
    // They meet ASCII alone; a set that knew of all letters would be made ten times as slowly.
    RegexSetBuilder::new(patterns.map(over_lines)).unicode(false).build().expect("the patterns are ours and tested")
});

static PLACEHOLDER: LazyLock<RegexSet> = LazyLock::new(|| {
    RegexSet::new([
        r"(?i)\b(todo|fixme|tbd)\b:? *(fill|add|write|describe|complete|insert|expand|document)\b",
        r"(?i)^[\s>*+-]*(todo|tbd|fixme|to be (done|written|determined|filled in)|n/?a|lorem|xxx+)[.:…\s]*$",
        r"(?i)\blorem ipsum\b",
        r"(?i)<(insert|your|add|describe|fill|enter|put|placeholder|todo)\b[^<>\n]{0,60}>",
        r"(?i)\[(insert|your|add|describe|fill in|enter|placeholder|todo)\b[^\]\n]{0,60}\]([^(\[]|$)",
        r"(?i)\{\{ *((page|your|insert)[a-z_ ]*|title|body|content|text|description|summary|placeholder|todo) *\}\}",
        r"(?i)^[\s>*+#-]*\{\{ *[a-z_ ]+ *\}\}[.\s]*$",
        r"(?i)\b(content|text|description|details) (goes|go|comes|will go) here\b",
        r"(?i)^[\s>*+-]*(i have|i've) (now )?(improved|updated|revised|rewritten|enhanced|cleaned[- ]up)\b",
        r"(?i)^[\s>*+-]*(here is|here's|below is|this is) (the |an |a )?(improved|updated|revised|rewritten|enhanced|cleaned[- ]up) (version|page|text|note|document|content|section|markdown|file|entry|body)\b",
        r"(?i)^[\s>*+-]*(sure|certainly|of course)[,!.] (here('s| is| are)|i( have|'ve))\b",
    ])
    .expect("the patterns are ours and tested")
});

static LEFT_OUT: LazyLock<RegexSet> = LazyLock::new(|| {
    RegexSet::new([
        r"(?i)\[[\s.…]*(truncated|snip|snipped|cut|omitted|continued|shortened|(content|text|output|rest)[a-z ]* (continues|truncated|omitted|continued|unchanged))[^\]\n]{0,40}\]([^(\[]|$)",
        r"(?i)\([\s.…]*(the )?(content|text|section|page|list|rest) (is )?(continues|continued|truncated|omitted|unchanged)( (below|above|here|as before|for brevity))?[\s.…]*\)",
        r"(?i)^[\s>*+-]*\([\s.…]*(continues|continued|truncated|omitted|unchanged|snip)( (below|above|here|as before|for brevity))?[\s.…]*\)\s*$",
        r"(?i)\b\d+ (more |further )?(characters|chars|bytes|lines|tokens|words) (truncated|omitted|left out|elided)\b",
        r"^[\s>*+-]*(\.{3,}|…)\s*$",
        r"(?i)\bomitted for brevity\b",
        r"(?i)<!-- *(truncated|rest|remaining|remainder|unchanged|existing|omitted)\b",
    ])
    .expect("the patterns are ours and tested")
});

/// Signs that mean left-out text in code too.
static LEFT_OUT_ANYWHERE: LazyLock<RegexSet> = LazyLock::new(|| {
    RegexSet::new([
        r"(?i)(\.{3}|…) *\(?(the )?(rest|remaining|remainder|existing|previous|other)\b[a-z ]* *(content|text|code|sections?|lines|unchanged|omitted|as before|same|page|file)",
        r"(?i)(^|[.!?] )[\s>*+/#;(\[<!.…-]*(the )?(rest|remainder) (of (the |this )?(file|page|content|section|document|text) )?(is |remains |stays )?(unchanged|omitted|the same|as before)[\s.)\]*/>-]*$",
    ])
    .expect("the patterns are ours and tested")
});

#[cfg(test)]
#[path = "../tests/wording.rs"]
mod tests;
