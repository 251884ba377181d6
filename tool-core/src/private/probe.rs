//! What a type can do, asked of the type: the inherent method applies where its bound holds, else the method of a trait does.
//!
//! Only for concrete types, as in the expansion of a macro: `{ use probe::*; OutputSchema::<Hits>::NEW.get() }`.

use std::borrow::Cow;
use std::marker::PhantomData;

use serde::Serialize;

use crate::output::{ModelOutput, ToModelOutput, is_media};
use crate::schema::dialect::output_schema_text;
use crate::schema::{Schema, StrictSchema};

/// `OutputSchema::<T>::NEW.get()`: from `StrictSchema`, else from `JsonSchema`, else none.
pub struct OutputSchema<T: ?Sized>(PhantomData<T>);

impl<T: ?Sized> OutputSchema<T> {
    /// The question.
    pub const NEW: Self = Self(PhantomData);
}

impl<T: StrictSchema + ?Sized> OutputSchema<T> {
    /// Its schema; none for images, audio and files, which the model sees and no schema describes.
    pub fn get(self) -> Option<Cow<'static, str>> {
        (!is_media(T::SCHEMA)).then(|| Cow::Owned(output_schema_text(T::SCHEMA)))
    }
}

/// The answer of schemars.
pub trait ByJsonSchema {
    /// Its schema.
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

/// The answer of a type without a schema.
pub trait BySilence {
    /// No schema.
    fn get(self) -> Option<Cow<'static, str>>;
}

impl<T: ?Sized> BySilence for &OutputSchema<T> {
    fn get(self) -> Option<Cow<'static, str>> {
        None
    }
}

/// `<TypeSchema<T>>::SCHEMA`, a constant: from `StrictSchema`, else none.
pub struct TypeSchema<T: ?Sized>(PhantomData<T>);

impl<T: StrictSchema + ?Sized> TypeSchema<T> {
    /// Its schema.
    pub const SCHEMA: Option<&'static Schema> = Some(T::SCHEMA);
}

/// The answer of a type without a strict schema.
pub trait NoTypeSchema {
    /// None.
    const SCHEMA: Option<&'static Schema> = None;
}

impl<T: ?Sized> NoTypeSchema for T {}

/// `<Serde<T>>::READ` and `<Serde<T>>::WRITTEN`, constants: what is written and never read, no model fills in.
pub struct Serde<T: ?Sized>(PhantomData<T>);

impl<T: Serialize> Serde<T> {
    /// It is written.
    pub const WRITTEN: bool = true;
}

impl<T: serde::de::DeserializeOwned> Serde<T> {
    /// It is read.
    pub const READ: bool = true;
}

/// The answers of a type without the traits.
pub trait NotSerde {
    /// It is not written.
    const WRITTEN: bool = false;
    /// It is not read.
    const READ: bool = false;
}

impl<T: ?Sized> NotSerde for T {}

/// `ModelView(&output).get()`: from `ToModelOutput`, else none.
pub struct ModelView<'a, T: ?Sized>(pub &'a T);

impl<T: ToModelOutput + ?Sized> ModelView<'_, T> {
    /// What the model reads.
    pub fn get(&self) -> Option<ModelOutput> {
        Some(self.0.to_model_output())
    }
}

/// The answer of a type that does not say what the model reads.
pub trait WholeView {
    /// No view.
    fn get(&self) -> Option<ModelOutput>;
}

impl<T: ?Sized> WholeView for ModelView<'_, T> {
    fn get(&self) -> Option<ModelOutput> {
        None
    }
}

/// `Arguments(&input).get()`: JSON text of a typed call, where it can be written.
pub struct Arguments<'a, T: ?Sized>(pub &'a T);

impl<T: Serialize + ?Sized> Arguments<'_, T> {
    /// The text.
    pub fn get(&self) -> Option<String> {
        serde_json::to_string(self.0).ok()
    }
}

/// The answer of a type that cannot be written.
pub trait Unwritten {
    /// No text.
    fn get(&self) -> Option<String>;
}

impl<T: ?Sized> Unwritten for Arguments<'_, T> {
    fn get(&self) -> Option<String> {
        None
    }
}

/// Reads a stored output: by `Deserialize` where the type has it, else not at all.
pub struct StoredOutput<T>(PhantomData<fn() -> T>);

impl<T> StoredOutput<T> {
    pub const NEW: Self = Self(PhantomData);
}

impl<T: serde::de::DeserializeOwned> StoredOutput<T> {
    /// Reads it.
    pub fn read(&self, text: &str) -> Option<serde_json::Result<T>> {
        Some(serde_json::from_str(text))
    }
}

/// The output's type cannot be read.
pub trait Unread<T> {
    /// No value.
    fn read(&self, text: &str) -> Option<serde_json::Result<T>>;
}

impl<T> Unread<T> for StoredOutput<T> {
    fn read(&self, _: &str) -> Option<serde_json::Result<T>> {
        None
    }
}
