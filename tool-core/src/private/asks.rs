//! What generated code asks of the user's types, so that a type that lacks something is reported once, at the type.
//!
//! Every bound is asked for in exactly one place. All other code that needs it names the type through one of the structs here: their
//! inherent items apply where the bound holds, else those of a trait, which do not ask. rustc does not merge equal errors of
//! different items when it compiles incrementally, so asking twice is reporting twice.
//!
//! Only for concrete types, as in the expansion of a macro.

use std::marker::PhantomData;

use futures::Stream;
use serde::de::DeserializeOwned;

use crate::args::read::{Decode, Field, Node, Parts, Reader, Unfit, Via};
use crate::context::{FromContext, FromSecret, FromVariable};
use crate::effect::Effect;
use crate::error::ToolError;
use crate::output::{IntoOutput, Returned};
use crate::run::{Entry, NotBegun, Ticket, start};
use crate::schema::{Schema, StrictSchema};
use crate::stream::{Item, ToolStream};
use crate::tool::{Job, Start, Tool};

/// The type itself, as a projection: rustc underlines a projection as a whole where it would underline one token of a name.
pub trait Same {
    /// The type.
    type Type: ?Sized;
}

impl<T: ?Sized> Same for T {
    type Type = T;
}

/// `<NodeOf<T>>::NODE`: the schema of a type.
pub struct NodeOf<T: ?Sized>(PhantomData<T>);

impl<T: StrictSchema + ?Sized> NodeOf<T> {
    /// Its schema.
    pub const NODE: &'static Schema = T::SCHEMA;
    /// It has one.
    pub const IS: bool = true;
}

/// The answer of a type without a schema.
pub trait NoNode {
    /// A schema that every rule is silent about.
    const NODE: &'static Schema;
    /// It has none.
    const IS: bool = false;
}

impl<T: ?Sized> NoNode for NodeOf<T> {
    const NODE: &'static Schema = Schema::REPORTED;
}

/// A type that can be read from what a model sends, as `Via` says.
#[diagnostic::on_unimplemented(
    message = "a model cannot fill in `{Self}`: nothing reads it",
    label = "nothing reads it from JSON",
    note = "for a type of your own: `#[derive(StrictSchema)]`, or `serde::Deserialize` next to a schema that is written by hand",
    note = "where `{Self}` derives `StrictSchema`, nothing reads the type of one of its fields"
)]
pub trait Readable<Via> {}

#[diagnostic::do_not_recommend]
impl<T> Readable<Via<0, T>> for T {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned> Readable<Via<1, T>> for T {}

#[diagnostic::do_not_recommend]
impl<T> Readable<Via<2, T>> for T {}

/// Asks whether an argument can be read: the one place that does.
pub fn can_read<T: Readable<Via>, Via>() {}

/// `PartsOf::<P>::read`: reads the arguments of a tool.
pub struct PartsOf<P>(PhantomData<fn() -> P>);

impl<P: Parts> PartsOf<P> {
    /// Reads them.
    #[inline]
    pub fn read(reader: &mut Reader<'_>, node: Node<'_>) -> Result<P::Values, Unfit> {
        reader.fields::<P>(node, true)
    }
}

/// The answer of a tool with an argument that cannot be read.
pub trait NoParts {
    /// Never called.
    fn read<T>(reader: &mut Reader<'_>, _: Node<'_>) -> Result<T, Unfit> {
        reader.none()
    }
}

impl<P> NoParts for PartsOf<P> {}

/// `FieldOf::<F>::read`: reads the one argument of a tool with `#[args]`.
pub struct FieldOf<F>(PhantomData<fn() -> F>);

impl<F: Field> FieldOf<F> {
    /// Reads it.
    #[inline]
    pub fn read(reader: &mut Reader<'_>, node: Node<'_>) -> Result<F::Value, Unfit> {
        F::read(reader, node)
    }
}

/// The answer of an argument that cannot be read.
pub trait NoField {
    /// Never called.
    fn read<T>(reader: &mut Reader<'_>, _: Node<'_>) -> Result<T, Unfit> {
        reader.none()
    }
}

impl<F> NoField for FieldOf<F> {}

/// `DecodeOf::<T>::ASKS`: whether the derive of a type reads it, and asks where it is concrete for a `Deserialize`.
pub struct DecodeOf<T>(PhantomData<fn() -> T>);

impl<T: Decode> DecodeOf<T> {
    /// As it says.
    pub const ASKS: Option<bool> = Some(T::ASKS);

