//! `git memory search`.

use std::io::Write;

use clap::builder::PossibleValuesParser;
use serde::Serialize;

use super::revision::commit;
use super::{CliError, Context, Exit, Meaning, Out, Result, shown};
use crate::feedback::{self, Asked, Recorded};
use crate::ledger;
use crate::search::{self, Answer, Ask, Hit, Origin, Pages, Word};
use crate::wiki::Kind;

/// Search the pages of the wiki, best first.
///
/// Words are found in any form (`configured` finds `configuration`), identifiers, paths and flags whole and by their
/// parts. "Words in quotes" must stand in a row where some page has them so, and word* finds what begins so. Anything
/// else is text: an error message can be pasted as it is. Retired pages are left out, and for a superseded page its
/// successor stands in.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to look for
    #[arg(value_name = "QUERY", required = true)]
    query: Vec<String>,

    /// Pages of all scopes, instead of the one that this folder belongs to
    #[arg(long, conflicts_with = "scope")]
    all_scopes: bool,

    /// Only pages of this kind; may be given more than once
    #[arg(long, value_name = "KIND", value_parser = PossibleValuesParser::new(Kind::ALL.map(Kind::as_str)))]
    kind: Vec<String>,

    /// Most pages to show
    #[arg(long, short = 'n', value_name = "COUNT", default_value_t = 10)]
    limit: usize,

    /// Search the pages as they were at this commit; that is not recorded
    #[arg(long, value_name = "COMMIT")]
    at: Option<String>,

    /// Tell how each page came to its place
    #[arg(long)]
    explain: bool,

    /// Do not record what was served
    #[arg(long)]
    no_record: bool,
}

/// What `search --json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Results {
    /// The id under which it was recorded what was served; none when nothing was.
    pub episode: Option<String>,
    /// The best first.
    pub results: Vec<Hit>,
    /// How many pages have something of the query.
    pub candidates: usize,
    /// What to know about the query: a phrase that no page holds, a part that was left out.
    pub notes: Vec<String>,
}

pub(super) fn run(ctx: &Context, args: Args) -> Result<Exit> {
    let wiki = ctx.wiki()?;
    let scope = search::scope_here(&wiki, &ctx.dir, ctx.scope.as_deref(), args.all_scopes)?;
    let kinds: Vec<Kind> = args.kind.iter().filter_map(|word| Kind::parse(word)).collect();
    let at = args.at.as_deref().map(|revision| commit(&wiki.repo, revision)).transpose()?;
    let text = args.query.join(" ");
    let (scope, limit, explain) = (scope.as_deref(), args.limit, args.explain);
    let ask = Ask { text: &text, scope, kinds: &kinds, limit, explain };
    let pages = Pages::at(&wiki, at)?;
    let Asked { answer, recorded, notes } = feedback::ask(&pages, &ask, !args.no_record, ledger::now())?;
    tell_index(ctx, &answer);
    notes.iter().for_each(|note| ctx.warn(note));
    let episode = recorded.as_ref().and_then(|recorded| recorded.id.clone());
    if ctx.json {
        let Answer { hits: results, candidates, notes, .. } = answer;
        ctx.print_json("search", &Results { episode, results, candidates, notes })?;
        return Ok(Exit::Done);
    }
    let mut out = ctx.paged();
    for hit in &answer.hits {
        print(ctx, &mut out, hit)?;
    }
    out.finish()?;
    for note in &answer.notes {
        ctx.note(note);
    }
    if answer.hits.is_empty() {
        ctx.note("no page has any of these words");
    } else if answer.candidates > answer.hits.len() {
        ctx.note(format!("{} of {} pages that fit", answer.hits.len(), answer.candidates));
    }
    match recorded {
        Some(Recorded { id: Some(id), .. }) => ctx.note(format!("episode {id}")),
        Some(Recorded { why_not: Some(why), failed: false, .. }) if ctx.verbose > 0 => {
            ctx.note(format!("not recorded: {why}"));
        }
        _ => {}
    }
    Ok(Exit::Done)
}

/// With -v: where the index came from.
pub(super) fn tell_index(ctx: &Context, answer: &Answer) {
    if ctx.verbose == 0 {
        return;
    }
    ctx.note(match &answer.index {
        Origin::Warm => "the index was up to date".to_owned(),
        Origin::Updated(count) => format!("the index was brought up to date: {count} changed"),
        Origin::Built(why) => format!("the index was made anew: {why}"),
    });
    if let Some(why) = &answer.unkept {
        ctx.note(format!("the index was not kept: {why}"));
    }
}

fn print(ctx: &Context, out: &mut Out, hit: &Hit) -> Result<()> {
    let kind = hit.kind.map_or(String::new(), |kind| format!("  {kind}"));
    let place = ctx.paint(Meaning::Place, shown(&hit.path));
    writeln!(
        out,
        "{:>2}  {}  {place}{}",
        hit.rank,
        ctx.paint(Meaning::Head, shown(&hit.title)),
        ctx.paint(Meaning::Dim, kind)
    )?;
    if !hit.snippet.is_empty() {
        writeln!(out, "    {}", marked(ctx, hit))?;
    }
    if let Some(factors) = &hit.factors {
        let words: Vec<String> =
            factors.words.iter().map(|Word { word, adds }| format!("{} {adds:.2}", shown(word))).collect();
        let line = format!(
            "    score {:.3} = text {:.3} × utility {:.2}; prior {:+.3} ({:+} places)",
            hit.score, factors.text, factors.utility, factors.prior, factors.moved
        );
        writeln!(out, "{}", ctx.paint(Meaning::Dim, line))?;
        writeln!(out, "{}", ctx.paint(Meaning::Dim, format!("    text: {}", words.join(", "))))?;
        if let Some(old) = &factors.stands_for {
            let line = format!("    stands in for {}", shown(old));
            writeln!(out, "{}", ctx.paint(Meaning::Dim, line))?;
        }
    }
    Ok(())
}

/// The snippet with the query's words marked.
fn marked(ctx: &Context, hit: &Hit) -> String {
    let mut text = String::new();
    let mut from = 0;
    for mark in &hit.marks {
        text.push_str(&shown(&hit.snippet[from..mark.start]));
        text.push_str(&ctx.paint(Meaning::Warn, shown(&hit.snippet[mark.clone()])));
        from = mark.end;
    }
    text.push_str(&shown(&hit.snippet[from..]));
    text
}

impl From<search::Error> for CliError {
    fn from(error: search::Error) -> CliError {
        match error {
            search::Error::Git(error) => error.into(),
            search::Error::NoWords => {
                CliError::refused("no_words", error.to_string()).hint("give at least one letter or digit to look for")
            }
        }
    }
}
