//! Decimal arithmetic on JSON numbers, without `f64`.

use std::cmp::Ordering;

use super::scan::Num;
use crate::schema::{Constraints, Integer, Number};

/// A decimal number: the digits of `head` and `tail`, times ten to the power of `exponent`.
///
/// The digits neither start nor end with a zero. Zero has no digits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decimal<'t> {
    negative: bool,
    head: &'t [u8],
    tail: &'t [u8],
    exponent: i64,
}

/// A number that is larger than any sum of a text's length and a bound's exponent. Exponents are clamped to this value, so that sums cannot overflow.
const FAR: i64 = 1 << 60;

impl<'t> Decimal<'t> {
    /// Parses the text of a valid JSON number.
    pub(super) fn new(text: &'t str) -> Self {
        let (negative, text) = text
            .strip_prefix('-')
            .map_or((false, text), |text| (true, text));
        let (digits, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (head, tail) = digits.split_once('.').unwrap_or((digits, ""));
        let (mut head, mut tail) = (head.as_bytes(), tail.as_bytes());
        let mut exponent = power(exponent) - length(tail);
        while let [rest @ .., b'0'] = tail {
            tail = rest;
            exponent += 1;
        }
        while let ([rest @ .., b'0'], []) = (head, tail) {
            head = rest;
            exponent += 1;
        }
        while let [b'0', rest @ ..] = head {
            head = rest;
        }
        while let ([], [b'0', rest @ ..]) = (head, tail) {
            tail = rest;
        }
        Self {
            negative,
            head,
            tail,
            exponent,
        }
    }

    fn digits(&self) -> impl Iterator<Item = u8> + use<'t> {
        self.head.iter().chain(self.tail).copied()
    }

    const fn is_zero(&self) -> bool {
        self.head.is_empty() && self.tail.is_empty()
    }

    /// Returns whether the number has no fraction.
    pub(super) const fn is_whole(&self) -> bool {
        self.exponent >= 0 || self.is_zero()
    }

    /// Returns the absolute value, if the number is whole and fits in 128 bits.
    fn magnitude(&self) -> Option<u128> {
        if self.is_zero() {
            return Some(0);
        }
        let value = self.digits().try_fold(0u128, |value, digit| {
            value.checked_mul(10)?.checked_add(u128::from(digit & 15))
        })?;
        let factor = 10u128.checked_pow(u32::try_from(self.exponent).ok()?)?;
        value.checked_mul(factor)
    }

    /// Writes the canonical text, which is the same for all notations of the number and different for every other number. Returns
    /// `None` if the exponent is too large to compare.
    ///
    /// The text has an exponent only if decimal notation would add more zeros than for any `f64`. This limits the length of the text.
    fn write(&self, out: &mut String) -> Option<()> {
        /// Number of digits of the largest `f64` before the decimal point.
        const BEFORE: i64 = 309;
        /// Number of zeros of the smallest `f64` after the decimal point.
        const BEHIND: i64 = 323;
        if self.is_zero() {
            out.push('0');
            return Some(());
        }
        if self.exponent.abs() > FAR / 2 {
            return None;
        }
        if self.negative {
            out.push('-');
        }
        let start = out.len();
        out.extend(self.digits().map(char::from));
        // The number of digits before the decimal point.
        let before = length(self.head) + length(self.tail) + self.exponent;
        let zeros = |count: i64| "0".repeat(usize::try_from(count).unwrap_or_default());
        match self.exponent {
            0.. if self.exponent <= BEFORE => out.push_str(&zeros(self.exponent)),
            ..0 if before > 0 => out.insert(start + usize::try_from(before).ok()?, '.'),
            ..0 if before >= -BEHIND => {
                out.insert_str(start, "0.");
                out.insert_str(start + 2, &zeros(-before));
            }
            exponent => {
                out.push('e');
                out.push_str(&exponent.to_string());
            }
        }
        Some(())
    }

    /// Compares two numbers by value.
    pub(super) fn compare(&self, other: &Self) -> Ordering {
        // The sign of zero is ignored.
        let sign = |number: &Self| match (number.is_zero(), number.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        };
        let (left, right) = (sign(self), sign(other));
        if left != right || left == 0 {
            return left.cmp(&right);
        }
        let top = |number: &Self| length(number.head) + length(number.tail) + number.exponent;
        let order = top(self)
            .cmp(&top(other))
            .then_with(|| self.digits().cmp(other.digits()));
        if left < 0 { order.reverse() } else { order }
    }

    /// Returns whether the number is an integer multiple of `other`. Every number counts as a multiple of zero. If the digits of `other` need more
    /// than 128 bits, only zero and equal numbers count as multiples.
    fn is_multiple_of(&self, other: &Self) -> bool {
        if self.is_zero() || other.is_zero() {
            return true;
        }
        let shift = self.exponent - other.exponent;
        // The last digit of `self` is not zero, so it has more decimal places than any multiple of `other`.
        if shift < 0 {
            return false;
        }
        let unit = Self {
            exponent: 0,
            ..*other
        };
        let Some(unit) = unit.magnitude() else {
            return self.compare(other) == Ordering::Equal;
        };
        let mut rest = self.digits().fold(0, |rest, digit| step(rest, digit, unit));
        for _ in 0..shift {
            if rest == 0 {
                break;
            }
            let next = step(rest, 0, unit);
            if next == rest {
                break;
            }
            rest = next;
        }
        rest == 0
    }
}

