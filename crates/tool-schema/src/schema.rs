//! Strict schemas as values known at compile time.
//!
//! A type that a model can send as an argument implements [`StrictSchema`], whose constant `SCHEMA` is a tree of [`Schema`] nodes.
//! The other modules walk that tree: [`rules`] rejects schemas that a provider would reject, [`dialect`] writes the JSON text for each provider,
//! [`example`] validates examples and defaults, and the argument guard validates a model's arguments.

pub(crate) mod dialect;
pub(crate) mod duration;
pub(crate) mod dynamic;
pub(crate) mod example;
pub(crate) mod flatten;
pub(crate) mod format;
pub(crate) mod json_schema;
mod lower;
mod map_key;
pub(crate) mod pattern;
pub(crate) mod rules;
mod text;
pub mod warn;

pub use format::Format;
#[doc(hidden)]
pub use map_key::MapKey;
pub use pattern::Pattern;

/// A type that a model can send as an argument, with its schema. [The rules](crate::rules) reject schemas that a strict mode does not accept.
///
/// Derive the trait. For a field of a foreign type, state the schema of a different type: `#[schema(as = String)]`.
#[diagnostic::on_unimplemented(
    message = "a model cannot fill in `{Self}`: the type has no strict schema",
    label = "has no strict schema",
    note = "for a type of your own: `#[derive(StrictSchema)]`",
    note = "for a foreign type: enable its feature in tool-core (chrono, jiff, time, uuid, …), or state the schema of a different type: `#[schema(as = String)]` on a field, `#[arg(as = String)]` on a parameter",
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
    /// The root of the schema tree.
    const SCHEMA: &'static Schema;

    /// The [`Schema::module`] of [`SCHEMA`](Self::SCHEMA). A type that refers to this type by name reads the constant without evaluating the
    /// tree.
    #[doc(hidden)]
    const MODULE: &'static str = "";
}

/// Text that is already escaped for use inside a JSON string.
///
/// The macros escape at expansion time, so that const evaluation only copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text(&'static str);

impl Text {
    /// An empty text, for items without documentation.
    pub const EMPTY: Self = Self("");

    /// Wraps text in which no character needs escaping.
    ///
    /// # Panics
    ///
    /// If the text contains a quote, a backslash or a control character: use [`Text::escaped`]. In const evaluation this is a
    /// compile error.
    #[track_caller]
    pub const fn plain(text: &'static str) -> Self {
        let bytes = text.as_bytes();
        let mut i = 0;
        while i < bytes.len() {
            assert!(
                bytes[i] >= 0x20 && bytes[i] != b'"' && bytes[i] != b'\\',
                "the text contains a character that JSON escapes, pass the escaped text to `Text::escaped`"
            );
            i += 1;
        }
        Self(text)
    }

    /// Wraps text that is already escaped, without the surrounding quotes. The macros use this.
    pub const fn escaped(text: &'static str) -> Self {
        Self(text)
    }

    /// Returns the escaped text, without the surrounding quotes.
    pub const fn as_json(self) -> &'static str {
        self.0
    }

    /// Returns whether the text is empty.
    pub const fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// Returns the text without escapes.
    pub fn unescape(self) -> String {
        serde_json::from_str(&format!("\"{}\"", self.0)).unwrap_or_else(|_| self.0.to_owned())
    }
}

/// One node of a schema tree.
#[derive(Clone, Copy, Debug)]
pub struct Schema {
    /// The values that the node accepts.
    pub kind: Kind,
    /// Name of the Rust type, or of the definition in a schema read at run time, for messages and for recursion; empty for an unnamed node.
    pub name: &'static str,
    /// Module of the type called `name`, which distinguishes types of the same name. In a [`Kind::Ref`] it is the module of the
    /// referenced type.
    pub module: &'static str,
    /// Documentation of the type. In the JSON Schema it follows the documentation of the field.
    pub description: Text,
    /// Whether the derive of this (non-generic) type has already reported the type's own faults.
    pub checked: bool,
}

