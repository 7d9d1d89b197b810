//! What candidates are held against, read from the wiki, the queue and the sessions.

use std::collections::HashMap;

use super::citation;
use super::error::Result;
use super::rejections::Rejections;
use super::sidecar::folder;
use super::validate::{self, Context, Generated, Known, Passage, Past, Proposed, Shown, Source, Valid};
use super::{Candidate, Error, Item, Operation, Refusal, Refused, View};
use crate::git::Oid;
use crate::ledger;
use crate::session::{self, Redactor, Session, Speaker};
use crate::wiki::scope::{GLOBAL, Scope};
use crate::wiki::{Kind, Wiki};

/// A session that evidence may cite, with the blobs that hold it.
#[derive(Debug, Clone)]
pub struct Cited {
    /// The session.
    pub session: Session,
    /// The text of its page.
    pub page: String,
    /// The blob of its page.
    pub page_blob: Oid,
    /// The blob of its observations.
    pub observations_blob: Option<Oid>,
}

/// Words that evidence may cite and that stand in no session and no page: what somebody said of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words {
    /// What evidence calls them: `feedback/<event>`.
    pub source: String,
    /// The object that holds them.
    pub blob: String,
    /// Whose they are.
    pub speaker: Speaker,
    /// The words.
    pub text: String,
}

/// Everything that validation asks about, read once.
pub struct Desktop {
    known: Known,
    pending: Vec<Past>,
    rejected: Rejections,
    cited: HashMap<String, Cited>,
    words: HashMap<String, Words>,
    proposed: Proposed,
    redactor: Redactor,
}

/// Who hands the candidates in.
#[derive(Debug, Clone, Copy)]
pub struct Author<'a> {
    /// A person, who needs neither evidence nor confidence.
    pub by_person: bool,
    /// `auto_improve (builtin)`, or the person.
    pub by: &'a str,
    /// The run.
    pub run: Option<&'a str>,
    /// The pages that the reviewer was shown and may change; `None`: it can read all of them.
    pub shown: Option<&'a Shown>,
    /// The kinds that may be written; `None`: those of the review lane.
    pub kinds: Option<&'a [Kind]>,
    /// The session that `obs:<seq>` counts in, for a reviewer that was shown one.
    pub session: Option<&'a str>,
}

impl<'a> Author<'a> {
    /// A lane, which may read every page and write the kinds of the review lane.
    pub fn machine(by: &'a str, run: Option<&'a str>) -> Author<'a> {
        Author { by_person: false, by, run, shown: None, kinds: None, session: None }
    }
}

/// What the review lane and a person may do.
const OPERATIONS: [Operation; 2] = [Operation::Create, Operation::Update];
/// The kinds that they may write.
const KINDS: [Kind; 7] =
    [Kind::Gotcha, Kind::Decision, Kind::Concept, Kind::Procedure, Kind::Rule, Kind::Note, Kind::Slot];

impl Desktop {
    /// Reads the wiki, and what is pending or was rejected on merit.
    pub fn load(wiki: &Wiki, view: &View) -> Result<Desktop> {
        let redact = &wiki.config.settings.redact;
        let redactor = Redactor::new(&redact.extra_patterns, &redact.allow)
            .map_err(|error| Error::Refused(Refused::new("config", error.to_string())))?;
        Ok(Desktop {
            known: Known::load(wiki)?,
            pending: view.open().into_iter().map(|item| past(wiki, item)).collect::<Result<_>>()?,
            rejected: Rejections::of(view),
            cited: HashMap::new(),
            words: HashMap::new(),
            proposed: Proposed::default(),
            redactor,
        })
    }

    /// Counts a change as proposed by this run: its limits hold for all of it.
    pub fn proposes(&mut self, wiki: &Wiki, valid: &Valid) {
        self.proposed.add(valid, &wiki.config.settings.improve);
    }

    /// Why this run proposes nothing more, if so.
    pub fn full(&self, wiki: &Wiki) -> Option<String> {
        self.proposed.full(&wiki.config.settings.improve)
    }

    /// Makes these sessions, and what somebody said, known to evidence, in place of all that was known before.
    pub fn cite(&mut self, cited: Vec<Cited>, words: Vec<Words>) {
        self.cited = cited.into_iter().map(|cited| (cited.session.id.clone(), cited)).collect();
        self.words = words.into_iter().map(|words| (words.source.clone(), words)).collect();
    }

    /// Makes the captured session that a source names known, if there is one and the scope may quote it.
    pub fn cite_source(&mut self, wiki: &Wiki, scope: &Scope, source: &str) -> Result<()> {
        let Some(id) = session_of(source) else { return Ok(()) };
        if self.cited.contains_key(id) {
            return Ok(());
        }
        if let Some((stored, session, page)) = session::load(&wiki.repo, id)?
            && is_open_to(scope, &stored.meta.scope)
        {
            let (page_blob, observations_blob) = (stored.page_blob, stored.observations_blob);
            self.cited.insert(id.to_owned(), Cited { session, page, page_blob, observations_blob });
        }
        Ok(())
    }

