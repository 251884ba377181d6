//! An HTML parser with limits on time, elements and nesting depth.
//!
//! A page may be written to consume the time and memory of its reader: at many tags, an HTML parser searches all open elements; it reopens every
//! unclosed `font` in each paragraph, and compares each attribute with all earlier ones. So the page is passed to the parser in small pieces, and the
//! limits are checked after each piece.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::time::{Duration, Instant};

use dom_query::{Document, NodeId, NodeRef};
use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::{StrTendril, TendrilSink as _};
use html5ever::tree_builder::TreeBuilderOpts;
use html5ever::{Attribute, ParseOpts, QualName, parse_document};

/// Maximum nesting depth of elements. Some functions that read elements call themselves once per level.
const DEEPEST: u32 = 512;

/// Maximum number of elements of a page.
const MOST_ELEMENTS: usize = 60_000;

/// Number of bytes of the page that the parser gets at once. The number is small, because each tag may open many elements.
const BIT: usize = 32;

/// Maximum time of the parser. The other limits are reached earlier, except for tags with many thousand attributes.
const LONGEST: Duration = Duration::from_secs(5);

/// The error for a page that exceeds a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooMuch;

/// Parses a page with the default time limit.
#[cfg(feature = "web")]
pub(crate) fn parse(html: &str) -> Result<Document, TooMuch> {
    parse_until(html, Instant::now() + LONGEST)
}

/// Parses a page. Fails if the page exceeds a limit, or if the parser takes longer than [`LONGEST`] or until after the deadline.
pub(crate) fn parse_until(html: &str, deadline: Instant) -> Result<Document, TooMuch> {
    let options = ParseOpts {
        tree_builder: TreeBuilderOpts {
            scripting_enabled: false,
            ..TreeBuilderOpts::default()
        },
        ..ParseOpts::default()
    };
    let mut parser = parse_document(Bounded::default(), options);
    let deadline = deadline.min(Instant::now() + LONGEST);
    let mut rest = html;
    while !rest.is_empty() {
        let (bit, more) = rest.split_at(rest.ceil_char_boundary(BIT));
        parser.process(StrTendril::from_slice(bit));
        rest = more;
        if parser.tokenizer.sink.sink.is_too_much() || Instant::now() > deadline {
            return Err(TooMuch);
        }
    }
    let document = parser.finish();
    // Check again: the parser may have moved elements after they were counted.
    if is_too_deep(document.root()) {
        return Err(TooMuch);
    }
    Ok(document)
}

fn is_too_deep(root: NodeRef<'_>) -> bool {
    let mut open = vec![(root, 0)];
    while let Some((node, depth)) = open.pop() {
        if depth > DEEPEST {
            return true;
        }
        open.extend(node.children_it(false).map(|child| (child, depth + 1)));
    }
    false
}

/// A document that counts its elements and their depth.
#[derive(Default)]
struct Bounded {
    document: Document,
    elements: Cell<usize>,
    deepest: Cell<u32>,
    depths: RefCell<HashMap<NodeId, u32>>,
}

impl Bounded {
    fn is_too_much(&self) -> bool {
        self.elements.get() > MOST_ELEMENTS || self.deepest.get() > DEEPEST
    }

    fn put(&self, parent: NodeId, child: &NodeOrText<NodeId>) {
        if let NodeOrText::AppendNode(child) = child {
            let mut depths = self.depths.borrow_mut();
            let depth = depths.get(&parent).map_or(0, |depth| depth + 1);
            depths.insert(*child, depth);
            self.deepest.set(self.deepest.get().max(depth));
        }
    }
}

/// Counts new elements and their depth, and passes the calls on to the document.
impl TreeSink for Bounded {
    type Handle = NodeId;
    type Output = Document;
    type ElemName<'a> = <Document as TreeSink>::ElemName<'a>;

    fn finish(self) -> Document {
        self.document
    }

    /// Drops parse errors, because there may be one for each byte.
    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> NodeId {
        self.document.get_document()
    }

    fn elem_name<'a>(&'a self, target: &'a NodeId) -> Self::ElemName<'a> {
        self.document.elem_name(target)
    }

    fn create_element(&self, name: QualName, attrs: Vec<Attribute>, flags: ElementFlags) -> NodeId {
        self.elements.set(self.elements.get() + 1);
        self.document.create_element(name, attrs, flags)
    }

    fn create_comment(&self, text: StrTendril) -> NodeId {
        self.document.create_comment(text)
    }

    fn create_pi(&self, target: StrTendril, data: StrTendril) -> NodeId {
        self.document.create_pi(target, data)
    }

    fn append(&self, parent: &NodeId, child: NodeOrText<NodeId>) {
        self.put(*parent, &child);
        self.document.append(parent, child);
    }

    fn append_based_on_parent_node(
        &self,
        element: &NodeId,
        before: &NodeId,
        child: NodeOrText<NodeId>,
    ) {
        self.put(*before, &child);
        self.document
            .append_based_on_parent_node(element, before, child);
    }

    fn append_doctype_to_document(&self, name: StrTendril, public: StrTendril, system: StrTendril) {
        self.document
            .append_doctype_to_document(name, public, system);
    }

    fn get_template_contents(&self, target: &NodeId) -> NodeId {
        self.document.get_template_contents(target)
    }

    fn same_node(&self, one: &NodeId, other: &NodeId) -> bool {
        one == other
    }

    fn set_quirks_mode(&self, mode: QuirksMode) {
        self.document.set_quirks_mode(mode);
    }

    fn append_before_sibling(&self, sibling: &NodeId, child: NodeOrText<NodeId>) {
        self.document.append_before_sibling(sibling, child);
    }

    fn add_attrs_if_missing(&self, target: &NodeId, attrs: Vec<Attribute>) {
        self.document.add_attrs_if_missing(target, attrs);
    }

    fn remove_from_parent(&self, target: &NodeId) {
        self.document.remove_from_parent(target);
    }

    fn reparent_children(&self, node: &NodeId, new_parent: &NodeId) {
        self.document.reparent_children(node, new_parent);
    }

    fn is_mathml_annotation_xml_integration_point(&self, node: &NodeId) -> bool {
        self.document
            .is_mathml_annotation_xml_integration_point(node)
    }
}
