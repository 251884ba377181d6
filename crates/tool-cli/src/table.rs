//! Tables of text in columns.

use console::{Alignment, measure_text_width, pad_str, truncate_str};

use crate::screen::{BOLD, paint};

/// A table with a header; the last column gets the rest of the line.
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
    /// Columns that are right-aligned.
    right: Vec<usize>,
}

const GAP: &str = "  ";

impl Table {
    pub(crate) fn new<S: AsRef<str>>(head: impl IntoIterator<Item = S>) -> Self {
        let head = head.into_iter().map(|word| paint(BOLD, word.as_ref()));
        Self {
            rows: vec![head.collect()],
            right: Vec::new(),
        }
    }

    /// Aligns the cells of these columns to the right.
    #[cfg(any(feature = "tokens", test))]
    pub(crate) fn right(mut self, columns: impl IntoIterator<Item = usize>) -> Self {
        self.right.extend(columns);
        self
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Formats the table so that no line is wider than `width`.
    pub(crate) fn render(&self, width: Option<usize>) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or_default();
        let widths: Vec<usize> = (0..columns)
            .map(|at| {
                let cells = self.rows.iter().filter_map(|row| row.get(at));
                cells.map(|cell| measure_text_width(cell)).max()
            })
            .map(Option::unwrap_or_default)
            .collect();
        let lines = self.rows.iter().map(|row| self.line(row, &widths, width));
        lines.collect::<Vec<_>>().join("\n")
    }

    fn line(&self, row: &[String], widths: &[usize], width: Option<usize>) -> String {
        let mut line = String::new();
        for (at, (cell, wide)) in row.iter().zip(widths).enumerate() {
            if at > 0 {
                line.push_str(GAP);
            }
            if self.right.contains(&at) {
                line.push_str(&pad_str(cell, *wide, Alignment::Right, None));
            } else if at + 1 < row.len() {
                line.push_str(&pad_str(cell, *wide, Alignment::Left, None));
            } else {
                line.push_str(cell);
            }
        }
        match width {
            Some(width) => truncate_str(&line, width, "…").into_owned(),
            None => line,
        }
    }
}

#[cfg(test)]
mod tests {
    use console::strip_ansi_codes;

    use super::Table;

    #[test]
    fn columns_fit_their_cells_and_lines_are_cut_to_the_width() {
        let mut table = Table::new(["name", "n", "what"]).right([1]);
        table.row(["add".into(), "7".into(), "Adds two numbers.".into()]);
        table.row(["subtract".into(), "120".into(), "Takes away.".into()]);
        let all = table.render(None);
        assert_eq!(
            strip_ansi_codes(&all),
            "name        n  what\nadd         7  Adds two numbers.\nsubtract  120  Takes away."
        );
        let narrow = table.render(Some(20));
        let lines: Vec<_> = narrow.lines().map(|line| strip_ansi_codes(line)).collect();
        assert_eq!(lines[1], "add         7  Adds…");
    }
}
