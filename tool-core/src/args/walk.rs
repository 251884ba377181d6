//! The walk: JSON text by a schema tree.

use super::number;
use super::scan::{Cursor, Stop, Str, decode, equal};
use super::sink::{Edit, Fast, Fault, Place, Scope, Sink};
use crate::schema::{Constraints, EnumValue, Field, Format, Integer, IntegerValue, Kind, Schema, Tagging};

/// A schema that takes anything.
pub(super) const ANY: Schema = Schema::new(Kind::Any);

/// References that may be followed at one byte of the text. A reference that leads to itself would not end.
const HOPS: u8 = 8;

/// One walk over one text.
#[derive(Debug)]
pub(super) struct Walk<'t, S> {
    pub(super) cursor: Cursor<'t>,
    pub(super) sink: S,
    /// Where references were followed last, and how many.
    hops: (usize, u8),
    /// Bytes that shapes of unions were tried on in vain.
    wasted: usize,
}

impl<'t, S: Sink> Walk<'t, S> {
    pub(super) const fn new(text: &'t str, sink: S) -> Self {
        Self {
            cursor: Cursor::new(text),
            sink,
            hops: (0, 0),
            wasted: 0,
        }
    }

    /// Walks the whole text.
    pub(super) fn run(&mut self, place: Place<'_>) -> Result<(), Stop> {
        self.cursor.space();
        self.value(place.schema, place.bounds, place.scope)?;
        self.cursor.end()
    }

    /// Walks one value; the cursor stands at its first byte.
    ///
    /// This only tells the kinds apart: what they do stands in functions of their own, so that a scalar does not pay for the frame of
    /// a list.
    #[inline(never)]
    pub(super) fn value(
        &mut self,
        schema: &Schema,
        bounds: Option<&Constraints>,
        scope: Option<&Scope<'_>>,
    ) -> Result<(), Stop> {
        self.inner(schema, bounds, scope)
    }

    /// The same, without a call: for the members of records and lists.
    #[allow(clippy::inline_always, reason = "one jump instead of a call and a jump, measured")]
    #[inline(always)]
    pub(super) fn inner(
        &mut self,
        schema: &Schema,
        bounds: Option<&Constraints>,
        scope: Option<&Scope<'_>>,
    ) -> Result<(), Stop> {
        let mut schema = schema;
        loop {
            return match &schema.kind {
                Kind::Optional(inner) if schema.name.is_empty() => {
                    if self.cursor.peek() == b'n' {
                        self.cursor.word("null")
                    } else {
                        schema = inner;
                        continue;
                    }
                }
                Kind::String => self.string(schema, bounds),
                Kind::Integer(integer) => self.integer(schema, integer, bounds),
                Kind::Boolean => self.boolean(schema),
                Kind::Enum(values) => self.choice(schema, values),
                Kind::Object(fields) => self.record(schema, fields, scope),
                Kind::Array {
                    items,
                    unique: false,
                    exactly: None,
                } if bounds.is_none() => self.plain_list(schema, items, scope),
                Kind::Number { single } => self.number(schema, *single, bounds),
                _ => self.other(schema, bounds, scope),
            };
        }
    }

    /// The kinds that are rare, and those of them that hold other nodes.
    #[inline(never)]
    fn other(
        &mut self,
        schema: &Schema,
        bounds: Option<&Constraints>,
        scope: Option<&Scope<'_>>,
    ) -> Result<(), Stop> {
        let here = Scope {
            schema,
            parent: scope,
        };
        let scope = if schema.name.is_empty() {
            scope
        } else {
            Some(&here)
        };
        let place = Place {
            schema,
            bounds,
            scope,
        };
        match &schema.kind {
            Kind::String => self.text(schema, bounds, |_| true),
            Kind::Integer(integer) => self.any_integer(schema, integer, bounds),
            Kind::Enum(values) => self.any_choice(schema, values),
            Kind::Format(format) => self.text(schema, bounds, |text| format.matches(text.as_bytes())),
            Kind::Char => self.text(schema, bounds, |text| text.chars().nth(1).is_none() && !text.is_empty()),
            Kind::Duration => self.duration(schema, bounds),
            Kind::IntegerEnum(values) => self.integer_choice(schema, values),
            Kind::Null if self.cursor.peek() == b'n' => self.cursor.word("null"),
            Kind::Optional(inner) => {
                if self.cursor.peek() == b'n' {
                    self.cursor.word("null")
                } else {
                    self.value(inner, bounds, scope)
                }
            }
            Kind::Array {
                items,
                unique,
                exactly,
            } => self.list(place, items, *unique, *exactly),
            Kind::Constrained(inner, own) => match bounds {
                None => self.value(inner, Some(own), scope),
                Some(outer) => self.merged(inner, own, outer, scope),
            },
            Kind::Union(union) => match union.tagging {
                Tagging::External => self.external(place, union.variants),
                Tagging::Internal { tag } => self.tagged(place, union.variants, tag, None),
                Tagging::Adjacent { tag, content } => {
                    self.tagged(place, union.variants, tag, Some(content))
                }
                Tagging::Untagged => self.untagged(place, union.variants),
            },
            Kind::Ref(name) => self.again(place, name),
            Kind::Map(values) => self.map(place, values),
            Kind::Tuple(items) => self.tuple(place, items),
            Kind::Any => self.any(place),
            _ => self.misfit(place),
        }
    }

