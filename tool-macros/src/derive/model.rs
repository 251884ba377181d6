//! The checked type: the complete input of the code generation.

use proc_macro2::{Ident, TokenStream};
use quote::format_ident;
use syn::{DeriveInput, LitStr, Type};

use crate::allow::Rule;
use crate::constraint::{AuditForm, Bounds};
use crate::derive::circle::Cycles;
use crate::docs::Doc;
use crate::json::Json;
use crate::paths::Paths;
use crate::serde_attr::Serde;
use crate::siblings::OtherDerives;

/// A type with its wire format.
pub(crate) struct Decided<'a> {
    pub(crate) input: &'a DeriveInput,
    pub(crate) paths: Paths,
    /// The type's name in messages and in references to itself.
    pub(crate) name: String,
    pub(crate) doc: Doc,
    pub(crate) shape: Shape<'a>,
    pub(crate) warnings: Vec<Warning>,
    /// Marker types that replace an enclosing type inside of field types.
    pub(crate) markers: Vec<Marker>,
    /// Whether to implement `JsonSchema` as well.
    pub(crate) json_schema: bool,
    pub(crate) circles: Cycles,
    /// The readers and writers of the type, if `as` or `integer` states its format.
    pub(crate) stated: Vec<Stated>,
    /// serde's attributes on the type, for the code that reads it.
    pub(crate) serde: Serde,
    /// Whether `as` on the type determines the format, instead of the fields.
    pub(crate) stated_as: bool,
    pub(crate) siblings: OtherDerives,
    /// `#[schema(deserialize)]`: implement `Deserialize` as well, with the code that the derive generates.
    pub(crate) deserialize: Option<Ident>,
}

/// A format that an attribute states for the whole type, and the reader or writer that has to match the format.
pub(crate) struct Stated {
    pub(crate) own: Own,
    /// Whether `own` reads the type; otherwise it writes the type.
    pub(crate) reads: bool,
    /// The type whose schema is stated; the type itself for `integer`.
    pub(crate) schema: TokenStream,
    /// The tokens at which a contradiction is reported.
    pub(crate) place: TokenStream,
}

/// The reader or the writer of a value.
#[derive(Clone)]
pub(crate) enum Own {
    /// A type, such as in `#[serde(try_from = "u8")]`, or the field of a newtype.
    Type(Box<Type>),
    /// serde's derive, for a record.
    Record,
    /// serde's derive, for an enum whose variants are names.
    Names,
}

impl Decided<'_> {
    /// Returns whether the type has generic parameters, so that no constant outside of the impl may name the type.
    pub(crate) fn is_generic(&self) -> bool {
        !self.input.generics.params.is_empty()
    }

    /// Returns every value of the type, in order.
    pub(crate) fn sites(&self) -> Vec<Site<'_>> {
        let alone = |value| Site { value, entry: None };
        match &self.shape {
            Shape::Record(entries) => entries.iter().map(Entry::site).collect(),
            Shape::Wrapper(value) => vec![alone(value)],
            Shape::Enum(_) | Shape::IntegerEnum(_) => Vec::new(),
            Shape::Union(_, branches) => branches
                .iter()
                .flat_map(|branch| match &branch.payload {
                    Payload::Nothing => Vec::new(),
                    Payload::Value(value) => vec![alone(value)],
                    Payload::Record(entries) => entries.iter().map(Entry::site).collect(),
                })
                .collect(),
        }
    }
}

