//! Tests of the validation of arguments: tables, and properties that an independent validator must confirm.
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
mod scene;
mod verdict;
mod writer;

use super::sink::{Fast, splice};
use super::walk::Walk;
use super::{Issue, Repair, admit, whole};
use crate::schema::Schema;

/// Returns whether the guard admits the text as it is.
fn takes(schema: &Schema, text: &str) -> bool {
    admit(schema, text, Repair::Off).is_ok()
}

/// Returns the text that policies and readers receive.
fn read(schema: &Schema, text: &str) -> String {
    match admit(schema, text, Repair::Off) {
        Ok(admitted) => admitted.text.into_owned(),
        Err(issues) => panic!("{text}: {issues:?}"),
    }
}

/// Returns the text that serde reads.
fn for_serde(schema: &Schema, text: &str) -> String {
    let sink = Fast {
        for_serde: true,
        ..Fast::NEW
    };
    let mut walk = Walk::new(text, sink);
    walk.run(whole(schema)).expect(text);
    splice(text, &walk.sink.edits)
}

fn issues(schema: &Schema, text: &str) -> Vec<Issue> {
    admit(schema, text, Repair::Off).expect_err(text)
}

/// Returns the text and the notes of a repair.
fn repaired(schema: &Schema, text: &str) -> Option<(String, Vec<(String, &'static str)>)> {
    let admitted = admit(schema, text, Repair::Safe).ok()?;
    let notes = admitted
        .repairs
        .into_iter()
        .map(|note| (note.pointer, note.what));
    Some((admitted.text.into_owned(), notes.collect()))
}
