//! Reports in markdown.

use super::super::shown;

/// A report being written.
pub(super) struct Markdown {
    text: String,
}

impl Markdown {
    /// With its title.
    pub(super) fn new(title: &str) -> Markdown {
        Markdown { text: format!("# {}\n", cell(title)) }
    }

    /// A heading.
    pub(super) fn heading(&mut self, heading: &str) {
        self.text.push_str(&format!("\n## {}\n", cell(heading)));
    }

    /// A paragraph.
    pub(super) fn paragraph(&mut self, text: &str) {
        self.text.push_str(&format!("\n{}\n", cell(text)));
    }

    /// A list.
    pub(super) fn list(&mut self, items: impl IntoIterator<Item = String>) {
        self.text.push('\n');
        for item in items {
            self.text.push_str(&format!("* {}\n", cell(&item)));
        }
    }

    /// A table; the first row is its head.
    pub(super) fn table(&mut self, rows: impl IntoIterator<Item = Vec<String>>) {
        self.text.push('\n');
        for (number, row) in rows.into_iter().enumerate() {
            let cells: Vec<String> = row.iter().map(|text| cell(text)).collect();
            self.text.push_str(&format!("| {} |\n", cells.join(" | ")));
            if number == 0 {
                self.text.push_str(&format!("|{}\n", "---|".repeat(row.len())));
            }
        }
    }

    /// All of it.
    pub(super) fn finish(self) -> String {
        self.text
    }
}

/// Text that may be anybody's, on one line and without a meaning of its own in markdown or HTML.
fn cell(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in shown(text).chars() {
        if matches!(c, '\\' | '|' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '&' | '#' | '!') {
            safe.push('\\');
        }
        safe.push(c);
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_searched_for_stays_one_cell_of_plain_text() {
        let mut report = Markdown::new("Report");
        report.table([vec!["query".into()], vec!["a | b\n<img src=x> [x](y) \x1b[0m".into()]]);
        let expected = "# Report\n\n| query |\n|---|\n| a \\| b\\\\n\\<img src=x\\> \\[x\\](y) \\\\x1b\\[0m |\n";
        assert_eq!(report.finish(), expected);
    }
}
