//! Checks of the fields of records.

use quote::ToTokens;
use syn::ext::IdentExt;

use super::names::named;
use super::{Check, label};
use crate::allow::PATTERN_ANCHORS;
use crate::case::Case;
use crate::constraint::Bounds;
use crate::derive::model::{Entry, Flow, OwnType, Value};
use crate::derive::parse::{Attributes, Field, Fields};
use crate::serde_attr::{PerDirection, Serde};
use crate::texts;

impl Check<'_> {
    /// Decides the fields of a record. `owner` names their variant, or is empty; `tag` is the key of the enum's tag.
    pub(super) fn entries<'a>(
        &mut self,
        fields: Fields<'a>,
        owner: &str,
        cases: &PerDirection<Case>,
        by_default: bool,
        tag: Option<&str>,
    ) -> Vec<Entry<'a>> {
        let mut entries = Vec::with_capacity(fields.list.len());
        for field in fields.list {
            if field.attributes.serde.is_skipped() {
                self.skipped(&field.attributes);
            } else {
                entries.extend(self.entry(field, owner, cases, by_default));
            }
        }
        self.distinct_keys(&entries, tag);
        entries
    }

    /// Refuses options on a skipped field, because it has no schema.
    fn skipped(&self, attributes: &Attributes) {
        let words = &attributes.words;
        let value = &words.value;
        if !value.bounds.is_empty() {
            self.errors.at(&value.bounds, texts::SKIPPED_WORDS);
        }
        if let Some(default) = &value.default {
            self.errors.at(default, texts::SKIPPED_WORDS);
        }
        if let Some(ty) = &value.as_type {
            self.errors.at(ty, texts::SKIPPED_WORDS);
        }
        if let Some(word) = &words.recursive {
            self.errors.at(word, texts::SKIPPED_WORDS);
        }
        if let Some(word) = &words.audit {
            self.errors.at(word, texts::SKIPPED_WORDS);
        }
    }

    fn entry<'a>(
        &mut self,
        field: Field<'a>,
        owner: &str,
        cases: &PerDirection<Case>,
        by_default: bool,
    ) -> Option<Entry<'a>> {
        let ident = field.original.ident.as_ref()?;
        let rust = ident.unraw().to_string();
        let value = self.value(&field, label(owner, &rust));
        let Field {
            original,
            attributes,
        } = field;
        let serde = &attributes.serde;
        let name = named(ident, serde, cases, Case::of_field);
        let flatten = serde.flatten.is_some();
        if flatten {
            self.flattened(&attributes);
        } else {
            if serde.skip_deserializing.is_none() {
                self.key(&name.name, &name.place);
            }
            if attributes.doc.is_missing() {
                self.errors.at(ident, texts::field_description(&rust));
            }
        }
        self.warn_alias(&attributes);
        self.warn_pattern(&value.bounds, &attributes);

        let by_other = serde.reader().is_some() || attributes.words.value.as_type.is_some();
        let stated = attributes.words.value.default;
        let may_be_absent = by_default || serde.default.is_some() || stated.is_some();
        if let Some(path) = serde
            .default
            .as_ref()
            .and_then(|default| default.path.as_ref())
            && stated.is_none()
            && serde.skip_deserializing.is_none()
        {
            self.errors.at(path, texts::DEFAULT_PATH);
        }
        Some(Entry {
            original,
            name: name.name,
            out_name: name.out_name,
            doc: attributes.doc,
            value,
            must_be_optional: (by_default || serde.default.is_some())
                && stated.is_none()
                && serde.skip_deserializing.is_none()
                && !flatten,
            default: stated,
            audit: attributes.words.audit,
            flow: match (&serde.skip_deserializing, &serde.skip_serializing) {
                (Some(_), _) => Flow::Output,
                (None, Some(_)) => Flow::Input,
                (None, None) => Flow::Both,
            },
            may_skip: serde.skip_serializing_if.is_some(),
            null_if_absent: by_other && !may_be_absent,
            serde: attributes.serde.clone(),
            flatten,
        })
    }

    fn flattened(&self, attributes: &Attributes) {
        if self.generic
            && let Some(word) = &attributes.serde.flatten
        {
            self.errors.at(word, texts::FLATTEN_GENERIC);
        }
        let value = &attributes.words.value;
        if !value.bounds.is_empty() {
            self.errors.at(&value.bounds, texts::FLATTEN_WORDS);
        }
        if let Some(default) = &value.default {
            self.errors.at(default, texts::FLATTEN_WORDS);
        }
        if let Some(word) = &attributes.words.audit {
            self.errors.at(word, texts::FLATTEN_WORDS);
        }
    }

    /// Decides the type whose schema a field has, and its constraints.
    pub(super) fn value(&mut self, field: &Field<'_>, label: String) -> Value {
        let words = &field.attributes.words;
        let bounds = words.value.bounds.clone();
        bounds.check(self.errors);
        let ty = words.value.as_type.as_ref().unwrap_or(&field.original.ty);
        if words.value.as_type.is_none() {
            for other in &field.attributes.serde.other_type {
                self.errors
                    .at(&other.tokens, texts::serde_other_type(&other.word));
            }
        }
        let place = ty.to_token_stream();
        if let syn::Type::Reference(reference) = ty {
            self.errors.at(reference, texts::REFERENCE);
        }
        let ty = match &words.recursive {
            Some(word) => self.swap_innermost(ty, word),
            None => self.swap(place.clone()),
        };
        let own = words
            .value
            .as_type
            .as_ref()
            .and_then(|_| self.own(&field.original.ty, &field.attributes.serde));
        Value {
            own,
            ..self.placed(ty, place, bounds, label)
        }
    }

    /// Returns the Rust type of a field with `as` if serde's derive reads or writes the field by its Rust type.
    pub(super) fn own(&self, ty: &syn::Type, serde: &Serde) -> Option<OwnType> {
        let reads = serde.reader().is_none() && serde.skip_deserializing.is_none();
        let writes = serde.writer().is_none() && serde.skip_serializing.is_none();
        (reads || writes && self.has_derive("Serialize")).then(|| OwnType {
            ty: ty.clone(),
            reads,
        })
    }

    /// Warns `[pattern-anchors]` at the pattern, unless the attributes allow the rule.
    pub(super) fn warn_pattern(&mut self, bounds: &Bounds, attributes: &Attributes) {
        if let Some(pattern) = bounds.unanchored_pattern()
            && !attributes.words.allowed.contains(PATTERN_ANCHORS)
        {
            let pattern = pattern.clone();
            self.warn(PATTERN_ANCHORS, pattern);
        }
    }
}
