//! The proposal's id: the same lesson, found twice or on two machines, has the same one.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Operation;
use crate::wiki::{Edit, EditOp};

/// 16 lower-case hex digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(test, schemars(with = "String"))]
pub struct ProposalId(String);

/// A text that is no proposal id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no proposal id: it must be {LENGTH} lower-case hex digits")]
pub struct BadId(String);

/// Digits of a whole id.
pub const LENGTH: usize = 16;

impl ProposalId {
    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::str::FromStr for ProposalId {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        let good = text.len() == LENGTH && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        if good {
            Ok(ProposalId(text.to_owned()))
        } else {
            Err(BadId(text.chars().take(40).filter(|c| !c.is_control()).collect()))
        }
    }
}

impl TryFrom<String> for ProposalId {
    type Error = BadId;

    fn try_from(text: String) -> Result<Self, BadId> {
        text.parse()
    }
}

impl From<ProposalId> for String {
    fn from(id: ProposalId) -> String {
        id.0
    }
}

impl std::fmt::Display for ProposalId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&self.0)
    }
}

/// One page's part of a proposal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PageChange<'a> {
    /// The page, relative to the wiki's root.
    pub path: &'a str,
    /// What happens to it.
    pub what: What<'a>,
}

/// What happens to a page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum What<'a> {
    /// It gets this body; frontmatter, which is generated, does not count.
    Body(&'a str),
    /// It is edited.
    Edits(&'a [Edit]),
    /// It goes to the archive.
    Retired,
}

/// Raised when the encoding below changes; ids made before then stay what they are.
const VERSION: &str = "git-memory proposal 1";

/// Keys that say where a page comes from: two machines that find the same lesson differ in them.
const GENERATED: &[&str] = &["generated", "created", "updated", "sources"];

/// The id of a change. The order of the pages, CR LF and white space at line ends do not count; neither does the hash
/// of the section that an edit replaces, which says what was there before and not what comes of it.
pub fn id(scope: &str, operation: Operation, changes: &[PageChange<'_>]) -> ProposalId {
    let mut encoder = Encoder(Sha256::new());
    encoder.text(VERSION);
    encoder.text(scope);
    encoder.text(operation.as_str());
    let mut changes = changes.to_vec();
    changes.sort_unstable_by(|a, b| a.path.cmp(b.path));
    encoder.count(changes.len());
    for change in changes {
        encoder.text(change.path);
        match change.what {
            What::Body(body) => {
                encoder.text("body");
                encoder.text(&trimmed(body));
            }
            What::Edits(edits) => {
                let edits: Vec<_> = edits.iter().filter(|edit| !is_generated(edit)).collect();
                encoder.text("edits");
                encoder.count(edits.len());
                for edit in edits {
                    encoder.text(op_word(edit.op));
                    encoder.text(edit.anchor.trim());
                    encoder.text(&trimmed(&edit.content));
                }
            }
            What::Retired => encoder.text("retired"),
        }
    }
    let digest = encoder.0.finalize();
    ProposalId(digest.iter().take(LENGTH / 2).map(|byte| format!("{byte:02x}")).collect())
}

/// Writes each field with its length before it, so that no field can run into the next.
struct Encoder(Sha256);

impl Encoder {
    fn count(&mut self, n: usize) {
        self.0.update((n as u64).to_be_bytes());
    }

    fn text(&mut self, text: &str) {
        self.count(text.len());
        self.0.update(text.as_bytes());
    }
}

fn is_generated(edit: &Edit) -> bool {
    edit.op == EditOp::SetField && GENERATED.contains(&edit.anchor.trim())
}

fn op_word(op: EditOp) -> &'static str {
    match op {
        EditOp::Append => "append",
        EditOp::AddSection => "add_section",
        EditOp::ReplaceSection => "replace_section",
        EditOp::SetField => "set_field",
        EditOp::ReplaceText => "replace_text",
    }
}

/// LF line ends, nothing blank at the end of a line or of the text.
fn trimmed(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let lines: Vec<_> = text.split('\n').map(str::trim_end).collect();
    lines.join("\n").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn create(path: &str, body: &str) -> ProposalId {
        id("global", Operation::Create, &[PageChange { path, what: What::Body(body) }])
    }

    fn edit(anchor: &str, content: &str) -> Edit {
        Edit { op: EditOp::Append, anchor: anchor.into(), section_sha256: None, content: content.into() }
    }

    fn update(edits: &[Edit]) -> ProposalId {
        id("global", Operation::Update, &[PageChange { path: "notes/a.md", what: What::Edits(edits) }])
    }

    #[test]
    fn an_id_is_sixteen_hex_digits_and_reads_back() {
        let id = create("gotchas/a.md", "# A\n");
        assert_eq!(id.as_str().len(), 16);
        assert_eq!(id.to_string().parse(), Ok(id.clone()));
        assert_eq!(serde_json::from_str::<ProposalId>(&serde_json::to_string(&id).unwrap()).unwrap(), id);
        for bad in ["", "abc", "0123456789abcdeF", "0123456789abcdef0", "0123456789abcde/"] {
            assert!(bad.parse::<ProposalId>().is_err(), "{bad}");
        }
    }

    #[test]
    fn the_encoding_is_pinned() {
        assert_eq!(create("gotchas/a.md", "# A\n\ntext\n").as_str(), "5d8ff4c122736802");
    }

    #[test]
    fn scope_operation_path_and_form_count() {
        let body = What::Body("# A");
        let base = id("global", Operation::Create, &[PageChange { path: "a.md", what: body }]);
        assert_ne!(base, id("other", Operation::Create, &[PageChange { path: "a.md", what: body }]));
        assert_ne!(base, id("global", Operation::Update, &[PageChange { path: "a.md", what: body }]));
        assert_ne!(base, id("global", Operation::Create, &[PageChange { path: "b.md", what: body }]));
        assert_ne!(base, id("global", Operation::Create, &[PageChange { path: "a.md", what: What::Retired }]));
        assert_ne!(base, id("global", Operation::Create, &[]));
    }

    #[test]
    fn the_order_of_pages_does_not_count_but_that_of_edits_does() {
        let a = PageChange { path: "a.md", what: What::Body("a") };
        let b = PageChange { path: "b.md", what: What::Retired };
        assert_eq!(id("g", Operation::Supersede, &[a, b]), id("g", Operation::Supersede, &[b, a]));
        assert_ne!(update(&[edit("## A", "x"), edit("## A", "y")]), update(&[edit("## A", "y"), edit("## A", "x")]));
    }

    #[test]
    fn generated_fields_and_the_section_hash_do_not_count() {
        let stamp =
            Edit { op: EditOp::SetField, anchor: "updated".into(), section_sha256: None, content: "2026-01-01".into() };
        let hashed = Edit { section_sha256: Some("ab".into()), ..edit("## A", "x") };
        assert_eq!(update(&[edit("## A", "x"), stamp.clone()]), update(&[hashed]));
        let title = Edit { anchor: "title".into(), ..stamp };
        assert_ne!(update(&[edit("## A", "x"), title]), update(&[edit("## A", "x")]));
    }

    proptest! {
        #[test]
        fn line_ends_and_trailing_space_do_not_count(lines in prop::collection::vec("[a-z #]{0,12}", 1..8), pads in prop::collection::vec("[ \t]{0,3}", 8)) {
            let plain = lines.join("\n");
            let padded: Vec<_> = lines.iter().zip(&pads).map(|(line, pad)| format!("{line}{pad}")).collect();
            prop_assert_eq!(create("a.md", &plain), create("a.md", &(padded.join("\r\n") + "\r\n\n")));
        }

        #[test]
        fn another_text_is_another_id(a in "[a-z\n]{1,30}", b in "[a-z\n]{1,30}") {
            prop_assume!(trimmed(&a) != trimmed(&b));
            prop_assert_ne!(create("a.md", &a), create("a.md", &b));
        }

        #[test]
        fn fields_cannot_run_into_each_other(text in "[a-z]{2,20}", cut in 1usize..19, other in 1usize..19) {
            let (cut, other) = (cut.min(text.len() - 1), other.min(text.len() - 1));
            prop_assume!(cut != other);
            prop_assert_ne!(create(&text[..cut], &text[cut..]), create(&text[..other], &text[other..]));
            prop_assert_ne!(update(&[edit(&text[..cut], &text[cut..])]), update(&[edit(&text[..other], &text[other..])]));
        }
    }
}
