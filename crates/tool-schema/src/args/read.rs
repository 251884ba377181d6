//! Typed values read from text in one pass, validated while they are read.
//!
//! [`Decode`] is derived together with the schema, so that the two cannot disagree. Each value is read by its schema node, with the
//! guard's own cursor and checks. The first fault ends the reading; the guard then walks the text again to collect the faults, up to a limit.

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

pub use whole::read;

use super::scan::Stop;

/// A type whose values can be read from a model's arguments. `#[derive(StrictSchema)]` implements it.
#[diagnostic::on_unimplemented(
    message = "a model cannot fill in `{Self}`: the type cannot be read from JSON",
    label = "cannot be read from JSON",
    note = "for a type of your own: `#[derive(StrictSchema)]`, or `serde::Deserialize` next to a schema that is written by hand",
    note = "where `{Self}` derives `StrictSchema`, the type of one of its fields cannot be read from JSON"
)]
pub trait Decode: Sized {
    /// Whether the type is a generic type with a derived impl, or contains one. The derive of a generic type cannot check for a `Deserialize` impl,
    /// so that check happens where the type is concrete.
    const ASKS: bool = false;

    /// Reads the value under the cursor.
    ///
    /// # Errors
    ///
    /// Fails if the value does not match its node. The guard then finds the reason, or the reader contains the error of a user's own
    /// code.
    fn decode(reader: &mut Reader<'_>, node: Node<'_>) -> Result<Self, Unfit>;
}

/// Error of a value that does not match its node. The guard finds the reason.
#[derive(Debug)]
pub struct Unfit(());

impl From<Stop> for Unfit {
    #[inline]
    fn from(_: Stop) -> Self {
        Self(())
    }
}