impl Schema {
    /// Creates a node without a name or documentation.
    pub const fn new(kind: Kind) -> Self {
        Self {
            kind,
            name: "",
            module: "",
            description: Text::EMPTY,
            checked: false,
        }
    }

    /// Placeholder for a schema whose fault is reported elsewhere: no rule reports the fault again.
    pub(crate) const REPORTED: &'static Self = &Self::new(Kind::Any).checked();

    /// Returns whether the node is [`Schema::REPORTED`].
    pub(crate) const fn is_reported(&self) -> bool {
        self.checked && matches!(self.kind, Kind::Any)
    }

    /// Names the node after its Rust type.
    #[must_use]
    pub const fn named(mut self, name: &'static str) -> Self {
        self.name = name;
        self
    }

    /// Sets the module of the type called `name`.
    #[must_use]
    pub const fn within(mut self, module: &'static str) -> Self {
        self.module = module;
        self
    }

    /// Sets the documentation of the type.
    #[must_use]
    pub const fn described(mut self, description: Text) -> Self {
        self.description = description;
        self
    }

    /// Marks the node's own faults as already reported by its derive.
    #[must_use]
    pub const fn checked(mut self) -> Self {
        self.checked = true;
        self
    }

    /// Sets whether the node's own faults are already reported by its derive.
    #[must_use]
    pub const fn checked_if(mut self, checked: bool) -> Self {
        self.checked = checked;
        self
    }

    /// Returns whether this node is the type with this name and module.
    pub(crate) const fn is_type(&self, name: &str, module: &str) -> bool {
        text::same(self.name, name) && text::same(self.module, module)
    }

    /// Returns whether the node is a [`Kind::Optional`], possibly inside of bounds. Other kinds, such as [`Kind::Null`], may accept null, too.
    pub const fn is_optional(&self) -> bool {
        match self.kind {
            Kind::Optional(_) => true,
            Kind::Constrained(inner, _) => inner.is_optional(),
            _ => false,
        }
    }
}

