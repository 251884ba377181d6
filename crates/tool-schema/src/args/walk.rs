//! The guard's walk over JSON text by a schema tree.

use super::scan::{Cursor, Stop};
use super::sink::{Edit, Fast, Fault, Place, Scope, Sink};
use crate::schema::{Constraints, Kind, Schema, Tagging};

/// A schema that accepts every value.
pub(super) const ANY: Schema = Schema::new(Kind::Any);

/// Maximum number of references that are followed at one byte of the text. The limit stops references that lead to themselves.
const HOPS: u8 = 8;

/// The state of a walk over one text.
#[derive(Debug)]
pub(super) struct Walk<'t, S> {
    pub(super) cursor: Cursor<'t>,
    pub(super) sink: S,
    /// The byte offset where references were followed last, and their number.
    pub(super) hops: (usize, u8),
    /// Number of bytes that were read for variants of unions that did not match.
    pub(super) wasted: usize,
    /// The value of `wasted` above which no further variant is tried.
    pub(super) most_wasted: usize,
}

impl<'t, S: Sink> Walk<'t, S> {
    pub(super) const fn new(text: &'t str, sink: S) -> Self {
        Self {
            cursor: Cursor::new(text),
            sink,
            hops: (0, 0),
            wasted: 0,
            most_wasted: 64 * text.len() + 0x1_0000,
        }
    }

    /// Walks the complete text.
    pub(super) fn run(&mut self, place: Place<'_>) -> Result<(), Stop> {
        let byte = self.cursor.space();
        self.inner(byte, place.schema, place.bounds, place.scope)?;
        self.cursor.end()
    }

    /// Walks one value. The cursor is at its first byte.
    ///
    /// The function only dispatches on the kind. The work is in separate functions, so that a scalar does not need the stack frame of a list. These
    /// functions match on the kind again, which is cheaper than passing its contents.
    #[inline(never)]
    pub(super) fn value(
        &mut self,
        schema: &Schema,
        bounds: Option<&Constraints>,
        scope: Option<&Scope<'_>>,
    ) -> Result<(), Stop> {
        self.inner(self.cursor.peek(), schema, bounds, scope)
    }

    /// Does the same as `value`, but is inlined and receives the first byte, for the members of records and lists and for the root.
    #[allow(
        clippy::inline_always,
        reason = "one jump instead of a call and a jump, measured"
    )]
    #[inline(always)]
    pub(super) fn inner(
        &mut self,
        byte: u8,
        schema: &Schema,
        bounds: Option<&Constraints>,
        scope: Option<&Scope<'_>>,
    ) -> Result<(), Stop> {
        let mut schema = schema;
        loop {
            return match &schema.kind {
                Kind::Optional(inner) if schema.name.is_empty() => {
                    if byte == b'n' {
                        self.cursor.word("null")
                    } else {
                        schema = inner;
                        continue;
                    }
                }
                Kind::String => self.string(schema, bounds),
                Kind::Integer(_) => self.integer(schema, bounds),
                Kind::Boolean => self.boolean(schema),
                Kind::Enum(_) => self.choice(schema),
                Kind::Object(_) if S::FAST && schema.checked => self.record(schema, scope),
                Kind::Array { .. } if S::FAST && bounds.is_none() => self.plain_list(schema, scope),
                Kind::Number { single } => self.number(schema, *single, bounds),
                _ => self.other(schema, bounds, scope),
            };
        }
    }

    /// Walks the rare kinds, and the rare cases of the other kinds.
    #[inline(never)]
    pub(super) fn other(
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
            Kind::Format(format) => {
                self.text(schema, bounds, |text| format.matches(text.as_bytes()))
            }
            Kind::Char => self.text(schema, bounds, |text| {
                text.chars().nth(1).is_none() && !text.is_empty()
            }),
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
            Kind::Object(fields) => self.object(place, fields, None),
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

    /// Walks a value with bounds inside of bounds. Merging copies the bounds, and a separate function keeps the copy out of the stack frames of all
    /// other nodes.
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

    /// Follows a reference to the nearest enclosing node of this name and module. References inside of that node are resolved from its own position.
    fn again(&mut self, place: Place<'_>, name: &str) -> Result<(), Stop> {
        let found = Scope::named(place.scope, name, place.schema.module)
            .find(|here| !matches!(here.schema.kind, Kind::Ref(_)));
        match found {
            Some(here) if self.hop() => self.value(here.schema, place.bounds, here.parent),
            _ => self.misfit(place),
        }
    }

    /// Counts a followed reference. Returns `false` if too many were followed at this byte, because a reference may lead to itself.
    pub(super) fn hop(&mut self) -> bool {
        let (at, hops) = self.hops;
        let now = self.cursor.at;
        self.hops = (now, if at == now { hops + 1 } else { 1 });
        self.hops.1 <= HOPS
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

    /// Refuses the value that starts at byte `start` and passes it.
    #[inline]
    pub(super) fn refuse_from(
        &mut self,
        start: usize,
        place: Place<'_>,
        fault: Fault<'_>,
    ) -> Result<(), Stop> {
        if S::FAST {
            return Err(Stop);
        }
        self.cursor.at = start;
        self.cursor.skip()?;
        self.refuse((start, self.cursor.at), place, fault)
    }

    #[inline]
    pub(super) fn refuse(
        &mut self,
        span: (usize, usize),
        place: Place<'_>,
        fault: Fault<'_>,
    ) -> Result<(), Stop> {
        self.sink.refuse(self.cursor.text(), span, place, fault)
    }

    /// Walks the value under the cursor by one variant of a union. If it matches, returns its end and its edits. The cursor does not move.
    pub(super) fn attempt(
        &mut self,
        schema: &Schema,
        bounds: Option<&Constraints>,
        scope: Option<&Scope<'_>>,
    ) -> Option<(usize, Vec<Edit>)> {
        let mut walk = Walk {
            cursor: self.cursor.clone(),
            sink: Fast {
                for_serde: self.sink.is_for_serde(),
                ..Fast::NEW
            },
            hops: self.hops,
            wasted: self.wasted,
            most_wasted: self.most_wasted,
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

    /// Returns whether too many bytes were read for variants that did not match. Without this limit, nested unions whose variants differ
    /// only at their end would take exponential time.
    pub(super) fn is_exhausted(&self) -> bool {
        self.wasted > self.most_wasted
    }
}