    /// Reads a value.
    pub fn decode(reader: &mut Reader<'_>, node: Node<'_>) -> Result<T, Unfit> {
        T::decode(reader, node)
    }
}

/// `SerdeOf::<T>::READ`: what reads a type that has a `Deserialize`.
pub struct SerdeOf<T>(PhantomData<fn() -> T>);

/// What reads a value.
pub type Read<T> = fn(&mut Reader<'_>, Node<'_>) -> Result<T, Unfit>;

impl<T: DeserializeOwned> SerdeOf<T> {
    /// It has one.
    pub const IS: bool = true;
    /// Its `Deserialize`, after the guard.
    pub const READ: Option<Read<T>> = Some(|reader, node| Reader::by_serde(reader, node));
}

/// The answer of a type without one.
pub trait NoSerde<T> {
    /// It has none.
    const IS: bool = false;
    /// Nothing.
    const READ: Option<Read<T>> = None;
}

impl<T> NoSerde<T> for SerdeOf<T> {}

/// The answer of a type that is read otherwise, or not at all.
pub trait NoDecode<T> {
    /// It does not.
    const ASKS: Option<bool> = None;

    /// Never called.
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

/// `SentOf::<T>::ask`: whether an argument can be sent to another thread. Asked of types that have a schema; others are reported for that.
pub struct SentOf<T>(PhantomData<fn() -> T>);

impl<T: StrictSchema> SentOf<T> {
    /// Asks.
    pub fn ask()
    where
        T: Sent,
    {
    }
}

/// The answer of a type without a schema.
pub trait NotAsked {
    /// Asks nothing.
    fn ask();
}

impl<T> NotAsked for SentOf<T> {
    fn ask() {}
}

/// `StartOf::<T>::START`: how a tool is started.
pub struct StartOf<T>(PhantomData<fn() -> T>);

impl<T: Tool + Decode> StartOf<T> {
    /// Decodes and runs.
    pub const START: Start = start::<T>;
}

/// The answer of a tool with a fault.
pub trait NoStart {
    /// Never called.
    const START: Start;
}

impl<T> NoStart for StartOf<T> {
    const START: Start = not_started;
}

/// Stands in for the start of a tool with a fault.
pub(crate) fn not_started(_: &mut dyn Entry, _: Ticket) -> Result<Job, NotBegun> {
    unreachable!("a tool with a fault does not compile")
}

/// `HostOf::<T>::EFFECT`: what a host value may do.
pub struct HostOf<T>(PhantomData<fn() -> T>);

impl<T: FromContext> HostOf<T> {
    /// Its effect.
    pub const EFFECT: Effect = T::EFFECT;
    /// Whether all of it is that of calls.
    pub const ONLY_CALLS: bool = T::ONLY_CALLS;
}

/// The answer of a type that is not a host value.
pub trait NoHost {
    /// None.
    const EFFECT: Effect = Effect::NONE;
    /// No.
    const ONLY_CALLS: bool = false;
}

impl<T> NoHost for HostOf<T> {}

/// `SecretOf::<T>::OPTIONAL`: whether a tool can do without a secret.
pub struct SecretOf<T>(PhantomData<fn() -> T>);

impl<T: FromSecret> SecretOf<T> {
    /// As its type says.
    pub const OPTIONAL: bool = T::OPTIONAL;
}

/// The answer of a type that cannot hold a secret.
pub trait NoSecret {
    /// No.
    const OPTIONAL: bool = false;
}

impl<T> NoSecret for SecretOf<T> {}

/// `VariableOf::<T>::OPTIONAL`: whether a tool can do without a variable.
pub struct VariableOf<T>(PhantomData<fn() -> T>);

impl<T: FromVariable> VariableOf<T> {
    /// As its type says.
    pub const OPTIONAL: bool = T::OPTIONAL;
}

/// The answer of a type that cannot hold a variable.
pub trait NoVariable {
    /// No.
    const OPTIONAL: bool = false;
}

impl<T> NoVariable for VariableOf<T> {}

/// The payload of a tool, from the return type of its fn.
pub trait Returns {
    /// Its type.
    type Output: serde::Serialize + Send + 'static;
}

/// `<Picked<{ ReturnOf::<T>::IS }, T> as Pick>::Value`: the payload of a return type, and nothing where a tool cannot return it. A projection
/// that fails would be reported wherever it is named.
pub struct Picked<const IS: bool, T>(PhantomData<fn() -> T>);

/// See [`Picked`].
pub trait Pick {
    /// The payload.
    type Value: serde::Serialize + Send + 'static;
}

impl<T: IntoOutput> Pick for Picked<true, T> {
    type Value = T::Value;
}

impl<T> Pick for Picked<false, T> {
    type Value = ();
}

/// A type that `derive(ToolError)` can be on.
#[diagnostic::on_unimplemented(
    message = "`{Self}` derives `ToolError` and is not a `std::error::Error`",
    label = "not a `std::error::Error`",
    note = "derive `thiserror::Error` too: `#[derive(Debug, thiserror::Error, ToolError)]`, with `#[error(\"…\")]` above each variant",
    note = "or implement `std::fmt::Display` and `std::error::Error` by hand"
)]
pub trait IsError {}

