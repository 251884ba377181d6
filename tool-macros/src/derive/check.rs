//! Checks of a type that need only its syntax, and the decision on its wire format.

mod enums;
mod fields;
mod names;
mod recursion;
mod stated;

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::Ident;
use syn::ext::IdentExt;

use crate::allow::{Rule, VARIANT_ALIAS};
use crate::constraint::Bounds;
use crate::derive::circle::{self, Cycles};
use crate::derive::model::{Decided, Marker, Shape, Stated, Value, Warning};
use crate::derive::parse::{Attributes, Body, Fields, Written};
use crate::errors::Errors;
use crate::siblings::OtherDerives;
use crate::texts;

/// The state that all checks of a type share.
struct Check<'e> {
    errors: &'e Errors,
    own: &'e Ident,
    generic: bool,
    markers: Vec<Marker>,
    warnings: Vec<Warning>,
    /// The number of values so far.
    values: usize,
    stated: Vec<Stated>,
    /// The other derives of the type, read when they are needed.
    siblings: OtherDerives,
}

/// Decides the wire format. Returns `None` if an error was reported.
pub(crate) fn check<'a>(written: Written<'a>, errors: &Errors) -> Option<Decided<'a>> {
    let input = written.input;
    let mut check = Check {
        errors,
        own: &input.ident,
        generic: !input.generics.params.is_empty(),
        markers: Vec::new(),
        warnings: Vec::new(),
        values: 0,
        stated: Vec::new(),
        siblings: OtherDerives::of(written.attributes.words.deserialize.is_some()),
    };
    let json_schema = written.attributes.words.json_schema.is_some();
    let paths = written.attributes.words.paths.clone().unwrap_or_default();
    let doc = written.attributes.doc.clone();
    let serde = written.attributes.serde.clone();
    let stated_as = written.attributes.words.value.as_type.is_some();
    let deserialize = written.attributes.words.deserialize.clone();
    let shape = check.shape(written)?;
    if !errors.is_empty() {
        return None;
    }
    let mut decided = Decided {
        input,
        paths,
        name: input.ident.unraw().to_string(),
        doc,
        shape,
        warnings: check.warnings,
        markers: check.markers,
        json_schema,
        stated: check.stated,
        serde,
        stated_as,
        siblings: check.siblings,
        deserialize,
        circles: Cycles::default(),
    };
    decided.circles = circle::find(&decided);
    Some(decided)
}

