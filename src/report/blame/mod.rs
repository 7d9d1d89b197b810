//! Blame: for each line of a page the proposal that brought it, its evidence and session, and who approved it.

mod landed;
mod trace;

use std::collections::{HashMap, HashSet};

use bstr::{BStr, ByteSlice};
use jiff::Timestamp;
use serde::Serialize;

use crate::git::{self, Commit, Oid};
use crate::ledger::{Cache, Status};
use crate::proposal::trailers::{self, Trailers};
use crate::proposal::{Evidence, Item, Sidecar, View, sidecar};
use crate::wiki::Wiki;
use landed::History;
use trace::Traced;

/// Why a page cannot be blamed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Git's trouble.
    #[error(transparent)]
    Git(#[from] git::Error),
    /// No such page.
    #[error("there is no page `{page}` {place}")]
    NoSuchPage {
        /// As named.
        page: String,
        /// Where it was looked for.
        place: String,
    },
}

/// A page's lines and where they come from.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Blame {
    /// The page, relative to the wiki's root.
    pub page: String,
    /// The commit whose page it is.
    pub commit: String,
    /// Its lines, top to bottom.
    pub lines: Vec<Line>,
    /// What the lines come from, each once, in the order of their first lines.
    pub sources: Vec<Source>,
    /// Parts of the ledger that could not be read.
    #[serde(skip)]
    pub faults: Vec<String>,
}

/// One line.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Line {
    /// Its number, from 1.
    pub line: usize,
    /// Its number in the commit that wrote it.
    pub original: usize,
    /// Its place in `sources`, from 0.
    pub source: usize,
    /// Its text. What is no UTF-8 is replaced.
    pub text: String,
}

/// What lines come from: a commit, and the proposal that it belongs to.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Source {
    /// The commit that wrote the lines.
    pub commit: String,
    /// Who wrote it.
    pub author: String,
    /// When, by the committer's clock.
    pub at: Timestamp,
    /// The first line of its message.
    pub subject: String,
    /// The page's path in that commit, relative to the wiki's root.
    pub path: String,
    /// The proposal; none when a person's commit wrote the lines; several when one commit landed them and which of
    /// them wrote the lines cannot be told.
    pub proposals: Vec<Origin>,
    /// A person wrote the lines on the proposal's branch, after it was staged.
    pub edited: bool,
    /// What only brought the lines back after they had been taken away.
    pub restored: Option<Restored>,
}

/// A proposal that lines come from.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Origin {
    /// Its id.
    pub id: String,
    /// Its title; nothing where there is no ledger.
    pub title: Option<String>,
    /// Where it stands now; nothing where there is no ledger.
    pub status: Option<Status>,
    /// The kind of its page.
    pub kind: Option<String>,
    /// The lane that made it.
    pub lane: Option<String>,
    /// The session it came from.
    pub session: Option<String>,
    /// The run that staged it.
    pub run: Option<String>,
    /// `provider/model`, `builtin`, or nothing for a person's.
    pub model: Option<String>,
    /// What it rests on.
    pub evidence: Vec<Evidence>,
    /// The commit that landed the lines.
    pub landing: Option<String>,
    /// `accepted` or `auto-accepted`; nothing when it was merged by hand.
    pub decision: Option<String>,
    /// By what right: `manual`, `gated`, `all`, `staged`; nothing when it was merged by hand.
    pub policy: Option<String>,
    /// Who let it in: the reviewer, else the author of the landing.
    pub approved_by: Option<String>,
}

/// A commit that brought lines back.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Restored {
    /// The commit.
    pub commit: String,
    /// Who made it.
    pub by: String,
    /// When.
    pub at: Timestamp,
    /// The proposal that it took back; nothing when it was made by hand.
    pub proposal: Option<String>,
}

/// Where the lines of a page come from: at a commit, else at the branch's tip.
///
/// # Errors
/// [`Error::NoSuchPage`] when it is not there; what git says else.
pub fn blame(wiki: &Wiki, page: &str, at: Option<Oid>) -> Result<Blame, Error> {
    let path = wiki.full_path(page);
    let missing = || {
        let place = at.map_or_else(|| format!("on branch {}", wiki.branch_name()), |at| format!("in commit {at}"));
        Error::NoSuchPage { page: page.to_owned(), place }
    };
    let commit = at.or(wiki.tip).ok_or_else(missing)?;
    if wiki.repo.file(commit, path.as_ref())?.is_none() {
        return Err(missing());
    }
    let traced = trace::trace(&wiki.repo, commit, path.as_ref())?;
    let wanted: HashSet<Oid> = traced.iter().map(|line| line.commit).collect();
    let mut teller = Teller {
        wiki,
        history: History::read(&wiki.repo, commit, &wanted)?,
        view: View::load(wiki, Cache::Use)?,
        commits: HashMap::new(),
        written: HashMap::new(),
        sources: Vec::new(),
        places: HashMap::new(),
        faults: Vec::new(),
    };
    let mut lines = Vec::with_capacity(traced.len());
    for (at, line) in traced.into_iter().enumerate() {
        let source = teller.source(&line)?;
        let text = line.text.to_str_lossy().trim_end_matches('\r').to_owned();
        lines.push(Line { line: at + 1, original: line.line, source, text });
    }
    let mut faults = std::mem::take(&mut teller.view.state.faults);
    faults.append(&mut teller.faults);
    Ok(Blame { page: page.to_owned(), commit: commit.to_string(), lines, sources: teller.sources, faults })
}

