//! Tests of the text that policies and readers receive, and of the text that serde reads.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;

use super::build::*;
use super::{Repair, admit, for_serde, read};
use crate::schema::{Kind, Tagging};

// S0-07: valid arguments are passed on without a copy.
#[test]
fn valid_text_is_borrowed() {
    let schema = object(vec![
        field("a", u32s()),
        field("b", optional(text())),
        field("c", number()),
    ]);
    for text in [
        r#"{"a":1,"c":1.0}"#,
        r#" {"c":-0,"b":null,"a":4294967295} "#,
        r#"{"a":0,"b":"\u0041","c":1e5}"#,
    ] {
        let admitted = admit(schema, text, Repair::Safe).unwrap();
        assert!(matches!(admitted.text, Cow::Borrowed(same) if same == text));
        assert!(admitted.repairs.is_empty());
    }
    assert!(matches!(
        admit(object(vec![]), "", Repair::Off).unwrap().text,
        Cow::Borrowed("{}")
    ));
}

// S0-06, S4-61: defaults replace null and absent keys at every depth.
#[test]
fn defaults_replace_null_and_absent_keys() {
    let inner = object(vec![
        defaulted("n", u32s(), "3"),
        defaulted("s", text(), "\"x\""),
    ]);
    let schema = object(vec![
        defaulted("limit", u32s(), "10"),
        field("in", optional(inner)),
        field("all", array(inner)),
        defaulted("wait", node(Kind::Duration), "\"PT30S\""),
        defaulted("more", inner, "{\"n\":4}"),
    ]);
    let tail = r#""more":{"n":4,"s":"x"}}"#;
    assert_eq!(
        read(schema, r#"{"all":[]}"#),
        format!(r#"{{"all":[],"limit":10,"wait":"PT30S",{tail}"#)
    );
    assert_eq!(
        for_serde(schema, r#"{"all":[]}"#),
        format!(r#"{{"all":[],"limit":10,"wait":{{"secs":30,"nanos":0}},{tail}"#)
    );
    assert_eq!(
        read(
            schema,
            r#"{"limit":null,"in":{"n":null},"all":[{},{"s":"y"}],"wait":null,"more":null}"#
        ),
        r#"{"limit":10,"in":{"n":3,"s":"x"},"all":[{"n":3,"s":"x"},{"s":"y","n":3}],"wait":"PT30S","more":{"n":4,"s":"x"}}"#
    );
    assert_eq!(
        read(object(vec![defaulted("a", u32s(), "1")]), ""),
        r#"{"a":1}"#
    );
    assert_eq!(
        read(
            object(vec![defaulted("a", optional(u32s()), "1")]),
            r#"{"a":null}"#
        ),
        r#"{"a":1}"#
    );
    // serde does not accept an absent key for a newtype around an `Option`.
    assert_eq!(
        read(
            object(vec![field("a", named("Maybe", optional(u32s())))]),
            "{}"
        ),
        r#"{"a":null}"#
    );
}

// S0-07: whole numbers are rewritten in the form that serde reads.
#[test]
fn whole_numbers_are_rewritten_for_serde() {
    for (given, wanted) in [
        ("1.0", "1"),
        ("1e2", "100"),
        ("-0", "0"),
        ("-0.0", "0"),
        ("-2.50e1", "-25"),
        ("7", "7"),
        ("-7", "-7"),
        ("9007199254740993.0", "9007199254740993"),
    ] {
        assert_eq!(read(i64s(), given), wanted);
        assert_eq!(
            read(
                union(
                    Tagging::Untagged,
                    vec![("t", Some(text())), ("n", Some(i64s()))]
                ),
                given
            ),
            wanted
        );
    }
    assert_eq!(
        read(
            integer("u128", 0, u128::MAX),
            "3.40282366920938463463374607431768211455e38"
        ),
        u128::MAX.to_string()
    );
    assert_eq!(read(numbers(&[10]), "1e1"), "10");
    assert_eq!(read(number(), "1.0"), "1.0");
}

// S0-07: durations are rewritten in the form that serde reads.
#[test]
fn durations_are_rewritten_for_serde() {
    for (given, secs, nanos) in [
        ("PT1M30S", 90, 0),
        ("P1D", 86_400, 0),
        ("P2W", 1_209_600, 0),
        ("P1DT2H3M4S", 93_784, 0),
        ("PT0S", 0, 0),
    ] {
        let text = format!("\"{given}\"");
        assert_eq!(read(node(Kind::Duration), &text), text);
        assert_eq!(
            for_serde(node(Kind::Duration), &text),
            format!("{{\"secs\":{secs},\"nanos\":{nanos}}}")
        );
    }
    for given in [
        "P1Y",
        "P1M",
        "P1Y2DT1S",
        "PT",
        "P",
        "1S",
        "PT1",
        "PT1S1M",
        "PT99999999999999999999S",
        "P99999999999999W",
        "PT1234567890S",
        "PT0.5S",
        "PT1.0S",
    ] {
        assert!(
            admit(node(Kind::Duration), &format!("\"{given}\""), Repair::Off).is_err(),
            "{given}"
        );
    }
}

#[derive(Debug, Deserialize, PartialEq)]
enum Outer {
    Unit,
    Wrapped(i64),
    Record { x: u8, y: Option<f32> },
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(tag = "t")]
enum Inner {
    Unit,
    Record { x: u8, wait: Duration },
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(tag = "t", content = "c")]
enum Beside {
    Unit,
    Maybe(Option<u8>),
    Record { x: i16 },
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(untagged)]
enum Shape {
    Number(u32),
    Text(String),
    Record { x: u8 },
}

#[derive(Debug, Deserialize, PartialEq)]
struct Everything {
    outer: Vec<Outer>,
    inner: Vec<Inner>,
    beside: Vec<Beside>,
    shape: Vec<Shape>,
    pair: (u8, String),
    map: BTreeMap<String, i32>,
    letter: char,
    single: f32,
    big: u128,
}

// S0-07: serde can read the rewritten text, even through buffered types.
#[test]
fn rewritten_text_is_read_by_serde() {
    let u8s = || integer("u8", 0, 255);
    let record = || {
        object(vec![
            field("x", u8s()),
            field("y", optional(node(Kind::Number { single: true }))),
        ])
    };
    let schema = object(vec![
        field(
            "outer",
            array(union(
                Tagging::External,
                vec![
                    ("Unit", None),
                    ("Wrapped", Some(i64s())),
                    ("Record", Some(record())),
                ],
            )),
        ),
        field(
            "inner",
            array(union(
                Tagging::Internal { tag: "t" },
                vec![
                    ("Unit", None),
                    (
                        "Record",
                        Some(object(vec![
                            field("x", u8s()),
                            field("wait", node(Kind::Duration)),
                        ])),
                    ),
                ],
            )),
        ),
        field(
            "beside",
            array(union(
                Tagging::Adjacent {
                    tag: "t",
                    content: "c",
                },
                vec![
                    ("Unit", None),
                    ("Maybe", Some(optional(u8s()))),
                    (
                        "Record",
                        Some(object(vec![field("x", integer("i16", -32768, 32767))])),
                    ),
                ],
            )),
        ),
        field(
            "shape",
            array(union(
                Tagging::Untagged,
                vec![
                    ("Number", Some(u32s())),
                    ("Text", Some(text())),
                    ("Record", Some(object(vec![field("x", u8s())]))),
                ],
            )),
        ),
        field("pair", node(Kind::Tuple(list(vec![u8s(), text()])))),
        field(
            "map",
            node(Kind::Map(integer(
                "i32",
                i32::MIN.into(),
                i32::MAX.unsigned_abs().into(),
            ))),
        ),
        field("letter", node(Kind::Char)),
        field("single", node(Kind::Number { single: true })),
        field("big", integer("u128", 0, u128::MAX)),
    ]);
    let text = for_serde(
        schema,
        r#"{"outer":["Unit",{"Wrapped":-0},{"Record":{"x":1e2}}],
            "inner":[{"t":"Unit"},{"wait":"PT1S","x":2.0,"t":"Record"}],
            "beside":[{"t":"Unit"},{"t":"Maybe"},{"t":"Maybe","c":null},{"c":3.0,"t":"Maybe"},{"t":"Record","c":{"x":-1.0}}],
            "shape":[4.0,"x",{"x":5e0}],"pair":[6.0,"p"],"map":{"k":-7.0},"letter":"\u0041","single":1,"big":1e38}"#,
    );
    let read: Everything = serde_json::from_str(&text).unwrap();
    let wanted = Everything {
        outer: vec![
            Outer::Unit,
            Outer::Wrapped(0),
            Outer::Record { x: 100, y: None },
        ],
        inner: vec![
            Inner::Unit,
            Inner::Record {
                x: 2,
                wait: Duration::from_secs(1),
            },
        ],
        beside: vec![
            Beside::Unit,
            Beside::Maybe(None),
            Beside::Maybe(None),
            Beside::Maybe(Some(3)),
            Beside::Record { x: -1 },
        ],
        shape: vec![
            Shape::Number(4),
            Shape::Text("x".to_owned()),
            Shape::Record { x: 5 },
        ],
        pair: (6, "p".to_owned()),
        map: BTreeMap::from([("k".to_owned(), -7)]),
        letter: 'A',
        single: 1.0,
        big: 10u128.pow(38),
    };
    assert_eq!(read, wanted);
}
