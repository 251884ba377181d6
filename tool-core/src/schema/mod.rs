//! Strict schemas as values known at compile time.
//!
//! A type that a model may fill in implements [`StrictSchema`]: one constant tree of [`Schema`] nodes. Everything else in this
//! module walks that tree: [`rules`] refuses what a provider would refuse, [`dialect`] writes the JSON text for each provider,
//! [`example`] proves examples and defaults, and the argument guard checks what a model sends.

pub mod dialect;
pub(crate) mod duration;
pub mod dynamic;
pub mod example;
pub mod flatten;
pub mod format;
mod impls;
pub mod json_schema;
mod lower;
pub mod pattern;
pub mod rules;
mod text;
pub mod warn;

pub use format::Format;
#[doc(hidden)]
pub use impls::MapKey;
pub use pattern::Pattern;

/// A type whose values a model can be asked for, with a schema that every strict mode accepts.
///
/// Derive it. Foreign types get the schema of another type with `#[schema(as = String)]` on the field.
#[diagnostic::on_unimplemented(
    message = "a model cannot fill in `{Self}`: the type has no strict schema",
    label = "has no strict schema",
    note = "for a type of your own: `#[derive(StrictSchema)]`",
    note = "for a foreign type: turn on its feature in tool-core (chrono, jiff, time, uuid, …), or state the schema of another type: `#[schema(as = String)]` on a field, `#[arg(as = String)]` on a parameter",
    note = "a parameter that the host supplies is a reference, or has `#[context]`, `#[secret(…)]` or `#[variable(…)]` before it"
)]
#[doc(alias(
    "json schema",
    "JsonSchema",
    "structured output",
    "response_format",
    "strict mode",
    "pydantic"
))]
pub trait StrictSchema {
    /// The tree.
    const SCHEMA: &'static Schema;

    /// [`Schema::module`] of the tree, for a type that refers to this one by name: that must not need the tree.
    #[doc(hidden)]
    const MODULE: &'static str = "";
}

/// Text that is already escaped as the inside of a JSON string.
///
/// The macros escape at expansion time, so that const evaluation only copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text(&'static str);

impl Text {
    /// No text.
    pub const EMPTY: Self = Self("");

    /// Takes text in which nothing needs escaping.
    ///
    /// # Panics
    ///
    /// In const evaluation, when the text holds a quote, a backslash or a control character: use [`Text::escaped`].
    #[track_caller]
    pub const fn plain(text: &'static str) -> Self {
        let bytes = text.as_bytes();
        let mut i = 0;
        while i < bytes.len() {
            assert!(
                bytes[i] >= 0x20 && bytes[i] != b'"' && bytes[i] != b'\\',
                "text holds a character that JSON escapes, pass it escaped to `Text::escaped`"
            );
            i += 1;
        }
        Self(text)
    }

    /// Takes text that is escaped already, without the quotes around it. The macros use this.
    pub const fn escaped(text: &'static str) -> Self {
        Self(text)
    }

    /// The escaped text, without quotes.
    pub const fn as_json(self) -> &'static str {
        self.0
    }

    /// Whether there is no text.
    pub const fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// The text as a reader sees it.
    pub fn unescape(self) -> String {
        serde_json::from_str(&format!("\"{}\"", self.0)).unwrap_or_else(|_| self.0.to_owned())
    }
}

/// One node of a schema tree.
#[derive(Clone, Copy, Debug)]
pub struct Schema {
    /// What values the node admits.
    pub kind: Kind,
    /// The Rust type's name, for messages and for recursion; empty where the type has none of its own.
    pub name: &'static str,
    /// The module that the name stands in: it tells two types of one name apart. A [`Kind::Ref`] has the one of the type it means.
    pub module: &'static str,
    /// The type's own documentation; a field's documentation stands before it.
    pub description: Text,
    /// The derive of this (non-generic) type has told its own faults already.
    pub checked: bool,
}

