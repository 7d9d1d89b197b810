//! A model's reply on its way to valid candidates: none is lost, none costs another, and each that is refused has one
//! reason.

use std::sync::LazyLock;

use git_memory::config::{Improve, Protect};
use git_memory::improve::lanes::fuzzed;
use git_memory::model::first_json;
use git_memory::proposal::validate::{
    Context, Generated, Known, KnownPage, Passage, Proposed, Source, Valid, id_of, normalise, validate_all,
};
use git_memory::proposal::{Candidate, Operation, ReasonCode, Refusal};
use git_memory::session::{From, Outcome, Policy, ReadOptions, Session, own_words, read};
use git_memory::wiki::scope::{Scope, Scopes};
use git_memory::wiki::{Kind, Layout, Page, Protection, path};
use serde_json::Value;

use crate::{REDACTOR, in_time};

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/replies");

/// What stands in the wiki of the recorded replies.
const PAGES: [&str; 9] = [
    "gotchas/carriage-returns.md",
    "gotchas/import-ends-early.md",
    "_rules/import.md",
    "_slots/current-focus.md",
    "notes/kitchen.md",
    "notes/export-server.md",
    "concepts/tide-tables.md",
    "decisions/station-list.md",
    "procedures/run-the-import.md",
];

const KINDS: [Kind; 7] =
    [Kind::Gotcha, Kind::Decision, Kind::Concept, Kind::Procedure, Kind::Rule, Kind::Note, Kind::Slot];

/// The wiki and the session that the recorded replies are about.
struct World {
    layout: Layout,
    scopes: Scopes,
    known: Known,
    session: Session,
    protection: Protection,
    /// No limit of a run: candidates are to be told apart by themselves alone.
    limits: Improve,
}

fn world() -> World {
    let (layout, scopes) = (Layout::default(), Scopes::new(Vec::new()));
    let mut known = Known::default();
    for path in PAGES {
        let bytes = std::fs::read(format!("{FIXTURES}/wiki/{path}")).expect("a page");
        let scope = &scopes.of_page(path).name;
        known.add_page(path, KnownPage::new(Page::read(path.into(), &bytes, &layout, ""), bytes, scope));
    }
    let policy = Policy::new(true, false, &[]).expect("no patterns");
    let options = ReadOptions { redactor: &REDACTOR, policy: &policy };
    let (outcome, _) = read(format!("{FIXTURES}/session.jsonl").as_ref(), From::Claude, options).expect("a session");
    let Outcome::Sessions(mut sessions) = outcome else { panic!("no session") };
    World {
        layout,
        scopes,
        known,
        session: sessions.remove(0),
        protection: Protection::new(&git_memory::config::Wiki::default()),
        limits: Improve {
            max_proposals_per_run: usize::MAX,
            max_patch_edits_per_run: usize::MAX,
            ..Improve::default()
        },
    }
}

thread_local! {
    static WORLD: World = world();
}

impl World {
    fn source(&self, name: &str) -> Option<Source> {
        let found = |passages| Some(Source { name: name.to_owned(), passages });
        if let Some(rest) = name.strip_prefix("sessions/") {
            let (id, seq) = rest.split_once('#').map_or((rest, None), |(id, seq)| (id, Some(seq)));
            if id.trim_end_matches(".md") != self.session.id {
                return None;
            }
            let all = self.session.observations.iter();
            let named = all.filter(|one| seq.is_none_or(|seq| seq.parse() == Ok(one.seq)));
            let passage = |one: &git_memory::session::Observation| Passage {
                blob: "b1".into(),
                speaker: Some(one.speaker),
                text: one.body.clone(),
            };
            return found(named.map(passage).collect());
        }
        let page = self.known.page(name)?;
        let text = String::from_utf8_lossy(&page.bytes).into_owned();
        found(vec![Passage { blob: "b2".into(), speaker: None, text }])
    }

