//! What stands in the wiki, arranged for the questions that validation asks.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};

use bstr::{BStr, BString, ByteSlice};

use crate::config;
use crate::git;
use crate::wiki::path::fold;
use crate::wiki::text::{fold_space, normal};
use crate::wiki::{Kind, Page, Wiki, open, protect};

/// One page.
#[derive(Debug, Clone)]
pub struct KnownPage {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Its title.
    pub title: String,
    /// Its kind.
    pub kind: Option<Kind>,
    /// The name of its scope.
    pub scope: String,
    /// Why its own frontmatter protects it.
    pub protected: Option<String>,
    /// The text below the frontmatter.
    pub body: String,
    normal_body: OnceCell<String>,
}

impl KnownPage {
    /// From a page that was read.
    pub fn new(page: Page, bytes: Vec<u8>, scope: &str) -> KnownPage {
        // What the settings protect is asked by path, for pages that do not exist yet too.
        let protected = protect::protected(&page, &config::Wiki::default());
        KnownPage {
            bytes,
            title: page.title,
            kind: page.kind,
            scope: scope.to_owned(),
            protected,
            body: page.body,
            normal_body: OnceCell::new(),
        }
    }

    /// The body without case, punctuation and white space; made when it is first asked for.
    pub fn normal_body(&self) -> &str {
        self.normal_body.get_or_init(|| normal(&self.body))
    }
}

/// Everything that stands in the wiki.
#[derive(Debug, Clone, Default)]
pub struct Known {
    pages: BTreeMap<String, KnownPage>,
    /// Files (pages or not) by what their names fold to.
    files: HashMap<String, String>,
    /// Folders by what their names fold to.
    folders: HashMap<String, String>,
    /// Pages by title, without case and punctuation.
    titles: HashMap<String, Vec<String>>,
    /// Pages by body with its white space folded.
    bodies: HashMap<String, Vec<String>>,
}

impl Known {
    /// Reads the wiki at its tip.
    pub fn load(wiki: &Wiki) -> git::Result<Known> {
        let mut known = Known::default();
        let Some(tip) = wiki.tip else { return Ok(known) };
        for file in wiki.repo.files(tip, wiki.root.as_bytes().as_bstr())? {
            let Some(path) = wiki.page_path(file.path.as_ref()) else { continue };
            known.add_file(path);
            let regular = matches!(file.entry.mode, git::Mode::Blob | git::Mode::Executable);
            if let (true, true, Ok(name)) = (regular, open::is_page(path), path.to_str()) {
                let bytes = wiki.repo.blob(file.entry.oid)?;
                let page = wiki.read(path, &bytes);
                known.add_page(name, KnownPage::new(page, bytes, &wiki.scopes.of_page(name).name));
            }
        }
        Ok(known)
    }

    /// Adds the name of a file, page or not.
    pub fn add_file(&mut self, path: &BStr) {
        for at in path.find_iter(b"/") {
            let folder: BString = path[..at].into();
            self.folders.entry(fold(folder.as_ref())).or_insert_with(|| folder.to_str_lossy().into_owned());
        }
        self.files.insert(fold(path), path.to_str_lossy().into_owned());
    }

    /// Adds a page (and its name).
    pub fn add_page(&mut self, path: &str, page: KnownPage) {
        self.add_file(path.into());
        self.titles.entry(normal(&page.title)).or_default().push(path.to_owned());
        self.bodies.entry(fold_space(&page.body)).or_default().push(path.to_owned());
        self.pages.insert(path.to_owned(), page);
    }

    /// The page at exactly this path.
    pub fn page(&self, path: &str) -> Option<&KnownPage> {
        self.pages.get(path)
    }

    /// All pages.
    pub fn pages(&self) -> impl Iterator<Item = (&str, &KnownPage)> {
        self.pages.iter().map(|(path, page)| (path.as_str(), page))
    }

    /// The file whose name some file system holds to be equal to this one.
    pub fn file_like(&self, path: &str) -> Option<&str> {
        self.files.get(&fold(path.into())).map(String::as_str)
    }

    /// The folder whose name some file system holds to be equal to this one.
    pub fn folder_like(&self, path: &str) -> Option<&str> {
        self.folders.get(&fold(path.into())).map(String::as_str)
    }

    /// The pages with this title, whatever its case and punctuation.
    pub fn titled(&self, title: &str) -> &[String] {
        self.titles.get(&normal(title)).map_or(&[], Vec::as_slice)
    }

    /// The pages with this body, whatever its white space.
    pub fn with_body(&self, body: &str) -> &[String] {
        self.bodies.get(&fold_space(body)).map_or(&[], Vec::as_slice)
    }
}
