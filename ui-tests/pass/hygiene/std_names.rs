//! Types with every name of one letter and of the standard prelude, and constants, functions and macros with names that
//! the expansion uses, all in one scope, under every macro.

#![no_implicit_prelude]
#![allow(
    non_camel_case_types,
    non_upper_case_globals,
    non_snake_case,
    dead_code,
    unused_macros,
    reason = "names that collide"
)]

use ::futures::FutureExt as _;

type Text = ::std::string::String;
type Or<Good, Bad> = ::std::result::Result<Good, Bad>;
type Maybe<Value> = ::std::option::Option<Value>;

macro_rules! types {
    ($($name:ident)*) => {$(
        /// A type that a macro generates.
        #[derive(
            ::std::fmt::Debug,
            ::std::clone::Clone,
            ::std::cmp::PartialEq,
            ::serde::Serialize,
            ::serde::Deserialize,
            ::tool_core::StrictSchema,
        )]
        struct $name {
            /// The text of the record.
            text: Text,
        }
    )*};
}

types! {
    A B C D E F G H I J K L M N O P Q R S T U V W X Y Z
    Option Some None Result Ok Err String Vec Box ToString ToOwned Clone Copy Send Sync Sized Unpin Drop Fn FnMut FnOnce AsRef AsMut Into From
    Default Iterator IntoIterator Extend DoubleEndedIterator ExactSizeIterator Eq PartialEq Ord PartialOrd TryFrom TryInto FromIterator Future
    IntoFuture Debug Display Error Duration Cow Arc Rc PhantomData
    Serialize Deserialize Serializer Deserializer MapAccess Tool StrictSchema ToolError ToolContext ToolStream FromContext IntoOutput Effect
    Schema Kind Field Record List Argument Slot Returned Pass
}

macro_rules! constants {
    ($($name:ident)*) => { $(const $name: ::core::primitive::u8 = 0;)* };
}

constants! {
    Some None Ok Err drop map from to f other args cx of_work output text tool call input error value host secret variable returned blocking
    record read write slot check start krate line file a b c d g h i j k l m n o p q r s t u w x y z
}

mod core {}
mod std {}
mod alloc {}
mod serde {}
mod serde_json {}
mod linkme {}
mod futures {}
mod async_stream {}
mod tool_core {}
mod private {}

/// The enum `Choice` of this test.
#[derive(::std::fmt::Debug, ::serde::Serialize, ::serde::Deserialize, ::tool_core::StrictSchema)]
#[serde(tag = "kind")]
enum Choice {
    /// The variant `Some` of `Choice`.
    Some {
        /// The field `of_one` of `Some`.
        of_one: Option,
    },
    /// The variant `None` of `Choice`.
    None(Result),
    /// The variant `Ok` of `Choice`.
    Ok,
}

/// The enum `Level` of this test.
#[derive(::std::fmt::Debug, ::tool_core::StrictSchema)]
#[schema(integer)]
enum Level {
    /// The variant `Low` of `Level`.
    Low = 1,
    /// The variant `High` of `Level`.
    High = 2,
}

/// A pair of generic values.
#[derive(::std::fmt::Debug, ::serde::Serialize, ::serde::Deserialize, ::tool_core::StrictSchema)]
struct Pair<Left, Right> {
    /// The field `left` of `Pair`.
    left: Maybe<Left>,
    /// The field `right` of `Pair`.
    right: Right,
}

/// The enum `Failure` of this test.
#[derive(::std::fmt::Debug, ::tool_core::ToolError)]
enum Failure {
    /// An error that is shown to the model.
    #[shown]
    Err(Text),
    /// An error that is not shown to the model.
    None,
}

impl ::std::fmt::Display for Failure {
    fn fmt(&self, formatter: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        formatter.write_str("it failed")
    }
}

impl ::std::error::Error for Failure {}

#[derive(::std::clone::Clone)]
struct Host;

::tool_core::host_value!(Host, ::tool_core::Effect::READ);

