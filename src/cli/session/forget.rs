//! `git memory session forget`.

use std::io::Write;

use serde::Serialize;

use super::super::{CliError, Context, Exit, Meaning, Result, ask, shown};
use super::find;
use crate::agent::{capture::pages, discover};
use crate::git::{self, fault};
use crate::improve::kept;
use crate::ledger::Cache;
use crate::proposal::View;
use crate::report::sessions::{self, Captured, Quoting, Sessions};
use crate::session::{self, Gone, Leaving, whole};
use crate::wiki::Wiki;

/// Forget sessions: what was captured of them, their pages, and what is kept locally of them.
///
/// A session goes with the subagents that it started. Captures leave it out from then on; `git memory capture --session
/// ID --again` brings it back. Proposals that quote it stay, marked: no policy accepts them any more. What git's history
/// still holds afterwards, and how to be rid of that, is printed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The sessions, by their ids or how they begin (at least 4 characters)
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,

    /// Only say what would go
    #[arg(long)]
    dry_run: bool,
}

/// What `session forget --json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Forgotten {
    /// Nothing was changed.
    dry_run: bool,
    /// The sessions that went, or would go.
    sessions: Vec<Session>,
    /// Proposals that quote them.
    proposals: Vec<Proposal>,
    /// What still holds words of them, and how to be rid of it.
    remains: Vec<Remains>,
}

/// One session.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Session {
    id: String,
    /// Its title; null when it was forgotten before.
    title: Option<String>,
    /// How many observations it has.
    observations: u32,
    /// Its page on the wiki branch, when it is there.
    page: Option<String>,
}

/// A proposal that quotes a forgotten session.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Proposal {
    id: String,
    status: crate::ledger::Status,
    title: String,
    session: String,
}

/// A place that still holds words of the sessions.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Remains {
    /// What and where.
    what: String,
    /// The commands that remove it; empty where no one command does.
    commands: Vec<String>,
}

/// What is to go, and what hangs on it.
struct Plan {
    sessions: Vec<Session>,
    quoting: Vec<Quoting>,
    /// The other open proposals.
    open: Vec<String>,
    /// Other sessions that are titled with the same words: they go on with the same conversation.
    namesakes: Vec<String>,
}

impl Plan {
    fn ids(&self) -> Vec<&str> {
        self.sessions.iter().map(|session| session.id.as_str()).collect()
    }

    fn pages(&self) -> impl Iterator<Item = &str> {
        self.sessions.iter().filter_map(|session| session.page.as_deref())
    }

    /// What the ledger records.
    fn leaving(&self) -> Vec<Leaving> {
        let quoted_by = |id: &str| {
            self.quoting
                .iter()
                .filter(|quoting| quoting.session == id)
                .map(|quoting| quoting.proposal.clone())
                .collect()
        };
        self.sessions
            .iter()
            .map(|session| Leaving { id: session.id.clone(), quoted_by: quoted_by(&session.id) })
            .collect()
    }
}

pub(super) fn run(ctx: &Context, wiki: &Wiki, found: &Sessions, args: &Args) -> Result<Exit> {
    let plan = plan(wiki, found, &args.ids)?;
    if args.dry_run {
        tell(ctx, wiki, plan, true)?;
        return Ok(Exit::Done);
    }
    let question = format!("Forget {}? This cannot be undone", count(plan.sessions.len(), "session"));
    if !ctx.yes && !ctx.json {
        preview(ctx, &plan);
    }
    if !ask::confirm_by_person(ctx, &question)? {
        return Ok(Exit::Refused);
    }
    let busy = forget(wiki, &plan)?;
    let pages: Vec<String> = plan.pages().map(str::to_owned).collect();
    let again = args.ids.join(" ");
    tell(ctx, wiki, plan, false)?;
    match busy {
        Some(reason) if !pages.is_empty() => Err(CliError::new(
            Exit::Busy,
            "busy",
            format!(
                "the sessions are forgotten, but {} still stands on {}: {reason}",
                pages.join(", "),
                wiki.branch_name()
            ),
        )
        .hint(format!("run `git memory session forget {again}` again"))),
        _ => Ok(Exit::Done),
    }
}

/// Forgets them: refs and ledger in one transaction, then pages, then what is kept locally. Also finishes what a killed
/// process left. The reason, when a page cannot be taken off the branch now.
fn forget(wiki: &Wiki, plan: &Plan) -> Result<Option<String>> {
    let lock = session::lock(&wiki.repo)?;
    let before = Gone::load(&wiki.repo)?;
    let mut leaving = plan.leaving();
    leaving.retain(|session| {
        let known = before.why(&session.id, None) == Some("forgotten");
        !known || plan.sessions.iter().any(|there| there.id == session.id && there.title.is_some())
    });
    session::forget(&wiki.repo, &leaving)?;
    let gone = Gone::load(&wiki.repo)?;
    let forgotten: Vec<&str> = gone.sessions().filter(|(_, why)| *why == "forgotten").map(|(id, _)| id).collect();
    let busy = pages::withdraw(wiki, &forgotten)?;
    fault::point("forget.before-caches");
    session::clear_caches(&wiki.repo)?;
    // What models were asked about it, and answered.
    let folder = wiki.repo.memory_dir();
    kept::clear(&folder).map_err(|error| git::Error::write(folder.display().to_string(), error))?;
    fault::point("forget.after-caches");
    drop(lock);
    Ok(busy)
}

