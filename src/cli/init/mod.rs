//! `git memory init`.

mod adopt;
mod branch;
mod land;
mod plan;

use std::io::Write;

use bstr::ByteSlice;
use serde::Serialize;

use super::{Cell, CliError, Context, Exit, Meaning, Result, Table, ask, shown};
use crate::config::{Config, FILE};
use crate::git::{self, Git, Oid, Repo, Worktree};
use crate::improve::since;
use crate::ledger;
use crate::wiki::Wiki;
use crate::wiki::open::is_page;
use adopt::Mapping;
use plan::Wanted;

/// Make a wiki in a new or an existing repository.
///
/// One commit brings .gitmemory.toml, .gitattributes and the folders; nothing else is touched: what is staged, changed
/// or lies about stays as it is. The branch is recorded as memory.wiki.branch in the repository's git config. Running
/// it again changes nothing.
///
/// A wiki may be a folder of the code's repository (--root docs/memory), a branch of its own in it that is never
/// checked out (--branch wiki), or a repository of its own: make it there, and name it in the code's repository with
/// `git config memory.wiki PATH`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The folder of the pages, from the top of the repository [default: the top]
    #[arg(long, value_name = "DIR")]
    root: Option<String>,

    /// The branch of the wiki; one that does not exist begins empty [default: the branch that is checked out]
    #[arg(long, value_name = "B")]
    branch: Option<String>,

    /// A project with pages of its own, and their folder below the root; may be given more than once
    #[arg(long, value_name = "NAME=PATH", id = "scope")]
    scope: Vec<String>,

    /// Review sessions after each commit, by a hook
    #[arg(long, overrides_with = "no_hooks")]
    hooks: bool,

    /// No hooks, and no question about them
    #[arg(long)]
    no_hooks: bool,

    /// Print how the folders of existing notes are understood; nothing is moved
    #[arg(long)]
    adopt: bool,
}

/// What `init --json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Report {
    /// The repository's work tree, or its git folder when it is bare.
    repository: String,
    /// Whether the repository itself was made.
    repository_made: bool,
    /// The wiki's branch.
    branch: String,
    /// The folder of the pages; empty: the top.
    root: String,
    /// The commit that was made.
    commit: Option<String>,
    /// Whether anything was changed.
    changed: bool,
    /// The files of the commit.
    files: Vec<String>,
    /// Keys of the repository's git config that were set.
    config: Vec<String>,
    /// What became of the hooks, when they were asked for.
    hooks: Vec<super::hooks::ChangedHook>,
    /// The folders of existing notes.
    folders: Vec<Folder>,
    /// Commands worth running next.
    suggestions: Vec<String>,
}

/// One folder of existing notes.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Folder {
    /// The folder; empty: the top.
    folder: String,
    /// The kind of its pages; null: their frontmatter says it.
    kind: Option<crate::wiki::Kind>,
    /// How many pages it has.
    pages: usize,
}

