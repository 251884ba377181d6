//! Conversion of arguments to a [`Value`] without rounding numbers.
//!
//! `serde_json` rounds a number that is neither a 64-bit integer nor an `f64`. Without its feature `float_roundtrip` it also rounds some
//! `f64` numbers to a neighbour. This module parses such numbers with the standard library, so this crate does not need the feature.

use serde_json::value::RawValue;
use serde_json::{Map, Number, Value};

use super::describe::found;
use super::issue::{Issue, Path};
use super::number;
use crate::json::Entries;

/// Number of nesting levels that are converted here. `serde_json` converts the values below them.
const DEEPEST: usize = 127;

/// The reason why arguments cannot be converted to a [`Value`].
#[derive(Debug)]
pub enum Inexact {
    /// `serde_json` cannot read the text: it is not JSON, or is nested too deeply.
    Json(serde_json::Error),
    /// A number that a `Value` cannot represent.
    Number(Issue),
}

impl From<serde_json::Error> for Inexact {
    fn from(error: serde_json::Error) -> Self {
        Self::Json(error)
    }
}

/// 2^53. An `f64` represents every integer up to this value.
const EVERY_WHOLE: f64 = 9_007_199_254_740_992.0;

/// Rounds every fraction with more digits than an `f64` can represent to the nearest `f64`. Integers, numbers from 2^53 on, and numbers below the
/// smallest normal `f64` are not rounded. Returns `None` if nothing was rounded.
pub fn nearest_doubles(text: &str) -> Option<String> {
    if !may_round(text) {
        return None;
    }
    let mut out = String::new();
    let (mut from, mut at) = (0, 0);
    let bytes = text.as_bytes();
    while let Some(byte) = bytes.get(at) {
        let start = at;
        at += 1;
        match byte {
            b'"' => {
                while let Some(byte) = bytes.get(at) {
                    at += if *byte == b'\\' { 2 } else { 1 };
                    if *byte == b'"' {
                        break;
                    }
                }
            }
            b'-' | b'0'..=b'9' => {
                let is_part =
                    |byte: &u8| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-');
                at += bytes[at..].iter().take_while(|byte| is_part(byte)).count();
                if let Some(double) = text.get(start..at).and_then(nearest_double) {
                    out.push_str(text.get(from..start).unwrap_or_default());
                    out.push_str(&double.to_string());
                    from = at;
                }
            }
            _ => {}
        }
    }
    out.push_str(text.get(from..).unwrap_or_default());
    (from > 0).then_some(out)
}

/// Returns the nearest `f64` of a fraction that [`nearest_doubles`] rounds, and `None` for any other number.
fn nearest_double(digits: &str) -> Option<Number> {
    let double: f64 = digits.parse().ok()?;
    let is_fraction = digits.contains(['.', 'e', 'E']);
    let is_near = (f64::MIN_POSITIVE..EVERY_WHOLE).contains(&double.abs());
    if !is_fraction || !is_near || exact(digits).is_some() {
        return None;
    }
    Number::from_f64(double)
}

/// Converts arguments to a `Value`. Refuses them if a number would change its value.
pub fn value(text: &str) -> Result<Value, Inexact> {
    if may_round(text) {
        let raw: &RawValue = serde_json::from_str(text)?;
        build(raw.get(), &mut Path::default())
    } else {
        Ok(serde_json::from_str(text)?)
    }
}

/// Returns whether the text may contain a number with an exponent, or with more digits than an `f64` always preserves. Digits inside of
/// strings count as well.
fn may_round(text: &str) -> bool {
    let mut digits = 0;
    text.bytes().any(|byte| match byte {
        b'0'..=b'9' => {
            digits += 1;
            digits > f64::DIGITS
        }
        b'.' => false,
        b'e' | b'E' => digits > 0,
        _ => {
            digits = 0;
            false
        }
    })
}

fn build(text: &str, path: &mut Path) -> Result<Value, Inexact> {
    match text.as_bytes().first() {
        Some(b'{') if path.len() < DEEPEST => {
            let Entries(entries) = serde_json::from_str(text)?;
            let mut map = Map::new();
            for (key, value) in entries {
                path.key(&key);
                let value = build(value.get(), path)?;
                path.leave();
                map.insert(key, value);
            }
            Ok(Value::Object(map))
        }
        Some(b'[') if path.len() < DEEPEST => {
            let items: Vec<&RawValue> = serde_json::from_str(text)?;
            let mut values = Vec::with_capacity(items.len());
            for (index, item) in items.into_iter().enumerate() {
                path.item(index);
                values.push(build(item.get(), path)?);
                path.leave();
            }
            Ok(Value::Array(values))
        }
        Some(b'-' | b'0'..=b'9') => exact(text).map(Value::Number).ok_or_else(|| {
            Inexact::Number(Issue {
                pointer: path.pointer(),
                expected: "a number that this tool can represent exactly: a whole number of 64 bits, or a number of at most 15 digits"
                    .to_owned(),
                found: found(text),
            })
        }),
        _ => Ok(serde_json::from_str(text)?),
    }
}

