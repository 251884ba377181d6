//! The type as decided: what the expansion needs, with nothing left that could fail.

use proc_macro2::{Ident, TokenStream};
use quote::format_ident;
use syn::{DeriveInput, LitStr, Type};

use crate::allow::Rule;
use crate::constraint::{AuditForm, Bounds};
use crate::derive::circle::Circles;
use crate::docs::Doc;
use crate::json::Json;
use crate::paths::Paths;
use crate::serde_attr::Serde;
use crate::siblings::Siblings;

/// A type with its wire format.
pub(crate) struct Decided<'a> {
    pub(crate) input: &'a DeriveInput,
    pub(crate) paths: Paths,
    /// The type's name in messages and in references to itself.
    pub(crate) name: String,
    pub(crate) doc: Doc,
    pub(crate) shape: Shape<'a>,
    pub(crate) warnings: Vec<Warning>,
    /// Types that stand for an enclosing one inside field types.
    pub(crate) markers: Vec<Marker>,
    /// Also implement `JsonSchema`.
    pub(crate) json_schema: bool,
    pub(crate) circles: Circles,
    /// What reads and writes the type where `as` or `integer` states its form.
    pub(crate) stated: Vec<Stated>,
    /// What serde's attributes on the type say about reading it.
    pub(crate) serde: Serde,
    /// `as` on the type states its form, and its fields do not.
    pub(crate) stated_as: bool,
    pub(crate) siblings: Siblings,
    /// `#[schema(deserialize)]`: also implement `Deserialize`, by what the derive writes.
    pub(crate) deserialize: Option<Ident>,
}

/// A form that is stated for the type as a whole, and what it has to agree with.
pub(crate) struct Stated {
    pub(crate) own: Own,
    /// It reads the type; else it writes the type.
    pub(crate) reads: bool,
    /// The type whose schema is stated; the type itself under `integer`.
    pub(crate) schema: TokenStream,
    /// Where to tell a contradiction.
    pub(crate) place: TokenStream,
}

/// What reads or writes a value.
#[derive(Clone)]
pub(crate) enum Own {
    /// A type: `#[serde(try_from = "u8")]`, the field of a newtype.
    Type(Box<Type>),
    /// serde's derive, for a record.
    Record,
    /// serde's derive, for an enum whose variants are names.
    Names,
}

impl Decided<'_> {
    /// Whether the schema depends on parameters, so that no constant beside the impl may name the type.
    pub(crate) fn is_generic(&self) -> bool {
        !self.input.generics.params.is_empty()
    }

    /// Every value of the type, in order.
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

/// A type's wire format.
pub(crate) enum Shape<'a> {
    /// A closed record.
    Record(Vec<Entry<'a>>),
    /// What another type has, with bounds added.
    Wrapper(Box<Value>),
    /// One of several strings.
    Enum(Vec<(&'a Ident, Name)>),
    /// One of several whole numbers.
    IntegerEnum(Vec<(&'a Ident, Name)>),
    /// One of several shapes.
    Union(Tagging, Vec<Branch<'a>>),
}

/// How the branches of a union are told apart.
pub(crate) enum Tagging {
    External,
    Internal(LitStr),
    Adjacent(LitStr, LitStr),
    Untagged,
}

/// A variant's name on the wire, and its documentation.
pub(crate) struct Name {
    pub(crate) name: String,
    pub(crate) doc: Doc,
}

/// A variant that may carry something.
pub(crate) struct Branch<'a> {
    /// The variant, for spans.
    pub(crate) ident: &'a Ident,
    pub(crate) name: Name,
    pub(crate) payload: Payload<'a>,
    pub(crate) fields: &'a syn::Fields,
    /// What serde's attributes on the variant say about reading it.
    pub(crate) serde: Serde,
}

/// What a variant carries.
pub(crate) enum Payload<'a> {
    Nothing,
    Value(Box<Value>),
    Record(Vec<Entry<'a>>),
}

/// A key of a record.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Entry<'a> {
    pub(crate) original: &'a syn::Field,
    /// Key in what a model sends.
    pub(crate) name: String,
    /// Key in what we send.
    pub(crate) out_name: String,
    pub(crate) doc: Doc,
    pub(crate) value: Value,
    pub(crate) default: Option<Json>,
    pub(crate) audit: Option<AuditForm>,
    pub(crate) flow: Flow,
    pub(crate) may_skip: bool,
    /// serde does not ask its reader where the key is absent.
    pub(crate) null_if_absent: bool,
    /// What serde's attributes on the field say about reading it.
    pub(crate) serde: Serde,
    /// The fields inside take this field's place.
    pub(crate) flatten: bool,
    /// serde fills it in when it is absent, so its type must admit null.
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

/// The directions a field goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    Both,
    Input,
    Output,
}

/// A value whose schema another type has.
pub(crate) struct Value {
    /// The type to name in generated code.
    pub(crate) ty: TokenStream,
    /// The type as the user wrote it, for spans.
    pub(crate) place: TokenStream,
    /// The field's own type, where it reads or writes what the schema of another one says.
    pub(crate) own: Option<OwnType>,
    pub(crate) bounds: Bounds,
    /// Where it is, for messages: `field`, `Variant.field`.
    pub(crate) label: String,
    /// Counts the values of the type; the constants for its bounds and its default are named by it.
    pub(crate) number: usize,
}

impl Value {
    /// The type in generated code, where the tokens of the user's would be reported once more.
    pub(crate) fn alias(&self) -> Ident {
        format_ident!("__F{}", self.number)
    }

    /// The constant that holds the bounds, where there are any.
    pub(crate) fn bounds_name(&self) -> Option<Ident> {
        (!self.bounds.is_empty()).then(|| format_ident!("__BOUNDS_{}", self.number))
    }

    /// The constant that holds the default, where one is stated.
    pub(crate) fn default_name(&self) -> Ident {
        format_ident!("__DEFAULT_{}", self.number)
    }
}

/// The type of a field whose schema is that of another one.
pub(crate) struct OwnType {
    pub(crate) ty: Type,
    /// It reads the value; else it only writes it.
    pub(crate) reads: bool,
}

/// A value and the field that has it, if any.
pub(crate) struct Site<'d> {
    pub(crate) value: &'d Value,
    pub(crate) entry: Option<&'d Entry<'d>>,
}

/// A type that stands for an enclosing one.
pub(crate) struct Marker {
    pub(crate) ident: Ident,
    /// The enclosing type's name.
    pub(crate) name: String,
    /// The enclosing type.
    pub(crate) target: TokenStream,
}

/// A warning at the user's tokens.
pub(crate) struct Warning {
    pub(crate) rule: &'static Rule,
    pub(crate) place: TokenStream,
}
