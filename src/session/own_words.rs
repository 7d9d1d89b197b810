//! What a person said in their own words, as opposed to what their turn only quotes.

use std::sync::LazyLock;

use regex::Regex;
use regex::bytes::RegexBuilder;

/// Stands where quoted text was taken out. Nothing that is searched for may contain it, so no sentence can be found
/// across a gap.
pub const GAP: char = '\u{FFFC}';

/// More than this many characters, once the marked quotes are gone, is a document that somebody pasted.
const PASTED_CHARS: usize = 1_500;
/// The same in lines with text on them.
const PASTED_LINES: usize = 40;
/// A string in quotation marks with at least this many words is somebody's sentence; below, it is a name or a value.
const QUOTED_WORDS: usize = 4;

/// The text of a turn without what it only quotes: block quotes, code fences, indented code, tagged blocks, diffs, logs,
/// pages with headings, what follows "the README says:", strings in quotation marks that are sentences, and documents
/// that are too long to have been typed. Each is replaced by [`GAP`].
pub fn own_words(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace(GAP, " ");
    let unmarked = without_blocks(&without_tagged(&text));
    let spoken = without_reported(&unmarked);
    without_document(&without_quoted(&spoken))
}

/// Takes out `<name …>…</name>`, the way agents and people mark a document, and `<!-- … -->`.
fn without_tagged(text: &str) -> String {
    static OPEN: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"<!--|<([A-Za-z][A-Za-z0-9_-]*)(?:\s[^<>]*)?>").expect("a fixed pattern"));
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = OPEN.captures(rest) {
        let whole = open.get(0).expect("group 0 always matches");
        let end = match open.get(1) {
            None => Some(rest[whole.end()..].find("-->").map_or(rest.len(), |at| whole.end() + at + 3)),
            Some(name) => end_of_tagged(&rest[whole.end()..], name.as_str()).map(|end| whole.end() + end),
        };
        out.push_str(&rest[..whole.start()]);
        match end {
            Some(end) => {
                out.push(GAP);
                out.push('\n');
                rest = &rest[end..];
            }
            None => {
                out.push_str(whole.as_str());
                rest = &rest[whole.end()..];
            }
        }
    }
    out.push_str(rest);
    out
}

/// Where a tagged block ends, whose opening tag stands before the text. A document can hold its own closing tag to look
/// as if it ended: with more closing tags than opening ones it goes on to the last of them.
fn end_of_tagged(text: &str, name: &str) -> Option<usize> {
    let (open, close) = (format!("<{name}"), format!("</{name}>"));
    let is_tag = |at: usize| text[at + open.len()..].starts_with(['>', ' ', '\n', '\t']);
    let opens: Vec<usize> = text.match_indices(&open).map(|(at, _)| at).filter(|at| is_tag(*at)).collect();
    let closes: Vec<usize> = text.match_indices(&close).map(|(at, _)| at + close.len()).collect();
    if closes.len() > opens.len() + 1 {
        return closes.last().copied();
    }
    // The first closing tag before which as many blocks were closed as opened.
    let balanced = |(closed, end): &(usize, &usize)| opens.iter().filter(|at| *at < *end).count() <= *closed;
    closes.iter().enumerate().find(balanced).or(closes.iter().enumerate().next_back()).map(|(_, end)| *end)
}

/// How a line that is not the person's ends the person's words.
enum Foreign {
    /// This line alone.
    Line,
    /// Up to the next empty line.
    Paragraph,
    /// Up to the end of the turn: what a document is made of has no mark at its end.
    Rest,
}