/// Returns the number with exactly the written value, or `None`.
fn exact(text: &str) -> Option<Number> {
    let is_same = |number: &Number| number::is_same(&number.to_string(), text);
    if let Ok(number) = serde_json::from_str::<Number>(text)
        && is_same(&number)
    {
        return Some(number);
    }
    // The standard library rounds to the nearest `f64`. The shortest text of the result may have the written value.
    Number::from_f64(text.parse().ok()?).filter(is_same)
}

#[cfg(test)]
mod tests {
    use super::*;

    // A number keeps its written value, or the call is refused.
    #[test]
    fn numbers_are_represented_exactly_or_refused() {
        for (text, held) in [
            ("1", "1"),
            ("-9223372036854775808", "-9223372036854775808"),
            ("18446744073709551615", "18446744073709551615"),
            ("0.1", "0.1"),
            ("1e2", "100.0"),
            ("1e22", "1e22"),
            ("10000000000000000000000", "1e22"),
            ("-0.0", "-0.0"),
            ("122.41629403378658", "122.41629403378658"),
            ("5e-324", "5e-324"),
            ("1.7976931348623157e308", "1.7976931348623157e308"),
        ] {
            let value = value(&format!(" [{text}]")).unwrap();
            // Some versions of serde_json write `e22`, others write `e+22`.
            let written = value[0].to_string().replace("e+", "e");
            assert_eq!(written, held, "{text}");
        }
        for text in [
            "12345678901234567890123",
            "18446744073709551616.5",
            "100000000000000000.9",
            "122.416294033786585",
            "122.41629403378659",
            "0.1000000000000000055511151231257827",
            "1e999",
            "1e-999",
            "1e99999999999999999999",
        ] {
            let arguments = format!(r#"{{"a":[{{"b/c":{text}}}],"z":1}}"#);
            match value(&arguments) {
                Err(Inexact::Number(issue)) => {
                    assert_eq!(issue.pointer, "/a/0/b~1c");
                    assert!(issue.found.contains(&text[..5]), "{}", issue.found);
                }
                other => panic!("{text}: {other:?}"),
            }
        }
    }

    // A fraction with more digits than a double becomes the nearest double, not a neighbour of it.
    #[test]
    fn fractions_become_their_nearest_double() {
        for (text, nearest) in [
            (
                r#"{"a":122.416294033786585}"#,
                r#"{"a":122.41629403378658}"#,
            ),
            ("[-0.1000000000000000055511151231257827, 2]", "[-0.1, 2]"),
            (
                r#"{"1.0000000000000000000001":"\"1.00000000000000000001","b":1.00000000000000000001}"#,
                r#"{"1.0000000000000000000001":"\"1.00000000000000000001","b":1.0}"#,
            ),
            (
                "[1e-20,12345678901234567.25e-10]",
                "[1e-20,1234567.8901234567]",
            ),
        ] {
            assert_eq!(nearest_doubles(text).as_deref(), Some(nearest), "{text}");
            assert!(value(nearest).is_ok(), "{nearest}");
        }
        for text in [
            "[122.41629403378658]",
            "[12345678901234567890123]",
            "[100000000000000000.9]",
            "[1e999,1e-999,3e-324]",
            "[9007199254740993]",
            r#"["122.416294033786585\\"]"#,
            r#"["122.416294033786585"#,
        ] {
            assert_eq!(nearest_doubles(text), None, "{text}");
        }
    }

    #[test]
    fn values_without_long_numbers_equal_the_values_of_serde_json() {
        let deep = format!("{}1e1{}", "[".repeat(100), "]".repeat(100));
        for text in [
            r#"{"a":"1e5 \u0041","b":[null,true,{}],"n":1e1,"a\"":[]}"#,
            r#""12345678901234567890""#,
            &deep,
        ] {
            let expected: Value = serde_json::from_str(text).unwrap();
            assert_eq!(value(text).unwrap(), expected, "{text}");
        }
        let too_deep = format!("{}1e1{}", "[".repeat(400), "]".repeat(400));
        for text in ["", "1e1 1", "[1e1", r#"{"a":1e1,}"#, &too_deep] {
            assert!(matches!(value(text), Err(Inexact::Json(_))), "{text}");
        }
    }
}
