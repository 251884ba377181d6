//! Tests that names of the user's items do not collide with names in generated code.

#![allow(
    dead_code,
    unused_macros,
    non_camel_case_types,
    reason = "only the names of the items are used"
)]

mod core {}
mod std {}
mod serde {}
mod tool_core {}
mod linkme {}
mod private {}

struct Option;
struct Result;
struct Box;
struct Vec;
struct Some;
struct Ok;
struct Err;
struct Text;
struct Field;
struct Schema;
struct Visitor;
struct Tool;
struct StrictSchema;
struct ToolContext;
struct usize;
trait Deserialize {}
trait Serialize {}
trait Clone {}
trait Debug {}
trait PartialEq {}
trait Send {}
trait Future {}
trait Iterator {}
trait From {}
trait Into {}

macro_rules! env {
    ($($t:tt)*) => {
        compile_error!("the user's `env`")
    };
}
macro_rules! file {
    ($($t:tt)*) => {
        compile_error!("the user's `file`")
    };
}
macro_rules! line {
    ($($t:tt)*) => {
        compile_error!("the user's `line`")
    };
}

const TIMEOUT: ::std::time::Duration = ::std::time::Duration::from_secs(1);
const LENS: u32 = 1;
static DEF: u32 = 2;
const SURVEY: u32 = 3;
static LINKED: u32 = 4;

type String = ::std::string::String;
type Maybe<T> = ::std::option::Option<T>;

/// Is declared in a module with items of many names.
#[::tool_core::tool(category = "names", example({ "query": "x" }), timeout = TIMEOUT)]
async fn among_names(
    cx: &::tool_core::ToolContext,
    #[secret("key")] key: ::std::option::Option<::tool_core::SecretString>,
    /// The text to search for.
    query: String,
    /// The argument `limit` of the tool.
    #[arg(default = 3, range = 1..=9)]
    limit: u32,
    /// The argument `maybe` of the tool.
    maybe: Maybe<u32>,
) -> ::std::result::Result<String, ::tool_core::ToolError> {
    let _ = (cx, key);
    ::std::result::Result::Ok(::std::format!("{query} {limit} {maybe:?}"))
}

/// Blocks, and is declared in a module with items of many names.
#[::tool_core::tool]
fn blocking_among_names(
    /// An argument with the name of a variable in generated code.
    __of_work: u32,
    /// An argument with the name of a variable in generated code.
    __output: u32,
    __cx: &::tool_core::ToolContext,
) -> u32 {
    let _ = __cx;
    __of_work + __output
}

/// Has the name of a constant that the macro generates.
#[::tool_core::tool(allow(tool-name-client), name = "shouting", input = Shouting)]
#[allow(non_snake_case, reason = "the test needs this name")]
fn SPEC() -> u32 {
    LENS + DEF + SURVEY + LINKED
}

#[test]
fn user_names_do_not_conflict_with_generated_ones() {
    assert_eq!(crate::answer("among_names", r#"{"query":"x"}"#), "x 3 None");
    assert_eq!(
        crate::answer("blocking_among_names", r#"{"__of_work":1,"__output":2}"#),
        "3"
    );
    assert_eq!(crate::answer("shouting", "{}"), "10");
}
