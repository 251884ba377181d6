//! Every message of the macros, in one table.
//!
//! Lower case, no final period, code in backticks, the rule in brackets first, then what to write instead.

use std::fmt::Display;

/// `a`, `b`, `c`
pub(crate) fn list(words: impl IntoIterator<Item = impl Display>) -> String {
    let mut out = String::new();
    for word in words {
        if !out.is_empty() {
            out.push_str(", ");
        }
        out.push_str(&format!("`{word}`"));
    }
    out
}

// Lists of words.
pub(crate) const LIST_EXPECTED: &str =
    "expected a list in parentheses, such as `#[schema(range = 1..=50)]`";

pub(crate) fn unknown_word(word: impl Display, known: &[&str]) -> String {
    format!("unknown option `{word}`, known are {}", list(known))
}

pub(crate) fn word_twice(word: impl Display) -> String {
    format!("`{word}` is stated twice, keep one")
}

pub(crate) fn unknown_rule(rule: impl Display, known: &[&str]) -> String {
    format!(
        "no warning has the rule id `{rule}`, known are {}",
        list(known)
    )
}

// Documentation.
pub(crate) const DOC_NOT_LITERAL: &str =
    "a description must be literal text, write it out as `///` lines";

// JSON tokens and numbers.
pub(crate) const JSON_EXPECTED: &str = "expected a JSON value: `null`, `true`, `false`, a number, text in quotes, `[…]` or `{ \"key\": … }`";
pub(crate) const JSON_KEY: &str = "expected a key in quotes, as in `{ \"key\": 1 }`";
pub(crate) const NUMBER_EXPECTED: &str = "expected a number, written out";
pub(crate) const NUMBER_PLAIN: &str =
    "write the number as JSON does: decimal, without a type suffix, digits after the point";
pub(crate) const NUMBER_TOO_LARGE: &str = "the number is too large";

pub(crate) fn json_key_twice(key: &str) -> String {
    format!("the key `{key}` stands twice, remove one")
}

// Bounds.
pub(crate) const RANGE_EXPECTED: &str =
    "expected a range of numbers, such as `range = 1..=50` or `range = 0.0..`";
pub(crate) const LENGTH_EXPECTED: &str =
    "expected a number of characters, such as `length = 1..=200` or `length = 8`";
pub(crate) const RANGE_EMPTY: &str =
    "[constraint] nothing lies in this range, the smaller number comes first";
pub(crate) const COUNT_EXPECTED: &str = "expected a whole number, zero or more";
pub(crate) const ITEMS_EMPTY: &str = "[constraint] `max_items` is smaller than `min_items`";
pub(crate) const MULTIPLE_OF_ZERO: &str = "[constraint] `multiple_of` must be greater than zero";
pub(crate) const FORMAT_URI: &str = "[format-uri] not every provider takes URL formats, drop the format and check the text in the tool";

pub(crate) fn format_unknown<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    format!(
        "[format-unknown] no strict mode knows the format `{name}`, known are {}",
        list(known)
    )
}

pub(crate) fn pattern_and_format(format: &str) -> String {
    format!(
        "[constraint] the format `{format}` fixes the text already, drop the pattern or the format"
    )
}