impl Schema {
    /// A node without a name or documentation.
    pub const fn new(kind: Kind) -> Self {
        Self {
            kind,
            name: "",
            module: "",
            description: Text::EMPTY,
            checked: false,
        }
    }

    /// Stands for a schema whose fault is reported elsewhere: every rule is silent about it.
    pub(crate) const REPORTED: &'static Self = &Self::new(Kind::Any).checked();

    /// Whether this is [`Schema::REPORTED`].
    pub(crate) const fn is_reported(&self) -> bool {
        self.checked && matches!(self.kind, Kind::Any)
    }

    /// Names the node after its Rust type.
    #[must_use]
    pub const fn named(mut self, name: &'static str) -> Self {
        self.name = name;
        self
    }

    /// Says which module the name stands in.
    #[must_use]
    pub const fn within(mut self, module: &'static str) -> Self {
        self.module = module;
        self
    }

    /// Adds the type's documentation.
    #[must_use]
    pub const fn described(mut self, description: Text) -> Self {
        self.description = description;
        self
    }

    /// Marks the node's own faults as told by its derive.
    #[must_use]
    pub const fn checked(mut self) -> Self {
        self.checked = true;
        self
    }

    /// The same, where it has.
    #[must_use]
    pub const fn checked_if(mut self, checked: bool) -> Self {
        self.checked = checked;
        self
    }

    /// Whether this node is the type of that name and module.
    pub(crate) const fn is_type(&self, name: &str, module: &str) -> bool {
        text::same(self.name, name) && text::same(self.module, module)
    }

    /// Whether a value of this type may be absent or null.
    pub const fn is_optional(&self) -> bool {
        match self.kind {
            Kind::Optional(_) => true,
            Kind::Constrained(inner, _) => inner.is_optional(),
            _ => false,
        }
    }
}

