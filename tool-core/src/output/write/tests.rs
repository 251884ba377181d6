//! Tests that the writer writes the same bytes as `serde_json`, and tests of its errors.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::super::seen::{has_files, watch};
use super::{Unwritten, write};

// A float that is not finite is an error, because `null` does not match the output's schema.
#[test]
fn non_finite_float_is_an_error_with_its_position() {
    #[derive(Serialize)]
    struct Sample {
        name: &'static str,
        #[serde(rename = "a/b~\"c")]
        values: Vec<Option<f32>>,
        last: Choice<'static>,
    }

    let place = |value: &dyn erased::Value| match value.write() {
        Err(Unwritten::NotFinite(place)) => place,
        other => panic!("{other:?}"),
    };
    for float in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(place(&float), "");
        assert_eq!(place(&[0.0, 1.5, float]), "/2");
        assert_eq!(
            place(&BTreeMap::from([("[\"{,", 1.0), ("~", float)])),
            "/~0"
        );
        assert_eq!(place(&((1, "],"), [[1.0], [float]])), "/1/1/0");
    }
    let sample = |value: f32, last: f32| Sample {
        name: "{[,:",
        values: vec![None, Some(1.0), Some(value)],
        last: Choice::Two(1, last),
    };
    assert_eq!(place(&sample(f32::NAN, 0.0)), "/a~1b~0\"c/2");
    assert_eq!(place(&sample(0.0, f32::INFINITY)), "/last/Two/1");
    assert!(write(&sample(0.0, 0.0), 0).is_ok());
}

/// Calls `write` for values of any type.
mod erased {
    use super::*;

    pub(super) trait Value {
        fn write(&self) -> Result<Box<RawValue>, Unwritten>;
    }

    impl<T: Serialize> Value for T {
        fn write(&self) -> Result<Box<RawValue>, Unwritten> {
            super::write(self, 0)
        }
    }
}

fn alike<T: Serialize + ?Sized>(value: &T, room: usize) {
    let theirs = serde_json::to_string(value);
    match (write(value, room), theirs) {
        (Ok(ours), Ok(theirs)) => assert_eq!(ours.get(), theirs),
        (Err(_), Err(_)) => {}
        (ours, theirs) => panic!("{ours:?} instead of {theirs:?}"),
    }
}

#[derive(Serialize)]
enum Choice<'a> {
    Bare,
    One(&'a str),
    Two(i8, f32),
    Named {
        text: &'a str,
        next: Option<Box<Choice<'a>>>,
    },
}

#[derive(Serialize)]
struct Everything<'a> {
    #[serde(rename = "k\"ey\n")]
    text: &'a str,
    #[serde(flatten)]
    rest: BTreeMap<&'a str, Value>,
    unit: (),
    wide: (i128, u128),
    bytes: &'a [u8],
    raw: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    absent: Option<u8>,
    choices: Vec<Choice<'a>>,
    letter: char,
    floats: [f64; 5],
    address: std::net::IpAddr,
    newtype: Newtype<'a>,
}

/// A struct with every kind of key as a field name.
#[derive(Serialize)]
struct Keys<'a> {
    #[serde(rename = "k\"ey\n")]
    special: u8,
    #[serde(rename = "")]
    empty: u8,
    #[serde(rename = "Schlüssel 1")]
    beyond: f32,
    raw: &'a RawValue,
    raws: Vec<&'a RawValue>,
    plain_1: &'a str,
}

#[derive(Serialize, PartialEq, Eq, PartialOrd, Ord)]
struct Newtype<'a>(&'a str);

#[derive(Serialize, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Bare,
    #[serde(rename = "\t")]
    Tab,
    Full(u8),
}

/// A value whose `Serialize` impl formats its text with `Display`.
struct Shown<'a>(&'a str);

impl Serialize for Shown<'_> {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&format_args!("{}-{}", self.0, self.0))
    }
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((text(), inner), 0..5)
                .prop_map(|entries| entries.into_iter().collect()),
        ]
    })
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[ -~]{0,40}",
        "[\\x00-\\x22\\x5c\\x7fäa]{0,20}"
    ]
}

