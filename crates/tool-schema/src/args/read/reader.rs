//! Reader of typed values, which walks the text by the values' schema nodes and stops at the first fault.

use std::borrow::Cow;

use serde::de::DeserializeOwned;

use super::super::decode::{Misread, decode};
use super::super::issue::{Issue, Path};
use super::super::sink::{Edit, Fast, Place, Scope, splice};
use super::super::walk::Walk;
use super::{Field, Unfit, union};
use crate::schema::{Constraints, Kind, Schema};

/// A callback that reads a value by its node and stores it. Functions that take it are compiled once for all types. If they were inlined into the
/// readers of each type, they would be most of the code that a tool adds to a program.
pub(super) type Read<'f> = &'f mut dyn FnMut(&mut Reader<'_>, Node<'_>) -> Result<(), Unfit>;

/// The destination of a value of one type, for code that is compiled once for all types. It is a separate trait, because each closure
/// behind a `dyn` pointer adds two more functions.
pub(super) trait Target {
    /// Reads the value by its node and stores it.
    fn read(&mut self, reader: &mut Reader<'_>, node: Node<'_>) -> Result<(), Unfit>;
}

/// The destination of a single value.
pub(super) struct Slot<'s, F: Field + ?Sized>(pub(super) &'s mut Option<F::Value>);

impl<F: Field + ?Sized> Target for Slot<'_, F> {
    fn read(&mut self, reader: &mut Reader<'_>, node: Node<'_>) -> Result<(), Unfit> {
        *self.0 = Some(F::read(reader, node)?);
        Ok(())
    }
}

/// Reads typed values out of text.
#[derive(Debug)]
pub struct Reader<'t> {
    pub(super) walk: Walk<'t, Fast>,
    /// Whether a value is written differently in the text that policies receive.
    edited: bool,
    /// The error of a user's own `Deserialize` or conversion, and the steps to its value from the inside out.
    refused: Option<Box<Refused>>,
}

#[derive(Debug)]
struct Refused {
    issue: Issue,
    steps: Vec<Step>,
}

/// One step of the path to a value.
#[derive(Debug)]
pub(super) enum Step {
    Key(String),
    Item(usize),
}

/// The schema node of a value and its context.
#[derive(Clone, Copy, Debug)]
pub struct Node<'n> {
    pub(super) schema: &'n Schema,
    pub(super) bounds: Option<&'n Constraints>,
    pub(super) scope: Option<&'n Scope<'n>>,
    /// The key of an enum's tag, which is among the keys of the object and was read before the fields.
    pub(super) tag: Option<&'n str>,
    /// Whether the record is flattened into a different record. Unknown keys then belong to that record.
    pub(super) laid: bool,
    /// Byte offset of the record whose fields are read.
    pub(super) record: usize,
}

impl<'n> Node<'n> {
    #[inline]
    pub(super) const fn new(schema: &'n Schema, scope: Option<&'n Scope<'n>>) -> Self {
        Self {
            schema,
            bounds: None,
            scope,
            tag: None,
            laid: false,
            record: 0,
        }
    }

    pub(super) const fn place(self) -> Place<'n> {
        Place {
            schema: self.schema,
            bounds: self.bounds,
            scope: self.scope,
        }
    }
}

impl<'t> Reader<'t> {
    pub(super) const fn new(text: &'t str) -> Self {
        Self {
            walk: Walk::new(text, Fast::NEW),
            edited: false,
            refused: None,
        }
    }

    /// Reads the complete text.
    pub(super) fn whole(&mut self, schema: &Schema, target: &mut dyn Target) -> Result<(), Unfit> {
        self.walk.cursor.space();
        target.read(self, Node::new(schema, None))?;
        self.walk.cursor.end()?;
        Ok(())
    }

    pub(super) fn is_exact(&self) -> bool {
        !self.edited && self.walk.sink.edits.iter().all(|edit| edit.for_serde)
    }

    /// Records that policies receive a text that differs from this text.
    pub(super) const fn edited(&mut self) {
        self.edited = true;
    }

    /// Returns the issue of a user's own `Deserialize` or conversion, if there is one.
    #[cold]
    pub(super) fn refused(self) -> Option<Issue> {
        let Refused { mut issue, steps } = *self.refused?;
        let mut path = Path::default();
        for step in steps.into_iter().rev() {
            match step {
                Step::Key(key) => path.key(&key),
                Step::Item(index) => path.item(index),
            }
        }
        issue.pointer.insert_str(0, &path.pointer());
        Some(issue)
    }

    /// Records a step while an error propagates from an inner value.
    #[cold]
    pub(super) fn passed(&mut self, step: impl FnOnce() -> Step) {
        if let Some(refused) = &mut self.refused {
            refused.steps.push(step());
        }
    }

    /// Tries one variant of a union. If it does not match, the error that was recorded last is kept. If it matches, earlier errors are dropped.
    pub(super) fn attempt(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<(), Unfit>,
    ) -> Result<(), Unfit> {
        let (before, hops, edited) = (self.refused.take(), self.walk.hops, self.edited);
        let value = read(self);
        if value.is_err() {
            self.refused = self.refused.take().or(before);
            self.walk.hops = hops;
            self.edited = edited;
        }
        value
    }

