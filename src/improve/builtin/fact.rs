//! Facts about a project that a person tells in passing and that go on to hold: "staging is read only".

use std::collections::HashSet;

use super::frame::{self, Sign};
use super::instruction::without_filler;
use super::judge::{self, pattern};
use super::retraction::is_taken_back;
use super::{Turn, compose, signal};
use crate::proposal::Candidate;
use crate::session::Session;
use crate::wiki::Kind;

/// Why a fact is proposed.
const TOLD: &str = "A person told how things stand in the project.";
/// Why a fact with an order is.
const TOLD_AND_ORDERED: &str = "A person told how things stand in the project, and what follows from it.";

// What a project stands on: what is said of these in the present holds longer than a day.
pattern!(
    GROUND,
    r"(?ix)^(?:(?:the|our|all|most|every|any)\s)?(?:[\w`./-]+\s){0,3}?
      (?:ci|staging|prod|production|pipelines?|runners?|databases?|db|replicas?|apis?|endpoints?|webhooks?|services?|servers?|sandbox|accounts?|suites?|tests?|specs?|builds?|deploys?|deployments?|releases?
        |repos?|folders?|director(?:y|ies)|modules?|packages?|crates?|workers?|jobs?|queues?|caches?|index(?:es)?|indices|apps?|clients?|machines?|branch(?:es)?|main|master|data|fixtures?|schema|sdk|librar(?:y|ies)
        |cluster|containers?|secrets?|tokens?|keys?|config|configs|migrations?|linter|formatter|scripts?|generator|login|auth|permissions?|licen[cs]e|quota|plan|picker|files?|customers|we|repository|environments?|cron|docs|types|backend|frontend|proxy|gateway|firewall|registry|bucket|logs?)\b
      (?:\s(?:in|of|on|for|under|at|behind)\s[\w`./-]+(?:\s[\w`./-]+)?)?\s$"
);
// What is said of it: a state, and no event.
pattern!(
    STATE,
    r"(?ix)^(?:still\s|only\s|always\s|all\s)?(?:
        (?:is|are)\s(?:(?:still\s)?on\s(?:\S+\s)?\S*\d|read[-\s]only|shared|owned|protected|deprecated|legacy|dead\scode|frozen|case[-\s]sensitive|append[-\s]only|immutable|rate[-\s]limited|rotated|rebuilt|replicated|behind\s|hosted|generated|versioned|cached\sfor|pinned|eventually|in\s(?:cents|utc|milliseconds|seconds|bytes)|not\s(?:allowed|available|supported|public|shared))
      | (?:is|are)\snot\s\w+(?:ed|en|wn)\s(?:by|in|on|with|from|to)\s[^,]*,\s(?:it|they)\s[a-z]+s?\s
      | (?:runs?|builds?|works?)\s(?:only\s)?(?:on|in|with|under|against|from)\s
      | (?:needs?|requires?)\s(?:an?\s|the\s)?[\w`./-]+(?:\s[\w`./-]+)?\s(?:running|installed|set|on\sport|to\sbe\s(?:running|up|set)|with\s)
      | (?:expects?|returns?|accepts?|sends?|stores?|uses?)\s(?:all\s|only\s)?[\w`]+(?:\s[\w`]+){0,3}?\s(?:in|as|with|keys|names)\b
      | (?:expects?|uses?)\s[^,]+,\snot\s
      | listens?\son | only\s(?:allows?|accepts?|works?|supports?|runs?|has|have) | (?:does|do)\s?(?:not|n't)\ssupport
      | (?:has|have)\s(?:no|only)\s | (?:don'?t|doesn'?t|do\snot|does\snot)\shave\s
      | (?:reads?|takes?|gets?|comes?|loads?|deploys?|releases?)\s[^,]*?\bfrom\s | (?:lives?|sits?)\s(?:in|under|on|behind)
      | support\s\S*\s?\S*\d | still\suse[sd]?\s
      | (?:can'?t|cannot)\s(?:reach|access|talk\sto|be\s(?:used|reached|changed)) )"
);
// What nobody says of a moment. The rest needs another sign that it is worth keeping.
pattern!(
    FIRM,
    r"(?ix)^(?:still\s|only\s)?(?:(?:is|are)\s(?:(?:still\s)?on\s(?:\S+\s)?\S*\d|behind\s|read[-\s]only|shared|owned|protected|deprecated|frozen|generated\s(?:by|from)|append[-\s]only|immutable|rate[-\s]limited)
      |runs?\s(?:only\s)?on\s[\w.-]+\s\S*\d|listens?\son|only\s(?:allows?|accepts?|works?|supports?)|(?:has|have)\s(?:no|only)\s(?:\S+\s){1,2}(?:access|connection|network|gb|memory)
      |(?:needs?|requires?)\s(?:an?\s|the\s)?[\w`./-]+(?:\s[\w`./-]+)?\s(?:running|installed|on\sport))"
);
pattern!(SET_AGAINST, r"(?ix),\s(?:and\s)?(?:not|never)\s(?:in\s|from\s|on\s|to\s|the\s)?\S+");
pattern!(PLAIN_NEED, r"(?ix)^(?:needs?|requires?)\s(?:an?\s|the\s)?([\w-]+)(?:\s|$)");
pattern!(
    FOLLOWS,
    r"(?ix)(?:[,;]|\s[\x{2013}\x{2014}-])\s*(?:so\s|and\s|therefore\s|which\smeans\s(?:that\s)?)?(?:please\s)?(?:we\s|you\s)?(never|don'?t|do\snot|always|no|only|can'?t|cannot|can\sonly)\s\S+(?:\s\S+)+"
);
pattern!(
    ORDERED,
    r"(?ix)(?:[,;]|\s[\x{2013}\x{2014}-])\s*(?:so\s|and\s|therefore\s)?(?:please\s)?(?:never|don'?t|do\snot|always)\s([a-z-]+)\s\S"
);
pattern!(
    PASSING,
    r"(?ix)\b(?:down|broken|failing|fails|failed|red|green|slow|busy|offline|missing|wrong|bug|bugs|crash\w*|error|errors|twice|forever|500|404|on\sthis\sbranch|i\s|i'm|i've|my|me|just|again|now|currently|fix\sit|fix\sthat|pass\sit|please\slook|weird|friday|monday|deadline|vacation|empty|null)\b"
);
pattern!(ABOUT_A_LOOK, r"(?ix)\b(?:button|header|page|modal|form|icon|colou?r|layout|screen|cart|row|dialog)s?\b");

