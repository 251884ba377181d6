//! Validation of strings, numbers and enum values.

use super::bytes::{decode, equal};
use super::number;
use super::scan::{Stop, Str};
use super::sink::{Fault, Place, Sink};
use super::walk::Walk;
use crate::schema::{Constraints, EnumValue, Integer, IntegerValue, Kind, Schema, duration};

impl<S: Sink> Walk<'_, S> {
    #[inline(never)]
    pub(super) fn string(
        &mut self,
        schema: &Schema,
        bounds: Option<&Constraints>,
    ) -> Result<(), Stop> {
        if bounds.is_none()
            && let Some(end) = self.cursor.quoted()
        {
            self.cursor.at = end + 1;
            return Ok(());
        }
        self.other(schema, bounds, None)
    }

    #[inline(never)]
    pub(super) fn boolean(&mut self, schema: &Schema) -> Result<(), Stop> {
        match self.cursor.peek() {
            b't' => self.cursor.word("true"),
            b'f' => self.cursor.word("false"),
            _ => self.misfit(bare(schema)),
        }
    }

    #[inline]
    pub(super) fn text(
        &mut self,
        schema: &Schema,
        bounds: Option<&Constraints>,
        fits: impl FnOnce(&str) -> bool,
    ) -> Result<(), Stop> {
        let start = self.cursor.at;
        if self.cursor.peek() == b'"' {
            let string = self.cursor.string()?;
            // For plain strings `fits` always returns `true`, so the compiler removes the call.
            if self.inside(string, fits) && bounds.is_none_or(|bounds| self.within(string, bounds))
            {
                return Ok(());
            }
        }
        self.refuse_from(
            start,
            Place {
                schema,
                bounds,
                scope: None,
            },
            Fault::Value,
        )
    }

    #[inline]
    fn inside(&self, string: Str, fits: impl FnOnce(&str) -> bool) -> bool {
        let raw = self.cursor.slice(string.start, string.end);
        if string.escaped {
            fits(&decode(raw))
        } else {
            fits(raw)
        }
    }

    fn within(&self, string: Str, bounds: &Constraints) -> bool {
        self.inside(string, |text| {
            let long = |least: usize| {
                text.len() >= least && text.chars().nth(least.saturating_sub(1)).is_some()
            };
            bounds.min_length.is_none_or(|min| min == 0 || long(min))
                && bounds
                    .max_length
                    .is_none_or(|max| text.len() <= max || text.chars().nth(max).is_none())
                && bounds
                    .format
                    .is_none_or(|format| format.matches(text.as_bytes()))
                && bounds.pattern.is_none_or(|pattern| pattern.is_match(text))
        })
    }

    #[inline(never)]
    pub(super) fn choice(&mut self, schema: &Schema) -> Result<(), Stop> {
        if let Kind::Enum(values) = &schema.kind
            && let Some(end) = self.cursor.quoted()
            && let Some(text) = self.cursor.bytes().get(self.cursor.at + 1..end)
            && values
                .iter()
                .any(|known| equal(known.value.as_bytes(), text))
        {
            self.cursor.at = end + 1;
            return Ok(());
        }
        self.other(schema, None, None)
    }

    pub(super) fn any_choice(&mut self, schema: &Schema, values: &[EnumValue]) -> Result<(), Stop> {
        let start = self.cursor.at;
        if self.cursor.peek() == b'"' {
            let string = self.cursor.string()?;
            if self.inside(string, |text| {
                values.iter().any(|known| known.value == text)
            }) {
                return Ok(());
            }
        }
        self.refuse_from(start, bare(schema), Fault::Value)
    }

    #[inline(never)]
    pub(super) fn integer(
        &mut self,
        schema: &Schema,
        bounds: Option<&Constraints>,
    ) -> Result<(), Stop> {
        // The value is positive, so a type's minimum matters only if it is greater than one.
        if bounds.is_none()
            && let Some((value, end)) = self.cursor.counted()
            && let Kind::Integer(integer) = &schema.kind
            && u128::from(value) <= integer.max
            && integer.min <= 1
        {
            self.cursor.at = end;
            return Ok(());
        }
        self.other(schema, bounds, None)
    }

    pub(super) fn any_integer(
        &mut self,
        schema: &Schema,
        integer: &Integer,
        bounds: Option<&Constraints>,
    ) -> Result<(), Stop> {
        let start = self.cursor.at;
        if matches!(self.cursor.peek(), b'-' | b'0'..=b'9') {
            let number = self.cursor.number()?;
            let text = self.cursor.slice(number.start, number.end);
            if let Some(value) = number::whole(&number, text)
                && number::fits(value, integer)
                && bounds.is_none_or(|bounds| number::bounded(&number, text, bounds))
            {
                self.spell(start, value, number.small.is_none() || number.negative);
                return Ok(());
            }
        }
        self.refuse_from(
            start,
            Place {
                schema,
                bounds,
                scope: None,
            },
            Fault::Value,
        )
    }

    /// Rewrites a whole number such as `1.0`, `1e2` or `-0` in the form that serde reads.
    #[inline]
    fn spell(&mut self, start: usize, (negative, value): (bool, u128), suspect: bool) {
        if suspect {
            let plain = if negative && value != 0 {
                format!("-{value}")
            } else {
                value.to_string()
            };
            let end = self.cursor.at;
            if self.cursor.slice(start, end) != plain {
                self.sink.correct(start, end, || plain);
            }
        }
    }

    pub(super) fn integer_choice(
        &mut self,
        schema: &Schema,
        values: &[IntegerValue],
    ) -> Result<(), Stop> {
        let start = self.cursor.at;
        if matches!(self.cursor.peek(), b'-' | b'0'..=b'9') {
            let number = self.cursor.number()?;
            if let Some(value) = number::whole(&number, self.cursor.slice(number.start, number.end))
                && let Some(signed) = number::signed(value)
                && values.iter().any(|known| known.value == signed)
            {
                self.spell(start, value, number.small.is_none() || number.negative);
                return Ok(());
            }
        }
        self.refuse_from(start, bare(schema), Fault::Value)
    }

    #[inline(never)]
    pub(super) fn number(
        &mut self,
        schema: &Schema,
        single: bool,
        bounds: Option<&Constraints>,
    ) -> Result<(), Stop> {
        let start = self.cursor.at;
        if matches!(self.cursor.peek(), b'-' | b'0'..=b'9') {
            let number = self.cursor.number()?;
            let text = self.cursor.slice(number.start, number.end);
            if number::finite(&number, text, single)
                && bounds.is_none_or(|bounds| number::bounded(&number, text, bounds))
            {
                return Ok(());
            }
        }
        self.refuse_from(
            start,
            Place {
                schema,
                bounds,
                scope: None,
            },
            Fault::Value,
        )
    }

    pub(super) fn duration(
        &mut self,
        schema: &Schema,
        bounds: Option<&Constraints>,
    ) -> Result<(), Stop> {
        let start = self.cursor.at;
        let mut span = None;
        self.text(schema, bounds, |text| {
            span = duration::seconds(text.as_bytes());
            span.is_some()
        })?;
        if let Some(secs) = span {
            let end = self.cursor.at;
            self.sink
                .respell(start, end, || format!("{{\"secs\":{secs},\"nanos\":0}}"));
        }
        Ok(())
    }
}

/// Creates a place without bounds and scope, for kinds that need neither.
const fn bare(schema: &Schema) -> Place<'_> {
    Place {
        schema,
        bounds: None,
        scope: None,
    }
}
