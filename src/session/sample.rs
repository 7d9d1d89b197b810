//! The observations of a session that are worth a reviewer's time, when there are more than it can read.
//!
//! The same observations always give the same sample: scores are whole numbers, ties go to the later one.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;

use super::own::MARKER;
use super::tools::{ToolClass, shell_command, tool_class};
use super::{Observation, ObservationKind as Kind, Speaker};

/// How many observations are taken beside the session's page,
pub const WITH_PAGE: usize = 48;
/// and how many where there is no page.
pub const WITHOUT_PAGE: usize = 72;

/// Most characters of a sampled text.
const TEXT: usize = 1_500;
/// Most characters of a sampled title.
const TITLE: usize = 500;

/// So many places, evenly over the session, are worth more, so that no stretch of it is missed.
const SPACED: usize = 16;

/// What the kinds of observations are worth, and what adds to that or takes from it.
mod score {
    pub const PROMPT: i32 = 100;
    pub const END: i32 = 95;
    pub const COMPACTION: i32 = 90;
    pub const STOP: i32 = 55;
    pub const RESULT: i32 = 30;
    pub const NOTIFICATION: i32 = 25;
    pub const START: i32 = 20;
    pub const OTHER: i32 = 15;
    pub const CALL: i32 = 5;

    /// The first and the last.
    pub const AT_AN_END: i32 = 100;
    /// Words that lessons are told in.
    pub const TELLING: i32 = 45;
    /// The agent's program marks it as failed.
    pub const IMPORTANT: i32 = 45;
    /// One of the evenly spaced.
    pub const SPACED: i32 = 40;
    /// A code block.
    pub const CODE: i32 = 8;
    /// What our own tool says to agents, and what they ask it.
    pub const OURS: i32 = -80;
}

static TELLING: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(root cause|caused by|fix(es|ed|ing)?|fail(s|ed|ing|ure|ures)?|errors?|exceptions?|panic(s|ked)?|crash(es|ed)?|regress(ion|ions|ed)|decisions?|decided?|always|never|must( not)?|don't|do not|instead of|migrat(e|es|ed|ing|ion|ions)|workaround|revert(ed|s)?|roll(ed)? ?back|deprecated|breaking change|incompatible|gotcha|lesson|convention|turns out|the reason|because)\b",
    )
    .expect("a fixed pattern")
});

/// What our own texts for agents begin with or hold.
static OURS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(&format!(
        r"{}|<!-- git-memory:|This project has a git-memory wiki|## Project knowledge: git-memory",
        regex::escape(MARKER)
    ))
    .expect("a fixed pattern")
});

static OUR_COMMAND: LazyLock<Regex> = LazyLock::new(|| {
    // A word of a command line, whole with its quotes; `cd`, variables and git's own options may stand before ours.
    let word = r#"(?:"[^"]*"|'[^']*'|[^\s"';&|])+"#;
    let before = format!(r"(?:cd +{word} *(?:&&|;) *)?(?:env +)?(?:[A-Za-z_]\w*=(?:{word})? +)*");
    let options = format!(r"(?: +(?:-[Cc] +{word}|-{word}))*");
    Regex::new(&format!(r"^{before}(?:{word}/)?git(?:-memory|{options} +memory)(?:\s|$)")).expect("a fixed pattern")
});

/// One observation of a sample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sampled<'s> {
    /// The observation, whole.
    pub observation: &'s Observation,
    /// How much it is worth: when room is short, the least goes first.
    pub score: i32,
    /// Its title, at most 500 characters.
    pub title: String,
    /// Its text, at most 1,500 characters: see [`ends`].
    pub text: String,
}

