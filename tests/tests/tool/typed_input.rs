//! The struct that `#[tool]` generates for the arguments. It has the name of the tool.

use serde::de::value::{Error as ValueError, MapDeserializer};
use tool_core::prelude::*;

/// An alias of `Option`. A parameter of this type must be optional too.
type Maybe<T> = Option<T>;

/// Takes options of every kind.
#[tool]
fn take_options(
    /// The argument `plain` of the tool.
    plain: Option<u32>,
    /// An argument with an alias.
    aliased: Maybe<String>,
    /// The argument `boxed` of the tool.
    boxed: Box<Option<bool>>,
    /// The argument `required` of the tool.
    required: u32,
) -> String {
    format!("{plain:?} {aliased:?} {boxed:?} {required}")
}

#[test]
fn absent_options_of_every_kind_are_none() {
    let input: take_options =
        serde_json::from_str(r#"{"required":1}"#).expect("absent options are accepted");
    assert_eq!(
        input,
        take_options {
            plain: None,
            aliased: None,
            boxed: Box::new(None),
            required: 1
        }
    );
}

#[test]
fn wrong_keys_are_reported_with_their_path() {
    let error_of = |text: &str| {
        serde_json::from_str::<take_options>(text)
            .expect_err(text)
            .to_string()
    };
    for (text, wanted) in [
        (
            r#"{"plain":1}"#,
            "the value does not match its schema: /required: expected a whole number",
        ),
        (
            r#"{"required":1,"required":2}"#,
            "/required: expected the key `required` once",
        ),
        (
            r#"{"required":1,"other":2}"#,
            "/other: expected no key `other`, the known keys are `plain`, `aliased`, `boxed` and `required`",
        ),
        ("[1]", "the value: expected an object"),
    ] {
        assert!(error_of(text).contains(wanted), "{}", error_of(text));
    }
}

#[test]
fn typed_input_deserializes_from_any_format() {
    let map = MapDeserializer::<_, ValueError>::new([("required", 7_u32)].into_iter());
    let input = take_options::deserialize(map).expect("the arguments are a map of numbers");
    assert_eq!(input.required, 7);
}

#[test]
fn typed_input_implements_the_common_traits() {
    let input = take_options {
        plain: Some(1),
        aliased: None,
        boxed: Box::new(Some(true)),
        required: 2,
    };
    let text = serde_json::to_string(&input).expect("the struct can be serialised");
    assert_eq!(
        text,
        r#"{"plain":1,"aliased":null,"boxed":true,"required":2}"#
    );
    assert_eq!(
        serde_json::from_str::<take_options>(&text).expect("the struct reads its own JSON"),
        input.clone()
    );
    assert_eq!(
        format!("{input:?}"),
        "take_options { plain: Some(1), aliased: None, boxed: Some(true), required: 2 }"
    );
    assert_ne!(
        input,
        take_options {
            plain: None,
            ..input.clone()
        }
    );
}

/// A type without `Serialize`, `Debug`, `Clone` and `PartialEq`.
#[derive(Deserialize, StrictSchema)]
pub struct Bare {
    /// The field `value` of `Bare`.
    pub value: u32,
}

/// Takes a type that implements only `Deserialize`.
#[tool]
async fn take_bare(
    /// The argument `bare` of the tool.
    bare: Bare,
) -> u32 {
    bare.value
}

// A typed call runs like any other call. The struct implements a trait only if all its fields do, so a field without these traits is accepted.
#[test]
fn typed_call_runs_like_any_other_call() {
    let tools = Registry::linked()
        .expect("the tools of this program are valid")
        .open();
    let cx = ToolContext::anonymous();
    let bare = take_bare {
        bare: Bare { value: 3 },
    };
    assert_eq!(
        crate::block_on(tools.invoke(bare, &cx)).expect("the call succeeds"),
        3
    );
    let input = take_options {
        plain: None,
        aliased: None,
        boxed: Box::new(None),
        required: 2,
    };
    assert_eq!(
        crate::block_on(tools.invoke(input, &cx)).expect("the call succeeds"),
        "None None None 2"
    );
}

/// Has 14 parameters. The standard library implements traits only for tuples of at most 12 elements.
#[tool]
#[rustfmt::skip]
fn many(
    /// 1
    a: u8, /// 2
    b: u8, /// 3
    c: u8, /// 4
    d: u8, /// 5
    e: u8, /// 6
    f: u8, /// 7
    g: u8, /// 8
    h: u8, /// 9
    i: u8, /// 10
    j: u8, /// 11
    k: u8, /// 12
    l: u8, /// 13
    m: u8, /// 14
    n: u8,
) -> u8 {
    a + b + c + d + e + f + g + h + i + j + k + l + m + n
}

#[test]
fn tool_may_have_more_than_12_parameters() {
    let text = r#"{"n":14,"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9,"j":10,"k":11,"l":12,"m":13}"#;
    assert_eq!(crate::answer("many", text), "105");
}