pub(super) fn run(ctx: &Context, args: Args) -> Result<Exit> {
    let root = args.root.as_deref().map(plan::folder).transpose()?;
    let scopes = args.scope.iter().map(|text| plan::scope(text)).collect::<Result<Vec<_>>>()?;
    if let Some((name, _)) =
        scopes.iter().enumerate().find(|(n, s)| scopes[..*n].iter().any(|o| o.0 == s.0)).map(|(_, s)| s)
    {
        return Err(CliError::refused("bad_scope", format!("the scope {name} is named twice")));
    }
    let (repo, repository_made) = repository(ctx, args.branch.as_deref())?;
    let name = branch::choose(&repo, args.branch.as_deref())?;
    let full = format!("refs/heads/{name}");
    let mut report = Report {
        repository: repo.workdir().unwrap_or_else(|| repo.common_dir()).display().to_string(),
        repository_made,
        branch: name.clone(),
        root: String::new(),
        commit: None,
        changed: repository_made,
        files: Vec::new(),
        config: Vec::new(),
        hooks: Vec::new(),
        folders: Vec::new(),
        suggestions: Vec::new(),
    };

    let worktree = land::worktree_of(&repo, &full)?;
    let tip = match repo.reference(&full)? {
        Some(tip) => Some(tip),
        None => from_remote(&repo, &name, worktree.as_ref(), &mut report)?,
    };
    let started = match tip {
        Some(tip) => repo.file(tip, FILE.into())?.is_some(),
        None => false,
    };
    let mapping;
    if started {
        let config = Config::load(&repo, tip)?;
        check_same(&config, root.as_deref(), &scopes)?;
        report.root = config.settings.wiki.root.trim_matches('/').to_owned();
        mapping = adopt::map(pages(&repo, tip, None, &report.root)?.iter().map(String::as_str), &scopes);
    } else {
        let mut wanted = Wanted { branch: name.clone(), root: root.unwrap_or_default(), scopes, ..Wanted::default() };
        check_root(&repo, tip, &wanted.root)?;
        let notes = pages(&repo, tip, worktree.as_ref(), &wanted.root)?;
        mapping = adopt::map(notes.iter().map(String::as_str), &wanted.scopes);
        wanted.folders.clone_from(&mapping.folders);
        // A README at the top makes no folder of notes.
        let has_notes = notes.iter().any(|path| path.contains('/'));
        let files = plan::files(&wanted, has_notes, has_crlf(&repo, tip, &wanted.root)?);
        let files = land::without_existing(&repo, tip, worktree.as_ref(), files)?;
        let commit = land::land(&repo, &full, tip, &files, now())?;
        if wanted.root.is_empty() && args.root.is_none() && args.branch.is_none() && holds_more(&repo, tip)? {
            ctx.hint(format!("every markdown file of {name} is a page now; --root DIR keeps the wiki in a folder"));
            ctx.hint(format!("to take it back: git reset --keep HEAD^ && git config --unset {}", branch::KEY));
        }
        report.commit = Some(commit.to_string());
        report.files = files.iter().map(|file| file.path.to_string()).collect();
        report.root = wanted.root;
        report.changed = true;
    }
    configure(ctx, &repo, &name, &mut report)?;
    watermark(&repo, &mut report)?;
    let trouble = hooks(ctx, &repo, &args, &mut report)?;
    report.folders = folders(&mapping);
    if ctx.json {
        ctx.print_json("init", &report)?;
    } else {
        say(ctx, &args, &report)?;
    }
    let Some(trouble) = trouble else { return Ok(Exit::Done) };
    ctx.warn(&trouble.message);
    if let Some(hint) = &trouble.hint {
        ctx.hint(hint);
    }
    Ok(trouble.exit)
}

/// The repository at or above the folder, or a new one in it.
fn repository(ctx: &Context, branch: Option<&str>) -> Result<(Repo, bool)> {
    match Repo::discover(&ctx.dir) {
        Ok(repo) => match repo.config("memory.wiki") {
            None => Ok((repo, false)),
            Some(link) => Err(CliError::refused(
                "wiki_elsewhere",
                format!("this repository names its wiki: memory.wiki is {link}"),
            )
            .hint("run `git memory init` there, or `git config --unset memory.wiki` to have the wiki here")),
        },
        Err(git::Error::NotARepository(_)) if std::env::var_os("GIT_DIR").is_none() => {
            let mut init = Git::anywhere().arg("-C").arg(&ctx.dir).args(["init", "--quiet"]);
            if let Some(branch) = branch {
                init = init.arg(format!("--initial-branch={}", branch.trim_start_matches("refs/heads/")));
            }
            init.run()?;
            Ok((Repo::open(&ctx.dir)?, true))
        }
        Err(error) => Err(error.into()),
    }
}

/// Makes the branch from a remote's branch of the same name, as `git switch` would, where there is one.
fn from_remote(repo: &Repo, name: &str, worktree: Option<&Worktree>, report: &mut Report) -> Result<Option<Oid>> {
    let Some((remote, tip)) = branch::on_remote(repo, name)? else { return Ok(None) };
    let short = remote.trim_start_matches("refs/remotes/");
    if let Some(worktree) = worktree {
        let place = worktree.path.display();
        return Err(CliError::refused("unborn", format!("{name} has no commit yet in {place}, but {short} has"))
            .hint(format!("check it out first: git checkout -B {name} {short}")));
    }
    repo.git().args(["branch", "--quiet", "--track", name, short]).run()?;
    report.changed = true;
    Ok(Some(tip))
}