/// The best of a session's observations, at most `most` of them (at least two), in the order in which they happened.
/// The first and the last are always among them. `clean` takes out what must not be shown, before anything is cut.
pub fn sample<'s>(
    observations: &'s [Observation],
    most: usize,
    clean: &dyn for<'t> Fn(&'t str) -> Cow<'t, str>,
) -> Vec<Sampled<'s>> {
    let scores = scores(observations);
    let last = observations.len().saturating_sub(1);
    let mut order: Vec<usize> = (0..observations.len()).collect();
    order.sort_unstable_by_key(|&at| (at != 0 && at != last, std::cmp::Reverse((scores[at], at))));
    order.truncate(most.max(2));
    order.sort_unstable();
    order
        .into_iter()
        .map(|at| Sampled {
            observation: &observations[at],
            score: scores[at],
            title: clean(&observations[at].title).chars().take(TITLE).collect(),
            text: ends(&clean(&observations[at].body), TEXT),
        })
        .collect()
}

/// Takes the least worth away, never the first or the last while there is another; of equals the earlier. False when
/// two or fewer are left, and nothing was taken.
pub fn drop_least(sample: &mut Vec<Sampled<'_>>) -> bool {
    if sample.len() <= 2 {
        return false;
    }
    let inner = 1..sample.len() - 1;
    let least = inner.min_by_key(|&at| (sample[at].score, sample[at].observation.seq)).expect("more than two");
    sample.remove(least);
    true
}

/// What each observation is worth.
fn scores(observations: &[Observation]) -> Vec<i32> {
    let ours = our_calls(observations);
    let spaced = spaced(observations.len());
    let last = observations.len().saturating_sub(1);
    let mut scores = Vec::with_capacity(observations.len());
    for (at, observation) in observations.iter().enumerate() {
        let mut score = base(observation);
        let add = |present: bool, gain: i32| if present { gain } else { 0 };
        score += add(at == 0 || at == last, score::AT_AN_END);
        score += add(TELLING.is_match(&observation.body) || TELLING.is_match(&observation.title), score::TELLING);
        score += add(observation.exit.is_some_and(|exit| exit != 0), score::IMPORTANT);
        score += add(spaced.contains(&at), score::SPACED);
        score += add(observation.body.contains("```"), score::CODE);
        let call = observation.call.as_deref();
        let is_ours = OURS.is_match(&observation.title)
            || OURS.is_match(&observation.body)
            || call.is_some_and(|call| ours.contains(call));
        score += add(is_ours, score::OURS);
        scores.push(score);
    }
    scores
}

fn base(observation: &Observation) -> i32 {
    match observation.kind {
        Kind::Prompt if observation.speaker == Speaker::Human => score::PROMPT,
        Kind::End => score::END,
        Kind::Compaction => score::COMPACTION,
        Kind::Stop => score::STOP,
        Kind::ToolResult => score::RESULT,
        Kind::Notification => score::NOTIFICATION,
        Kind::Start => score::START,
        Kind::ToolCall => score::CALL,
        Kind::Prompt | Kind::Answer | Kind::Other => score::OTHER,
    }
}

/// The calls of our own tool, by which their results are known too.
fn our_calls(observations: &[Observation]) -> HashSet<&str> {
    let is_ours = |observation: &&Observation| {
        let tool = observation.tool.as_deref().unwrap_or_default();
        let command = || match tool_class(tool) {
            ToolClass::Shell => shell_command(observation),
            _ => None,
        };
        observation.kind == Kind::ToolCall
            && (tool.contains("git-memory") || command().is_some_and(|command| OUR_COMMAND.is_match(&command)))
    };
    observations.iter().filter(is_ours).filter_map(|observation| observation.call.as_deref()).collect()
}

/// Sixteen places from the first to the last.
fn spaced(count: usize) -> HashSet<usize> {
    let last = count.saturating_sub(1);
    (0..SPACED).map(|n| (n * last + (SPACED - 1) / 2) / (SPACED - 1)).collect()
}

/// A text of at most so many characters: where it was longer, a note says how much is left out, and of what stays 70 %
/// are its head and 30 % its tail.
pub fn ends(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let note = |left: usize| format!("\n[… {left} characters left out …]\n");
    let kept = most.saturating_sub(note(count).chars().count());
    let head = kept * 7 / 10;
    let tail = kept - head;
    let (head_end, tail_start) = (byte_of(text, head), byte_of(text, count - tail));
    format!("{}{}{}", &text[..head_end], note(count - head - tail), &text[tail_start..])
}

