//! The figures of searches, and the table of recorded figures in the docs of the pack.

use std::fmt;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::questions::Question;

/// The first lines of the table.
const HEAD: &str =
    "//! | question set | search | recall@5 | recall@10 | MRR@10 |\n//! |---|---|---|---|---|\n";

/// The share of questions with a relevant memory among the first 5 and 10 results, and the mean of the reciprocal ranks of the first relevant memory
/// among the first 10 results.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Figures {
    at_5: f64,
    at_10: f64,
    mrr: f64,
}

impl Figures {
    /// Adds the results of one question.
    pub(crate) fn count(&mut self, question: &Question, found: &[String]) {
        let ranks = found.iter().take(10).zip(1_u8..);
        let mut ranks = ranks.filter(|(id, _)| question.relevant.contains(id));
        if let Some((_, rank)) = ranks.next() {
            self.at_5 += f64::from(u8::from(rank <= 5));
            self.at_10 += 1.0;
            self.mrr += 1.0 / f64::from(rank);
        }
    }

    /// Divides the sums by the number of questions, and rounds the means to 3 decimals.
    pub(crate) fn mean(self, questions: usize) -> Self {
        let questions = f64::from(u32::try_from(questions).unwrap());
        let [at_5, at_10, mrr] = self
            .all()
            .map(|sum| (sum / questions * 1_000.0).round() / 1_000.0);
        Self { at_5, at_10, mrr }
    }

    pub(crate) fn all(self) -> [f64; 3] {
        [self.at_5, self.at_10, self.mrr]
    }
}

/// One row of the table.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) set: String,
    pub(crate) search: &'static str,
    pub(crate) figures: Figures,
}

impl Row {
    /// Returns the cells before the figures.
    pub(crate) fn name(&self) -> String {
        format!("| {} | {} |", self.set, self.search)
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [at_5, at_10, mrr] = self.figures.all();
        write!(f, "{} {at_5:.3} | {at_10:.3} | {mrr:.3} |", self.name())
    }
}

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tool-std/src/memory.rs")
}

/// Splits the source of the docs into the text before the table's rows, the rows, and the rest.
fn parts(source: &str) -> (&str, &str, &str) {
    let (before, rest) = source.split_once(HEAD).unwrap();
    let end = rest.find("//!\n").unwrap();
    let (rows, after) = rest.split_at(end);
    (before, rows, after)
}

/// Returns the rows of the table.
pub(crate) fn recorded() -> Vec<String> {
    let source = std::fs::read_to_string(path()).unwrap();
    let (_, rows, _) = parts(&source);
    let rows = rows.lines().map(|row| row.trim_start_matches("//! "));
    rows.map(str::to_owned).collect()
}

/// Returns the figures of a recorded row.
pub(crate) fn figures(row: &str) -> [f64; 3] {
    let cells: Vec<&str> = row.split('|').map(str::trim).collect();
    [3, 4, 5].map(|cell: usize| cells.get(cell).unwrap().parse().unwrap())
}

/// Writes the rows of the table.
pub(crate) fn update(rows: &[Row]) {
    let source = std::fs::read_to_string(path()).unwrap();
    let (before, _, after) = parts(&source);
    let mut table = String::new();
    for row in rows {
        writeln!(table, "//! {row}").unwrap();
    }
    std::fs::write(path(), format!("{before}{HEAD}{table}{after}")).unwrap();
}