proptest! {
    #[test]
    fn output_equals_serde_json(value in value(), text in text(), room in 0..300usize) {
        alike(&value, room);
        alike(&text, room);
        alike(&Shown(&text), room);
        let raw = serde_json::value::to_raw_value(&value).ok();
        alike(&BTreeMap::from([(text.as_str(), &raw)]), room);
        alike(&Everything {
            text: &text,
            rest: [(text.as_str(), value)].into(),
            unit: (),
            wide: (i128::MIN, u128::MAX),
            bytes: text.as_bytes(),
            raw: raw.as_deref(),
            absent: None,
            choices: vec![
                Choice::Bare,
                Choice::One(&text),
                Choice::Two(-1, 0.1),
                Choice::Named { text: &text, next: Some(Box::new(Choice::Bare)) },
            ],
            letter: text.chars().next().unwrap_or('"'),
            floats: [0.1, -0.0, 1e300, f64::MIN_POSITIVE, f64::MAX],
            address: [127, 0, 0, 1].into(),
            newtype: Newtype(&text),
        }, room);
    }
}

#[test]
fn every_kind_of_field_name_is_written_like_serde_json() {
    let raw = RawValue::from_string("{ \"a\": [\"b\"] }".to_owned()).unwrap();
    alike(
        &Keys {
            special: 1,
            empty: 2,
            beyond: 3.5,
            raw: &raw,
            raws: vec![&raw, &raw],
            plain_1: "\"",
        },
        0,
    );
}

#[test]
fn map_keys_are_written_like_serde_json() {
    alike(&BTreeMap::from([(1, 'a'), (-2, 'b')]), 0);
    alike(&BTreeMap::from([(true, None), (false, Some(1))]), 0);
    alike(&BTreeMap::from([('"', 1u8), ('x', 2)]), 0);
    alike(&BTreeMap::from([(Key::Bare, 1), (Key::Tab, 2)]), 0);
    alike(&BTreeMap::from([(Key::Full(1), 1)]), 0);
    alike(&BTreeMap::from([(Newtype("n"), 1)]), 0);
    alike(&BTreeMap::from([(Some("n"), 1)]), 0);
    alike(&BTreeMap::from([(None::<u8>, 1)]), 0);
    alike(&BTreeMap::from([((), 1)]), 0);
    alike(&BTreeMap::from([(vec![1], 1)]), 0);
    alike(&BTreeMap::from([("a", BTreeMap::<u8, u8>::new())]), 0);
}

#[test]
fn reserved_capacity_does_not_limit_the_output() {
    for room in [0, 1, 6, 7, 8, 1_000] {
        alike("seven", room);
    }
}

// Separate code checks the end of a text, and a text of less than 16 bytes.
#[test]
fn bytes_are_escaped_at_every_position() {
    for length in 1..=40 {
        for place in 0..length {
            for byte in 0..0x80 {
                let mut text = "a".repeat(length);
                text.replace_range(place..=place, char::from(byte).encode_utf8(&mut [0; 4]));
                alike(&text, 0);
            }
        }
    }
}

/// A value whose `Serialize` impl writes another output, which has a file, as a nested call of a tool does.
struct Nesting(crate::Image);

impl Serialize for Nesting {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let inner = watch();
        assert!(!has_files());
        write(&self.0, 0).expect("it can be written");
        assert!(has_files());
        drop(inner);
        to.serialize_str("nested")
    }
}

#[test]
fn nested_output_does_not_leak_its_files() {
    let image = || crate::Image::detect(b"GIF89a\x01\0\x01\0").expect("an image");

    let outer = watch();
    write(&Nesting(image()), 0).expect("it can be written");
    assert!(!has_files(), "the file belongs to the nested output");
    write(&image(), 0).expect("it can be written");
    write(&Nesting(image()), 0).expect("it can be written");
    assert!(has_files());
    drop(outer);

    let panicked = std::panic::catch_unwind(|| {
        let _watching = watch();
        write(&image(), 0).expect("it can be written");
        panic!("a `Serialize` panics");
    });
    assert!(panicked.is_err());
    // No file is registered while no output is written.
    write(&image(), 0).expect("it can be written");
    let watching = watch();
    assert!(!has_files());
    drop(watching);
}
