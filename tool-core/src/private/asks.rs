//! Trait bounds that generated code requires of the user's types, so that a missing trait is reported once, at the type.
//!
//! Exactly one place requires each bound. All other code that depends on the bound names the type through one of the structs here. If the bound
//! holds, the inherent items of the struct apply; otherwise the items of a fallback trait, which have no bound. rustc does not merge equal errors of
//! different items when it compiles incrementally, so a bound that is required twice is reported twice.
//!
//! This works only for concrete types, as in the expansion of a macro.

use std::marker::PhantomData;

use futures::Stream;
use serde::de::DeserializeOwned;
use tool_schema::__private0::REPORTED;

use crate::args::read::{Decode, Field, Node, Parts, Reader, Unfit, Via};
use crate::context::{FromContext, FromSecret, FromVariable};
use crate::effect::Effect;
use crate::error::ToolError;
use crate::output::{IntoOutput, Returned};
use crate::schema::{Schema, StrictSchema};
use crate::stream::{Item, ToolStream};
use crate::tool::{Entry, Job, NotBegun, Start, Ticket, Tool, start};

/// The type itself, as a projection. In an error, rustc underlines all tokens of a projection, but only one token of a plain type.
pub trait Same {
    /// Always the type `Self` itself.
    type Type: ?Sized;
}

impl<T: ?Sized> Same for T {
    type Type = T;
}

/// `<NodeOf<T>>::NODE`: the schema of a type.
pub struct NodeOf<T: ?Sized>(PhantomData<T>);

impl<T: StrictSchema + ?Sized> NodeOf<T> {
    /// The schema of the type.
    pub const NODE: &'static Schema = T::SCHEMA;
    /// Whether the type has a schema.
    pub const IS: bool = true;
}

/// Fallback for a type without a schema.
pub trait NoNode {
    /// A schema that passes every check, because the missing one is reported elsewhere.
    const NODE: &'static Schema;
    /// Whether the type has a schema.
    const IS: bool = false;
}

impl<T: ?Sized> NoNode for NodeOf<T> {
    const NODE: &'static Schema = REPORTED;
}

/// A type that can be deserialized from a model's arguments. `Via` selects the deserializer.
#[diagnostic::on_unimplemented(
    message = "a model cannot fill in `{Self}`: it cannot be read from JSON",
    label = "cannot be read from JSON",
    note = "for a type of your own: `#[derive(StrictSchema)]`, or `serde::Deserialize` next to a schema that is written by hand",
    note = "where `{Self}` derives `StrictSchema`, the type of one of its fields cannot be read from JSON"
)]
pub trait Readable<Via> {}

#[diagnostic::do_not_recommend]
impl<T> Readable<Via<0, T>> for T {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned> Readable<Via<1, T>> for T {}

#[diagnostic::do_not_recommend]
impl<T> Readable<Via<2, T>> for T {}

/// Requires that an argument can be deserialized. No other place requires it.
pub fn can_read<T: Readable<Via>, Via>() {}

/// `PartsOf::<P>::read`: reads the arguments of a tool.
pub struct PartsOf<P>(PhantomData<fn() -> P>);

impl<P: Parts> PartsOf<P> {
    /// Reads the arguments of a call.
    #[inline]
    pub fn read(reader: &mut Reader<'_>, node: Node<'_>) -> Result<P::Values, Unfit> {
        reader.fields::<P>(node, true)
    }
}

/// Fallback for a tool with an argument that cannot be deserialized.
pub trait NoParts {
    /// Never called, because such a tool does not compile.
    fn read<T>(reader: &mut Reader<'_>, _: Node<'_>) -> Result<T, Unfit> {
        reader.none()
    }
}

impl<P> NoParts for PartsOf<P> {}

/// `FieldOf::<F>::read`: reads the only argument of a tool with `#[args]`.
pub struct FieldOf<F>(PhantomData<fn() -> F>);

impl<F: Field> FieldOf<F> {
    /// Reads the only argument of a call.
    #[inline]
    pub fn read(reader: &mut Reader<'_>, node: Node<'_>) -> Result<F::Value, Unfit> {
        F::read(reader, node)
    }
}

/// Fallback for an argument that cannot be deserialized.
pub trait NoField {
    /// Never called, because such a tool does not compile.
    fn read<T>(reader: &mut Reader<'_>, _: Node<'_>) -> Result<T, Unfit> {
        reader.none()
    }
}

impl<F> NoField for FieldOf<F> {}

/// `DecodeOf::<T>::ASKS`: [`Decode::ASKS`], or `None` for a type without [`Decode`]. `ASKS` is true if generated code still has to require `Deserialize`,
/// because the type contains a generic type.
pub struct DecodeOf<T>(PhantomData<fn() -> T>);

impl<T: Decode> DecodeOf<T> {
    /// The constant `ASKS` of the type's [`Decode`].
    pub const ASKS: Option<bool> = Some(T::ASKS);

