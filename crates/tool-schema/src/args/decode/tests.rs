//! Tests of the decoder against `serde_json::from_str`: both accept the same texts and read the same values.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;

use proptest::prelude::*;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

use super::decode;

#[derive(Debug, PartialEq, Deserialize)]
struct Plain {
    a: Option<u8>,
    b: Option<String>,
    c: Option<Vec<i64>>,
    d: Option<Box<Plain>>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Strict {
    a: Option<Value>,
}

#[derive(Debug, PartialEq, Deserialize)]
struct Flat {
    #[serde(flatten)]
    inner: Plain,
    e: Option<f64>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum External {
    A,
    B(u8),
    C(u8, String),
    D { a: Option<bool> },
    E(Box<External>),
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(tag = "a", rename_all = "lowercase")]
enum Internal {
    A,
    B { b: Option<i64>, c: Option<f64> },
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(tag = "a", content = "b", rename_all = "lowercase")]
enum Adjacent {
    A,
    B(Value),
    C { c: i32 },
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(untagged)]
enum Untagged {
    Number(u32),
    Float(f64),
    Text(String),
    Plain(Plain),
    List(Vec<Untagged>),
    Null(()),
}

#[derive(Debug, PartialEq, Deserialize)]
struct Newtype(u16);

#[derive(Debug, PartialEq, Deserialize)]
struct Nothing;

fn raw(text: &str) -> Option<String> {
    let value: Box<RawValue> = decode(text).ok()?;
    Some(value.get().to_owned())
}

/// Asserts that the decoder and `serde_json` read the same value, or that both fail.
fn alike<T: DeserializeOwned + Debug + PartialEq>(text: &str) {
    let (ours, theirs) = (decode::<T>(text), serde_json::from_str::<T>(text));
    match (ours, theirs) {
        (Ok(ours), Ok(theirs)) => assert_eq!(ours, theirs, "{text}"),
        (Err(_), Err(_)) => {}
        (ours, theirs) => panic!("{text}: {ours:?} instead of {theirs:?}"),
    }
}

fn all_alike(text: &str) {
    alike::<Value>(text);
    alike::<Plain>(text);
    alike::<Strict>(text);
    alike::<Flat>(text);
    alike::<External>(text);
    alike::<Internal>(text);
    alike::<Adjacent>(text);
    alike::<Untagged>(text);
    alike::<Newtype>(text);
    alike::<Nothing>(text);
    alike::<()>(text);
    alike::<bool>(text);
    alike::<char>(text);
    alike::<u8>(text);
    alike::<i32>(text);
    alike::<u64>(text);
    alike::<i64>(text);
    alike::<f64>(text);
    alike::<String>(text);
    alike::<Cow<'static, str>>(text);
    alike::<Option<Vec<Option<String>>>>(text);
    alike::<(u8, String)>(text);
    alike::<[Value; 2]>(text);
    alike::<HashMap<String, Value>>(text);
    alike::<BTreeMap<i16, Value>>(text);
    // For a bool key that is neither `true` nor `false`, serde_json 1.0.154 cuts a character in half for its error message and panics.
    if text.is_ascii() {
        alike::<BTreeMap<bool, Value>>(text);
    }
    alike::<BTreeMap<char, Option<External>>>(text);
    alike::<Vec<External>>(text);
    alike::<Vec<Internal>>(text);
    alike::<Vec<Adjacent>>(text);
    alike::<Vec<Untagged>>(text);
    let theirs = serde_json::from_str::<Box<RawValue>>(text).ok();
    assert_eq!(raw(text), theirs.map(|raw| raw.get().to_owned()), "{text}");
}

/// Numbers that `serde_json` reads exactly without its feature `float_roundtrip`.
fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<i64>().prop_map(|number| number.to_string()),
        any::<u64>().prop_map(|number| number.to_string()),
        (-300..300i64).prop_map(|number| number.to_string()),
        (-4000..4000i32).prop_map(|eighths| format!("{}", f64::from(eighths) / 8.0)),
        (-99..99i64, 0..9).prop_map(|(digits, zeros)| format!("{digits}e{zeros}")),
        Just("-0".to_owned()),
        Just("18446744073709551616".to_owned()),
        Just("-9223372036854775809".to_owned()),
    ]
}

fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[ -~]{0,9}".prop_map(|plain| plain.replace(['"', '\\'], "")),
        any::<char>()
            .prop_filter("needs an escape", |c| *c >= ' ' && *c != '"' && *c != '\\')
            .prop_map(String::from),
        Just(r"\n\t\b\f\r\/\\\x22".replace("x22", "\"")),
        Just(r"\u00e4\uD83D\ude00\u0000".to_owned()),
    ];
    prop::collection::vec(piece, 0..4).prop_map(|pieces| format!("\"{}\"", pieces.concat()))
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        12 => "[a-e]".prop_map(|key| format!("\"{key}\"")),
        1 => (-200..200i16).prop_map(|key| format!("\"{key}\"")),
        1 => prop_oneof![Just("\"true\""), Just("\"+1\""), Just("\"01\""), Just("\" 1\""), Just("\"\\u0061\"")]
            .prop_map(str::to_owned),
        1 => text(),
    ]
}

fn space() -> impl Strategy<Value = &'static str> {
    prop_oneof![6 => Just(""), 1 => Just(" "), 1 => Just("\n\t\r ")]
}

fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        number(),
        text(),
        "\"[a-e]\"".prop_map(String::from),
        prop_oneof![Just("null"), Just("true"), Just("false")].prop_map(str::to_owned),
    ];
    let value = leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            (space(), prop::collection::vec(inner.clone(), 0..4)).prop_map(
                |(space, items)| format!("[{space}{}]", items.join(&format!("{space},{space}")))
            ),
            (space(), prop::collection::vec((key(), inner), 0..4)).prop_map(|(space, entries)| {
                let entries: Vec<String> = entries
                    .iter()
                    .map(|(key, value)| format!("{key}{space}:{space}{value}"))
                    .collect();
                format!("{{{}{space}}}", entries.join(","))
            }),
        ]
    });
    (space(), value, space()).prop_map(|(before, value, after)| format!("{before}{value}{after}"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn decoder_accepts_and_reads_the_same_texts_as_serde_json(text in json()) {
        all_alike(&text);
    }

    #[test]
    fn truncated_or_damaged_text_is_read_like_serde_json_reads_it(text in json(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let cut = at.index(text.len());
        if let Some(cut) = text.get(..cut) {
            all_alike(cut);
        }
        let mut spoilt = text.into_bytes();
        spoilt[cut] = byte;
        if let Ok(spoilt) = String::from_utf8(spoilt) {
            // serde_json's floats are not exact for numbers that `number` does not generate.
            let exact = !spoilt.contains(['.', 'e', 'E']) && byte != b'-' && !byte.is_ascii_digit();
            if exact {
                all_alike(&spoilt);
            } else {
                let _ = decode::<Value>(&spoilt);
            }
        }
    }

    #[test]
    fn floats_are_rounded_to_the_nearest_value(
        number in any::<f64>().prop_filter("JSON has none", |number| number.is_finite()),
        single in any::<f32>().prop_filter("JSON has none", |number| number.is_finite()),
    ) {
        let text = format!("{number:e}");
        prop_assert_eq!(decode::<f64>(&text).map(f64::to_bits).ok(), Some(number.to_bits()));
        let text = format!("{single:e}");
        prop_assert_eq!(decode::<f32>(&text).map(f32::to_bits).ok(), Some(single.to_bits()));
    }

    #[test]
    fn wide_integers_are_exact(signed in any::<i128>(), unsigned in any::<u128>()) {
        prop_assert_eq!(decode(&signed.to_string()).ok(), Some(signed));
        prop_assert_eq!(decode(&unsigned.to_string()).ok(), Some(unsigned));
    }
}

#[test]
fn text_nested_too_deeply_is_an_error() {
    let deep = "[".repeat(100_000);
    assert!(decode::<Value>(&deep).is_err());
    assert!(decode::<serde::de::IgnoredAny>(&deep).is_err());
}

#[test]
fn error_of_a_stricter_deserialize_is_reported() {
    let error = decode::<std::num::NonZeroU8>("0").map_err(|misread| misread.into_issue().expected);
    assert_eq!(
        error.err().as_deref(),
        Some("a value that the tool accepts (invalid value: integer `0`, expected a nonzero u8)")
    );
    let error =
        decode::<Vec<bool>>("[true,\"x\"]").map_err(|misread| misread.into_issue().expected);
    assert_eq!(
        error.err().as_deref(),
        Some("a value that the tool accepts (invalid type: string \"x\", expected a boolean)")
    );
    assert!(decode::<f64>("1e999").is_err());
    assert!(decode::<f32>("1e39").is_err());
}
