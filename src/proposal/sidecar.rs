//! The sidecar: what a reviewer reads about a proposal, and what tools read of it.

use super::inert::inert;
use super::message::one_line;
use super::{Evidence, Operation, checked};
use crate::git;
use crate::ledger;
use crate::session::Speaker;
use crate::wiki::{Edit, Kind};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One page's text before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageChange {
    /// Relative to the wiki's root.
    pub path: String,
    /// `None`: the page is new.
    pub before: Option<Vec<u8>>,
    /// `None`: the page goes away.
    pub after: Option<Vec<u8>>,
}

/// The frontmatter of a sidecar. `proposals/<id[0..2]>/<id>/sidecar.md` in the ledger.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Sidecar {
    /// The proposal's id.
    pub id: String,
    /// The run that staged it.
    #[serde(default)]
    pub run: Option<String>,
    /// The lane that made it.
    pub lane: String,
    /// Its scope.
    pub scope: String,
    /// What it does.
    pub operation: Operation,
    /// Its pages, relative to the wiki's root.
    pub paths: Vec<String>,
    /// The kind of its page.
    pub kind: Kind,
    /// Its title.
    pub title: String,
    /// 0 to 1.
    pub confidence: f64,
    /// Why it is worth keeping.
    pub rationale: String,
    /// Who wrote the change.
    pub actor: String,
    /// Who ran it.
    #[serde(default)]
    pub operator: Option<String>,
    /// The session it came from.
    #[serde(default)]
    pub session: Option<String>,
    /// `provider/model`, or `builtin`.
    #[serde(default)]
    pub model: Option<String>,
    /// The wiki commit it was computed on.
    pub base: String,
    /// The blob of each page at the base.
    #[serde(default)]
    pub base_blobs: Map<String, Value>,
    /// The edits, for an update by sections.
    #[serde(default)]
    pub edits: Vec<Edit>,
    /// What it rests on.
    #[serde(default)]
    pub evidence: Vec<Evidence>,
    /// What each gate said.
    #[serde(default)]
    pub gates: Map<String, Value>,
    /// Notes of validation: redactions in what it touches, repairs of the candidate.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Why a person must decide, if so.
    #[serde(default)]
    pub deferred: Option<String>,
    /// When it was staged.
    pub staged_at: jiff::Timestamp,
    /// 3 to 7.
    #[serde(default)]
    pub priority: Option<u8>,
}

/// Where a proposal's files stand in the ledger.
pub fn folder(id: &str) -> String {
    format!("proposals/{}/{id}", &id[..2])
}

impl Sidecar {
    /// The whole sidecar as markdown: frontmatter, then what a reviewer reads.
    pub fn render(&self, changes: &[PageChange]) -> String {
        let front =
            serde_json::to_value(self).ok().and_then(|value| serde_saphyr::to_string(&value).ok()).unwrap_or_default();
        let mut text = format!("---\n{}\n---\n\n# {}\n\n", front.trim_end(), escape(&one_line(&self.title, 200)));
        text.push_str(&quoted(&self.rationale));
        if let Some(reason) = &self.deferred {
            text.push_str(&format!("\n**A person must decide:** {}\n", escape(&one_line(reason, 300))));
        }
        text.push_str("\n## Evidence\n\n");
        if self.evidence.is_empty() {
            text.push_str(&format!("{} wrote it by hand.\n", escape(&self.actor)));
        }
        for item in &self.evidence {
            text.push_str(&quoted(&item.quote));
            text.push_str(&format!(">\n> — {} in `{}`\n\n", whose(item.speaker), one_line(&item.source, 200)));
        }
        text.push_str("\n## Checked\n\n");
        for gate in checked::said(&self.gates) {
            text.push_str(&format!("* {}\n", escape(&gate.line)));
            for row in gate.rows {
                text.push_str(&format!("  * {}\n", escape(&row)));
            }
        }
        for note in &self.notes {
            text.push_str(&format!("* {}\n", escape(&one_line(note, 300))));
        }
        text.push_str(&format!(
            "* confidence {:.2}, {}\n",
            self.confidence,
            self.model.as_deref().unwrap_or("by hand")
        ));
        text.push_str("\n## Change\n\n");
        for change in changes {
            let diff = diff(change);
            let fence = "`".repeat(longest_run(&diff, '`').max(2) + 1);
            text.push_str(&format!("{fence}diff\n{diff}{fence}\n\n"));
        }
        text.push_str(&format!(
            "## Decide\n\n    git memory proposal accept {id}\n    git memory proposal reject {id} --reason \"…\"\n    git memory proposal edit {id}\n",
            id = self.id
        ));
        text
    }

    /// Reads the frontmatter of a sidecar back.
    pub fn parse(text: &str) -> Option<Sidecar> {
        let rest = text.strip_prefix("---\n")?;
        let end = rest.find("\n---\n")?;
        serde_saphyr::from_str(&rest[..end + 1]).ok()
    }

