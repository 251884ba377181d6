//! Whole texts, read in one pass or by serde.

use std::borrow::Cow;

use serde::de::DeserializeOwned;

use super::super::issue::{Issue, Repair};
use super::super::{Admitted, admit};
use super::reader::{Slot, Target};
use super::{Decode, Field, Reader, Via};
use crate::schema::{Schema, StrictSchema};

/// A text that was read.
#[derive(Debug)]
pub struct Reading<T> {
    /// The value.
    pub value: T,
    /// Policies read the same text. Else some values are spelled otherwise there: a default for null, `1` for `1.0`.
    pub exact: bool,
}

/// A text that was not read.
#[derive(Debug)]
pub struct Unread {
    /// What a `Deserialize` or a conversion of the user's own refused, where that ended the reading.
    pub own: Option<Issue>,
    /// Every fault that the guard finds; where it finds none, what the reader itself told.
    pub issues: Vec<Issue>,
}

/// Reads arguments in one pass. The error holds what a `Deserialize` of the user's own refused, where that was the cause.
#[inline(never)]
pub(crate) fn read<T: Decode>(schema: &Schema, text: &str) -> Result<Reading<T>, Option<Issue>> {
    reading::<Via<0, T>>(schema, text)
}

/// Reads a text in one pass, and collects every fault. Blank text counts as `{}`, as for a call.
///
/// # Errors
///
/// Where it does not fit the type.
pub fn from_text<T: StrictSchema + Decode>(text: &str) -> Result<Reading<T>, Unread> {
    judged(T::SCHEMA, text, |text| read(T::SCHEMA, text))
}

/// Reads a text by `Deserialize`, after the guard has walked it: the way of a type that has one.
///
/// # Errors
///
/// Where the guard refuses it, or the `Deserialize` does.
pub fn by_serde<T: StrictSchema + DeserializeOwned>(text: &str) -> Result<Reading<T>, Unread> {
    judged(T::SCHEMA, text, |text| {
        reading::<Via<1, T>>(T::SCHEMA, text)
    })
}

/// What the guard alone says of a text: the text that serde and policies read.
///
/// # Errors
///
/// Where it does not fit; the issues are all of its faults.
pub fn guarded<'t>(schema: &Schema, text: &'t str) -> Result<Cow<'t, str>, Vec<Issue>> {
    admit(schema, text, Repair::Off).map(|Admitted { text, .. }| text)
}

/// Reads the whole text.
#[inline]
fn reading<F: Field>(schema: &Schema, text: &str) -> Result<Reading<F::Value>, Option<Issue>> {
    let mut value = None;
    let exact = walked(schema, text, &mut Slot::<F>(&mut value))?;
    let value = value.ok_or(None)?;
    Ok(Reading { value, exact })
}

/// Reads the whole text; whether policies read the same one.
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
