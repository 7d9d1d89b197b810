//! `git memory proposal propose`.

use std::io::{IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Value, json};

use super::super::{CliError, Context, Exit, Meaning, Result, ask, shown};
use super::editor::Draft as EditorFile;
use crate::proposal::propose::{Made, Writer, propose};
use crate::wiki::{Kind, Wiki};

/// Propose a page: a new one, or another text for one that exists.
///
/// The text comes from --file, from standard input, or from the editor. It passes the same checks as what a review
/// finds, and waits for a decision like everything else. A person needs no evidence, their name is it; under a coding
/// agent each proposal has to quote a session or a page.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The page, relative to the wiki's root
    #[arg(value_name = "PATH", required_unless_present = "batch")]
    path: Option<String>,

    /// The file with the page's text; `-` is standard input
    #[arg(long, short = 'F', value_name = "FILE")]
    file: Option<PathBuf>,

    /// What the page is about [default: the text's first heading]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,

    /// Why it is worth keeping
    #[arg(long, value_name = "TEXT", required_unless_present = "batch")]
    rationale: Option<String>,

    /// A verbatim quote and where it stands: sessions/ID.md, sessions/ID#N or a page; may be given more than once
    #[arg(long, value_name = "SOURCE=QUOTE", value_parser = evidence)]
    evidence: Vec<(String, String)>,

    /// The kind of the page [default: that of its folder]
    #[arg(long, value_name = "KIND", value_parser = super::list::kind)]
    kind: Option<Kind>,

    /// create or update [default: whether the page exists]
    #[arg(long, value_name = "OPERATION", value_parser = ["create", "update"])]
    operation: Option<String>,

    /// Many at once: a file with one JSON object on each line (path, title, rationale, evidence, body_markdown or
    /// edits …); `-` is standard input
    #[arg(long, value_name = "FILE",
          conflicts_with_all = ["path", "file", "title", "rationale", "evidence", "kind", "operation"])]
    batch: Option<PathBuf>,
}

fn evidence(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((source, quote)) if !source.trim().is_empty() && !quote.trim().is_empty() => {
            Ok((source.trim().to_owned(), quote.to_owned()))
        }
        _ => Err("give SOURCE=QUOTE, such as sessions/ID.md=\"the words\"".to_owned()),
    }
}

/// What `proposal propose --json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Proposed {
    /// What became of each.
    pub results: Vec<Made>,
}

pub(super) fn run(ctx: &Context, args: Args) -> Result<Exit> {
    let mut wiki = ctx.wiki()?;
    let raw = match &args.batch {
        Some(file) => batch(ctx, file)?,
        None => vec![Ok(single(ctx, &wiki, args)?)],
    };
    if raw.is_empty() {
        ctx.note("nothing was proposed: the batch is empty");
    }
    let scope = super::scope(ctx, &wiki)?.map(|name| wiki.scopes.named(name)).transpose()?.cloned();
    let operator = wiki.repo.operator()?;
    let by_hand = ask::under_agent().is_none();
    let writer = Writer { person: operator.clone(), operator, by_hand, deferred: None };
    let results = propose(&mut wiki, scope.as_ref(), &writer, raw)?;
    report(ctx, &wiki, results)
}

