//! Finding out which folders of existing notes hold which kind of page. Pure: paths in, a mapping out.

use std::collections::BTreeMap;

use crate::wiki::Kind;

/// One folder of notes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The folder, relative to the wiki's root (or its scope's folder); empty: the top.
    pub folder: String,
    /// What its name says; `None`: the pages' frontmatter has to.
    pub kind: Option<Kind>,
    /// How many pages stand in it and below.
    pub pages: usize,
}

/// What was found, and what follows from it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mapping {
    /// The folders, by name.
    pub found: Vec<Found>,
    /// Folders that take the place of a kind's usual one.
    pub folders: BTreeMap<Kind, String>,
}

/// Maps the pages of a wiki. `paths` are relative to its root; pages of a scope count from the scope's folder.
pub fn map<'p>(paths: impl IntoIterator<Item = &'p str>, scopes: &[(String, String)]) -> Mapping {
    let mut counts: BTreeMap<(String, Option<Kind>), usize> = BTreeMap::new();
    for path in paths {
        let path = within_scope(path, scopes);
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let key = match folder_of_kind(folder) {
            Some((folder, kind)) => (folder.to_owned(), Some(kind)),
            None => (folder.split('/').next().unwrap_or_default().to_owned(), None),
        };
        *counts.entry(key).or_default() += 1;
    }
    let found: Vec<Found> = counts.into_iter().map(|((folder, kind), pages)| Found { folder, kind, pages }).collect();
    let mut folders = BTreeMap::new();
    for kind in Kind::ALL {
        let candidates = found.iter().filter(|found| found.kind == Some(kind));
        // The usual folder needs no word; of several others the fullest is it, the first by name among equals.
        if candidates.clone().any(|found| found.folder == kind.default_folder()) {
            continue;
        }
        if let Some(best) = candidates.max_by(|a, b| a.pages.cmp(&b.pages).then(b.folder.cmp(&a.folder))) {
            folders.insert(kind, best.folder.clone());
        }
    }
    Mapping { found, folders }
}

/// The deepest folder above a page whose name is a kind's.
fn folder_of_kind(folder: &str) -> Option<(&str, Kind)> {
    let mut folder = folder;
    while !folder.is_empty() {
        let (above, name) = folder.rsplit_once('/').unwrap_or(("", folder));
        if let Some(kind) = kind_of_name(name) {
            return Some((folder, kind));
        }
        folder = above;
    }
    None
}

fn kind_of_name(name: &str) -> Option<Kind> {
    let name = name.trim_start_matches('_');
    Kind::parse(name).or_else(|| Kind::parse(name.strip_suffix(['s', 'S'])?))
}

fn within_scope<'p>(path: &'p str, scopes: &[(String, String)]) -> &'p str {
    let inside = scopes.iter().filter_map(|(_, folder)| path.strip_prefix(folder.as_str())?.strip_prefix('/'));
    inside.min_by_key(|rest| rest.len()).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_known_by_the_names_that_people_give_them() {
        let mapping = map(
            ["docs/adr/1.md", "docs/adr/2.md", "Pitfalls/a.md", "runbooks/deploy/b.md", "misc/x.md", "top.md"],
            &[],
        );
        let expected = [(Kind::Decision, "docs/adr"), (Kind::Gotcha, "Pitfalls"), (Kind::Procedure, "runbooks")];
        assert_eq!(mapping.folders, expected.map(|(kind, folder)| (kind, folder.to_owned())).into());
        let without: Vec<_> = mapping.found.iter().filter(|found| found.kind.is_none()).collect();
        assert_eq!(without.iter().map(|found| found.folder.as_str()).collect::<Vec<_>>(), ["", "misc"]);
    }

    #[test]
    fn the_usual_folder_wins_and_else_the_fullest() {
        let usual = map(["gotchas/a.md", "pitfalls/b.md", "pitfalls/c.md"], &[]);
        assert!(usual.folders.is_empty());
        let fullest = map(["traps/a.md", "pitfalls/b.md", "pitfalls/c.md"], &[]);
        assert_eq!(fullest.folders[&Kind::Gotcha], "pitfalls");
    }

    #[test]
    fn pages_of_a_scope_count_from_its_folder() {
        let scopes = [("api".to_owned(), "projects/api".to_owned())];
        assert_eq!(map(["projects/api/adr/1.md"], &scopes).folders[&Kind::Decision], "adr");
    }
}