/// Tells the sources of lines, each once.
struct Teller<'w> {
    wiki: &'w Wiki,
    history: History,
    view: View,
    commits: HashMap<Oid, (Commit, Vec<Trailers>)>,
    /// By proposal: the lines that it added to the page, as the ledger has them.
    written: HashMap<String, HashSet<Vec<u8>>>,
    sources: Vec<Source>,
    places: HashMap<(Oid, Option<Oid>, Vec<String>), usize>,
    faults: Vec<String>,
}

impl Teller<'_> {
    /// The place of a line's source.
    fn source(&mut self, line: &Traced) -> git::Result<usize> {
        if !self.commits.contains_key(&line.commit) {
            let commit = self.wiki.repo.commit(line.commit)?;
            let named = self.history.proposals(&self.wiki.repo, &commit);
            self.commits.insert(line.commit, (commit, named));
        }
        let (commit, mut named) = self.commits[&line.commit].clone();
        let path = self.wiki.page_path(line.path.as_ref()).unwrap_or(line.path.as_ref()).to_str_lossy().into_owned();
        if named.len() > 1 {
            named = self.narrowed(named, &path, line.text.as_ref())?;
        }
        let ids = named.iter().map(|named| named.proposal.clone()).collect();
        let key = (line.commit, line.restored, ids);
        if let Some(&place) = self.places.get(&key) {
            return Ok(place);
        }
        let restored = line.restored.map(|commit| self.restored(commit)).transpose()?;
        let proposals = named.into_iter().map(|named| self.origin(named, &commit)).collect::<git::Result<Vec<_>>>()?;
        let subject = first_line(&commit);
        let edit = subject.starts_with("memory: edit ") || trailers::trailers(commit.message.as_ref()).is_empty();
        self.sources.push(Source {
            commit: commit.oid.to_string(),
            author: commit.author.to_string(),
            at: time(&commit),
            edited: edit && !proposals.is_empty(),
            subject,
            path,
            proposals,
            restored,
        });
        self.places.insert(key, self.sources.len() - 1);
        Ok(self.sources.len() - 1)
    }

    /// Of several proposals that landed in one commit those that may have written a line, by what the ledger has of
    /// them; all, when that tells nothing.
    fn narrowed(&mut self, named: Vec<Trailers>, page: &str, line: &BStr) -> git::Result<Vec<Trailers>> {
        let mut fitting = Vec::new();
        for one in &named {
            if !self.written.contains_key(&one.proposal) {
                let page = [page.to_owned()];
                let mut lines = HashSet::new();
                for change in sidecar::recorded_changes(&self.wiki.repo, &one.proposal, &page)? {
                    let split = |text: Option<Vec<u8>>| -> HashSet<Vec<u8>> {
                        text.unwrap_or_default().lines().map(<[u8]>::to_vec).collect()
                    };
                    let before = split(change.before);
                    lines.extend(split(change.after).into_iter().filter(|line| !before.contains(line)));
                }
                self.written.insert(one.proposal.clone(), lines);
            }
            let text = line.strip_suffix(b"\r").unwrap_or(line);
            if self.written[&one.proposal].contains(text) {
                fitting.push(one.clone());
            }
        }
        Ok(if fitting.is_empty() { named } else { fitting })
    }

    fn origin(&mut self, named: Trailers, commit: &Commit) -> git::Result<Origin> {
        let landing = self.history.landing(commit.oid);
        let said = landing.and_then(|landing| {
            trailers::trailers(landing.message.as_ref()).into_iter().find(|said| said.proposal == named.proposal)
        });
        let approved_by = said.as_ref().and_then(|said| said.reviewed_by.clone());
        let item = self.view.items.iter().find(|item| item.id() == named.proposal);
        let evidence = match Sidecar::load(&self.wiki.repo, &named.proposal) {
            Ok(Some(sidecar)) => sidecar.evidence,
            // A clone without the ledger: the change commit carries the quotes too.
            Ok(None) => trailers::quotes(commit.message.as_ref()),
            Err(error) => {
                self.faults.push(error.to_string());
                trailers::quotes(commit.message.as_ref())
            }
        };
        let of = |field: fn(&Item) -> Option<String>| item.and_then(field);
        Ok(Origin {
            title: of(|item| Some(item.proposal.title.clone())),
            status: item.map(|item| item.status),
            kind: named.kind.or_else(|| of(|item| Some(item.proposal.kind.clone()))),
            lane: named.lane.or_else(|| of(|item| Some(item.proposal.lane.clone()))),
            session: named.session.or_else(|| of(|item| item.proposal.session.clone())),
            run: named.run.or_else(|| of(|item| item.proposal.run.clone())),
            model: named.model.or_else(|| of(|item| item.proposal.model.clone())),
            evidence,
            landing: landing.map(|landing| landing.oid.to_string()),
            decision: said.as_ref().and_then(|said| said.decision.clone()),
            policy: said.and_then(|said| said.policy),
            approved_by: approved_by.or_else(|| landing.map(|landing| landing.author.to_string())),
            id: named.proposal,
        })
    }

    fn restored(&self, commit: Oid) -> git::Result<Restored> {
        let commit = self.wiki.repo.commit(commit)?;
        let proposal = trailers::taken_back(commit.message.as_ref()).and_then(|taken| taken.proposal);
        Ok(Restored { commit: commit.oid.to_string(), by: commit.author.to_string(), at: time(&commit), proposal })
    }
}

fn time(commit: &Commit) -> Timestamp {
    Timestamp::from_second(commit.time).unwrap_or(Timestamp::UNIX_EPOCH)
}

fn first_line(commit: &Commit) -> String {
    commit.message.lines().next().unwrap_or_default().to_str_lossy().into_owned()
}
