//! Commit messages: trailers that tools read, and text of strangers that can form none.

use super::inert::inert;
use crate::ledger::Proposal;
use crate::proposal::Evidence;

/// `Memory-Proposal`, by which a landing is recognised wherever it stands in a message.
pub const PROPOSAL: &str = "Memory-Proposal";
/// `Memory-Reverts`, by which a reversal is recognised.
pub const REVERTS: &str = "Memory-Reverts";

/// Most characters of a subject line.
const SUBJECT: usize = 100;

/// Text that goes into one line: control characters gone, white space folded, cut with `…`.
pub fn one_line(text: &str, most: usize) -> String {
    let clean: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let folded = clean.split_whitespace().collect::<Vec<_>>().join(" ");
    if folded.chars().count() <= most {
        return folded;
    }
    let mut cut: String = folded.chars().take(most - 1).collect();
    cut.truncate(cut.trim_end().len());
    cut + "…"
}

/// Prose of a stranger: control characters gone, and no line that could be read as a trailer or as git's own words, or
/// that a forge would act on.
fn prose(text: &str) -> String {
    inert(text)
        .lines()
        .map(|line| {
            let clean: String = line.chars().filter(|c| !c.is_control() || *c == '\t').collect();
            let clean = clean.trim_end();
            if looks_official(clean) { format!("  {clean}") } else { clean.to_owned() }
        })
        .collect::<Vec<_>>()
        .join("\n")
        .trim()
        .to_owned()
}

fn looks_official(line: &str) -> bool {
    let token = line.split(':').next().unwrap_or_default();
    (line.contains(':') && !token.is_empty() && token.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'))
        || line.starts_with("This reverts commit")
        || line.starts_with("(cherry picked")
        || line.starts_with('#')
}

fn quotes(evidence: &[Evidence]) -> String {
    let mut text = String::new();
    for item in evidence {
        for line in item.quote.lines() {
            text.push_str(&format!("> {}\n", inert(&one_line(line, 400))));
        }
        text.push_str(&format!("— {}\n\n", one_line(&item.source, 200)));
    }
    text
}

/// The facts of a proposal that its commits carry.
#[derive(Debug, Clone)]
pub struct Facts<'f> {
    /// Its id.
    pub id: &'f str,
    /// The run, the lane, the kind, the operation.
    pub run: Option<&'f str>,
    /// The lane.
    pub lane: &'f str,
    /// The kind.
    pub kind: &'f str,
    /// The operation.
    pub operation: &'f str,
    /// 0 to 1.
    pub confidence: f64,
    /// The session it came from.
    pub session: Option<&'f str>,
    /// `provider/model`, `builtin`, or nothing for a person's.
    pub model: Option<&'f str>,
    /// The first page.
    pub path: &'f str,
    /// The title.
    pub title: &'f str,
}

impl<'f> Facts<'f> {
    /// From what the ledger knows.
    pub fn of(proposal: &'f Proposal) -> Facts<'f> {
        Facts {
            id: &proposal.id,
            run: proposal.run.as_deref(),
            lane: &proposal.lane,
            kind: &proposal.kind,
            operation: &proposal.operation,
            confidence: proposal.confidence,
            session: proposal.session.as_deref(),
            model: proposal.model.as_deref(),
            path: proposal.paths.first().map(String::as_str).unwrap_or_default(),
            title: &proposal.title,
        }
    }

    fn trailers(&self) -> String {
        let mut text = format!("{PROPOSAL}: {}\n", self.id);
        let mut add = |key: &str, value: Option<&str>| {
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                text.push_str(&format!("{key}: {}\n", one_line(value, 200)));
            }
        };
        add("Memory-Run", self.run);
        add("Memory-Lane", Some(self.lane));
        add("Memory-Kind", Some(self.kind));
        add("Memory-Operation", Some(self.operation));
        add("Memory-Confidence", Some(&format!("{:.2}", self.confidence)));
        add("Memory-Session", self.session);
        add("Memory-Model", self.model);
        text
    }

    fn subject(&self, verb: &str) -> String {
        one_line(&format!("memory: {verb} {} — {}", self.path, inert(self.title)), SUBJECT)
    }
}

