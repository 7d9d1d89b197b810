//! `git memory blame`.

use std::collections::HashSet;
use std::io::Write;

use super::{Cell, CliError, Context, Exit, Meaning, Result, Table, shown};
use crate::proposal::sidecar::whose;
use crate::report::blame::{self, Blame, Origin, Source, blame};

/// Show for each line of a page where it comes from: the proposal, its evidence and session, and who approved it.
///
/// A line begins with the proposal's id, or with the commit where a person's own commit wrote it, then who approved or
/// wrote it, when, and its number. Below stands once what there is to say of each; -q leaves that out. A line that a
/// revert only brought back is traced to who wrote it first.
///
/// With --porcelain the form is that of `git blame --porcelain`: for each line the commit, the line's number there and
/// now, then headers where they say something new, then the text behind a tab. Headers of ours are `proposal`,
/// `landing`, `decision`, `policy`, `approved-by`, `session`, `evidence` (its source, a tab, the quote), `edited` and
/// `restored-by`. Characters that a terminal would act on are escaped.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The page
    #[arg(value_name = "PAGE")]
    page: String,

    /// As it was in this commit
    #[arg(long, value_name = "COMMIT")]
    at: Option<String>,

    /// A form for scripts that stays as it is
    #[arg(long, conflicts_with = "json")]
    porcelain: bool,
}

pub(super) fn run(ctx: &Context, args: Args) -> Result<Exit> {
    let wiki = ctx.wiki()?;
    let page = wiki.page_name(&args.page);
    let at = args.at.as_deref().map(|revision| super::commit(&wiki.repo, revision)).transpose()?;
    let found = blame(&wiki, &page, at)?;
    for fault in &found.faults {
        ctx.warn(format!("a part of the ledger cannot be read and is passed over: {fault}"));
    }
    if ctx.json {
        ctx.print_json("blame", &found)?;
        return Ok(Exit::Done);
    }
    let mut out = ctx.paged();
    if args.porcelain {
        porcelain(&found, &mut out)?;
    } else {
        listing(&found).print(ctx, &mut out)?;
        if !ctx.quiet {
            for source in &found.sources {
                legend(ctx, source, &mut out)?;
            }
        }
    }
    out.finish()?;
    Ok(Exit::Done)
}

fn listing(found: &Blame) -> Table {
    let mut table = Table::new();
    for line in &found.lines {
        let source = &found.sources[line.source];
        let (meaning, id) = match &source.proposals[..] {
            [] => (Meaning::Dim, short(&source.commit).to_owned()),
            [one] => (Meaning::Id, short(&one.id).to_owned()),
            [first, ..] => (Meaning::Id, format!("{}…", short(&first.id))),
        };
        let who = source.proposals.first().and_then(|origin| origin.approved_by.as_deref()).unwrap_or(&source.author);
        table.row([
            Cell::with(meaning, id),
            Cell::new(name(who)),
            Cell::with(Meaning::Dim, source.at.strftime("%Y-%m-%d").to_string()),
            Cell::right(line.line),
            Cell::new(&line.text),
        ]);
    }
    table
}

/// What there is to say of a source.
fn legend(ctx: &Context, source: &Source, out: &mut impl Write) -> Result<()> {
    writeln!(out)?;
    for origin in &source.proposals {
        let title = origin.title.as_deref().unwrap_or(&source.subject);
        let marks = [origin.kind.as_deref(), origin.status.map(|status| status.as_str())];
        let marks: Vec<&str> = marks.into_iter().flatten().collect();
        let marks = if marks.is_empty() { String::new() } else { format!(" ({})", marks.join(", ")) };
        let id = ctx.paint(Meaning::Id, short(&origin.id));
        writeln!(out, "proposal {id} {}{}", ctx.paint(Meaning::Head, shown(title)), shown(&marks))?;
        for fact in facts(source, origin) {
            writeln!(out, "  {}", shown(&fact))?;
        }
        for evidence in &origin.evidence {
            let quote = evidence.quote.split_whitespace().collect::<Vec<_>>().join(" ");
            writeln!(out, "  “{}” — {} in {}", shown(&quote), whose(evidence.speaker), shown(&evidence.source))?;
        }
    }
    if source.proposals.is_empty() {
        let commit = ctx.paint(Meaning::Dim, short(&source.commit));
        writeln!(out, "commit {commit} {}", ctx.paint(Meaning::Head, shown(&source.subject)))?;
        writeln!(out, "  by {}, without a proposal", shown(&source.author))?;
    }
    if let Some(restored) = &source.restored {
        let proposal = restored.proposal.as_ref().map(|id| format!(" of proposal {}", short(id)));
        let (commit, by) = (short(&restored.commit), shown(&restored.by));
        writeln!(out, "  brought back by the revert{} in {commit}, by {by}", proposal.unwrap_or_default())?;
    }
    Ok(())
}

