//! Detection of traits by method resolution: the inherent method applies if its bound is satisfied, else the method of a fallback trait.
//!
//! This works only for concrete types, as in the expansion of a macro: `{ use probe::*; OutputSchema::<Hits>::NEW.get() }`.

use std::borrow::Cow;
use std::marker::PhantomData;

use serde::Serialize;

use crate::output::{ModelOutput, ToModelOutput, is_media};
use crate::schema::dialect::output_schema_text;
use crate::schema::{Schema, StrictSchema};

/// `OutputSchema::<T>::NEW.get()`: the schema from `StrictSchema`, else from `JsonSchema`, else none.
pub struct OutputSchema<T: ?Sized>(PhantomData<T>);

impl<T: ?Sized> OutputSchema<T> {
    /// The value whose `get` is called.
    pub const NEW: Self = Self(PhantomData);
}

impl<T: StrictSchema + ?Sized> OutputSchema<T> {
    /// Returns the schema; `None` for types that contain images, audio or files, because a schema cannot describe these.
    pub fn get(self) -> Option<Cow<'static, str>> {
        (!is_media(T::SCHEMA)).then(|| Cow::Owned(output_schema_text(T::SCHEMA)))
    }
}

/// Fallback for a type with `JsonSchema`.
pub trait ByJsonSchema {
    /// Returns the schema that schemars generates.
    fn get(self) -> Option<Cow<'static, str>>;
}

impl<T: schemars::JsonSchema + ?Sized> ByJsonSchema for OutputSchema<T> {
    fn get(self) -> Option<Cow<'static, str>> {
        let schema = schemars::generate::SchemaSettings::draft2020_12()
            .for_serialize()
            .into_generator()
            .into_root_schema_for::<T>();
        serde_json::to_string(&schema).ok().map(Cow::Owned)
    }
}

/// Fallback for a type without a schema.
pub trait BySilence {
    /// Returns `None`, because the type has no schema.
    fn get(self) -> Option<Cow<'static, str>>;
}

impl<T: ?Sized> BySilence for &OutputSchema<T> {
    fn get(self) -> Option<Cow<'static, str>> {
        None
    }
}

/// `<TypeSchema<T>>::SCHEMA`: the constant schema from `StrictSchema`, else none.
pub struct TypeSchema<T: ?Sized>(PhantomData<T>);

impl<T: StrictSchema + ?Sized> TypeSchema<T> {
    /// The strict schema of the type.
    pub const SCHEMA: Option<&'static Schema> = Some(T::SCHEMA);
}

/// Fallback for a type without a strict schema.
pub trait NoTypeSchema {
    /// `None`, because the type has no strict schema.
    const SCHEMA: Option<&'static Schema> = None;
}

impl<T: ?Sized> NoTypeSchema for T {}

/// `<Serde<T>>::READ` and `<Serde<T>>::WRITTEN`: whether a type has serde's traits. Models do not fill in a type that only has `Serialize`.
pub struct Serde<T: ?Sized>(PhantomData<T>);

impl<T: Serialize> Serde<T> {
    /// The type has `Serialize`.
    pub const WRITTEN: bool = true;
}

impl<T: serde::de::DeserializeOwned> Serde<T> {
    /// The type has `Deserialize`.
    pub const READ: bool = true;
}

/// Fallback for a type without the traits.
pub trait NotSerde {
    /// The type has no `Serialize`.
    const WRITTEN: bool = false;
    /// The type has no `Deserialize`.
    const READ: bool = false;
}

impl<T: ?Sized> NotSerde for T {}

/// `ModelView(&output).get()`: the model output from `ToModelOutput`, else none.
pub struct ModelView<'a, T: ?Sized>(pub &'a T);

impl<T: ToModelOutput + ?Sized> ModelView<'_, T> {
    /// Returns the output that the model reads.
    pub fn get(&self) -> Option<ModelOutput> {
        Some(self.0.to_model_output())
    }
}

/// Fallback for a type without `ToModelOutput`.
pub trait WholeView {
    /// Returns `None`, so that the model reads the payload.
    fn get(&self) -> Option<ModelOutput>;
}

impl<T: ?Sized> WholeView for ModelView<'_, T> {
    fn get(&self) -> Option<ModelOutput> {
        None
    }
}

/// `Arguments(&input).get()`: the JSON text of a typed call, if its input has `Serialize`.
pub struct Arguments<'a, T: ?Sized>(pub &'a T);

impl<T: Serialize + ?Sized> Arguments<'_, T> {
    /// Returns the JSON text of the input.
    pub fn get(&self) -> Option<String> {
        serde_json::to_string(self.0).ok()
    }
}

/// Fallback for a type without `Serialize`.
pub trait Unwritten {
    /// Returns `None`, because the type has no `Serialize`.
    fn get(&self) -> Option<String>;
}

impl<T: ?Sized> Unwritten for Arguments<'_, T> {
    fn get(&self) -> Option<String> {
        None
    }
}

/// Deserializes a stored output if its type has `Deserialize`.
pub struct StoredOutput<T>(PhantomData<fn() -> T>);

impl<T> StoredOutput<T> {
    /// The value, which has no data: only its type is used.
    pub const NEW: Self = Self(PhantomData);
}

impl<T: serde::de::DeserializeOwned> StoredOutput<T> {
    /// Deserializes the output from its stored JSON text.
    pub fn read(&self, text: &str) -> Option<serde_json::Result<T>> {
        Some(serde_json::from_str(text))
    }
}

/// Fallback for a type without `Deserialize`.
pub trait Unread<T> {
    /// Returns `None`, because the type has no `Deserialize`.
    fn read(&self, text: &str) -> Option<serde_json::Result<T>>;
}

impl<T> Unread<T> for StoredOutput<T> {
    fn read(&self, _: &str) -> Option<serde_json::Result<T>> {
        None
    }
}
