//! What retrieval is worth on judged queries.

use std::collections::{BTreeSet, HashSet};

use serde::Serialize;

use super::metrics::{DEPTH, Figures, Means, figures, means};
use super::queries::{Query, QueryFile};

/// The figures of files of judged queries.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Report {
    /// The commit whose pages were searched.
    pub commit: String,
    /// The scope that was searched; nothing: all.
    pub scope: Option<String>,
    /// How many pages it has.
    pub pages: usize,
    /// Each file.
    pub files: Vec<FileReport>,
    /// All of them, when there are several.
    pub together: Option<Means>,
}

/// The figures of one file.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FileReport {
    /// As named.
    pub file: String,
    /// The means over its queries.
    pub means: Means,
    /// Its queries, in its order.
    pub queries: Vec<Row>,
    /// Pages that it names and that are not there; they count as not found.
    pub missing: Vec<String>,
}

/// The figures of one query.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Row {
    /// Its id.
    pub id: String,
    /// What was searched for.
    pub query: String,
    /// Its figures.
    #[serde(flatten)]
    pub figures: Figures,
    /// The place of the first relevant page, from 1.
    pub first: Option<usize>,
    /// The first ten pages that were served.
    pub served: Vec<String>,
}

/// How deep an order has to be for these numbers of places.
pub fn depth(recall_at: &[usize]) -> usize {
    recall_at.iter().copied().fold(DEPTH, usize::max)
}

/// The figures of one file. `present` holds the pages that are there; `order` gives the pages for a query, best first,
/// as many as [`depth`] says.
///
/// # Errors
/// Those of `order`.
pub fn evaluate<E>(
    file: &QueryFile,
    recall_at: &[usize],
    present: &HashSet<String>,
    mut order: impl FnMut(&Query) -> Result<Vec<String>, E>,
) -> Result<FileReport, E> {
    let mut queries = Vec::with_capacity(file.queries.len());
    let mut missing = BTreeSet::new();
    for query in &file.queries {
        let served = order(query)?;
        let named = query.judged.relevant.keys().chain(&query.judged.harmful);
        missing.extend(named.filter(|page| !present.contains(*page)).cloned());
        let relevant = |page: &String| query.judged.relevant.get(page).is_some_and(|grade| *grade > 0);
        queries.push(Row {
            id: query.id.clone(),
            query: query.query.clone(),
            figures: figures(&served, &query.judged, recall_at),
            first: served.iter().position(relevant).map(|at| at + 1),
            served: served.into_iter().take(DEPTH).collect(),
        });
    }
    let judged = file.queries.iter().map(|query| &query.judged);
    let means = means(queries.iter().map(|row| &row.figures).zip(judged));
    Ok(FileReport { file: file.path.display().to_string(), means, queries, missing: missing.into_iter().collect() })
}

/// The means over the queries of all files; `None` when there is but one.
pub fn together(files: &[QueryFile], reports: &[FileReport]) -> Option<Means> {
    let judged = files.iter().flat_map(|file| &file.queries).map(|query| &query.judged);
    let figures = reports.iter().flat_map(|report| &report.queries).map(|row| &row.figures);
    (files.len() > 1).then(|| means(figures.zip(judged)))
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    fn file(text: &str) -> QueryFile {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("q.jsonl");
        std::fs::write(&path, text).expect("written");
        QueryFile::read(&path).expect("read")
    }

    #[test]
    fn a_page_that_is_not_there_is_told_and_counts_as_not_found() {
        let file = file(
            "{\"id\":\"1\",\"query\":\"x\",\"relevant\":[\"a.md\",\"gone.md\"]}\n\
             {\"id\":\"2\",\"query\":\"y\",\"relevant\":[\"b.md\"],\"harmful\":[\"away.md\"]}\n",
        );
        let present = HashSet::from(["a.md".to_owned(), "b.md".to_owned()]);
        let order = |query: &Query| -> Result<Vec<String>, Infallible> {
            Ok(if query.id == "1" { vec!["a.md".into()] } else { vec!["a.md".into(), "b.md".into()] })
        };
        let Ok(report) = evaluate(&file, &[5], &present, order);
        assert_eq!(report.missing, ["away.md", "gone.md"]);
        assert_eq!(report.queries.iter().map(|row| row.first).collect::<Vec<_>>(), [Some(1), Some(2)]);
        assert_eq!((report.means.recall[&5], report.means.mrr), (0.75, 0.75));
        let files = [file.clone(), file];
        let all = together(&files, &[report.clone(), report.clone()]).expect("two files");
        assert_eq!((all.queries, all.mrr), (4, report.means.mrr));
        assert_eq!(together(&files[..1], &[report]), None);
    }
}
