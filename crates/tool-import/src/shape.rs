//! Shapes of arguments, as far as Rust types can express them.

use std::fmt;

use tool_schema::rules::Rule;

use crate::json::Json;

/// The shape of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A text, optionally with a format.
    Text {
        /// The name of the format.
        format: Option<String>,
    },
    /// One of several texts.
    Choice(Vec<String>),
    /// An integer (`i64` in Rust).
    Whole,
    /// One of several integers.
    WholeChoice(Vec<i64>),
    /// A number, with or without a fraction.
    Number,
    /// A boolean: `true` or `false`.
    Flag,
    /// A list with items of this shape.
    List(Box<Shape>),
    /// An object without additional properties.
    Record(Vec<Property>),
    /// One of several shapes.
    Union {
        /// The key that distinguishes the variants; `None` if their shapes distinguish them.
        tag: Option<String>,
        /// The variants of the union.
        variants: Vec<Variant>,
    },
}

/// A variant of a union.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// The value of the tag; empty for a union without a tag.
    pub name: String,
    /// The documentation; empty if the definition has none.
    pub description: String,
    /// The shape of the variant.
    pub shape: Shape,
}

/// A property of a record.
#[derive(Clone, Debug, PartialEq)]
pub struct Property {
    /// The key of the property in JSON.
    pub key: String,
    /// The documentation; empty if the definition has none.
    pub description: String,
    /// The shape of its value.
    pub shape: Shape,
    /// Constraints in the syntax of the attribute, such as `range = 1..=9`.
    pub bounds: Vec<String>,
    /// Whether each call must contain the property.
    pub need: Need,
}

/// Whether each call must contain a property.
#[derive(Clone, Debug, PartialEq)]
pub enum Need {
    /// The property is required.
    Required,
    /// The property is optional.
    Optional,
    /// The property is optional, with this default.
    Default(Json),
}

/// The reason why a definition has no Rust type.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    /// The id of the rule.
    pub rule: &'static str,
    /// The place, as a path of keys.
    pub path: String,
    /// The description of the problem.
    pub text: String,
}

impl Fault {
    /// Creates a fault with the rule's text, in which the facts replace the placeholders.
    pub(super) fn new(rule: &Rule, path: &str, facts: &[&dyn fmt::Display]) -> Self {
        Self {
            rule: rule.id,
            path: path.to_owned(),
            text: rule.text_with(facts).to_string(),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}] `{}`: {}", self.rule, self.path, self.text)
    }
}
