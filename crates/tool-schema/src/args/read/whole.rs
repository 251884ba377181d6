//! Reader of complete texts, in one pass or with serde.

use std::borrow::Cow;

use serde::de::DeserializeOwned;

use super::super::issue::{Issue, Repair};
use super::super::{Admitted, admit};
use super::reader::{Slot, Target};
use super::{Decode, Field, Reader, Via};
use crate::schema::{Schema, StrictSchema};

/// The result of reading a text.
#[derive(Debug)]
pub struct Reading<T> {
    /// The value that was read.
    pub value: T,
    /// Whether policies receive the text unchanged. Otherwise they receive a text with defaults in place of null and absent keys, null for some
    /// absent keys, and whole numbers such as `1` in place of `1.0`.
    pub exact: bool,
}

/// Error of reading a text.
#[derive(Debug)]
pub struct Unread {
    /// The issue of a user's own `Deserialize` or conversion, if that ended the reading.
    pub own: Option<Issue>,
    /// The faults that the guard finds, up to a limit. If the guard finds none, `own` is the only entry, or the list is empty.
    pub issues: Vec<Issue>,
}

/// Reads arguments in one pass. The error is the issue of a user's own `Deserialize` or conversion, if that was the cause.
#[inline(never)]
pub fn read<T: Decode>(schema: &Schema, text: &str) -> Result<Reading<T>, Option<Issue>> {
    reading::<Via<0, T>>(schema, text)
}

/// Reads a text in one pass. If this fails, the guard collects the faults, up to a limit. Blank text counts as `{}`, as it does for a call.
///
/// # Errors
///
/// Fails if the text does not match the type.
pub fn from_text<T: StrictSchema + Decode>(text: &str) -> Result<Reading<T>, Unread> {
    judged(T::SCHEMA, text, |text| read(T::SCHEMA, text))
}

/// Reads a text with the type's `Deserialize` after the guard has admitted it.
///
/// # Errors
///
/// Fails if the guard or the `Deserialize` refuses the text.
pub fn by_serde<T: StrictSchema + DeserializeOwned>(text: &str) -> Result<Reading<T>, Unread> {
    judged(T::SCHEMA, text, |text| {
        reading::<Via<1, T>>(T::SCHEMA, text)
    })
}

/// Runs only the guard. Returns the text that policies and readers receive.
///
/// # Errors
///
/// Fails if the text is invalid. The issues describe its faults, up to a limit.
pub fn guarded<'t>(schema: &Schema, text: &'t str) -> Result<Cow<'t, str>, Vec<Issue>> {
    admit(schema, text, Repair::Off).map(|Admitted { text, .. }| text)
}

/// Reads a value from the complete text.
#[inline]
fn reading<F: Field>(schema: &Schema, text: &str) -> Result<Reading<F::Value>, Option<Issue>> {
    let mut value = None;
    let exact = walked(schema, text, &mut Slot::<F>(&mut value))?;
    let value = value.ok_or(None)?;
    Ok(Reading { value, exact })
}

/// Reads the complete text into `target`. Returns whether policies receive the text unchanged.
fn walked(schema: &Schema, text: &str, target: &mut dyn Target) -> Result<bool, Option<Issue>> {
    let mut reader = Reader::new(text);
    match reader.whole(schema, target) {
        Ok(()) => Ok(reader.is_exact()),
        Err(_) => Err(reader.refused()),
    }
}

fn judged<T>(
    schema: &Schema,
    text: &str,
    read: impl Fn(&str) -> Result<Reading<T>, Option<Issue>>,
) -> Result<Reading<T>, Unread> {
    let text = if text.trim_ascii().is_empty() {
        "{}"
    } else {
        text
    };
    read(text).map_err(|own| {
        let issues = match guarded(schema, text) {
            Ok(_) => own.iter().cloned().collect(),
            Err(issues) => issues,
        };
        Unread { own, issues }
    })
}
