//! The argument guard: validation of a model's arguments against the schema before serde reads them.
//!
//! serde alone accepts values that a schema refuses (a struct from an array, a repeated key, an unknown key in a tagged variant) and rejects values
//! that a schema accepts (`1.0` for an integer). The guard therefore walks the bytes by the schema first. If they pass, serde reads the same text, or
//! a copy in which a few values are rewritten for serde. If they fail, the guard repairs them if [`Repair`] allows it and they have only one possible
//! meaning. Otherwise a second walk collects the issues.

use std::borrow::Cow;

mod bytes;
mod canonical;
mod cleanup;
mod collect;
mod decode;
mod describe;
mod equal;
mod exact;
mod issue;
mod list;
mod number;
mod object;
pub mod read;
mod repair;
mod scalar;
mod scan;
mod sink;
mod suggest;
mod union;
mod walk;

pub use bytes::decode as unescape;
pub use canonical::canonical;
pub use canonical::repeated_key;
pub use decode::{Misread, decode, raw_value};
pub use exact::{Inexact, nearest_doubles, value};
pub use issue::{Issue, Repair, RepairNote};
pub use number::{is_same as is_same_number, write as write_number};
pub use scan::{Cursor, Stop};
pub use suggest::nearest;

use crate::schema::{Kind, Schema};
use sink::{Fast, Place, splice};
use walk::Walk;

/// Arguments that the guard has admitted.
#[derive(Debug)]
pub struct Admitted<'a> {
    /// The text for policies and readers: borrowed from the input, unless it was rewritten or repaired.
    pub text: Cow<'a, str>,
    /// The repairs that were made; empty if the text was valid without any.
    pub repairs: Vec<RepairNote>,
}

impl<'a> Admitted<'a> {
    const fn right(text: Cow<'a, str>) -> Self {
        Self {
            text,
            repairs: Vec::new(),
        }
    }
}

/// Validates the arguments of a call. The error lists the issues, up to a limit.
///
/// Blank text counts as `{}`: some providers send empty text for a tool without parameters.
pub fn admit<'a>(
    schema: &Schema,
    text: &'a str,
    repair: Repair,
) -> Result<Admitted<'a>, Vec<Issue>> {
    let place = whole(schema);
    match pass(place, text) {
        Some(text) => Ok(Admitted::right(text)),
        None => otherwise(place, text, repair),
    }
}

/// Repairs arguments without the schema of their tool, so that they are an object with any values. Returns `None` if the guard would not repair them
/// into an object either.
///
/// The arguments of every tool are an object, so the keys are the keys of the object that the tool received. The values may differ, because the
/// guard repairs them by the schema.
pub fn repaired_object(text: &str) -> Option<String> {
    const OBJECT: &Schema = &Schema::new(Kind::Map(&Schema::new(Kind::Any)));
    repair::arguments(whole(OBJECT), text).map(|(text, _)| text)
}

#[inline]
const fn whole(schema: &Schema) -> Place<'_> {
    Place {
        schema,
        bounds: None,
        scope: None,
    }
}

/// Handles text that the guard does not admit unchanged: accepts blank text as `{}`, repairs the text, or collects its issues.
#[cold]
fn otherwise<'a>(
    place: Place<'_>,
    text: &'a str,
    repair: Repair,
) -> Result<Admitted<'a>, Vec<Issue>> {
    if text.trim_ascii().is_empty() {
        let text = "{}";
        return pass(place, text)
            .map(Admitted::right)
            .ok_or_else(|| collect::issues(place, text));
    }
    if repair == Repair::Safe
        && let Some((repaired, repairs)) = repair::arguments(place, text)
        && let Some(text) = pass(place, &repaired)
    {
        let text = Cow::Owned(text.into_owned());
        return Ok(Admitted { text, repairs });
    }
    Err(collect::issues(place, text))
}

/// Runs the guard. Returns the text for policies and readers if the arguments are valid.
#[inline]
fn pass<'a>(place: Place<'_>, text: &'a str) -> Option<Cow<'a, str>> {
    let mut walk = Walk::new(text, Fast::default());
    walk.run(place).ok()?;
    let edits = walk.sink.edits;
    Some(if edits.is_empty() {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(splice(text, &edits))
    })
}

#[cfg(test)]
mod tests;
