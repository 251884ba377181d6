//! Checks of enums: the wire format, and the payload of each variant.

use quote::ToTokens;
use syn::LitStr;
use syn::ext::IdentExt;

use super::Check;
use super::names::{Named, named};
use crate::allow::{EXTERNAL_TAG, UNTAGGED, VARIANT_ALIAS, VARIANT_OTHER};
use crate::case::Case;
use crate::constraint::Bounds;
use crate::derive::model::{Branch, Name, Payload, Shape, Tagging, Value};
use crate::derive::parse::{Attributes, Variant};
use crate::serde_attr::{PerDirection, Serde};
use crate::texts;

impl<'e> Check<'e> {
    pub(super) fn enumeration<'a>(
        &mut self,
        attributes: &Attributes,
        variants: Vec<Variant<'a>>,
    ) -> Option<Shape<'a>>
    where
        'a: 'e,
    {
        let variants: Vec<_> = variants
            .into_iter()
            .filter(|variant| !variant.attributes.serde.is_skipped())
            .collect();
        if variants.is_empty() {
            self.errors.at(self.own, texts::EMPTY_ENUM);
            return None;
        }
        for variant in &variants {
            self.variant(&variant.attributes, attributes);
        }
        let tagging = self.tagging(&attributes.serde);
        let plain = matches!(tagging, Tagging::External) && variants.iter().all(is_unit);
        if let Some(word) = &attributes.words.integer {
            if !plain {
                self.errors.at(word, texts::INTEGER_DATA);
                return None;
            }
            self.stated_integer(word, &attributes.serde);
            let values = variants.into_iter().map(|variant| {
                let name = variant.original.ident.unraw().to_string();
                let doc = variant.attributes.doc;
                (&variant.original.ident, Name { name, doc })
            });
            return Some(Shape::IntegerEnum(values.collect()));
        }

        let names: Vec<Named> = variants
            .iter()
            .map(|variant| self.variant_name(variant, &attributes.serde.rename_all))
            .collect();
        if !matches!(tagging, Tagging::Untagged) {
            self.distinct_variants(&names);
        }
        if plain {
            let values = variants.into_iter().zip(names).map(|(variant, named)| {
                let name = Name {
                    name: named.name,
                    doc: variant.attributes.doc,
                };
                (&variant.original.ident, name)
            });
            return Some(Shape::Enum(values.collect()));
        }
        self.warn_tagging(&tagging, attributes);
        let branches = variants
            .into_iter()
            .zip(names)
            .map(|(variant, named)| self.branch(variant, named, &tagging, &attributes.serde))
            .collect();
        Some(Shape::Union(tagging, branches))
    }

    /// Checks a variant's own attributes.
    fn variant(&mut self, attributes: &Attributes, container: &Attributes) {
        let serde = &attributes.serde;
        if let Some(word) = &serde.skip_deserializing {
            self.errors.at(word, texts::VARIANT_SKIP);
        }
        if attributes.words.value.as_type.is_none() {
            for other in &serde.other_type {
                self.errors
                    .at(&other.tokens, texts::serde_other_type(&other.word));
            }
        }
        if !container.words.allowed.contains(VARIANT_ALIAS) {
            self.warn_alias(attributes);
        }
        if let Some(other) = &serde.other
            && !attributes.words.allowed.contains(VARIANT_OTHER)
            && !container.words.allowed.contains(VARIANT_OTHER)
        {
            self.errors.at(other, texts::VARIANT_OTHER);
        }
    }

    fn tagging(&self, serde: &Serde) -> Tagging {
        if let (Some(word), Some(_)) = (
            &serde.untagged,
            serde.tag.as_ref().or(serde.content.as_ref()),
        ) {
            self.errors.at(word, texts::TAG_AND_UNTAGGED);
        }
        for key in [&serde.tag, &serde.content].into_iter().flatten() {
            self.key(&key.value(), &key.to_token_stream());
        }
        match (&serde.tag, &serde.content, &serde.untagged) {
            (_, _, Some(_)) => Tagging::Untagged,
            (Some(tag), None, None) => Tagging::Internal(tag.clone()),
            (Some(tag), Some(content), None) => {
                if tag.value() == content.value() {
                    self.errors.at(content, texts::tag_key(&tag.value()));
                }
                Tagging::Adjacent(tag.clone(), content.clone())
            }
            (None, Some(content), None) => {
                self.errors.at(content, texts::CONTENT_WITHOUT_TAG);
                Tagging::External
            }
            (None, None, None) => Tagging::External,
        }
    }

    fn warn_tagging(&mut self, tagging: &Tagging, attributes: &Attributes) {
        let allowed = &attributes.words.allowed;
        match (tagging, &attributes.serde.untagged) {
            (Tagging::External, _) if !allowed.contains(EXTERNAL_TAG) => {
                let own = self.own;
                self.warn(EXTERNAL_TAG, own);
            }
            (Tagging::Untagged, Some(word)) if !allowed.contains(UNTAGGED) => {
                self.warn(UNTAGGED, word);
            }
            _ => {}
        }
    }

    fn variant_name(&self, variant: &Variant<'_>, cases: &PerDirection<Case>) -> Named {
        let ident = &variant.original.ident;
        let named = named(ident, &variant.attributes.serde, cases, Case::of_variant);
        if named.name != named.out_name {
            self.errors.at(&named.place, texts::VARIANT_SPLIT);
        }
        named
    }

    fn branch<'a>(
        &mut self,
        variant: Variant<'a>,
        named: Named,
        tagging: &Tagging,
        container: &Serde,
    ) -> Branch<'a> {
        let unit = is_unit(&variant);
        if matches!(tagging, Tagging::External) && !unit {
            self.key(&named.name, &named.place);
        }
        if matches!(tagging, Tagging::Untagged) && unit && !self.is_only_written() {
            self.errors
                .at(&variant.original.ident, texts::UNIT_UNTAGGED);
        }
        let ident = &variant.original.ident;
        let rust = ident.unraw().to_string();
        let doc = variant.attributes.doc.clone();
        let (fields, serde) = (&variant.original.fields, variant.attributes.serde.clone());
        let payload = self.payload(variant, &rust, tagging, container);
        Branch {
            ident,
            fields,
            serde,
            name: Name {
                name: named.name,
                doc,
            },
            payload,
        }
    }

    fn payload<'a>(
        &mut self,
        variant: Variant<'a>,
        rust: &str,
        tagging: &Tagging,
        container: &Serde,
    ) -> Payload<'a> {
        let Variant {
            attributes,
            fields,
            original,
        } = variant;
        if let Some(ty) = &attributes.words.value.as_type {
            if matches!(fields.original, syn::Fields::Unit) {
                self.errors.at(ty, texts::VALUE_WORDS_UNIT);
            }
            let place = ty.to_token_stream();
            let ty = self.swap(place.clone());
            let own = match (fields.list.first(), fields.list.len()) {
                (Some(field), 1)
                    if matches!(fields.original, syn::Fields::Unnamed(_))
                        && field.attributes.serde.other_type.is_empty() =>
                {
                    self.own(&field.original.ty, &attributes.serde)
                }
                _ => None,
            };
            let value = Value {
                own,
                ..self.placed(ty, place, Bounds::default(), rust.to_owned())
            };
            return Payload::Value(Box::new(value));
        }
        match fields.original {
            syn::Fields::Unit => Payload::Nothing,
            syn::Fields::Unnamed(_) => match (fields.list.first(), fields.list.len()) {
                (Some(field), 1) if !field.attributes.serde.is_skipped() => {
                    let value = self.value(field, rust.to_owned());
                    self.warn_pattern(&value.bounds, &field.attributes);
                    if let Some(default) = &field.attributes.words.value.default {
                        self.errors.at(default, texts::DEFAULT_ON_CONTAINER);
                    }
                    if let Some(word) = &field.attributes.words.audit {
                        self.errors.at(word, texts::AUDIT_ON_NEWTYPE);
                    }
                    Payload::Value(Box::new(value))
                }
                _ => {
                    self.errors.at(&original.fields, texts::TUPLE_VARIANT);
                    Payload::Nothing
                }
            },
            syn::Fields::Named(_) => {
                let cases = attributes.serde.rename_all.or(&container.rename_all_fields);
                let tag = match tagging {
                    Tagging::Internal(tag) => Some(LitStr::value(tag)),
                    _ => None,
                };
                Payload::Record(self.entries(fields, rust, &cases, false, tag.as_deref()))
            }
        }
    }
}

fn is_unit(variant: &Variant<'_>) -> bool {
    matches!(variant.original.fields, syn::Fields::Unit)
}
