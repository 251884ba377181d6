//! Replacement values, and other spellings of JSON values.

use std::fmt::Write as _;

use bfcl_gen::json::{Json, quoted};

use super::RandomChoices;

/// Returns a value of a different type. A whole number is also a valid `number`.
pub(super) fn other_type(value: &Json, dice: &mut RandomChoices) -> Option<Json> {
    let others: Vec<Json> = [
        Json::Flag(true),
        Json::Text("text".into()),
        Json::Number("1".into()),
        Json::Raw("0.5".into()),
        Json::List(Vec::new()),
        Json::Record(Vec::new()),
    ]
    .into_iter()
    .filter(|other| other.kind() != value.kind())
    .collect();
    dice.one_of(&others).cloned()
}

/// Returns the values of a record without their keys, because serde would read a struct from such a list.
pub(super) fn values(value: &Json) -> Option<Json> {
    match value {
        Json::Record(entries) => Some(Json::List(
            entries.iter().map(|(_, value)| value.clone()).collect(),
        )),
        _ => None,
    }
}

/// Swaps upper and lower case.
pub(super) fn swap_case(text: &str) -> String {
    text.chars()
        .map(|letter| {
            if letter.is_ascii_lowercase() {
                letter.to_ascii_uppercase()
            } else {
                letter.to_ascii_lowercase()
            }
        })
        .collect()
}

/// Writes a JSON string with an escape for every letter.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::from("\"");
    for unit in text.encode_utf16() {
        let _ = write!(out, "\\u{unit:04x}");
    }
    out.push('"');
    out
}

/// Writes a JSON value with an escape for every letter of its texts and keys.
pub(super) fn escaped(value: &Json) -> String {
    match value {
        Json::Text(text) => escape(text),
        Json::List(items) => {
            let items: Vec<String> = items.iter().map(escaped).collect();
            format!("[{}]", items.join(","))
        }
        Json::Record(entries) => {
            let entries: Vec<String> = entries
                .iter()
                .map(|(key, value)| format!("{}:{}", escape(key), escaped(value)))
                .collect();
            format!("{{{}}}", entries.join(","))
        }
        other => other.to_string(),
    }
}

/// Writes a JSON value with white space at every place where it is allowed.
pub(super) fn spaced(value: &Json) -> String {
    match value {
        Json::List(items) => {
            let items: Vec<String> = items.iter().map(spaced).collect();
            format!(" [\n{}\t] ", items.join(","))
        }
        Json::Record(entries) => {
            let entries: Vec<String> = entries
                .iter()
                .map(|(key, value)| format!(" {} \r\n:{}", quoted(key), spaced(value)))
                .collect();
            format!("\t{{ {}\n}} \n", entries.join(" ,"))
        }
        other => format!(" {other} "),
    }
}
