//! How a type or a field is read: by what the derive wrote, or by `serde::Deserialize`.

use std::fmt::Display;
use std::marker::PhantomData;

use serde::de::DeserializeOwned;

use super::super::decode::{Decoder, decode_with};
use super::{Decode, Field, Node, Reader, Unfit};

/// A type with a `Deserialize`, as a bound without a lifetime, so that the macros can write `for<'a>` before it.
pub trait Owned: DeserializeOwned {}

impl<T: DeserializeOwned> Owned for T {}

/// What reads the type of a field: 0 for its [`Decode`], 1 for its `Deserialize`, 2 for a type that is reported for its lack of a schema.
///
/// `decodes` says whether it has a [`Decode`], and whether that asks for the `Deserialize` that the type may have.
pub const fn how(decodes: Option<bool>, has_serde: bool, has_schema: bool) -> u8 {
    match (decodes, has_serde, has_schema) {
        (Some(true), true, _) | (None, _, true) => 1,
        (Some(_), _, _) => 0,
        (None, _, false) => 2,
    }
}

/// A field of a type, see [`how`].
#[derive(Debug)]
pub struct Via<const HOW: u8, T>(PhantomData<fn() -> T>);

impl<T: Decode> Field for Via<0, T> {
    type Value = T;

    #[inline]
    fn read(reader: &mut Reader<'_>, node: Node<'_>) -> Result<T, Unfit> {
        T::decode(reader, node)
    }
}

impl<T: DeserializeOwned> Field for Via<1, T> {
    type Value = T;

    fn read(reader: &mut Reader<'_>, node: Node<'_>) -> Result<T, Unfit> {
        reader.by_serde(node)
    }
}

impl<T> Field for Via<2, T> {
    type Value = T;

    fn read(_: &mut Reader<'_>, _: Node<'_>) -> Result<T, Unfit> {
        Err(Unfit(()))
    }
}

impl Reader<'_> {
    /// Reads a value by `#[serde(deserialize_with = "…")]`.
    ///
    /// # Errors
    ///
    /// Where the value does not fit, or the function refuses it.
    pub fn with<T>(
        &mut self,
        node: Node<'_>,
        read: impl FnOnce(&mut Decoder<'_>) -> Result<T, serde_json::Error>,
    ) -> Result<T, Unfit> {
        self.guarded(node, |text| decode_with(text, read))
    }

    /// Reads a value by `#[serde(try_from = "…")]`: as another type, which is converted.
    ///
    /// # Errors
    ///
    /// Where the value does not fit, or the conversion refuses it.
    pub fn converted<F: Field, T, E: Display>(
        &mut self,
        node: Node<'_>,
        convert: impl FnOnce(F::Value) -> Result<T, E>,
    ) -> Result<T, Unfit> {
        let start = self.walk.cursor.at;
        let value = F::read(self, node)?;
        convert(value).map_err(|error| {
            let text = self.walk.cursor.slice(start, self.walk.cursor.at);
            self.refuse_text(text, &error)
        })
    }

    /// Reads what a newtype holds.
    ///
    /// # Errors
    ///
    /// Where it does not fit.
    pub fn inner<F: Field>(&mut self, node: Node<'_>) -> Result<F::Value, Unfit> {
        F::read(self, node)
    }

    /// Ends the reading of a value that nothing reads.
    ///
    /// # Errors
    ///
    /// Always.
    pub fn none<T>(&mut self) -> Result<T, Unfit> {
        Err(Unfit(()))
    }
}
