//! `indexmap`.

use indexmap::{IndexMap, IndexSet};

use super::collections::{MapKey, map, set};
use crate::schema::{Schema, StrictSchema};

impl<K: MapKey, V: StrictSchema, S> StrictSchema for IndexMap<K, V, S> {
    const SCHEMA: &'static Schema = &map::<K>(V::SCHEMA);
}

impl<T: StrictSchema, S> StrictSchema for IndexSet<T, S> {
    const SCHEMA: &'static Schema = &set(T::SCHEMA);
}