/// The tool `take_letters` of this test.
#[::tool_core::tool]
async fn take_letters(
    /// The argument `one` of the tool.
    one: A,
    /// The argument `two` of the tool.
    two: D,
    /// The argument `three` of the tool.
    three: R,
    /// The argument `four` of the tool.
    four: T,
    /// The argument `five` of the tool.
    five: Maybe<S>,
    /// The argument `six` of the tool.
    six: ::std::vec::Vec<E>,
) -> Or<A, ::tool_core::ToolError> {
    let _ = (two, three, four, five, six);
    Or::Ok(one)
}

/// The tool `take_prelude` of this test.
#[::tool_core::tool(example("One", { "string": { "text": "a" }, "option": { "text": "a" }, "result": { "text": "a" }, "list": { "text": "a" }, "boxed": { "text": "a" }, "number": { "text": "a" } }))]
async fn take_prelude(
    /// The argument `string` of the tool.
    string: String,
    /// The argument `option` of the tool.
    option: Option,
    /// The argument `result` of the tool.
    result: Result,
    /// The argument `list` of the tool.
    list: Vec,
    /// The argument `boxed` of the tool.
    boxed: Box,
    /// The argument `number` of the tool.
    number: Iterator,
) -> Or<String, Failure> {
    let _ = (option, result, list, boxed, number);
    if string.text.is_empty() {
        return Or::Err(Failure::Err(string.text));
    }
    Or::Ok(string)
}

/// The tool `take_traits` of this test.
#[::tool_core::tool]
async fn take_traits(
    /// The argument `clone` of the tool.
    #[arg(default = { "text": "a" })]
    clone: Clone,
    /// The argument `send` of the tool.
    send: Send,
    /// The argument `into` of the tool.
    into: Into,
    /// The argument `from_one` of the tool.
    from_one: From,
    /// The argument `iterator` of the tool.
    iterator: Iterator,
    /// The argument `default` of the tool.
    default: Default,
    /// The argument `serialize` of the tool.
    serialize: Serialize,
    /// The argument `tool_one` of the tool.
    tool_one: Tool,
    /// The argument `schema` of the tool.
    schema: Schema,
    the_host: &Host,
    #[context] context: ::tool_core::ToolContext,
) -> Clone {
    let _ = (send, into, from_one, iterator, default, serialize, tool_one, schema, the_host, context);
    clone
}

/// The tool `take_unions` of this test.
#[::tool_core::tool]
async fn take_unions(
    /// The argument `choice` of the tool.
    choice: Choice,
    /// The argument `pair` of the tool.
    pair: Pair<Ok, Err>,
    /// The argument `count` of the tool.
    #[arg(range = 1..=3)]
    count: ::core::primitive::u8,
) -> Text {
    let _ = (choice, pair, count);
    Text::new()
}

/// Takes all arguments at once.
#[::tool_core::tool]
async fn take_all(#[args] all: Option) -> Option {
    all
}

/// Takes nothing, for this test.
#[::tool_core::tool]
async fn take_nothing() {}

/// The tool `stream` of this test.
#[::tool_core::tool(to_model_output = brief)]
fn stream(
    /// The argument `one` of the tool.
    one: Result,
    #[context] the_host: Host,
) -> ::tool_core::ToolStream<Some, Result> {
    ::tool_core::tool_stream! {
        let _ = the_host;
        yield Some { text: ::std::clone::Clone::clone(&one.text) };
        let checked = check_text(&one)?;
        let checked = { check_text(&checked)? };
        checked
    }
}

fn check_text(one: &Result) -> Or<Result, Failure> {
    Or::Ok(Result { text: ::std::clone::Clone::clone(&one.text) })
}

fn brief(whole: &Result) -> ::tool_core::ModelOutput {
    ::tool_core::ModelOutput::text(::std::clone::Clone::clone(&whole.text))
}

/// The view for the model.
#[derive(::serde::Serialize, ::tool_core::StrictSchema)]
struct Shown {
    /// The field `text` of `Shown`.
    text: Text,
}

impl ::tool_core::ToModelOutput for Shown {
    fn to_model_output(&self) -> ::tool_core::ModelOutput {
        ::tool_core::ModelOutput::text(::std::clone::Clone::clone(&self.text))
    }
}