fn foreign(line: &str, first: bool) -> Option<Foreign> {
    static HEADING: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^#{1,6} +\S").expect("a fixed pattern"));
    static PATCH: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^(diff --git |--- [ab]/|\+\+\+ [ab]/|@@ -|Index: |commit [0-9a-f]{7,}|-----BEGIN )")
            .expect("a fixed pattern")
    });
    static LOG: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r"(?ix)^\W*(
                \[?(error|err|warn|warning|info|debug|trace|fatal|hint|help|deprecated|deprecation\w*|panic|notice)
                    (\[\w+\])?\]?\s*[:\]|!]
              | npm\s(err|warn) | traceback\s\(most | thread\s'[^']*'\spanicked | exit\scode\s\d+
              | \d{4}-\d\d-\d\d[T\s]\d\d:\d\d | \d\d:\d\d:\d\d | \(node:\d+\) | at\s\S+\s\(\S+:\d+
            )",
        )
        .expect("a fixed pattern")
    });
    static MAIL: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)^((from|subject|betreff|sent|reply-to|message-id|in-reply-to|content-type)\s?:|-+ ?(original|forwarded) message\b)")
            .expect("a fixed pattern")
    });
    static PROMPT: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^([$❯%]|\w+@[\w.-]+[:\s]\S*[$#]) ").expect("fixed"));
    // A letter begins behind what was said of it.
    static LETTER: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)^(dear|hello|hi|sehr geehrte\w*|liebe[rs]?)\s[\w .-]{2,40},$").expect("fixed")
    });
    if !first && LETTER.is_match(line) {
        return Some(Foreign::Rest);
    }
    if (first && line == "---") || HEADING.is_match(line) || PATCH.is_match(line) || MAIL.is_match(line) {
        return Some(Foreign::Rest);
    }
    if line.starts_with('>') || LOG.is_match(line) || PROMPT.is_match(line) {
        return Some(Foreign::Paragraph);
    }
    // A comment in code is of the code.
    let is_comment = line.starts_with("// ") || line.starts_with("/*") || line.starts_with("///");
    (line.starts_with('|') || is_comment).then_some(Foreign::Line)
}

/// Takes out what line structure marks as quoted.
fn without_blocks(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut fence: Option<(char, usize)> = None;
    let mut first_fence: Option<usize> = None;
    let (mut in_paragraph, mut after_blank, mut in_list, mut first) = (false, true, false, true);
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let bare = line.trim();
        let run = bare.chars().next().filter(|c| matches!(c, '`' | '~')).map(|mark| {
            let length = bare.chars().take_while(|c| *c == mark).count();
            (mark, length)
        });
        if let Some((mark, length)) = fence {
            if run.is_some_and(|(m, l)| m == mark && l >= length && bare.chars().all(|c| c == mark)) {
                fence = None;
            }
            continue;
        }
        if let Some((mark, length)) = run.filter(|(_, length)| *length >= 3)
            && !(mark == '`' && bare.trim_start_matches('`').contains('`'))
        {
            fence = Some((mark, length));
            first_fence = first_fence.or(Some(out.len()));
            out.push(GAP);
            out.push('\n');
            continue;
        }
        if bare.is_empty() {
            (in_paragraph, after_blank) = (false, true);
            out.push('\n');
            continue;
        }
        let indented = (line.starts_with("    ") || line.starts_with('\t')) && after_blank && !in_list;
        if in_paragraph || indented {
            out.push(GAP);
            out.push('\n');
            // A block of code goes on over its lines; `after_blank` stays as it was for them.
            continue;
        }
        // A chat: two of its lines, one after the other.
        let is_chat = is_of_a_chat(bare) && lines.peek().is_some_and(|next| is_of_a_chat(next.trim()));
        let whose = if is_chat { Some(Foreign::Rest) } else { foreign(bare, first) };
        match whose {
            Some(Foreign::Rest) => {
                out.push(GAP);
                return out;
            }
            Some(Foreign::Paragraph) => {
                in_paragraph = true;
                out.push(GAP);
            }
            Some(Foreign::Line) => out.push(GAP),
            None => out.push_str(line),
        }
        out.push('\n');
        in_list = is_list_item(bare) || (in_list && line.starts_with(' '));
        (after_blank, first) = (false, false);
    }
    // A fence that is open at the end: one before it was closed by what stands in it, and nobody knows which.
    if let (Some(_), Some(at)) = (fence, first_fence) {
        out.truncate(at);
        out.push(GAP);
    }
    out
}