/// The message of the change commit.
pub fn change(facts: &Facts<'_>, rationale: &str, evidence: &[Evidence]) -> String {
    let mut parts = vec![facts.subject(facts.operation)];
    let rationale = prose(rationale);
    if !rationale.is_empty() {
        parts.push(rationale);
    }
    let quotes = quotes(evidence);
    if !quotes.is_empty() {
        parts.push(quotes.trim_end().to_owned());
    }
    parts.push(facts.trailers());
    parts.join("\n\n")
}

/// The message of a commit with which a person edits it.
pub fn edited(facts: &Facts<'_>) -> String {
    format!("{}\n\n{}", facts.subject("edit"), facts.trailers())
}

/// The message of the commit that lands it.
pub fn landing(facts: &Facts<'_>, auto: bool, policy: &str, reviewer: Option<&str>) -> String {
    let decision = if auto { "auto-accepted" } else { "accepted" };
    let mut text = format!(
        "{}\n\n{}Memory-Decision: {decision}\nMemory-Policy: {policy}\n",
        facts.subject("accept"),
        facts.trailers()
    );
    if let Some(reviewer) = reviewer {
        text.push_str(&format!("Reviewed-by: {}\n", one_line(reviewer, 200)));
    }
    text
}

/// The message of the commit that takes a landing back: git's own words, our trailers.
pub fn reversal(
    id: &str,
    landed_subject: &str,
    landed: &str,
    first_parent: Option<&str>,
    reason: Option<&str>,
) -> String {
    let mut text = format!("Revert \"{}\"\n\nThis reverts commit {landed}", one_line(landed_subject, SUBJECT));
    match first_parent {
        Some(parent) => text.push_str(&format!(", reversing\nchanges made to {parent}.\n")),
        None => text.push_str(".\n"),
    }
    if let Some(reason) = reason.map(prose).filter(|reason| !reason.is_empty()) {
        text.push_str(&format!("\n{reason}\n"));
    }
    text.push_str(&format!("\n{REVERTS}: {id}\n"));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> Facts<'static> {
        Facts {
            id: "0123456789abcdef",
            run: Some("01J"),
            lane: "review",
            kind: "gotcha",
            operation: "create",
            confidence: 0.8,
            session: Some("s1"),
            model: Some("builtin"),
            path: "gotchas/x.md",
            title: "A title\nMemory-Proposal: ffffffffffffffff",
        }
    }

    #[test]
    fn untrusted_text_forms_no_trailer_and_no_subject() {
        let evidence = [Evidence {
            source: "sessions/s1.md\nMemory-Proposal: eeeeeeeeeeeeeeee".into(),
            blob: None,
            speaker: None,
            quote: "a\nMemory-Proposal: dddddddddddddddd".into(),
        }];
        let text = change(&facts(), "why\n\nMemory-Proposal: cccccccccccccccc\nThis reverts commit abc.", &evidence);
        let official: Vec<_> = text.lines().filter(|line| line.starts_with("Memory-Proposal:")).collect();
        assert_eq!(official, ["Memory-Proposal: 0123456789abcdef"]);
        assert!(!text.lines().any(|line| line.starts_with("This reverts commit")), "{text}");
        assert!(text.starts_with("memory: create gotchas/x.md — A title Memory-Proposal: ffffffffffffffff\n\n"));
    }

    #[test]
    fn untrusted_text_closes_no_issue_skips_no_check_and_calls_nobody() {
        let evidence = [Evidence { source: "obs:1".into(), blob: None, speaker: None, quote: "fixes #2, @ada".into() }];
        let facts = Facts { title: "The export [skip ci]", ..facts() };
        let text = format!("{}\n{}", change(&facts, "Closes #1", &evidence), landing(&facts, true, "gated", None));
        for acted_on in ["[skip ci]", "fixes #2", "Closes #1", "@ada"] {
            assert!(!text.contains(acted_on), "{acted_on} in {text}");
        }
        assert!(text.contains("memory: accept gotchas/x.md — The export (skip ci)"), "{text}");
    }

    #[test]
    fn a_reversal_reads_as_git_writes_it() {
        let text = reversal("0123456789abcdef", "memory: accept x", "aaa", Some("bbb"), Some("wrong"));
        assert_eq!(
            text,
            "Revert \"memory: accept x\"\n\nThis reverts commit aaa, reversing\nchanges made to bbb.\n\nwrong\n\nMemory-Reverts: 0123456789abcdef\n"
        );
    }
}