/// Finds the sessions that are named, and the subagents that they started. One that was forgotten before is taken up
/// again where that was not finished.
fn plan(wiki: &Wiki, found: &Sessions, named: &[String]) -> Result<Plan> {
    let gone = Gone::load(&wiki.repo)?;
    let mut sessions: Vec<Session> = Vec::new();
    let mut add = |id: &str, captured: Option<&Captured>| -> Result<()> {
        if sessions.iter().any(|session| session.id == id) {
            return Ok(());
        }
        sessions.push(Session {
            id: id.to_owned(),
            title: captured.map(|captured| captured.meta.title.clone()),
            observations: captured.map_or(0, |captured| captured.meta.observations),
            page: pages::on_branch(wiki, id)?.map(|path| path.to_string()),
        });
        Ok(())
    };
    for name in named {
        let before = gone.sessions().find(|(id, why)| id == name && *why == "forgotten").map(|(id, _)| id);
        let id = match (find(found, name), before) {
            (Ok(captured), _) => {
                add(&captured.meta.id, Some(captured))?;
                captured.meta.id.as_str()
            }
            (Err(_), Some(id)) => {
                add(id, None)?;
                id
            }
            (Err(error), None) => return Err(error),
        };
        let id = whole(id);
        for other in found.all.iter().filter(|captured| captured.meta.goes_with(id)) {
            add(&other.meta.id, Some(other))?;
        }
    }
    let ids: Vec<&str> = sessions.iter().map(|session| session.id.as_str()).collect();
    let quoting = sessions::quoting(wiki, &ids)?;
    let others = View::load(wiki, Cache::Use)?.items.into_iter().filter(|item| item.status.is_open());
    let others = others.filter(|item| quoting.iter().all(|quoting| quoting.proposal != item.id()));
    let open = others.map(|item| item.id().to_owned()).collect();
    let named_alike = |captured: &&Captured| {
        let alike = |title: &str| {
            captured.meta.title.strip_prefix(title).is_some_and(|rest| rest.is_empty() || rest.starts_with(" ("))
        };
        !ids.contains(&captured.meta.id.as_str()) && sessions.iter().filter_map(|s| s.title.as_deref()).any(alike)
    };
    let namesakes = found.all.iter().filter(named_alike).map(|captured| captured.meta.id.clone()).collect();
    Ok(Plan { sessions, quoting, open, namesakes })
}

/// What is asked about, on standard error: standard output is for what was done.
fn preview(ctx: &Context, plan: &Plan) {
    for session in &plan.sessions {
        ctx.note(format!("{}  {}", session.id, session.title.as_deref().unwrap_or("(forgotten before)")));
    }
    for page in plan.pages() {
        ctx.note(format!("its page {page} goes with it"));
    }
    if !plan.quoting.is_empty() {
        ctx.note(format!("its words stay in the record of {}", count(plan.quoting.len(), "proposal")));
    }
}

fn tell(ctx: &Context, wiki: &Wiki, plan: Plan, dry_run: bool) -> Result<()> {
    let remains = remains(wiki, &plan);
    if ctx.json {
        let proposal = |q: Quoting| Proposal { id: q.proposal, status: q.status, title: q.title, session: q.session };
        let proposals = plan.quoting.into_iter().map(proposal).collect();
        return ctx
            .print_json("session-forgotten", &Forgotten { dry_run, sessions: plan.sessions, proposals, remains });
    }
    let mut out = ctx.out();
    let verb = if dry_run { "would forget" } else { "forgot" };
    for session in &plan.sessions {
        let title = session.title.as_deref().unwrap_or("forgotten before");
        let count = count(session.observations as usize, "observation");
        writeln!(out, "{verb} {}  {count}  {}", ctx.paint(Meaning::Id, &session.id), shown(title))?;
        if let Some(page) = &session.page {
            writeln!(out, "{verb} {}", ctx.paint(Meaning::Place, shown(page)))?;
        }
    }
    for quoting in &plan.quoting {
        let id = ctx.paint(Meaning::Id, &quoting.proposal);
        let way_out = if quoting.status.is_open() {
            format!("git memory proposal reject {} --procedural", quoting.proposal)
        } else if quoting.status == crate::ledger::Status::Accepted {
            format!("git memory proposal revert {}", quoting.proposal)
        } else {
            "closed".to_owned()
        };
        writeln!(out, "quoted by {} proposal {id}: {}  ({way_out})", quoting.status, shown(&quoting.title))?;
    }
    writeln!(out, "\n{}", if dry_run { "What would still hold its words:" } else { "What still holds its words:" })?;
    for place in &remains {
        writeln!(out, "* {}", shown(&place.what))?;
        for command in &place.commands {
            writeln!(out, "    {}", shown(command))?;
        }
    }
    out.finish()
}

