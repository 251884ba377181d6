//! One pass from text to a typed value: what the guard checks is checked while the value is read.
//!
//! [`Decode`] is derived together with the schema, so that the two cannot disagree: each value is read by its node of the tree, with the
//! guard's own cursor and checks. The first fault ends the reading; the guard then walks the text again and collects every fault.

mod by;
mod check;
mod parts;
mod reader;
mod scalars;
mod transcode;
mod union;
mod values;

pub use super::decode::Decoder;
pub use by::{Owned, Via, how};
pub use check::{Reading, Unread, by_serde, from_text, guarded};
pub use parts::{Absent, Defaulted, Field, Flat, One, OrDefault, Part, Parts, Skipped};
pub use reader::{Node, Reader};
pub use transcode::deserialize;

use super::issue::Issue;
use super::scan::Stop;
use crate::schema::Schema;

/// A type whose values are read from what a model sends. `#[derive(StrictSchema)]` implements it.
#[diagnostic::on_unimplemented(
    message = "a model cannot fill in `{Self}`: nothing reads the type",
    label = "nothing reads it from JSON",
    note = "for a type of your own: `#[derive(StrictSchema)]`, or `serde::Deserialize` next to a schema that is written by hand",
    note = "where `{Self}` derives `StrictSchema`, nothing reads the type of one of its fields"
)]
pub trait Decode: Sized {
    /// A type with parameters is in it, which cannot ask whether it has a `Deserialize`: where the type is concrete, that is asked.
    const ASKS: bool = false;

    /// Reads the value under the cursor.
    ///
    /// # Errors
    ///
    /// Where it does not fit its node. The reader knows more.
    fn decode(reader: &mut Reader<'_>, node: Node<'_>) -> Result<Self, Unfit>;
}

/// The value does not fit. What is wrong with it is asked of the guard.
#[derive(Debug)]
pub struct Unfit(());

impl From<Stop> for Unfit {
    #[inline]
    fn from(_: Stop) -> Self {
        Self(())
    }
}

/// A value that was read.
#[derive(Debug)]
pub(crate) struct Read<T> {
    pub(crate) value: T,
    /// The text is what serde and policies read, too. Else some values are spelled otherwise there: a default for null, `1` for `1.0`.
    pub(crate) exact: bool,
}

/// Reads arguments in one pass. The error holds what a `Deserialize` of the user's own refused, where that was the cause.
#[inline]
pub(crate) fn read<T: Decode>(schema: &Schema, text: &str) -> Result<Read<T>, Option<Issue>> {
    let mut reader = Reader::new(text);
    match reader.whole(schema, T::decode) {
        Ok(value) => Ok(Read {
            value,
            exact: reader.is_exact(),
        }),
        Err(_) => Err(reader.refused()),
    }
}
