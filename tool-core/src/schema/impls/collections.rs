//! Lists, sets, maps and tuples.

use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};

use crate::schema::{Kind, Schema, StrictSchema};

/// A list of any length.
pub(super) const fn list(items: &'static Schema) -> Schema {
    Schema::new(Kind::Array {
        items,
        unique: false,
        exactly: None,
    })
}

/// A list without repeated items.
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

impl<V: StrictSchema> StrictSchema for BTreeMap<String, V> {
    const SCHEMA: &'static Schema = &Schema::new(Kind::Map(V::SCHEMA));
}

impl<V: StrictSchema, S> StrictSchema for HashMap<String, V, S> {
    const SCHEMA: &'static Schema = &Schema::new(Kind::Map(V::SCHEMA));
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
