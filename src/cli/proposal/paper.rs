//! A proposal for people to read: what, why, on what evidence, what was checked, and the change.

use std::io::Write;

use serde_json::{Map, Value};

use super::super::{Context, Meaning, Result, age, shown, shown_lines};
use crate::ledger::{self, Status};
use crate::proposal::row::{Row, marks};
use crate::proposal::{Item, PageChange, Sidecar, checked, sidecar};
use crate::wiki::Wiki;

/// Everything about one proposal that a reviewer may want to see.
pub struct Paper<'p> {
    /// As it stands.
    pub item: &'p Item,
    /// What the ledger keeps of it.
    pub sidecar: Option<&'p Sidecar>,
    /// Its change.
    pub changes: &'p [PageChange],
    /// Why only a person's explicit yes lands it, if so.
    pub needs_person: Option<&'p str>,
}

impl Paper<'_> {
    /// Prints it. `details` adds what was checked and where it comes from.
    pub fn print(&self, ctx: &Context, wiki: &Wiki, out: &mut impl Write, details: bool) -> Result<()> {
        self.head(ctx, wiki, out)?;
        if details {
            self.origin(ctx, out)?;
        }
        if let Some(sidecar) = self.sidecar {
            self.why(ctx, out, sidecar)?;
            if details {
                what_was_checked(ctx, out, "Checked", &sidecar.gates, &sidecar.notes)?;
            }
        }
        if details {
            what_was_checked(ctx, out, "Checked again, as people had edited it", &self.item.proposal.gates, &[])?;
        }
        writeln!(out)?;
        for change in self.changes {
            diff(ctx, out, change)?;
        }
        Ok(())
    }

    fn head(&self, ctx: &Context, wiki: &Wiki, out: &mut impl Write) -> Result<()> {
        let proposal = &self.item.proposal;
        let row = Row::new(wiki, self.item);
        let colour = match self.item.status {
            Status::Accepted => Meaning::Good,
            Status::Conflicted | Status::Rejected | Status::Reverted => Meaning::Bad,
            _ => Meaning::Head,
        };
        let mut notes: Vec<String> = marks(&row).into_iter().filter(|mark| Some(mark) != row.reason.as_ref()).collect();
        if notes.is_empty() && self.needs_person.is_some() {
            notes.push("needs-person".into());
        }
        let status = ctx.paint(colour, self.item.status.as_str());
        let notes = if notes.is_empty() { String::new() } else { format!(" ({})", shown(&notes.join(", "))) };
        writeln!(
            out,
            "{} {} {status}{notes}",
            ctx.paint(Meaning::Head, "proposal"),
            ctx.paint(Meaning::Id, &proposal.id)
        )?;
        writeln!(out, "{}", ctx.paint(Meaning::Head, shown(&proposal.title)))?;
        writeln!(
            out,
            "{} {}: {}",
            shown(&proposal.operation),
            shown(&proposal.kind),
            ctx.paint(Meaning::Place, shown(&proposal.paths.join(", ")))
        )?;
        if let Some(reason) = self.needs_person {
            writeln!(out, "{}", ctx.paint(Meaning::Warn, format!("Only a person may accept it: {}", shown(reason))))?;
        }
        if let Some(reason) = &proposal.deferred {
            writeln!(out, "{}", ctx.paint(Meaning::Warn, format!("A person must decide: {}", shown(reason))))?;
        }
        if let Some(reason) = &proposal.reason {
            writeln!(out, "{}: {}", self.item.status, shown(reason))?;
        }
        if let Some(failed) = self.item.refused_as_it_is() {
            writeln!(out, "{}", ctx.paint(Meaning::Bad, format!("An accept was refused: {}", shown(&failed.reason))))?;
        }
        Ok(())
    }

    fn origin(&self, ctx: &Context, out: &mut impl Write) -> Result<()> {
        let proposal = &self.item.proposal;
        let ago = age(proposal.staged_at, ledger::now());
        let ago = if ago == "now" { "just now".to_owned() } else { format!("{ago} ago") };
        let model = self.sidecar.and_then(|sidecar| sidecar.model.as_deref()).unwrap_or("by hand");
        let mut facts = vec![
            format!("proposed {ago} by {}", proposal.actor),
            format!("lane {}", proposal.lane),
            format!("scope {}", proposal.scope),
            format!("confidence {:.2}", proposal.confidence),
            model.to_owned(),
        ];
        facts.extend(proposal.session.as_ref().map(|session| format!("session {session}")));
        facts.extend(proposal.run.as_ref().map(|run| format!("run {run}")));
        if proposal.sightings > 0 {
            let times = if proposal.sightings == 1 { "once" } else { "more than once" };
            facts.push(format!("found again {times}"));
        }
        facts.extend(proposal.decided_by.as_ref().map(|who| format!("decided by {who}")));
        facts.extend(proposal.landed.as_ref().map(|commit| format!("landed with {commit}")));
        writeln!(out, "{}", ctx.paint(Meaning::Dim, shown(&facts.join(", "))))?;
        Ok(())
    }

    fn why(&self, ctx: &Context, out: &mut impl Write, sidecar: &Sidecar) -> Result<()> {
        if !sidecar.rationale.trim().is_empty() {
            writeln!(out, "\n{}", ctx.paint(Meaning::Head, "Why"))?;
            indented(out, "  ", sidecar.rationale.trim())?;
        }
        writeln!(out, "\n{}", ctx.paint(Meaning::Head, "Evidence"))?;
        if sidecar.evidence.is_empty() {
            writeln!(out, "  {} wrote it by hand", shown(&sidecar.actor))?;
        }
        for evidence in &sidecar.evidence {
            indented(out, "  > ", evidence.quote.trim())?;
            let whose = sidecar::whose(evidence.speaker);
            let source = format!("    {whose} in {}", shown(&evidence.source));
            writeln!(out, "{}", ctx.paint(Meaning::Dim, source))?;
        }
        Ok(())
    }
}

fn what_was_checked(
    ctx: &Context,
    out: &mut impl Write,
    head: &str,
    gates: &Map<String, Value>,
    notes: &[String],
) -> Result<()> {
    if gates.is_empty() && notes.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{}", ctx.paint(Meaning::Head, head))?;
    for gate in checked::said(gates) {
        writeln!(out, "  {}", shown(&gate.line))?;
        for row in gate.rows {
            writeln!(out, "    {}", shown(&row))?;
        }
    }
    for note in notes {
        writeln!(out, "  {}", shown(note))?;
    }
    Ok(())
}

fn indented(out: &mut impl Write, lead: &str, text: &str) -> Result<()> {
    for line in shown_lines(text).lines() {
        writeln!(out, "{}", format!("{lead}{line}").trim_end())?;
    }
    Ok(())
}

/// Prints a page's unified diff, coloured.
pub fn diff(ctx: &Context, out: &mut impl Write, change: &PageChange) -> Result<()> {
    let text = sidecar::diff(change);
    if text.is_empty() {
        writeln!(out, "{}: no change", shown(&change.path))?;
    }
    for (number, line) in text.lines().enumerate() {
        let line = shown(line);
        let meaning = match line.as_bytes().first() {
            _ if number < 2 => Some(Meaning::Head),
            Some(b'@') => Some(Meaning::Place),
            Some(b'+') => Some(Meaning::Added),
            Some(b'-') => Some(Meaning::Removed),
            _ => None,
        };
        match meaning {
            Some(meaning) => writeln!(out, "{}", ctx.paint(meaning, line))?,
            None => writeln!(out, "{line}")?,
        }
    }
    Ok(())
}
