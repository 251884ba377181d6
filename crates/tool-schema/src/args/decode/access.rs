//! serde access to items, entries, keys and variants.

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error as _, MapAccess, SeqAccess, VariantAccess,
    Visitor,
};
use serde_json::Error;

use super::misread::Step;
use super::{Decoder, Str};

/// The items of a list.
pub(super) struct Items<'a, 'de> {
    pub(super) decoder: &'a mut Decoder<'de>,
    /// Whether the cursor is at an item, not at the closing bracket.
    pub(super) more: bool,
    /// The number of items before the cursor.
    pub(super) index: usize,
}

impl Items<'_, '_> {
    #[inline]
    pub(super) fn close(self) -> Result<(), Error> {
        if self.more {
            return Err(Error::custom("more items than the type has"));
        }
        self.decoder.cursor.close();
        Ok(())
    }
}

impl<'de> SeqAccess<'de> for &mut Items<'_, 'de> {
    type Error = Error;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        if !self.more {
            return Ok(None);
        }
        let at = self.decoder.cursor.at;
        let value = seed
            .deserialize(&mut *self.decoder)
            .inspect_err(|_| self.decoder.passed(at, Step::Item(self.index)))?;
        self.index += 1;
        self.more = self.decoder.another(b']')?;
        Ok(Some(value))
    }
}

/// The entries of an object.
pub(super) struct Entries<'a, 'de> {
    pub(super) decoder: &'a mut Decoder<'de>,
    /// Whether the cursor is at a key or its colon, not at the closing brace.
    pub(super) more: bool,
    /// Byte offset of the last key.
    pub(super) key: usize,
}

impl Entries<'_, '_> {
    #[inline]
    pub(super) fn close(self) -> Result<(), Error> {
        if self.more {
            return Err(Error::custom("more entries than the type has"));
        }
        self.decoder.cursor.close();
        Ok(())
    }
}

impl<'de> MapAccess<'de> for &mut Entries<'_, 'de> {
    type Error = Error;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        if !self.more {
            return Ok(None);
        }
        self.key = self.decoder.cursor.at;
        let key = Key {
            decoder: self.decoder,
        };
        seed.deserialize(key).map(Some)
    }

    #[inline]
    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        self.decoder.colon()?;
        let at = self.decoder.cursor.at;
        let value = seed
            .deserialize(&mut *self.decoder)
            .inspect_err(|_| self.decoder.passed(at, Step::Key(self.key)))?;
        self.more = self.decoder.another(b'}')?;
        Ok(value)
    }
}

impl Decoder<'_> {
    #[inline]
    fn key(&mut self) -> Result<Str, Error> {
        self.cursor.key().or_else(|_| self.fault())
    }

    #[inline]
    fn colon(&mut self) -> Result<(), Error> {
        match self.cursor.colon() {
            Ok(_) => Ok(()),
            Err(_) => self.fault(),
        }
    }
}

/// An object key: text that a type may also read as a number or a bool.
struct Key<'a, 'de> {
    decoder: &'a mut Decoder<'de>,
}

/// Generates the `deserialize_…` methods for number and bool keys, which read the contents of the quotes as a value.
macro_rules! between_quotes {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            let span = self.decoder.key()?;
            let mut inner = Decoder::new(self.decoder.inside(span));
            if inner.cursor.peek() <= b'"' {
                return Err(inner.mismatch(&visitor));
            }
            let value = inner.$method(visitor)?;
            inner.finish()?;
            Ok(value)
        }
    )*};
}

impl<'de> Deserializer<'de> for Key<'_, 'de> {
    type Error = Error;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let decoder = self.decoder;
        // The fast path: most keys have no escapes.
        if let Some(span) = decoder.cursor.plain() {
            return visitor.visit_borrowed_str(decoder.inside(span));
        }
        let span = decoder.key()?;
        decoder.text(span, visitor)
    }

    between_quotes! {
        deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128 deserialize_u8
        deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128 deserialize_f32 deserialize_f64
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_enum(Unit {
            decoder: self.decoder,
        })
    }

    serde::forward_to_deserialize_any! {
        char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

/// A variant without content, written as its name.
pub(super) struct Unit<'a, 'de> {
    pub(super) decoder: &'a mut Decoder<'de>,
}

impl<'de> EnumAccess<'de> for Unit<'_, 'de> {
    type Error = Error;
    type Variant = NoContent;

    fn variant_seed<V: DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, NoContent), Error> {
        let key = Key {
            decoder: self.decoder,
        };
        Ok((seed.deserialize(key)?, NoContent))
    }
}

/// The missing content of a variant that is written as its name.
pub(super) struct NoContent;

impl NoContent {
    fn refused<T>() -> Result<T, Error> {
        Err(Error::custom("the content of the variant is missing"))
    }
}

impl<'de> VariantAccess<'de> for NoContent {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, _: T) -> Result<T::Value, Error> {
        Self::refused()
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, Error> {
        Self::refused()
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Error> {
        Self::refused()
    }
}

/// A variant that is the only key of an object.
pub(super) struct Choice<'a, 'de> {
    pub(super) decoder: &'a mut Decoder<'de>,
    /// Byte offset of the key.
    pub(super) key: usize,
}

impl<'de> Choice<'_, 'de> {
    /// Reads the content of the variant. If that fails, records the path of the content.
    fn content<T>(
        self,
        read: impl FnOnce(&mut Decoder<'de>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let at = self.decoder.cursor.at;
        read(self.decoder).inspect_err(|_| self.decoder.passed(at, Step::Key(self.key)))
    }
}

impl<'de> EnumAccess<'de> for Choice<'_, 'de> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Error> {
        let key = Key {
            decoder: self.decoder,
        };
        let variant = seed.deserialize(key)?;
        self.decoder.colon()?;
        Ok((variant, self))
    }
}

impl<'de> VariantAccess<'de> for Choice<'_, 'de> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        self.content(|decoder| serde::Deserialize::deserialize(decoder))
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        self.content(|decoder| seed.deserialize(decoder))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.content(|decoder| decoder.deserialize_seq(visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.content(|decoder| decoder.deserialize_struct("", fields, visitor))
    }
}
