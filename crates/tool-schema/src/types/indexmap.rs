//! `StrictSchema` and `Decode` for types of the `indexmap` crate.

use std::hash::{BuildHasher, Hash};

use indexmap::{IndexMap, IndexSet};

use super::collections::{map, set};
use crate::args::read::{Decode, Node, Reader, Unfit};
use crate::schema::{MapKey, Schema, StrictSchema};

impl<K: MapKey, V: StrictSchema, S> StrictSchema for IndexMap<K, V, S> {
    const SCHEMA: &'static Schema = &map::<K>(V::SCHEMA);
}

impl<T: StrictSchema, S> StrictSchema for IndexSet<T, S> {
    const SCHEMA: &'static Schema = &set(T::SCHEMA);
}

impl<K, V, S> Decode for IndexMap<K, V, S>
where
    K: MapKey + From<String> + Eq + Hash,
    V: Decode,
    S: BuildHasher + Default,
{
    const ASKS: bool = V::ASKS;

    fn decode(reader: &mut Reader<'_>, node: Node<'_>) -> Result<Self, Unfit> {
        let mut map = Self::default();
        reader.entries(node, |key, value| map.insert(key, value))?;
        Ok(map)
    }
}

impl<T: Decode + Eq + Hash, S: BuildHasher + Default> Decode for IndexSet<T, S> {
    const ASKS: bool = T::ASKS;

    fn decode(reader: &mut Reader<'_>, node: Node<'_>) -> Result<Self, Unfit> {
        let mut set = Self::default();
        reader.items(node, |item| {
            set.insert(item);
        })?;
        Ok(set)
    }
}
