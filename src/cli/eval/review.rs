//! `git memory eval review`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::super::{Cell, CliError, Context, Exit, Meaning, Progress, Result, Table, shown};
use super::markdown::Markdown;
use super::report;
use crate::agent::capture::{self, Options};
use crate::agent::discover;
use crate::config::{self, Settings};
use crate::eval::review::{
    self, Captured, Case, CaseReport, Figures, Judged, Report, Reviewer, SetReport, Skipped, Verdict, play,
};
use crate::git;
use crate::model::{Models, Stage, Usage};
use crate::wiki::{OpenError, Wiki};

/// Measure what the reviewer proposes, on labelled sessions: precision, recall, duplicates, rule safety.
///
/// Each folder below DIR with a `case.toml` is a case: recorded sessions, the wiki at the start, and what must, may and
/// must not be proposed. Each is played through capture and review in a wiki of its own among the temporary files, which
/// is thrown away; yours is not touched, and none is needed.
///
/// Who reviews is what the settings say, or --provider. Exit code 1: a rule does not rest on a person's own words, the
/// reviewer failed, or a threshold is missed. With -v each proposal has its line.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A folder of cases; may be given more than once
    #[arg(long, value_name = "DIR", required = true)]
    cases: Vec<PathBuf>,

    /// Only cases whose names hold this
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,

    /// Who answers in all stages, in place of `model.provider`: builtin, openai, anthropic, command, replay
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,

    /// The model in all stages, in place of `model.model`
    #[arg(long, value_name = "NAME")]
    model: Option<String>,

    /// Fail below this share of proposals that must or may be, 0 to 1
    #[arg(long, value_name = "SHARE", value_parser = part)]
    min_precision: Option<f64>,

    /// Fail below this share of labels that were found, 0 to 1
    #[arg(long, value_name = "SHARE", value_parser = part)]
    min_recall: Option<f64>,

    /// Write a report there too: .json or .md; an existing file is not overwritten; may be given more than once
    #[arg(long, value_name = "FILE", value_parser = report::target)]
    output: Vec<PathBuf>,
}

fn part(word: &str) -> Result<f64, String> {
    word.parse().ok().filter(|share| (0.0..=1.0).contains(share)).ok_or_else(|| "a share is from 0 to 1".to_owned())
}

pub(super) fn run(ctx: &Context, args: Args) -> Result<Exit> {
    report::check(ctx, &args.output)?;
    let mut sets = args.cases.iter().map(|folder| read(ctx, folder, &args)).collect::<Result<Vec<_>>>()?;
    if sets.iter().all(|(_, cases)| cases.is_empty()) {
        let only = args.only.as_deref().unwrap_or_default();
        return Err(CliError::refused("no_cases", format!("no case has '{only}' in its name")));
    }
    sets.retain(|(_, cases)| !cases.is_empty());
    let settings = measured(ctx, &args)?;
    let name = Models::new(&settings.model, PathBuf::new()).stage(Stage::Review).name();
    let count: usize = sets.iter().map(|(_, cases)| cases.len()).sum();
    let progress = Mutex::new(Progress::new(ctx, count as u64, "cases"));
    let played = |cases: &[Case]| {
        let one = |case: &&Case| {
            let played = play(case, &Reviewer { settings: &settings, capture });
            if let Ok(mut progress) = progress.lock() {
                progress.advance(1);
            }
            played
        };
        let there: Vec<&Case> = cases.iter().filter(|case| case.absent.is_empty()).collect();
        // A server is asked one thing at a time.
        if has_model(&settings) { there.iter().map(one).collect() } else { git::each(&there, one) }
    };
    let sets: Vec<SetReport> = sets
        .into_iter()
        .map(|(folder, cases)| {
            let played: Vec<CaseReport> = played(&cases);
            let absent = cases.into_iter().filter(|case| !case.absent.is_empty());
            let absent = absent.map(|case| Skipped { case: case.name, sessions: case.absent }).collect();
            SetReport { folder, figures: Figures::of(&played), cases: played, absent }
        })
        .collect();
    drop(progress);
    let found = Report::of(name, sets, args.min_precision, args.min_recall);
    for set in &found.sets {
        for absent in &set.absent {
            ctx.warn(format!(
                "{}: not played, its session is not at hand: {}",
                absent.case,
                absent.sessions.join(", ")
            ));
        }
    }
    report::write(ctx, &args.output, "eval-review", &found, || markdown(&found))?;
    if ctx.json {
        ctx.print_json("eval-review", &found)?;
    } else {
        print(ctx, &found)?;
    }
    for fault in &found.faults {
        ctx.error(fault);
    }
    Ok(if found.faults.is_empty() { Exit::Done } else { Exit::Refused })
}