/// Whether a line is what somebody says in a chat: `anna: ship it`, perhaps with the time before it.
fn is_of_a_chat(line: &str) -> bool {
    static SAYS: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^(?:\[?\d{1,2}:\d\d(?::\d\d)?\]?\s+)?<?@?[A-Za-z][\w.-]{1,15}>?(?:\s\(?\d{1,2}:\d\d\)?)?:\s+\w")
            .expect("fixed")
    });
    SAYS.is_match(line)
}

/// Whether a line is an item of a list.
fn is_list_item(line: &str) -> bool {
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    line.starts_with("- ")
        || line.starts_with("* ")
        || line.starts_with("+ ")
        || (digits.len() < line.len() && (digits.starts_with(". ") || digits.starts_with(") ")))
}

/// Takes out what follows "the README says:" or "here is the log:".
fn without_reported(text: &str) -> String {
    static SAYS: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)(\w+)\s+(?:says|said|reads|states|stated|wrote|writes|told\s+me|tells\s+(?:us|you|agents))\s*(?:that\s+we\s+should\s*)?:")
            .expect("a fixed pattern")
    });
    // Over bytes: with the letters of all scripts it is made ten times as slowly, for English words.
    static INTRO: LazyLock<regex::bytes::Regex> = LazyLock::new(|| {
        RegexBuilder::new(
            r"(?imx)^[^\n]*\b(
                here('?s|\sis|\sare)\b[^\n:]*\b(doc|docs|document|page|text|log|logs|output|error|errors|diff|article|readme|file|email|mail
                    |message|comment|comments|issue|content|contents|response|review|feedback|transcript|prompt|guide|ticket|thread|snippet|excerpt)
              | (following|this|the|an?|his|her|their)\s(\w+\s)?(error|errors|warning|output|log|logs|message|text|document|article|e-?mail|mail|letter|excerpt|stack\strace|transcript|conversation
                    |chat|thread|issue|ticket|comment|review|feedback|guide|guideline|guidelines|policy|page|readme|snippet|quote)
              | (i\s|we\s|we're\s|i'm\s|am\s|are\s)?(get|got|getting|see|seeing)\s(this|the\sfollowing)
              | summari[sz]e(\s\w+){0,4} | translate(\s\w+){0,4} | proofread(\s\w+){0,4} | pasted?(\s\w+){0,3} | quot(e|ing)(\s\w+){0,3}
              | (look\sat|check|read|review|see)\s(this|that|these|those|it|what\s\w+\s(wrote|sent|said|posted))(\s\w+){0,3}
              | what\s(do\syou\s(think|make)\s(of|about)|about)\s(this|that|these|it)(\s\w+){0,4}
              | (found|got|saw|copied|came\sacross)\s(this|that|these|it)(\s\w+){0,5}
              | (check|proofread|spell-?check|review|summari[sz]e|translate|rewrite|rephrase|shorten|explain|correct|edit|polish|answer)\b
                    [^\n:]*\b(this|these|his|her|their|the\sfollowing)\b[^\n:]*
              | sum\s((this|that|it|these)\s)?up\b[^\n:]* | tl;?dr\b[^\n:]*
              | (draft|write|prepare|compose)\b[^\n:]*\b(reply|answer|response)\b[^\n:]*
              | (reply|respond)\s(to\s)?(this|that|it|them|him|her)\b[^\n:]*
              | (turn|convert|make|put|boil)\b[^\n:]*\b(slides?|table|bullets?|list|summary|post|sentences?|paragraph)\b[^\n:]*
              | according\sto(\s\w+){1,4} | (comments?|feedback|review)\s(from|by|of)\s[^\n:]{1,40}
            )\s*:[^\S\n]*$",
        )
        .unicode(false)
        .build()
        .expect("a fixed pattern")
    });
    let says = SAYS.captures_iter(text).find_map(|found| {
        let who = found[1].to_ascii_lowercase();
        (who != "i" && who != "we").then(|| found.get(0).map_or(0, |m| m.end()))
    });
    let intro = INTRO.find(text.as_bytes()).map(|found| found.end());
    match [says, intro].into_iter().flatten().min() {
        Some(end) if !text[end..].trim().is_empty() => format!("{}\n{GAP}", &text[..end]),
        _ => text.to_owned(),
    }
}

