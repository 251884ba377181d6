//! Deserialization of `RawValue` by the internal protocol of `serde_json`: a map with one entry, whose key is a token and whose value is the text.

use serde::Deserialize;
use serde::de::value::{BorrowedStrDeserializer, StrDeserializer, StringDeserializer};
use serde::de::{DeserializeSeed, Deserializer, Error as _, IntoDeserializer, MapAccess, Visitor};
use serde_json::Error;
use serde_json::value::RawValue;

pub(super) const TOKEN: &str = "$serde_json::private::RawValue";

/// Wraps text that is known to be valid JSON as a `RawValue`, without parsing it again.
///
/// `to_raw_value` would write into a separate buffer, and `RawValue::from_string` would parse the complete text.
pub fn raw_value(text: String) -> Result<Box<RawValue>, Error> {
    Deserialize::deserialize(Owned(text))
}

/// A map whose single value is the text of a `RawValue`.
pub(super) struct Raw<D>(Option<D>);

impl<'de> Raw<BorrowedStrDeserializer<'de, Error>> {
    pub(super) fn new(text: &'de str) -> Self {
        Self(Some(BorrowedStrDeserializer::new(text)))
    }
}

impl<'de, D: Deserializer<'de, Error = Error>> MapAccess<'de> for Raw<D> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        if self.0.is_none() {
            return Ok(None);
        }
        let token: StrDeserializer<'_, Error> = TOKEN.into_deserializer();
        seed.deserialize(token).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        match self.0.take() {
            Some(text) => seed.deserialize(text),
            None => Err(Error::custom("a raw value has one text")),
        }
    }
}

/// Deserializer that passes its complete text as a `RawValue`.
struct Owned(String);

impl<'de> Deserializer<'de> for Owned {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let text: StringDeserializer<Error> = self.0.into_deserializer();
        visitor.visit_map(Raw(Some(text)))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct newtype_struct
        seq tuple tuple_struct map struct enum identifier ignored_any
    }
}
