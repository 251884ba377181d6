//! Canonical JSON text, to which approvals and ledger rows are bound.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::args::write_number;
use crate::json::Entries;

/// Maximum nesting depth. The argument guard does not admit deeper values.
const DEEPEST: usize = 128;

/// Returns the canonical form of JSON text: keys sorted by their bytes, no white space, strings escaped as `serde_json` does. Numbers are
/// written by their decimal value. They have an exponent only if they would otherwise have more than 309 zeros at the end or 323 zeros
/// after the decimal point.
///
/// Two texts have the same canonical form if and only if they have the same value. No number passes through `f64`. Returns `None` if the text is not
/// JSON, is nested too deeply, or has a number whose exponent has about 18 digits or more.
pub fn canonical(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let value: &RawValue = serde_json::from_str(text).ok()?;
    write_value(value.get(), &mut out, DEEPEST)?;
    Some(out)
}

/// Finds a key that occurs twice in an object of JSON text. [`canonical`] must accept the text.
pub fn repeated_key(text: &str) -> Option<String> {
    match text.trim_start().as_bytes().first()? {
        b'{' => {
            let Entries(entries) = serde_json::from_str(text).ok()?;
            let mut seen = std::collections::BTreeSet::new();
            entries.into_iter().find_map(|(key, value)| {
                if seen.insert(key.clone()) {
                    repeated_key(value.get())
                } else {
                    Some(key)
                }
            })
        }
        b'[' => {
            let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
            items.into_iter().find_map(|item| repeated_key(item.get()))
        }
        _ => None,
    }
}

fn write_value(text: &str, out: &mut String, depth: usize) -> Option<()> {
    let depth = depth.checked_sub(1)?;
    match text.as_bytes().first()? {
        b'{' => {
            let entries: BTreeMap<String, &RawValue> = serde_json::from_str(text).ok()?;
            out.push('{');
            for (i, (key, value)) in entries.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write_text(key, out)?;
                out.push(':');
                write_value(value.get(), out, depth)?;
            }
            out.push('}');
        }
        b'[' => {
            let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write_value(item.get(), out, depth)?;
            }
            out.push(']');
        }
        b'"' => {
            let text: String = serde_json::from_str(text).ok()?;
            write_text(&text, out)?;
        }
        b'-' | b'0'..=b'9' => write_number(text, out)?,
        _ => out.push_str(text),
    }
    Some(())
}

fn write_text(text: &str, out: &mut String) -> Option<()> {
    out.push_str(&serde_json::to_string(text).ok()?);
    Some(())
}

#[cfg(test)]
mod tests {
    use bigdecimal::BigDecimal;
    use proptest::prelude::*;
    use std::str::FromStr as _;

    use super::canonical;
    use crate::args::{Inexact, value};

    /// A decimal number as digits and a power of ten.
    #[derive(Clone, Debug)]
    struct Number {
        negative: bool,
        digits: String,
        power: i64,
    }

    impl Number {
        /// Writes the number in JSON notation, with `behind` digits after the decimal point and `zeros` extra zeros.
        fn spell(&self, behind: usize, zeros: usize, exponent: &str) -> String {
            let digits = format!(
                "{}{}{}",
                "0".repeat((behind + 1).saturating_sub(self.digits.len() + zeros)),
                self.digits,
                "0".repeat(zeros)
            );
            let (before, after) = digits.split_at(digits.len() - behind.min(digits.len() - 1));
            let trimmed = before.trim_start_matches('0');
            let before = if trimmed.is_empty() { "0" } else { trimmed };
            let point = if after.is_empty() { "" } else { "." };
            let power =
                self.power + i64::try_from(after.len()).unwrap() - i64::try_from(zeros).unwrap();
            let sign = if self.negative { "-" } else { "" };
            let power = match power {
                0 if exponent.is_empty() => String::new(),
                power if power > 0 && exponent == "E+" => format!("E+{power}"),
                power => format!("e{power}"),
            };
            format!("{sign}{before}{point}{after}{power}")
        }
    }

    fn number() -> impl Strategy<Value = Number> {
        let digits = prop_oneof!["[0-9]{1,5}", "[0-9]{14,24}", "[0-9]{40,60}", "[1-9]0{0,30}"];
        let power = prop_oneof![4 => -30..30_i64, 1 => -700..700_i64];
        (any::<bool>(), digits, power).prop_map(|(negative, digits, power)| Number {
            negative,
            digits,
            power,
        })
    }

    fn spelling() -> impl Strategy<Value = (usize, usize, &'static str)> {
        let exponent = prop_oneof![Just(""), Just("E+")];
        (0..30_usize, 0..20_usize, exponent)
    }

