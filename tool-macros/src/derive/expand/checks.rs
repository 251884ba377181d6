//! Checks that need const evaluation; their errors underline the user's tokens.

use proc_macro2::TokenStream;
use quote::quote;

use super::schema::{asked, bounded, plain};
use crate::derive::model::{Branch, Decided, Own, OwnType, Payload, Shape, Site, Stated, Tagging};
use crate::spans;

/// Generates the checks of a type without parameters, as constants next to its impl.
pub(super) fn beside(decided: &Decided<'_>) -> TokenStream {
    let paths = &decided.paths;
    let private = paths.private();
    let owner = &decided.name;
    let ident = &decided.input.ident;
    let own = quote!(<#ident as #private::StrictSchema>::SCHEMA);
    let input = spans::is_input(paths, ident);
    let mut out = quote!(const __INPUT: ::core::primitive::bool = #input;);
    // The checks of the syntax cannot find the keys of flattened fields.
    if let Shape::Record(entries) = &decided.shape
        && let Some(flattened) = entries.iter().rfind(|entry| entry.flatten)
    {
        let place = &flattened.value.place;
        out.extend(spans::check(
            paths,
            place,
            "check_type",
            quote!(#own, __INPUT),
        ));
    }
    if let Shape::Union(tagging, branches) = &decided.shape {
        for (at, branch) in branches.iter().enumerate() {
            if needs_check(tagging, branch) {
                let arguments = quote!(#own, #at, __INPUT);
                out.extend(spans::check(
                    paths,
                    branch.ident,
                    "check_variant",
                    arguments,
                ));
            }
        }
    }
    for site in decided.sites() {
        let label = &site.value.label;
        let (check, input) = match site.entry {
            Some(entry) if entry.flatten => ("check_flatten", None),
            _ => ("check_field", Some(quote!(, __INPUT))),
        };
        let place = &site.value.place;
        let schema = plain(decided, site.value);
        if let Some(circle) = decided.circles.of(site.value.number) {
            let alias = site.value.alias();
            let question = circle.question(decided, &quote!(#alias));
            let held = &circle.names[1];
            let way = circle.text();
            let arguments = quote!(#question::CLOSED, #owner, #label, #held, #way);
            out.extend(spans::check(paths, &circle.held, "check_circle", arguments));
            out.extend(spans::check(
                paths,
                place,
                check,
                quote!(#schema, #owner, #label #input),
            ));
        } else {
            let asked = asked(decided, site.value);
            out.extend(spans::check(
                paths,
                place,
                check,
                quote!(#asked, #owner, #label #input),
            ));
        }
        for call in calls(decided, &site) {
            out.extend(quote!(#[allow(long_running_const_eval)] const _: () = #call;));
        }
    }
    for call in stated(decided, &quote!(#ident)) {
        out.extend(quote!(const _: () = #call;));
    }
    out
}

/// Generates the checks that the type's reader and writer match the format that `as` or `integer` states for the whole type.
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

/// Returns whether a variant may have an error that its syntax does not show.
fn needs_check(tagging: &Tagging, branch: &Branch<'_>) -> bool {
    match &branch.payload {
        Payload::Nothing => false,
        Payload::Value(_) => true,
        Payload::Record(entries) => {
            matches!(tagging, Tagging::Untagged) || entries.iter().any(|entry| entry.flatten)
        }
    }
}

/// Generates the checks of a type with parameters, as statements before its tree. They run when the type is used with concrete parameters.
pub(super) fn inside(decided: &Decided<'_>) -> TokenStream {
    decided
        .sites()
        .iter()
        .flat_map(|site| calls(decided, site))
        .chain(stated(decided, &quote!(Self)))
        .map(|call| quote!(#call;))
        .collect()
}

/// Generates the checks of a field's options against its type.
fn calls(decided: &Decided<'_>, site: &Site<'_>) -> Vec<TokenStream> {
    let paths = &decided.paths;
    let value = site.value;
    let (owner, label) = (&decided.name, &value.label);
    let schema = plain(decided, value);
    let mut calls = Vec::new();
    if let Some(OwnType { ty, reads }) = &value.own {
        let own = spans::schema_of(paths, ty);
        let bounded = bounded(decided, value);
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
            let (schema, name) = (bounded(decided, value), value.default_name());
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