/// A wiki that exists is not made over: what is asked for must be what it has.
fn check_same(config: &Config, root: Option<&str>, scopes: &[(String, String)]) -> Result<()> {
    let is = config.settings.wiki.root.trim_matches('/');
    let differs = |what: String| {
        CliError::refused("already_initialised", format!("there is a wiki already, and {what}"))
            .hint(format!("change {FILE} on the wiki's branch, or leave the option out"))
    };
    if let Some(root) = root.filter(|root| *root != is) {
        return Err(differs(format!("its root is '{is}', not '{root}'")));
    }
    for (name, path) in scopes {
        if !config.settings.scope.iter().any(|scope| scope.name == *name && scope.path.trim_matches('/') == path) {
            return Err(differs(format!("it has no scope {name} at {path}")));
        }
    }
    Ok(())
}

/// Every part of the root must be a folder, or not exist.
fn check_root(repo: &Repo, tip: Option<Oid>, root: &str) -> Result<()> {
    let Some(tip) = tip else { return Ok(()) };
    let ends = root.match_indices('/').map(|(at, _)| at).chain((!root.is_empty()).then_some(root.len()));
    for end in ends {
        let part = &root[..end];
        if repo.entry(tip, part.into())?.is_some_and(|entry| entry.mode != git::Mode::Tree) {
            return Err(CliError::refused("bad_folder", format!("{part} is no folder on the branch")));
        }
    }
    Ok(())
}

/// The pages that are there already, relative to the root: those of the tip, or, before the first commit, those that
/// lie in the work tree.
fn pages(repo: &Repo, tip: Option<Oid>, worktree: Option<&Worktree>, root: &str) -> Result<Vec<String>> {
    let below = |path: &str| {
        let rest = if root.is_empty() { path } else { path.strip_prefix(root)?.strip_prefix('/')? };
        is_page(rest.into()).then(|| rest.to_owned())
    };
    let mut found = Vec::new();
    match (tip, worktree) {
        (Some(tip), _) => {
            for file in repo.files(tip, root.into())? {
                // A folder whose name is not UTF-8 cannot be named in the settings.
                found.extend(file.path.to_str().ok().and_then(below));
            }
        }
        (None, Some(worktree)) => {
            let here = Repo::open(&worktree.path)?;
            let listed = here.git().args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).run()?;
            found.extend(listed.split(|byte| *byte == 0).filter_map(|path| below(path.to_str().ok()?)));
        }
        (None, None) => {}
    }
    Ok(found)
}

/// Whether the branch holds other things than notes.
fn holds_more(repo: &Repo, tip: Option<Oid>) -> Result<bool> {
    let Some(tip) = tip else { return Ok(false) };
    let other = |file: &git::TreeFile| !is_page(file.path.as_ref()) && !file.path.starts_with(b".");
    Ok(repo.files(tip, "".into())?.iter().any(other))
}

