//! What only const evaluation can check, underlined at the user's tokens.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

use super::schema::{bounded, plain};
use crate::derive::model::{Decided, Own, OwnType, Site, Stated};
use crate::spans;

/// Constants beside the impl of a type without parameters.
pub(super) fn beside(decided: &Decided<'_>) -> TokenStream {
    let paths = &decided.paths;
    let private = paths.private();
    let owner = &decided.name;
    // First: where types hold each other, rustc tells the cycle where it is entered.
    let ident = &decided.input.ident;
    let whole = quote_spanned!(ident.span()=> <#ident as #private::StrictSchema>::SCHEMA, __INPUT);
    let input = spans::is_input(paths, ident);
    let mut out = quote!(const __INPUT: ::core::primitive::bool = #input;);
    out.extend(spans::check(paths, ident, "check_type", whole));
    for site in decided.sites() {
        let schema = plain(paths, site.value);
        let label = &site.value.label;
        let (check, input) = match site.entry {
            Some(entry) if entry.flatten => ("check_flatten", None),
            _ => ("check_field", Some(quote!(, __INPUT))),
        };
        let place = &site.value.place;
        let arguments = quote!(#schema, #owner, #label #input);
        out.extend(spans::check(paths, place, check, arguments));
        for call in calls(decided, &site) {
            out.extend(quote!(#[allow(long_running_const_eval)] const _: () = #call;));
        }
    }
    for call in stated(decided, &quote!(#ident)) {
        out.extend(quote!(const _: () = #call;));
    }
    out
}

/// Checks of a form that is stated for the type as a whole.
fn stated(decided: &Decided<'_>, this: &TokenStream) -> Vec<TokenStream> {
    let paths = &decided.paths;
    let private = paths.private();
    let owner = &decided.name;
    let of = |stated: &Stated| {
        let own = match &stated.own {
            Own::Type(ty) => spans::schema_of(paths, ty),
            Own::Record => {
                quote!(::core::option::Option::Some(&#private::Schema::new(#private::Kind::Object(&[]))))
            }
            Own::Names => {
                quote!(::core::option::Option::Some(&#private::Schema::new(#private::Kind::Enum(&[]))))
            }
        };
        let schema = if stated.schema.to_string() == "Self" {
            this
        } else {
            &stated.schema
        };
        let reads = stated.reads;
        let arguments =
            quote!(#own, <#schema as #private::StrictSchema>::SCHEMA, #owner, "", #reads);
        spans::call(paths, &stated.place, "check_as", arguments)
    };
    decided.stated.iter().map(of).collect()
}

/// Statements before the tree of a type with parameters: they run when the type is used with concrete ones.
pub(super) fn inside(decided: &Decided<'_>) -> TokenStream {
    decided
        .sites()
        .iter()
        .flat_map(|site| calls(decided, site))
        .chain(stated(decided, &quote!(Self)))
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
    if let Some(OwnType { ty, reads }) = &value.own {
        let own = spans::schema_of(paths, ty);
        let bounded = bounded(paths, value);
        let arguments = quote!(#own, #bounded, #owner, #label, #reads);
        calls.push(spans::call(paths, &value.place, "check_as", arguments));
    }
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
