//! What a commit's message says of proposals: the reading side of `message`.

use bstr::{BStr, ByteSlice};

use super::Evidence;
use super::landings::value;
use super::message::{PROPOSAL, REVERTS};

/// What a message says of one proposal that it names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trailers {
    /// The proposal's id.
    pub proposal: String,
    /// `Memory-Run`.
    pub run: Option<String>,
    /// `Memory-Lane`.
    pub lane: Option<String>,
    /// `Memory-Kind`.
    pub kind: Option<String>,
    /// `Memory-Operation`.
    pub operation: Option<String>,
    /// `Memory-Session`.
    pub session: Option<String>,
    /// `Memory-Model`.
    pub model: Option<String>,
    /// `Memory-Decision`: `accepted` or `auto-accepted`; only on what lands.
    pub decision: Option<String>,
    /// `Memory-Policy`; only on what lands.
    pub policy: Option<String>,
    /// `Reviewed-by`; only on what a person landed.
    pub reviewed_by: Option<String>,
}

/// The proposals that a message names, each with the trailers below its name: several, where a forge put the messages
/// of many commits into one.
pub fn trailers(message: &BStr) -> Vec<Trailers> {
    let mut found: Vec<Trailers> = Vec::new();
    for line in message.lines() {
        let line = line.to_str_lossy();
        if let Some(id) = value(&line, PROPOSAL) {
            found.push(Trailers { proposal: id, ..Trailers::default() });
            continue;
        }
        let (Some(last), Some((key, text))) = (found.last_mut(), line.split_once(": ")) else { continue };
        let field = match key {
            "Memory-Run" => &mut last.run,
            "Memory-Lane" => &mut last.lane,
            "Memory-Kind" => &mut last.kind,
            "Memory-Operation" => &mut last.operation,
            "Memory-Session" => &mut last.session,
            "Memory-Model" => &mut last.model,
            "Memory-Decision" => &mut last.decision,
            "Memory-Policy" => &mut last.policy,
            "Reviewed-by" => &mut last.reviewed_by,
            _ => continue,
        };
        field.get_or_insert_with(|| text.trim().to_owned());
    }
    found
}

/// What a message that takes something back names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenBack {
    /// The commit that is taken back.
    pub commit: String,
    /// The proposal, where it was taken back as one.
    pub proposal: Option<String>,
}

/// The commit that a message says it takes back, in git's own words.
pub fn taken_back(message: &BStr) -> Option<TakenBack> {
    let mut lines = message.lines().map(|line| line.to_str_lossy());
    let commit = lines.find_map(|line| {
        let rest = line.strip_prefix("This reverts commit ")?;
        Some(rest.chars().take_while(char::is_ascii_hexdigit).collect::<String>())
    })?;
    let proposal = lines.find_map(|line| value(&line, REVERTS));
    Some(TakenBack { commit, proposal })
}

/// The evidence that a change commit's message quotes, each quote above the line that names its source.
pub fn quotes(message: &BStr) -> Vec<Evidence> {
    let mut found = Vec::new();
    let mut quote: Vec<String> = Vec::new();
    for line in message.lines() {
        let line = line.to_str_lossy();
        if let Some(words) = line.strip_prefix("> ") {
            quote.push(words.to_owned());
            continue;
        }
        if let Some(source) = line.strip_prefix("— ").filter(|_| !quote.is_empty()) {
            let quote = quote.join("\n");
            found.push(Evidence { source: source.to_owned(), blob: None, speaker: None, quote });
        }
        quote.clear();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proposal::message::{self, Facts};

    #[test]
    fn a_squash_of_many_tells_each_with_its_own_trailers() {
        let message = "Two lessons (#7)\n\n* memory: create a.md — A\n\nMemory-Proposal: 00000000000000aa\n\
                       Memory-Session: s1\n\n* memory: create b.md — B\n\nMemory-Proposal: 00000000000000bb\n\
                       Memory-Model: builtin\nMemory-Session: s2\nMemory-Session: s3\n";
        let found = trailers(message.into());
        let told: Vec<_> =
            found.iter().map(|t| (t.proposal.as_str(), t.session.as_deref(), t.model.as_deref())).collect();
        assert_eq!(told, [("00000000000000aa", Some("s1"), None), ("00000000000000bb", Some("s2"), Some("builtin"))]);
    }

    #[test]
    fn words_before_a_proposals_name_belong_to_none() {
        assert_eq!(trailers("x\n\nMemory-Session: s1\nReviewed-by: Eve\n".into()), []);
        assert_eq!(trailers("x\n\nMemory-Proposal: nonsense\nMemory-Session: s1\n".into()), []);
    }

    #[test]
    fn quotes_are_read_as_they_were_written() {
        let of = |source: &str, quote: &str| Evidence {
            source: source.into(),
            blob: None,
            speaker: None,
            quote: quote.into(),
        };
        let evidence = [of("sessions/s1.md", "one\ntwo"), of("notes/a.md", "three")];
        let facts = Facts {
            id: "0123456789abcdef",
            run: None,
            lane: "review",
            kind: "gotcha",
            operation: "create",
            confidence: 0.8,
            session: None,
            model: None,
            path: "gotchas/x.md",
            title: "A title",
        };
        let text = message::change(&facts, "Why\n> not a quote", &evidence);
        assert_eq!(quotes(text.as_str().into()), evidence);
        assert_eq!(trailers(text.as_str().into())[0].lane.as_deref(), Some("review"));
    }

    #[test]
    fn a_revert_names_the_commit_and_perhaps_the_proposal() {
        let by_hand =
            taken_back("Revert \"x\"\n\nThis reverts commit abc123, reversing\nchanges made to def.\n".into());
        assert_eq!(by_hand, Some(TakenBack { commit: "abc123".into(), proposal: None }));
        let ours = taken_back("Revert\n\nThis reverts commit abc.\n\nMemory-Reverts: 00000000000000aa\n".into());
        assert_eq!(ours.and_then(|taken| taken.proposal).as_deref(), Some("00000000000000aa"));
        assert_eq!(taken_back("Fix\n".into()), None);
    }
}