/// Whether pages of the tip have CRLF line ends.
fn has_crlf(repo: &Repo, tip: Option<Oid>, root: &str) -> Result<bool> {
    let Some(tip) = tip else { return Ok(false) };
    for file in repo.files(tip, root.into())? {
        if is_page(file.path.as_ref())
            && matches!(file.entry.mode, git::Mode::Blob | git::Mode::Executable)
            && repo.blob(file.entry.oid)?.contains_str("\r\n")
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What the repository's own git config has to say about the wiki.
fn configure(ctx: &Context, repo: &Repo, name: &str, report: &mut Report) -> Result<()> {
    const DECORATION: (&str, &str) = ("log.excludeDecoration", "refs/memory/*");
    if repo.config(branch::KEY).as_deref() != Some(name) {
        repo.set_config(branch::KEY, name)?;
        report.config.push(branch::KEY.to_owned());
    }
    let hidden = repo.git().args(["config", "--get-all", DECORATION.0]).output()?.stdout;
    if !hidden.lines().any(|line| line == DECORATION.1.as_bytes()) {
        repo.git().args(["config", "--local", "--add", DECORATION.0, DECORATION.1]).run()?;
        report.config.push(DECORATION.0.to_owned());
    }
    let rebase = format!("branch.{name}.rebase");
    if repo.config(&rebase).is_none() {
        let wanted = !ctx.json && !ctx.yes && ask::can_ask();
        let question =
            format!("Keep accepted proposals as merges when {name} is pulled with rebase ({rebase} = merges)?");
        if ctx.yes || (wanted && ask::confirm(ctx, &question)?) {
            repo.set_config(&rebase, "merges")?;
            report.config.push(rebase);
        } else if !wanted {
            report.suggestions.push(format!("git config {rebase} merges"));
        }
    }
    report.changed |= !report.config.is_empty();
    Ok(())
}

/// Installs the hooks that were asked for, by an option or on the terminal. A repository that cannot have them (a hook
/// manager's, say) has its wiki all the same; the error is handed back to be shown.
fn hooks(ctx: &Context, repo: &Repo, args: &Args, report: &mut Report) -> Result<Option<CliError>> {
    let new = report.commit.is_some();
    let wanted = args.hooks
        || (!args.no_hooks
            && new
            && !ctx.json
            && !ctx.yes
            && ask::can_ask()
            && ask::confirm(ctx, "Review sessions after each commit, by git hooks?")?);
    if !wanted {
        if new && !args.no_hooks {
            report.suggestions.push("git memory hooks install".to_owned());
        }
        return Ok(None);
    }
    match super::hooks::install_default(repo) {
        Ok((hooks, complete)) => {
            report.changed |= hooks.iter().any(|hook| matches!(hook.result, "installed" | "replaced"));
            report.hooks = hooks;
            let refused = || CliError::refused("hooks_refused", "not every hook could be installed");
            Ok((!complete).then(refused))
        }
        Err(error) => Ok(Some(error)),
    }
}

/// Sessions that ended before now are not reviewed on their own.
fn watermark(repo: &Repo, report: &mut Report) -> Result<()> {
    // Opened anew: what an open repository knows of the configuration is older than what was just set.
    let repo = Repo::open(&repo.workdir().unwrap_or_else(|| repo.common_dir()))?;
    let wiki = Wiki::of(repo, None)?;
    let names: Vec<&str> = wiki.scopes.all.iter().map(|scope| scope.name.as_str()).collect();
    if ledger::begin(&wiki.repo, &names)? {
        report.changed = true;
        since::begin(&wiki);
    }
    Ok(())
}

fn folders(mapping: &Mapping) -> Vec<Folder> {
    mapping
        .found
        .iter()
        .map(|found| Folder { folder: found.folder.clone(), kind: found.kind, pages: found.pages })
        .collect()
}

fn say(ctx: &Context, args: &Args, report: &Report) -> Result<()> {
    let mut out = ctx.out();
    if report.repository_made {
        writeln!(out, "Made a git repository in {}.", shown(&report.repository))?;
    }
    let place = match report.root.as_str() {
        "" => "at the top".to_owned(),
        root => format!("in {}/", shown(root)),
    };
    let branch = ctx.paint(Meaning::Place, shown(&report.branch));
    match &report.commit {
        Some(commit) => {
            let commit = ctx.paint(Meaning::Id, commit.get(..10).unwrap_or(commit));
            writeln!(out, "The wiki is on {branch}, {place}: commit {commit}, {} files.", report.files.len())?;
        }
        None if report.changed => writeln!(out, "The wiki is on {branch}, {place}; this repository knows it now.")?,
        None => writeln!(out, "Nothing to do: the wiki is on {branch}, {place}.")?,
    }
    for key in &report.config {
        writeln!(out, "Set {} in this repository's git config.", shown(key))?;
    }
    for hook in &report.hooks {
        writeln!(out, "Hook {}", super::hooks::line(ctx, hook))?;
    }
    if args.adopt {
        if report.folders.is_empty() {
            writeln!(out, "There are no notes to adopt.")?;
        }
        let mut table = Table::new();
        for folder in &report.folders {
            let name = if folder.folder.is_empty() { "(top)".to_owned() } else { format!("{}/", folder.folder) };
            let kind = folder.kind.map_or("as the page says", crate::wiki::Kind::as_str);
            let pages = if folder.pages == 1 { "page" } else { "pages" };
            table.row([Cell::new(format!("  {name}")), Cell::new(kind), Cell::right(folder.pages), Cell::new(pages)]);
        }
        table.print(ctx, &mut out)?;
    }
    out.finish()?;
    if !report.suggestions.is_empty() {
        ctx.note("Next:");
        report.suggestions.iter().for_each(|command| ctx.note(format!("  {command}")));
    }
    Ok(())
}

/// Seconds since the epoch, for the commit.
fn now() -> i64 {
    let fixed = cfg!(debug_assertions).then(|| std::env::var("GIT_MEMORY_NOW").ok()).flatten();
    fixed.and_then(|text| text.parse().ok()).unwrap_or_else(jiff::Timestamp::now).as_second()
}
