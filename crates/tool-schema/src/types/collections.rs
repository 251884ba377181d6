//! `StrictSchema` for arrays, sets, maps and tuples.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::rc::Rc;
use std::sync::Arc;
use tool_rules::Rule;

use super::refused;
use crate::schema::{Kind, MapKey, Schema, StrictSchema};

/// Creates the schema of an array of any length.
pub(super) const fn list(items: &'static Schema) -> Schema {
    Schema::new(Kind::Array {
        items,
        unique: false,
        exactly: None,
    })
}

/// Creates the schema of an array without duplicate items.
pub(super) const fn set(items: &'static Schema) -> Schema {
    Schema::new(Kind::Array {
        items,
        unique: true,
        exactly: None,
    })
}

impl<T: StrictSchema> StrictSchema for Vec<T> {
    const SCHEMA: &'static Schema = &list(T::SCHEMA);
}

impl<T: StrictSchema> StrictSchema for Box<[T]> {
    const SCHEMA: &'static Schema = &list(T::SCHEMA);
}

impl<T: StrictSchema> StrictSchema for Arc<[T]> {
    const SCHEMA: &'static Schema = &list(T::SCHEMA);
}

impl<T: StrictSchema> StrictSchema for Rc<[T]> {
    const SCHEMA: &'static Schema = &list(T::SCHEMA);
}

impl<T: StrictSchema> StrictSchema for VecDeque<T> {
    const SCHEMA: &'static Schema = &list(T::SCHEMA);
}

impl<T: StrictSchema> StrictSchema for LinkedList<T> {
    const SCHEMA: &'static Schema = &list(T::SCHEMA);
}

impl<T: StrictSchema> StrictSchema for BinaryHeap<T> {
    const SCHEMA: &'static Schema = &list(T::SCHEMA);
}

impl<T: StrictSchema, const N: usize> StrictSchema for [T; N] {
    const SCHEMA: &'static Schema = &Schema::new(Kind::Array {
        items: T::SCHEMA,
        unique: false,
        exactly: Some(N),
    });
}

impl<T: StrictSchema> StrictSchema for BTreeSet<T> {
    const SCHEMA: &'static Schema = &set(T::SCHEMA);
}

impl<T: StrictSchema, S> StrictSchema for HashSet<T, S> {
    const SCHEMA: &'static Schema = &set(T::SCHEMA);
}

macro_rules! keys {
    ($any:literal: $($key:ty),+) => {
        $(impl MapKey for $key {
            const ANY_TEXT: bool = $any;
        })+
    };
}

keys!(true: String, Box<str>, Cow<'_, str>);
keys!(false: bool, char, u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize);

/// Creates the schema of a map. A map is rejected unless every string is a valid key.
pub(super) const fn map<K: MapKey>(values: &'static Schema) -> Schema {
    if K::ANY_TEXT {
        return Schema::new(Kind::Map(values));
    }
    Schema::new(refused(&Rule::MAP_KEYS))
}

impl<K: MapKey, V: StrictSchema> StrictSchema for BTreeMap<K, V> {
    const SCHEMA: &'static Schema = &map::<K>(V::SCHEMA);
}

impl<K: MapKey, V: StrictSchema, S> StrictSchema for HashMap<K, V, S> {
    const SCHEMA: &'static Schema = &map::<K>(V::SCHEMA);
}

macro_rules! tuples {
    ($(($($item:ident),+);)+) => {
        $(
            impl<$($item: StrictSchema),+> StrictSchema for ($($item,)+) {
                const SCHEMA: &'static Schema = &Schema::new(Kind::Tuple(&[$($item::SCHEMA),+]));
            }
        )+
    };
}

tuples! {
    (A);
    (A, B);
    (A, B, C);
    (A, B, C, D);
    (A, B, C, D, E);
    (A, B, C, D, E, F);
}