    #[inline(never)]
    fn string(&mut self, schema: &Schema, bounds: Option<&Constraints>) -> Result<(), Stop> {
        if bounds.is_none()
            && let Some(end) = self.cursor.quoted()
        {
            self.cursor.at = end + 1;
            return Ok(());
        }
        self.other(schema, bounds, None)
    }

    #[inline(never)]
    fn record(&mut self, schema: &Schema, fields: &[Field], scope: Option<&Scope<'_>>) -> Result<(), Stop> {
        let here = Scope {
            schema,
            parent: scope,
        };
        let place = Place {
            schema,
            bounds: None,
            scope: if schema.name.is_empty() {
                scope
            } else {
                Some(&here)
            },
        };
        self.object(place, fields, None)
    }

    #[inline(never)]
    fn plain_list(&mut self, schema: &Schema, items: &Schema, scope: Option<&Scope<'_>>) -> Result<(), Stop> {
        let here = Scope {
            schema,
            parent: scope,
        };
        let place = Place {
            schema,
            bounds: None,
            scope: if schema.name.is_empty() {
                scope
            } else {
                Some(&here)
            },
        };
        self.list(place, items, false, None)
    }

    /// Bounds inside bounds: a copy, so kept out of the frame of every other node.
    #[inline(never)]
    fn merged(
        &mut self,
        schema: &Schema,
        inner: &Constraints,
        outer: &Constraints,
        scope: Option<&Scope<'_>>,
    ) -> Result<(), Stop> {
        self.value(schema, Some(&inner.under(outer)), scope)
    }

    /// The nearest enclosing node of a name, again. Names inside it mean what they meant there.
    fn again(&mut self, place: Place<'_>, name: &str) -> Result<(), Stop> {
        let mut scope = place.scope;
        while let Some(here) = scope {
            if here.schema.name == name && !matches!(here.schema.kind, Kind::Ref(_)) {
                let (at, hops) = self.hops;
                self.hops = (self.cursor.at, if at == self.cursor.at { hops + 1 } else { 1 });
                if self.hops.1 > HOPS {
                    break;
                }
                return self.value(here.schema, place.bounds, here.parent);
            }
            scope = here.parent;
        }
        self.misfit(place)
    }

    fn any(&mut self, place: Place<'_>) -> Result<(), Stop> {
        let Place { schema, bounds, .. } = place;
        match self.cursor.peek() {
            b'"' => self.text(schema, bounds, |_| true),
            b'-' | b'0'..=b'9' => self.number(schema, false, bounds),
            b'[' => self.list(place, &ANY, false, None),
            b'{' => self.map(place, &ANY),
            _ => self.cursor.skip(),
        }
    }

    /// Refuses the value under the cursor and passes it.
    #[inline]
    pub(super) fn misfit(&mut self, place: Place<'_>) -> Result<(), Stop> {
        self.refuse_from(self.cursor.at, place, Fault::Value)
    }

    /// Refuses the value that starts at a byte and passes it.
    #[inline]
    pub(super) fn refuse_from(&mut self, start: usize, place: Place<'_>, fault: Fault<'_>) -> Result<(), Stop> {
        if S::FAST {
            return Err(Stop);
        }
        self.cursor.at = start;
        self.cursor.skip()?;
        self.refuse((start, self.cursor.at), place, fault)
    }

    #[inline]
    pub(super) fn refuse(&mut self, span: (usize, usize), place: Place<'_>, fault: Fault<'_>) -> Result<(), Stop> {
        self.sink.refuse(self.cursor.text(), span, place, fault)
    }

    /// Walks the value under the cursor by one shape. Where it fits, gives the end and the corrections; the cursor stays.
    pub(super) fn attempt(
        &mut self,
        schema: &Schema,
        bounds: Option<&Constraints>,
        scope: Option<&Scope<'_>>,
    ) -> Option<(usize, Vec<Edit>)> {
        let mut walk = Walk {
            cursor: self.cursor.clone(),
            sink: Fast::default(),
            hops: self.hops,
            wasted: self.wasted,
        };
        let fits = walk.value(schema, bounds, scope).is_ok();
        self.wasted = walk.wasted;
        if fits {
            Some((walk.cursor.at, walk.sink.edits))
        } else {
            self.wasted += walk.cursor.at - self.cursor.at + 1;
            None
        }
    }

