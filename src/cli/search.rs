//! `git memory search`.

use std::io::Write;

use clap::builder::PossibleValuesParser;
use schemars::JsonSchema;
use serde::Serialize;

use super::revision::commit;
use super::{CliError, Context, Exit, Meaning, Out, Result, shown};
use crate::feedback::{self, Asked, Recorded};
use crate::ledger;
use crate::search::{self, Answer, Ask, Factors, Hit, Origin};
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
#[derive(Debug, Serialize, JsonSchema)]
pub struct Results {
    /// The id under which it was recorded what was served; none when nothing was.
    pub episode: Option<String>,
    /// The best first.
    pub results: Vec<Found>,
    /// How many pages have something of the query.
    pub candidates: usize,
    /// What to know about the query: a phrase that no page holds, a part that was left out.
    pub notes: Vec<String>,
}

/// A page.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Found {
    /// From 1.
    pub rank: usize,
    /// Relative to the wiki's root; bytes that are not UTF-8 are replaced.
    pub path: String,
    /// Its title.
    pub title: String,
    /// Its kind, where it has one.
    pub kind: Option<Kind>,
    /// Its scope.
    pub scope: String,
    /// How well it fits, comparable within one answer.
    pub score: f64,
    /// The passage that fits best, on one line.
    pub snippet: String,
    /// With --explain: how it came to its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub factors: Option<Explained>,
}

/// How a page came to its place.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Explained {
    /// How well its text fits.
    pub text: f64,
    /// What its use multiplied that by.
    pub utility: f64,
    /// What verdicts say of it, −0.2 to 0.2.
    pub prior: f64,
    /// By how many places that moves it up, where it is served.
    pub moved: i32,
    /// What each word of the query adds to its text's score.
    pub words: Vec<Word>,
    /// The superseded page that was found in its stead.
    pub stands_for: Option<String>,
}

/// A word of the query.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Word {
    /// As asked.
    pub word: String,
    /// What it adds.
    pub adds: f64,
}

pub(super) fn run(ctx: &Context, args: Args) -> Result<Exit> {
    let wiki = ctx.wiki()?;
    let scope = search::scope_here(&wiki, &ctx.dir, ctx.scope.as_deref(), args.all_scopes)?;
    let kinds: Vec<Kind> = args.kind.iter().filter_map(|word| Kind::parse(word)).collect();
    let at = args.at.as_deref().map(|revision| commit(&wiki.repo, revision)).transpose()?;
    let text = args.query.join(" ");
    let ask = Ask { text: &text, scope: scope.as_deref(), kinds: &kinds, limit: args.limit };
    let Asked { answer, recorded, notes } = feedback::ask(&wiki, &ask, at, !args.no_record, ledger::now())?;
    tell_index(ctx, &answer);
    notes.iter().for_each(|note| ctx.warn(note));
    let episode = recorded.as_ref().and_then(|recorded| recorded.id.clone());
    if ctx.json {
        ctx.print_json("search", &results(&answer, episode, args.explain))?;
        return Ok(Exit::Done);
    }
    let mut out = ctx.paged();
    for hit in &answer.hits {
        print(ctx, &mut out, hit, args.explain)?;
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
        Some(Recorded { why_not: Some(why), .. }) if ctx.verbose > 0 => ctx.note(format!("not recorded: {why}")),
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

fn results(answer: &Answer, episode: Option<String>, explain: bool) -> Results {
    let results = answer.hits.iter().map(|hit| Found::of(hit, explain)).collect();
    Results { episode, results, candidates: answer.candidates, notes: answer.notes.clone() }
}

impl Found {
    /// As it is printed.
    pub fn of(hit: &Hit, explain: bool) -> Found {
        Found {
            rank: hit.rank,
            path: hit.path.to_string(),
            title: hit.title.clone(),
            kind: hit.kind,
            scope: hit.scope.clone(),
            score: hit.score,
            snippet: hit.snippet.clone(),
            factors: explain.then(|| Explained::of(&hit.factors)),
        }
    }
}

impl Explained {
    fn of(factors: &Factors) -> Explained {
        Explained {
            text: factors.text,
            utility: factors.utility,
            prior: factors.prior,
            moved: factors.moved,
            words: factors.words.iter().map(|(word, adds)| Word { word: word.clone(), adds: *adds }).collect(),
            stands_for: factors.stands_for.as_ref().map(ToString::to_string),
        }
    }
}

fn print(ctx: &Context, out: &mut Out, hit: &Hit, explain: bool) -> Result<()> {
    let kind = hit.kind.map_or(String::new(), |kind| format!("  {kind}"));
    let path = hit.path.to_string();
    let place = ctx.paint(Meaning::Place, shown(&path));
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
    if explain {
        let factors = &hit.factors;
        let words: Vec<String> =
            factors.words.iter().map(|(word, adds)| format!("{} {adds:.2}", shown(word))).collect();
        let line = format!(
            "    score {:.3} = text {:.3} × utility {:.2}; prior {:+.3} ({:+} places)",
            hit.score, factors.text, factors.utility, factors.prior, factors.moved
        );
        writeln!(out, "{}", ctx.paint(Meaning::Dim, line))?;
        writeln!(out, "{}", ctx.paint(Meaning::Dim, format!("    text: {}", words.join(", "))))?;
        if let Some(old) = &factors.stands_for {
            let line = format!("    stands in for {}", shown(&old.to_string()));
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
