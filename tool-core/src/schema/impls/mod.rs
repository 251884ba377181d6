//! Schemas of types that are not ours: the standard library's, and foreign ones behind the feature of their crate's name.
//!
//! The rule for every type here: what the schema admits is what serde reads. A type whose serde form cannot be said that way
//! is [`Kind::Refused`] and names the type to use instead.

use crate::schema::{Format, Kind, Schema};

mod collections;
mod net;
mod numbers;
mod text;
mod values;
mod wrappers;

pub use collections::MapKey;

#[cfg(feature = "bytes")]
mod bytes;
#[cfg(feature = "chrono")]
mod chrono;
#[cfg(feature = "indexmap")]
mod indexmap;
#[cfg(feature = "jiff")]
mod jiff;
#[cfg(feature = "rust_decimal")]
mod rust_decimal;
#[cfg(feature = "semver")]
mod semver;
#[cfg(feature = "smol_str")]
mod smol_str;
#[cfg(feature = "time")]
mod time;
#[cfg(feature = "url")]
mod url;
#[cfg(feature = "uuid")]
mod uuid;

/// Any text.
#[cfg(any(feature = "jiff", feature = "rust_decimal", feature = "semver"))]
const STRING: &Schema = &Schema::new(Kind::String);

/// Any JSON.
const ANY: &Schema = &Schema::new(Kind::Any);

/// Implements the trait for types with one fixed node.
macro_rules! strict {
    ($($kind:expr => $($type:ty),+;)+) => {
        $($(
            impl StrictSchema for $type {
                const SCHEMA: &'static Schema = &Schema::new($kind);
            }
        )+)+
    };
}
use strict;

/// Types whose `Deserialize` reads what their schema admits.
macro_rules! by_serde {
    ($($type:ty),+ $(,)?) => {$(
        impl crate::args::read::Decode for $type {
            fn decode(
                reader: &mut crate::args::read::Reader<'_>,
                node: crate::args::read::Node<'_>,
            ) -> Result<Self, crate::args::read::Unfit> {
                reader.by_serde(node)
            }
        }
    )+};
}
use by_serde;

/// A type that has a better one to use.
const fn refused(rule: &'static str, text: &'static str) -> Kind {
    Kind::Refused { rule, text }
}

/// Text of a known format.
const fn format(format: Format) -> Kind {
    Kind::Format(format)
}
