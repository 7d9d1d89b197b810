//! What a page must still be after people changed its proposal.

use bstr::{BStr, ByteSlice};

use super::Item;
use super::error::Refused;
use crate::session::Redactor;
use crate::wiki::{Wiki, lint};

/// Checks the text that a person (or a push) gave a pending page, as staging does: no secret, no conflict marker, a
/// frontmatter that parses.
pub fn page(wiki: &Wiki, item: &Item, path: &BStr, bytes: &[u8]) -> Result<(), Refused> {
    let shown = path.to_str_lossy();
    let refuse = |code, what: String| {
        Err(Refused::new(code, format!("the edited page {shown} of proposal {} {what}", item.id()))
            .hint(format!("mend it with `git memory proposal edit {}`", item.id())))
    };
    if secret(wiki, bytes)? {
        return refuse("contains_secret", "holds a secret".into());
    }
    let page = wiki.page_path(path).unwrap_or(path);
    let findings = lint::page(page, bytes, &wiki.layout, crate::ledger::now());
    match findings.iter().find(|finding| finding.severity == lint::Severity::Error) {
        Some(finding) => refuse(finding.check, format!("has a fault: line {}: {}", finding.line, finding.message)),
        None => Ok(()),
    }
}

/// Whether a secret stands in a text.
pub fn secret(wiki: &Wiki, bytes: &[u8]) -> Result<bool, Refused> {
    Ok(redactor(wiki)?.finds_however_spelled(&bytes.to_str_lossy()))
}

/// A person's words, such as the reason of a rejection, without the secrets in them: they go into the ledger, into
/// commits and to whoever reads those.
pub fn redacted(wiki: &Wiki, words: &str) -> Result<String, Refused> {
    let redactor = redactor(wiki)?;
    // Where there is none, the words stay as they were typed.
    Ok(if redactor.finds(words) { redactor.redact(words).into_owned() } else { words.to_owned() })
}

fn redactor(wiki: &Wiki) -> Result<Redactor, Refused> {
    let redact = &wiki.config.settings.redact;
    Redactor::new(&redact.extra_patterns, &redact.allow).map_err(|error| Refused::new("config", error.to_string()))
}