/// The set of values that a node accepts.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A string without a known format.
    String,
    /// A string in a known format.
    Format(Format),
    /// A string of exactly one character (`char`).
    Char,
    /// `std::time::Duration`: ISO 8601 text such as `PT1M30S` in the arguments, and `{secs, nanos}`, the form of serde, in the output.
    Duration,
    /// An integer in the range of its Rust type, or of `i64` and `u64` in a schema read at run time.
    Integer(Integer),
    /// A number; `single` if the Rust type is `f32`.
    Number {
        /// Whether the Rust type is `f32` and not `f64`.
        single: bool,
    },
    /// A boolean, `true` or `false`.
    Boolean,
    /// A string enum: one of several strings.
    Enum(&'static [EnumValue]),
    /// An integer enum: one of several integers.
    IntegerEnum(&'static [IntegerValue]),
    /// An array whose items have one schema.
    Array {
        /// The schema of each item.
        items: &'static Schema,
        /// Whether all items must be different, as in a set. `Repair::Safe` removes duplicates from the arguments.
        unique: bool,
        /// The exact number of items of a Rust array.
        exactly: Option<usize>,
    },
    /// A closed object: it has only the keys of its fields.
    Object(&'static [Field]),
    /// A union: one of several variants.
    Union(Union),
    /// A value that may be absent or null.
    Optional(&'static Schema),
    /// The inner type with additional bounds.
    Constrained(&'static Schema, &'static Constraints),
    /// A reference to the enclosing type with this name (recursion).
    Ref(&'static str),
    /// A map with string keys, which is an open object; only some dialects support it.
    Map(&'static Schema),
    /// Any JSON value; no strict mode accepts it.
    Any,
    /// The value `null` only.
    Null,
    /// A tuple: an array of fixed length in which each position has its own schema.
    Tuple(&'static [&'static Schema]),
    /// A type without values, such as an empty enum.
    Never,
    /// A type that is rejected in favour of a better type, which the text names.
    Refused {
        /// The rule that rejects it.
        rule: &'static str,
        /// The reason for the rejection, and the type to use instead.
        text: &'static str,
    },
}

/// The range of a Rust integer type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Integer {
    /// Name of the primitive (`u32`), for messages.
    pub name: &'static str,
    /// The smallest value of the type.
    pub min: i128,
    /// The largest value of the type.
    pub max: u128,
    /// Whether zero is rejected, as by the `NonZero` types.
    pub not_zero: bool,
}

/// A value of a string enum.
#[derive(Clone, Copy, Debug)]
pub struct EnumValue {
    /// The value in JSON, unescaped.
    pub value: &'static str,
    /// The documentation of the variant.
    pub description: Text,
}

/// A value of an integer enum.
#[derive(Clone, Copy, Debug)]
pub struct IntegerValue {
    /// The value in JSON, an integer.
    pub value: i128,
    /// Name of the variant, which the schema's description lists.
    pub name: &'static str,
    /// The documentation of the variant.
    pub description: Text,
}

/// A field of a closed object.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent fact")]
pub struct Field {
    /// Key in the arguments that a model sends.
    pub name: &'static str,
    /// Key in the tool's output; differs from `name` if serde has different names for the two directions.
    pub out_name: &'static str,
    /// Documentation of the field.
    pub description: Text,
    /// Schema of the field's value.
    pub schema: &'static Schema,
    /// Explicit default, which the guard inserts if a model omits the key or sends null.
    pub default: Option<Example>,
    /// Whether the field is part of the arguments (`skip_deserializing` is not set).
    pub input: bool,
    /// Whether the field is part of the output (`skip_serializing` is not set).
    pub output: bool,
    /// Whether the output may omit the field (`skip_serializing_if`).
    pub may_skip: bool,
    /// Whether the type may not accept an absent key, because of `deserialize_with`, `with` or `as`. The guard then writes null for an absent
    /// optional value.
    pub null_if_absent: bool,
    /// How the audit log stores the value.
    pub audit: AuditForm,
}

/// How the audit log stores an argument. A form on an object or an array applies to everything inside it, unless a field inside
/// has its own form. With [`Length`](Self::Length), nothing inside is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AuditForm {
    /// Numbers, booleans, null and enum values by value, other strings by length, the first 20 items of an array, and only the number of keys of a
    /// map, an untyped object or an object of an untagged union.
    #[default]
    ByType,
    /// The complete value, with secrets redacted.
    Value,
    /// The length and the first 100 characters of a string other than an enum value, with secrets redacted. Other values are stored as with `ByType`.
    Preview,
    /// Only the length of a scalar, or the number of items of an array or of keys of an object.
    Length,
}

impl Field {
    /// Creates a field that is required unless its type is optional.
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

    /// Sets how the audit log stores the value.
    #[must_use]
    pub const fn audited(mut self, form: AuditForm) -> Self {
        self.audit = form;
        self
    }

    /// Sets the explicit default of the field.
    #[must_use]
    pub const fn default_value(mut self, default: Example) -> Self {
        self.default = Some(default);
        self
    }

    /// Sets a different key for the output.
    #[must_use]
    pub const fn out_name(mut self, name: &'static str) -> Self {
        self.out_name = name;
        self
    }

    /// Excludes the field from the arguments.
    #[must_use]
    pub const fn output_only(mut self) -> Self {
        self.input = false;
        self
    }

    /// Excludes the field from the output.
    #[must_use]
    pub const fn input_only(mut self) -> Self {
        self.output = false;
        self
    }

    /// Marks the field as sometimes omitted from the output.
    #[must_use]
    pub const fn may_skip(mut self) -> Self {
        self.may_skip = true;
        self
    }

    /// Makes the guard write null if the key is absent and the schema is optional.
    #[must_use]
    pub const fn null_if_absent(mut self) -> Self {
        self.null_if_absent = true;
        self
    }

    /// Returns whether a model must send the key. A dialect may still list an optional key as required and nullable.
    pub const fn is_required(&self) -> bool {
        self.default.is_none() && !self.schema.is_optional()
    }
}

/// How the variants of a union are distinguished (serde's enum representations).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tagging {
    /// `{"variant": …}`, or `"variant"` for a unit variant.
    External,
    /// `{"tag": "variant", …fields}`.
    Internal {
        /// The key that contains the name of the variant.
        tag: &'static str,
    },
    /// `{"tag": "variant", "content": …}`.
    Adjacent {
        /// The key that contains the name of the variant.
        tag: &'static str,
        /// The key that contains the content of the variant.
        content: &'static str,
    },
    /// Only the contents distinguish the variants. The rules reject variants that may accept the same value.
    Untagged,
}

/// A union: one of several variants.
#[derive(Clone, Copy, Debug)]
pub struct Union {
    /// How the variants are distinguished.
    pub tagging: Tagging,
    /// The variants, in order of declaration.
    pub variants: &'static [Variant],
}

/// A variant of a union.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    /// Name of the variant in JSON.
    pub name: &'static str,
    /// Documentation of the variant.
    pub description: Text,
    /// Schema of the variant's content; `None` for a unit variant. Under internal tagging it is an object without the tag, or a reference to one.
    pub schema: Option<&'static Schema>,
}

