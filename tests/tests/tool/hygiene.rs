//! The places where a tool may be defined, and the names that it may have.

use tool_core::prelude::*;

use crate::{answer, schema};

/// Has parameters whose names are keywords in Rust.
#[tool]
fn r#match(
    /// The argument `type` of the tool.
    r#type: String,
    /// An argument with the name of a variable in generated code.
    __cx: u32,
    /// The argument `map` of the tool.
    map: u32,
    /// The argument with the name of the tool.
    r#match: u32,
) -> String {
    format!(
        "{type} {__cx} {map} {match}",
        r#type = r#type,
        r#match = r#match
    )
}

#[test]
fn raw_identifiers_lose_their_prefix() {
    assert_eq!(<r#match as Tool>::NAME, "match");
    let keys: Vec<_> = schema::<r#match>()["properties"]
        .as_object()
        .expect("the value is an object")
        .keys()
        .cloned()
        .collect();
    assert_eq!(keys, ["__cx", "map", "match", "type"]);
    assert_eq!(
        answer("match", r#"{"type":"a","__cx":1,"map":2,"match":3}"#),
        "a 1 2 3"
    );
}

/// Counts to a number, and returns this number.
#[tool]
fn count_to(
    /// An argument with the name of a variable in the expansion of `tool_stream!`.
    __output: u32,
) -> ToolStream<u32, u32> {
    tool_stream! {
        for number in 0..__output {
            yield number;
        }
        __output
    }
}

#[test]
fn variables_of_the_expansion_do_not_hide_arguments() {
    assert_eq!(answer("count_to", r#"{"__output":3}"#), "3");
}

macro_rules! tools {
    ($($(#[$meta:meta])* $vis:vis $name:ident ( $( $(#[$of_arg:meta])* $arg:ident : $ty:ty ),* ) -> $out:ty $body:block)*) => {$(
        $(#[$meta])*
        #[tool(category = "made")]
        $vis fn $name( $( $(#[$of_arg])* $arg: $ty ),* ) -> $out $body
    )*};
}

macro_rules! described {
    ($name:ident, $text:literal, $default:literal, $ty:ty) => {
        #[doc = $text]
        #[tool(name = $text)]
        fn $name(
            #[doc = $text]
            #[arg(default = $default)]
            value: $ty,
            cx: &ToolContext,
        ) -> $ty {
            let _ = cx;
            value
        }
    };
}

tools! {
    /// Adds two numbers.
    pub(crate) made_add(
        /// The argument `a` of the tool.
        a: u32,
        /// The argument `b` of the tool.
        #[arg(default = 1)]
        b: u32
    ) -> u32 { a + b }
    /// Returns nothing to the model.
    made_nothing() -> () {}
}

described!(by_literal, "described", 5, u32);

#[test]
fn macro_rules_can_write_tools() {
    assert_eq!(answer("made_add", r#"{"a":1}"#), "2");
    assert_eq!(<made_add as Tool>::DEF.category(), "made");
    assert_eq!(answer("made_nothing", "{}"), "null");
    assert_eq!(answer("described", "{}"), "5");
    assert_eq!(<by_literal as Tool>::DEF.description(), "described");
}

#[test]
fn tool_may_be_declared_in_a_function_body() {
    /// Adds one, locally, for this test.
    #[tool]
    fn local_add(
        /// The number to add to.
        to: u32,
    ) -> u32 {
        to + 1
    }
    assert_eq!(answer("local_add", r#"{"to":1}"#), "2");
    assert_eq!(local_add(1), 2);
}

mod file {
    // The module has the tool's name, like the file of a tool. The tool's struct needs a different name, because modules and structs share a
    // namespace.
    pub(crate) mod open_file {
        use tool_core::prelude::*;

        /// Opens a file, for this test.
        #[tool(input = OpenFile)]
        pub(crate) fn open_file(
            /// The path of the file.
            path: String,
        ) -> String {
            path
        }
    }
    pub(crate) use open_file::{OpenFile, open_file};
}

#[test]
fn one_use_imports_the_fn_and_its_arguments() {
    use file::{OpenFile, open_file};
    assert_eq!(
        open_file("a".to_owned()),
        OpenFile {
            path: "a".to_owned()
        }
        .path
    );
}

/// A tool that is deprecated.
#[deprecated(note = "use `greet`")]
#[tool]
pub fn old_greet() {}

/// Takes arguments of deprecated types.
#[allow(deprecated, reason = "the test is about this warning")]
#[tool]
fn takes_old(
    /// The argument `old` of the tool.
    old: Old,
) -> u32 {
    old.value
}

#[deprecated]
#[derive(Deserialize, StrictSchema)]
pub struct Old {
    /// The field `value` of `Old`.
    pub value: u32,
}

#[test]
fn deprecated_items_warn_only_where_the_user_names_them() {
    assert_eq!(answer("old_greet", "{}"), "null");
    assert_eq!(answer("takes_old", r#"{"old":{"value":1}}"#), "1");
}

/// A tool with further attributes.
#[tool]
#[must_use]
#[inline]
pub fn attributed() -> u32 {
    3
}

#[test]
fn other_attributes_stay_on_the_fn() {
    assert_eq!(answer("attributed", "{}"), "3");
}
