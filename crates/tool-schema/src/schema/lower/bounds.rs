//! Bounds of a schema node, as JSON Schema keywords and in words.

use crate::schema::lower::describe::{self, Description};
use crate::schema::lower::masks::{
    FINE_RANGE, ITEMS, LENGTH, LENGTH_PROSE, ONLY_JSON_SCHEMA, PATTERN, RANGE,
};
use crate::schema::text::{Out, put};
use crate::schema::{Constraints, Integer, Kind, Number, Schema};

/// Writes the bounds of an integer: the explicit bounds, otherwise the bounds of its type.
pub(super) const fn integer(
    out: &mut Out<'_>,
    integer: &Integer,
    bounds: Option<&Constraints>,
    mask: u8,
) {
    let (mut stated_min, mut stated_max) = (false, false);
    if let Some(bounds) = bounds {
        if let Some(min) = bounds.min {
            stated_min = true;
            put!(out, mask & RANGE, r#","minimum":"#);
            inclusive(out, min, bounds.exclusive_min, 1, mask & RANGE);
        }
        if let Some(max) = bounds.max {
            stated_max = true;
            put!(out, mask & RANGE, r#","maximum":"#);
            inclusive(out, max, bounds.exclusive_max, -1, mask & RANGE);
        }
        multiple(out, bounds, mask);
    }
    if !stated_min {
        let known = stated_width(mask, is_short_min(integer));
        put!(out, known, r#","minimum":"#);
        smallest(out, integer, known);
    }
    if !stated_max {
        let known = stated_width(mask, is_short_max(integer));
        put!(out, known, r#","maximum":"#);
        largest(out, integer.max, known);
    }
    if integer.not_zero && integer.min < 0 {
        put!(out, mask & ONLY_JSON_SCHEMA, r#","not":{"const":0}"#);
    }
}

/// Returns the dialects that state a type's bound as a keyword. Many validators store bounds as doubles, which round 64-bit
/// bounds (python-jsonschema#166).
const fn stated_width(mask: u8, is_short: bool) -> u8 {
    if is_short {
        mask & RANGE
    } else {
        mask & ONLY_JSON_SCHEMA
    }
}

/// Returns whether the smallest value fits in 32 bits.
const fn is_short_min(integer: &Integer) -> bool {
    integer.min >= i32::MIN as i128
}

/// Returns whether the largest value fits in 32 bits.
const fn is_short_max(integer: &Integer) -> bool {
    integer.max <= u32::MAX as u128
}

/// Writes the bounds of an integer in words, for dialects without a keyword.
pub(super) const fn whole(
    out: &mut Out<'_>,
    text: &mut Description,
    integer: &Integer,
    bounds: Option<&Constraints>,
    mask: u8,
) {
    if integer.not_zero && integer.min < 0 {
        text.say(out, mask & !ONLY_JSON_SCHEMA, "Not 0.");
    }
    let (mut min, mut max) = (None, None);
    if let Some(bounds) = bounds {
        (min, max) = (bounds.min, bounds.max);
    }
    let has_min = min.is_some() || is_short_min(integer);
    let has_max = max.is_some() || is_short_max(integer);
    let worded = mask & !RANGE & out.mask;
    if worded != 0 && (has_min || has_max) {
        text.begin(out, worded);
        if has_min && has_max {
            put!(out, worded, "Range: ");
            least(out, integer, bounds, worded);
            put!(out, worded, " to ");
            most(out, integer, bounds, worded);
        } else if has_max {
            put!(out, worded, "At most ");
            most(out, integer, bounds, worded);
        } else if min.is_some() {
            put!(out, worded, "At least ");
            least(out, integer, bounds, worded);
        } else {
            least(out, integer, bounds, worded);
            put!(out, worded, " or more");
        }
        put!(out, worded, ".");
    }
    if !has_min || !has_max {
        text.say(out, mask & !ONLY_JSON_SCHEMA, width(integer));
    }
    if let Some(bounds) = bounds {
        steps(out, text, bounds, mask);
    }
}

/// Writes the effective lower bound.
const fn least(out: &mut Out<'_>, integer: &Integer, bounds: Option<&Constraints>, mask: u8) {
    match bounds {
        Some(Constraints {
            min: Some(min),
            exclusive_min,
            ..
        }) => inclusive(out, *min, *exclusive_min, 1, mask),
        _ => smallest(out, integer, mask),
    }
}

/// Writes the effective upper bound.
const fn most(out: &mut Out<'_>, integer: &Integer, bounds: Option<&Constraints>, mask: u8) {
    match bounds {
        Some(Constraints {
            max: Some(max),
            exclusive_max,
            ..
        }) => inclusive(out, *max, *exclusive_max, -1, mask),
        _ => largest(out, integer.max, mask),
    }
}

/// Returns the width of an integer type of more than 32 bits. Integers of a schema read at run time have no width.
const fn width(integer: &Integer) -> &'static str {
    const I64: i128 = i64::MIN as i128;
    const I64_MAX: u128 = i64::MAX as u128;
    const U64_MAX: u128 = u64::MAX as u128;
    match (integer.min, integer.max) {
        (I64, I64_MAX) | (0 | 1, U64_MAX) => "Fits in 64 bits.",
        (I64, U64_MAX) => "",
        _ => "Fits in 128 bits.",
    }
}

/// Writes the smallest value of a type. Common values are literals, which avoids a division per digit.
const fn smallest(out: &mut Out<'_>, integer: &Integer, mask: u8) {
    match integer.min {
        0 => put!(out, mask, if integer.not_zero { "1" } else { "0" }),
        1 => put!(out, mask, "1"),
        -128 => put!(out, mask, "-128"),
        -32_768 => put!(out, mask, "-32768"),
        -2_147_483_648 => put!(out, mask, "-2147483648"),
        -9_223_372_036_854_775_808 => put!(out, mask, "-9223372036854775808"),
        other => out.put_integer(mask, other),
    }
}

const fn largest(out: &mut Out<'_>, value: u128, mask: u8) {
    match value {
        127 => put!(out, mask, "127"),
        255 => put!(out, mask, "255"),
        32_767 => put!(out, mask, "32767"),
        65_535 => put!(out, mask, "65535"),
        2_147_483_647 => put!(out, mask, "2147483647"),
        4_294_967_295 => put!(out, mask, "4294967295"),
        9_223_372_036_854_775_807 => put!(out, mask, "9223372036854775807"),
        18_446_744_073_709_551_615 => put!(out, mask, "18446744073709551615"),
        other => out.put_magnitude(mask, other),
    }
}

/// Writes a bound of an integer as an inclusive bound: an exclusive bound is moved by one.
const fn inclusive(out: &mut Out<'_>, bound: Number, exclusive: bool, step: i128, mask: u8) {
    match bound {
        Number::Integer { value, .. } if exclusive => {
            out.put_integer(mask, value.saturating_add(step));
        }
        _ => put!(out, mask, bound.text()),
    }
}

/// Writes the bounds of a number.
pub(super) const fn number(out: &mut Out<'_>, bounds: &Constraints, mask: u8) {
    if let Some(min) = bounds.min {
        let mask = if bounds.exclusive_min {
            mask & FINE_RANGE
        } else {
            mask & RANGE
        };
        put!(
            out,
            mask,
            if bounds.exclusive_min {
                r#","exclusiveMinimum":"#
            } else {
                r#","minimum":"#
            },
        );
        put!(out, mask, min.text());
    }
    if let Some(max) = bounds.max {
        let mask = if bounds.exclusive_max {
            mask & FINE_RANGE
        } else {
            mask & RANGE
        };
        put!(
            out,
            mask,
            if bounds.exclusive_max {
                r#","exclusiveMaximum":"#
            } else {
                r#","maximum":"#
            },
        );
        put!(out, mask, max.text());
    }
    multiple(out, bounds, mask);
}

const fn multiple(out: &mut Out<'_>, bounds: &Constraints, mask: u8) {
    if let Some(step) = bounds.multiple_of {
        put!(out, mask & FINE_RANGE, r#","multipleOf":"#);
        put!(out, mask & FINE_RANGE, step.text());
    }
}

/// Writes the bounds of a string.
pub(super) const fn string(out: &mut Out<'_>, bounds: &Constraints, mask: u8) {
    if let Some(format) = bounds.format {
        super::shapes::format(out, format, mask);
    }
    if let Some(least) = bounds.min_length {
        put!(out, mask & LENGTH, r#","minLength":"#);
        out.put_magnitude(mask & LENGTH, least as u128);
    }
    if let Some(most) = bounds.max_length {
        put!(out, mask & LENGTH, r#","maxLength":"#);
        out.put_magnitude(mask & LENGTH, most as u128);
    }
    if let Some(pattern) = bounds.pattern {
        put!(out, mask & PATTERN, r#","pattern":""#);
        out.put_escaped(mask & PATTERN, pattern.source());
        put!(out, mask & PATTERN, "\"");
    }
}

/// Writes the bounds on the number of items.
pub(super) const fn items(
    out: &mut Out<'_>,
    bounds: Option<&Constraints>,
    exactly: Option<usize>,
    mask: u8,
) {
    let (mut least, mut most) = (exactly, exactly);
    if let Some(bounds) = bounds {
        if bounds.min_items.is_some() {
            least = bounds.min_items;
        }
        if bounds.max_items.is_some() {
            most = bounds.max_items;
        }
    }
    if let Some(least) = least {
        let mask = if least <= 1 { mask } else { mask & ITEMS };
        put!(out, mask, r#","minItems":"#);
        out.put_magnitude(mask, least as u128);
    }
    if let Some(most) = most {
        put!(out, mask & ITEMS, r#","maxItems":"#);
        out.put_magnitude(mask & ITEMS, most as u128);
    }
}

/// Writes a fixed number of items in words.
pub(super) const fn exactly(out: &mut Out<'_>, text: &mut Description, count: usize, mask: u8) {
    if mask & out.mask == 0 {
        return;
    }
    text.begin(out, mask);
    put!(out, mask, "Exactly ");
    out.put_magnitude(mask, count as u128);
    put!(out, mask, if count == 1 { " item." } else { " items." });
}

/// Writes the bounds in words, for the dialects without the keyword. Lengths are also written for dialects that do not guarantee to enforce them.
pub(super) const fn prose(
    out: &mut Out<'_>,
    text: &mut Description,
    bounds: &Constraints,
    base: &Schema,
    mask: u8,
) {
    match &base.kind {
        // Integers are written by `whole`, because they have bounds even if none is explicit.
        Kind::Integer(_) => {}
        Kind::Number { .. } => range(out, text, bounds, mask),
        Kind::Array {
            exactly, unique, ..
        } => {
            let least = match bounds.min_items {
                Some(0 | 1) => None,
                least => least,
            };
            if exactly.is_none() {
                counted(out, text, least, bounds.max_items, " item", mask & !ITEMS);
            }
            if bounds.unique && !*unique {
                text.say(out, mask & !ONLY_JSON_SCHEMA, "Each item once.");
            }
        }
        _ => {
            if let Some(format) = bounds.format {
                describe::format(out, text, format, mask);
            }
            counted(
                out,
                text,
                bounds.min_length,
                bounds.max_length,
                " character",
                mask & LENGTH_PROSE,
            );
            if let Some(pattern) = bounds.pattern
                && mask & !PATTERN & out.mask != 0
            {
                let mask = mask & !PATTERN;
                text.begin(out, mask);
                put!(out, mask, "Pattern: `");
                out.put_escaped(mask, pattern.source());
                put!(out, mask, "`.");
            }
        }
    }
}

/// Writes "2 to 5 items.", "At least 2 items.", "At most 5 items." or "Exactly 2 items."
const fn counted(
    out: &mut Out<'_>,
    text: &mut Description,
    least: Option<usize>,
    most: Option<usize>,
    noun: &str,
    mask: u8,
) {
    if mask & out.mask == 0 || least.is_none() && most.is_none() {
        return;
    }
    text.begin(out, mask);
    let bound = match (least, most) {
        (Some(least), Some(most)) if least == most => {
            put!(out, mask, "Exactly ");
            most
        }
        (Some(least), Some(most)) => {
            out.put_magnitude(mask, least as u128);
            put!(out, mask, " to ");
            most
        }
        (Some(least), None) => {
            put!(out, mask, "At least ");
            least
        }
        (None, Some(most)) => {
            put!(out, mask, "At most ");
            most
        }
        (None, None) => 0,
    };
    out.put_magnitude(mask, bound as u128);
    put!(out, mask, noun);
    put!(out, mask, if bound == 1 { "." } else { "s." });
}

/// Writes the bounds of a non-integer number in words.
const fn range(out: &mut Out<'_>, text: &mut Description, bounds: &Constraints, mask: u8) {
    // Gemini has keywords for inclusive bounds, but not for exclusive ones.
    let unsaid_min = !RANGE | if bounds.exclusive_min { !FINE_RANGE } else { 0 };
    let unsaid_max = !RANGE | if bounds.exclusive_max { !FINE_RANGE } else { 0 };
    match (bounds.min, bounds.max) {
        (Some(min), Some(max)) if !bounds.exclusive_min && !bounds.exclusive_max => {
            let mask = mask & !RANGE;
            if mask & out.mask != 0 {
                text.begin(out, mask);
                put!(out, mask, "Range: ");
                put!(out, mask, min.text());
                put!(out, mask, " to ");
                put!(out, mask, max.text());
                put!(out, mask, ".");
            }
        }
        (min, max) => {
            if let Some(min) = min {
                let words = if bounds.exclusive_min {
                    "More than "
                } else {
                    "At least "
                };
                one_bound(out, text, words, min, mask & unsaid_min);
            }
            if let Some(max) = max {
                let words = if bounds.exclusive_max {
                    "Less than "
                } else {
                    "At most "
                };
                one_bound(out, text, words, max, mask & unsaid_max);
            }
        }
    }
    steps(out, text, bounds, mask);
}

/// Writes "A multiple of 5."
const fn steps(out: &mut Out<'_>, text: &mut Description, bounds: &Constraints, mask: u8) {
    if let Some(step) = bounds.multiple_of
        && mask & !FINE_RANGE & out.mask != 0
    {
        let mask = mask & !FINE_RANGE;
        text.begin(out, mask);
        put!(out, mask, "A multiple of ");
        put!(out, mask, step.text());
        put!(out, mask, ".");
    }
}

const fn one_bound(
    out: &mut Out<'_>,
    text: &mut Description,
    words: &str,
    bound: Number,
    mask: u8,
) {
    if mask & out.mask == 0 {
        return;
    }
    text.begin(out, mask);
    put!(out, mask, words);
    put!(out, mask, bound.text());
    put!(out, mask, ".");
}
