//! A person puts the agent right, in words that hold beyond the moment.

use std::collections::HashSet;

use super::instruction::{instruction, without_filler};
use super::judge::{self, pattern};
use super::retraction::is_taken_back;
use super::{Turn, compose, forms, signal, standing};
use crate::proposal::{Candidate, Evidence};
use crate::session::{Observation, ObservationKind, Session, Speaker, ToolClass, shell_command, tool_class};
use crate::wiki::Kind;

/// Why a corrected rule is proposed.
const RULE_RATIONALE: &str = "A person corrected the agent with an instruction that is general.";
/// Why a corrected fact is proposed.
const FACT_RATIONALE: &str = "A person corrected what the agent said or did about the project.";

pattern!(
    MARK,
    r"(?ix)^(?:no|nope|wrong|that's\s(?:wrong|not\sright|incorrect|not\show)|that\sis\s(?:wrong|not\sright|incorrect)|actually|i\s(?:already\s)?(?:said|told\syou)|not\slike\sthat|stop|not)\b"
);
pattern!(
    FACT,
    r"(?x)\b(?:needs|requires|must\sbe|must\snot\sbe|has\sto\sbe|have\sto\sbe|lives?\s(?:in|under)|(?:go(?:es)?|belongs?)\s(?:in|into|under)\s\S*/|(?:is|are)\skept\s(?:in|under)|only\sworks|doesn't\ssupport|does\snot\ssupport|is\sgenerated|are\sgenerated|comes\sfrom|is\sdeprecated|are\sdeprecated)\b"
);
pattern!(
    NAME,
    r"`[^`]+`|\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b|\b[\w.-]+/(?:[\w./-]*\w)?|\b[\w-]+\.(?:rs|toml|json|ya?ml|py|ts|js|go|sh|sql|md|lock|env)\b"
);

pattern!(
    NOT_THERE,
    r"(?ix)\b(?:lives?|go(?:es)?|belongs?|(?:is|are)\skept)\s(?:in|into|under)\s[^,;]+[,;]?\s(?:and\s)?not\s(?:in\s|into\s|under\s)?([\w./`-]*/[\w./`-]*)"
);

/// Corrections, one candidate each.
pub fn find(session: &Session, turns: &[Turn], taken: &mut HashSet<(usize, usize)>) -> Vec<Candidate> {
    let mut out = Vec::new();
    for (nth, turn) in turns.iter().enumerate() {
        let Some(before) = agent_before(session, turn.at) else { continue };
        let Some(first) = turn.sentences.first() else { continue };
        if !MARK.is_match(&judge::plain(&first.text)) || judge::is_unsure(&first.text) {
            continue;
        }
        for (index, sentence) in turn.sentences.iter().enumerate() {
            if sentence.has_gap || !judge::is_fit(&sentence.text) {
                continue;
            }
            if taken.contains(&(turn.at, index)) || is_taken_back(&turns[nth + 1..], &sentence.text) {
                continue;
            }
            let found = rule(session, turn, index, before);
            let ruled = found.is_some();
            if let Some(candidate) = found.or_else(|| fact(session, turn, index, before)) {
                taken.insert((turn.at, index));
                if !ruled && standing::instead(turn, index).is_some() {
                    taken.insert((turn.at, index + 1));
                }
                out.push(candidate);
            }
        }
    }
    out
}

/// What the agent did or said since the person's turn before, or nothing when this turn answers no agent.
fn agent_before(session: &Session, at: usize) -> Option<&[Observation]> {
    let start = session.observations[..at].iter().rposition(|o| o.speaker == Speaker::Human).map_or(0, |last| last + 1);
    let before = &session.observations[start..at];
    before.iter().any(|o| o.speaker == Speaker::Assistant).then_some(before)
}

/// A general instruction.
fn rule(session: &Session, turn: &Turn, index: usize, before: &[Observation]) -> Option<Candidate> {
    let sentence = &turn.sentences[index].text;
    let found = instruction(sentence)
        .filter(|found| found.lasting || standing::stands_alone(turn, index))
        .or_else(|| forms::stop(sentence))
        .filter(|found| !judge::is_about_it(&found.order))?;
    let human = compose::quote(session, turn.observation, &found.words)?;
    // Without the other side it is an instruction like any other, which the next rule finds.
    let wrong = found.instead_of.clone()?;
    let (agent, shown) = agent_side(session, before, &wrong)?;
    let reason = found.reason.clone().or_else(|| standing::following_reason(turn, index));
    let title = standing::title(&found.order);
    let mut body = format!("{}\n\n{}\n", compose::heading(&title), compose::sentence(&found.order));
    if let Some(reason) = &reason {
        body.push_str(&format!("\n## Why\n\n{}\n", compose::reason(reason)));
    }
    body.push_str(&format!(
        "\n## What the agent did\n\n{shown}\n\n## Correction\n\n{}\n",
        compose::block_quote(&found.words)
    ));
    let confidence = signal::sum(
        standing::confidence(&found, reason.is_some()).max(signal::CORRECTION),
        &[(true, signal::REPEATED)],
    );
    Some(compose::page(Kind::Rule, &title, body, confidence, RULE_RATIONALE, vec![human, agent]))
}