impl<'e> Check<'e> {
    fn shape<'a>(&mut self, written: Written<'a>) -> Option<Shape<'a>>
    where
        'a: 'e,
    {
        let Written {
            attributes, body, ..
        } = written;
        self.container(&attributes);
        self.stated_as(&attributes, &body);
        if let Some(ty) = &attributes.words.value.as_type {
            let place = ty.to_token_stream();
            let ty = self.swap(place.clone());
            let bounds = attributes.words.value.bounds;
            return Some(Shape::Wrapper(Box::new(self.placed(
                ty,
                place,
                bounds,
                String::new(),
            ))));
        }
        match body {
            Body::Struct(fields) => self.structure(&attributes, fields),
            Body::Enum(variants) => self.enumeration(&attributes, variants),
            Body::Union => {
                self.errors.at(self.own, texts::UNION);
                None
            }
        }
    }

    /// Creates a value with the next number.
    fn placed(
        &mut self,
        ty: TokenStream,
        place: TokenStream,
        bounds: Bounds,
        label: String,
    ) -> Value {
        self.values += 1;
        Value {
            ty,
            place,
            own: None,
            bounds,
            label,
            number: self.values - 1,
        }
    }

    /// Checks the type's own attributes.
    fn container(&self, attributes: &Attributes) {
        let words = &attributes.words;
        // `integer` states the wire type as well, as in `#[serde(try_from = "u8", into = "u8")]`.
        if words.value.as_type.is_none() && words.integer.is_none() {
            for other in &attributes.serde.other_type {
                self.errors
                    .at(&other.tokens, texts::serde_other_type(&other.word));
            }
        }
        if let Some(default) = &words.value.default {
            self.errors.at(default, texts::DEFAULT_ON_CONTAINER);
        }
        words.value.bounds.check(self.errors);
        let derives = ["Deserialize", "Deserialize_repr"];
        if let Some(word) = &words.deserialize
            && derives.iter().any(|derive| self.has_derive(derive))
        {
            self.errors.at(word, texts::DESERIALIZE_TWICE);
        }
    }

    fn structure<'a>(&mut self, attributes: &Attributes, fields: Fields<'a>) -> Option<Shape<'a>> {
        if let Some(tag) = &attributes.serde.tag {
            self.errors.at(tag, texts::STRUCT_TAG);
        }
        let named = matches!(fields.original, syn::Fields::Named(_));
        if attributes.serde.transparent.is_some() || !named {
            return self.newtype(attributes, fields);
        }
        if !attributes.words.value.bounds.is_empty() {
            self.errors
                .at(&attributes.words.value.bounds, texts::BOUNDS_ON_CONTAINER);
        }
        let cases = &attributes.serde.rename_all;
        let by_default = attributes.serde.default.is_some();
        Some(Shape::Record(
            self.entries(fields, "", cases, by_default, None),
        ))
    }

    /// Decides the format of `struct Name(Inner);`, or of a struct with one field under `transparent`.
    fn newtype<'a>(&mut self, attributes: &Attributes, fields: Fields<'a>) -> Option<Shape<'a>> {
        let transparent = attributes.serde.transparent.clone();
        let all = fields.list.len();
        let mut sent = fields
            .list
            .into_iter()
            .filter(|field| !field.attributes.serde.is_skipped());
        let (field, more) = (sent.next(), sent.next());
        let field = match (field, more, &transparent) {
            (Some(field), None, Some(_)) => field,
            (_, _, Some(word)) => {
                self.errors.at(word, texts::TRANSPARENT_FIELDS);
                return None;
            }
            (Some(field), None, None) if all == 1 => field,
            (None, None, None) if all == 0 => {
                self.errors.at(self.own, texts::UNIT_STRUCT);
                return None;
            }
            _ => {
                self.errors.at(fields.original, texts::TUPLE_STRUCT);
                return None;
            }
        };
        if let Some(default) = &field.attributes.words.value.default {
            self.errors.at(default, texts::DEFAULT_ON_CONTAINER);
        }
        if let Some(word) = &field.attributes.words.audit {
            self.errors.at(word, texts::AUDIT_ON_NEWTYPE);
        }
        let mut value = self.value(&field, "0".to_owned());
        if !attributes.words.value.bounds.is_empty() {
            if value.bounds.is_empty() {
                value.bounds = attributes.words.value.bounds.clone();
            } else {
                self.errors
                    .at(&attributes.words.value.bounds, texts::BOUNDS_TWICE);
            }
        }
        self.warn_pattern(&value.bounds, attributes);
        Some(Shape::Wrapper(Box::new(value)))
    }

    fn warn(&mut self, rule: &'static Rule, place: impl ToTokens) {
        self.warnings.push(Warning {
            rule,
            place: place.into_token_stream(),
        });
    }

    /// Warns `[variant-alias]` at `alias = "…"`, unless the attributes allow the rule.
    fn warn_alias(&mut self, attributes: &Attributes) {
        if let Some(alias) = &attributes.serde.alias
            && !attributes.words.allowed.contains(VARIANT_ALIAS)
        {
            self.warn(VARIANT_ALIAS, alias.clone());
        }
    }
}

/// Joins `Variant` and `field` to `Variant.field`.
fn label(outer: &str, inner: &str) -> String {
    match (outer, inner) {
        ("", inner) => inner.to_owned(),
        (outer, "") => outer.to_owned(),
        (outer, inner) => format!("{outer}.{inner}"),
    }
}
