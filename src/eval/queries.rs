//! Files of judged queries: one JSON object a line.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};

use super::faulty::{Faulty, Labelled};
use super::metrics::Judgement;
use crate::session::quotable;
use crate::wiki::open::is_page;

/// A judged query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// Its id, unique in its file.
    pub id: String,
    /// What is searched for.
    pub query: String,
    /// What was judged.
    pub judged: Judgement,
}

/// A file of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryFile {
    /// As named.
    pub path: PathBuf,
    /// In the order of the file.
    pub queries: Vec<Query>,
}

/// The highest grade: nDCG gains 2^grade − 1.
const HIGHEST: u32 = 10;

/// One line, as it is written. Members that are not known are passed over.
#[derive(Deserialize)]
struct Written {
    id: String,
    query: String,
    #[serde(default)]
    relevant: Grades,
    #[serde(default)]
    harmful: Vec<String>,
}

/// `["a.md", "b.md"]`, each of grade 1, or `{"a.md": 2, "b.md": 1}`.
#[derive(Default)]
struct Grades(Vec<(String, u32)>);

impl<'de> Deserialize<'de> for Grades {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Grades, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Grades;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a list of pages, or pages with their grades")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut pages: A) -> Result<Grades, A::Error> {
                let mut grades = Vec::new();
                while let Some(page) = pages.next_element()? {
                    grades.push((page, 1));
                }
                Ok(Grades(grades))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut pages: A) -> Result<Grades, A::Error> {
                let mut grades = Vec::new();
                while let Some(entry) = pages.next_entry()? {
                    grades.push(entry);
                }
                Ok(Grades(grades))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

impl QueryFile {
    /// Reads a file. Lines that are empty or begin with `#` are passed over.
    ///
    /// # Errors
    /// For the first line that is not as it has to be, or has an id that an earlier one has.
    pub fn read(path: &Path) -> Result<QueryFile, Faulty> {
        let text = std::fs::read_to_string(path).map_err(|error| Faulty::unreadable(Labelled::Queries, path, error))?;
        let mut queries = Vec::new();
        let mut ids: HashMap<String, usize> = HashMap::new();
        for (at, line) in text.lines().enumerate() {
            let line = line.trim().trim_start_matches('\u{feff}');
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let wrong = |reason| Faulty::line(Labelled::Queries, path, at + 1, reason);
            let query = query(line).map_err(wrong)?;
            if let Some(first) = ids.insert(query.id.clone(), at + 1) {
                return Err(wrong(format!("the id `{}` stands in line {first} already", query.id)));
            }
            queries.push(query);
        }
        if queries.is_empty() {
            return Err(Faulty::unreadable(Labelled::Queries, path, "it has no queries"));
        }
        Ok(QueryFile { path: path.to_owned(), queries })
    }
}

fn query(line: &str) -> Result<Query, String> {
    let written: Written = serde_json::from_str(line).map_err(|error| quotable(&error.to_string()))?;
    if written.id.trim().is_empty() || written.query.trim().is_empty() {
        return Err("`id` and `query` must not be empty".into());
    }
    let mut relevant = BTreeMap::new();
    for (page, grade) in written.relevant.0 {
        check(&page)?;
        if grade > HIGHEST {
            return Err(format!("the grade {grade} of `{page}` is above {HIGHEST}"));
        }
        if relevant.insert(page.clone(), grade).is_some() {
            return Err(format!("`{page}` is judged twice"));
        }
    }
    let mut harmful = BTreeSet::new();
    for page in written.harmful {
        check(&page)?;
        if relevant.get(&page).is_some_and(|grade| *grade > 0) {
            return Err(format!("`{page}` is judged relevant and harmful"));
        }
        harmful.insert(page);
    }
    if harmful.is_empty() && relevant.values().all(|grade| *grade == 0) {
        return Err("it names no relevant and no harmful page".into());
    }
    Ok(Query { id: written.id, query: written.query, judged: Judgement { relevant, harmful } })
}

/// A page's name as the wiki has it: relative to its root, a markdown file.
fn check(page: &str) -> Result<(), String> {
    let odd = page.starts_with('/') || page.split('/').any(|part| matches!(part, "" | "." | ".."));
    if odd || !is_page(page.into()) {
        return Err(format!("`{page}` is no page: give its path from the wiki's root"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<QueryFile, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("q.jsonl");
        std::fs::write(&path, text).expect("written");
        QueryFile::read(&path).map_err(|error| error.to_string().replace(&format!("{}", folder.path().display()), ""))
    }

    #[test]
    fn both_forms_of_relevance_are_read() {
        let file = read(
            "# judged by two people\n{\"id\":\"a\",\"query\":\"x\",\"relevant\":[\"a.md\"],\"note\":\"kept out\"}\n\n\
             {\"id\":\"b\",\"query\":\"y\",\"relevant\":{\"b.md\":2,\"c.md\":0},\"harmful\":[\"c.md\"]}\n",
        );
        let file = file.expect("read");
        assert_eq!(file.queries[0].judged.relevant, BTreeMap::from([("a.md".into(), 1)]));
        assert_eq!(file.queries[1].judged.relevant, BTreeMap::from([("b.md".into(), 2), ("c.md".into(), 0)]));
        assert!(file.queries[1].judged.harmful.contains("c.md"));
    }

    #[test]
    fn a_wrong_line_is_named_with_its_number() {
        let good = "{\"id\":\"a\",\"query\":\"x\",\"relevant\":[\"a.md\"]}\n";
        for (line, words) in [
            ("nonsense", "expected"),
            ("{\"query\":\"x\",\"relevant\":[\"a.md\"]}", "missing field `id`"),
            ("{\"id\":\" \",\"query\":\"x\",\"relevant\":[\"a.md\"]}", "must not be empty"),
            ("{\"id\":\"a\",\"query\":\"x\",\"relevant\":[\"a.md\"]}", "stands in line 1 already"),
            ("{\"id\":\"b\",\"query\":\"x\"}", "no relevant and no harmful page"),
            ("{\"id\":\"b\",\"query\":\"x\",\"relevant\":{\"a.md\":0}}", "no relevant and no harmful page"),
            ("{\"id\":\"b\",\"query\":\"x\",\"relevant\":{\"a.md\":11}}", "above 10"),
            ("{\"id\":\"b\",\"query\":\"x\",\"relevant\":{\"a.md\":-1}}", "invalid value"),
            ("{\"id\":\"b\",\"query\":\"x\",\"relevant\":[\"/a.md\"]}", "is no page"),
            ("{\"id\":\"b\",\"query\":\"x\",\"relevant\":[\"../a.md\"]}", "is no page"),
            ("{\"id\":\"b\",\"query\":\"x\",\"relevant\":[\"a.txt\"]}", "is no page"),
            ("{\"id\":\"b\",\"query\":\"x\",\"relevant\":\"a.md\"}", "a list of pages"),
            ("{\"id\":\"b\",\"query\":\"x\",\"relevant\":[\"a.md\",\"a.md\"]}", "judged twice"),
            ("{\"id\":\"b\",\"query\":\"x\",\"relevant\":[\"a.md\"],\"harmful\":[\"a.md\"]}", "relevant and harmful"),
        ] {
            let error = read(&format!("{good}{line}\n")).expect_err(line);
            assert!(error.starts_with("/q.jsonl:2: ") && error.contains(words), "{line}: {error}");
        }
        assert!(read("\n").is_err_and(|error| error.contains("no queries")));
    }
}
