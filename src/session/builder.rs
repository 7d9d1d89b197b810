//! What all readers do with what they read: redact, cut, number, name.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::redact::{ceil, floor};
use super::{Observation, ObservationKind, Redactor, Speaker};
use crate::wiki::text::fold_space;

/// Most bytes of a body.
pub const LONGEST_BODY: usize = 16 * 1024;

/// Bytes of head and of tail that a long body keeps; the rest is the note between them.
const END: usize = LONGEST_BODY / 2 - 64;

/// Bodies above this are redacted around their kept ends only.
const LARGE: usize = 32 * 1024;

/// How far beyond a kept end redaction looks, so that a secret on the border is seen whole.
const MARGIN: usize = 4 * 1024;

/// Most characters of a title.
const LONGEST_TITLE: usize = 120;

/// What a reader says of an event; the texts are raw.
pub(super) struct Event<'e> {
    pub id: &'e str,
    pub at: Option<Timestamp>,
    pub kind: ObservationKind,
    pub speaker: Speaker,
    pub tool: Option<&'e str>,
    pub call: Option<&'e str>,
    /// `None`: the first line of the body.
    pub title: Option<&'e str>,
    pub body: &'e str,
    pub exit: Option<i32>,
}

impl<'e> Event<'e> {
    /// One of which only this is known yet.
    pub(super) fn new(kind: ObservationKind, speaker: Speaker, body: &'e str) -> Event<'e> {
        Event { id: "", at: None, kind, speaker, tool: None, call: None, title: None, body, exit: None }
    }
}

/// The observation of an event, redacted and cut.
pub(super) fn observation(redactor: &Redactor, event: &Event) -> Observation {
    let body = body(redactor, event.body);
    let title = match event.title {
        Some(title) => first_line(&redactor.redact(&title[..floor(title, 4096)])),
        None => first_line(&body),
    };
    Observation {
        seq: 0,
        id: redactor.redact(event.id).into_owned(),
        at: event.at,
        kind: event.kind,
        speaker: event.speaker,
        tool: event.tool.map(|tool| redactor.redact(tool).into_owned()),
        call: event.call.map(|call| redactor.redact(call).into_owned()),
        title,
        body,
        exit: event.exit,
    }
}

/// A body: redacted, then cut to head and tail.
pub(super) fn body(redactor: &Redactor, raw: &str) -> String {
    if raw.len() <= LARGE {
        let clean = redactor.redact(raw);
        if clean.len() <= LONGEST_BODY {
            return clean.into_owned();
        }
        return ends(&clean, &clean, clean.len());
    }
    body_of_ends(redactor, raw, raw, raw.len())
}

/// The body of a text of which only the two ends are at hand, both longer than what a body keeps.
pub(super) fn body_of_ends(redactor: &Redactor, head: &str, tail: &str, whole: usize) -> String {
    let head = &head[..border_after(head, END + MARGIN)];
    let tail = &tail[border_before(tail, tail.len().saturating_sub(END + MARGIN))..];
    ends(&redactor.redact(head), &redactor.redact(tail), whole)
}

fn ends(head: &str, tail: &str, whole: usize) -> String {
    let head = &head[..floor(head, END)];
    let tail = &tail[ceil(tail, tail.len().saturating_sub(END))..];
    format!("{head}\n[… {} bytes left out …]\n{tail}", whole.saturating_sub(head.len() + tail.len()))
}

/// A place at or after `at` where no word is cut: the end of a line, else of a word.
fn border_after(text: &str, at: usize) -> usize {
    let at = ceil(text, at);
    let near = &text[at..floor(text, at + MARGIN)];
    let end = near.find('\n').or_else(|| near.find(char::is_whitespace));
    end.map_or_else(|| text[..at].rfind(char::is_whitespace).unwrap_or(at), |end| at + end)
}

/// As [`border_after`], at or before `at`.
fn border_before(text: &str, at: usize) -> usize {
    let at = floor(text, at);
    let start = ceil(text, at.saturating_sub(MARGIN));
    let near = &text[start..at];
    let end = near.rfind('\n').or_else(|| near.rfind(|c: char| c.is_ascii_whitespace()));
    end.map_or_else(|| text[at..].find(char::is_whitespace).map_or(at, |end| at + end), |end| start + end + 1)
}

/// The first line that says something, cut, without control characters.
pub(super) fn first_line(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    cut(line, LONGEST_TITLE)
}

/// A session's title: from the first words of a person that say something, else from the first.
pub(super) fn title_of_session(observations: &[Observation]) -> Option<String> {
    let prompts = || observations.iter().filter(|o| o.speaker == Speaker::Human);
    let said = prompts().find(|o| is_telling(&o.body)).map(|o| title_of(&o.body));
    said.or_else(|| prompts().map(|o| title_of(&o.body)).find(|title| !title.is_empty()))
}

/// The prompt that gives a session's title.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Titled {
    /// The id of its observation.
    pub id: String,
    /// No later prompt will be preferred.
    pub settled: bool,
}