#[diagnostic::do_not_recommend]
impl<T: std::error::Error + 'static> IsError for T {}

/// Asks whether a type is an error: the one place that does.
pub fn is_error<T: IsError>() {}

/// `ErrorOf::<T>::of(error)`: the error as one of this type.
pub struct ErrorOf<T>(PhantomData<fn() -> T>);

impl<T: std::error::Error + 'static> ErrorOf<T> {
    /// The error, where it is of this type.
    pub fn of<'a>(error: &'a (dyn std::error::Error + 'static)) -> Option<&'a T> {
        error.downcast_ref()
    }
}

/// The answer of a type that is not an error.
pub trait NotAnError<T> {
    /// Never called.
    fn of<'a>(error: &'a (dyn std::error::Error + 'static)) -> Option<&'a T>;
}

impl<T> NotAnError<T> for ErrorOf<T> {
    fn of<'a>(_: &'a (dyn std::error::Error + 'static)) -> Option<&'a T> {
        None
    }
}

/// Asks whether a tool can return a type: the one place that does.
pub fn can_return<T: IntoOutput>() {}

/// `ReturnOf::<T>::into_returned(value)`: what a fn returned.
pub struct ReturnOf<T>(PhantomData<fn() -> T>);

impl<T: IntoOutput> ReturnOf<T> {
    /// A tool can return it.
    pub const IS: bool = true;

    /// The one value, or the stream that ends with it.
    pub fn into_returned(value: T) -> Result<Returned<T::Value>, ToolError> {
        value.into_returned()
    }
}

/// The answer of a type that a tool cannot return.
pub trait NoReturn<T> {
    /// A tool cannot.
    const IS: bool = false;

    /// Never called.
    fn into_returned<V>(value: T) -> Result<Returned<V>, ToolError>;
}

impl<T> NoReturn<T> for ReturnOf<T> {
    fn into_returned<V>(_: T) -> Result<Returned<V>, ToolError> {
        unreachable!("a tool with a fault does not compile")
    }
}

/// [`StreamOf`] as a projection of the item, see [`Same`].
pub trait Streamed {
    /// `StreamOf<Self>`
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
        unreachable!("only a name")
    }
}

impl<I: Item<Progress: 'static, Final: 'static>> StreamOf<I>
where
    ToolStream<I::Progress, I::Final>: IntoOutput<Value = I::Final>,
{
    /// What a fn returned.
    pub fn into_returned<S>(stream: S) -> Result<Returned<I::Final>, ToolError>
    where
        S: Stream<Item = I> + Send + 'static,
    {
        ToolStream::of(stream).into_returned()
    }
}

/// The answer of a type that is not an item of a generator tool.
pub trait NoStream {
    /// Never called.
    fn into_returned<S, V>(stream: S) -> Result<Returned<V>, ToolError>;
}

impl<I> NoStream for StreamOf<I> {
    fn into_returned<S, V>(_: S) -> Result<Returned<V>, ToolError> {
        unreachable!("a tool with a fault does not compile")
    }
}

/// The type of a parameter, in an impl of its own: a private type in a public tool is reported where the parameter has it.
pub trait Param<const NUMBER: usize> {
    /// The type.
    type Type;
}
