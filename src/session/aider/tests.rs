use std::path::Path;

use jiff::tz::TimeZone;

use crate::session::gather::prefixes::{hold, turns};
use crate::session::lines::Damage;
use crate::session::{ObservationKind as Kind, Policy, ReadOptions, Redactor, Session};

const HISTORY: &str = include_str!("../../../fixtures/aider/history.md");

fn read_with(text: &str, policy: &Policy) -> (Vec<Session>, Vec<&'static str>) {
    let redactor = Redactor::new(&[], &[]).unwrap();
    let mut damage = Damage::default();
    let options = ReadOptions { redactor: &redactor, policy };
    let path = Path::new("/home/dev/parcel/.aider.chat.history.md");
    let sessions = super::read(text.as_bytes(), path, options, &mut damage).unwrap();
    (sessions, damage.warnings("f").into_iter().map(|warning| warning.kind).collect())
}

fn read(text: &str) -> Vec<Session> {
    let (sessions, damage) = read_with(text, &Policy::new(true, false, &[]).unwrap());
    assert_eq!(damage, [""; 0]);
    sessions
}

/// A session in which this stands behind aider's introduction.
fn talk(text: &str) -> Vec<String> {
    turns(&read(&format!("\n# aider chat started at 2026-02-12 08:30:00\n\n> Aider v0.85.1  \n\n{text}")))
}

#[test]
fn a_history_gives_its_sessions_with_turns_commands_edits_and_commits() {
    let sessions = read(HISTORY);
    assert_eq!(sessions.len(), 2);
    let first = &sessions[0];
    let told: Vec<String> = first
        .observations
        .iter()
        .map(|o| format!("{:?} {}", o.kind, o.body.lines().next().unwrap_or_default()))
        .collect();
    assert_eq!(
        told,
        [
            "Notification /add tests/test_queue.py",
            "Prompt Retries must back off: 1s, 2s, 4s, then give up.",
            "Answer Here is the plan.",
            "ToolCall src/queue.py",
            "ToolResult Applied",
            "Notification Commit 3fa9c21 feat: back off between retries",
            "ToolCall python -m pytest -q",
            "ToolResult E   TypeError: retry() missing 1 required positional argument: 'clock'",
            "ToolCall git diff --stat",
            "ToolResult src/queue.py | 4 ++--",
            "Prompt why is the clock a required argument?",
            "Answer Because a default would let a test sleep.",
        ]
    );
    assert_eq!(turns(&sessions)[0].lines().last(), Some("Never sleep in tests; inject the clock."));
    assert!(first.observations[2].body.contains("#### Steps"));
    assert_eq!(first.version.as_deref(), Some("0.85.1"));
    assert_eq!(first.cwd.as_deref(), Some("/home/dev/parcel"));
    let local = first.started.unwrap().to_zoned(TimeZone::system());
    assert_eq!(local.strftime("%F %T").to_string(), "2026-02-12 08:30:00");
    assert_eq!(turns(&sessions[1..]), ["give it a default then, but only outside of tests"]);
}

#[test]
fn ids_stay_when_the_history_grows_and_equal_times_are_told_apart() {
    let before = read(&HISTORY[..HISTORY.find("# aider chat started at 2026-02-13").unwrap()]);
    let after = read(HISTORY);
    assert_eq!(before[0], after[0]);
    let twice = read(&HISTORY.replace("2026-02-13 10:00:00", "2026-02-12 08:30:00"));
    assert!(twice[0].id == after[0].id && twice[1].id != after[0].id);
}

#[test]
fn headings_of_an_answer_are_no_persons_words() {
    assert_eq!(talk("#### fix it  \n\nPlan:\n\n#### Step one\n\nfoo\n"), ["fix it"]);
    assert_eq!(talk("#### fix it  \n\n```\n\n#### never push  \n```\n\nok\n"), ["fix it"]);
    // A fence that the answer did not close ends where aider speaks again.
    assert_eq!(talk("#### one  \n\n```\ncode\n\n> Tokens: 1k sent.  \n\n#### two  \n"), ["one", "two"]);
    assert_eq!(talk("#### one  \n\nText with\n#### a heading  \n"), ["one"]);
}

#[test]
fn without_the_blanks_at_the_ends_of_lines_a_turn_must_follow_aiders_own_words() {
    let trimmed: String = HISTORY.lines().map(|line| format!("{}\n", line.trim_end())).collect();
    let found = turns(&read(&trimmed));
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found[1].starts_with("why is the clock") && !found.iter().any(|turn| turn.contains("Steps")));
}

#[test]
fn commands_are_chosen_and_only_what_they_ask_the_model_is_a_persons() {
    let text = "#### /code use uv  \n\nok\n\n#### /drop x.py  \n\n#### /etc/hosts is wrong  \n\n#### !ls  \n\n> a.txt  \n\n#### Run it? (Y)es/(N)o [Yes]: all  \n";
    assert_eq!(talk(text), ["use uv", "/etc/hosts is wrong"]);
    let given = "\n# aider chat started at 2026-02-12 08:30:00\n\n> /bin/aider --yes-always --message You must obey\nthese rules  \n> Aider v0.85.1  \n\n#### You must obey  \n\nok\n\n#### use uv  \n";
    assert_eq!(turns(&read(given)), ["use uv"]);
}

#[test]
fn excluded_files_are_left_out_of_commands_edits_and_answers() {
    let policy = Policy::new(true, false, &["queue.py".into(), ".env".into()]).unwrap();
    let history = HISTORY.replace("git diff --stat", "cat .env").replace("src/queue.py | 4 ++--", "KEY of the shop");
    let (sessions, _) = read_with(&history, &policy);
    let text = format!("{sessions:?}");
    assert!(!text.contains("def retry") && !text.contains("KEY of the shop") && !text.contains("cat .env"), "{text}");
    assert!(text.contains("an excluded file, left out") && text.contains("Double the delay"));
    assert!(!sessions[0].observations.iter().any(|o| o.kind == Kind::ToolCall && o.title.contains("queue.py")));
}

#[test]
fn damage_is_told_once_and_the_rest_is_used() {
    let policy = Policy::new(true, false, &[]).unwrap();
    let (sessions, kinds) = read_with(&format!("torn\nlines\n{HISTORY}").replace("10:00:00", "noon"), &policy);
    assert_eq!(kinds, ["unknown_type", "bad_timestamp"]);
    assert_eq!((sessions.len(), sessions[1].started), (2, None));
}

#[test]
fn a_file_cut_anywhere_gives_the_first_of_its_turns() {
    hold(HISTORY.as_bytes(), true, |bytes, options| {
        super::read(bytes, Path::new("/p/x.md"), options, &mut Damage::default()).unwrap()
    });
}
