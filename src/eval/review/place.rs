//! The wiki that a case is played in: a bare repository among the temporary files, gone when the case is over.

use std::io::Write;
use std::path::Path;

use bstr::BString;

use super::case::{Case, Earlier};
use crate::config::Settings;
use crate::git::{self, Batch, Entry, Git, Mode, NewCommit, Person, RefEdit, Repo};
use crate::ledger;
use crate::proposal::desk::{Desk, Hand};
use crate::proposal::propose::{Writer, propose};
use crate::proposal::reject;
use crate::wiki::Wiki;

/// The wiki's branch there.
const BRANCH: &str = "main";

/// What git reads there over the person's own configuration: nobody's hooks, no signatures.
const CONFIG: &str = "[user]\n\tname = Case Player\n\temail = cases@git-memory.invalid\n[core]\n\thooksPath = /dev/null\n\
                      [commit]\n\tgpgSign = false\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n\
                      [memory \"wiki\"]\n\tbranch = main\n";

/// A wiki that is thrown away.
pub(super) struct Place {
    /// The wiki.
    pub wiki: Wiki,
    _folder: tempfile::TempDir,
}

impl Place {
    /// Makes the wiki of a case, with the pages of its start and the proposals of earlier times.
    pub fn make(case: &Case, measured: &Settings) -> Result<Place, String> {
        let folder = folder()?;
        let mut wiki = begin(folder.path(), &case.pages).map_err(|error| error.to_string())?;
        wiki.config.settings = of_reviewer(measured);
        for earlier in &case.earlier {
            propose_earlier(&mut wiki, earlier)?;
        }
        wiki.refresh().map_err(|error| error.to_string())?;
        Ok(Place { wiki, _folder: folder })
    }
}

/// The settings that hold outside of any wiki: the person's own, git's, and those of the environment.
///
/// # Errors
/// In words, when they cannot be used or no repository can be made.
pub fn outside() -> Result<Settings, String> {
    let folder = folder()?;
    Ok(begin(folder.path(), &[]).map_err(|error| error.to_string())?.config.settings)
}

fn folder() -> Result<tempfile::TempDir, String> {
    let folder = tempfile::Builder::new().prefix("git-memory-case-").tempdir();
    folder.map_err(|error| format!("cannot make a folder: {error}"))
}

fn begin(folder: &Path, pages: &[(String, Vec<u8>)]) -> Result<Wiki, Box<dyn std::error::Error>> {
    Git::anywhere().args(["init", "--quiet", "--bare", "--template="]).arg(folder).run()?;
    let config = std::fs::OpenOptions::new().append(true).open(folder.join("config"));
    config.and_then(|mut file| file.write_all(CONFIG.as_bytes()))?;
    let repo = Repo::open(folder)?;
    start(&repo, pages)?;
    let wiki = Wiki::of(repo, None)?;
    let names: Vec<&str> = wiki.scopes.all.iter().map(|scope| scope.name.as_str()).collect();
    ledger::begin(&wiki.repo, &names)?;
    Ok(wiki)
}

/// The commit that holds the pages of the start.
fn start(repo: &Repo, pages: &[(String, Vec<u8>)]) -> git::Result<()> {
    let mut batch = Batch::new(repo);
    let mut edits: Vec<(BString, Option<Entry>)> = Vec::new();
    for (path, bytes) in pages {
        edits.push((path.as_str().into(), Some(Entry { mode: Mode::Blob, oid: batch.blob(bytes)? })));
    }
    let tree = batch.tree(None, &edits)?;
    let player = repo.operator()?;
    let commit = batch.commit(&NewCommit {
        tree,
        parents: Vec::new(),
        author: player.clone(),
        committer: player,
        time: ledger::now().as_second(),
        message: "memory: start the wiki\n".into(),
        sign: false,
    })?;
    batch.flush()?;
    let edit = RefEdit { name: format!("refs/heads/{BRANCH}"), old: None, new: Some(commit) };
    repo.update_refs(&[edit], "memory: start the wiki")
}

/// What is measured is the reviewer: its settings hold, and those of a wiki's shape, of capture and of schedules do not,
/// so that a case is the same everywhere.
fn of_reviewer(measured: &Settings) -> Settings {
    Settings {
        model: measured.model.clone(),
        improve: measured.improve.clone(),
        approval: measured.approval.clone(),
        redact: measured.redact.clone(),
        eval: measured.eval.clone(),
        ..Settings::default()
    }
}

fn propose_earlier(wiki: &mut Wiki, earlier: &Earlier) -> Result<(), String> {
    let person: Person = wiki.repo.operator().map_err(|error| error.to_string())?;
    let writer = Writer { person: person.clone(), operator: person, by_hand: true, deferred: None };
    let made = propose(wiki, None, &writer, vec![Ok(earlier.candidate.clone())]).map_err(|error| error.to_string())?;
    let [made] = &made[..] else { return Err("an earlier proposal is answered for more than once".into()) };
    let Some(id) = made.id.clone().filter(|_| made.is_well()) else {
        let why = made.message.as_deref().unwrap_or(&made.outcome);
        return Err(format!("the earlier proposal for {} cannot be staged: {why}", made.path));
    };
    if let Some(reason) = &earlier.rejected {
        let desk = Desk::open(wiki).map_err(|error| error.to_string())?;
        let hand = Hand::operator(wiki).map_err(|error| error.to_string())?;
        reject::reject(&desk, wiki, &[id], &hand, reason, true).map_err(|error| error.to_string())?;
    }
    Ok(())
}
