//! `IntoOutput` for types of the standard library, of this crate, of `serde_json` and of optional crates.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, LinkedList, VecDeque};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::num::{
    NonZeroI8, NonZeroI16, NonZeroI32, NonZeroI64, NonZeroI128, NonZeroIsize, NonZeroU8,
    NonZeroU16, NonZeroU32, NonZeroU64, NonZeroU128, NonZeroUsize,
};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

#[cfg(feature = "chrono")]
use chrono::TimeZone;
use serde::Serialize;
use serde_json::value::RawValue;

use super::{Audio, Citation, Failure, File, Image, IntoOutput, ModelOutput, Part, Returned};
use crate::error::ToolError;

impl<T: Serialize + Send + 'static, E: Failure> IntoOutput for Result<T, E> {
    type Value = T;

    fn into_returned(self) -> Result<Returned<T>, ToolError> {
        self.map(Returned::Value).map_err(Failure::into_error)
    }
}

/// Implements `IntoOutput` for types whose values are the output, without conversion.
macro_rules! as_it_is {
    ($( [$($generic:ident $(: $bound:ident)?),*] $ty:ty ),+ $(,)?) => {$(
        impl<$($generic $(: $bound)?),*> IntoOutput for $ty
        where
            Self: Serialize + Send + 'static,
        {
            type Value = Self;

            fn into_returned(self) -> Result<Returned<Self>, ToolError> {
                Ok(Returned::Value(self))
            }
        }
    )+};
}

// The items of a collection must be outputs, so that a type that cannot be returned alone cannot be returned in a list either.
as_it_is! {
    [] (), [] bool, [] char, [] String, [] &'static str, [] Cow<'static, str>, [] Box<str>, [] Arc<str>, [] PathBuf, [] Duration,
    [] i8, [] i16, [] i32, [] i64, [] i128, [] isize, [] u8, [] u16, [] u32, [] u64, [] u128, [] usize, [] f32, [] f64,
    [] NonZeroI8, [] NonZeroI16, [] NonZeroI32, [] NonZeroI64, [] NonZeroI128, [] NonZeroIsize,
    [] NonZeroU8, [] NonZeroU16, [] NonZeroU32, [] NonZeroU64, [] NonZeroU128, [] NonZeroUsize,
    [] IpAddr, [] Ipv4Addr, [] Ipv6Addr, [] SocketAddr, [] SystemTime,
    [] serde_json::Value, [] serde_json::Map<String, serde_json::Value>, [] Box<RawValue>, [] Citation,
    [] Image, [] Audio, [] File, [] Part, [] ModelOutput,
    [T: IntoOutput] Option<T>, [T: IntoOutput] Vec<T>, [T: IntoOutput] VecDeque<T>, [T: IntoOutput] LinkedList<T>,
    [T: IntoOutput] Box<T>, [T: IntoOutput] Arc<T>, [T: IntoOutput] Box<[T]>, [T: IntoOutput] Arc<[T]>,
    [T: IntoOutput] BTreeSet<T>, [T: IntoOutput, S] HashSet<T, S>,
    [K, V: IntoOutput] BTreeMap<K, V>, [K, V: IntoOutput, S] HashMap<K, V, S>,
    [A: IntoOutput] (A,), [A: IntoOutput, B: IntoOutput] (A, B), [A: IntoOutput, B: IntoOutput, C: IntoOutput] (A, B, C),
    [A: IntoOutput, B: IntoOutput, C: IntoOutput, D: IntoOutput] (A, B, C, D),
}

impl<T: IntoOutput, const N: usize> IntoOutput for [T; N]
where
    Self: Serialize + Send + 'static,
{
    type Value = Self;

    fn into_returned(self) -> Result<Returned<Self>, ToolError> {
        Ok(Returned::Value(self))
    }
}

#[cfg(feature = "bytes")]
as_it_is! { [] bytes::Bytes }
#[cfg(feature = "chrono")]
as_it_is! { [Z: TimeZone] chrono::DateTime<Z>, [] chrono::NaiveDate, [] chrono::NaiveDateTime, [] chrono::NaiveTime }
#[cfg(feature = "indexmap")]
as_it_is! { [K, V: IntoOutput, S] indexmap::IndexMap<K, V, S>, [T: IntoOutput, S] indexmap::IndexSet<T, S> }
#[cfg(feature = "jiff")]
as_it_is! { [] jiff::Timestamp, [] jiff::Zoned, [] jiff::Span, [] jiff::SignedDuration, [] jiff::civil::Date }
#[cfg(feature = "rust_decimal")]
as_it_is! { [] rust_decimal::Decimal }
#[cfg(feature = "semver")]
as_it_is! { [] semver::Version, [] semver::VersionReq }
#[cfg(feature = "smol_str")]
as_it_is! { [] smol_str::SmolStr }
#[cfg(feature = "time")]
as_it_is! { [] time::Date, [] time::OffsetDateTime }
#[cfg(feature = "url")]
as_it_is! { [] url::Url }
#[cfg(feature = "uuid")]
as_it_is! { [] uuid::Uuid }
