//! Validation of records (objects with known fields) and maps.

use std::collections::HashSet;

use super::bytes::{decode, encode};
use super::scan::Stop;
use super::sink::{Edit, Fast, Fault, Known, Place, Scope, Sink, splice};
use super::walk::Walk;
use crate::schema::{Field, Kind, Schema};

/// The set of fields that were read: a bit set in one 64-bit word, or in several words for a record with more than 64 fields.
trait Seen {
    /// Adds a field. Returns whether it is new.
    fn insert(&mut self, index: usize) -> bool;
    fn contains(&self, index: usize) -> bool;
    /// Returns whether all of the `count` fields are in the set. May return `false` for a full set, because the result only selects a fast
    /// path.
    fn is_full(&self, count: usize) -> bool;
}

impl Seen for u64 {
    #[inline]
    fn insert(&mut self, index: usize) -> bool {
        let bit = 1 << (index & 63);
        let new = *self & bit == 0;
        *self |= bit;
        new
    }

    fn contains(&self, index: usize) -> bool {
        self >> (index & 63) & 1 == 1
    }

    #[inline]
    fn is_full(&self, count: usize) -> bool {
        self.trailing_ones() as usize >= count
    }
}

impl Seen for Vec<u64> {
    fn insert(&mut self, index: usize) -> bool {
        if self.len() <= index / 64 {
            self.resize(index / 64 + 1, 0);
        }
        self.get_mut(index / 64)
            .is_some_and(|word| word.insert(index))
    }

    fn contains(&self, index: usize) -> bool {
        self.get(index / 64)
            .is_some_and(|word| word.contains(index))
    }

    fn is_full(&self, _: usize) -> bool {
        false
    }
}

/// The state of reading a record: its position, and the fields that were already read.
struct StartedRecord<M> {
    /// Byte offset of the record.
    start: usize,
    /// Whether the record has no keys.
    empty: bool,
    /// Whether the cursor is at a key, not at the closing brace.
    more: bool,
    seen: M,
}