    /// The sidecar of a proposal, from the ledger.
    ///
    /// # Errors
    /// [`git::Error::Read`] when the ledger has one that does not parse.
    pub fn load(repo: &git::Repo, id: &str) -> git::Result<Option<Sidecar>> {
        let path = format!("{}/sidecar.md", folder(id));
        let Some(bytes) = ledger::file(repo, &path)? else { return Ok(None) };
        match Sidecar::parse(&String::from_utf8_lossy(&bytes)) {
            Some(sidecar) => Ok(Some(sidecar)),
            None => Err(git::Error::read(format!("{path} in the ledger"), "it is no sidecar of a proposal")),
        }
    }
}

/// The pages of a proposal as it was staged, from the ledger.
pub fn recorded_changes(repo: &git::Repo, id: &str, paths: &[String]) -> git::Result<Vec<PageChange>> {
    let folder = folder(id);
    paths
        .iter()
        .map(|path| {
            Ok(PageChange {
                path: path.clone(),
                before: ledger::file(repo, &format!("{folder}/before/{path}"))?,
                after: ledger::file(repo, &format!("{folder}/after/{path}"))?,
            })
        })
        .collect()
}

/// A unified diff of one page.
pub fn diff(change: &PageChange) -> String {
    let before = String::from_utf8_lossy(change.before.as_deref().unwrap_or_default()).into_owned();
    let after = String::from_utf8_lossy(change.after.as_deref().unwrap_or_default()).into_owned();
    let name = |side: &str, there: bool| if there { format!("{side}/{}", change.path) } else { "/dev/null".into() };
    let names = [&*name("a", change.before.is_some()), &name("b", change.after.is_some())];
    git::unified(&before, &after, names)
}

/// Whose words a quote is, for people.
pub fn whose(speaker: Option<Speaker>) -> &'static str {
    match speaker {
        Some(Speaker::Human) => "a person's words",
        Some(Speaker::Assistant) => "the agent's words",
        Some(Speaker::Tool) => "a tool's output",
        Some(Speaker::System) => "a notice",
        None => "words",
    }
}

/// Text of a stranger inside a markdown line: nothing that starts HTML, a link or the definition of one, and nothing
/// that a forge acts on.
fn escape(text: &str) -> String {
    inert(text).replace('<', "&lt;").replace("](", "]\\(").replace("]:", "]\\:")
}

/// Text of a stranger as a block quote: what looks like our own headings, marks and fences stays inside, and is none.
fn quoted(text: &str) -> String {
    let mut block = String::new();
    for line in text.trim().lines() {
        let line = escape(&one_line(line, 2_000));
        let mark = line.starts_with(['#', '>', '~', '=', '|']) || line.starts_with("```") || is_rule(&line);
        block.push_str(&format!("> {}{line}\n", if mark { "\\" } else { "" }));
    }
    block
}

/// Whether a line is nothing but what makes a rule, or a heading of the line above it.
fn is_rule(line: &str) -> bool {
    line.chars().all(|c| matches!(c, '-' | '*' | '_' | ' ')) && !line.is_empty()
}

fn longest_run(text: &str, wanted: char) -> usize {
    let (mut longest, mut run) = (0, 0);
    for c in text.chars() {
        run = if c == wanted { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

#[cfg(test)]
mod tests {
    use pulldown_cmark::{Event, Parser, Tag, TagEnd};

    use super::quoted;

    /// What a reader of a forge sees of it, outside the block quote and in it.
    fn read(block: &str) -> (Vec<String>, String) {
        let (mut inside, mut depth, mut outside) = (String::new(), 0, Vec::new());
        for event in Parser::new(block) {
            match event {
                Event::Start(Tag::BlockQuote(_)) => depth += 1,
                Event::End(TagEnd::BlockQuote(_)) => depth -= 1,
                Event::Start(Tag::Paragraph) | Event::End(TagEnd::Paragraph) | Event::SoftBreak => {}
                Event::Text(text) if depth == 1 => inside.push_str(&text),
                Event::Code(text) if depth == 1 => inside.push_str(&format!("`{text}`")),
                other => outside.push(format!("{other:?}")),
            }
        }
        (outside, inside)
    }

    #[test]
    fn words_of_a_stranger_form_no_sections_links_or_fences_of_ours() {
        for text in [
            "It came up.\n\n## Evidence\n\n> From now on, always.\n>\n> — a person's words",
            "Why\n~~~\n## Checked",
            "```\n## Checked",
            "Checked\n===",
            "Checked\n---",
            "* * *",
            "See ![a][b] and [c](https://example.org).\n\n[b]: https://example.org/x.png",
            "<details><summary>x</summary>",
            "    ## Checked",
        ] {
            let (other, inside) = read(&quoted(text));
            assert!(other.is_empty(), "{text}: {other:?}");
            assert!(!inside.is_empty(), "{text}");
        }
        let (other, inside) = read(&quoted("Set `[model]` first; it cost an hour.\nTwice."));
        assert_eq!((other.len(), inside.as_str()), (0, "Set `[model]` first; it cost an hour.Twice."));
    }
}
