//! The owned schema tree that the reader builds, with the original schema's way to express an absent value.

use serde_json::Number;

use super::doc::Doc;
use crate::schema::Format;

/// A node of the tree.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    pub(super) kind: Owned,
    /// Name of the definition that the node was read from; an [`Owned::Ref`] below it may refer to this name.
    pub(super) name: Option<String>,
    pub(super) description: String,
}

/// The set of values that a node accepts; see [`crate::schema::Kind`].
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Owned {
    String,
    Format(Format),
    Integer {
        not_zero: bool,
    },
    Number,
    Boolean,
    /// The values, each with its documentation.
    Enum(Vec<(String, String)>),
    IntegerEnum(Vec<(i128, String)>),
    Array {
        items: Box<Node>,
        unique: bool,
    },
    Object(Vec<Property>),
    /// Objects distinguished by a tag; their properties do not include the tag.
    Tagged {
        tag: String,
        variants: Vec<(String, Node)>,
    },
    Untagged(Vec<Node>),
    Optional(Box<Node>),
    Constrained(Box<Node>, Box<Bounds>),
    Ref(String),
    Map(Box<Node>),
    Any,
    Null,
    Tuple(Vec<Node>),
    Never,
}

/// A property of an object.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Property {
    pub(super) name: String,
    pub(super) description: String,
    /// An `Optional` node if the property may be null, or may be absent and has no default.
    pub(super) node: Node,
    pub(super) default: Option<Doc>,
    pub(super) absence: Absence,
}

/// How the original schema expresses that an optional value is missing; the tree has a single `Optional`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Absence {
    /// The value is never missing, or both forms are accepted.
    Either,
    /// The key is omitted; null is rejected.
    LeftOut,
    /// The value is null; the key is required.
    Null,
}

/// The owned form of [`crate::schema::Constraints`].
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Bounds {
    pub(super) min: Option<Number>,
    pub(super) max: Option<Number>,
    pub(super) exclusive_min: bool,
    pub(super) exclusive_max: bool,
    pub(super) multiple_of: Option<Number>,
    pub(super) min_length: Option<usize>,
    pub(super) max_length: Option<usize>,
    pub(super) pattern: Option<String>,
    pub(super) min_items: Option<usize>,
    pub(super) max_items: Option<usize>,
}

impl Node {
    pub(super) const fn new(kind: Owned) -> Self {
        Self {
            kind,
            name: None,
            description: String::new(),
        }
    }

    pub(super) fn boxed(kind: Owned) -> Box<Self> {
        Box::new(Self::new(kind))
    }

    /// Makes the node optional, unless it already accepts null.
    pub(super) fn optional(self) -> Self {
        match self.kind {
            Owned::Optional(_) | Owned::Null | Owned::Any => self,
            _ => Self::new(Owned::Optional(Box::new(self))),
        }
    }

    /// Appends a sentence to the description.
    pub(super) fn say(&mut self, sentence: &str) {
        if sentence.is_empty() {
            return;
        }
        if !self.description.is_empty() {
            self.description.push(' ');
        }
        self.description.push_str(sentence);
    }

    /// Returns the node without the bounds around it.
    pub(super) fn bare(&self) -> &Self {
        match &self.kind {
            Owned::Constrained(inner, _) => inner.bare(),
            _ => self,
        }
    }

    /// Returns the node without the bounds and `Optional` nodes around it.
    pub(super) fn inner(&self) -> &Self {
        match &self.kind {
            Owned::Constrained(inner, _) | Owned::Optional(inner) => inner.inner(),
            _ => self,
        }
    }

    /// Returns the JSON types that a value may have, one bit each.
    pub(super) fn classes(&self) -> u8 {
        match &self.kind {
            Owned::String | Owned::Format(_) | Owned::Enum(_) => STRING,
            Owned::Integer { .. } | Owned::Number | Owned::IntegerEnum(_) => NUMBER,
            Owned::Boolean => BOOLEAN,
            Owned::Array { .. } | Owned::Tuple(_) => ARRAY,
            // The target of a reference is not known here, and is assumed to be an object.
            Owned::Object(_) | Owned::Tagged { .. } | Owned::Map(_) | Owned::Ref(_) => OBJECT,
            Owned::Untagged(variants) => variants
                .iter()
                .fold(0, |all, variant| all | variant.classes()),
            Owned::Optional(inner) => inner.classes() | NULL,
            Owned::Constrained(inner, _) => inner.classes(),
            Owned::Null => NULL,
            Owned::Any => u8::MAX,
            Owned::Never => 0,
        }
    }
}

pub(super) const STRING: u8 = 1;
pub(super) const NUMBER: u8 = 1 << 1;
pub(super) const BOOLEAN: u8 = 1 << 2;
pub(super) const ARRAY: u8 = 1 << 3;
pub(super) const OBJECT: u8 = 1 << 4;
pub(super) const NULL: u8 = 1 << 5;

/// Returns the JSON type of a value, as one of the bits above.
pub(super) const fn class_of(value: &Doc) -> u8 {
    match value {
        Doc::Null => NULL,
        Doc::Boolean(_) => BOOLEAN,
        Doc::Number(_) => NUMBER,
        Doc::String(_) => STRING,
        Doc::Array(_) => ARRAY,
        Doc::Object(_) => OBJECT,
    }
}