/// The wire format of a type.
pub(crate) enum Shape<'a> {
    /// An object without additional keys.
    Record(Vec<Entry<'a>>),
    /// The format of a different type, with constraints added.
    Wrapper(Box<Value>),
    /// One of several strings.
    Enum(Vec<(&'a Ident, Name)>),
    /// One of several integers.
    IntegerEnum(Vec<(&'a Ident, Name)>),
    /// One of several variants.
    Union(Tagging, Vec<Branch<'a>>),
}

/// The part of the JSON that distinguishes the variants of a union.
pub(crate) enum Tagging {
    External,
    Internal(LitStr),
    Adjacent(LitStr, LitStr),
    Untagged,
}

/// A variant's wire name and its documentation.
pub(crate) struct Name {
    pub(crate) name: String,
    pub(crate) doc: Doc,
}

/// A variant of a union.
pub(crate) struct Branch<'a> {
    /// The name of the variant in Rust.
    pub(crate) ident: &'a Ident,
    pub(crate) name: Name,
    pub(crate) payload: Payload<'a>,
    pub(crate) fields: &'a syn::Fields,
    /// serde's attributes on the variant, for the code that reads it.
    pub(crate) serde: Serde,
}

/// The payload of a variant.
pub(crate) enum Payload<'a> {
    Nothing,
    Value(Box<Value>),
    Record(Vec<Entry<'a>>),
}

/// A key of a record.
#[expect(clippy::struct_excessive_bools, reason = "each is an independent fact")]
pub(crate) struct Entry<'a> {
    pub(crate) original: &'a syn::Field,
    /// The key in the arguments that a model sends.
    pub(crate) name: String,
    /// The key in the output that the tool returns.
    pub(crate) out_name: String,
    pub(crate) doc: Doc,
    pub(crate) value: Value,
    pub(crate) default: Option<Json>,
    pub(crate) audit: Option<AuditForm>,
    pub(crate) flow: Flow,
    pub(crate) may_skip: bool,
    /// Whether an absent optional value is read as null, because the field's deserializer runs only if the key is present.
    pub(crate) null_if_absent: bool,
    /// serde's attributes on the field, for the code that reads it.
    pub(crate) serde: Serde,
    /// Whether the inner fields replace this field.
    pub(crate) flatten: bool,
    /// Whether serde fills in an absent value, so that the type must accept null.
    pub(crate) must_be_optional: bool,
}

impl<'d> Entry<'d> {
    fn site(&'d self) -> Site<'d> {
        Site {
            value: &self.value,
            entry: Some(self),
        }
    }
}

/// The directions in which a field is used.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    Both,
    Input,
    Output,
}

/// A value with the type that determines its schema.
pub(crate) struct Value {
    /// The type that generated code names.
    pub(crate) ty: TokenStream,
    /// The type as the user wrote it, for spans.
    pub(crate) place: TokenStream,
    /// The Rust type of the field, if it reads or writes the value but the schema is from a different type.
    pub(crate) own: Option<OwnType>,
    pub(crate) bounds: Bounds,
    /// The place for messages, such as `field`, `Variant.field` or `0`.
    pub(crate) label: String,
    /// The number of the value within the type, which names the constants for its constraints and its default.
    pub(crate) number: usize,
}

impl Value {
    /// Returns the alias of the type in generated code. The alias avoids repeated errors at the user's tokens.
    pub(crate) fn alias(&self) -> Ident {
        format_ident!("__F{}", self.number)
    }

    /// Returns the name of the constant with the constraints, if there are any.
    pub(crate) fn bounds_name(&self) -> Option<Ident> {
        (!self.bounds.is_empty()).then(|| format_ident!("__BOUNDS_{}", self.number))
    }

    /// Returns the name of the constant with the default.
    pub(crate) fn default_name(&self) -> Ident {
        format_ident!("__DEFAULT_{}", self.number)
    }
}

/// The Rust type of a field whose schema is from a different type.
pub(crate) struct OwnType {
    pub(crate) ty: Type,
    /// Whether the type reads the value; otherwise the type only writes the value.
    pub(crate) reads: bool,
}

/// A value and the field that contains it, if any.
pub(crate) struct Site<'d> {
    pub(crate) value: &'d Value,
    pub(crate) entry: Option<&'d Entry<'d>>,
}

/// A marker type that replaces an enclosing type.
pub(crate) struct Marker {
    pub(crate) ident: Ident,
    /// The name of the enclosing type.
    pub(crate) name: String,
    /// The path of the enclosing type.
    pub(crate) target: TokenStream,
}

/// A warning at the user's tokens.
pub(crate) struct Warning {
    pub(crate) rule: &'static Rule,
    pub(crate) place: TokenStream,
}
