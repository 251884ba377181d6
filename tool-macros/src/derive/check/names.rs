//! Wire names: how serde derives them, and which of them providers reject.

use std::collections::{HashMap, HashSet};

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::Ident;
use syn::ext::IdentExt;

use super::Check;
use crate::case::Case;
use crate::derive::model::{Entry, Flow};
use crate::serde_attr::{PerDirection, Serde};
use crate::texts;

/// The names for reading and writing, and the token that a user has to change.
pub(super) struct Named {
    pub(super) name: String,
    pub(super) out_name: String,
    pub(super) place: TokenStream,
}

/// Returns the names by `rename`, or else by the container's naming convention, or else the Rust name.
pub(super) fn named(
    ident: &Ident,
    serde: &Serde,
    cases: &PerDirection<Case>,
    apply: fn(Case, &str) -> String,
) -> Named {
    let rust = ident.unraw().to_string();
    let by_case = |case: Option<Case>| case.map_or_else(|| rust.clone(), |case| apply(case, &rust));
    let rename = &serde.rename;
    Named {
        name: rename
            .deserialize
            .as_ref()
            .map_or_else(|| by_case(cases.deserialize), syn::LitStr::value),
        out_name: rename
            .serialize
            .as_ref()
            .map_or_else(|| by_case(cases.serialize), syn::LitStr::value),
        place: rename
            .deserialize
            .as_ref()
            .map_or_else(|| ident.to_token_stream(), ToTokens::to_token_stream),
    }
}

impl Check<'_> {
    /// Checks the rule `[property-key]`, unless the type is only written.
    pub(super) fn key(&self, key: &str, place: &TokenStream) {
        let mut bytes = key.bytes();
        let first = bytes.next();
        let fits = first.is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
            && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && key.len() <= 64;
        if !fits && !self.is_only_written() {
            self.errors.at(place, texts::property_key(key));
        }
    }

    /// Checks `[duplicate-key]` for the fields of one record.
    pub(super) fn distinct_keys(&self, entries: &[Entry<'_>], tag: Option<&str>) {
        let read = |entry: &Entry<'_>| (entry.flow != Flow::Output).then(|| entry.name.clone());
        let sent = |entry: &Entry<'_>| (entry.flow != Flow::Input).then(|| entry.out_name.clone());
        if !self.distinct(entries, tag, read) {
            self.distinct(entries, tag, sent);
        }
    }

    /// Reports duplicate keys in one direction (reading or writing), and returns whether it found any.
    fn distinct(
        &self,
        entries: &[Entry<'_>],
        tag: Option<&str>,
        key: impl Fn(&Entry<'_>) -> Option<String>,
    ) -> bool {
        let mut told = false;
        let mut seen = HashSet::new();
        for entry in entries.iter().filter(|entry| !entry.flatten) {
            let Some(key) = key(entry) else { continue };
            if tag == Some(&*key) {
                self.errors.at(&entry.original.ident, texts::tag_key(&key));
                told = true;
            } else if !seen.insert(key.clone()) {
                self.errors
                    .at(&entry.original.ident, texts::duplicate_key(&key));
                told = true;
            }
        }
        told
    }

    /// Checks `[duplicate-key]` for the variants of one enum. Unless the enum is only written, also checks `[enum-empty-string]` and
    /// `[enum-case-only]`.
    pub(super) fn distinct_variants(&self, names: &[Named]) {
        let mut seen: HashMap<String, &str> = HashMap::new();
        for Named { name, place, .. } in names {
            if name.is_empty() && !self.is_only_written() {
                self.errors.at(place, texts::EMPTY_VARIANT);
                continue;
            }
            match seen.insert(name.to_lowercase(), name) {
                Some(other) if other == name => {
                    self.errors.at(place, texts::duplicate_variant(name));
                }
                Some(other) if !self.is_only_written() => {
                    self.errors.at(place, texts::case_only(name, other));
                }
                _ => {}
            }
        }
    }
}
