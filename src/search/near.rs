//! Pages that have to do with texts which nobody wrote as a query: a session's words, a page, a change of one.

use std::collections::BTreeMap;

use bstr::BString;

use super::{Ask, Error, Hit, Pages, Signals};
use crate::wiki::Kind;

/// Most words of a text that are searched with: what it is about stands at its beginning.
const WORDS: usize = 60;

/// How many pages each search looks at.
const LOOKED_AT: usize = 200;

/// Softens how much the first places of a search count before the later ones.
const SOFTENED: f64 = 10.0;

/// A page that fits every text worse than this share of the best fit shares words with them that every page has.
const LEAST: f64 = 0.2;

/// A text as words to search with. A quote or a star in it asks for no phrase and no prefix.
fn plain(text: &str) -> String {
    let text = text.replace(['"', '*'], " ");
    text.split_whitespace().take(WORDS).collect::<Vec<_>>().join(" ")
}

impl Pages<'_> {
    /// The pages of a scope that are most like a text, best first. Of some kinds; empty: of all.
    ///
    /// # Errors
    /// When a page cannot be read.
    pub fn like(&self, text: &str, scope: &str, kinds: &[Kind], limit: usize) -> Result<Vec<Hit>, Error> {
        let ask = Ask { text: &plain(text), scope: Some(scope), kinds, limit, explain: false };
        match self.search(&ask, &Signals::default()) {
            Ok(answer) => Ok(answer.hits),
            Err(Error::NoWords) => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// The pages that have to do with some texts, the nearest first. Each text is a search of its own, so that a long
    /// one does not drown a short one; a page's places in all of them together make its place. Retired pages are not
    /// among them, and for a superseded one its successor is.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn near(&self, texts: &[String]) -> Result<Vec<BString>, Error> {
        let mut found: BTreeMap<BString, (f64, f64)> = BTreeMap::new();
        for text in texts {
            let ask = Ask { text: &plain(text), limit: LOOKED_AT, ..Ask::default() };
            let ranked = match self.ranked(&ask, &Signals::default()) {
                Ok(ranked) => ranked,
                Err(Error::NoWords) => continue,
                Err(error) => return Err(error),
            };
            for (place, page) in ranked.pages.iter().take(LOOKED_AT).enumerate() {
                let (worth, best) = found.entry(page.doc.path.to_owned()).or_default();
                *worth += 1.0 / (SOFTENED + place as f64);
                *best = best.max(page.score());
            }
        }
        let best = found.values().map(|(_, best)| *best).fold(0.0, f64::max);
        let mut order: Vec<(BString, f64)> = found
            .into_iter()
            .filter(|(_, (_, own))| *own >= LEAST * best)
            .map(|(path, (worth, _))| (path, worth))
            .collect();
        order.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        Ok(order.into_iter().map(|(path, _)| path).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn no_mark_of_a_text_is_one_of_the_query_language() {
        assert_eq!(plain("say \"do not\" to *.rs\nfiles"), "say do not to .rs files");
        assert_eq!(plain(&"word ".repeat(100)).split(' ').count(), 60);
    }
}
