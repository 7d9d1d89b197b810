//! What pages that have to do with a session are looked for with: the session's own words.

use std::collections::{HashMap, HashSet};

use crate::session::{
    Observation, ObservationKind, Session, Speaker, ToolClass, command_key, own_words, shell_command, tool_class,
};

/// Most searches with words of prompts, and of failures.
const PROMPTS: usize = 8;
const FAILURES: usize = 6;
/// Most files whose names are looked for.
const FILES: usize = 12;

/// Fewest words of a text that is searched with: "go on" says nothing.
const FEWEST_WORDS: usize = 3;

/// The title, what people asked for, what failed, the files that were changed, and how the
/// agent summed it up.
pub(super) fn texts(session: &Session) -> Vec<String> {
    let mut all = vec![session.title.clone()];
    all.extend(prompts(session));
    all.extend(failures(session));
    all.extend(files(session));
    let answer = |o: &&Observation| o.kind == ObservationKind::Answer && !o.body.trim().is_empty();
    all.extend(session.observations.iter().rev().find(answer).map(|answer| answer.body.clone()));
    let mut seen = HashSet::new();
    all.retain(|text| text.split_whitespace().count() >= FEWEST_WORDS && seen.insert(text.clone()));
    all
}

/// People's own words: the first prompts, which say what it is about, and the last, which put right.
fn prompts(session: &Session) -> Vec<String> {
    let mut all: Vec<String> =
        session.prompts().map(|prompt| own_words(&prompt.body).replace(crate::session::GAP, " ")).collect();
    all.retain(|text| text.split_whitespace().count() >= FEWEST_WORDS);
    if all.len() > PROMPTS {
        all.drain(PROMPTS / 2..all.len() - PROMPTS / 2);
    }
    all
}

/// The commands that failed, each once, with the line that says why.
fn failures(session: &Session) -> Vec<String> {
    let calls: HashMap<&str, &Observation> = session
        .observations
        .iter()
        .filter(|o| o.kind == ObservationKind::ToolCall)
        .filter_map(|call| Some((call.call.as_deref()?, call)))
        .collect();
    let mut commands = HashSet::new();
    let mut all = Vec::new();
    let failed = |o: &&Observation| o.speaker == Speaker::Tool && o.exit.is_some_and(|exit| exit != 0);
    for result in session.observations.iter().filter(failed) {
        let call = result.call.as_deref().and_then(|call| calls.get(call));
        let command = call.and_then(|call| shell_command(call)).map(|command| command_key(&command));
        let command = command.unwrap_or_default().chars().take(120).collect::<String>();
        if commands.insert(command.clone()) && all.len() < FAILURES {
            all.push(format!("{command} {}", telling_line(&result.body)));
        }
    }
    all
}

/// The line of an output that names the error, else its first.
fn telling_line(output: &str) -> &str {
    let lines = || output.lines().map(str::trim).filter(|line| !line.is_empty());
    let names_it = |line: &&str| {
        let line = line.to_ascii_lowercase();
        ["error", "fail", "fatal", "panic", "not found", "denied", "exception"].iter().any(|word| line.contains(word))
    };
    lines().find(names_it).or_else(|| lines().next()).unwrap_or_default()
}

/// The names of the files that were changed, or where none was, that were read.
fn files(session: &Session) -> Option<String> {
    let of = |class: ToolClass| {
        let mut names: Vec<String> = Vec::new();
        for call in session.observations.iter().filter(|o| o.kind == ObservationKind::ToolCall) {
            if tool_class(call.tool.as_deref().unwrap_or_default()) == class {
                let mut parts: Vec<&str> = call.title.rsplit(['/', '\\']).take(2).collect();
                parts.reverse();
                let name = parts.join(" ");
                if !name.is_empty() && !names.contains(&name) && names.len() < FILES {
                    names.push(name);
                }
            }
        }
        names
    };
    let changed = of(ToolClass::Edit);
    let names = if changed.is_empty() { of(ToolClass::Read) } else { changed };
    (!names.is_empty()).then(|| names.join(" "))
}