    /// Records the error for the value that was read.
    #[cold]
    pub(super) fn refuse(&mut self, misread: Misread) -> Unfit {
        self.refused = Some(Box::new(Refused {
            issue: misread.into_issue(),
            steps: Vec::new(),
        }));
        Unfit(())
    }

    /// Records the error of a user's own conversion.
    #[cold]
    pub(super) fn refuse_text(&mut self, text: &str, why: &dyn std::fmt::Display) -> Unfit {
        let error = serde::de::Error::custom(why);
        self.refuse(Misread::of_value(text, &error))
    }

    /// Reads a value with its `Deserialize` after the guard has admitted it.
    ///
    /// # Errors
    ///
    /// Fails if the value does not match its node, or its `Deserialize` refuses it.
    pub fn by_serde<T: DeserializeOwned>(&mut self, node: Node<'_>) -> Result<T, Unfit> {
        self.guarded(node, decode::<T>)
    }

    /// Reads a different text: a default, or null for an absent key.
    pub(super) fn aside(
        &mut self,
        text: &str,
        node: Node<'_>,
        read: Read<'_>,
    ) -> Result<(), Unfit> {
        let mut inner = Reader::new(text);
        inner.walk.cursor.space();
        inner.walk.wasted = self.walk.wasted;
        inner.walk.most_wasted = self.walk.most_wasted;
        let value = read(&mut inner, node);
        self.walk.wasted = inner.walk.wasted;
        self.edited |= !inner.is_exact();
        if value.is_err() {
            self.refused = inner.refused;
        }
        value
    }

    /// Walks a value with the guard, and then reads the text that the guard admits.
    pub(super) fn guarded<T>(
        &mut self,
        node: Node<'_>,
        read: impl FnOnce(&str) -> Result<T, Misread>,
    ) -> Result<T, Unfit> {
        if node.laid {
            return self.guarded_part(node, read);
        }
        let before = self.walk.sink.edits.len();
        let start = self.walk.cursor.at;
        self.walk.sink.for_serde = true;
        let walked = match node.tag {
            None => self.walk.value(node.schema, node.bounds, node.scope),
            Some(tag) => self.walk.variant(node.place(), node.schema, tag),
        };
        self.walk.sink.for_serde = false;
        walked?;
        let text = self.walk.cursor.slice(start, self.walk.cursor.at);
        let edits = self.walk.sink.edits.get(before..).unwrap_or_default();
        let mut text = Cow::Borrowed(text);
        if !edits.is_empty() {
            let edits: Vec<Edit> = edits.iter().map(|edit| edit.moved_by(start)).collect();
            text = Cow::Owned(splice(&text, &edits));
        }
        if let Some(tag) = node.tag {
            // The tag does not belong to the payload.
            text = Cow::Owned(union::without(&text, tag));
        }
        let value = read(&text);
        value.map_err(|misread| self.refuse(misread))
    }

    /// Does the same as `guarded` for a flattened record: checks only the record's own fields.
    fn guarded_part<T>(
        &mut self,
        node: Node<'_>,
        read: impl FnOnce(&str) -> Result<T, Misread>,
    ) -> Result<T, Unfit> {
        let Kind::Object(fields) = &node.schema.kind else {
            return Err(Unfit(()));
        };
        let start = self.walk.cursor.at;
        self.walk.cursor.skip()?;
        let text = self.walk.cursor.slice(start, self.walk.cursor.at);
        let part = union::filtered(text, |key| fields.iter().any(|field| field.name == key));
        let whole = Node {
            laid: false,
            ..node
        };
        let (mut read, mut value) = (Some(read), None);
        self.aside(&part, whole, &mut |inner, node| {
            let read = read.take().ok_or(Unfit(()))?;
            value = Some(inner.guarded(node, read)?);
            Ok(())
        })?;
        value.ok_or(Unfit(()))
    }

    /// Follows bounds, names and references to the node that defines the value, and calls `read` with it.
    #[inline]
    pub(super) fn open(&mut self, node: Node<'_>, read: Read<'_>) -> Result<(), Unfit> {
        if node.schema.name.is_empty()
            && !matches!(node.schema.kind, Kind::Constrained(..) | Kind::Ref(_))
        {
            return read(self, node);
        }
        self.open_named(node, read)
    }

    fn open_named(&mut self, node: Node<'_>, read: Read<'_>) -> Result<(), Unfit> {
        let here = Scope {
            schema: node.schema,
            parent: node.scope,
        };
        let scope = if node.schema.name.is_empty() {
            node.scope
        } else {
            Some(&here)
        };
        match &node.schema.kind {
            Kind::Constrained(inner, own) => {
                let merged;
                let bounds = match node.bounds {
                    None => own,
                    Some(outer) => {
                        merged = own.under(outer);
                        &merged
                    }
                };
                let inner = Node {
                    schema: inner,
                    bounds: Some(bounds),
                    scope,
                    ..node
                };
                self.open_named(inner, read)
            }
            Kind::Ref(name) => {
                let found = Scope::named(node.scope, name, node.schema.module)
                    .find(|here| !matches!(here.schema.kind, Kind::Ref(_)));
                match found {
                    Some(here) if self.walk.hop() => {
                        let again = Node {
                            schema: here.schema,
                            scope: here.parent,
                            ..node
                        };
                        self.open_named(again, read)
                    }
                    _ => Err(Unfit(())),
                }
            }
            _ => read(self, Node { scope, ..node }),
        }
    }
}
