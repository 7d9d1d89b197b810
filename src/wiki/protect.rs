//! Which pages change only by a person's yes.

use globset::{GlobBuilder, GlobMatcher};

use super::Page;
use crate::config;

/// The protecting globs of the settings, compiled once.
#[derive(Debug, Clone)]
pub struct Protection {
    globs: Vec<(&'static str, String, Option<GlobMatcher>)>,
}

impl Protection {
    /// Compiles `wiki.protected` and `wiki.human_owned`. A glob that does not compile protects every page: a slip of
    /// the pen must not open what somebody meant to close.
    pub fn new(settings: &config::Wiki) -> Protection {
        let named = |setting: &'static str, globs: &[String]| -> Vec<_> {
            globs.iter().map(|glob| (setting, glob.clone(), compile(glob))).collect()
        };
        let mut globs = named("wiki.protected", &settings.protected);
        globs.extend(named("wiki.human_owned", &settings.human_owned));
        Protection { globs }
    }

    /// Why a page is protected, in words; `None` when it is not.
    pub fn reason(&self, page: &Page) -> Option<String> {
        if page.front.pinned {
            return Some("it is pinned".into());
        }
        if page.front.invariant {
            return Some("it is an invariant slot".into());
        }
        if page.is_human_owned() {
            return Some("its owner is human".into());
        }
        self.reason_of_path(&String::from_utf8_lossy(&page.path))
    }

    /// Why a path is protected by the settings alone, for pages that do not exist yet.
    pub fn reason_of_path(&self, path: &str) -> Option<String> {
        self.globs.iter().find_map(|(setting, glob, matcher)| match matcher {
            None => Some(format!("`{setting}` holds the glob `{glob}`, which cannot be read")),
            Some(matcher) => matcher.is_match(path).then(|| format!("it matches `{glob}` of `{setting}`")),
        })
    }
}

/// A folder protects what stands in it; `*` stays within one folder. Case does not count, since some file systems do
/// not tell such names apart.
fn compile(glob: &str) -> Option<GlobMatcher> {
    let glob = glob.trim().trim_start_matches('/');
    let folder = glob.trim_end_matches('/');
    if folder.is_empty() {
        return None;
    }
    let pattern = if glob.ends_with('/') { format!("{folder}/**") } else { format!("{{{folder},{folder}/**}}") };
    let built = GlobBuilder::new(&pattern).literal_separator(true).case_insensitive(true).build();
    built.ok().map(|glob| glob.compile_matcher())
}

/// Why a page is protected, in words: a glob of the settings, or its own frontmatter. For many pages keep a
/// [`Protection`].
pub fn protected(page: &Page, settings: &config::Wiki) -> Option<String> {
    Protection::new(settings).reason(page)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wiki::Layout;

    fn reason(path: &str, text: &str, protected: &[&str], owned: &[&str]) -> Option<String> {
        let list = |globs: &[&str]| globs.iter().map(|&glob| glob.to_owned()).collect();
        let settings = config::Wiki { protected: list(protected), human_owned: list(owned), ..config::Wiki::default() };
        super::protected(&Page::read(path.into(), text.as_bytes(), &Layout::default(), ""), &settings)
    }

    #[test]
    fn an_ordinary_page_is_not_protected() {
        assert_eq!(reason("gotchas/x.md", "# x\n", &["_rules/**", "notes/*.md"], &["docs/"]), None);
        assert_eq!(reason("notes/a/x.md", "# x\n", &["notes/*.md"], &[]), None);
    }

    #[test]
    fn each_reason_is_named() {
        for (path, text, words) in [
            ("_rules/a/x.md", "x", "`_rules/**` of `wiki.protected`"),
            ("docs/x.md", "x", "`docs/` of `wiki.human_owned`"),
            ("Team/x.md", "x", "`team` of"),
            ("a.md", "---\npinned: true\n---\n", "pinned"),
            ("_slots/i.md", "---\nslot_kind: invariant\n---\n", "invariant"),
            ("a.md", "---\nowner: Human\n---\n", "owner is human"),
            ("a.md", "---\ntitle: a: b\npinned: true\n---\n", "pinned"),
        ] {
            let got = reason(path, text, &["_rules/**", "team"], &["docs/"]).unwrap_or_default();
            assert!(got.contains(words), "{path}: {got}");
        }
    }

    #[test]
    fn a_glob_that_cannot_be_read_protects_everything() {
        assert!(reason("gotchas/x.md", "x", &["notes/[x"], &[]).is_some_and(|words| words.contains("cannot be read")));
    }
}
