//! Validation of unions in serde's four enum representations.

use super::bytes::decode;
use super::scan::{Cursor, Stop};
use super::sink::{Fault, Known, Place, Scope, Sink};
use super::walk::Walk;
use crate::schema::{Field, Kind, Schema, Text, Variant};

impl<S: Sink> Walk<'_, S> {
    /// Walks `"variant"` or `{"variant": …}`.
    pub(super) fn external(&mut self, place: Place<'_>, variants: &[Variant]) -> Result<(), Stop> {
        let start = self.cursor.at;
        match self.cursor.peek() {
            b'"' => {
                let string = self.cursor.string()?;
                let name = decode(self.cursor.slice(string.start, string.end));
                let known = variants
                    .iter()
                    .any(|variant| variant.schema.is_none() && variant.name == name);
                if known {
                    Ok(())
                } else {
                    self.refuse_from(start, place, Fault::Value)
                }
            }
            b'{' => {
                let mut ahead = self.cursor.clone();
                ahead.open()?;
                if ahead.space() == b'}' {
                    return self.misfit(place);
                }
                let key = ahead.key()?;
                let name = decode(ahead.slice(key.start, key.end));
                let known = variants.iter().find_map(|variant| {
                    let schema = variant.schema?;
                    (variant.name == name).then_some((variant.name, schema))
                });
                if let Some((name, schema)) = known {
                    let fields = [Field::new(name, Text::EMPTY, schema)];
                    return self.object(place, &fields, None);
                }
                if S::FAST {
                    return Err(Stop);
                }
                ahead.colon()?;
                let from = ahead.at;
                ahead.skip()?;
                self.cursor.skip()?;
                self.sink.enter_key(&name, false);
                let fault = Fault::Unknown(&name, Known::Variants(variants));
                let refused = self.refuse((from, ahead.at), place, fault);
                self.sink.leave();
                refused
            }
            _ => self.misfit(place),
        }
    }

    /// Walks `{"tag": "variant", …}`, or `{"tag": "variant", "content": …}`.
    pub(super) fn tagged(
        &mut self,
        place: Place<'_>,
        variants: &[Variant],
        tag: &str,
        content: Option<&'static str>,
    ) -> Result<(), Stop> {
        if self.cursor.peek() != b'{' {
            return self.misfit(place);
        }
        let start = self.cursor.at;
        let mut ahead = self.cursor.clone();
        let found = find(&mut ahead, tag);
        if let Some(broken) = ahead.broken {
            self.cursor.broken = Some(broken);
            return Err(Stop);
        }
        let Some((from, to)) = found else {
            return self.refuse_from(start, place, Fault::Untagged(tag, variants));
        };
        let raw = self.cursor.slice(from, to);
        let variant = raw
            .strip_prefix('"')
            .and_then(|raw| raw.strip_suffix('"'))
            .and_then(|raw| {
                let name = decode(raw);
                variants.iter().find(|variant| variant.name == name)
            });
        let Some(variant) = variant else {
            if S::FAST {
                return Err(Stop);
            }
            self.cursor.skip()?;
            self.sink.enter_key(tag, false);
            let refused = self.refuse((from, to), place, Fault::Choice(variants));
            self.sink.leave();
            return refused;
        };
        match (variant.schema, content) {
            (Some(schema), Some(content)) => {
                let fields = [Field::new(content, Text::EMPTY, schema)];
                self.object(place, &fields, Some(tag))
            }
            (Some(schema), None) => self.variant(place, schema, tag),
            (None, _) => self.object(place, &[], Some(tag)),
        }
    }

    /// Walks the fields of a variant that are next to its tag.
    pub(super) fn variant(
        &mut self,
        place: Place<'_>,
        schema: &Schema,
        tag: &str,
    ) -> Result<(), Stop> {
        match &schema.kind {
            Kind::Object(fields) => {
                let here = Scope {
                    schema,
                    parent: place.scope,
                };
                let scope = Some(&here);
                self.object(Place { scope, ..place }, fields, Some(tag))
            }
            Kind::Constrained(inner, _) => self.variant(place, inner, tag),
            Kind::Ref(name) => {
                let record = Scope::named(place.scope, name, schema.module)
                    .find(|here| matches!(here.schema.kind, Kind::Object(_)));
                if let Some(here) = record {
                    let scope = here.parent;
                    return self.variant(Place { scope, ..place }, here.schema, tag);
                }
                self.misfit(place)
            }
            _ => self.misfit(place),
        }
    }

    /// Walks an untagged union: uses the first variant that matches.
    pub(super) fn untagged(&mut self, place: Place<'_>, variants: &[Variant]) -> Result<(), Stop> {
        let byte = self.cursor.peek();
        for variant in variants {
            let Some(schema) = variant.schema else {
                if byte == b'n' {
                    return self.cursor.word("null");
                }
                continue;
            };
            if !starts(schema, byte) {
                continue;
            }
            if self.is_exhausted() {
                return self.refuse_from(self.cursor.at, place, Fault::Ambiguous);
            }
            if let Some((end, edits)) = self.attempt(schema, place.bounds, place.scope) {
                self.cursor.at = end;
                self.sink.adopt(edits);
                return Ok(());
            }
        }
        self.misfit(place)
    }
}

/// Returns the span of the value of the key `wanted` in the object under the cursor.
pub(super) fn find(cursor: &mut Cursor<'_>, wanted: &str) -> Option<(usize, usize)> {
    cursor.open().ok()?;
    let mut more = cursor.space() != b'}';
    while more {
        let key = cursor.key().ok()?;
        let raw = cursor.slice(key.start, key.end);
        let found = if key.escaped {
            decode(raw) == wanted
        } else {
            raw == wanted
        };
        cursor.colon().ok()?;
        let from = cursor.at;
        cursor.skip().ok()?;
        if found {
            return Some((from, cursor.at));
        }
        more = cursor.another(b'}').ok()?;
    }
    None
}

/// Returns whether a value that starts with this byte can match a schema. Returns `true` when unsure.
pub(super) const fn starts(schema: &Schema, byte: u8) -> bool {
    match &schema.kind {
        Kind::String | Kind::Format(_) | Kind::Char | Kind::Duration | Kind::Enum(_) => {
            byte == b'"'
        }
        Kind::Integer(_) | Kind::Number { .. } | Kind::IntegerEnum(_) => {
            byte == b'-' || byte.is_ascii_digit()
        }
        Kind::Boolean => byte == b't' || byte == b'f',
        Kind::Array { .. } | Kind::Tuple(_) => byte == b'[',
        Kind::Object(_) | Kind::Map(_) => byte == b'{',
        Kind::Null => byte == b'n',
        Kind::Never | Kind::Refused { .. } => false,
        Kind::Optional(inner) => byte == b'n' || starts(inner, byte),
        Kind::Constrained(inner, _) => starts(inner, byte),
        Kind::Union(_) | Kind::Ref(_) | Kind::Any => true,
    }
}