/// What forgetting does not reach, and the commands that do.
fn remains(wiki: &Wiki, plan: &Plan) -> Vec<Remains> {
    let mut all = Vec::new();
    let mut add = |what: String, commands: Vec<String>| all.push(Remains { what, commands });
    if !plan.namesakes.is_empty() {
        let commands = plan.namesakes.iter().map(|id| format!("git memory session forget {id}")).collect();
        add("sessions that have the same title, as those that go on with one:".into(), commands);
    }
    let pages: Vec<&str> = plan.pages().collect();
    if !pages.is_empty() {
        let paths: Vec<String> = pages.iter().map(|page| format!("--path {}", quoted(page))).collect();
        let branch = wiki.branch_name();
        let mut commands =
            vec![format!("git filter-repo --force --refs {} --invert-paths {}", quoted(branch), paths.join(" "))];
        if !plan.open.is_empty() {
            // They stand on what the branch was.
            commands.push(format!("git memory proposal rebase {}", plan.open.join(" ")));
        }
        add(
            format!("earlier commits of {branch}, which had the page; this rewrites the branch for everybody:"),
            commands,
        );
    }
    if !plan.quoting.is_empty() {
        let mut ids: Vec<&str> = plan.quoting.iter().map(|quoting| quoting.proposal.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        let open: Vec<&Quoting> = plan.quoting.iter().filter(|quoting| quoting.status.is_open()).collect();
        let reject = open.iter().map(|q| format!("git memory proposal reject {} --procedural", q.proposal)).collect();
        if !open.is_empty() {
            add("open proposals: their branches quote it, until they are closed:".into(), reject);
        }
        if plan.quoting.iter().any(|quoting| quoting.status == crate::ledger::Status::Accepted) {
            let branch = wiki.branch_name();
            add(
                format!("the commits on {branch} that landed what was learned from it, and the pages themselves"),
                vec![],
            );
        }
        let index = wiki.repo.memory_dir().join("index");
        add(
            "refs/memory/log: the records of these proposals quote it, and those of runs may; this rewrites it:".into(),
            vec![rewrite_of_the_log(&ids), format!("rm -rf {}", quoted(&index.to_string_lossy()))],
        );
    }
    add(
        "objects that nothing names any more, until git collects them; this drops all reflogs:".into(),
        vec!["git reflog expire --expire=now --expire-unreachable=now --all".into(), "git gc --prune=now".into()],
    );
    let remotes = wiki.repo.remote_names();
    if !remotes.is_empty() {
        let refs: Vec<String> = plan.ids().iter().map(|id| format!("refs/memory/sessions/{id}")).collect();
        let push = |remote: &String| format!("git push {} --delete {}", quoted(remote), refs.join(" "));
        add(
            "remotes to which the sessions were pushed, and clones of them:".into(),
            remotes.iter().map(push).collect(),
        );
    }
    let files = transcripts(wiki, &plan.ids());
    let commands = files.iter().map(|file| format!("rm {}", quoted(file))).collect();
    add(
        if files.is_empty() {
            "the agent's own files, wherever they are".into()
        } else {
            "the agent's own files:".into()
        },
        commands,
    );
    all
}

/// What takes the records of proposals out of the ledger's history, and the events that tell of them, which have a title;
/// other events stand in the same files.
fn rewrite_of_the_log(proposals: &[&str]) -> String {
    let paths: Vec<String> = proposals.iter().map(|id| format!("--path proposals/{}/{id}", &id[..2])).collect();
    let told = proposals.iter().map(|id| format!(r#"b"\"proposal\":\"{id}\"""#)).collect::<Vec<_>>().join(", ");
    let kept = format!("line for line in blob.data.splitlines(True) if not any(told in line for told in [{told}])");
    format!(
        "git filter-repo --force --refs refs/memory/log --invert-paths {} --path runs \
         --blob-callback 'blob.data = b\"\".join({kept})'",
        paths.join(" ")
    )
}

/// The files in the agents' own places that are named after these sessions.
fn transcripts(wiki: &Wiki, ids: &[&str]) -> Vec<String> {
    let files = discover::auto(wiki, None).files.into_iter().map(|found| found.path.to_string_lossy().into_owned());
    files.filter(|path| ids.iter().any(|id| id.len() >= 8 && path.contains(id))).collect()
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '-' | '_');
    if word.chars().all(plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

fn count(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}
