//! Aligned columns.

use std::io::Write;

use unicode_width::UnicodeWidthStr;

use super::{Context, Meaning, Result, shown};

/// One cell: escaped text and the meaning that colours it.
#[derive(Debug, Clone)]
pub struct Cell {
    text: String,
    meaning: Option<Meaning>,
    right: bool,
}

impl Cell {
    /// A cell of text that may be anybody's: it is escaped.
    pub fn new(text: impl AsRef<str>) -> Cell {
        Cell { text: shown(text.as_ref()).into_owned(), meaning: None, right: false }
    }

    /// A coloured cell.
    pub fn with(meaning: Meaning, text: impl AsRef<str>) -> Cell {
        Cell { meaning: Some(meaning), ..Cell::new(text) }
    }

    /// Aligned to the right, as numbers are.
    pub fn right(text: impl std::fmt::Display) -> Cell {
        Cell { right: true, ..Cell::new(text.to_string()) }
    }
}

/// Rows in aligned columns, two spaces between them, no lines around them. The last column is never padded or cut.
#[derive(Debug, Clone, Default)]
pub struct Table {
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// No rows yet.
    pub fn new() -> Table {
        Table::default()
    }

    /// A row of headings.
    pub fn head(&mut self, names: &[&str]) {
        self.rows.push(names.iter().map(|name| Cell::with(Meaning::Dim, name)).collect());
    }

    /// A row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Whether no row was added.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Prints all rows.
    pub fn print(&self, ctx: &Context, out: &mut impl Write) -> Result<()> {
        self.print_with(|meaning, text| ctx.paint(meaning, text), out)
    }

    fn print_with(&self, paint: impl Fn(Meaning, &str) -> String, out: &mut impl Write) -> Result<()> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| self.rows.iter().filter_map(|row| row.get(column)).map(|c| c.text.width()).max();
        let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
        for row in &self.rows {
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                let pad = widths[column].saturating_sub(cell.text.width());
                let text = cell.meaning.map_or_else(|| cell.text.clone(), |meaning| paint(meaning, &cell.text));
                if cell.right {
                    line.extend(std::iter::repeat_n(' ', pad));
                }
                line.push_str(&text);
                if column + 1 < row.len() {
                    line.extend(std::iter::repeat_n(' ', if cell.right { 2 } else { pad + 2 }));
                }
            }
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_by_what_is_seen() {
        let mut table = Table::new();
        table.row([Cell::new("日本"), Cell::right(5), Cell::new("a")]);
        table.row([Cell::new("x"), Cell::right(12), Cell::new("b\x1b")]);
        let mut bytes = Vec::new();
        table.print_with(|_, text| text.to_owned(), &mut bytes).expect("written");
        assert_eq!(String::from_utf8_lossy(&bytes), "日本   5  a\nx     12  b\\x1b\n");
    }
}
