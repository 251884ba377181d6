//! Closed records and maps.

use std::collections::HashSet;

use super::scan::{Stop, Str, decode, encode};
use super::sink::{Edit, Fault, Known, Place, Scope, Sink, splice};
use super::walk::Walk;
use crate::schema::{Field, Schema};

/// The fields that have come by: a word of bits, and more words for a record of more fields.
trait Seen: Default {
    /// Marks a field; false where it was marked before.
    fn insert(&mut self, index: usize) -> bool;
    fn contains(&self, index: usize) -> bool;
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
}

impl Seen for Vec<u64> {
    fn insert(&mut self, index: usize) -> bool {
        if self.len() <= index / 64 {
            self.resize(index / 64 + 1, 0);
        }
        self.get_mut(index / 64).is_some_and(|word| word.insert(index))
    }

    fn contains(&self, index: usize) -> bool {
        self.get(index / 64).is_some_and(|word| word.contains(index))
    }
}

/// What a key turned out to be.
enum Key {
    Field(usize),
    Other(Str),
}

impl<S: Sink> Walk<'_, S> {
    /// A closed record, beside whose fields a tag may stand that has been judged already.
    #[inline]
    pub(super) fn object(
        &mut self,
        place: Place<'_>,
        fields: &[Field],
        tag: Option<&str>,
    ) -> Result<(), Stop> {
        if fields.len() <= 64 {
            self.members::<u64>(place, fields, tag)
        } else {
            self.members::<Vec<u64>>(place, fields, tag)
        }
    }

    fn members<M: Seen>(
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
        let mut seen = M::default();
        let mut count = 0;
        let mut tagged = false;
        let mut expected = 0;
        let empty = self.cursor.space() == b'}';
        let mut more = !empty;
        while more {
            match self.field_key(place.schema, fields, expected)? {
                Key::Field(index) => {
                    expected = index + 1;
                    if let Some(field) = fields.get(index) {
                        let byte = self.cursor.colon()?;
                        if !seen.insert(index) {
                            self.refuse_value(place, field.name, Fault::Twice(field.name))?;
                        } else if byte == b'n' && field.default.is_some() {
                            self.defaulted(field, place.scope)?;
                        } else {
                            self.field(field, place.scope)?;
                        }
                        count += 1;
                    }
                }
                Key::Other(key) => self.extra(place, fields, tag, key, &mut tagged)?,
            }
            more = self.cursor.another(b'}')?;
        }
        if count < fields.len() {
            self.absent(place, fields, |index| seen.contains(index), start, empty)?;
        }
        self.cursor.close();
        Ok(())
    }

    /// A key, which most often is that of the next field.
    #[inline]
    fn field_key(&mut self, schema: &Schema, fields: &[Field], expected: usize) -> Result<Key, Stop> {
        // The rule `property-key` has seen the keys of a checked node: none of them holds a backslash.
        if let Some(field) = fields.get(expected)
            && schema.checked
            && field.input
            && self.cursor.is_key(field.name)
        {
            return Ok(Key::Field(expected));
        }
        self.other_key(fields)
    }

    #[inline(never)]
    fn other_key(&mut self, fields: &[Field]) -> Result<Key, Stop> {
        let key = self.cursor.key()?;
        let raw = self.cursor.slice(key.start, key.end);
        let find = |name: &str| {
            fields
                .iter()
                .position(|field| field.name == name && field.input)
        };
        let found = if key.escaped {
            find(&decode(raw))
        } else {
            find(raw)
        };
        Ok(found.map_or(Key::Other(key), Key::Field))
    }

    #[inline]
    fn field(&mut self, field: &Field, scope: Option<&Scope<'_>>) -> Result<(), Stop> {
        if S::FAST {
            return self.inner(field.schema, None, scope);
        }
        self.sink.enter_key(field.name, !field.is_required());
        let walked = self.value(field.schema, None, scope);
        self.sink.leave();
        walked
    }

    /// Null where a default is stated.
    #[cold]
    fn defaulted(&mut self, field: &Field, scope: Option<&Scope<'_>>) -> Result<(), Stop> {
        let start = self.cursor.at;
        self.cursor.word("null")?;
        let end = self.cursor.at;
        self.sink
            .correct(start, end, || spelled_default(field, scope));
        Ok(())
    }

    /// A key that no field has.
    #[cold]
    fn extra(
        &mut self,
        place: Place<'_>,
        fields: &[Field],
        tag: Option<&str>,
        key: Str,
        tagged: &mut bool,
    ) -> Result<(), Stop> {
        let name = decode(self.cursor.slice(key.start, key.end));
        self.cursor.colon()?;
        if tag == Some(&*name) {
            if !std::mem::replace(tagged, true) {
                return self.cursor.skip();
            }
            return self.refuse_value(place, &name, Fault::Twice(&name));
        }
        self.refuse_value(place, &name, Fault::Unknown(&name, Known::Fields(tag, fields)))
    }

    /// Refuses the value of a key, whatever it is.
    pub(super) fn refuse_value(&mut self, place: Place<'_>, key: &str, fault: Fault<'_>) -> Result<(), Stop> {
        self.sink.enter_key(key, false);
        let refused = self.refuse_from(self.cursor.at, place, fault);
        self.sink.leave();
        refused
    }

    /// The fields that have not come by; the cursor stands at the closing brace.
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
            // A newtype over an `Option` takes null, but serde does not let it be absent.
            let newtype = field.schema.is_optional() && !field.schema.name.is_empty();
            if field.default.is_some() || newtype {
                let comma = if empty { "" } else { "," };
                empty = false;
                self.sink.correct(end, end, || {
                    let value = spelled_default(field, place.scope);
                    format!("{comma}{}:{value}", encode(field.name))
                });
            } else if !field.schema.is_optional() {
                let wanted = Place {
                    schema: field.schema,
                    bounds: None,
                    scope: None,
                };
                self.sink.enter_key(field.name, false);
                let refused = self.refuse((start, end + 1), wanted, Fault::Missing(field.name));
                self.sink.leave();
                refused?;
            }
        }
        Ok(())
    }

    /// An open record.
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

/// A field's default as serde reads it: a duration in it, or a default inside it, is spelled otherwise there.
fn spelled_default(field: &Field, scope: Option<&Scope<'_>>) -> String {
    let Some(default) = field.default else {
        return "null".to_owned();
    };
    let mut walk = Walk::new(default.text, super::sink::Fast::default());
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