/// How a proposal came to the branch, and from where.
fn facts(source: &Source, origin: &Origin) -> Vec<String> {
    let mut facts = Vec::new();
    if source.edited {
        facts.push(format!("edited by {} in {} before it landed", source.author, short(&source.commit)));
    }
    let landing = origin.landing.as_deref().map_or("a commit that is not here", short);
    let decision = origin.decision.as_deref().unwrap_or("merged by hand");
    let by = origin.approved_by.as_ref().map(|who| format!(" by {who}")).unwrap_or_default();
    let policy = origin.policy.as_ref().map(|policy| format!(" ({policy})")).unwrap_or_default();
    facts.push(format!("{decision}{by}{policy}, landed as {landing}"));
    let from = [
        origin.session.as_ref().map(|session| format!("from session {session}")),
        origin.lane.as_ref().map(|lane| format!("lane {lane}")),
        Some(origin.model.clone().unwrap_or_else(|| format!("written by {}", name(&source.author)))),
    ];
    facts.push(from.into_iter().flatten().collect::<Vec<_>>().join(", "));
    facts
}

fn porcelain(found: &Blame, out: &mut impl Write) -> Result<()> {
    let mut told = HashSet::new();
    for line in &found.lines {
        let source = &found.sources[line.source];
        writeln!(out, "{} {} {}", source.commit, line.original, line.line)?;
        if told.insert(line.source) {
            for (key, value) in headers(source) {
                writeln!(out, "{key} {}", shown(&value))?;
            }
        }
        writeln!(out, "\t{}", shown(&line.text))?;
    }
    Ok(())
}

fn headers(source: &Source) -> Vec<(&'static str, String)> {
    let mut headers = vec![
        ("author", source.author.clone()),
        ("author-time", source.at.as_second().to_string()),
        ("summary", source.subject.clone()),
        ("filename", source.path.clone()),
    ];
    for origin in &source.proposals {
        headers.push(("proposal", origin.id.clone()));
        let fields = [
            ("landing", &origin.landing),
            ("decision", &origin.decision),
            ("policy", &origin.policy),
            ("approved-by", &origin.approved_by),
            ("session", &origin.session),
        ];
        headers.extend(fields.into_iter().filter_map(|(key, value)| Some((key, value.clone()?))));
        let evidence = origin.evidence.iter().map(|one| ("evidence", format!("{}\t{}", one.source, one.quote)));
        headers.extend(evidence);
    }
    if source.edited {
        headers.push(("edited", source.author.clone()));
    }
    headers.extend(source.restored.as_ref().map(|restored| ("restored-by", restored.commit.clone())));
    headers
}

/// A person without the address.
fn name(person: &str) -> &str {
    person.split_once(" <").map_or(person, |(name, _)| name)
}

fn short(id: &str) -> &str {
    id.get(..8).unwrap_or(id)
}

impl From<blame::Error> for CliError {
    fn from(error: blame::Error) -> CliError {
        match error {
            blame::Error::Git(error) => error.into(),
            blame::Error::NoSuchPage { .. } => CliError::refused("no_such_page", error.to_string())
                .hint("name it from the wiki's root, as `git memory lint` does; an older commit is named with --at"),
        }
    }
}