    fn judge(text: &str) -> BigDecimal {
        BigDecimal::from_str(text).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        // A canonical text has the decimal value of the original, and all notations of a value have the same text.
        #[test]
        fn equal_decimals_have_one_canonical_text(
            number in number(),
            one in spelling(),
            two in spelling(),
        ) {
            let (one, two) = (number.spell(one.0, one.1, one.2), number.spell(two.0, two.1, two.2));
            prop_assert_eq!(judge(&one), judge(&two));
            let text = canonical(&one).unwrap();
            prop_assert_eq!(judge(&text), judge(&one));
            prop_assert_eq!(Some(text.clone()), canonical(&two), "{} {}", one, two);
            prop_assert_eq!(Some(text.clone()), canonical(&text));
            prop_assert!(text.len() <= one.len() + 330, "{}", text);
        }

        // Two different decimals never have the same text, however close they are.
        #[test]
        fn close_decimals_have_different_canonical_texts(
            number in number(),
            at in any::<prop::sample::Index>(),
            digit in b'0'..=b'9',
            shift in -1..=1_i64,
            spelling in spelling(),
        ) {
            let mut other = number.clone();
            let at = at.index(other.digits.len());
            other.digits.replace_range(at..=at, &char::from(digit).to_string());
            other.power += shift;
            let (one, two) = (number.spell(0, 0, ""), other.spell(spelling.0, spelling.1, spelling.2));
            prop_assert_eq!(
                canonical(&one) == canonical(&two),
                judge(&one) == judge(&two),
                "{} {}", one, two
            );
        }

        // A dynamic tool receives the decimal value that was written, or the call is refused.
        #[test]
        fn dynamic_tool_receives_the_written_decimal(number in number(), spelling in spelling()) {
            let written = number.spell(spelling.0, spelling.1, spelling.2);
            match value(&written) {
                Ok(received) => prop_assert_eq!(judge(&received.to_string()), judge(&written)),
                Err(Inexact::Number(_)) => {
                    let digits = canonical(&written).unwrap();
                    let significant = digits.trim_start_matches(['-', '0', '.']);
                    let top = number.power + i64::try_from(number.digits.len()).unwrap();
                    let fits = (-280..300).contains(&top);
                    prop_assert!(significant.len() > 15 || !fits, "{} was refused", written);
                }
                Err(Inexact::Json(error)) => prop_assert!(false, "{}: {}", written, error),
            }
        }

        // A number that an `f64` or a 64-bit integer represents has the same text as in earlier versions.
        #[test]
        fn ordinary_numbers_keep_their_stored_text(float in any::<f64>(), whole in any::<i64>()) {
            prop_assume!(float.is_finite());
            let expected = format!("{}", if float == 0.0 { 0.0 } else { float });
            prop_assert_eq!(canonical(&format!("{float:e}")), Some(expected.clone()));
            prop_assert_eq!(canonical(&expected), Some(expected));
            prop_assert_eq!(canonical(&whole.to_string()), Some(whole.to_string()));
        }
    }

    // A huge exponent costs neither much memory nor much time.
    #[test]
    fn huge_exponents_have_a_short_canonical_text() {
        let digits = "7".repeat(100_000);
        for text in [
            "1e999999999999999".to_owned(),
            "1e-999999999999999".to_owned(),
            format!("{digits}e99999999"),
            format!("0.{digits}e-99999999"),
            format!("[{}]", vec!["1e300"; 10_000].join(",")),
        ] {
            let canonical = canonical(&text).unwrap();
            assert!(canonical.len() <= 64 * text.len(), "{}", canonical.len());
        }
        assert_ne!(
            canonical("1e999999999999999"),
            canonical("1e999999999999998")
        );
    }

    #[test]
    fn equal_values_have_one_canonical_text() {
        let cases = [
            (
                r#"{ "b" : 1, "a" : [ true, null ] }"#,
                r#"{"a":[true,null],"b":1}"#,
            ),
            (
                r#"{"b":{"z":1,"y":2},"a":"\u0041\/"}"#,
                r#"{"a":"A/","b":{"y":2,"z":1}}"#,
            ),
            ("1.0", "1"),
            ("1e2", "100"),
            ("-0", "0"),
            ("-0.0", "0"),
            ("0.10", "0.1"),
            ("18446744073709551616", "18446744073709551616"),
            ("[ ]", "[]"),
            ("100000000000000000.9", "100000000000000000.9"),
            ("12345678901234567890123", "12345678901234567890123"),
            ("1.20e1", "12"),
            ("-1500E-3", "-1.5"),
            ("0.0e999999999999999999999", "0"),
            ("1e309", &format!("1{}", "0".repeat(309))),
            ("1e310", "1e310"),
            ("10e309", "1e310"),
            ("0.1e-400", "1e-401"),
            ("12e999999999", "12e999999999"),
            ("120e999999998", "12e999999999"),
        ];
        for (text, expected) in cases {
            assert_eq!(canonical(text).as_deref(), Some(expected), "{text}");
            assert_eq!(canonical(expected).as_deref(), Some(expected), "again");
        }
        assert_ne!(canonical("9007199254740993"), canonical("9007199254740992"));
        for wrong in ["", "{", "1e9999999999999999999", "nul"] {
            assert_eq!(canonical(wrong), None, "{wrong}");
        }
    }
}
