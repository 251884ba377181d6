//! The type as written, with all attributes parsed.

use proc_macro2::Ident;
use syn::{Attribute, Data, DeriveInput};

use crate::allow::{Allowed, SCHEMA_RULES};
use crate::constraint::{AuditForm, VALUE_WORDS, ValueOptions};
use crate::docs::Doc;
use crate::errors::Errors;
use crate::paths::Paths;
use crate::serde_attr::{Place, Serde};
use crate::words::{self, once, unknown};

/// A type with its parsed attributes.
pub(crate) struct Written<'a> {
    pub(crate) input: &'a DeriveInput,
    pub(crate) attributes: Attributes,
    pub(crate) body: Body<'a>,
}

/// The body of the type.
pub(crate) enum Body<'a> {
    Struct(Fields<'a>),
    Enum(Vec<Variant<'a>>),
    Union,
}

/// Fields of a struct or a variant.
pub(crate) struct Fields<'a> {
    pub(crate) original: &'a syn::Fields,
    pub(crate) list: Vec<Field<'a>>,
}

pub(crate) struct Field<'a> {
    pub(crate) original: &'a syn::Field,
    pub(crate) attributes: Attributes,
}

pub(crate) struct Variant<'a> {
    pub(crate) original: &'a syn::Variant,
    pub(crate) attributes: Attributes,
    pub(crate) fields: Fields<'a>,
}

/// The attributes of a type, a variant or a field.
pub(crate) struct Attributes {
    pub(crate) serde: Serde,
    pub(crate) words: SchemaOptions,
    pub(crate) doc: Doc,
}

/// The options of `#[schema(…)]` on a type, a variant or a field.
#[derive(Default)]
pub(crate) struct SchemaOptions {
    pub(crate) value: ValueOptions,
    pub(crate) audit: Option<AuditForm>,
    pub(crate) recursive: Option<Ident>,
    pub(crate) integer: Option<Ident>,
    pub(crate) deserialize: Option<Ident>,
    pub(crate) json_schema: Option<Ident>,
    pub(crate) paths: Option<Paths>,
    pub(crate) allowed: Allowed,
}

pub(crate) fn parse<'a>(input: &'a DeriveInput, errors: &Errors) -> Written<'a> {
    let (place, body) = match &input.data {
        Data::Struct(data) => (Place::Struct, Body::Struct(fields(&data.fields, errors))),
        Data::Enum(data) => {
            let variants = data.variants.iter().map(|variant| Variant {
                original: variant,
                attributes: attributes(&variant.attrs, Place::Variant, errors),
                fields: fields(&variant.fields, errors),
            });
            (Place::Enum, Body::Enum(variants.collect()))
        }
        Data::Union(_) => (Place::Struct, Body::Union),
    };
    Written {
        input,
        attributes: attributes(&input.attrs, place, errors),
        body,
    }
}

fn fields<'a>(original: &'a syn::Fields, errors: &Errors) -> Fields<'a> {
    let list = original.iter().map(|field| Field {
        original: field,
        attributes: attributes(&field.attrs, Place::Field, errors),
    });
    Fields {
        original,
        list: list.collect(),
    }
}

fn attributes(attrs: &[Attribute], place: Place, errors: &Errors) -> Attributes {
    Attributes {
        serde: Serde::of(attrs, place, errors),
        words: words_of(attrs, place, errors),
        doc: Doc::of(attrs, errors),
    }
}

fn words_of(attrs: &[Attribute], place: Place, errors: &Errors) -> SchemaOptions {
    let mut words = SchemaOptions::default();
    let known = known_words(place);
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("schema")) {
        words::of_attribute(attr, errors, |word, input| {
            let name = word.to_string();
            if !known.contains(&&*name) {
                return Err(unknown(word, &known));
            }
            match &*name {
                "allow" => words.allowed.take(input, SCHEMA_RULES),
                "audit" => once(&mut words.audit, word, AuditForm::parse(word, input)?),
                "crate" => once(&mut words.paths, word, Paths::parse(input)?),
                "deserialize" => once(&mut words.deserialize, word, word.clone()),
                "integer" => once(&mut words.integer, word, word.clone()),
                "json_schema" => once(&mut words.json_schema, word, word.clone()),
                "recursive" => once(&mut words.recursive, word, word.clone()),
                _ => words.value.take(word, input).unwrap_or(Ok(())),
            }
        });
    }
    words
}

/// Returns the options that are allowed at a place.
fn known_words(place: Place) -> Vec<&'static str> {
    let own: &[&str] = match place {
        Place::Struct => &["deserialize", "json_schema", "crate", "allow"],
        Place::Enum => &[
            "as",
            "integer",
            "deserialize",
            "json_schema",
            "crate",
            "allow",
        ],
        Place::Variant => &["as", "allow"],
        Place::Field => &["recursive", "audit", "allow"],
    };
    let value = match place {
        Place::Struct | Place::Field => VALUE_WORDS,
        Place::Enum | Place::Variant => &[],
    };
    [value, own].concat()
}
