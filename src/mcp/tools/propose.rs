//! `memory_propose`.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::super::answer::Said;
use super::super::error::Error;
use super::{Call, Effect, Tool};
use crate::proposal::propose::{self, Made};
use crate::wiki::Edit;
use crate::wiki::shown::shown;

/// What [`Propose`] takes.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The page, relative to the wiki's root: gotchas/NAME.md, decisions/NAME.md, concepts/NAME.md,
    /// procedures/NAME.md, notes/NAME.md
    path: String,
    /// Why it is worth keeping, and for whom
    rationale: String,
    /// What it rests on: at least one verbatim quote
    #[cfg_attr(test, schemars(length(min = 1)))]
    evidence: Vec<Quote>,
    /// The whole text of the page without frontmatter, beginning with its `# Title`; for a new page, or in place of
    /// all of an old one
    text: Option<String>,
    /// Changes of single sections of a page that exists, in place of `text`
    #[serde(default)]
    edits: Vec<Edit>,
    /// What the page is about [default: its first heading]
    title: Option<String>,
    /// The kind of the page [default: that of its folder]
    kind: Option<String>,
    /// How sure you are, 0 to 1 [default: 1]
    #[cfg_attr(test, schemars(range(min = 0, max = 1)))]
    confidence: Option<f64>,
    /// The scope of the page [default: that of its folder]
    scope: Option<String>,
}

/// A verbatim quote.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Quote {
    /// Where it stands: a page's path, sessions/ID.md, or sessions/ID#N for one observation
    source: String,
    /// The words as they stand there, at most 400 characters
    quote: String,
}

/// Proposing.
pub struct Propose;

impl Tool for Propose {
    const NAME: &'static str = "memory_propose";
    const TITLE: &'static str = "Propose a change";
    const ABOUT: &'static str = "Proposes a new page, or a change of one. It is checked at once and then waits for a \
        person, who decides; nothing of it is in the wiki before. Propose only what will help again: a cause that was \
        hard to find, a decision with its reason, a procedure that works. Search first, so that you mend a page rather \
        than write a second one. Every quote of `evidence` has to stand word for word in its source. A refusal names its reason.";
    const EFFECT: Effect = Effect::Writes;
    type Input = Input;
    type Output = Made;

    fn call(call: &Call, input: Input) -> Result<Said<Made>, Error> {
        if input.text.is_some() != input.edits.is_empty() {
            return Err(Error::Arguments(format!("{}: give either `text` or `edits`", Self::NAME)));
        }
        let mut wiki = call.wiki()?;
        let scope = call.scope(&wiki, input.scope.as_deref())?;
        let path = wiki.page_name(&input.path);
        let scope = match scope {
            Some(name) => wiki.scopes.named(&name)?.clone(),
            None => wiki.scopes.of_page(&path).clone(),
        };
        let exists = wiki.bytes(&path)?.is_some();
        let mut raw = json!({
            "operation": if exists || !input.edits.is_empty() { "update" } else { "create" },
            "path": path,
            "rationale": input.rationale,
            "evidence": input.evidence,
            "confidence": input.confidence.unwrap_or(1.0),
        });
        let mut set = |name: &str, value: Option<serde_json::Value>| {
            if let Some(value) = value {
                raw[name] = value;
            }
        };
        set("title", input.title.map(Into::into));
        set("kind", input.kind.map(Into::into));
        set("body_markdown", input.text.map(Into::into));
        set("edits", (!input.edits.is_empty()).then(|| json!(input.edits)));
        let writer = call.writer(&wiki)?;
        let made = propose::propose(&mut wiki, Some(&scope), &writer, vec![Ok(raw)])?.pop();
        let made = made.ok_or_else(|| Error::Arguments("nothing was proposed".to_owned()))?;
        Ok(Said { text: text(&made), failed: !made.is_well() && made.outcome != "held", value: made })
    }
}

fn text(made: &Made) -> String {
    let id = made.id.as_ref().map(|id| format!(" as proposal {id}")).unwrap_or_default();
    let message = made.message.as_deref().unwrap_or_default();
    let head = match made.outcome.as_str() {
        "staged" | "reopened" => format!("{} waits{id} for a person to decide", made.path),
        "refused" => format!(
            "refused, nothing was proposed for {}: {message} ({})",
            made.path,
            made.code.as_deref().unwrap_or("refused")
        ),
        other => format!("{}: {other}{id}; {message}", made.path),
    };
    let lines = std::iter::once(head).chain(made.notes.iter().map(|note| format!("note: {note}")));
    lines.map(|line| shown(&line).into_owned()).collect::<Vec<_>>().join("\n")
}