/// The cases of a folder, named as it was given.
fn read(ctx: &Context, folder: &Path, args: &Args) -> Result<(String, Vec<Case>)> {
    let mut cases = review::find(&ctx.dir.join(folder))?;
    if let Some(only) = &args.only {
        cases.retain(|case| case.name.contains(only.as_str()));
    }
    Ok((folder.display().to_string(), cases))
}

/// The settings of the reviewer that is measured: those of the wiki at hand, or what holds outside of any.
fn measured(ctx: &Context, args: &Args) -> Result<Settings> {
    let mut settings = match Wiki::open(&ctx.dir) {
        Ok(wiki) => wiki.config.settings,
        Err(OpenError::NoWiki { .. } | OpenError::Git(git::Error::NotARepository(_))) => {
            review::outside().map_err(|why| CliError::fatal("no_place", why))?
        }
        Err(error) => return Err(error.into()),
    };
    let model = &mut settings.model;
    for (given, all, name) in
        [(&args.provider, &mut model.provider, "provider"), (&args.model, &mut model.model, "model")]
    {
        let Some(given) = given else { continue };
        all.clone_from(given);
        for stage in [
            &mut model.review,
            &mut model.judge,
            &mut model.reflect,
            &mut model.distill,
            &mut model.consolidate,
            &mut model.pair,
        ] {
            match name {
                "provider" => stage.provider = None,
                _ => stage.model = None,
            }
        }
    }
    // What committed settings name is called only after somebody here said yes to it.
    config::trust::review(&settings)?;
    Ok(settings)
}

fn has_model(settings: &Settings) -> bool {
    let models = Models::new(&settings.model, PathBuf::new());
    Stage::ASKED.into_iter().any(|stage| models.has(stage))
}

/// Captures files into the wiki of a case.
fn capture(wiki: &Wiki, files: &[PathBuf]) -> Captured {
    let search = discover::search(files);
    let report = capture::capture(wiki, &search, &Options::default(), &mut || {}).map_err(|error| error.to_string())?;
    let unread = report.failed.iter().chain(&report.unrecognised).chain(&report.unresolved);
    Ok(unread.map(|trouble| format!("{}: {}", trouble.file, trouble.text)).collect())
}

const HEAD: [&str; 11] = [
    "cases",
    "clean",
    "proposals",
    "hits",
    "allowed",
    "duplicates",
    "wrong",
    "missed",
    "precision",
    "recall",
    "unsafe rules",
];

/// Figures as people read them, in the order of [`HEAD`].
fn numbers(figures: &Figures) -> Vec<String> {
    let share = |share: Option<f64>| share.map_or_else(|| "–".to_owned(), |share| format!("{share:.3}"));
    let counts = [
        figures.cases,
        figures.clean,
        figures.proposals,
        figures.hits,
        figures.allowed,
        figures.duplicates,
        figures.wrong,
        figures.must - figures.hits,
    ];
    let counts = counts.into_iter().map(|count| count.to_string());
    counts.chain([share(figures.precision), share(figures.recall), figures.unsafe_rules.to_string()]).collect()
}

fn rows(found: &Report) -> Vec<(&str, &Figures)> {
    let sets = found.sets.iter().map(|set| (set.folder.as_str(), &set.figures));
    sets.chain(found.together.iter().map(|figures| ("together", figures))).collect()
}