/// The prompt that gives the title: the one from an earlier read, or one of these.
pub(super) fn titled(before: Option<&Titled>, observations: &mut dyn Iterator<Item = &Observation>) -> Option<Titled> {
    if let Some(titled) = before.filter(|titled| titled.settled) {
        return Some(titled.clone());
    }
    let mut first = before.cloned();
    for prompt in observations.filter(|o| o.speaker == Speaker::Human) {
        let titled = |settled| Titled { id: prompt.id.clone(), settled };
        if is_telling(&prompt.body) {
            return Some(titled(true));
        }
        if first.is_none() && !title_of(&prompt.body).is_empty() {
            first = Some(titled(false));
        }
    }
    first
}

/// Whether a prompt says what a session is about.
fn is_telling(words: &str) -> bool {
    let title = title_of(words);
    !is_filler(words) && (title.split_whitespace().count() >= 3 || title.chars().count() >= 12)
}

/// Words that start, keep going or end a conversation and say nothing about what it is about.
const FILLERS: &[&str] = &[
    "are you there",
    "continue from where you left off",
    "continue please",
    "do it",
    "go ahead",
    "go on",
    "how are you",
    "how are you doing",
    "keep going",
    "let's go",
    "let's start",
    "looks good",
    "looks good to me",
    "never mind",
    "please continue",
    "please go ahead",
    "please go on",
    "please proceed",
    "sounds good",
    "thank you",
    "thank you very much",
    "thanks a lot",
    "try again",
    "yes do it",
    "yes go ahead",
    "yes please",
    "yes please do",
    "yes please do it",
];

/// A greeting, a nod, or a command of the agent's program.
fn is_filler(words: &str) -> bool {
    /// None is nearly as long, whatever stands between its words.
    const LONG: usize = 200;
    let words = words.trim();
    if words.starts_with('/') && !words.contains(char::is_whitespace) {
        return true;
    }
    if words.len() > LONG {
        return false;
    }
    let plain: String = words.chars().map(|c| if c == '’' { '\'' } else { c }).collect::<String>().to_lowercase();
    let plain = plain.replace(|c: char| !c.is_alphanumeric() && c != '\'', " ");
    let plain = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    FILLERS.contains(&plain.as_str())
}

/// A title from a person's words: their first sentence, without the marks of markdown, without greetings before it and
/// without what was pasted before it.
pub(super) fn title_of(words: &str) -> String {
    let mut fenced = false;
    let mut lines = words
        .lines()
        .map(str::trim)
        .filter(|line| {
            let fence = line.starts_with("```");
            fenced ^= fence;
            !fence && !fenced && line.chars().any(char::is_alphanumeric)
        })
        .map(|line| line.trim_start_matches(['#', '>', '*', '-', ' ']));
    let telling = |line: &&str| !is_pasted(line) && without_lead(line).split_whitespace().count() >= 2;
    let first = lines.next();
    let line = first.filter(telling).or_else(|| lines.find(telling)).or(first).unwrap_or_else(|| words.trim());
    let line = first_sentence(without_lead(line));
    let line = line.trim_end_matches(['.', ':', ',', ';', '!', '…', ' ', '*', '-', '—']);
    // Quoted as a whole.
    let inner = ['"', '\'', '`'].iter().find_map(|mark| line.strip_prefix(*mark)?.strip_suffix(*mark));
    cut(&fold_space(inner.filter(|inner| !inner.contains(['"', '\'', '`'])).unwrap_or(line)), 80)
}

/// A line of a log, a stack trace, a terminal or a diff.
fn is_pasted(line: &str) -> bool {
    const FRONTS: &[&str] = &[
        "Traceback",
        "at ",
        "File \"",
        "error[",
        "warning:",
        "diff --git",
        "$ ",
        "❯",
        "│",
        "╭",
        "⎿",
        "@@ ",
        "+++ ",
        "[20",
    ];
    let digits = |text: &str| text.len() >= 2 && text.bytes().take(2).all(|byte| byte.is_ascii_digit());
    let clock = |word: &str| digits(word) && word.matches([':', '-']).count() >= 2;
    FRONTS.iter().any(|front| line.starts_with(front))
        || line.split_whitespace().next().is_some_and(|word| clock(word.trim_start_matches('[')))
}