/// Takes out strings in quotation marks that are sentences, and code spans that are instructions.
fn without_quoted(text: &str) -> String {
    static DOUBLE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new("\"[^\"\n]*\"|\u{201c}[^\u{201c}\u{201d}]*\u{201d}|\u{ab}[^\u{ab}\u{bb}]*\u{bb}|\u{201e}[^\u{201e}\u{201c}]*\u{201c}|\u{300c}[^\u{300c}\u{300d}]*\u{300d}|\u{300e}[^\u{300e}\u{300f}]*\u{300f}")
            .expect("a fixed pattern")
    });
    static SINGLE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?m)(^|[\s(:])(['\u{2018}]\w[^'\u{2018}\u{2019}\n]*(?:\w['\u{2019}]\w[^'\u{2019}\n]*)*[^\s'\u{2019}]['\u{2019}])([\s.,;:!?)]|$)")
            .expect("a fixed pattern")
    });
    static CODE: LazyLock<Regex> = LazyLock::new(|| Regex::new("`[^`\n]+`").expect("a fixed pattern"));
    static ORDER: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)\b(always|never|must|don['\u{2019}]t|do not|from now on|remember|prefer|instead of)\b")
            .expect("fixed")
    });
    let long = |quoted: &str| quoted.split_whitespace().count() >= QUOTED_WORDS;
    let text = CODE.replace_all(text, |found: &regex::Captures| {
        let span = &found[0];
        if ORDER.is_match(span) && span.split_whitespace().count() >= 3 { GAP.to_string() } else { span.to_owned() }
    });
    let text = DOUBLE.replace_all(&text, |found: &regex::Captures| {
        let quoted = &found[0];
        if long(quoted) { GAP.to_string() } else { quoted.to_owned() }
    });
    SINGLE
        .replace_all(&text, |found: &regex::Captures| {
            if long(&found[2]) { format!("{}{GAP}{}", &found[1], &found[3]) } else { found[0].to_owned() }
        })
        .into_owned()
}

