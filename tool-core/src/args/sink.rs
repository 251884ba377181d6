//! What a walk is for: a verdict, every issue, or a repair.

use super::scan::Stop;
use crate::schema::{Constraints, Field, Schema, Variant};

/// The enclosing nodes that have a name, innermost first, for recursion. It lives on the stack of the walk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scope<'p> {
    pub(super) schema: &'p Schema,
    pub(super) parent: Option<&'p Scope<'p>>,
}

impl<'p> Scope<'p> {
    /// The enclosing nodes of a name and module, innermost first.
    pub(super) fn named(
        scope: Option<&'p Self>,
        name: &str,
        module: &str,
    ) -> impl Iterator<Item = &'p Self> {
        std::iter::successors(scope, |here| here.parent)
            .filter(move |here| here.schema.is_type(name, module))
    }
}

/// What is wanted where a value stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'p> {
    pub(super) schema: &'p Schema,
    pub(super) bounds: Option<&'p Constraints>,
    pub(super) scope: Option<&'p Scope<'p>>,
}

/// What is wrong.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fault<'f> {
    /// A value that does not fit its place.
    Value,
    /// A tag that names no variant.
    Choice(&'f [Variant]),
    /// A key that is not there.
    Missing,
    /// A tag that is not there.
    Untagged(&'f str, &'f [Variant]),
    /// A key that no field has.
    Unknown(&'f str, Known<'f>),
    /// A key for the second time.
    Twice(&'f str),
    /// An item of a set that stands at another place already. The cut is the text that goes if it goes.
    Repeat {
        /// Where it stands.
        first: usize,
        /// The item with the comma before it.
        cut: (usize, usize),
    },
    /// Too many shapes were tried on the same text.
    Ambiguous,
}

/// The keys that an object may have.
#[derive(Clone, Copy, Debug)]
pub(super) enum Known<'f> {
    /// A tag and fields.
    Fields(Option<&'f str>, &'f [Field]),
    /// Variants, of which one is the key.
    Variants(&'f [Variant]),
}

/// What a walk does with what it finds.
///
/// There is one walk. It is compiled once for each sink, and what a sink ignores is gone from the code.
pub(super) trait Sink: Sized {
    /// Whether the first fault ends the walk.
    const FAST: bool;

    /// Takes a fault in the bytes from `span.0` to `span.1`.
    fn refuse(
        &mut self,
        text: &str,
        span: (usize, usize),
        place: Place<'_>,
        fault: Fault<'_>,
    ) -> Result<(), Stop>;

    /// Takes another spelling of a value: a default for null, `1` for `1.0`. Spans come in order and do not overlap.
    fn correct(&mut self, _start: usize, _end: usize, _text: impl FnOnce() -> String) {}

    /// Takes a spelling that only serde reads: a duration as a record.
    fn respell(&mut self, _start: usize, _end: usize, _text: impl FnOnce() -> String) {}

    /// Whether spellings are wanted that only serde reads.
    fn is_for_serde(&self) -> bool {
        false
    }

    /// Takes the spellings of a value that was walked by itself.
    fn adopt(&mut self, _edits: Vec<Edit>) {}

    /// Goes into a field; `nullable` where null would do as well.
    fn enter_key(&mut self, _key: &str, _nullable: bool) {}

    /// Goes into an item.
    fn enter_item(&mut self, _index: usize, _nullable: bool) {}

    /// Comes out again.
    fn leave(&mut self) {}
}

/// A span of text and what stands there instead.
#[derive(Clone, Debug)]
pub(super) struct Edit {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) text: String,
    /// Only serde reads it so.
    pub(super) for_serde: bool,
}

impl Edit {
    /// The same in a text that begins at a byte of this one.
    pub(super) fn moved_by(&self, start: usize) -> Self {
        Self {
            start: self.start - start,
            end: self.end - start,
            text: self.text.clone(),
            ..*self
        }
    }
}

/// Text with its edits made. They come in order and do not overlap.
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

/// The verdict alone, and what is spelled otherwise.
#[derive(Debug, Default)]
pub(super) struct Fast {
    pub(super) edits: Vec<Edit>,
    /// Spellings that only serde reads are noted, too.
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