/// Returns `(rest * 10 + digit) % unit` without overflow; `rest` is less than `unit`.
fn step(rest: u128, digit: u8, unit: u128) -> u128 {
    let digit = u128::from(digit & 15);
    if let Some(sum) = rest.checked_mul(10).and_then(|ten| ten.checked_add(digit)) {
        return sum % unit;
    }
    let add = |a: u128, b: u128| {
        if a >= unit - b { a - (unit - b) } else { a + b }
    };
    let ten = (0..10).fold(0, |sum, _| add(sum, rest));
    add(ten, digit % unit)
}

fn length(digits: &[u8]) -> i64 {
    i64::try_from(digits.len()).unwrap_or(FAR)
}

/// Parses an exponent, clamped to ±`FAR`.
fn power(text: &str) -> i64 {
    let (negative, digits) = match text.as_bytes() {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] | digits => (false, digits),
    };
    let value = digits.iter().fold(0i64, |value, digit| {
        value
            .saturating_mul(10)
            .saturating_add(i64::from(digit & 15))
            .min(FAR)
    });
    if negative { -value } else { value }
}

/// Returns the sign and the absolute value of a whole number, or `None` if the number has a fraction or needs more than 128 bits.
#[inline]
pub(super) fn whole(number: &Num, text: &str) -> Option<(bool, u128)> {
    if let Some(value) = number.small {
        return Some((number.negative, u128::from(value)));
    }
    let decimal = Decimal::new(text);
    if !decimal.is_whole() {
        return None;
    }
    Some((number.negative, decimal.magnitude()?))
}

/// Combines a sign and an absolute value, or returns `None` on overflow.
#[inline]
pub(super) fn signed((negative, value): (bool, u128)) -> Option<i128> {
    if negative {
        0i128.checked_sub_unsigned(value)
    } else {
        i128::try_from(value).ok()
    }
}

/// Returns whether a whole number is in the range of its type.
#[inline]
pub(super) fn fits(value: (bool, u128), integer: &Integer) -> bool {
    if value.1 == 0 {
        // The range need not contain zero: a dynamic schema may exclude it.
        return !integer.not_zero && integer.min <= 0;
    }
    match value {
        (false, value) => {
            value <= integer.max && (integer.min <= 0 || value >= integer.min.unsigned_abs())
        }
        (true, value) => integer.min < 0 && value <= integer.min.unsigned_abs(),
    }
}

/// Returns whether a number is within its bounds.
pub(super) fn bounded(number: &Num, text: &str, bounds: &Constraints) -> bool {
    let low = bounds.min.is_none_or(|min| match order(number, text, min) {
        Ordering::Less => false,
        Ordering::Equal => !bounds.exclusive_min,
        Ordering::Greater => true,
    });
    low && bounds.max.is_none_or(|max| match order(number, text, max) {
        Ordering::Greater => false,
        Ordering::Equal => !bounds.exclusive_max,
        Ordering::Less => true,
    }) && bounds
        .multiple_of
        .is_none_or(|unit| Decimal::new(text).is_multiple_of(&Decimal::new(unit.text())))
}

/// Writes the canonical text of a JSON number. Returns `None` if its exponent has about 18 digits or more.
pub fn write(text: &str, out: &mut String) -> Option<()> {
    Decimal::new(text).write(out)
}

/// Returns whether two JSON numbers have the same decimal value.
pub fn is_same(left: &str, right: &str) -> bool {
    Decimal::new(left).compare(&Decimal::new(right)) == Ordering::Equal
}

fn order(number: &Num, text: &str, bound: Number) -> Ordering {
    if let (Some(small), Number::Integer { value, .. }) = (number.small, bound) {
        let small = i128::from(small);
        return if number.negative { -small } else { small }.cmp(&value);
    }
    Decimal::new(text).compare(&Decimal::new(bound.text()))
}

/// Returns whether a number is finite in its Rust type.
#[inline]
pub(super) fn finite(number: &Num, text: &str, single: bool) -> bool {
    // The largest `f32` has 39 digits before the decimal point.
    if number.small.is_some() || text.len() < 30 && !text.contains(['e', 'E']) {
        return true;
    }
    // Converts like serde_json and serde: first to `f64`, then to `f32`.
    text.parse::<f64>().is_ok_and(|value| {
        #[allow(
            clippy::cast_possible_truncation,
            reason = "the conversion is used to detect an overflow to infinity"
        )]
        let narrow = value as f32;
        if single {
            narrow.is_finite()
        } else {
            value.is_finite()
        }
    })
}

impl std::fmt::Display for Decimal<'_> {
    /// Writes the same text for equal numbers.
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.is_zero() {
            return out.write_str("0");
        }
        if self.negative {
            out.write_str("-")?;
        }
        for digits in [self.head, self.tail] {
            out.write_str(std::str::from_utf8(digits).unwrap_or_default())?;
        }
        write!(out, "e{}", self.exponent)
    }
}
