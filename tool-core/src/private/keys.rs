//! Maps whose keys JSON cannot represent. `serde_json` fails to write such a map unless it is empty, so a tool cannot return one.
//!
//! This module lists only types that are known to be written as lists, records or null. The output of a user's own `Serialize` is unknown.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, LinkedList, VecDeque};
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tool_schema::__private0::refuse;

use crate::schema::rules::Rule;

/// A type that cannot be a key in JSON. The derive implements it for records.
pub trait UnwritableKey {}

/// A map with such keys, or a type that contains such a map.
pub trait UnwritableMap {}

/// A map whose values contain an unwritable map, a pair whose second item contains one, or a type that contains such a map or pair.
pub trait UnwritableValue {}

macro_rules! all {
    ($of:ident: $([$($generics:tt)*] $ty:ty),+ $(,)?) => {
        $(impl<$($generics)*> $of for $ty {})+
    };
}

all! { UnwritableKey:
    [] (), [] Duration, [] SystemTime,
    [A] (A,), [A, B] (A, B), [A, B, C] (A, B, C), [A, B, C, D] (A, B, C, D), [A, B, C, D, E] (A, B, C, D, E),
    [T] Vec<T>, [T] Box<[T]>, [T] Arc<[T]>, [T, const N: usize] [T; N], [T] VecDeque<T>, [T] LinkedList<T>, [T] BTreeSet<T>, [T, S] HashSet<T, S>,
    [K, V] BTreeMap<K, V>, [K, V, S] HashMap<K, V, S>, [T: UnwritableKey] Box<T>, [T: UnwritableKey] Arc<T>, [T: UnwritableKey + ?Sized] &T,
}

all! { UnwritableMap:
    [K: UnwritableKey, V] BTreeMap<K, V>, [K: UnwritableKey, V, S] HashMap<K, V, S>,
    [T: UnwritableMap] Vec<T>, [T: UnwritableMap, const N: usize] [T; N], [T: UnwritableMap] VecDeque<T>, [T: UnwritableMap] Option<T>,
    [T: UnwritableMap] Box<T>, [T: UnwritableMap] Arc<T>, [A: UnwritableMap] (A,), [A: UnwritableMap, B] (A, B),
}

all! { UnwritableValue:
    [K, V: UnwritableMap] BTreeMap<K, V>, [K, V: UnwritableMap, S] HashMap<K, V, S>, [A, B: UnwritableMap] (A, B),
    [T: UnwritableValue] Vec<T>, [T: UnwritableValue] Option<T>, [T: UnwritableValue] Box<T>, [T: UnwritableValue] Arc<T>,
}

#[cfg(feature = "indexmap")]
all! { UnwritableMap: [K: UnwritableKey, V, S] indexmap::IndexMap<K, V, S> }
#[cfg(feature = "indexmap")]
all! { UnwritableValue: [K, V: UnwritableMap, S] indexmap::IndexMap<K, V, S> }

/// `<WrittenMap<T>>::UNWRITABLE`: whether a concrete type is an `UnwritableMap`.
pub struct WrittenMap<T: ?Sized>(PhantomData<T>);

impl<T: UnwritableMap + ?Sized> WrittenMap<T> {
    /// The type is an [`UnwritableMap`].
    pub const UNWRITABLE: bool = true;
}

/// `<WrittenValue<T>>::UNWRITABLE`: whether a concrete type is an `UnwritableValue`.
pub struct WrittenValue<T: ?Sized>(PhantomData<T>);

impl<T: UnwritableValue + ?Sized> WrittenValue<T> {
    /// The type is an [`UnwritableValue`].
    pub const UNWRITABLE: bool = true;
}

/// Fallback for every other type.
pub trait Written {
    /// The type is not known to be unwritable.
    const UNWRITABLE: bool = false;
}

impl<T: ?Sized> Written for T {}

/// Checks that JSON can represent the keys of a tool's return type.
///
/// # Panics
///
/// Panics in const evaluation if JSON cannot represent the keys.
#[track_caller]
pub const fn check_output_keys(unwritable: bool, tool: &str) {
    if unwritable {
        refuse(tool, None, &Rule::MAP_KEY, "");
    }
}