/// What a model cost, and what was refused.
fn beside(figures: &Figures) -> Option<String> {
    let mut parts = Vec::new();
    if figures.calls > 0 {
        let Usage { input, output } = figures.tokens;
        parts.push(format!("{} calls, {input} tokens asked, {output} answered", figures.calls));
    }
    if figures.unjudged > 0 {
        parts.push(format!("{} without an answer of the judge", figures.unjudged));
    }
    if figures.failed > 0 {
        parts.push(format!("the reviewer failed in {}", figures.failed));
    }
    if !figures.refused.is_empty() {
        let codes: Vec<String> = figures.refused.iter().map(|(code, count)| format!("{count} {code}")).collect();
        parts.push(format!("refused before staging: {}", codes.join(", ")));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// What there is to say of a case, a line each; `all`: also what is as it should be.
fn remarks(case: &CaseReport, all: bool) -> Vec<(Meaning, String)> {
    let mut lines = Vec::new();
    if let Some(why) = &case.failed {
        lines.push((Meaning::Bad, format!("failed: {why}")));
    }
    for Judged { kind, path, title, verdict, why, breach, .. } in &case.proposals {
        let meaning = match verdict {
            Verdict::Hit | Verdict::Allowed => Meaning::Good,
            Verdict::Duplicate => Meaning::Warn,
            Verdict::Wrong => Meaning::Bad,
        };
        let kind = kind.as_str();
        if all || meaning != Meaning::Good {
            lines.push((meaning, format!("{}: {kind} {path} \"{title}\" ({why})", verdict.as_str())));
        }
        if let Some(breach) = breach {
            lines.push((Meaning::Bad, format!("unsafe rule: {path}: {}", breach.as_str())));
        }
    }
    lines.extend(case.missed.iter().map(|label| (Meaning::Bad, format!("missed: {label}"))));
    if all {
        let refused = case.refused.iter();
        lines.extend(refused.map(|it| (Meaning::Dim, format!("refused {}: {} ({})", it.code, it.path, it.reason))));
        let skipped = case.skipped.iter();
        lines.extend(skipped.map(|(why, count)| (Meaning::Dim, format!("passed over {count}: {why}"))));
    }
    lines
}

fn print(ctx: &Context, found: &Report) -> Result<()> {
    let mut out = ctx.paged();
    writeln!(out, "reviewed by {}", shown(&found.reviewer))?;
    let mut table = Table::new();
    table.head(&["set"].into_iter().chain(HEAD).collect::<Vec<_>>());
    for (name, figures) in rows(found) {
        table.row([Cell::new(name)].into_iter().chain(numbers(figures).into_iter().map(Cell::right)));
    }
    table.print(ctx, &mut out)?;
    if let Some(beside) = found.overall().and_then(beside) {
        writeln!(out, "{}", shown(&beside))?;
    }
    let all = ctx.verbose > 0;
    for set in &found.sets {
        for case in set.cases.iter().filter(|case| all || !case.is_clean()) {
            let name = format!("{}/{}", set.folder.trim_end_matches('/'), case.case);
            writeln!(out, "\n{}  {}", ctx.paint(Meaning::Head, shown(&name)), shown(&case.about))?;
            for (meaning, line) in remarks(case, all) {
                writeln!(out, "  {}", ctx.paint(meaning, shown(&line)))?;
            }
        }
    }
    out.finish()
}

fn markdown(found: &Report) -> String {
    let mut report = Markdown::new("What the reviewer proposes");
    report.paragraph(&format!("Reviewed by {}.", found.reviewer));
    let head: Vec<String> = ["set"].into_iter().chain(HEAD).map(str::to_owned).collect();
    let rows = rows(found).into_iter();
    let rows = rows.map(|(name, figures)| [name.to_owned()].into_iter().chain(numbers(figures)).collect());
    report.table([head].into_iter().chain(rows));
    if let Some(beside) = found.overall().and_then(beside) {
        report.paragraph(&format!("{beside}."));
    }
    if !found.faults.is_empty() {
        report.heading("Not good enough");
        report.list(found.faults.iter().cloned());
    }
    for set in &found.sets {
        report.heading(&set.folder);
        let mut table = vec![["case", "verdict", "kind", "page", "title", "why"].map(str::to_owned).to_vec()];
        for case in &set.cases {
            let row =
                |cells: [&str; 5]| [case.case.as_str()].into_iter().chain(cells).map(str::to_owned).collect::<Vec<_>>();
            if let Some(why) = &case.failed {
                table.push(row(["failed", "", "", "", why]));
            }
            for judged in &case.proposals {
                let why = match judged.breach {
                    Some(breach) => format!("{}; unsafe rule: {}", judged.why, breach.as_str()),
                    None => judged.why.clone(),
                };
                table.push(row([judged.verdict.as_str(), judged.kind.as_str(), &judged.path, &judged.title, &why]));
            }
            for label in &case.missed {
                table.push(row(["missed", "", "", "", label]));
            }
            if case.is_clean() && case.proposals.is_empty() {
                table.push(row(["nothing, rightly", "", "", "", ""]));
            }
        }
        report.table(table);
        if !set.absent.is_empty() {
            report.paragraph("Not played, as their sessions are not at hand:");
            report.list(set.absent.iter().map(|absent| format!("{}: {}", absent.case, absent.sessions.join(", "))));
        }
    }
    report.finish()
}