    /// Reads a value of the type.
    pub fn decode(reader: &mut Reader<'_>, node: Node<'_>) -> Result<T, Unfit> {
        T::decode(reader, node)
    }
}

/// `SerdeOf::<T>::READ`: reads a type that has `Deserialize`.
pub struct SerdeOf<T>(PhantomData<fn() -> T>);

/// A fn that reads a value.
pub type Read<T> = fn(&mut Reader<'_>, Node<'_>) -> Result<T, Unfit>;

impl<T: DeserializeOwned> SerdeOf<T> {
    /// Whether the type has `Deserialize`.
    pub const IS: bool = true;
    /// Reads with the type's `Deserialize`, after the guard has admitted the value.
    pub const READ: Option<Read<T>> = Some(|reader, node| Reader::by_serde(reader, node));
}

/// Fallback for a type without `Deserialize`.
pub trait NoSerde<T> {
    /// Whether the type has `Deserialize`.
    const IS: bool = false;
    /// `None`, because the type has no `Deserialize`.
    const READ: Option<Read<T>> = None;
}

impl<T> NoSerde<T> for SerdeOf<T> {}

/// Fallback for a type without [`Decode`].
pub trait NoDecode<T> {
    /// `None`, because the type has no [`Decode`].
    const ASKS: Option<bool> = None;

    /// Never called, because such a type does not compile.
    fn decode(reader: &mut Reader<'_>, _: Node<'_>) -> Result<T, Unfit> {
        reader.none()
    }
}

impl<T> NoDecode<T> for DecodeOf<T> {}

/// A type whose values may be passed to another thread.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be sent to another thread, where a tool may run",
    label = "not `Send`",
    note = "take a type that is `Send`: `String` or `Arc<str>` instead of `Rc<str>`, `Arc<T>` instead of `Rc<T>`, `Box<dyn Trait + Send>` instead of `Box<dyn Trait>`"
)]
pub trait Sent {}

#[diagnostic::do_not_recommend]
impl<T: Send> Sent for T {}

/// `SentOf::<T>::ask`: requires that an argument can be sent to another thread, if its type has a schema. A missing schema is reported elsewhere.
pub struct SentOf<T>(PhantomData<fn() -> T>);

impl<T: StrictSchema> SentOf<T> {
    /// Requires that the type is `Send`.
    pub fn ask()
    where
        T: Sent,
    {
    }
}

/// Fallback for a type without a schema.
pub trait NotAsked {
    /// Does nothing, and has no bound on the type.
    fn ask();
}

impl<T> NotAsked for SentOf<T> {
    fn ask() {}
}

/// `StartOf::<T>::START`: the fn that starts a tool.
pub struct StartOf<T>(PhantomData<fn() -> T>);

impl<T: Tool + Decode> StartOf<T> {
    /// Deserializes the arguments and runs the tool.
    pub const START: Start = start::<T>;
}

/// Fallback for a tool that fails a check of the macro.
pub trait NoStart {
    /// Never used, because such a tool does not compile.
    const START: Start;
}

impl<T> NoStart for StartOf<T> {
    const START: Start = not_started;
}

/// Never called, because a tool that fails a check of the macro does not compile.
pub(crate) fn not_started(_: &mut dyn Entry, _: Ticket) -> Result<Job, NotBegun> {
    unreachable!("a tool that fails a check does not compile")
}

/// `HostOf::<T>::EFFECT`: the effect of a host value.
pub struct HostOf<T>(PhantomData<fn() -> T>);

impl<T: FromContext> HostOf<T> {
    /// The effect of the host value.
    pub const EFFECT: Effect = T::EFFECT;
    /// Whether the value has effects only through calls of other tools, each of which passes the gate.
    pub const ONLY_CALLS: bool = T::ONLY_CALLS;
}

/// Fallback for a type that is not a host value.
pub trait NoHost {
    /// No effect, because the type is reported elsewhere.
    const EFFECT: Effect = Effect::NONE;
    /// False, because the type is reported elsewhere.
    const ONLY_CALLS: bool = false;
}

impl<T> NoHost for HostOf<T> {}

/// `SecretOf::<T>::OPTIONAL`: whether a tool can work without a secret.
pub struct SecretOf<T>(PhantomData<fn() -> T>);

impl<T: FromSecret> SecretOf<T> {
    /// Whether the type can hold a missing secret.
    pub const OPTIONAL: bool = T::OPTIONAL;
}

/// Fallback for a type that cannot hold a secret.
pub trait NoSecret {
    /// False, because the type is reported elsewhere.
    const OPTIONAL: bool = false;
}

impl<T> NoSecret for SecretOf<T> {}

/// `VariableOf::<T>::OPTIONAL`: whether a tool can work without a variable.
pub struct VariableOf<T>(PhantomData<fn() -> T>);

impl<T: FromVariable> VariableOf<T> {
    /// Whether the type can hold a missing variable.
    pub const OPTIONAL: bool = T::OPTIONAL;
}

/// Fallback for a type that cannot hold a variable.
pub trait NoVariable {
    /// False, because the type is reported elsewhere.
    const OPTIONAL: bool = false;
}

impl<T> NoVariable for VariableOf<T> {}

/// The payload of a tool, derived from the return type of its fn.
pub trait Returns {
    /// The type of the payload.
    type Output: serde::Serialize + Send + 'static;
}

