//! The same commands in the same order in two sessions.

use std::collections::HashSet;

use super::{compose, failure, judge, signal};
use crate::proposal::Candidate;
use crate::session::{Observation, ObservationKind, Session, command_key, shell_command};
use crate::wiki::Kind;

/// Why a procedure is proposed.
const RATIONALE: &str = "The same commands passed in the same order in more than one session.";
/// Fewer commands are a habit, not a procedure.
const FEWEST: usize = 3;
/// More are two procedures.
const MOST: usize = 12;

/// A command that passed.
struct Step<'s> {
    command: String,
    call: &'s Observation,
}

/// The longest sequence that this session shares with another one, as a procedure.
pub fn find(session: &Session, history: &[Session]) -> Option<Candidate> {
    let here = steps(session);
    let ids: HashSet<&str> = session.observations.iter().map(|o| o.id.as_str()).collect();
    let mut best: Option<(usize, usize, &Session, Vec<Step>, usize)> = None;
    for other in history.iter().filter(|other| other.id != session.id && !other.own && other.prompts().next().is_some())
    {
        // A resumed session begins with the events of the one before: that is one sighting, not two.
        let there: Vec<Step> = steps(other).into_iter().filter(|step| !ids.contains(step.call.id.as_str())).collect();
        if let Some((from, length, at)) = longest_common(&here, &there)
            && best.as_ref().is_none_or(|best| length > best.1)
        {
            best = Some((from, length, other, there, at));
        }
    }
    let (from, length, other, there, at) = best?;
    let steps = &here[from..from + length];
    let mut evidence: Vec<_> =
        steps.iter().filter_map(|step| compose::quote(session, step.call, &step.command)).take(3).collect();
    evidence.extend(
        there[at..at + length].iter().filter_map(|step| compose::quote(other, step.call, &step.command)).take(3),
    );
    if evidence.len() < 2 {
        return None;
    }
    let names: Vec<String> = steps.iter().map(|step| short(&step.command)).collect();
    let title = compose::title(&format!("Run {}, then {}", names[0], names[1..].join(", then ")));
    let list: Vec<String> =
        steps.iter().enumerate().map(|(n, step)| format!("{}. {}", n + 1, code(&step.command))).collect();
    let body = format!("{}\n\n## Steps\n\n{}\n", compose::heading(&title), list.join("\n"));
    Some(compose::page(Kind::Procedure, &title, body, signal::REPEATED_COMMANDS, RATIONALE, evidence))
}

/// The commands that passed, without those that only look, and without the same one twice in a row.
fn steps(session: &Session) -> Vec<Step<'_>> {
    let mut out: Vec<Step> = Vec::new();
    for (at, result) in session.observations.iter().enumerate() {
        if result.kind != ObservationKind::ToolResult || result.exit != Some(0) {
            continue;
        }
        let call = session.observations[..at]
            .iter()
            .rfind(|o| o.kind == ObservationKind::ToolCall && (result.call.is_none() || o.call == result.call));
        let Some((call, command)) = call.and_then(|call| Some((call, command_key(&shell_command(call)?)))) else {
            continue;
        };
        let fit = failure::says_something(&command) && !judge::is_local(&command) && !judge::is_unsafe(&command);
        if fit && out.last().is_none_or(|last| last.command != command) {
            out.push(Step { command, call });
        }
    }
    out
}

/// `(start here, length, start there)` of the longest run of equal commands with enough different ones in it.
fn longest_common(here: &[Step], there: &[Step]) -> Option<(usize, usize, usize)> {
    let mut best: Option<(usize, usize, usize)> = None;
    for from in 0..here.len() {
        for at in 0..there.len() {
            let length =
                here[from..].iter().zip(&there[at..]).take(MOST).take_while(|(a, b)| a.command == b.command).count();
            let different: HashSet<&str> = here[from..from + length].iter().map(|step| step.command.as_str()).collect();
            if different.len() >= FEWEST && best.is_none_or(|(_, longest, _)| length > longest) {
                best = Some((from, length, at));
            }
        }
    }
    best
}

/// What a title says of a command: a program and its first plain word, or a script alone.
fn short(command: &str) -> String {
    let mut words = command.split_whitespace();
    let program = words.next().unwrap_or_default();
    match words.next().filter(|word| !word.starts_with('-') && !program.contains('/')) {
        Some(word) => format!("{program} {word}"),
        None => program.to_owned(),
    }
}

/// A code span that its text cannot close.
fn code(text: &str) -> String {
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}