/// Facts told in passing, one candidate each.
pub fn find(session: &Session, turns: &[Turn], taken: &mut HashSet<(usize, usize)>) -> Vec<Candidate> {
    let mut out = Vec::new();
    for (nth, turn) in turns.iter().enumerate() {
        for (index, sentence) in turn.sentences.iter().enumerate() {
            if sentence.has_gap || taken.contains(&(turn.at, index)) {
                continue;
            }
            let Some(fact) = fact(&sentence.text) else { continue };
            if is_taken_back(&turns[nth + 1..], &fact.words) {
                continue;
            }
            let Some(quote) = compose::quote(session, turn.observation, &fact.words) else { continue };
            taken.insert((turn.at, index));
            let title = compose::title(&fact.words);
            let body = format!("{}\n\n{}\n", compose::heading(&title), compose::sentence(&fact.words));
            let (kind, rationale) = if fact.orders { (Kind::Rule, TOLD_AND_ORDERED) } else { (Kind::Gotcha, TOLD) };
            let confidence = signal::sum(
                signal::TOLD_FACT,
                &[(fact.noted, signal::NAMES_ITS_SCOPE), (fact.follows, signal::GIVES_A_REASON)],
            );
            out.push(compose::page(kind, &title, body, confidence, rationale, vec![quote]));
        }
    }
    out
}

/// A fact in a person's words.
struct Fact {
    words: String,
    /// It was said to be worth knowing.
    noted: bool,
    /// Something follows from it.
    follows: bool,
    /// What follows is an order.
    orders: bool,
}

fn fact(sentence: &str) -> Option<Fact> {
    if !judge::is_fit(sentence) || judge::is_past(sentence) {
        return None;
    }
    let plain = judge::plain(sentence);
    let framed = frame::open(&plain);
    let core = framed.core;
    let noted = framed.says(Sign::Noted) || framed.says(Sign::Lasting) || is_announced(&plain);
    if core.split_whitespace().count() < 4 || PASSING.is_match(core) || ABOUT_A_LOOK.is_match(core) {
        return None;
    }
    let state = core
        .match_indices(' ')
        .take(8)
        .map(|(at, _)| (&core[..=at], &core[at + 1..]))
        .find(|(subject, state)| GROUND.is_match(subject) && (STATE.is_match(state) || PLAIN_NEED.is_match(state)));
    let (_, state) = state?;
    let follows = FOLLOWS.is_match(core) || SET_AGAINST.is_match(core);
    let is_state = STATE.is_match(state);
    let needs = PLAIN_NEED.is_match(state) && noted;
    let worth_keeping = noted || follows || FIRM.is_match(state);
    let task = core.match_indices(", ").any(|(at, _)| {
        let first =
            core[at + 2..].split_whitespace().find(|word| !["so", "please", "and"].contains(word)).unwrap_or_default();
        super::instruction::is_order(first)
    });
    if task || !(is_state || needs) || !worth_keeping || is_a_request(state) {
        return None;
    }
    let orders = ORDERED.captures(core).is_some_and(|found| super::practice::base(&found[1]).is_some());
    let skip = plain.chars().count() - plain[plain.find(core)?..].chars().count();
    let words: String = sentence.chars().skip(skip).take(core.chars().count()).collect();
    Some(Fact { words: without_filler(&words).to_owned(), noted, follows, orders })
}

fn is_announced(plain: &str) -> bool {
    pattern!(
        ANNOUNCED,
        r"(?ix)^(?:\W|and\s|ok\s|but\s)*(?:fyi|btw|by\sthe\sway|note|heads[-\s]up|just\sso\syou\sknow|keep\sin\smind|be\saware|important|one\sgotcha|remember|reminder|actually|that's\s(?:wrong|not\sright)|no,|nope)(?:\W|$)"
    );
    ANNOUNCED.is_match(plain)
}

/// What is to be done to it: "the tests need to be fixed".
fn is_a_request(state: &str) -> bool {
    pattern!(
        REQUEST,
        r"(?ix)^needs?\s(?:to\sbe\s(?:fixed|updated|changed|moved|renamed|removed|added|rewritten)|an?\s(?:rewrite|fixture|link|refactor\w*|fix|test|name|new\s\w+)|more\s)"
    );
    REQUEST.is_match(state)
}
