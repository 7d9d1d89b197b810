//! Pages as resources: listed piece by piece, read by URI.

use bstr::ByteSlice;

use super::answer;
use super::error::Error;
use super::tools::{Call, read};

/// What the URI of a page begins with; its path follows, percent-encoded.
const SCHEME: &str = "git-memory:///";

/// The template of all of them.
pub const TEMPLATE: &str = "git-memory:///{+path}{?offset}";

/// Most resources of one answer.
const MOST: usize = 100;

/// A page as a resource.
pub struct Resource {
    /// Its URI.
    pub uri: String,
    /// Its path, relative to the wiki's root.
    pub path: String,
    /// Its title.
    pub title: String,
    /// How many bytes it has.
    pub size: usize,
}

/// The pages after the one that the cursor names, by path; and the next cursor. A page that comes or goes meanwhile
/// moves no other.
///
/// # Errors
/// When there is no wiki, or it cannot be read.
pub fn list(call: &Call, cursor: Option<&str>) -> Result<(Vec<Resource>, Option<String>), Error> {
    let wiki = call.wiki()?;
    let mut pages = wiki.pages()?;
    pages.retain(|(path, _)| call.may_show(&wiki.scopes.of_page(&path.to_str_lossy()).name));
    pages.sort_unstable();
    let start = cursor.map_or(0, |after| pages.partition_point(|(path, _)| path.as_bstr() <= after.as_bytes()));
    let rest = &pages[start..];
    let mut found = Vec::new();
    // A name that is no UTF-8 cannot be asked for.
    for (path, oid) in rest.iter().take(MOST).filter(|(path, _)| path.to_str().is_ok()) {
        let bytes = wiki.repo.blob(*oid)?;
        let title = wiki.read(path.as_bstr(), &bytes).title;
        found.push(Resource { uri: uri(&path.to_str_lossy()), path: path.to_string(), title, size: bytes.len() });
    }
    let last = rest.get(MOST - 1).filter(|_| rest.len() > MOST);
    Ok((found, last.map(|(path, _)| path.to_string())))
}

/// The text of the page that a URI names, or a piece of it; and the URI where it goes on.
///
/// # Errors
/// When it names none.
pub fn text(call: &Call, given: &str) -> Result<(String, Option<String>), Error> {
    let unknown = || Error::NoPage(given.to_owned());
    let rest = given.strip_prefix(SCHEME).ok_or_else(unknown)?;
    let (name, query) = rest.split_once('?').unwrap_or((rest, ""));
    let offset = query.strip_prefix("offset=").and_then(|number| number.parse().ok());
    if !query.is_empty() && offset.is_none() {
        return Err(unknown());
    }
    let path = decoded(name).ok_or_else(unknown)?;
    let wiki = call.wiki()?;
    let found = read::find(call, &wiki, &path)?;
    let (text, next) = answer::piece(&found.text, offset.unwrap_or(0), 2 * answer::BUDGET);
    Ok((text.to_owned(), next.map(|next| format!("{}?offset={next}", uri(&path)))))
}

/// The URI of a page.
pub fn uri(path: &str) -> String {
    let mut uri = SCHEME.to_owned();
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~/".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}

fn decoded(name: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.as_bytes();
    while let [first, after @ ..] = rest {
        (bytes, rest) = match (first, after) {
            (b'%', [high, low, after @ ..]) => {
                let hex = [*high, *low];
                bytes.push(u8::from_str_radix(std::str::from_utf8(&hex).ok()?, 16).ok()?);
                (bytes, after)
            }
            (b'%', _) => return None,
            _ => {
                bytes.push(*first);
                (bytes, after)
            }
        };
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_is_read_back_from_its_uri() {
        for path in ["gotchas/openssl-dir.md", "a b/é?#%.md", "日本.md"] {
            let uri = uri(path);
            assert!(uri.is_ascii() && !uri[SCHEME.len()..].contains(['?', '#', ' ']), "{uri}");
            assert_eq!(decoded(&uri[SCHEME.len()..]).as_deref(), Some(path));
        }
        assert_eq!(decoded("a%2"), None);
        assert_eq!(decoded("%ff"), None);
    }
}
