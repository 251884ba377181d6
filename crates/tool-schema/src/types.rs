//! `StrictSchema` for foreign types: types of the standard library and of `serde_json`, and types of other crates, each behind a feature with the
//! name of the crate.
//!
//! The schema of each type accepts only values that serde can read. A type whose serde format no schema can describe is
//! [`Kind::Refused`], with a message that names the type to use instead.

use tool_rules::Rule;

use crate::schema::{Format, Kind, Schema};

mod collections;
mod net;
mod numbers;
mod text;
mod values;
mod wrappers;

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

/// Schema of a string, for types with a pattern.
#[cfg(any(feature = "jiff", feature = "rust_decimal", feature = "semver"))]
const STRING: &Schema = &Schema::new(Kind::String);

/// Schema of any JSON value.
const ANY: &Schema = &Schema::new(Kind::Any);

/// Implements `StrictSchema` for types with a single fixed node.
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

/// Implements `Decode` by `Deserialize`, for types that deserialize everything that their schema accepts.
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

/// Returns the kind of a type that is rejected in favour of a better type.
const fn refused(rule: &Rule) -> Kind {
    Kind::Refused {
        rule: rule.id,
        text: rule.text,
    }
}

/// Returns the kind of a string in a known format.
const fn format(format: Format) -> Kind {
    Kind::Format(format)
}