/// One candidate, as the options give it.
fn single(ctx: &Context, wiki: &Wiki, args: Args) -> Result<Value> {
    let path = wiki.page_name(&args.path.unwrap_or_default());
    let old = wiki.bytes(&path)?;
    let operation = args.operation.unwrap_or_else(|| if old.is_some() { "update" } else { "create" }.to_owned());
    let body = match &args.file {
        Some(file) => text(&read(ctx, file, LONGEST_PAGE)?)?,
        None if std::io::stdin().is_terminal() => {
            let start = match &old {
                Some(bytes) => wiki.read(path.as_str().into(), bytes).body,
                None => format!("# {}\n\n", args.title.as_deref().unwrap_or("Title")),
            };
            let name = path.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or("page.md");
            let saved = text(&EditorFile::new(&wiki.repo, name, start.as_bytes())?.open(ctx, &wiki.repo)?)?;
            if saved == start {
                return Err(CliError::refused("no_change", "nothing was written; nothing is proposed"));
            }
            saved
        }
        None => text(&read(ctx, Path::new("-"), LONGEST_PAGE)?)?,
    };
    if body.trim().is_empty() {
        return Err(CliError::refused("empty_body", format!("there is no text for {path}"))
            .hint("give it with --file FILE, on standard input, or run it on a terminal to write it in the editor"));
    }
    let evidence: Vec<Value> =
        args.evidence.iter().map(|(source, quote)| json!({ "source": source, "quote": quote })).collect();
    let mut raw = json!({
        "operation": operation, "path": path, "rationale": args.rationale.unwrap_or_default(),
        "evidence": evidence, "body_markdown": body,
    });
    if let Some(title) = args.title {
        raw["title"] = title.into();
    }
    if let Some(kind) = args.kind {
        raw["kind"] = kind.as_str().into();
    }
    Ok(raw)
}

/// The lines of a batch, each an object or why it is none.
fn batch(ctx: &Context, file: &Path) -> Result<Vec<Result<Value, String>>> {
    let text = text(&read(ctx, file, LONGEST_BATCH)?)?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    Ok(lines
        .map(|(number, line)| {
            serde_json::from_str::<Value>(line).map_err(|error| format!("line {} is no JSON: {error}", number + 1))
        })
        .collect())
}

/// The longest text of a page that is read at all: what may land is far shorter (`improve.max_final_body_chars`).
const LONGEST_PAGE: u64 = 1 << 20;
/// The longest batch.
const LONGEST_BATCH: u64 = 32 << 20;

fn read(ctx: &Context, file: &Path, longest: u64) -> Result<Vec<u8>> {
    let failed =
        |error: std::io::Error| CliError::refused("cannot_read", format!("cannot read {}: {error}", file.display()));
    let mut bytes = Vec::new();
    if file == Path::new("-") {
        std::io::stdin().lock().take(longest + 1).read_to_end(&mut bytes)?;
    } else {
        let open = std::fs::File::open(ctx.dir.join(file)).map_err(failed)?;
        open.take(longest + 1).read_to_end(&mut bytes).map_err(failed)?;
    }
    if bytes.len() as u64 > longest {
        let what = format!("{} is too large: more than {} MiB", file.display(), longest >> 20);
        return Err(CliError::refused("too_large", what));
    }
    Ok(bytes)
}

fn text(bytes: &[u8]) -> Result<String> {
    String::from_utf8(bytes.to_vec()).map_err(|error| {
        CliError::refused("not_utf8", format!("the text is no UTF-8 at byte {}", error.utf8_error().valid_up_to()))
    })
}

fn report(ctx: &Context, wiki: &Wiki, results: Vec<Made>) -> Result<Exit> {
    let all_well = results.iter().all(Made::is_well);
    let view = super::view(wiki)?;
    let mut out = ctx.out();
    for made in &results {
        let id = made.id.as_deref().unwrap_or_default();
        let message = made.message.as_deref().unwrap_or_default();
        if !made.is_well() {
            let code = made.code.as_deref().unwrap_or(&made.outcome);
            super::super::context::say("error: ", &format!("{}: {message} ({code})", made.path));
        } else if !ctx.json {
            let id = ctx.paint(Meaning::Id, view.short_id(id));
            let page = ctx.paint(Meaning::Place, shown(&made.path));
            let what = if message.is_empty() { made.outcome.as_str() } else { message };
            writeln!(out, "{id} {page} {}", shown(what))?;
        }
        for note in made.notes.iter().filter(|_| !ctx.json) {
            ctx.note(note);
        }
    }
    let first = results.iter().find(|made| made.outcome == "staged").and_then(|made| made.id.clone());
    if ctx.json {
        super::super::output::json(&mut out, "proposed", &Proposed { results })?;
    }
    out.finish()?;
    if let (Some(id), false) = (first, ctx.json) {
        ctx.hint(format!("`git memory proposal show {0}`, `git memory proposal accept {0}`", view.short_id(&id)));
    }
    Ok(if all_well { Exit::Done } else { Exit::Refused })
}