/// What a node admits.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Any text.
    String,
    /// Text of a known format.
    Format(Format),
    /// Exactly one character (`char`).
    Char,
    /// `std::time::Duration`: ISO 8601 text such as `PT1M30S` on the wire, `{secs, nanos}` in Rust.
    Duration,
    /// A whole number.
    Integer(Integer),
    /// A number; `single` where the Rust type is `f32`.
    Number {
        /// `f32` rather than `f64`.
        single: bool,
    },
    /// `true` or `false`.
    Boolean,
    /// One of several strings.
    Enum(&'static [EnumValue]),
    /// One of several whole numbers.
    IntegerEnum(&'static [IntegerValue]),
    /// A list.
    Array {
        /// What each item is.
        items: &'static Schema,
        /// A set: every item once. Duplicates are removed on arrival under `Repair::Safe`.
        unique: bool,
        /// A Rust array: exactly this many items.
        exactly: Option<usize>,
    },
    /// A closed record.
    Object(&'static [Field]),
    /// One of several shapes.
    Union(Union),
    /// May be absent or null.
    Optional(&'static Schema),
    /// The inner type with bounds added.
    Constrained(&'static Schema, &'static Constraints),
    /// The enclosing type of this name, again.
    Ref(&'static str),
    /// A map with text keys: an open record, which only some dialects can say.
    Map(&'static Schema),
    /// Any JSON at all: no strict mode takes it.
    Any,
    /// Only null.
    Null,
    /// A list of fixed shape with items of different types.
    Tuple(&'static [&'static Schema]),
    /// A type without a value.
    Never,
    /// A type that has a better one to use; the text says which.
    Refused {
        /// Rule that refuses it.
        rule: &'static str,
        /// Why, and what to write instead.
        text: &'static str,
    },
}

/// A whole number's range by its Rust type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Integer {
    /// Name of the primitive (`u32`), for messages.
    pub name: &'static str,
    /// Smallest value.
    pub min: i128,
    /// Largest value.
    pub max: u128,
    /// `NonZero*`: zero is refused.
    pub not_zero: bool,
}

/// A value of a string enum.
#[derive(Clone, Copy, Debug)]
pub struct EnumValue {
    /// As it stands on the wire, unescaped.
    pub value: &'static str,
    /// The variant's documentation.
    pub description: Text,
}

/// A value of an integer enum.
#[derive(Clone, Copy, Debug)]
pub struct IntegerValue {
    /// As it stands on the wire.
    pub value: i128,
    /// The variant's name, which the description lists.
    pub name: &'static str,
    /// The variant's documentation.
    pub description: Text,
}

/// A field of a closed record.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Field {
    /// Key on the wire when a model sends it.
    pub name: &'static str,
    /// Key on the wire when we send it; differs only under `rename(serialize = …)`.
    pub out_name: &'static str,
    /// Documentation.
    pub description: Text,
    /// What it holds.
    pub schema: &'static Schema,
    /// Stated default: written for null and for absence on arrival.
    pub default: Option<Example>,
    /// A model may send it (`skip_deserializing` is not set).
    pub input: bool,
    /// We send it (`skip_serializing` is not set).
    pub output: bool,
    /// We may leave it out (`skip_serializing_if`).
    pub may_skip: bool,
    /// Its reader is asked only where the key is there (`deserialize_with`), so an optional one is read from a written null.
    pub null_if_absent: bool,
    /// How the audit keeps it.
    pub audit: AuditForm,
}

/// How the audit keeps an argument: a record and a list go through to what they hold, and a field inside says better than one around
/// it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AuditForm {
    /// Numbers, booleans and enum values by value, texts by their length.
    #[default]
    ByType,
    /// As it is, secrets masked.
    Value,
    /// The first 100 characters of a text, secrets masked.
    Preview,
    /// By its length only, whatever it is.
    Length,
}

impl Field {
    /// A field that must be present unless its type is optional.
    pub const fn new(name: &'static str, description: Text, schema: &'static Schema) -> Self {
        Self {
            name,
            out_name: name,
            description,
            schema,
            default: None,
            input: true,
            output: true,
            may_skip: false,
            null_if_absent: false,
            audit: AuditForm::ByType,
        }
    }

    /// States how the audit keeps it.
    #[must_use]
    pub const fn audited(mut self, form: AuditForm) -> Self {
        self.audit = form;
        self
    }

    /// States a default.
    #[must_use]
    pub const fn default_value(mut self, default: Example) -> Self {
        self.default = Some(default);
        self
    }

    /// Gives the key another name in what we send.
    #[must_use]
    pub const fn out_name(mut self, name: &'static str) -> Self {
        self.out_name = name;
        self
    }

    /// Never read from a model.
    #[must_use]
    pub const fn output_only(mut self) -> Self {
        self.input = false;
        self
    }

    /// Never sent by us.
    #[must_use]
    pub const fn input_only(mut self) -> Self {
        self.output = false;
        self
    }

    /// Sometimes left out of what we send.
    #[must_use]
    pub const fn may_skip(mut self) -> Self {
        self.may_skip = true;
        self
    }

    /// Read from a null where the key is absent and the schema is optional.
    #[must_use]
    pub const fn null_if_absent(mut self) -> Self {
        self.null_if_absent = true;
        self
    }

    /// Whether a model must send the key (before a dialect's own spelling of optional).
    pub const fn is_required(&self) -> bool {
        self.default.is_none() && !self.schema.is_optional()
    }
}

/// How a union's variants are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tagging {
    /// `{"variant": …}`, or `"variant"` for a unit variant.
    External,
    /// `{"tag": "variant", …fields}`.
    Internal {
        /// The tag's key.
        tag: &'static str,
    },
    /// `{"tag": "variant", "content": …}`.
    Adjacent {
        /// The tag's key.
        tag: &'static str,
        /// The content's key.
        content: &'static str,
    },
    /// By shape alone; the shapes are proven disjoint.
    Untagged,
}

/// One of several shapes.
#[derive(Clone, Copy, Debug)]
pub struct Union {
    /// How they are told apart.
    pub tagging: Tagging,
    /// The shapes, in order of declaration.
    pub variants: &'static [Variant],
}

