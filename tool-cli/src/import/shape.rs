//! What a definition asks for, as far as Rust types are concerned.

use std::fmt;

use crate::json::Json;

/// What a value may be.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// Any text, or text of a format.
    Text {
        /// Name of the format.
        format: Option<String>,
    },
    /// One of several texts.
    Choice(Vec<String>),
    /// A whole number.
    Whole,
    /// One of several whole numbers.
    WholeChoice(Vec<i64>),
    /// A number.
    Number,
    /// `true` or `false`.
    Flag,
    /// A list.
    List(Box<Shape>),
    /// A closed record.
    Record(Vec<Property>),
    /// One of several shapes.
    Union {
        /// The key that tells records apart; shapes without one are told apart by themselves.
        tag: Option<String>,
        /// The shapes.
        variants: Vec<Variant>,
    },
}

/// One of several shapes.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// What stands under the tag; empty where there is none.
    pub name: String,
    /// Documentation; empty where the definition has none.
    pub description: String,
    /// What it is.
    pub shape: Shape,
}

/// A key of a record.
#[derive(Clone, Debug, PartialEq)]
pub struct Property {
    /// Its name on the wire, and in Rust.
    pub key: String,
    /// Documentation; empty where the definition has none.
    pub description: String,
    /// What it holds.
    pub shape: Shape,
    /// Bounds as the attribute has them, such as `range = 1..=9`.
    pub bounds: Vec<String>,
    /// Whether a call must have it.
    pub need: Need,
}

/// Whether a call must have a key.
#[derive(Clone, Debug, PartialEq)]
pub enum Need {
    /// Always.
    Required,
    /// No.
    Optional,
    /// No, and this value stands for an absent one.
    Default(Json),
}

/// Why a definition cannot be typed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    /// Id of the rule.
    pub rule: &'static str,
    /// Where, as a path of keys.
    pub path: String,
    /// What is wrong.
    pub text: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}] `{}`: {}", self.rule, self.path, self.text)
    }
}
