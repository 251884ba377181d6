//! Types whose wire format `as` or `integer` states. The code that reads and writes such a type has to match the format.

use quote::{ToTokens, quote};
use syn::Ident;

use super::Check;
use crate::derive::model::{Own, Stated};
use crate::derive::parse::{Attributes, Body, Fields};
use crate::serde_attr::{OtherType, Serde};
use crate::texts;

impl Check<'_> {
    /// Returns whether the type also has a derive of this name, as far as that is known.
    pub(super) fn has_derive(&self, name: &str) -> bool {
        self.siblings.has(name)
    }

    /// Returns whether the type derives `Serialize` and has neither a derived `Deserialize` nor `#[schema(deserialize)]`, so that the rules for
    /// arguments do not apply. If a tool reads the type nevertheless, const evaluation reports the error.
    pub(super) fn is_only_written(&self) -> bool {
        self.siblings.is_only_written()
    }

    /// Records the reader and the writer of a type with `as`.
    pub(super) fn stated_as(&mut self, attributes: &Attributes, body: &Body<'_>) {
        let words = &attributes.words;
        let Some(ty) = &words.value.as_type else {
            return;
        };
        if let Some(word) = &words.integer {
            self.errors.at(word, texts::INTEGER_AND_AS);
        }
        let serde = &attributes.serde;
        let derived = derived_form(serde, body);
        let read = form_by(
            serde.reader(),
            self.has_derive("Deserialize"),
            derived.as_ref(),
        );
        let written = form_by(
            serde.writer(),
            self.has_derive("Serialize"),
            derived.as_ref(),
        );
        // If the type has a reader, a derived writer is not checked, because the check would report the same contradiction again.
        let written = written.filter(|_| serde.writer().is_some() || read.is_none());
        for (own, reads) in [(read, true), (written, false)] {
            self.stated.extend(own.map(|own| Stated {
                own,
                reads,
                schema: ty.to_token_stream(),
                place: ty.to_token_stream(),
            }));
        }
    }

    /// Records the reader and the writer of an enum with `integer`. Refuses serde's derive, which represents variants by their names.
    pub(super) fn stated_integer(&mut self, word: &Ident, serde: &Serde) {
        let by_name =
            |other: Option<&OtherType>, derive| other.is_none() && self.has_derive(derive);
        if by_name(serde.reader(), "Deserialize") || by_name(serde.writer(), "Serialize") {
            self.errors.at(word, texts::INTEGER_BY_NAME);
            return;
        }
        for (other, reads) in [(serde.reader(), true), (serde.writer(), false)] {
            if let Some(ty) = other.and_then(OtherType::ty) {
                self.stated.push(Stated {
                    own: Own::Type(Box::new(ty)),
                    reads,
                    schema: quote!(Self),
                    place: word.to_token_stream(),
                });
            }
        }
    }
}

/// Returns the reader or the writer of the type: the type in serde's attribute, or serde's derive without such an attribute. `None` if it has neither
/// or its format is not known.
fn form_by(other: Option<&OtherType>, has_derive: bool, derived: Option<&Own>) -> Option<Own> {
    match other {
        Some(other) => other.ty().map(Box::new).map(Own::Type),
        None if has_derive => derived.cloned(),
        None => None,
    }
}

/// Returns the format of the type under serde's derive, if it has a single format.
fn derived_form(serde: &Serde, body: &Body<'_>) -> Option<Own> {
    match body {
        Body::Struct(fields) => structure(serde, fields),
        Body::Enum(variants) => {
            let plain = |variant: &crate::derive::parse::Variant<'_>| {
                matches!(variant.original.fields, syn::Fields::Unit)
            };
            if serde.untagged.is_some() {
                None
            } else if serde.tag.is_some() {
                Some(Own::Record)
            } else {
                variants.iter().all(plain).then_some(Own::Names)
            }
        }
        Body::Union => None,
    }
}

fn structure(serde: &Serde, fields: &Fields<'_>) -> Option<Own> {
    let named = matches!(fields.original, syn::Fields::Named(_));
    if named && serde.transparent.is_none() {
        return Some(Own::Record);
    }
    let mut sent = fields
        .list
        .iter()
        .filter(|field| !field.attributes.serde.is_skipped());
    match (sent.next(), sent.next()) {
        (Some(field), None) if field.attributes.serde.other_type.is_empty() => {
            Some(Own::Type(Box::new(field.original.ty.clone())))
        }
        _ => None,
    }
}
