//! Where pages stand in one order and in another.

use serde::Serialize;

/// A page whose place differs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Moved {
    /// The page.
    pub page: String,
    /// Its place before or without, from 1; nothing: not among those looked at.
    pub before: Option<usize>,
    /// Its place after or with.
    pub after: Option<usize>,
}

/// The pages among the first `depth` of either order that stand at another place in the other.
pub(super) fn moved(before: &[String], after: &[String], depth: usize) -> Vec<Moved> {
    let place = |order: &[String], page: &String| order.iter().position(|other| other == page).map(|at| at + 1);
    let first = after.iter().take(depth);
    let gone = before.iter().take(depth).filter(|page| place(&after[..after.len().min(depth)], page).is_none());
    first
        .chain(gone)
        .map(|page| Moved { page: page.clone(), before: place(before, page), after: place(after, page) })
        .filter(|moved| moved.before != moved.after)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(order: &str) -> Vec<String> {
        order.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_page_that_came_in_or_fell_out_has_one_place() {
        let moved = moved(&pages("a b c"), &pages("a d"), 10);
        let told: Vec<_> = moved.iter().map(|m| (m.page.as_str(), m.before, m.after)).collect();
        assert_eq!(told, [("d", None, Some(2)), ("b", Some(2), None), ("c", Some(3), None)]);
    }
}
