//! Selection of the trait that reads a type or a field: its derived `Decode` or `serde::Deserialize`.

use std::fmt::Display;
use std::marker::PhantomData;

use serde::de::DeserializeOwned;

use super::super::decode::{Decoder, decode_with};
use super::{Decode, Field, Node, Reader, Unfit};

/// A type with a `Deserialize` impl. This bound has no lifetime, so that the macros can write `for<'a>` before it.
pub trait Owned: DeserializeOwned {}

impl<T: DeserializeOwned> Owned for T {}

/// Returns the way to read a field's type: 0 for its [`Decode`], 1 for its `Deserialize`, and 2 for a type with neither [`Decode`] nor a schema, for
/// which a different check reports the error.
///
/// `decodes` is the type's [`Decode::ASKS`], or `None` for a type without [`Decode`].
pub const fn how(decodes: Option<bool>, has_serde: bool, has_schema: bool) -> u8 {
    match (decodes, has_serde, has_schema) {
        (Some(true), true, _) | (None, _, true) => 1,
        (Some(_), _, _) => 0,
        (None, _, false) => 2,
    }
}

/// Reads a field's type in the way that [`how`] returned.
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
    /// Reads a value with the function of `#[serde(deserialize_with = "…")]`.
    ///
    /// # Errors
    ///
    /// Fails if the value does not match its node, or the function refuses it.
    pub fn with<T>(
        &mut self,
        node: Node<'_>,
        read: impl FnOnce(&mut Decoder<'_>) -> Result<T, serde_json::Error>,
    ) -> Result<T, Unfit> {
        self.guarded(node, |text| decode_with(text, read))
    }

    /// Reads a value of the type in `#[serde(try_from = "…")]` and converts it.
    ///
    /// # Errors
    ///
    /// Fails if the value does not match its node, or the conversion refuses it.
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

    /// Reads the contents of a newtype.
    ///
    /// # Errors
    ///
    /// Fails if the value does not match its node.
    pub fn inner<F: Field>(&mut self, node: Node<'_>) -> Result<F::Value, Unfit> {
        F::read(self, node)
    }

    /// Fails for a type that cannot be read.
    ///
    /// # Errors
    ///
    /// Always fails.
    pub fn none<T>(&mut self) -> Result<T, Unfit> {
        Err(Unfit(()))
    }
}
