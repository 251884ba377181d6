//! Validation of lists, sets and tuples.

use std::collections::HashMap;

use super::equal;
use super::scan::{Cursor, Stop};
use super::sink::{Fault, Place, Scope, Sink};
use super::walk::Walk;
use crate::schema::{Kind, Schema};

/// Maximum size of a set whose items are compared pairwise. Larger sets are compared by normal form.
const FEW: usize = 24;

/// The requirements of a list type on the list as a whole.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected {
    /// Whether repeated items are refused.
    pub(super) unique: bool,
    /// The exact number of items, if the type has one.
    pub(super) exactly: Option<usize>,
}

impl<S: Sink> Walk<'_, S> {
    /// Walks a list without bounds: the fast path of `list` for a sink that stops at the first fault. The fast path does not
    /// count the items.
    #[inline(never)]
    pub(super) fn plain_list(
        &mut self,
        schema: &Schema,
        scope: Option<&Scope<'_>>,
    ) -> Result<(), Stop> {
        let Kind::Array {
            items,
            unique: false,
            exactly: None,
        } = &schema.kind
        else {
            return self.other(schema, None, scope);
        };
        if self.cursor.peek() != b'[' {
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
        self.cursor.open()?;
        let mut more = self.cursor.space() != b']';
        while more {
            self.inner(self.cursor.peek(), items, None, scope)?;
            more = self.cursor.another(b']')?;
        }
        self.cursor.close();
        Ok(())
    }

    pub(super) fn list(
        &mut self,
        place: Place<'_>,
        items: &Schema,
        unique: bool,
        exactly: Option<usize>,
    ) -> Result<(), Stop> {
        if self.cursor.peek() != b'[' {
            return self.misfit(place);
        }
        let start = self.cursor.at;
        self.cursor.open()?;
        let mut count = 0;
        let mut more = self.cursor.space() != b']';
        while more {
            self.item(items, count, place)?;
            count += 1;
            more = self.cursor.another(b']')?;
        }
        self.cursor.close();
        self.counted(place, Expected { unique, exactly }, start, count)
    }

    /// Checks the number of items and their uniqueness after the items were walked.
    #[inline]
    pub(super) fn counted(
        &mut self,
        place: Place<'_>,
        Expected { unique, exactly }: Expected,
        start: usize,
        count: usize,
    ) -> Result<(), Stop> {
        let mut unique = unique;
        let mut fits = exactly.is_none_or(|exactly| count == exactly);
        if let Some(bounds) = place.bounds {
            unique |= bounds.unique;
            fits &= bounds.min_items.is_none_or(|min| count >= min)
                && bounds.max_items.is_none_or(|max| count <= max);
        }
        if !fits {
            return self.refuse((start, self.cursor.at), place, Fault::Value);
        }
        if unique && count > 1 {
            return self.distinct(place, start, count);
        }
        Ok(())
    }

    fn item(&mut self, items: &Schema, index: usize, place: Place<'_>) -> Result<(), Stop> {
        self.sink.enter_item(index, items.is_optional());
        let walked = self.value(items, None, place.scope);
        self.sink.leave();
        walked
    }

    pub(super) fn tuple(&mut self, place: Place<'_>, items: &[&Schema]) -> Result<(), Stop> {
        if self.cursor.peek() != b'[' {
            return self.misfit(place);
        }
        let start = self.cursor.at;
        self.cursor.open()?;
        let mut count = 0;
        let mut more = self.cursor.space() != b']';
        while more {
            match items.get(count) {
                Some(item) => self.item(item, count, place)?,
                None => self.cursor.skip()?,
            }
            count += 1;
            more = self.cursor.another(b']')?;
        }
        self.cursor.close();
        if count == items.len() {
            Ok(())
        } else {
            self.refuse((start, self.cursor.at), place, Fault::Value)
        }
    }

    /// Refuses each item that equals an earlier one.
    fn distinct(&mut self, place: Place<'_>, start: usize, count: usize) -> Result<(), Stop> {
        let text = self.cursor.text();
        let mut cursor = Cursor::new(text);
        cursor.at = start + 1;
        cursor.space();
        let mut few = [(0, 0); FEW];
        let mut many = HashMap::new();
        let mut last = cursor.at;
        for index in 0..count {
            let from = cursor.at;
            cursor.skip()?;
            let to = cursor.at;
            let item = self.cursor.slice(from, to);
            let first = if count > FEW {
                let first = *many.entry(equal::normal(item)).or_insert(index);
                (first < index).then_some(first)
            } else {
                let before = few.iter().take(index);
                let first = before
                    .clone()
                    .position(|(from, to)| equal::same(self.cursor.slice(*from, *to), item));
                if let Some(slot) = few.get_mut(index) {
                    *slot = (from, to);
                }
                first
            };
            if let Some(first) = first {
                let fault = Fault::Repeat {
                    first,
                    cut: (last, to),
                };
                self.sink.enter_item(index, false);
                let refused = self.refuse((from, to), place, fault);
                self.sink.leave();
                refused?;
            }
            last = to;
            if index + 1 < count {
                cursor.another(b']')?;
            }
        }
        Ok(())
    }
}
