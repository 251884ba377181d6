//! `StrictSchema` for arbitrary JSON values, and for types without a value.

use core::marker::PhantomData;

use serde_json::value::RawValue;

use super::{ANY, by_serde, strict};
use crate::schema::{Kind, Schema, StrictSchema};

strict! {
    Kind::Any => serde_json::Value, Box<RawValue>;
    Kind::Map(ANY) => serde_json::Map<String, serde_json::Value>;
    Kind::Null => ();
}

/// serde reads `PhantomData` from null.
impl<T: ?Sized> StrictSchema for PhantomData<T> {
    const SCHEMA: &'static Schema = &Schema::new(Kind::Null);
}

by_serde!(serde_json::Value, Box<RawValue>, serde_json::Map<String, serde_json::Value>);