    fn with<T>(&self, done: impl FnOnce(&Context<'_>) -> T) -> T {
        done(&Context {
            scope: &self.scopes.all[0],
            layout: &self.layout,
            known: &self.known,
            shown: None,
            proposed: &Proposed::default(),
            pending: &[],
            rejected: &[],
            source: &|name| self.source(name),
            own_words: &own_words,
            finds_secret: &|text| REDACTOR.finds(text),
            protection: &self.protection,
            protect: Protect::Defer,
            operations: &[Operation::Create, Operation::Update],
            kinds: &KINDS,
            by_person: false,
            generated: Generated { by: "auto_improve (fuzz/some-model)", run: Some("01J00000000000000000000000") },
        })
    }
}

/// One reply.
pub fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Some(value) = first_json(&text) else { return };
    let Ok(mut proposals) = fuzzed::review(&value, bytes.len() as u64) else { return };
    proposals.push(good());
    WORLD.with(|world| world.with(|context| each_for_itself(&proposals, context, &world.limits, bytes.len())));
}

/// All of them together, and each alone: it must be the same.
fn each_for_itself(proposals: &[Value], context: &Context<'_>, limits: &Improve, bytes: usize) {
    let all = |raws: &[Value]| validate_all(raws.iter().map(|raw| normalise(raw, context)).collect(), context, limits);
    let (valid, refused) = in_time(bytes, || all(proposals));
    assert_eq!(valid.len() + refused.len(), proposals.len(), "one was lost, or counted twice");
    valid.iter().for_each(|valid| is_sound(valid, context.scope, limits));
    refused.iter().for_each(has_a_reason);
    // Each by itself comes to the same; only a twin that passed before it stands in its way.
    let twins = refused.iter().filter(|refusal| refusal.code == ReasonCode::AlreadyPending).count();
    let (mut passed, mut codes) = (0, Vec::new());
    for raw in proposals {
        let (valid, refused) = all(std::slice::from_ref(raw));
        passed += valid.len();
        codes.extend(refused.into_iter().map(|refusal| refusal.code));
    }
    assert_eq!(passed, valid.len() + twins, "one costs another");
    let mut together: Vec<ReasonCode> = refused.iter().map(|refusal| refusal.code).collect();
    together.retain(|code| *code != ReasonCode::AlreadyPending);
    assert_eq!(codes, together, "in company the reason is another");
}

/// What passes wherever it stands.
fn good() -> Value {
    static GOOD: LazyLock<Value> = LazyLock::new(|| {
        let text = std::fs::read_to_string(format!("{FIXTURES}/good-gotcha.json")).expect("a reply");
        let reply = first_json(&text).expect("a reply");
        reply["proposals"][0].clone()
    });
    GOOD.clone()
}

/// A change that may be staged: on one page of the wiki, within limits, without secrets, and of one id.
fn is_sound(valid: &Valid, scope: &Scope, limits: &Improve) {
    let candidate: &Candidate = &valid.candidate;
    path::check(&candidate.path).unwrap_or_else(|fault| panic!("{}: {fault}", candidate.path));
    assert_eq!(valid.id, id_of(scope, candidate));
    assert!((limits.min_confidence..=1.0).contains(&candidate.confidence), "{}", candidate.confidence);
    assert!(!candidate.evidence.is_empty() && candidate.evidence.iter().all(|evidence| evidence.blob.is_some()));
    assert!(!candidate.title.is_empty() && !candidate.title.contains(char::is_control), "{:?}", candidate.title);
    assert_eq!(valid.changes.keys().collect::<Vec<_>>(), [&candidate.path]);
    let written = &valid.changes[&candidate.path];
    assert_eq!(written.before.is_some(), candidate.operation == Operation::Update, "{candidate:?}");
    let after = written.after.as_deref().expect("nothing is deleted");
    assert_ne!(written.before.as_deref(), Some(after));
    let text = std::str::from_utf8(after).expect("pages stay text");
    assert!(!REDACTOR.finds(text), "a secret in {text}");
    let page = Page::read(candidate.path.as_str().into(), after, &Layout::default(), "");
    assert_eq!(page.front.fault, None, "{text}");
    assert_eq!(page.kind, Some(candidate.kind), "{text}");
    if candidate.kind == Kind::Rule {
        assert!(valid.deferred.is_some(), "a rule lands without a person");
    }
}

/// A refusal as it stands in the run record.
fn has_a_reason(refusal: &Refusal) {
    assert!(refusal.reason.len() > 20, "says too little: {refusal:?}");
    for text in [&refusal.path, &refusal.summary, &refusal.reason] {
        assert!(text.chars().count() <= 501 && !REDACTOR.finds(text), "{text}");
    }
}