impl<S: Sink> Walk<'_, S> {
    /// Walks a record: the fast path of `object` for a sink that stops at the first fault. Most models write the fields in order, so it compares the
    /// next key with the names in order, and passes over fields that are absent. At the first key that is out of order or unknown, `rest` takes over.
    ///
    /// The rule `property-key` has checked the names of a checked node: none of them needs escapes.
    #[inline(never)]
    pub(super) fn record(
        &mut self,
        schema: &Schema,
        scope: Option<&Scope<'_>>,
    ) -> Result<(), Stop> {
        let Kind::Object(fields) = &schema.kind else {
            return self.other(schema, None, scope);
        };
        if self.cursor.peek() != b'{' || fields.len() > 64 {
            return self.other(schema, None, scope);
        }
        let here = Scope {
            schema,
            parent: scope,
        };
        let scope = if schema.name.is_empty() {
            scope
        } else {
            Some(&here)
        };
        let start = self.cursor.at;
        self.cursor.open()?;
        let empty = self.cursor.space() == b'}';
        let mut more = !empty;
        let mut seen = 0u64;
        for (index, field) in fields.iter().enumerate() {
            if !more {
                break;
            }
            if field.input && self.cursor.leap(field.name) {
                let byte = self.cursor.space();
                if byte == b'n' && field.default.is_some() {
                    self.defaulted(field, scope)?;
                } else {
                    self.inner(byte, field.schema, None, scope)?;
                }
                seen |= 1 << (index & 63);
                more = self.cursor.another(b'}')?;
            }
        }
        if !more && seen.is_full(fields.len()) {
            self.cursor.close();
            return Ok(());
        }
        let place = Place {
            schema,
            bounds: None,
            scope,
        };
        let begun = StartedRecord {
            start,
            empty,
            more,
            seen,
        };
        self.rest(place, fields, None, begun)
    }

    /// Walks a closed record. It may also contain the key `tag`, whose value was checked before.
    pub(super) fn object(
        &mut self,
        place: Place<'_>,
        fields: &[Field],
        tag: Option<&str>,
    ) -> Result<(), Stop> {
        if self.cursor.peek() != b'{' {
            return self.misfit(place);
        }
        let start = self.cursor.at;
        self.cursor.open()?;
        let empty = self.cursor.space() == b'}';
        let more = !empty;
        if fields.len() <= 64 {
            self.rest(
                place,
                fields,
                tag,
                StartedRecord {
                    start,
                    empty,
                    more,
                    seen: 0u64,
                },
            )
        } else {
            self.rest(
                place,
                fields,
                tag,
                StartedRecord {
                    start,
                    empty,
                    more,
                    seen: Vec::new(),
                },
            )
        }
    }

    /// Reads the remaining keys of a record and checks for missing ones.
    #[inline(never)]
    fn rest<M: Seen>(
        &mut self,
        place: Place<'_>,
        fields: &[Field],
        tag: Option<&str>,
        begun: StartedRecord<M>,
    ) -> Result<(), Stop> {
        let mut seen = begun.seen;
        if begun.more {
            self.keys(place, fields, tag, &mut seen)?;
        }
        if !seen.is_full(fields.len()) {
            self.absent(
                place,
                fields,
                |index| seen.contains(index),
                begun.start,
                begun.empty,
            )?;
        }
        self.cursor.close();
        Ok(())
    }

    /// Walks keys in any order, up to the closing brace.
    fn keys<M: Seen>(
        &mut self,
        place: Place<'_>,
        fields: &[Field],
        tag: Option<&str>,
        seen: &mut M,
    ) -> Result<(), Stop> {
        let mut tagged = false;
        let mut expected = 0;
        loop {
            let key = self.cursor.key()?;
            let name = decode(self.cursor.slice(key.start, key.end));
            let byte = self.cursor.colon()?;
            let known = |field: &&Field| field.name == name && field.input;
            let next = fields.get(expected).filter(known).map(|_| expected);
            match next.or_else(|| fields.iter().position(|field| known(&field))) {
                Some(index) => {
                    expected = index + 1;
                    if let Some(field) = fields.get(index) {
                        if !seen.insert(index) {
                            self.refuse_value(place, field.name, Fault::Twice(field.name))?;
                        } else if byte == b'n' && field.default.is_some() {
                            self.defaulted(field, place.scope)?;
                        } else {
                            self.field(field, place.scope)?;
                        }
                    }
                }
                None if tag == Some(&*name) => {
                    if std::mem::replace(&mut tagged, true) {
                        self.refuse_value(place, &name, Fault::Twice(&name))?;
                    } else {
                        self.cursor.skip()?;
                    }
                }
                None => self.refuse_value(
                    place,
                    &name,
                    Fault::Unknown(&name, Known::Fields(tag, fields)),
                )?,
            }
            if !self.cursor.another(b'}')? {
                return Ok(());
            }
        }
    }

    fn field(&mut self, field: &Field, scope: Option<&Scope<'_>>) -> Result<(), Stop> {
        self.sink.enter_key(field.name, !field.is_required());
        let walked = self.value(field.schema, None, scope);
        self.sink.leave();
        walked
    }

    /// Replaces null with the field's default.
    #[cold]
    fn defaulted(&mut self, field: &Field, scope: Option<&Scope<'_>>) -> Result<(), Stop> {
        let start = self.cursor.at;
        self.cursor.word("null")?;
        let end = self.cursor.at;
        let for_serde = self.sink.is_for_serde();
        self.sink
            .correct(start, end, || spelled_default(field, scope, for_serde));
        Ok(())
    }

    /// Refuses the value of a key without validating the value.
    pub(super) fn refuse_value(
        &mut self,
        place: Place<'_>,
        key: &str,
        fault: Fault<'_>,
    ) -> Result<(), Stop> {
        self.sink.enter_key(key, false);
        let refused = self.refuse_from(self.cursor.at, place, fault);
        self.sink.leave();
        refused
    }

    /// Handles the fields whose keys are absent. The cursor is at the closing brace.
    #[inline(never)]
    fn absent(
        &mut self,
        place: Place<'_>,
        fields: &[Field],
        seen: impl Fn(usize) -> bool,
        start: usize,
        empty: bool,
    ) -> Result<(), Stop> {
        let end = self.cursor.at;
        let mut empty = empty;
        for (index, field) in fields.iter().enumerate() {
            if !field.input || seen(index) {
                continue;
            }
            let optional = field.schema.is_optional();
            let null = optional && (field.null_if_absent || is_newtype(field.schema));
            if field.default.is_some() || null {
                let comma = if empty { "" } else { "," };
                empty = false;
                let for_serde = self.sink.is_for_serde();
                self.sink.correct(end, end, || {
                    let value = spelled_default(field, place.scope, for_serde);
                    format!("{comma}{}:{value}", encode(field.name))
                });
            } else if !optional {
                let wanted = Place {
                    schema: field.schema,
                    bounds: None,
                    scope: None,
                };
                self.sink.enter_key(field.name, false);
                let refused = self.refuse((start, end + 1), wanted, Fault::Missing);
                self.sink.leave();
                refused?;
            }
        }
        Ok(())
    }

    /// Walks an object with any keys, whose values have one schema.
    #[cold]
    pub(super) fn map(&mut self, place: Place<'_>, values: &Schema) -> Result<(), Stop> {
        if self.cursor.peek() != b'{' {
            return self.misfit(place);
        }
        let start = self.cursor.at;
        self.cursor.open()?;
        let mut keys = HashSet::new();
        let mut more = self.cursor.space() != b'}';
        while more {
            let key = self.cursor.key()?;
            let name = decode(self.cursor.slice(key.start, key.end));
            self.cursor.colon()?;
            if keys.contains(&name) {
                self.refuse_value(place, &name, Fault::Twice(&name))?;
            } else {
                self.sink.enter_key(&name, values.is_optional());
                let walked = self.value(values, None, place.scope);
                self.sink.leave();
                walked?;
                keys.insert(name);
            }
            more = self.cursor.another(b'}')?;
        }
        self.cursor.close();
        let fits = place.bounds.is_none_or(|bounds| {
            bounds.min_items.is_none_or(|min| keys.len() >= min)
                && bounds.max_items.is_none_or(|max| keys.len() <= max)
        });
        if fits {
            Ok(())
        } else {
            self.refuse((start, self.cursor.at), place, Fault::Value)
        }
    }
}

/// Returns whether an optional schema belongs to a named newtype around an `Option`. Such a newtype accepts null, but serde's derive does not accept
/// an absent key for it. The schema may be wrapped in the field's bounds.
pub(super) const fn is_newtype(schema: &Schema) -> bool {
    let mut schema = schema;
    loop {
        match &schema.kind {
            Kind::Optional(_) => return !schema.name.is_empty(),
            Kind::Constrained(inner, _) if schema.name.is_empty() => schema = inner,
            Kind::Constrained(..) => return true,
            _ => return false,
        }
    }
}

/// Returns the text of a field's default, with nested defaults filled in. If `for_serde` is set, the text has the form that serde reads.
fn spelled_default(field: &Field, scope: Option<&Scope<'_>>, for_serde: bool) -> String {
    let Some(default) = field.default else {
        return "null".to_owned();
    };
    let sink = Fast {
        for_serde,
        ..Fast::NEW
    };
    let mut walk = Walk::new(default.text, sink);
    let place = Place {
        schema: field.schema,
        bounds: None,
        scope,
    };
    let edits: &[Edit] = match walk.run(place) {
        Ok(()) => &walk.sink.edits,
        Err(Stop) => &[],
    };
    splice(default.text, edits)
}