/// `<Picked<{ ReturnOf::<T>::IS }, T> as Pick>::Value`: the payload of a return type, and `()` if a tool cannot return it. rustc would report a
/// failing projection at every place that names it.
pub struct Picked<const IS: bool, T>(PhantomData<fn() -> T>);

/// Selects the payload type for [`Picked`].
pub trait Pick {
    /// The type of the payload.
    type Value: serde::Serialize + Send + 'static;
}

impl<T: IntoOutput> Pick for Picked<true, T> {
    type Value = T::Value;
}

impl<T> Pick for Picked<false, T> {
    type Value = ();
}

/// A type on which `derive(ToolError)` is allowed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` derives `ToolError` and is not a `std::error::Error`",
    label = "not a `std::error::Error`",
    note = "derive `thiserror::Error` too: `#[derive(Debug, thiserror::Error, ToolError)]`, with `#[error(\"…\")]` above each variant",
    note = "or implement `std::fmt::Display` and `std::error::Error` by hand"
)]
pub trait IsError {}

#[diagnostic::do_not_recommend]
impl<T: std::error::Error + 'static> IsError for T {}

/// Requires that a type is an error. No other place requires it.
pub fn is_error<T: IsError>() {}

/// `ErrorOf::<T>::of(error)`: downcasts an error to this type.
pub struct ErrorOf<T>(PhantomData<fn() -> T>);

impl<T: std::error::Error + 'static> ErrorOf<T> {
    /// Returns the error if it is of this type.
    pub fn of<'a>(error: &'a (dyn std::error::Error + 'static)) -> Option<&'a T> {
        error.downcast_ref()
    }
}

/// Fallback for a type that is not an error.
pub trait NotAnError<T> {
    /// Never called, because such a type does not compile.
    fn of<'a>(error: &'a (dyn std::error::Error + 'static)) -> Option<&'a T>;
}

impl<T> NotAnError<T> for ErrorOf<T> {
    fn of<'a>(_: &'a (dyn std::error::Error + 'static)) -> Option<&'a T> {
        None
    }
}

/// Requires that a tool can return a type. No other place requires it.
pub fn can_return<T: IntoOutput>() {}

/// `ReturnOf::<T>::into_returned(value)`: converts the return value of a fn.
pub struct ReturnOf<T>(PhantomData<fn() -> T>);

impl<T: IntoOutput> ReturnOf<T> {
    /// Whether a tool can return the type.
    pub const IS: bool = true;

    /// Returns the output, or the stream that ends with it.
    pub fn into_returned(value: T) -> Result<Returned<T::Value>, ToolError> {
        value.into_returned()
    }
}

/// Fallback for a type that a tool cannot return.
pub trait NoReturn<T> {
    /// Whether a tool can return the type.
    const IS: bool = false;

    /// Never called, because such a tool does not compile.
    fn into_returned<V>(value: T) -> Result<Returned<V>, ToolError>;
}

impl<T> NoReturn<T> for ReturnOf<T> {
    fn into_returned<V>(_: T) -> Result<Returned<V>, ToolError> {
        unreachable!("a tool that fails a check does not compile")
    }
}

/// Names [`StreamOf`] as a projection of the item, for the reason that [`Same`] explains.
pub trait Streamed {
    /// The type `StreamOf<Self>`, as a projection.
    type Type;
}

impl<T> Streamed for T {
    type Type = StreamOf<T>;
}

/// The return type of a fn that returns `impl Stream<Item = I>`, for [`Returns`].
pub struct StreamOf<I>(PhantomData<fn() -> I>);

impl<I: Item<Progress: 'static, Final: 'static>> IntoOutput for StreamOf<I>
where
    ToolStream<I::Progress, I::Final>: IntoOutput<Value = I::Final>,
    I::Final: serde::Serialize + Send,
{
    type Value = I::Final;

    fn into_returned(self) -> Result<Returned<I::Final>, ToolError> {
        unreachable!("`StreamOf` is only used as a type, and has no values")
    }
}

impl<I: Item<Progress: 'static, Final: 'static>> StreamOf<I>
where
    ToolStream<I::Progress, I::Final>: IntoOutput<Value = I::Final>,
{
    /// Converts the stream that a fn returned.
    pub fn into_returned<S>(stream: S) -> Result<Returned<I::Final>, ToolError>
    where
        S: Stream<Item = I> + Send + 'static,
    {
        ToolStream::of(stream).into_returned()
    }
}

/// Fallback for a type that is not an item of a streaming tool.
pub trait NoStream {
    /// Never called, because such a tool does not compile.
    fn into_returned<S, V>(stream: S) -> Result<Returned<V>, ToolError>;
}

impl<I> NoStream for StreamOf<I> {
    fn into_returned<S, V>(_: S) -> Result<Returned<V>, ToolError> {
        unreachable!("a tool that fails a check does not compile")
    }
}

/// The type of a parameter, in its own impl, so that rustc reports a private type in a public tool at the parameter.
pub trait Param<const NUMBER: usize> {
    /// The type of the parameter.
    type Type;
}
