//! REPORT.md of a run, and its one line: the record in words.

use serde_json::Value;

use super::kept::RESPONSES;
use super::plan::{Consolidation, Gate, Lane, Proactive, Selected, Sync, Triage};
use super::run::{Call, Downgrade, Outcome, Read, Run, RunState, plural};
use super::select::due::Due;
use crate::ledger::MAX_ATTEMPTS;
use crate::proposal::message::one_line;

/// One line: `review: 1 session, 2 proposals, 1 refused`.
pub(super) fn summary(run: &Run) -> String {
    // Runs of older versions have no outcomes; each of their calls was about one session.
    let (sessions, pages) = if run.outcomes.is_empty() {
        (run.calls.iter().filter(|call| !call.is_of_a_gate()).count(), 0)
    } else {
        let looked: Vec<_> = run.ended(&["done", "skipped", "failed"]).collect();
        let sessions = looked.iter().filter(|outcome| outcome.lane == "review").count();
        (sessions, looked.len() - sessions)
    };
    let mut parts = Vec::new();
    if sessions > 0 || pages == 0 {
        parts.push(plural(sessions, "session"));
    }
    if pages > 0 {
        parts.push(plural(pages, "page"));
    }
    parts.push(plural(run.count(&["staged", "reopened", "accepted"]), "proposal"));
    let mut add = |count: usize, word: &str| {
        if count > 0 {
            parts.push(format!("{count} {word}"));
        }
    };
    let accepted = run.count(&["accepted"]);
    add(accepted, if accepted == 1 { "accepted by itself" } else { "accepted by themselves" });
    add(run.count(&["sighted"]), "seen before");
    add(run.count(&["held"]), "held back");
    add(run.refused.len(), "refused");
    add(run.skipped.len(), "skipped");
    add(run.ended(&["failed"]).count(), "failed");
    add(run.ended(&["unavailable", "let_go"]).count(), "left for later");
    add(run.plan.proactive.due.unwrap_or(0), "due for a look");
    format!("{}: {}", lanes(run), parts.join(", "))
}

/// The lanes that had something to do, in the order in which they ran.
pub(super) fn lanes(run: &Run) -> String {
    let mut names: Vec<&str> = Vec::new();
    for outcome in &run.outcomes {
        if !names.contains(&outcome.lane.as_str()) {
            names.push(&outcome.lane);
        }
    }
    if names.is_empty() { "review".to_owned() } else { names.join(", ") }
}

/// What became of one thing, in words.
pub fn outcome(outcome: &Outcome) -> String {
    let attempt = outcome.attempt.map(attempt).unwrap_or_default();
    let words = match outcome.outcome.as_str() {
        "done" => "was looked at".to_owned(),
        "skipped" => "was passed over".to_owned(),
        "failed" if attempt.is_empty() => "failed; an attempt is used up".to_owned(),
        "failed" => format!("failed; {attempt} is used up"),
        "unavailable" => "got no answer; it is tried again".to_owned(),
        "gone" => "is gone".to_owned(),
        "let_go" => "was not reached; it is tried again".to_owned(),
        other => other.to_owned(),
    };
    match &outcome.reason {
        Some(reason) if outcome.outcome == "skipped" => format!("{words}: {}", passed_over(reason)),
        Some(reason) => match &outcome.response {
            Some(reply) => {
                format!("{words}: {reason} (the reply stands in {RESPONSES}/{reply}.txt of the local folder)")
            }
            None => format!("{words}: {reason}"),
        },
        None => words,
    }
}

/// Which attempt it was. After the last one it is looked at by name alone, as often as a person likes.
pub fn attempt(attempt: u32) -> String {
    if attempt > MAX_ATTEMPTS { format!("attempt {attempt}") } else { format!("attempt {attempt} of {MAX_ATTEMPTS}") }
}

/// Why something was passed over, in words.
pub fn passed_over(reason: &str) -> String {
    match reason {
        "unchanged" => "nothing changed since the last look (unchanged)".to_owned(),
        other => other.replace('_', " "),
    }
}

/// What the settings asked for and did not let happen, in words.
pub fn downgrade(down: &Downgrade) -> String {
    let why = match down.reason.as_str() {
        "autonomy_gated" => "approval.autonomy is off",
        "approval_none" => "approval.mode is none",
        other => return format!("{} does nothing by itself: {}", down.what, other.replace('_', " ")),
    };
    format!("{} accepts nothing by itself ({}): {why}", down.what, down.reason)
}

