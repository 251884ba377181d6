//! Checks of one value against its type and bounds.

use crate::schema::rules::number_value;
use crate::schema::text::same;
use crate::schema::{Constraints, Integer, Json, Number, duration};

pub(super) const fn characters(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut count, mut at) = (0, 0);
    let at_end = bytes.len();
    while at < at_end {
        count += (bytes[at] & 0xC0 != 0x80) as usize;
        at += 1;
    }
    count
}

pub(super) const fn text_fits(text: &str, bounds: Option<&Constraints>) -> bool {
    let Some(bounds) = bounds else { return true };
    if bounds.min_length.is_some() || bounds.max_length.is_some() {
        let length = characters(text);
        if matches!(bounds.min_length, Some(least) if length < least)
            || matches!(bounds.max_length, Some(most) if length > most)
        {
            return false;
        }
    }
    if let Some(format) = bounds.format
        && !format.matches(text.as_bytes())
    {
        return false;
    }
    match bounds.pattern {
        Some(pattern) => pattern.is_match(text),
        None => true,
    }
}

/// Returns whether a value is a duration: ISO 8601 text from a model, or `{secs, nanos}` in an output, as serde writes it.
pub(super) const fn duration_fits(value: &Json, output: bool) -> bool {
    match value {
        Json::String(text) => !output && duration::seconds(text.as_bytes()).is_some(),
        Json::Object(
            [
                (secs, Json::Number(Number::Integer { value: whole, .. })),
                (nanos, Json::Number(Number::Integer { value: rest, .. })),
            ],
        ) => {
            output
                && same(secs, "secs")
                && same(nanos, "nanos")
                && *whole >= 0
                && *rest >= 0
                && *rest < 1_000_000_000
        }
        _ => false,
    }
}

pub(super) const fn integer_fits(
    integer: &Integer,
    number: Number,
    bounds: Option<&Constraints>,
) -> bool {
    let Number::Integer { value, .. } = number else {
        return false;
    };
    value >= integer.min
        && (value < 0 || value.unsigned_abs() <= integer.max)
        && !(integer.not_zero && value == 0)
        && range_fits(number, bounds)
}

pub(super) const fn number_fits(
    single: bool,
    number: Number,
    bounds: Option<&Constraints>,
) -> bool {
    let value = number_value(number);
    let most = if single { f32::MAX as f64 } else { f64::MAX };
    value >= -most && value <= most && range_fits(number, bounds)
}

const fn range_fits(number: Number, bounds: Option<&Constraints>) -> bool {
    let Some(bounds) = bounds else { return true };
    if let Some(min) = bounds.min
        && !(is_less(min, number) || !bounds.exclusive_min && !is_less(number, min))
    {
        return false;
    }
    if let Some(max) = bounds.max
        && !(is_less(number, max) || !bounds.exclusive_max && !is_less(max, number))
    {
        return false;
    }
    match bounds.multiple_of {
        Some(step) => is_multiple(number, step),
        None => true,
    }
}

const fn is_less(left: Number, right: Number) -> bool {
    match (left, right) {
        (Number::Integer { value: left, .. }, Number::Integer { value: right, .. }) => left < right,
        _ => number_value(left) < number_value(right),
    }
}

/// Returns whether a number is a multiple of a step: exact for integers; otherwise the quotient may differ from a whole number by 1e-9, or by 1e-9 of
/// its size if it is above 1.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "the quotient is compared with the nearest whole number"
)]
const fn is_multiple(number: Number, step: Number) -> bool {
    if let (Number::Integer { value, .. }, Number::Integer { value: step, .. }) = (number, step) {
        return step != 0 && value % step == 0;
    }
    let quotient = number_value(number) / number_value(step);
    let half = if quotient < 0.0 { -0.5 } else { 0.5 };
    let nearest = (quotient + half) as i128 as f64;
    let off = quotient - nearest;
    let size = if quotient < 0.0 { -quotient } else { quotient };
    let slack = 1e-9 * if size > 1.0 { size } else { 1.0 };
    off <= slack && off >= -slack
}

pub(super) const fn count_fits(
    values: &[Json],
    unique: bool,
    exactly: Option<usize>,
    bounds: Option<&Constraints>,
) -> bool {
    let count = values.len();
    let mut once = unique;
    if let Some(bounds) = bounds {
        once |= bounds.unique;
        if matches!(bounds.min_items, Some(least) if count < least)
            || matches!(bounds.max_items, Some(most) if count > most)
        {
            return false;
        }
    }
    if matches!(exactly, Some(exactly) if count != exactly) {
        return false;
    }
    let mut at = 1;
    while once && at < count {
        let mut other = 0;
        while other < at {
            if is_same(&values[other], &values[at]) {
                return false;
            }
            other += 1;
        }
        at += 1;
    }
    true
}

/// Returns whether two values are equal as JSON: numbers by value, objects regardless of the order of keys.
const fn is_same(left: &Json, right: &Json) -> bool {
    match (left, right) {
        (Json::Null, Json::Null) => true,
        (Json::Boolean(left), Json::Boolean(right)) => *left == *right,
        (Json::Number(left), Json::Number(right)) => {
            !is_less(*left, *right) && !is_less(*right, *left)
        }
        (Json::String(left), Json::String(right)) => same(left, right),
        (Json::Array(left), Json::Array(right)) => {
            let mut at = 0;
            while left.len() == right.len() && at < left.len() && is_same(&left[at], &right[at]) {
                at += 1;
            }
            left.len() == right.len() && at == left.len()
        }
        (Json::Object(left), Json::Object(right)) => {
            if left.len() != right.len() {
                return false;
            }
            let mut at = 0;
            let at_end = left.len();
            while at < at_end {
                let (mut found, mut other) = (false, 0);
                let other_end = right.len();
                while other < other_end && !found {
                    found =
                        same(left[at].0, right[other].0) && is_same(&left[at].1, &right[other].1);
                    other += 1;
                }
                if !found {
                    return false;
                }
                at += 1;
            }
            true
        }
        _ => false,
    }
}
