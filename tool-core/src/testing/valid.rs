//! Generator of inputs that match a tool's types. It uses the schema tree, but not the argument guard.

use serde_json::{Map, Number, Value, json};
use tool_schema::__private0::{sample, samples};

use super::Random;
use crate::schema::{Constraints, Field, Format, Integer, Kind, Schema, Tagging, Union, Variant};
use crate::tool::ToolDef;

/// Depth to which a recursive type is unrolled.
const DEEPEST: usize = 5;
/// Maximum number of tries for a text that has to match a pattern, and for the items of a list.
const TRIES: usize = 400;

/// Returns up to `count` different inputs that match the tool's types. The same seed returns the same inputs. Many values are at the bounds of
/// numbers, lengths and lists.
///
/// Returns fewer inputs, or none, if the types have fewer different values, or if some values cannot be generated, for example because no try matches
/// a pattern.
pub fn valid_inputs(def: &ToolDef, seed: u64, count: usize) -> Vec<Value> {
    let mut maker = Maker {
        random: Random::new(seed),
        around: Vec::new(),
    };
    let mut inputs: Vec<Value> = Vec::new();
    for _ in 0..count.saturating_mul(2) {
        if inputs.len() == count {
            break;
        }
        if let Some(input) = maker.value(def.input(), &Constraints::NONE)
            && !inputs.contains(&input)
        {
            inputs.push(input);
        }
    }
    inputs
}

pub(super) struct Maker {
    pub(super) random: Random,
    /// The types that enclose the current place, for recursion.
    pub(super) around: Vec<&'static Schema>,
}

impl Maker {
    /// Generates a value of the type within the bounds.
    pub(super) fn value(&mut self, schema: &'static Schema, bounds: &Constraints) -> Option<Value> {
        if self.around.len() > DEEPEST * 8 {
            return None;
        }
        self.around.push(schema);
        let value = self.inside(schema, bounds);
        self.around.pop();
        value
    }

    fn inside(&mut self, schema: &'static Schema, bounds: &Constraints) -> Option<Value> {
        match &schema.kind {
            Kind::String => self.text(bounds),
            Kind::Format(format) => self.format(*format, bounds),
            Kind::Char => self
                .random
                .pick(&["a", "é", "😀", "\"", "\n"])
                .map(Value::from),
            Kind::Duration => self
                .random
                .pick(&["PT1M30S", "PT0S", "P1DT2H", "P2W"])
                .map(Value::from),
            Kind::Integer(integer) => self.integer(*integer, bounds),
            Kind::Number { single } => self.number(*single, bounds),
            Kind::Boolean => Some(json!(self.random.one_in(2))),
            Kind::Enum(values) => self.random.pick(values).map(|value| json!(value.value)),
            Kind::IntegerEnum(values) => integer_value(self.random.pick(values)?.value),
            Kind::Array {
                items,
                unique,
                exactly,
            } => {
                let (min, max) = exactly
                    .map_or((bounds.min_items.unwrap_or(0), bounds.max_items), |n| {
                        (n, Some(n))
                    });
                self.array(items, *unique || bounds.unique, min, max)
            }
            Kind::Object(fields) => self.object(fields).map(Value::Object),
            Kind::Union(union) => self.union(union),
            Kind::Optional(inner) => {
                if self.random.one_in(4) {
                    return Some(Value::Null);
                }
                // A recursive type that cannot be nested any deeper ends with null.
                self.value(inner, bounds).or(Some(Value::Null))
            }
            Kind::Constrained(inner, more) => self.value(inner, &more.under(bounds)),
            Kind::Ref(name) => {
                let named = self
                    .around
                    .iter()
                    .rev()
                    .filter(|around| around.name == *name && around.module == schema.module);
                let (depth, target) = (named.clone().count(), named.clone().next().copied());
                if depth > DEEPEST {
                    None
                } else {
                    self.value(target?, bounds)
                }
            }
            Kind::Map(values) => {
                let mut map = Map::new();
                for key in ["a", "b c", "ü"].into_iter().take(self.random.below(4)) {
                    map.insert(key.to_owned(), self.value(values, &Constraints::NONE)?);
                }
                Some(Value::Object(map))
            }
            Kind::Any => self
                .random
                .pick(&["1", "null", "[1,{\"a\":\"b\"}]"])
                .and_then(|text| serde_json::from_str(text).ok()),
            Kind::Null => Some(Value::Null),
            Kind::Tuple(items) => items
                .iter()
                .map(|item| self.value(item, &Constraints::NONE))
                .collect(),
            Kind::Never | Kind::Refused { .. } => None,
        }
    }