/// A page that is due for somebody's look, in words.
pub fn due(due: &Due) -> String {
    let used = match due.last_use {
        Some(last) => format!("used on {}, last on {last:.10}", plural(due.days_of_use, "day")),
        None => "never used".to_owned(),
    };
    format!(
        "{}: score {:.3}, {}; {used}, utility {:.2}",
        due.page,
        due.score,
        due.reason.replace('_', " "),
        due.utility
    )
}

/// REPORT.md.
pub(super) fn report(run: &Run) -> String {
    let mut text = format!("# Run {}\n\n{}\n\n", run.id, cell(&summary(run)));
    text.push_str("| | |\n|---|---|\n");
    for (name, value) in facts(run) {
        text.push_str(&format!("| {name} | {} |\n", cell(&value)));
    }
    text.push('\n');
    let mut section = |title: &str, rows: Vec<String>| {
        if !rows.is_empty() {
            text.push_str(&format!("## {title}\n\n{}\n\n", rows.join("\n")));
        }
    };
    section("Failed", run.error.iter().map(|error| cell(error)).collect());
    section("Selected", run.plan.selected.iter().map(selected).collect());
    section(
        "Looked at",
        if run.outcomes.is_empty() {
            run.calls
                .iter()
                .filter(|call| !call.is_of_a_gate())
                .map(|call| format!("* `{}` by {}", cell(call.subject()), cell(&call.provider)))
                .collect()
        } else {
            run.outcomes
                .iter()
                .map(|one| format!("* {} `{}` {}", cell(&one.lane), cell(&one.subject), cell(&outcome(one))))
                .collect()
        },
    );
    section(
        "Proposals",
        run.proposals
            .iter()
            .map(|made| {
                let detail = made.detail.as_ref().map(|detail| format!(" ({})", cell(detail))).unwrap_or_default();
                format!("* `{}` {}{detail}: `{}` — {}", made.id, made.outcome, cell(&made.path), cell(&made.title))
            })
            .collect(),
    );
    section(
        "Waiting for a person",
        run.waiting.iter().map(|(id, reason)| format!("* `{}`: {}", cell(id), cell(reason))).collect(),
    );
    section(
        "Refused",
        run.refused
            .iter()
            .map(|refusal| {
                let same = refusal.proposal.as_ref().map(|id| format!(", proposal `{id}`")).unwrap_or_default();
                let summary = cell(&refusal.summary);
                let path = if refusal.path.is_empty() { String::new() } else { format!(" `{}`", cell(&refusal.path)) };
                format!("* {}{path} ({summary}{same}): {}", refusal.code, cell(&refusal.reason))
            })
            .collect(),
    );
    section(
        "Looked at and left out",
        run.rejected_candidates
            .iter()
            .map(|left| {
                let place = if left.path.is_empty() { String::new() } else { format!(" `{}`:", cell(&left.path)) };
                let evidence =
                    if left.evidence.is_empty() { String::new() } else { format!(" — \"{}\"", cell(&left.evidence)) };
                format!("* `{}`:{place} {}{evidence}", cell(&left.session), cell(&left.reason))
            })
            .collect(),
    );
    section(
        "Skipped",
        run.skipped.iter().map(|skip| format!("* `{}`: {}", cell(&skip.session), cell(&skip.reason))).collect(),
    );
    section("Not done by itself", run.downgrades.iter().map(|down| format!("* {}", cell(&downgrade(down)))).collect());
    section("Due for a look", run.plan.proactive.pages.iter().map(|page| format!("* {}", cell(&due(page)))).collect());
    section("Calls", run.calls.iter().map(call).collect());
    section(
        "Replies",
        run.responses.iter().map(|reply| format!("* `{}`, {} bytes", cell(&reply.sha256), reply.bytes)).collect(),
    );
    section("Lanes", run.plan.lanes.iter().chain(&run.plan.judge).map(lane).collect());
    section("Left out", run.plan.gates.iter().map(gate).collect());
    section("Events", run.events.iter().map(|event| format!("* `{}`", cell(event))).collect());
    let config = config(&run.config);
    section("Settings that differ from the defaults", config);
    text.truncate(text.trim_end().len());
    text + "\n"
}