/// The tool `show` of this test.
#[::tool_core::tool]
async fn show() -> Shown {
    Shown { text: ::std::convert::From::from("shown") }
}

/// Types with the names of primitives. serde's derive does not compile in the same module.
mod primitives {
    #![allow(dead_code, reason = "names that collide")]

    macro_rules! primitives {
        ($($name:ident)*) => {$(struct $name;)*};
    }

    primitives! { u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64 bool char str }

    /// The enum `Level` of this test.
    #[derive(::tool_core::StrictSchema)]
    #[schema(integer)]
    enum Level {
        /// The variant `Low` of `Level`.
        Low = 1,
        /// The variant `High` of `Level`.
        High = 2,
    }

    /// The record `Name` of this test.
    #[derive(::tool_core::StrictSchema)]
    #[schema(json_schema)]
    struct Name {
        /// The field `text` of `Name`.
        #[schema(length = 1..=9, pattern = "^a$", default = "a")]
        text: ::std::string::String,
        /// The field `level` of `Name`.
        level: Level,
    }

    #[derive(::std::fmt::Debug, ::tool_core::ToolError)]
    #[shown]
    struct Failure;

    impl ::std::fmt::Display for Failure {
        fn fmt(&self, to: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
            to.write_str("it failed")
        }
    }

    impl ::std::error::Error for Failure {}

    #[derive(::std::clone::Clone)]
    struct Host;

    ::tool_core::host_value!(Host, ::tool_core::Effect::READ);

    /// Counts all of the items.
    #[::tool_core::tool]
    async fn count(
        /// The argument `many` of the tool.
        #[arg(default = 1, range = 1..=9)]
        many: ::core::primitive::u8,
        /// The argument `one` of the tool.
        one: ::std::option::Option<::core::primitive::bool>,
        host: &Host,
    ) -> ::std::result::Result<::core::primitive::u8, Failure> {
        let _ = (one, host);
        if many == 9 {
            return ::std::result::Result::Err(Failure);
        }
        ::std::result::Result::Ok(many)
    }

    /// The tool `steps` of this test.
    #[::tool_core::tool]
    fn steps(#[context] host: Host) -> ::tool_core::ToolStream<::core::primitive::u8, ::core::primitive::u8> {
        ::tool_core::tool_stream! {
            let _ = host;
            yield 1;
            2
        }
    }

    pub(crate) fn tools() -> ::tool_core::Toolset {
        ::tool_core::toolset![count, steps]
    }

    pub(crate) fn host(builder: ::tool_core::ToolContextBuilder) -> ::tool_core::ToolContextBuilder {
        builder.with(Host)
    }
}

fn main() {
    let tools = ::tool_core::toolset![
        take_letters,
        take_prelude,
        take_traits,
        take_unions,
        take_all,
        take_nothing,
        stream,
        show,
    ];
    let context = ::tool_core::ToolContext::builder().with(Host).build();
    let ask = |name: &'static ::core::primitive::str, arguments: &'static ::core::primitive::str| {
        let one = ::tool_core::ToolCall::new("1", name, arguments);
        let result = tools.call(one, &context).now_or_never();
        result.map_or_else(Text::new, |result| result.model_text())
    };
    ::std::assert_eq!(ask("take_all", r#"{"text":"x"}"#), r#"{"text":"x"}"#);
    ::std::assert_eq!(ask("stream", r#"{"one":{"text":"x"}}"#), "x");
    ::std::assert_eq!(ask("show", "{}"), "shown");
    let failed = r#"{"string":{"text":""},"option":{"text":""},"result":{"text":""},"list":{"text":""},"boxed":{"text":""},"number":{"text":""}}"#;
    ::std::assert_eq!(ask("take_prelude", failed), "it failed");
    let context = primitives::host(::tool_core::ToolContext::builder()).build();
    let one = ::tool_core::ToolCall::new("1", "count", r#"{"many":9}"#);
    let result = primitives::tools().call(one, &context).now_or_never();
    ::std::assert_eq!(result.map_or_else(Text::new, |result| result.model_text()), "it failed");
}