    fn text(&mut self, bounds: &Constraints) -> Option<Value> {
        if let Some(format) = bounds.format {
            let free = Constraints {
                format: None,
                ..*bounds
            };
            return self.format(format, &free);
        }
        let (min, max) = (bounds.min_length.unwrap_or(0), bounds.max_length);
        let fits = |text: &str| {
            let length = text.chars().count();
            length >= min
                && max.is_none_or(|max| length <= max)
                && bounds.pattern.is_none_or(|pattern| pattern.is_match(text))
        };
        if let Some(pattern) = bounds.pattern {
            let random = &mut self.random;
            for _ in 0..TRIES {
                let text = sample(pattern, &mut |n| random.below(n));
                if let Some(text) = text.filter(|text| fits(text)) {
                    return Some(Value::from(text));
                }
            }
            return None;
        }
        let length = match self.random.below(3) {
            0 => min,
            1 => max.unwrap_or(min + 12).min(min + 4_096),
            _ => {
                min + self
                    .random
                    .below(max.unwrap_or(min + 12).saturating_sub(min) + 1)
                    .min(64)
            }
        };
        let letters = [
            'a', 'Z', '0', ' ', '"', '\\', '\n', 'é', '世', '😀', '}', ',',
        ];
        let text: String = (0..length)
            .filter_map(|_| self.random.pick(&letters))
            .collect();
        Some(Value::from(text))
    }

    fn format(&mut self, format: Format, bounds: &Constraints) -> Option<Value> {
        let fitting: Vec<&str> = samples(format)
            .iter()
            .copied()
            .filter(|text| {
                let length = text.chars().count();
                bounds.min_length.is_none_or(|min| length >= min)
                    && bounds.max_length.is_none_or(|max| length <= max)
                    && bounds.pattern.is_none_or(|pattern| pattern.is_match(text))
            })
            .collect();
        self.random.pick(&fitting).map(Value::from)
    }

    fn integer(&mut self, integer: Integer, bounds: &Constraints) -> Option<Value> {
        let (min, max) = integer_range(integer, bounds);
        if min > max {
            return None;
        }
        let step = bounds
            .multiple_of
            .map_or(1, |step| whole(step).unwrap_or(1))
            .max(1);
        let near = min.max(0).min(max);
        let candidates = [
            min,
            max,
            near,
            near.saturating_add(1),
            min.saturating_add(step),
            near + i128::from(self.random.next() % 1_000),
        ];
        let fitting: Vec<i128> = candidates
            .into_iter()
            .map(|value| value - value.rem_euclid(step))
            .flat_map(|value| [value, value.saturating_add(step)])
            .filter(|value| *value >= min && *value <= max && !(integer.not_zero && *value == 0))
            .collect();
        integer_value(self.random.pick(&fitting)?)
    }

    fn number(&mut self, single: bool, bounds: &Constraints) -> Option<Value> {
        let (min, max) = (bounds.min.map(float), bounds.max.map(float));
        let low = min.unwrap_or_else(|| max.map_or(-1_000.0, |max| max - 1_000.0));
        let high = max.unwrap_or(low + 2_000.0);
        let mut candidates = vec![
            low,
            high,
            low.midpoint(high),
            0.0,
            1.0,
            -0.5,
            low + (high - low) * 0.25,
        ];
        if let Some(step) = bounds.multiple_of {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "the cast saturates, and a multiple that is too large is filtered out"
            )]
            let first = (low / float(step)).ceil() as i128;
            // The quotient is rounded, so the first multiple in the range can be the multiple before or after it.
            candidates = (-4..=4)
                .chain((-1..=1).map(|n| first.saturating_add(n)))
                .filter_map(|count| multiple(count, step))
                .collect();
        }
        let fitting: Vec<f64> = candidates
            .into_iter()
            .filter(|value| {
                min.is_none_or(|min| *value > min || (*value >= min && !bounds.exclusive_min))
            })
            .filter(|value| {
                max.is_none_or(|max| *value < max || (*value <= max && !bounds.exclusive_max))
            })
            .filter(|value| !single || value.abs() < 1e30)
            .collect();
        self.random
            .pick(&fitting)
            .and_then(Number::from_f64)
            .map(Value::Number)
    }

    fn array(
        &mut self,
        items: &'static Schema,
        unique: bool,
        min: usize,
        max: Option<usize>,
    ) -> Option<Value> {
        let most = max.unwrap_or(min + 3).min(min.max(64));
        let length = match self.random.below(3) {
            0 => min,
            1 => most,
            _ => min + self.random.below(most.saturating_sub(min) + 1),
        };
        let mut array: Vec<Value> = Vec::new();
        for _ in 0..TRIES {
            if array.len() >= length {
                break;
            }
            match self.value(items, &Constraints::NONE) {
                Some(item) if unique && array.contains(&item) => {}
                Some(item) => array.push(item),
                // A recursive type that cannot be nested any deeper gets no more items.
                None => break,
            }
        }
        (array.len() >= min).then_some(Value::Array(array))
    }

    pub(super) fn object(&mut self, fields: &'static [Field]) -> Option<Map<String, Value>> {
        let mut map = Map::new();
        for field in fields.iter().filter(|field| field.input) {
            let absent = !field.is_required() && self.random.one_in(3);
            if absent {
                continue;
            }
            let value = if field.default.is_some() && self.random.one_in(4) {
                Value::Null
            } else {
                self.value(field.schema, &Constraints::NONE)?
            };
            map.insert(field.name.to_owned(), value);
        }
        Some(map)
    }

    fn union(&mut self, union: &'static Union) -> Option<Value> {
        let first = self.random.below(union.variants.len());
        // If this variant cannot be nested any deeper, another variant is used.
        let order = union.variants[first..]
            .iter()
            .chain(&union.variants[..first]);
        order
            .into_iter()
            .find_map(|variant| self.variant(union.tagging, variant))
    }

    fn variant(&mut self, tagging: Tagging, variant: &'static Variant) -> Option<Value> {
        let name = variant.name;
        let content = match variant.schema {
            Some(schema) => Some(self.value(schema, &Constraints::NONE)?),
            None => None,
        };
        let mut map = Map::new();
        match (tagging, content) {
            (Tagging::External, None) => return Some(json!(name)),
            (Tagging::External, Some(content)) => {
                map.insert(name.to_owned(), content);
            }
            (Tagging::Internal { tag }, content) => {
                map.insert(tag.to_owned(), json!(name));
                if let Some(Value::Object(fields)) = content {
                    map.extend(fields);
                }
            }
            (Tagging::Adjacent { tag, content: key }, content) => {
                map.insert(tag.to_owned(), json!(name));
                map.extend(content.map(|content| (key.to_owned(), content)));
            }
            (Tagging::Untagged, content) => return Some(content.unwrap_or(Value::Null)),
        }
        Some(Value::Object(map))
    }
}

