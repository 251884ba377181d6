//! What only const evaluation can check, underlined at the user's tokens.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

use super::schema::{bounded, plain};
use crate::derive::model::{Decided, Site};
use crate::spans;

/// Constants beside the impl of a type without parameters.
pub(super) fn beside(decided: &Decided<'_>) -> TokenStream {
    let paths = &decided.paths;
    let private = paths.private();
    let owner = &decided.name;
    // First: where types hold each other, rustc tells the cycle where it is entered.
    let ident = &decided.input.ident;
    let whole = quote_spanned!(ident.span()=> <#ident as #private::StrictSchema>::SCHEMA);
    let mut out = spans::check(paths, ident, "check_type", whole);
    for site in decided.sites() {
        let schema = plain(paths, site.value);
        let label = &site.value.label;
        let check = match site.entry {
            Some(entry) if entry.flatten => "check_flatten",
            _ => "check_field",
        };
        let place = &site.value.place;
        let arguments = quote!(#schema, #owner, #label);
        out.extend(spans::check(paths, place, check, arguments));
        if let Some(reads) = &site.value.reads {
            let own = spans::schema_of(paths, reads);
            let arguments = quote!(#own, #schema, #owner, #label);
            out.extend(spans::check(paths, place, "check_as", arguments));
        }
        for call in calls(decided, &site) {
            out.extend(quote!(const _: () = #call;));
        }
    }
    out
}

/// Statements before the tree of a type with parameters: they run when the type is used with concrete ones.
pub(super) fn inside(decided: &Decided<'_>) -> TokenStream {
    decided
        .sites()
        .iter()
        .flat_map(|site| calls(decided, site))
        .map(|call| quote!(#call;))
        .collect()
}

/// Checks of what the field says about its type.
fn calls(decided: &Decided<'_>, site: &Site<'_>) -> Vec<TokenStream> {
    let paths = &decided.paths;
    let value = site.value;
    let (owner, label) = (&decided.name, &value.label);
    let schema = plain(paths, value);
    let mut calls = Vec::new();
    if let Some(name) = value.bounds_name() {
        let arguments = quote!(#schema, #name, #owner, #label);
        calls.push(spans::call(
            paths,
            &value.bounds,
            "check_constraints",
            arguments,
        ));
    }
    if let Some(entry) = site.entry {
        if let Some(default) = &entry.default {
            let (schema, name) = (bounded(paths, value), value.default_name());
            let arguments = quote!(#schema, &#name, #owner, #label);
            calls.push(spans::call(paths, default, "check_default", arguments));
        }
        if entry.must_be_optional {
            let arguments = quote!(#schema, #owner, #label);
            calls.push(spans::call(
                paths,
                &value.place,
                "check_optional",
                arguments,
            ));
        }
    }
    calls
}