    /// Whether shapes were tried in vain too often: nested unions that differ at their end only would take exponential time.
    pub(super) fn is_exhausted(&self) -> bool {
        self.wasted > 64 * self.cursor.text().len() + 0x1_0000
    }

    #[inline(never)]
    fn boolean(&mut self, schema: &Schema) -> Result<(), Stop> {
        match self.cursor.peek() {
            b't' => self.cursor.word("true"),
            b'f' => self.cursor.word("false"),
            _ => self.misfit(bare(schema)),
        }
    }

    #[inline]
    fn text(
        &mut self,
        schema: &Schema,
        bounds: Option<&Constraints>,
        fits: impl FnOnce(&str) -> bool,
    ) -> Result<(), Stop> {
        let start = self.cursor.at;
        if self.cursor.peek() == b'"' {
            let string = self.cursor.string()?;
            // The closure of plain text is `true`, which leaves nothing of this in its copy.
            if self.inside(string, fits) && bounds.is_none_or(|bounds| self.within(string, bounds)) {
                return Ok(());
            }
        }
        self.refuse_from(start, Place { schema, bounds, scope: None }, Fault::Value)
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
            let long = |least: usize| text.len() >= least && text.chars().nth(least.saturating_sub(1)).is_some();
            bounds.min_length.is_none_or(|min| min == 0 || long(min))
                && bounds.max_length.is_none_or(|max| text.len() <= max || text.chars().nth(max).is_none())
                && bounds.format.is_none_or(|format| format.matches(text.as_bytes()))
                && bounds.pattern.is_none_or(|pattern| pattern.is_match(text))
        })
    }

    #[inline(never)]
    fn choice(&mut self, schema: &Schema, values: &[EnumValue]) -> Result<(), Stop> {
        if let Some(end) = self.cursor.quoted()
            && let Some(text) = self.cursor.bytes().get(self.cursor.at + 1..end)
            && values.iter().any(|known| equal(known.value.as_bytes(), text))
        {
            self.cursor.at = end + 1;
            return Ok(());
        }
        self.other(schema, None, None)
    }

    fn any_choice(&mut self, schema: &Schema, values: &[EnumValue]) -> Result<(), Stop> {
        let start = self.cursor.at;
        if self.cursor.peek() == b'"' {
            let string = self.cursor.string()?;
            if self.inside(string, |text| values.iter().any(|known| known.value == text)) {
                return Ok(());
            }
        }
        self.refuse_from(start, bare(schema), Fault::Value)
    }

    #[inline(never)]
    fn integer(&mut self, schema: &Schema, integer: &Integer, bounds: Option<&Constraints>) -> Result<(), Stop> {
        // Positive, so that the least value of a type matters only where it is greater than one.
        if bounds.is_none()
            && let Some((value, end)) = self.cursor.counted()
            && u128::from(value) <= integer.max
            && integer.min <= 1
        {
            self.cursor.at = end;
            return Ok(());
        }
        self.other(schema, bounds, None)
    }

    fn any_integer(&mut self, schema: &Schema, integer: &Integer, bounds: Option<&Constraints>) -> Result<(), Stop> {
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
        self.refuse_from(start, Place { schema, bounds, scope: None }, Fault::Value)
    }

    /// Writes a whole number as serde reads it, where it may be written otherwise: `1.0`, `1e2`, `-0`.
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

    fn integer_choice(&mut self, schema: &Schema, values: &[IntegerValue]) -> Result<(), Stop> {
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
    fn number(&mut self, schema: &Schema, single: bool, bounds: Option<&Constraints>) -> Result<(), Stop> {
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
        self.refuse_from(start, Place { schema, bounds, scope: None }, Fault::Value)
    }

    fn duration(&mut self, schema: &Schema, bounds: Option<&Constraints>) -> Result<(), Stop> {
        let start = self.cursor.at;
        let mut span = None;
        self.text(schema, bounds, |text| {
            span = super::duration::parse(text);
            span.is_some() && Format::Duration.matches(text.as_bytes())
        })?;
        if let Some((secs, nanos)) = span {
            let end = self.cursor.at;
            self.sink
                .correct(start, end, || format!("{{\"secs\":{secs},\"nanos\":{nanos}}}"));
        }
        Ok(())
    }
}

/// A place whose kind needs nothing but itself.
const fn bare(schema: &Schema) -> Place<'_> {
    Place {
        schema,
        bounds: None,
        scope: None,
    }
}