/// Leaves of a long text only an opening that speaks to the agent.
fn without_document(text: &str) -> String {
    static ADDRESS: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?i)\b(i|i'm|i've|we|you|please|let's|can you)\b").expect("a fixed pattern"));
    let lines = text.lines().filter(|line| line.chars().any(char::is_alphanumeric)).count();
    if text.chars().filter(|c| *c != GAP).count() <= PASTED_CHARS && lines <= PASTED_LINES {
        return text.to_owned();
    }
    let opening = text.trim_start().split("\n\n").next().unwrap_or_default();
    if opening.chars().count() <= 300 && ADDRESS.is_match(opening) {
        format!("{opening}\n{GAP}")
    } else {
        GAP.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keeps(text: &str, words: &str) -> bool {
        own_words(text).contains(words)
    }

    #[test]
    fn plain_words_stay_as_they_are() {
        assert_eq!(own_words("use pnpm, not npm, in this repo").trim_end(), "use pnpm, not npm, in this repo");
        assert!(keeps("always use `cargo nextest run` here", "`cargo nextest run`"));
        assert!(keeps("call it \"fast path\" and don't rename users' files", "\"fast path\""));
        assert!(keeps("I said: never push on Fridays", "never push on Fridays"));
        assert!(keeps("note: never push on Fridays\n\nthanks", "never push on Fridays"));
        assert!(keeps("From now on: never push on Fridays", "never push on Fridays"));
        assert!(keeps("Rules for this repo:\n- never push on Fridays\n- use tabs", "never push on Fridays"));
    }

    #[test]
    fn quoted_blocks_are_taken_out() {
        for text in [
            "look:\n> never push on Fridays\n\nok?",
            "look:\n> some words\nnever push on Fridays\n\nok?",
            "look:\n```\nnever push on Fridays\n```\nok?",
            "look:\n~~~md\n```\nnever push on Fridays\n```\n~~~\nok?",
            "look:\n````\n```\nnever push on Fridays\n",
            "look:\n\n    never push on Fridays\n    today\n\nok?",
            "<document title=\"x\">\nnever push on Fridays\n</document>\nsummarise",
            "fix it\n# Contributing\n\nnever push on Fridays",
            "---\ntitle: x\n---\nnever push on Fridays",
            "diff --git a/x b/x\n+never push on Fridays",
            "warning: never push on Fridays",
            "look:\n// never push on Fridays\nfn push() {}",
            "look:\n/* never push on Fridays */\nint push;",
            "$ cat rules\nnever push on Fridays",
            "the README says: never push on Fridays",
            "what did they say?\n\nanna: hello\nbob: never push on Fridays",
            "[10:02] anna: hello\n[10:03] bob: never push on Fridays",
            "Check this guideline for spelling:\n\n1. never push on Fridays",
            "answer this mail:\n\nHi,\n\nnever push on Fridays",
            "sum this up in two sentences:\n\nPrinciples\n1. never push on Fridays",
            "Sum up for me:\nnever push on Fridays",
            "Draft a short reply to this, we have time:\n\nnever push on Fridays",
            "reply to them kindly:\n\nnever push on Fridays",
            "turn this into three bullets:\nnever push on Fridays",
            "we got mail\n\nDear partner,\nnever push on Fridays\nKind regards",
            "draft an answer\n\nFrom: Tom <tom@x.example>\nSubject: Pushing\n\nHi,\n\nnever push on Fridays",
            "Bob wrote:\nnever push on Fridays",
            "here's the page:\n\nnever push on Fridays",
            "the page has \"never push on Fridays\" in it",
            "the page has 'never push on Fridays' in it",
            "the page has \u{201c}never push on Fridays\u{201d} in it",
            "the page has `never push on Fridays` in it",
            "the page has \u{300c}never push on Fridays\u{300d} in it",
            "<page>\nold\n</page>\nnever push on Fridays\n</page>\nok?",
            "<page>\n<page>\nold\n</page>\nnever push on Fridays\n</page>\nok?",
            "look:\n```\nold\n```\nnever push on Fridays\n```\nok?",
            "look: <!-- never push on Fridays --> ok?",
            "look: <!-- never push on Fridays",
            "From: Bob <bob@example.com>\nSubject: Fridays\n\nnever push on Fridays",
            "-----Original Message-----\nnever push on Fridays",
            "what do you think of this:\nnever push on Fridays",
            "please look at this:\n\nnever push on Fridays",
            "I found this in the wiki:\nnever push on Fridays",
        ] {
            assert!(!keeps(text, "never push on Fridays"), "{text:?} gave {:?}", own_words(text));
        }
    }

    #[test]
    fn words_beside_what_is_quoted_stay() {
        for text in [
            "<a>\nold\n</a>\nnever push on Fridays\n<b>\nnew\n</b>",
            "<a>\nold\n</a>\nnever push on Fridays\n<a>\nnew\n</a>",
            "the type is Vec<String>, and never push on Fridays",
            "```\nold\n```\nnever push on Fridays\n```\nnew\n```",
            "never push on Fridays\n```\nold",
            "subject to change: never push on Fridays",
            "from here: never push on Fridays",
            "our rule is this:\nnever push on Fridays",
            "Hi Claude,\nnever push on Fridays",
            "put this into the rules:\nnever push on Fridays",
            "make the list shorter, and never push on Fridays",
            "check these:\u{20}never push on Fridays",
        ] {
            assert!(keeps(text, "never push on Fridays"), "{text:?} gave {:?}", own_words(text));
        }
    }

    #[test]
    fn words_around_a_quote_are_not_joined() {
        assert!(!own_words("always\n```\nx\n```\nskip CI").replace('\n', " ").contains("always skip CI"));
    }

    #[test]
    fn a_long_text_counts_as_pasted_but_for_an_opening_that_speaks_to_the_agent() {
        let long = format!(
            "can you check this, I changed my mind\n\n{}never push on Fridays",
            "Some words here. ".repeat(120)
        );
        assert!(keeps(&long, "I changed my mind"));
        assert!(!keeps(&long, "never push"));
    }
}