fn byte_of(text: &str, chars: usize) -> usize {
    text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(observations: &[Observation], most: usize) -> Vec<Sampled<'_>> {
        super::sample(observations, most, &|text| Cow::Borrowed(text))
    }

    fn observation(seq: u32, kind: Kind, body: &str) -> Observation {
        let speaker = match kind {
            Kind::Prompt => Speaker::Human,
            Kind::Answer | Kind::ToolCall => Speaker::Assistant,
            Kind::ToolResult => Speaker::Tool,
            _ => Speaker::System,
        };
        Observation {
            seq,
            id: seq.to_string(),
            at: None,
            kind,
            speaker,
            tool: None,
            call: None,
            title: String::new(),
            body: body.to_owned(),
            exit: None,
        }
    }

    /// A session of calls that are worth nothing by themselves, with some observations replaced.
    fn session(count: u32, others: &[(u32, Kind, &str)]) -> Vec<Observation> {
        (1..=count)
            .map(|seq| match others.iter().find(|other| other.0 == seq) {
                Some((_, kind, body)) => observation(seq, *kind, body),
                None => observation(seq, Kind::ToolCall, "ls"),
            })
            .collect()
    }

    fn seqs(sample: &[Sampled<'_>]) -> Vec<u32> {
        sample.iter().map(|sampled| sampled.observation.seq).collect()
    }

    #[test]
    fn each_kind_is_worth_its_figure() {
        let kinds = [
            (Kind::Prompt, 100),
            (Kind::End, 95),
            (Kind::Compaction, 90),
            (Kind::Stop, 55),
            (Kind::ToolResult, 30),
            (Kind::Notification, 25),
            (Kind::Start, 20),
            (Kind::Answer, 15),
            (Kind::Other, 15),
            (Kind::ToolCall, 5),
        ];
        for (kind, worth) in kinds {
            // The second of 100 is neither an end nor one of the evenly spaced.
            assert_eq!(scores(&session(100, &[(2, kind, "plain words")]))[1], worth, "{kind:?}");
        }
        let mut injected = session(100, &[(2, Kind::Prompt, "plain words")]);
        injected[1].speaker = Speaker::System;
        assert_eq!(scores(&injected)[1], 15, "only a person's own prompt counts as one");
    }

    #[test]
    fn words_failure_code_place_and_our_own_words_change_it() {
        let worth = |body: &str| scores(&session(100, &[(2, Kind::Answer, body)]))[1];
        for word in
            ["The root cause is X", "it FAILED", "an error", "a regression", "Decision: X", "never", "migration"]
        {
            assert_eq!(worth(word), 15 + 45, "{word}");
        }
        assert_eq!(worth("fixture, terror, nevertheless"), 15, "parts of words are no words");
        assert_eq!(worth("```\nls\n```"), 15 + 8);
        assert_eq!(worth("<!-- git-memory:start -->"), 15 - 80);
        assert_eq!(worth("This project has a git-memory wiki of reviewed knowledge"), 15 - 80);
        let mut failed = session(100, &[(2, Kind::ToolResult, "")]);
        failed[1].exit = Some(1);
        assert_eq!(scores(&failed)[1], 30 + 45);
        let all = scores(&session(100, &[]));
        assert_eq!((all[0], all[99]), (5 + 100 + 40, 5 + 100 + 40));
        assert_eq!(all.iter().filter(|score| **score == 45).count(), 14, "16 evenly spaced, the ends among them");
    }

    #[test]
    fn what_agents_ask_our_tool_and_what_it_answers_is_worth_least() {
        let mut all = session(100, &[(2, Kind::ToolCall, "git memory search ports"), (3, Kind::ToolResult, "a page")]);
        for at in [1, 2] {
            all[at].call = Some("c1".into());
            all[at].tool = Some("Bash".into());
        }
        for command in [
            "git memory search ports",
            "git-memory search ports",
            "git -C x memory search ports",
            "git -C \"my wiki\" -c color.ui=false --no-pager memory search",
            "/usr/local/bin/git-memory brief",
            "cd 'my wiki' && GIT_MEMORY_TEST=1 git memory status",
            "env NO_COLOR= /opt/bin/git memory",
        ] {
            all[1].title = command.into();
            assert_eq!(scores(&all)[1..3], [5 - 80, 30 - 80], "{command}");
        }
        for command in ["git log memory", "git commit -m memory", "digit memory", "echo git memory", "git memoryless"] {
            all[1].title = command.into();
            assert_eq!(scores(&all)[1..3], [5, 30], "{command}");
        }
    }

    #[test]
    fn our_own_words_are_known_in_a_title_too() {
        let mut all = session(100, &[]);
        all[1].title = "<!-- git-memory:start -->".into();
        assert_eq!(scores(&all)[1], 5 - 80);
    }

    #[test]
    fn the_best_are_taken_in_order_with_the_first_and_the_last() {
        let all =
            session(500, &[(200, Kind::Prompt, "do this"), (201, Kind::Stop, ""), (499, Kind::Prompt, "and that")]);
        let taken = sample(&all, WITH_PAGE);
        assert_eq!(taken.len(), 48);
        let seqs = seqs(&taken);
        assert!(seqs.is_sorted() && seqs[0] == 1 && seqs[47] == 500, "{seqs:?}");
        assert!([200, 201, 499].iter().all(|seq| seqs.contains(seq)), "{seqs:?}");
        // 16 evenly spaced and these three; the other 29 are equal, and ties go to the later.
        assert!((472..=498).all(|seq| seqs.contains(&seq)), "{seqs:?}");
        assert_eq!(sample(&all, WITHOUT_PAGE).len(), 72);
        assert_eq!(sample(&all, WITH_PAGE), taken, "the same session gives the same sample");
        let ours = "<!-- git-memory:start -->";
        let worst_ends = session(500, &[(1, Kind::ToolCall, ours), (500, Kind::ToolCall, ours)]);
        let ends = sample(&worst_ends, 2);
        assert_eq!(ends.iter().map(|s| s.observation.seq).collect::<Vec<_>>(), [1, 500]);
        assert!(sample(&[], WITH_PAGE).is_empty());
        assert_eq!(sample(&all[..1], WITH_PAGE).len(), 1);
    }

    #[test]
    fn the_least_goes_first_and_the_ends_stay() {
        let all = session(5, &[(2, Kind::Prompt, "x"), (3, Kind::Answer, "x"), (4, Kind::Answer, "x")]);
        let mut taken = sample(&all, WITH_PAGE);
        let mut left = vec![seqs(&taken)];
        while drop_least(&mut taken) {
            left.push(seqs(&taken));
        }
        assert_eq!(left, [vec![1, 2, 3, 4, 5], vec![1, 2, 4, 5], vec![1, 2, 5], vec![1, 5]]);
    }

    #[test]
    fn long_texts_keep_their_head_and_their_tail() {
        let long = format!("{}{}", "ä".repeat(5_000), "z".repeat(5_000));
        let all = vec![observation(1, Kind::Other, &long)];
        let text = &sample(&all, 2)[0].text;
        assert!((1_498..=1_500).contains(&text.chars().count()), "{}", text.chars().count());
        let of = |c: char| text.chars().filter(|found| *found == c).count();
        assert_eq!(of('ä'), (of('ä') + of('z')) * 7 / 10, "seven tenths of what stays are its head");
        assert!(text.starts_with('ä') && text.ends_with('z') && text.contains("characters left out"));
        let exact = "x".repeat(1_500);
        assert_eq!(sample(&[observation(1, Kind::Other, &exact)], 2)[0].text, exact);
        let whole = format!("{}SECRET{}", "a".repeat(1_020), "b".repeat(2_000));
        let hide: &dyn for<'t> Fn(&'t str) -> Cow<'t, str> = &|text| text.replace("SECRET", "[gone]").into();
        let observed = [observation(1, Kind::Other, &whole)];
        let text = &super::sample(&observed, 2, hide)[0].text;
        assert!(!text.contains("SEC"), "no half of a secret stays at a cut");
        let mut titled = observation(1, Kind::Other, "");
        titled.title = "t".repeat(600);
        assert_eq!(sample(&[titled], 2)[0].title.len(), 500);
    }
}