/// Bounds on a value in addition to its type.
#[derive(Clone, Copy, Debug)]
pub struct Constraints {
    /// The lower bound of a number; `exclusive_min` excludes the bound itself.
    pub min: Option<Number>,
    /// The upper bound of a number; `exclusive_max` excludes the bound itself.
    pub max: Option<Number>,
    /// Whether `min` itself is rejected. The JSON Schema of an integer has the next inclusive bound instead.
    pub exclusive_min: bool,
    /// Whether `max` itself is rejected.
    pub exclusive_max: bool,
    /// Every value is a multiple of this number.
    pub multiple_of: Option<Number>,
    /// Minimum length of a string, in characters.
    pub min_length: Option<usize>,
    /// Maximum length of a string, in characters.
    pub max_length: Option<usize>,
    /// Pattern that a string must match.
    pub pattern: Option<&'static Pattern>,
    /// Format that a string must have.
    pub format: Option<Format>,
    /// Minimum number of items.
    pub min_items: Option<usize>,
    /// Maximum number of items.
    pub max_items: Option<usize>,
    /// Whether all items must be different.
    pub unique: bool,
}

impl Constraints {
    /// Constraints without any bound.
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

    /// Merges two sets of bounds; a bound of `outer` replaces the same bound of `self`.
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

/// A number literal, as a value and as its JSON text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// An integer without fraction and exponent.
    Integer {
        /// The value of the literal.
        value: i128,
        /// The JSON text of the literal.
        text: &'static str,
    },
    /// A number with a fraction or an exponent.
    Float {
        /// The value of the literal, rounded to a double.
        value: f64,
        /// The JSON text of the literal.
        text: &'static str,
    },
}

impl Number {
    /// Returns the JSON text of the number.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Integer { text, .. } | Self::Float { text, .. } => text,
        }
    }
}

/// A JSON value written in Rust source: an example or a default.
#[derive(Clone, Copy, Debug)]
pub enum Json {
    /// The value `null`.
    Null,
    /// The value `true` or `false`.
    Boolean(bool),
    /// A number with its JSON text.
    Number(Number),
    /// A string, with its escapes decoded.
    String(&'static str),
    /// An array of values, in order.
    Array(&'static [Json]),
    /// An object: keys (unescaped) and values, in order.
    Object(&'static [(&'static str, Json)]),
}

/// A JSON value and its compact text.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// The value, for validation in const evaluation.
    pub value: &'static Json,
    /// The same value as compact JSON text.
    pub text: &'static str,
}
