//! Sinks of a walk over arguments. A sink produces a verdict, a list of issues, or a repair.

use super::scan::Stop;
use crate::schema::{Constraints, Field, Schema, Variant};

/// The enclosing nodes, innermost first, for recursive references: the named nodes, and the objects of internally tagged variants. They are stored on
/// the stack of the walk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scope<'p> {
    pub(super) schema: &'p Schema,
    pub(super) parent: Option<&'p Scope<'p>>,
}

impl<'p> Scope<'p> {
    /// Returns the enclosing nodes of this name and module, innermost first.
    pub(super) fn named(
        scope: Option<&'p Self>,
        name: &str,
        module: &str,
    ) -> impl Iterator<Item = &'p Self> {
        std::iter::successors(scope, |here| here.parent)
            .filter(move |here| here.schema.is_type(name, module))
    }
}

/// The requirements on a value: its schema node, the bounds around it and the enclosing nodes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'p> {
    pub(super) schema: &'p Schema,
    pub(super) bounds: Option<&'p Constraints>,
    pub(super) scope: Option<&'p Scope<'p>>,
}

/// A violation of the schema.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fault<'f> {
    /// The value does not match its place.
    Value,
    /// The value of the tag is not the name of a variant.
    Choice(&'f [Variant]),
    /// A required key is missing.
    Missing,
    /// The object has no tag.
    Untagged(&'f str, &'f [Variant]),
    /// The key is not the key of a field, or not the name of a variant with content.
    Unknown(&'f str, Known<'f>),
    /// The key occurred earlier in the object.
    Twice(&'f str),
    /// A set contains an equal item at an earlier index.
    Repeat {
        /// Index of the earlier item.
        first: usize,
        /// The span to remove: the item with the comma before it.
        cut: (usize, usize),
    },
    /// Too many bytes were read for variants of unions that did not match.
    Ambiguous,
}

/// The keys that an object may have.
#[derive(Clone, Copy, Debug)]
pub(super) enum Known<'f> {
    /// The optional tag and the fields of a record.
    Fields(Option<&'f str>, &'f [Field]),
    /// The variants of a union. The name of the chosen variant is the only key of the object.
    Variants(&'f [Variant]),
}

/// Receives the results of a walk.
///
/// There is a single walk. It is monomorphized for each sink, and the compiler removes the code for results that a sink ignores.
pub(super) trait Sink: Sized {
    /// Whether the first fault ends the walk.
    const FAST: bool;

    /// Handles a fault in the bytes from `span.0` to `span.1`. `Err` stops the walk.
    fn refuse(
        &mut self,
        text: &str,
        span: (usize, usize),
        place: Place<'_>,
        fault: Fault<'_>,
    ) -> Result<(), Stop>;

    /// Handles the replacement of a value (a default for null, or `1` for `1.0`) or the insertion of an absent key. Spans are in order and do not
    /// overlap.
    fn correct(&mut self, _start: usize, _end: usize, _text: impl FnOnce() -> String) {}

    /// Handles a replacement that only serde needs: a duration as a struct.
    fn respell(&mut self, _start: usize, _end: usize, _text: impl FnOnce() -> String) {}

    /// Returns whether the sink collects replacements that only serde needs.
    fn is_for_serde(&self) -> bool {
        false
    }

    /// Handles the replacements of a value that was walked separately.
    fn adopt(&mut self, _edits: Vec<Edit>) {}

    /// Enters the value of a key: of a field, a tag or a map entry. `nullable` is whether the guard also accepts null.
    fn enter_key(&mut self, _key: &str, _nullable: bool) {}

    /// Enters an item of a list or a tuple. `nullable` is whether the item also accepts null.
    fn enter_item(&mut self, _index: usize, _nullable: bool) {}

    /// Leaves the key or item that was entered last.
    fn leave(&mut self) {}
}

/// A span of text and its replacement.
#[derive(Clone, Debug)]
pub(super) struct Edit {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) text: String,
    /// Whether only serde needs the replacement.
    pub(super) for_serde: bool,
}

impl Edit {
    /// Returns the edit for the part of the text that begins at byte `start`.
    pub(super) fn moved_by(&self, start: usize) -> Self {
        Self {
            start: self.start - start,
            end: self.end - start,
            text: self.text.clone(),
            ..*self
        }
    }
}

/// Applies edits to text. The edits must be in order and must not overlap.
pub(super) fn splice(text: &str, edits: &[Edit]) -> String {
    let grown: usize = edits.iter().map(|edit| edit.text.len()).sum();
    let mut out = String::with_capacity(text.len() + grown);
    let mut at = 0;
    for edit in edits {
        out.push_str(text.get(at..edit.start).unwrap_or_default());
        out.push_str(&edit.text);
        at = edit.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

/// A sink that stops at the first fault and collects replacements, but no issues.
#[derive(Debug, Default)]
pub(super) struct Fast {
    pub(super) edits: Vec<Edit>,
    /// Whether to collect replacements that only serde needs, too.
    pub(super) for_serde: bool,
}

impl Fast {
    pub(super) const NEW: Self = Self {
        edits: Vec::new(),
        for_serde: false,
    };
}

impl Sink for Fast {
    const FAST: bool = true;

    #[inline]
    fn refuse(
        &mut self,
        _: &str,
        _: (usize, usize),
        _: Place<'_>,
        _: Fault<'_>,
    ) -> Result<(), Stop> {
        Err(Stop)
    }

    #[cold]
    fn correct(&mut self, start: usize, end: usize, text: impl FnOnce() -> String) {
        self.edits.push(Edit {
            start,
            end,
            text: text(),
            for_serde: false,
        });
    }

    fn is_for_serde(&self) -> bool {
        self.for_serde
    }

    fn respell(&mut self, start: usize, end: usize, text: impl FnOnce() -> String) {
        if self.for_serde {
            self.edits.push(Edit {
                start,
                end,
                text: text(),
                for_serde: true,
            });
        }
    }

    fn adopt(&mut self, edits: Vec<Edit>) {
        self.edits.extend(edits);
    }
}