/// What stands behind greetings, paths and addresses, as long as enough does.
fn without_lead(line: &str) -> &str {
    const GREETINGS: &[&str] = &[
        "hey", "hi", "hello", "ok", "okay", "well", "so", "alright", "please", "now", "thanks", "great", "perfect",
        "cool",
    ];
    let mut rest = line;
    let mut greeted = false;
    loop {
        let Some((word, more)) = rest.split_once(char::is_whitespace) else { return rest };
        let more = more.trim_start();
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        let greets = GREETINGS.contains(&bare.as_str())
            || greeted && matches!(bare.as_str(), "good" | "nice" | "then" | "there" | "claude");
        let place = word.contains("://") || word.starts_with(['/', '@', '~']) && word.len() > 1;
        if !(greets || place || bare.is_empty()) || more.split_whitespace().count() < if place { 3 } else { 2 } {
            return rest;
        }
        greeted |= greets;
        rest = more;
    }
}

/// The first sentence, where it says enough by itself.
fn first_sentence(line: &str) -> &str {
    let ends = line.match_indices(['.', '?', '!']).map(|(at, _)| at + 1);
    let fits = |end: &usize| {
        let (head, rest) = line.split_at(*end);
        rest.starts_with(char::is_whitespace)
            && head.split_whitespace().count() >= 4
            && !["e.g.", "i.e.", "etc.", "vs."].iter().any(|short| head.ends_with(short))
    };
    ends.into_iter().find(fits).map_or(line, |end| &line[..end])
}

/// At most so many characters, cut at a word where one ends near, without control characters.
fn cut(line: &str, most: usize) -> String {
    let clean = |c: char| if c.is_control() { ' ' } else { c };
    let mut out: String = line.chars().map(clean).take(most + 1).collect();
    if out.chars().count() > most {
        out.pop();
        let word = out.rfind(' ').filter(|at| *at > out.len() * 2 / 3);
        out.truncate(word.unwrap_or(out.len()));
        out.push('…');
    }
    out
}

/// An id that is safe as the last part of a ref's name, on every file system; changed ids get a hash to stay different.
pub(super) fn safe_id(redactor: &Redactor, id: &str) -> String {
    let id = redactor.redact(id);
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let fine = !id.is_empty()
        && id.len() <= 120
        && id.chars().all(allowed)
        && !id.starts_with(['.', '-'])
        && !id.ends_with('.')
        && !id.contains("..")
        && !id.to_ascii_lowercase().ends_with(".lock");
    if fine {
        return id.into_owned();
    }
    let slug: String = id.chars().take(60).map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    format!("{}-{}", slug.trim_matches('-'), &digest(id.as_bytes())[..8]).trim_start_matches('-').to_owned()
}

/// A short, stable name of some bytes: 16 hexadecimal digits.
pub(super) fn digest(bytes: &[u8]) -> String {
    format!("{:016x}", number(bytes))
}

