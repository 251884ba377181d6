//! `indexmap`.

use indexmap::{IndexMap, IndexSet};

use super::collections::set;
use crate::schema::{Kind, Schema, StrictSchema};

impl<V: StrictSchema, S> StrictSchema for IndexMap<String, V, S> {
    const SCHEMA: &'static Schema = &Schema::new(Kind::Map(V::SCHEMA));
}

impl<T: StrictSchema, S> StrictSchema for IndexSet<T, S> {
    const SCHEMA: &'static Schema = &set(T::SCHEMA);
}
