//! One text for one value: what an approval and a ledger row are bound to.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::value::RawValue;

/// Deeper values are refused; the guard admits none that deep.
const DEEPEST: usize = 128;

/// The canonical spelling of JSON text: keys sorted by their bytes, no white space, strings escaped as `serde_json` does, whole
/// numbers digit for digit and without a fraction, other numbers as the shortest text of their `f64`.
///
/// Two texts have the same canonical one exactly when they say the same value. `None` where the text is no JSON.
pub(crate) fn canonical(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let value: &RawValue = serde_json::from_str(text).ok()?;
    write_value(value.get(), &mut out, DEEPEST)?;
    Some(out)
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

fn write_number(text: &str, out: &mut String) -> Option<()> {
    if text
        .bytes()
        .all(|byte| byte == b'-' || byte.is_ascii_digit())
    {
        // Minus zero is zero.
        out.push_str(if text == "-0" { "0" } else { text });
        return Some(());
    }
    let value: f64 = text.parse().ok()?;
    if !value.is_finite() {
        return None;
    }
    // `{}` of an `f64` is the shortest text that reads back, without an exponent and without `.0`.
    let value = if value == 0.0 { 0.0 } else { value };
    write!(out, "{value}").ok()
}

#[cfg(test)]
mod tests {
    use super::canonical;

    #[test]
    fn one_value_has_one_text() {
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
        ];
        for (text, expected) in cases {
            assert_eq!(canonical(text).as_deref(), Some(expected), "{text}");
            assert_eq!(canonical(expected).as_deref(), Some(expected), "again");
        }
        assert_ne!(canonical("9007199254740993"), canonical("9007199254740992"));
        for wrong in ["", "{", "1e999", "nul"] {
            assert_eq!(canonical(wrong), None, "{wrong}");
        }
    }
}