/// As [`digest`], as a number.
pub(super) fn number(bytes: &[u8]) -> u64 {
    use sha2::{Digest, Sha256};
    Sha256::digest(bytes).iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// A tool's input as text: a command as it was given; other inputs as `name: value` lines, strings decoded.
pub(super) fn input_text(input: &Value) -> String {
    let fields = match input {
        Value::Object(fields) => fields,
        Value::Null => return String::new(),
        Value::String(text) => return text.clone(),
        other => return other.to_string(),
    };
    if let Some(command) = fields.get("command").and_then(Value::as_str) {
        return command.to_owned();
    }
    let mut out = String::new();
    for (name, value) in fields {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(name);
        match value {
            Value::String(text) if text.contains('\n') => {
                out.push_str(":\n");
                out.push_str(text);
            }
            Value::String(text) => {
                out.push_str(": ");
                out.push_str(text);
            }
            other => {
                out.push_str(": ");
                out.push_str(&other.to_string());
            }
        }
    }
    out
}

/// What a session is called in which no person said anything; no person speaks to a subagent of another session.
pub(super) fn untitled(id: &str, parent: Option<&str>, started: Option<Timestamp>) -> String {
    let short: String = parent.unwrap_or(id).chars().take(8).collect();
    let day = started.map(|at| at.strftime("%Y-%m-%d").to_string());
    match (parent, day) {
        (Some(_), Some(day)) => format!("Subagent of {short}, {day}"),
        (Some(_), None) => format!("Subagent of {short}"),
        (None, Some(day)) => format!("Session {short} of {day}"),
        (None, None) => format!("Session {short}"),
    }
}

/// All that is kept where the policy cannot be read.
pub(super) fn metadata(id: &str, started: Option<Timestamp>, ended: Option<Timestamp>) -> Vec<Observation> {
    let mark = |kind, word: &str, at| Observation {
        seq: 0,
        id: format!("{id}-{word}"),
        at,
        kind,
        speaker: Speaker::System,
        tool: None,
        call: None,
        title: String::new(),
        body: String::new(),
        exit: None,
    };
    vec![mark(ObservationKind::Start, "start", started), mark(ObservationKind::End, "end", ended)]
}

#[cfg(test)]
mod tests {
    use super::{LONGEST_BODY, Redactor, body, safe_id, title_of, title_of_session};

    fn redactor() -> Redactor {
        Redactor::new(&[], &[]).unwrap()
    }

    #[test]
    fn a_long_body_keeps_both_ends_and_no_half_secret_at_either_border() {
        let secret = ["gh", "p_", "912QBrTVzLvmcw24LoNx1iyXBNZvHYBrRuNk"].concat();
        let redactor = redactor();
        for shift in (0..200).step_by(7) {
            for size in [20_000, 60_000] {
                let line = format!("{} {secret} ", "x".repeat(31));
                let text = format!("{}{}", "y".repeat(shift), line.repeat(size / line.len()));
                let kept = body(&redactor, &text);
                assert!(kept.len() <= LONGEST_BODY, "{}", kept.len());
                assert!(!kept.contains(&secret[4..12]) && !kept.contains(&secret[24..36]), "{shift} {size}");
                assert!(size < 32_768 || kept.contains("bytes left out"));
            }
        }
    }

    #[test]
    fn ids_become_safe_names_and_stay_different() {
        let redactor = redactor();
        assert_eq!(safe_id(&redactor, "7d1c1e3b-5a57-4b64"), "7d1c1e3b-5a57-4b64");
        let (a, b) = (safe_id(&redactor, "../../etc"), safe_id(&redactor, "..:..:etc"));
        assert!(a != b && !a.contains(['/', ':']) && !a.starts_with(['.', '-']), "{a} {b}");
        assert!(!safe_id(&redactor, "").is_empty());
    }

    #[test]
    fn a_title_is_the_first_sentence_that_says_something() {
        for (words, title) in [
            ("\n## Fix the  build\nplease", "Fix the build"),
            ("hey can you help me add JWT authentication? we need it to", "can you help me add JWT authentication?"),
            ("ok good now write the repository layer", "write the repository layer"),
            ("OK, we're going to make an experiment here. Pretend", "we're going to make an experiment here"),
            ("we are getting this warning:\n```\nx\n```", "we are getting this warning"),
            ("```\npanicked at x\n```\nwhy does this happen", "why does this happen"),
            ("2026-03-01 10:00:01 ERROR x\nfix that error", "fix that error"),
            ("https://github.com/x/y/issues/3 please fix this one", "fix this one"),
            ("@src/main.rs rename the function", "rename the function"),
            ("/home/dev/x.rs", "/home/dev/x.rs"),
            ("use e.g. uv here. Always.", "use e.g. uv here"),
            ("CI is red: \"set URL\". It builds here.", "CI is red: \"set URL\""),
            ("`cargo test` fails since today", "`cargo test` fails since today"),
            ("\"rename main to run\"", "rename main to run"),
            ("status?", "status?"),
            ("So", "So"),
        ] {
            assert_eq!(title_of(words), title);
        }
        assert!(title_of(&"word ".repeat(60)).chars().count() <= 81);
    }

    #[test]
    fn a_session_is_not_called_by_a_nod_or_a_greeting() {
        let prompt = |body: &&str| super::Observation {
            seq: 1,
            id: "x".into(),
            at: None,
            kind: super::ObservationKind::Prompt,
            speaker: super::Speaker::Human,
            tool: None,
            call: None,
            title: String::new(),
            body: (*body).into(),
            exit: None,
        };
        let title = |said: &[&str]| title_of_session(&said.iter().map(prompt).collect::<Vec<_>>());
        assert_eq!(title(&["continue", "yes, please do it!", "/clear", "Fix it now"]), Some("Fix it now".into()));
        assert_eq!(title(&["How are you?", "Rename main to run."]), Some("Rename main to run".into()));
        assert_eq!(title(&["yes"]), Some("yes".into()));
        assert_eq!(title(&[]), None);
    }
}
