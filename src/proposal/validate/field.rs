//! Titles and values of the frontmatter: one line that says something, of a measure that lists can show.

use super::{Candidate, Context, Fault, ReasonCode};
use crate::wiki::EditOp;
use crate::wiki::text::fold_space;

/// Frontmatter that a machine may set, each with its most characters. Who owns a page, whether it is pinned and where it
/// comes from are not in it.
pub(super) const FIELDS: [(&str, usize); 4] =
    [("title", 200), ("description", 500), ("when_to_use", 500), ("tags", 500)];

/// Refuses a title that is none.
pub(super) fn title(candidate: &Candidate) -> Result<(), Fault> {
    let most = FIELDS[0].1;
    if candidate.title.is_empty() {
        return Err((ReasonCode::EmptyBody, "the title is empty; name what the page is about".into()));
    }
    if candidate.title.chars().count() > most {
        return Err((ReasonCode::BodyTooLarge, format!("the title is longer than {most} characters; shorten it")));
    }
    Ok(())
}

/// Makes one line of each value that a machine sets, and refuses what is no such value.
pub(super) fn values(candidate: &mut Candidate, context: &Context<'_>) -> Result<(), Fault> {
    if context.by_person {
        return Ok(());
    }
    for (number, edit) in (1..).zip(&mut candidate.edits).filter(|(_, edit)| edit.op == EditOp::SetField) {
        let key = edit.anchor.trim();
        let Some((_, most)) = FIELDS.iter().find(|(field, _)| *field == key) else { continue };
        if key != "tags" {
            edit.content = fold_space(&edit.content);
            if serde_json::from_str::<serde_json::Value>(&edit.content).is_ok_and(|value| !is_text(&value)) {
                let what = format!("edit {number} sets `{key}` to what is no text; send a sentence");
                return Err((ReasonCode::UnsupportedOperation, what));
            }
        }
        if !edit.content.chars().any(char::is_alphanumeric) {
            return Err((ReasonCode::EmptyBody, format!("edit {number} empties `{key}`; say what the page is about")));
        }
        let chars = edit.content.chars().count();
        if chars > *most {
            let what = format!("edit {number} sets `{key}` to {chars} characters; {most} are allowed, shorten it");
            return Err((ReasonCode::EditTooLarge, what));
        }
    }
    Ok(())
}

/// Whether it reads as text: `3.11` may be a title, a list, an object or a truth value is none.
fn is_text(value: &serde_json::Value) -> bool {
    value.is_string() || value.is_number()
}
