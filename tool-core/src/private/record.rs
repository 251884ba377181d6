//! Typed arguments, read by generic code: what a derive would write out for every struct stands here once.

use core::fmt;
use core::marker::PhantomData;

use serde::de::value::Error as ValueError;
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, Error, MapAccess, Visitor};

use super::list::List;

/// A place for one argument, and how to fill it.
pub struct Slot<'de, T, A: MapAccess<'de>> {
    value: Option<T>,
    read: fn(&mut A) -> Result<T, A::Error>,
    missing: fn(&'static str) -> Result<T, A::Error>,
    from: PhantomData<&'de ()>,
}

impl<'de, T, A: MapAccess<'de>> Slot<'de, T, A> {
    /// The slot of a type that cannot be read.
    pub(super) fn unread() -> Self {
        Self {
            value: None,
            read: |_| Err(A::Error::custom("the type has no strict schema")),
            missing: |_| Err(A::Error::custom("the type has no strict schema")),
            from: PhantomData,
        }
    }
}

/// The slot of a type that need not have a schema of its own (`as = Type`).
pub fn slot<'de, T: DeserializeOwned, A: MapAccess<'de>>() -> Slot<'de, T, A> {
    Slot {
        value: None,
        read: A::next_value::<T>,
        missing: missing::<T, A::Error>,
        from: PhantomData,
    }
}

/// `(Slot<A>, (Slot<B>, ()))`
pub trait Slots<'de, A: MapAccess<'de>> {
    /// `(A, (B, ()))`
    type Values;

    /// Reads the value of the key with this number.
    fn fill(
        &mut self,
        number: usize,
        keys: &'static [&'static str],
        map: &mut A,
    ) -> Result<(), A::Error>;

    /// The values, or which is missing.
    fn finish(self, keys: &'static [&'static str]) -> Result<Self::Values, A::Error>;
}

impl<'de, A: MapAccess<'de>> Slots<'de, A> for () {
    type Values = ();

    fn fill(&mut self, _: usize, _: &'static [&'static str], _: &mut A) -> Result<(), A::Error> {
        Ok(())
    }

    fn finish(self, _: &'static [&'static str]) -> Result<(), A::Error> {
        Ok(())
    }
}

impl<'de, A: MapAccess<'de>, T, R: Slots<'de, A>> Slots<'de, A> for (Slot<'de, T, A>, R) {
    type Values = (T, R::Values);

    fn fill(
        &mut self,
        number: usize,
        keys: &'static [&'static str],
        map: &mut A,
    ) -> Result<(), A::Error> {
        let [key, rest @ ..] = keys else {
            return Ok(());
        };
        if number > 0 {
            return self.1.fill(number - 1, rest, map);
        }
        if self.0.value.is_some() {
            return Err(A::Error::duplicate_field(key));
        }
        self.0.value = Some((self.0.read)(map)?);
        Ok(())
    }

    fn finish(self, keys: &'static [&'static str]) -> Result<Self::Values, A::Error> {
        let (key, rest) = keys
            .split_first()
            .map_or(("", keys), |(key, rest)| (*key, rest));
        let value = match self.0.value {
            Some(value) => value,
            None => (self.0.missing)(key)?,
        };
        Ok((value, self.1.finish(rest)?))
    }
}

/// A struct of arguments, as a list of its fields. What it can do follows from what the list can do: one bound and one line for
/// each trait, where a derive would write out every field again.
pub trait Record: Sized {
    /// The struct's name.
    const NAME: &'static str;
    /// Keys on the wire, in order.
    const KEYS: &'static [&'static str];
    /// Names of the fields, in order.
    const FIELDS: &'static [&'static str] = Self::KEYS;
    /// `(A, (B, ()))`
    type List: List;

    /// The fields.
    fn refs(&self) -> <Self::List as List>::Refs<'_>;

    /// From its fields.
    fn build(list: Self::List) -> Self;
}

/// A [`Record`] that can be read. The types are asked one by one, so that a fault is told at its type.
pub trait ReadRecord: Record {
    /// Reads the fields out of a map.
    fn read<'de, A: MapAccess<'de>>(map: A) -> Result<Self::List, A::Error>;
}

/// Reads all keys of a map into their slots.
pub fn read_record<'de, A: MapAccess<'de>, S: Slots<'de, A>>(
    mut map: A,
    keys: &'static [&'static str],
    mut slots: S,
) -> Result<S::Values, A::Error> {
    while let Some(number) = map.next_key_seed(Keys(keys))? {
        slots.fill(number, keys, &mut map)?;
    }
    slots.finish(keys)
}

/// `Deserialize` for a [`Record`].
pub fn deserialize_record<'de, T: ReadRecord, D: Deserializer<'de>>(
    from: D,
) -> Result<T, D::Error> {
    from.deserialize_map(RecordVisitor(PhantomData))
}

struct RecordVisitor<T>(PhantomData<T>);

impl<'de, T: ReadRecord> Visitor<'de> for RecordVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with the arguments")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::read(map).map(T::build)
    }
}

/// Reads a key as its number.
#[derive(Clone, Copy)]
struct Keys(&'static [&'static str]);

impl<'de> DeserializeSeed<'de> for Keys {
    type Value = usize;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<usize, D::Error> {
        from.deserialize_identifier(self)
    }
}

impl Visitor<'_> for Keys {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of an argument")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<usize, E> {
        let number = self.0.iter().position(|known| *known == key);
        number.ok_or_else(|| E::unknown_field(key, self.0))
    }
}

/// What stands for an absent key: `None` for options of every kind, an error for all else. The type decides, as it does in
/// serde's own derive.
fn missing<T: DeserializeOwned, E: Error>(key: &'static str) -> Result<T, E> {
    T::deserialize(Missing).map_err(|_: ValueError| E::missing_field(key))
}

struct Missing;

impl<'de> Deserializer<'de> for Missing {
    type Error = ValueError;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, ValueError> {
        Err(ValueError::custom("missing"))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        visitor.visit_none()
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct newtype_struct seq tuple
        tuple_struct map struct enum identifier ignored_any
    }
}