/// The table at the head.
fn facts(run: &Run) -> Vec<(&'static str, String)> {
    let (plan, counts, limits) = (&run.plan, &run.plan.candidates, &run.plan.limits);
    let word = |value: Value| value.as_str().map(str::to_owned).unwrap_or_default();
    let limit = |limit: Option<usize>| limit.map_or_else(|| "none".to_owned(), |limit| limit.to_string());
    let mut facts = vec![
        ("trigger", run.trigger.as_str().to_owned()),
        ("strategy", run.strategy.clone()),
        ("scope", run.scope.clone().unwrap_or_else(|| "all".into())),
        ("operator", run.operator.clone().unwrap_or_else(|| "none".into())),
        ("version", run.version.clone()),
        ("started", run.started_at.to_string()),
        ("took", took(run)),
        ("state", serde_json::to_value(run.state).map(word).unwrap_or_default()),
        ("on", format!("{} {}", plan.snapshot.branch, plan.snapshot.commit.as_deref().unwrap_or("without a commit"))),
        ("search index", plan.snapshot.index.clone()),
        (
            "sessions",
            format!("{} in scope, {} picked, {} selected", counts.in_scope, counts.selected, counts.effective),
        ),
        (
            "limits",
            format!(
                "sessions: command line {}, settings {}, strategy {}; in force {}{}",
                limit(limits.cli),
                limit(limits.stage),
                limit(limits.strategy),
                limit(limits.effective),
                limits.max_pages.map(|most| format!("; pages: {most} in each lane")).unwrap_or_default()
            ),
        ),
        ("put right before", if run.recovered > 0 { plural(run.recovered, "dead run") } else { String::new() }),
        ("held back no longer", plan.released.join(", ")),
        ("triage", triage(&plan.triage)),
        ("proactive", proactive(&plan.proactive)),
        ("consolidation", consolidation(&plan.consolidation)),
        ("sync", sync(&plan.sync)),
        ("not sent", run.unsent.clone().unwrap_or_default()),
        ("events", run.events.len().to_string()),
        ("input", if run.input_hash.is_empty() { "none".into() } else { run.input_hash.clone() }),
    ];
    facts.retain(|(_, value)| !value.is_empty());
    facts
}

/// A run that another one put on record did not come to tell.
fn took(run: &Run) -> String {
    let is_recovered = run.duration_ms == 0 && matches!(run.state, RunState::Staged | RunState::Abandoned);
    if is_recovered { "not known, as its process died".to_owned() } else { format!("{} ms", run.duration_ms) }
}

fn triage(triage: &Triage) -> String {
    let (effective, configured) = (triage.effective.as_str(), triage.configured.as_str());
    let most = format!("at most {}", triage.cap);
    match &triage.reason {
        Some(reason) => format!("{effective} ({reason}); the strategy says {configured}, {most}"),
        None => format!("{effective}, {most}"),
    }
}

fn proactive(proactive: &Proactive) -> String {
    let due = proactive.due.map_or_else(|| "not counted".to_owned(), |due| format!("{due} due"));
    format!(
        "{}; pages that nothing asked about for {} days, {due}, at most {}",
        if proactive.enabled { "on" } else { "off" },
        proactive.days,
        proactive.limit
    )
}

fn consolidation(plan: &Consolidation) -> String {
    let changed = plan.delta.map_or_else(|| "changes not counted".to_owned(), |delta| format!("{delta} changed"));
    format!(
        "{}: {}; {} of at least {}, {changed}, {}",
        if plan.would_run { "runs" } else { "does not run" },
        plan.reason,
        plural(plan.pool, "note"),
        plan.least,
        plural(plan.chunks, "chunk")
    )
}

fn sync(sync: &Sync) -> String {
    let yes = |yes: bool| if yes { "yes" } else { "no" };
    let claims = if sync.claims { "pushed there" } else { "in this repository" };
    let rest = sync.unavailable.as_ref().map(|why| format!("; {why}")).unwrap_or_default();
    format!(
        "commit {}, push {}, remote {}, claims {claims}{rest}",
        yes(sync.commit),
        yes(sync.push),
        sync.remote.as_deref().unwrap_or("none")
    )
}

