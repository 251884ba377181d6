//! Tests of the guard: tables, and properties against an independent validator.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::too_many_lines,
    reason = "tests"
)]

mod build;
mod correct;
mod issues;
mod oracle;
mod property;
mod repairs;
mod verdict;
mod writer;

pub(crate) use property::{damage, scene};

use super::{Issue, Repair, admit};
use crate::schema::Schema;

/// Whether the guard takes the text as it is.
fn takes(schema: &Schema, text: &str) -> bool {
    admit(schema, text, Repair::Off).is_ok()
}

/// What serde reads.
fn read(schema: &Schema, text: &str) -> String {
    match admit(schema, text, Repair::Off) {
        Ok(admitted) => admitted.text.into_owned(),
        Err(issues) => panic!("{text}: {issues:?}"),
    }
}

fn issues(schema: &Schema, text: &str) -> Vec<Issue> {
    admit(schema, text, Repair::Off).expect_err(text)
}

/// The text and the notes of a repair.
fn repaired(schema: &Schema, text: &str) -> Option<(String, Vec<(String, &'static str)>)> {
    let admitted = admit(schema, text, Repair::Safe).ok()?;
    let notes = admitted
        .repairs
        .into_iter()
        .map(|note| (note.pointer, note.what));
    Some((admitted.text.into_owned(), notes.collect()))
}
