//! What the ledger knows of one proposal: its state-changing events, put in order.

use std::collections::{BTreeSet, HashMap, HashSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ulid::Ulid;

use super::{Event, EventKind};

/// Where a proposal stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Waits for a decision.
    Pending,
    /// Does not merge any more; `rebase` may mend it.
    Conflicted,
    /// Landed.
    Accepted,
    /// Turned down.
    Rejected,
    /// Landed and taken back.
    Reverted,
    /// Nobody decided in time.
    Expired,
}

impl Status {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Pending => "pending",
            Status::Conflicted => "conflicted",
            Status::Accepted => "accepted",
            Status::Rejected => "rejected",
            Status::Reverted => "reverted",
            Status::Expired => "expired",
        }
    }

    /// Whether it still has a pending ref.
    pub fn is_open(self) -> bool {
        matches!(self, Status::Pending | Status::Conflicted)
    }
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

/// A proposal as its events tell it. Written only to the cache, so in a form that is quick to read. What landed on the branch may say otherwise and is asked elsewhere.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Proposal {
    /// Its id.
    pub id: String,
    /// Its scope.
    pub scope: String,
    /// The lane that made it.
    pub lane: String,
    /// The kind of its page.
    pub kind: String,
    /// What it does.
    pub operation: String,
    /// Its pages, relative to the wiki's root.
    pub paths: Vec<String>,
    /// Its title.
    pub title: String,
    /// 0 to 1.
    pub confidence: f64,
    /// Who wrote the change.
    pub actor: String,
    /// Who ran it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operator: Option<String>,
    /// The run that staged it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The session it came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Why a person must decide, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deferred: Option<String>,
    /// When it was staged first.
    #[serde(with = "jiff::fmt::serde::timestamp::nanosecond::required")]
    pub staged_at: Timestamp,
    /// The wiki commit that the change stands on.
    pub base: String,
    /// The change commit as recorded (a pending ref elsewhere was edited).
    pub tip: String,
    /// Where it stands.
    pub status: Status,
    /// The last event that counted; the next one follows it.
    pub last: Ulid,
    /// When that was.
    #[serde(with = "jiff::fmt::serde::timestamp::nanosecond::required")]
    pub changed_at: Timestamp,
    /// Who decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    /// Why: a reviewer's words, the files of a conflict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// A rejection on merit (not procedural).
    #[serde(default, skip_serializing_if = "is_default")]
    pub merit: bool,
    /// The commit that landed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub landed: Option<String>,
    /// The newest landing or reversal that was known when it was reopened: only newer ones count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seen: Option<String>,
    /// What the gates said of the text that people had made of it, when that landed.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub gates: Map<String, Value>,
    /// The last accept that was refused for what its text says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<Failed>,
    /// How often the same lesson was found again.
    #[serde(default, skip_serializing_if = "is_default")]
    pub sightings: u32,
    /// Whether people changed it after staging.
    #[serde(default, skip_serializing_if = "is_default")]
    pub edited: bool,
    /// `provider/model`, `builtin`, or nothing for a person's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What it aims at, where that is not its pages: `page#section`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub targets: Option<Vec<String>>,
    /// The commits that its events name as landing or reversal.
    #[serde(default, skip_serializing_if = "is_default")]
    pub commits: Vec<String>,
    /// The latest of its state-changing events, where that is not the last that counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    newest: Option<(Timestamp, Ulid)>,
    /// An event follows one that is not known: where what comes next belongs cannot be told without all of them.
    #[serde(default, skip_serializing_if = "is_default")]
    tangled: bool,
}

/// An accept that was refused for what the text says.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Failed {
    /// When.
    pub at: Timestamp,
    /// The commit that was to land.
    pub tip: String,
    /// The stable word for why.
    pub code: String,
    /// Why, in words.
    pub reason: String,
}

impl Failed {
    /// From its event.
    pub(super) fn of(event: &Event) -> Failed {
        let text = |key: &str| event.text(key).unwrap_or_default().to_owned();
        Failed { at: event.at, tip: text("tip"), code: text("code"), reason: text("reason") }
    }
}

impl Proposal {
    /// Folds the trail of one proposal; `None` when its `staged` event is not known (yet).
    pub fn fold(id: &str, mut trail: Vec<Event>, sightings: u32) -> Option<Proposal> {
        order(&mut trail);
        let staged = trail.iter().find(|event| event.kind == EventKind::Staged)?;
        let text = |key: &str| staged.text(key).unwrap_or_default().to_owned();
        let ids: HashSet<Ulid> = trail.iter().map(|event| event.id).collect();
        let paths = staged.data.get("paths").map(strings).unwrap_or_default();
        let mut proposal = Proposal {
            id: id.to_owned(),
            scope: staged.scope.clone(),
            lane: text("lane"),
            kind: text("kind"),
            operation: text("operation"),
            targets: staged.data.get("targets").map(strings).filter(|targets| *targets != paths),
            paths,
            title: text("title"),
            confidence: staged.data.get("confidence").and_then(Value::as_f64).unwrap_or_default(),
            actor: staged.actor.clone(),
            operator: staged.operator.clone(),
            run: staged.run.clone(),
            session: staged.text("session").map(str::to_owned),
            deferred: staged.text("deferred").map(str::to_owned),
            staged_at: staged.at,
            base: text("base"),
            tip: text("tip"),
            status: Status::Pending,
            last: staged.id,
            changed_at: staged.at,
            decided_by: None,
            reason: None,
            merit: false,
            landed: None,
            seen: None,
            gates: Map::new(),
            failed: None,
            sightings,
            edited: false,
            model: trail.first().and_then(|event| event.text("model")).map(str::to_owned),
            commits: Vec::new(),
            newest: None,
            tangled: trail.iter().any(|event| event.after.is_some_and(|after| !ids.contains(&after))),
        };
        for event in &trail {
            proposal.apply(event);
        }
        let newest = trail.iter().map(|event| (event.at, event.id)).max();
        proposal.newest = newest.filter(|newest| *newest != (proposal.changed_at, proposal.last));
        Some(proposal)
    }

