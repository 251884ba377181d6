//! One pass from text to a typed value: what the guard checks is checked while the value is read.
//!
//! [`Decode`] is derived together with the schema, so that the two cannot disagree: each value is read by its node of the tree, with the
//! guard's own cursor and checks. The first fault ends the reading; the guard then walks the text again and collects every fault.

mod by;
mod parts;
mod reader;
mod scalars;
mod transcode;
mod union;
mod values;
mod whole;

pub use super::decode::Decoder;
pub use by::{Owned, Via, how};
pub use parts::{Absent, ByDefault, Field, Flat, One, Parts, Skipped};
pub use reader::{Node, Reader};
pub use transcode::deserialize;
pub use whole::{Reading, Unread, by_serde, from_text, guarded};

pub(crate) use whole::read;

use super::scan::Stop;

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