fn selected(selected: &Selected) -> String {
    let age = selected.age_secs.map(|age| format!(", written {age} s before")).unwrap_or_default();
    format!(
        "* {} `{}` of scope {}: {}, blob `{}`{age}",
        cell(&selected.lane),
        cell(selected.subject()),
        cell(&selected.scope),
        cell(&selected.reason),
        cell(&selected.blob)
    )
}

fn call(call: &Call) -> String {
    let model = call.model.as_deref().map(|model| format!("/{}", cell(model))).unwrap_or_default();
    let tokens = call.tokens.map(|tokens| format!(", {} + {} tokens", tokens.input, tokens.output)).unwrap_or_default();
    let prompt = call.prompt_sha256.as_deref().map(|hash| format!(", prompt `{}`", cell(hash))).unwrap_or_default();
    let error = call.error.as_deref().map(|error| format!(": {}", cell(error))).unwrap_or_default();
    let input = format!(", input `{}`", cell(&call.input_sha256));
    let mut text = format!(
        "* {} `{}` by {}{model}, {} ms{tokens}{prompt}{input}{error}",
        cell(&call.stage),
        cell(call.subject()),
        cell(&call.provider),
        call.ms
    );
    let said = call.summary.iter().map(|summary| format!("in its words: {}", cell(summary)));
    let lines = said.chain(call.read.iter().flat_map(read));
    lines.for_each(|line| text.push_str(&format!("\n  * {line}")));
    text
}

/// What a prompt was made from, in lines.
fn read(read: &Read) -> Vec<String> {
    let at = |what: &str, id: &Option<String>| {
        id.as_deref().map(|id| format!(", {what} `{}`", cell(id))).unwrap_or_default()
    };
    let mut lines = vec![format!(
        "made from template {}{}{}",
        cell(&read.template),
        at("commit", &read.commit),
        at("ledger", &read.ledger)
    )];
    // Questions about one page show it and its neighbours alone.
    if read.observations > 0 || read.pages > 0 || read.indexed > 0 {
        lines.push(format!(
            "shows {} observations ({} left out), {} pages ({} left out), {} of the index ({} left out), {} of what was \
             turned down ({} left out)",
            read.observations,
            read.dropped,
            read.pages,
            read.pages_dropped,
            read.indexed,
            read.index_left_out,
            read.rejections.len(),
            read.rejections_dropped
        ));
    }
    lines.extend(read.blobs.iter().map(|(source, blob)| format!("read `{}` `{}`", cell(source), cell(blob))));
    lines.extend(read.rejections.iter().map(|name| format!("turned down: {}", cell(name))));
    lines
}

fn lane(lane: &Lane) -> String {
    let model = lane.model.as_deref().map(|model| format!("/{}", cell(model))).unwrap_or_default();
    let state = match (&lane.unavailable, lane.enabled) {
        (Some(why), false) => format!("off, by {}{model}; {}", cell(&lane.provider), cell(why)),
        (None, false) => format!("off, by {}{model}", cell(&lane.provider)),
        (Some(why), true) => format!("by {}{model}, does not run: {}", cell(&lane.provider), cell(why)),
        (None, true) => format!("by {}{model}", cell(&lane.provider)),
    };
    format!("* {}: {state}", cell(&lane.name))
}

fn gate(gate: &Gate) -> String {
    let lane = gate.lane.as_deref().map(|lane| format!(" by {}", cell(lane))).unwrap_or_default();
    let page = gate.page.as_deref().map(|page| format!(", `{}`", cell(page))).unwrap_or_default();
    format!("* {}{lane} ({}{page}): {}", gate.removed, cell(&gate.name), cell(&gate.reason))
}

/// `section.key = value`, one line each.
fn config(config: &Value) -> Vec<String> {
    let mut rows = Vec::new();
    for (section, table) in config.as_object().into_iter().flatten() {
        match table.as_object() {
            Some(keys) => rows
                .extend(keys.iter().map(|(key, value)| format!("* `{section}.{key}` = {}", cell(&value.to_string())))),
            None => rows.push(format!("* `{section}` = {}", cell(&table.to_string()))),
        }
    }
    rows
}

/// A text of strangers in a row: one line, whole, in which nothing forms a table or markup of its own.
fn cell(text: &str) -> String {
    one_line(text, usize::MAX).replace('|', "\\|").replace('<', "&lt;").replace('`', "'")
}
