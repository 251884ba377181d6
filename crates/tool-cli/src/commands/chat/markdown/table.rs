//! Rendering of Markdown tables in a terminal.

use anstyle::Style;

use super::inline::{self, Part};
use super::spans::Spans;
use crate::screen::{BOLD, DIM};

/// Maximum number of rows that are held until a table ends. Later rows are written at once, in columns of the same width.
pub(super) const MOST_ROWS: usize = 100;

/// The lines of a table that are not written yet.
#[derive(Default)]
pub(super) struct Table {
    lines: Vec<String>,
    /// The columns of the lines that are already written.
    columns: Option<Vec<Column>>,
}

struct Column {
    heading: Spans,
    width: usize,
    is_right: bool,
}

impl Table {
    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Adds a line. Returns whether the held lines are written now, because their maximum number is reached or earlier lines are already written.
    pub(super) fn add(&mut self, line: &str) -> bool {
        self.lines.push(line.to_owned());
        self.columns.is_some() || self.lines.len() >= MOST_ROWS
    }

    /// Writes the lines, each after `prefix`. Lines that are not a table are written as text. If the columns together are wider than `width`, each
    /// cell is written on its own line.
    pub(super) fn write(&mut self, prefix: &Spans, width: usize, out: &mut Spans) {
        let lines = std::mem::take(&mut self.lines);
        let rows: Vec<Vec<&str>> = lines.iter().map(|line| cells(line)).collect();
        let first = self.columns.is_none();
        let body = if first {
            let alignments = rows.get(1).and_then(|row| alignments(row));
            let (Some(alignments), Some(headings)) = (alignments, rows.first()) else {
                // Without a line of dashes, the lines are not a table.
                for line in &lines {
                    out.extend(prefix.clone());
                    text(line, Style::new(), out);
                    out.add(Style::new(), "\n");
                }
                return;
            };
            let headings = headings.iter().map(|cell| cell_spans(cell, BOLD));
            self.columns = Some(columns(headings.collect(), &alignments, &rows[2..]));
            &rows[2..]
        } else {
            &rows[..]
        };
        let columns = self.columns.as_deref().unwrap_or_default();
        let fits = columns.iter().map(|column| column.width + 3).sum::<usize>() <= width + 2;
        if first && fits {
            let headings: Vec<Spans> = columns.iter().map(|c| c.heading.clone()).collect();
            line(columns, &headings, prefix, out);
            out.extend(prefix.clone());
            let dashes: Vec<String> = columns.iter().map(|c| "─".repeat(c.width)).collect();
            out.add(DIM, &dashes.join("─┼─"));
            out.add(Style::new(), "\n");
        }
        for (index, row) in body.iter().enumerate() {
            let cells = row.iter().map(|cell| cell_spans(cell, Style::new()));
            let cells: Vec<Spans> = cells.collect();
            if fits {
                line(columns, &cells, prefix, out);
                continue;
            }
            if index > 0 || !first {
                out.extend(prefix.clone());
                out.add(Style::new(), "\n");
            }
            record(columns, cells, prefix, out);
        }
    }
}

/// Returns the columns, as wide as their widest cell.
fn columns(headings: Vec<Spans>, alignments: &[bool], body: &[Vec<&str>]) -> Vec<Column> {
    let mut columns: Vec<Column> = headings
        .into_iter()
        .zip(alignments.iter().copied().chain(std::iter::repeat(false)))
        .map(|(heading, is_right)| Column {
            width: heading.width(),
            heading,
            is_right,
        })
        .collect();
    for row in body {
        for (column, cell) in columns.iter_mut().zip(row) {
            column.width = column.width.max(cell_spans(cell, Style::new()).width());
        }
    }
    columns
}

/// Writes the cells of a row in columns.
fn line(columns: &[Column], cells: &[Spans], prefix: &Spans, out: &mut Spans) {
    let plain = Style::new();
    let empty = Spans::default();
    out.extend(prefix.clone());
    for (index, column) in columns.iter().enumerate() {
        if index > 0 {
            out.add(DIM, " │ ");
        }
        let cell = cells.get(index).unwrap_or(&empty);
        let gap = " ".repeat(column.width.saturating_sub(cell.width()));
        if column.is_right {
            out.add(plain, &gap);
        }
        out.extend(cell.clone());
        if !column.is_right && index + 1 < columns.len() {
            out.add(plain, &gap);
        }
    }
    // A row may have more cells than the table has columns.
    for cell in cells.iter().skip(columns.len()) {
        out.add(DIM, " │ ");
        out.extend(cell.clone());
    }
    out.add(plain, "\n");
}

/// Writes each cell of a row as a line with the heading of its column.
fn record(columns: &[Column], cells: Vec<Spans>, prefix: &Spans, out: &mut Spans) {
    let mut headings = columns.iter().map(|column| &column.heading);
    for cell in cells {
        out.extend(prefix.clone());
        if let Some(heading) = headings.next().filter(|heading| !heading.is_empty()) {
            out.extend(heading.clone());
            out.add(BOLD, ": ");
        }
        out.extend(cell);
        out.add(Style::new(), "\n");
    }
}

/// Returns the cells of a line.
fn cells(line: &str) -> Vec<&str> {
    let line = line.trim();
    let line = line.strip_prefix('|').unwrap_or(line);
    let mut cells = Vec::new();
    let (mut from, mut escaped, mut in_code) = (0, false, false);
    for (at, c) in line.char_indices() {
        if std::mem::take(&mut escaped) {
            continue;
        }
        match c {
            '\\' => escaped = true,
            '`' => in_code = !in_code && line[at + 1..].contains('`'),
            '|' if !in_code => {
                cells.push(line[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    let last = line[from..].trim();
    if !last.is_empty() || cells.is_empty() {
        cells.push(last);
    }
    cells
}

/// Returns whether each column is aligned to the right; `None` if the row does not separate headings from rows.
fn alignments(row: &[&str]) -> Option<Vec<bool>> {
    let is_dashes = |cell: &str| {
        let dashes = cell.strip_prefix(':').unwrap_or(cell);
        let dashes = dashes.strip_suffix(':').unwrap_or(dashes);
        !dashes.is_empty() && dashes.bytes().all(|byte| byte == b'-')
    };
    let all = row.iter().all(|cell| is_dashes(cell));
    let is_right = |cell: &&str| cell.ends_with(':') && !cell.starts_with(':');
    all.then(|| row.iter().map(is_right).collect())
}

fn cell_spans(cell: &str, style: Style) -> Spans {
    let mut spans = Spans::default();
    // Models write `<br>` for a line break in a cell.
    let cell = cell.replace("<br>", " ").replace("<br/>", " ");
    text(&cell, style, &mut spans);
    spans
}

fn text(text: &str, style: Style, out: &mut Spans) {
    let part = Part {
        text,
        before: None,
        ended: true,
    };
    inline::render(part, style, out);
}