    /// Adds one event to those that were folded. False when it does not simply come last, so that only folding all of
    /// them again gives the right state.
    pub(super) fn follow(&mut self, event: &Event) -> bool {
        let newest = self.newest.unwrap_or((self.changed_at, self.last));
        let comes_last = event.after == Some(self.last) && (event.at, event.id) > newest;
        if self.tangled || !comes_last || event.kind == EventKind::Staged {
            return false;
        }
        self.apply(event);
        self.newest = Some((event.at, event.id)).filter(|newest| *newest != (self.changed_at, self.last));
        true
    }

    /// One event. A decision that meets one already made (two people at once) loses: the earlier stands.
    fn apply(&mut self, event: &Event) {
        self.commits.extend(["landed", "reversal"].iter().filter_map(|key| event.text(key)).map(str::to_owned));
        let open = self.status.is_open();
        let status = match event.kind {
            EventKind::Edited if open => {
                self.tip = event.text("tip").unwrap_or(&self.tip).to_owned();
                self.base = event.text("base").unwrap_or(&self.base).to_owned();
                self.edited |= event.data.get("rebased").is_none() || event.data.get("edited").is_some();
                Status::Pending
            }
            EventKind::Conflicted if open => Status::Conflicted,
            EventKind::Accepted if open => {
                self.landed = event.text("landed").map(str::to_owned);
                self.gates = event.data.get("gates").and_then(Value::as_object).cloned().unwrap_or_default();
                Status::Accepted
            }
            EventKind::Rejected if open => {
                self.merit = event.data.get("merit").and_then(Value::as_bool).unwrap_or(true);
                Status::Rejected
            }
            EventKind::Expired if open => Status::Expired,
            EventKind::Reverted if self.status == Status::Accepted => Status::Reverted,
            EventKind::Reopened if !open => {
                self.tip = event.text("tip").unwrap_or(&self.tip).to_owned();
                self.base = event.text("base").unwrap_or(&self.base).to_owned();
                self.seen = event.text("seen").map(str::to_owned);
                self.deferred = event.text("deferred").map(str::to_owned).or(self.deferred.take());
                self.landed = None;
                self.gates.clear();
                Status::Pending
            }
            _ => return,
        };
        self.status = status;
        self.last = event.id;
        self.changed_at = event.at;
        self.reason = event.text("reason").map(str::to_owned);
        self.decided_by =
            if status.is_open() { None } else { event.operator.clone().or_else(|| Some(event.actor.clone())) };
    }
}

/// What a cache of thousands need not say of each.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Causal order first (`after`), time and id between concurrent events.
pub fn order(trail: &mut Vec<Event>) {
    trail.sort_unstable_by_key(|event| (event.at, event.id));
    let mut seen = HashSet::new();
    trail.retain(|event| seen.insert(event.id));
    let places: HashMap<Ulid, usize> = trail.iter().enumerate().map(|(at, event)| (event.id, at)).collect();
    let mut ready = BTreeSet::new();
    let mut followers = vec![Vec::new(); trail.len()];
    for (at, event) in trail.iter().enumerate() {
        match event.after.and_then(|after| places.get(&after)) {
            Some(&before) => followers[before].push(at),
            None => drop(ready.insert(at)),
        }
    }
    let mut waiting: BTreeSet<usize> = (0..trail.len()).collect();
    let mut events: Vec<Option<Event>> = std::mem::take(trail).into_iter().map(Some).collect();
    // The first whose predecessor is placed or unknown; a cycle falls back to time.
    while let Some(next) = ready.pop_first().or_else(|| waiting.first().copied()) {
        waiting.remove(&next);
        ready.extend(followers[next].iter().filter(|follower| waiting.contains(follower)));
        trail.extend(events[next].take());
    }
}

fn strings(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(|item| item.as_str().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Events of which each follows the one before it, by clocks that run backwards.
    fn backwards(count: u64) -> Vec<Event> {
        let id = |number: u64| Ulid::from_parts(number, u128::from(number));
        let event = |number: u64| {
            let mut event = Event::new(EventKind::Edited, "global", "A <a@example.org>");
            event.id = id(number);
            event.at = Timestamp::from_second(1_000_000 - number as i64).unwrap_or_default();
            event.after((number > 0).then(|| id(number - 1)))
        };
        (0..count).map(event).collect()
    }

    #[test]
    fn what_follows_comes_later_whatever_the_clocks_say() {
        // So many that comparing each with each would take minutes.
        let wanted = backwards(20_000);
        let mut trail: Vec<Event> = wanted.iter().rev().chain(&wanted).cloned().collect();
        order(&mut trail);
        assert_eq!(trail, wanted);
    }

    #[test]
    fn events_that_follow_each_other_in_a_circle_stand_by_their_times() {
        let mut trail = backwards(3);
        trail[0].after = Some(trail[2].id);
        order(&mut trail);
        let ids: Vec<u64> = trail.iter().map(|event| event.id.timestamp_ms()).collect();
        assert_eq!(ids, [2, 0, 1]);
    }
}