    /// Validates candidates of one scope.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn validate(
        &self,
        wiki: &Wiki,
        scope: &Scope,
        author: Author<'_>,
        candidates: Vec<Result<Candidate, Refusal>>,
    ) -> Result<(Vec<Valid>, Vec<Refusal>)> {
        let asked: Vec<&Candidate> = candidates.iter().filter_map(|candidate| candidate.as_ref().ok()).collect();
        let rejected = self.rejected.near(wiki, scope, &author, &asked)?;
        let source = |name: &str| self.source(wiki, scope, &citation::whole(name, author.session));
        let finds_secret = |text: &str| self.redactor.finds_however_spelled(text);
        let context = Context {
            source: &source,
            own_words: &session::own_words,
            finds_secret: &finds_secret,
            rejected: &rejected,
            ..self.context(wiki, scope, author)
        };
        Ok(validate::validate_all(candidates, &context, &wiki.config.settings.improve))
    }

    /// A candidate as a model or a script spelled it.
    pub fn normalise(
        &self,
        wiki: &Wiki,
        scope: &Scope,
        author: Author<'_>,
        raw: &serde_json::Value,
    ) -> Result<Candidate, Refusal> {
        validate::normalise(raw, &self.context(wiki, scope, author))
    }

    fn context<'a>(&'a self, wiki: &'a Wiki, scope: &'a Scope, author: Author<'a>) -> Context<'a> {
        Context {
            scope,
            layout: &wiki.layout,
            known: &self.known,
            shown: author.shown,
            proposed: &self.proposed,
            pending: &self.pending,
            rejected: &[],
            source: &|_| None,
            own_words: &session::own_words,
            finds_secret: &|_| false,
            protection: &wiki.protection,
            protect: wiki.config.settings.wiki.protect,
            operations: &OPERATIONS,
            kinds: author.kinds.unwrap_or(&KINDS),
            by_person: author.by_person,
            generated: Generated { by: author.by, run: author.run },
        }
    }

    /// What an evidence source of a scope stands for.
    fn source(&self, wiki: &Wiki, scope: &Scope, name: &str) -> Option<Source> {
        if let Some(id) = session_of(name) {
            return of_session(self.cited.get(id)?, id, name.split_once('#').map(|(_, seq)| seq));
        }
        if let Some(words) = self.words.get(name) {
            let passage = Passage { blob: words.blob.clone(), speaker: Some(words.speaker), text: words.text.clone() };
            return Some(Source { name: name.to_owned(), passages: vec![passage] });
        }
        let name = name.strip_prefix("pages/").filter(|_| self.known.page(name).is_none()).unwrap_or(name);
        let page = self.known.page(name).filter(|page| is_open_to(scope, &page.scope))?;
        let blob = wiki.repo.entry(wiki.tip?, wiki.full_path(name).as_ref()).ok()??.oid.to_string();
        let text = String::from_utf8_lossy(&page.bytes).into_owned();
        Some(Source { name: name.to_owned(), passages: vec![Passage { blob, speaker: None, text }] })
    }
}

/// A session: its page and all that was observed; with a number, that one observation.
fn of_session(cited: &Cited, id: &str, seq: Option<&str>) -> Option<Source> {
    let seq = seq.map(str::parse::<u32>).transpose().ok()?;
    let blob = cited.observations_blob.unwrap_or(cited.page_blob).to_string();
    let observed = cited.session.observations.iter().filter(|one| seq.is_none_or(|seq| one.seq == seq));
    let mut passages: Vec<Passage> = observed
        .map(|one| Passage { blob: blob.clone(), speaker: Some(one.speaker), text: one.body.clone() })
        .collect();
    let name = match seq {
        Some(_) if passages.is_empty() => return None,
        Some(seq) => format!("sessions/{id}#{seq}"),
        None => {
            passages.push(Passage { blob: cited.page_blob.to_string(), speaker: None, text: cited.page.clone() });
            format!("sessions/{id}.md")
        }
    };
    Some(Source { name, passages })
}

/// Whether what belongs to one scope may be quoted in another: only what is no project's own.
fn is_open_to(scope: &Scope, owner: &str) -> bool {
    owner == scope.name || owner == GLOBAL
}

/// The session in `sessions/<id>.md` or `sessions/<id>#<seq>`.
pub fn session_of(source: &str) -> Option<&str> {
    let rest = source.strip_prefix("sessions/")?;
    let id = rest.split('#').next().unwrap_or(rest);
    Some(id.strip_suffix(".md").unwrap_or(id)).filter(|id| !id.is_empty() && !id.contains('/'))
}

/// A proposal of earlier times, with the text that it wanted to land.
///
/// # Errors
/// When the ledger cannot be read.
pub(super) fn past(wiki: &Wiki, item: &Item) -> Result<Past> {
    let proposal = &item.proposal;
    let path = proposal.paths.first().cloned().unwrap_or_default();
    let recorded = |side: &str| ledger::file(&wiki.repo, &format!("{}/{side}/{path}", folder(item.id())));
    let body = match item.tip {
        Some(tip) => wiki.repo.file(tip, wiki.full_path(&path).as_ref())?,
        None => recorded("after")?,
    };
    let page = wiki.read(path.as_str().into(), &body.unwrap_or_default());
    let operation = Operation::of_word(&proposal.operation);
    let added = match operation {
        // What waits is compared as a whole.
        Operation::Update if item.tip.is_none() => {
            let before = wiki.read(path.as_str().into(), &recorded("before")?.unwrap_or_default());
            validate::added(&before.body, &page.body)
        }
        _ => String::new(),
    };
    Ok(Past {
        id: item.id().parse().map_err(|_| Refused::new("bad_record", format!("bad id {}", item.id())))?,
        operation,
        paths: proposal.paths.clone(),
        kind: Kind::parse(&proposal.kind).unwrap_or(Kind::Note),
        scope: proposal.scope.clone(),
        title: proposal.title.clone(),
        body: page.body,
        added,
        quotes: Vec::new(),
        reason: proposal.reason.clone().unwrap_or_default(),
    })
}
