//! What a lane, a person or a model hands in, before it is validated.

use serde::{Deserialize, Serialize};

use super::ProposalId;
use crate::session::Speaker;
use crate::wiki::{Edit, Kind};

/// What a proposal does to its page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    /// A new page.
    Create,
    /// A change of a page that exists.
    Update,
    /// The page moves to `_archive/`.
    Retire,
    /// A new page takes the place of others.
    Supersede,
}

impl Operation {
    /// The word for it, as it stands in sidecars, trailers and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Operation::Create => "create",
            Operation::Update => "update",
            Operation::Retire => "retire",
            Operation::Supersede => "supersede",
        }
    }

    /// What a word of the ledger stands for; one that is not known changes a page.
    pub fn of_word(word: &str) -> Operation {
        use Operation::{Create, Retire, Supersede, Update};
        [Create, Retire, Supersede].into_iter().find(|operation| operation.as_str() == word).unwrap_or(Update)
    }
}

impl std::fmt::Display for Operation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

/// A verbatim quote and where it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Evidence {
    /// `sessions/<id>.md`, `sessions/<id>#<seq>` for an observation, or a page's path.
    pub source: String,
    /// The blob that the quote stands in (filled in by validation).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blob: Option<String>,
    /// Whose words (filled in by validation).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub speaker: Option<Speaker>,
    /// The words, at most 400 characters.
    pub quote: String,
}

/// What a lane, a person or a model wants to change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// What to do.
    pub operation: Operation,
    /// The page, relative to the wiki's root.
    pub path: String,
    /// Its title.
    pub title: String,
    /// Its kind.
    pub kind: Kind,
    /// 0 to 1.
    pub confidence: f64,
    /// Why this is worth keeping.
    pub rationale: String,
    /// What it rests on.
    pub evidence: Vec<Evidence>,
    /// The whole new page body (no frontmatter), for a create or a whole-page update.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body_markdown: Option<String>,
    /// Section edits, for an update.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<Edit>,
}

/// Why a candidate was refused; the words are stable and machine-readable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)] // the words say it
pub enum ReasonCode {
    UnsupportedOperation,
    ConfidenceOutOfRange,
    ConfidenceBelowThreshold,
    MissingRationale,
    MissingEvidence,
    EvidenceNotFound,
    EvidenceNotHuman,
    InvalidPath,
    UnsupportedPathPrefix,
    KindPathMismatch,
    EmptyBody,
    BodyTooLarge,
    PageBudgetExceeded,
    DuplicateExistingPath,
    DuplicateExistingTitle,
    DuplicateExistingContent,
    AlreadyRejected,
    AlreadyPending,
    TargetProtected,
    QuoteTooLong,
    PatchTargetNotInContext,
    TooManyEdits,
    EditTooLarge,
    ChangedCharsTooLarge,
    RunEditBudgetExceeded,
    MaxProposalsExceeded,
    DuplicateAnchor,
    AnchorNotFound,
    SectionHashMismatch,
    HeadingLevelMismatch,
    ExtraH1,
    ContainsSecret,
    ContainsInstructionOverride,
    PlaceholderText,
    TruncationMarker,
    NoChange,
    ConflictMarkers,
    EvalGateError,
    EvalGateTimeout,
    EvalGateFailed,
    JudgeRefused,
    RetrievalWorse,
}

impl ReasonCode {
    /// Whether it was refused for what it says, so that saying it again is no use; the other codes are about form, or
    /// about the moment.
    pub fn is_on_merit(self) -> bool {
        use ReasonCode::*;
        matches!(
            self,
            EvidenceNotHuman
                | DuplicateExistingTitle
                | DuplicateExistingContent
                | TargetProtected
                | EvalGateFailed
                | JudgeRefused
                | RetrievalWorse
        )
    }
}

impl std::fmt::Display for ReasonCode {
    /// The stable word: `evidence_not_found`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut word = String::new();
        for c in format!("{self:?}").chars() {
            if c.is_ascii_uppercase() && !word.is_empty() {
                word.push('_');
            }
            word.push(c.to_ascii_lowercase());
        }
        f.pad(&word)
    }
}

/// A candidate that did not pass, kept in the run record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[error("{code}: {summary}: {reason}")]
pub struct Refusal {
    /// The reason.
    pub code: ReasonCode,
    /// The page it was for.
    pub path: String,
    /// In words: what, where, and what would make it pass.
    pub reason: String,
    /// The candidate in one line.
    pub summary: String,
    /// The id that it would have had: where a proposal of this id exists already, this was another sighting of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposal: Option<ProposalId>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_of_a_reason_is_the_same_in_text_and_in_json() {
        for code in [ReasonCode::ExtraH1, ReasonCode::EvidenceNotHuman, ReasonCode::NoChange] {
            assert_eq!(serde_json::to_value(code).unwrap(), code.to_string());
        }
        assert_eq!(ReasonCode::ExtraH1.to_string(), "extra_h1");
    }
}