/// Returns the range of an integer, limited to the integers that JSON readers support.
pub(super) fn integer_range(integer: Integer, bounds: &Constraints) -> (i128, i128) {
    let widest = i128::from(u64::MAX);
    let mut min = integer.min.max(i128::from(i64::MIN));
    let mut max = i128::try_from(integer.max).unwrap_or(widest).min(widest);
    if let Some(bound) = bounds.min.and_then(whole) {
        min = min.max(bound + i128::from(bounds.exclusive_min));
    }
    if let Some(bound) = bounds.max.and_then(whole) {
        max = max.min(bound - i128::from(bounds.exclusive_max));
    }
    (min, max)
}

pub(super) fn integer_value(value: i128) -> Option<Value> {
    i64::try_from(value)
        .map(Value::from)
        .or_else(|_| u64::try_from(value).map(Value::from))
        .ok()
}

fn whole(number: crate::schema::Number) -> Option<i128> {
    match number {
        crate::schema::Number::Integer { value, .. } => Some(value),
        crate::schema::Number::Float { .. } => None,
    }
}

/// Returns `count` times `step`, if a double prints as exactly this decimal number. The guard compares decimals, and a product of doubles is rounded:
/// 3 × 0.1 is 0.30000000000000004.
fn multiple(count: i128, step: crate::schema::Number) -> Option<f64> {
    let (digits, exponent) = decimal(step.text())?;
    let digits = digits.checked_mul(count)?;
    let value: f64 = format!("{digits}e{exponent}").parse().ok()?;
    let printed = decimal(&format!("{value:e}"))?;
    (printed == shortened(digits, exponent)).then_some(value)
}

/// Parses a JSON number as an integer times a power of ten.
fn decimal(text: &str) -> Option<(i128, i32)> {
    let (digits, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let digits = format!("{whole}{fraction}").parse().ok()?;
    let places = i32::try_from(fraction.len()).ok()?;
    let exponent = exponent.parse::<i32>().ok()?.checked_sub(places)?;
    Some(shortened(digits, exponent))
}

/// Moves the trailing zeros of the digits to the exponent, so that equal numbers have equal parts.
fn shortened(mut digits: i128, mut exponent: i32) -> (i128, i32) {
    if digits == 0 {
        return (0, 0);
    }
    while digits % 10 == 0 {
        digits /= 10;
        exponent = exponent.saturating_add(1);
    }
    (digits, exponent)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "most bounds are small; a large bound that is rounded only changes which values are generated"
)]
pub(super) fn float(number: crate::schema::Number) -> f64 {
    match number {
        crate::schema::Number::Integer { value, .. } => value as f64,
        crate::schema::Number::Float { value, .. } => value,
    }
}