/// A fact about the project that the agent had wrong.
fn fact(session: &Session, turn: &Turn, index: usize, before: &[Observation]) -> Option<Candidate> {
    let sentence = &turn.sentences[index].text;
    let plain = judge::plain(sentence);
    let clause = without_filler(&plain);
    if clause.split_whitespace().count() < 4 || !FACT.is_match(clause) || judge::is_past(clause) {
        return None;
    }
    let name = NAME.find_iter(clause).map(|found| found.as_str().trim_matches('`')).find(|name| name.len() >= 3)?;
    let skip = plain.chars().count() - clause.chars().count();
    let words: String = sentence.chars().skip(skip).collect();
    let human = compose::quote(session, turn.observation, &words)?;
    let wrong = NOT_THERE.captures(clause).map(|found| found[1].trim_matches('`').to_owned());
    // The agent's side must speak of the same thing: a folder, a file or a setting of the correction.
    let agent = wrong
        .as_deref()
        .into_iter()
        .chain(NAME.find_iter(clause).map(|found| found.as_str().trim_matches('`')))
        .chain([name])
        .chain(clause.split_whitespace().filter(|word| word.len() >= 5))
        .find_map(|word| agent_side(session, before, word));
    // The correction itself says both sides when it names the wrong place.
    if agent.is_none() && wrong.is_none() {
        return None;
    }
    let title = compose::title(&words);
    let mut body = format!("{}\n\n{}", compose::heading(&title), compose::sentence(&words));
    let mut evidence = vec![human];
    if let Some(instead) = standing::instead(turn, index) {
        body.push_str(&format!(" {}", compose::sentence(instead)));
        evidence.extend(compose::quote(session, turn.observation, instead));
    }
    body.push('\n');
    if let Some((agent, shown)) = agent {
        body.push_str(&format!("\n## What the agent did\n\n{shown}\n"));
        evidence.push(agent);
    }
    body.push_str(&format!("\n## Correction\n\n{}\n", compose::block_quote(&words)));
    Some(compose::page(Kind::Gotcha, &title, body, signal::CORRECTION, FACT_RATIONALE, evidence))
}

/// The last command or sentence of the agent with a thing in it, as evidence and as the page shows it.
fn agent_side(session: &Session, before: &[Observation], thing: &str) -> Option<(Evidence, String)> {
    let thing = thing.to_lowercase();
    before.iter().rev().filter(|o| o.speaker == Speaker::Assistant).find_map(|observation| {
        let words = match observation.kind {
            ObservationKind::ToolCall => match shell_command(observation) {
                Some(command) if holds(&command, &thing) => command,
                Some(_) => return None,
                None => edited(observation, &thing)?,
            },
            _ => super::sentences::split(&crate::session::own_words(&observation.body))
                .into_iter()
                .map(|sentence| sentence.text)
                .find(|text| holds(text, &thing))?,
        };
        if words.chars().count() > 200 || judge::is_local(&words) || judge::is_unsafe(&words) || judge::is_ours(&words)
        {
            return None;
        }
        let shown = match observation.kind {
            ObservationKind::ToolCall if shell_command(observation).is_some() => compose::fenced("sh", &words),
            ObservationKind::ToolCall => format!("Edited `{words}`."),
            _ => compose::block_quote(&words),
        };
        Some((compose::quote(session, observation, &words)?, shown))
    })
}

/// The path of a file that the agent wrote, from the folder on that is spoken of.
fn edited(call: &Observation, thing: &str) -> Option<String> {
    let writes = call.tool.as_deref().is_some_and(|tool| tool_class(tool) == ToolClass::Edit);
    let path = call.title.trim();
    if !writes || !thing.contains('/') || path.contains(char::is_whitespace) || !holds(path, thing) {
        return None;
    }
    path.to_lowercase().find(thing).and_then(|at| path.get(at..)).map(str::to_owned)
}

/// Whether a text holds a thing as words of its own: `npm` is not in `pnpm`.
fn holds(text: &str, thing: &str) -> bool {
    let text = text.to_lowercase();
    let edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    // What stands behind `src/` is part of the same path.
    text.match_indices(thing).any(|(at, _)| {
        edge(text[..at].chars().next_back()) && (thing.ends_with('/') || edge(text[at + thing.len()..].chars().next()))
    })
}