/// A variant of a union.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    /// Its name on the wire.
    pub name: &'static str,
    /// Its documentation.
    pub description: Text,
    /// What it carries; `None` for a unit variant. For internal tagging always an object without the tag.
    pub schema: Option<&'static Schema>,
}

/// Bounds on a value, beyond its type.
#[derive(Clone, Copy, Debug)]
pub struct Constraints {
    /// Smallest value.
    pub min: Option<Number>,
    /// Largest value.
    pub max: Option<Number>,
    /// `min` itself is refused (numbers only; whole numbers are stated inclusively).
    pub exclusive_min: bool,
    /// `max` itself is refused.
    pub exclusive_max: bool,
    /// Every value is a multiple of this.
    pub multiple_of: Option<Number>,
    /// Shortest text, in characters.
    pub min_length: Option<usize>,
    /// Longest text, in characters.
    pub max_length: Option<usize>,
    /// The text must match.
    pub pattern: Option<&'static Pattern>,
    /// The text must be of this format.
    pub format: Option<Format>,
    /// Fewest items.
    pub min_items: Option<usize>,
    /// Most items.
    pub max_items: Option<usize>,
    /// No item twice.
    pub unique: bool,
}

impl Constraints {
    /// No bounds.
    pub const NONE: Self = Self {
        min: None,
        max: None,
        exclusive_min: false,
        exclusive_max: false,
        multiple_of: None,
        min_length: None,
        max_length: None,
        pattern: None,
        format: None,
        min_items: None,
        max_items: None,
        unique: false,
    };

    /// These bounds, and the outer ones where both speak.
    #[must_use]
    pub const fn under(self, outer: &Self) -> Self {
        Self {
            min: if outer.min.is_some() {
                outer.min
            } else {
                self.min
            },
            exclusive_min: if outer.min.is_some() {
                outer.exclusive_min
            } else {
                self.exclusive_min
            },
            max: if outer.max.is_some() {
                outer.max
            } else {
                self.max
            },
            exclusive_max: if outer.max.is_some() {
                outer.exclusive_max
            } else {
                self.exclusive_max
            },
            multiple_of: if outer.multiple_of.is_some() {
                outer.multiple_of
            } else {
                self.multiple_of
            },
            min_length: if outer.min_length.is_some() {
                outer.min_length
            } else {
                self.min_length
            },
            max_length: if outer.max_length.is_some() {
                outer.max_length
            } else {
                self.max_length
            },
            pattern: if outer.pattern.is_some() {
                outer.pattern
            } else {
                self.pattern
            },
            format: if outer.format.is_some() {
                outer.format
            } else {
                self.format
            },
            min_items: if outer.min_items.is_some() {
                outer.min_items
            } else {
                self.min_items
            },
            max_items: if outer.max_items.is_some() {
                outer.max_items
            } else {
                self.max_items
            },
            unique: self.unique || outer.unique,
        }
    }
}

/// A number written in source, as a value and as its JSON text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// A whole number.
    Integer {
        /// The value.
        value: i128,
        /// Its JSON text.
        text: &'static str,
    },
    /// A number with a fraction or an exponent.
    Float {
        /// The value.
        value: f64,
        /// Its JSON text.
        text: &'static str,
    },
}

impl Number {
    /// JSON text of the number.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Integer { text, .. } | Self::Float { text, .. } => text,
        }
    }
}

/// A JSON value written in source: an example or a default.
#[derive(Clone, Copy, Debug)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Boolean(bool),
    /// A number.
    Number(Number),
    /// Text, unescaped.
    String(&'static str),
    /// A list.
    Array(&'static [Json]),
    /// Keys (unescaped) and values, in order.
    Object(&'static [(&'static str, Json)]),
}

/// A JSON value with its compact text.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// The value, for const evaluation.
    pub value: &'static Json,
    /// The same as compact JSON text.
    pub text: &'static str,
}
