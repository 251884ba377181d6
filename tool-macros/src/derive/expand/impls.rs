//! Generation of the impls of a type, with one function for each impl.

use std::collections::BTreeSet;

use proc_macro2::{TokenStream, TokenTree};
use quote::quote;
use syn::{DeriveInput, Generics, Type, parse_quote};

use super::{checks, schema};
use crate::derive::model::{Decided, Marker, Shape};
use crate::paths::Paths;
use crate::reads;

/// Generates `enum __NodeAgain {}` with the schema `Kind::Ref("Node")`, in the module of `Node`.
pub(super) fn markers(decided: &Decided<'_>) -> TokenStream {
    let private = decided.paths.private();
    decided
        .markers
        .iter()
        .map(|Marker { ident, name, target }| {
            quote! {
                enum #ident {}
                impl #private::StrictSchema for #ident {
                    const SCHEMA: &'static #private::Schema = &#private::Schema::new(#private::Kind::Ref(#name))
                        .within(<#target as #private::StrictSchema>::MODULE);
                }
            }
        })
        .collect()
}

pub(super) fn strict_schema(decided: &Decided<'_>) -> TokenStream {
    let private = decided.paths.private();
    let ident = &decided.input.ident;
    let generics = bounded(decided);
    let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
    let tree = schema::of(decided);
    let tree = if decided.is_generic() {
        let checks = checks::inside(decided);
        if checks.is_empty() {
            tree
        } else {
            quote!({ #checks #tree })
        }
    } else {
        tree
    };
    quote! {
        #[automatically_derived]
        impl #impl_generics #private::StrictSchema for #ident #ty_generics #where_clause {
            const SCHEMA: &'static #private::Schema = #tree;
            const MODULE: &'static ::core::primitive::str = ::core::module_path!();
        }
    }
}

/// For an enum of strings, generates `MapKey`, so that the rule `map-type` refuses a map with such keys. For a record, which cannot be a key in JSON,
/// generates `UnwritableKey`, which refuses such a map as an output. Generates nothing for other types.
pub(super) fn key(decided: &Decided<'_>) -> Option<TokenStream> {
    let marker = match decided.shape {
        Shape::Enum(_) => quote!(MapKey),
        Shape::Record(_) => quote!(UnwritableKey),
        _ => return None,
    };
    let private = decided.paths.private();
    let ident = &decided.input.ident;
    let (impl_generics, ty_generics, where_clause) = decided.input.generics.split_for_impl();
    Some(quote! {
        #[automatically_derived]
        impl #impl_generics #private::#marker for #ident #ty_generics #where_clause {}
    })
}

/// Generates `IntoOutput`, so that a tool can return the type if it is `Serialize`. The `for` delays the check of the bound.
pub(in crate::derive) fn into_output(paths: &Paths, input: &DeriveInput) -> TokenStream {
    let private = paths.private();
    let ident = &input.ident;
    let mut generics = input.generics.clone();
    generics.make_where_clause().predicates.push(parse_quote! {
        for<'__serialize> Self: #private::serde::Serialize + ::core::marker::Send + 'static
    });
    let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #impl_generics #private::IntoOutput for #ident #ty_generics #where_clause {
            type Value = Self;
            fn into_returned(self) -> ::core::result::Result<#private::Returned<Self>, #private::ToolError> {
                ::core::result::Result::Ok(#private::Returned::Value(self))
            }
        }
    }
}

/// Generates the impl for `#[schema(deserialize)]`. The `for` delays the check of the bounds.
pub(super) fn deserialize(decided: &Decided<'_>) -> TokenStream {
    let private = decided.paths.private();
    let mut generics = decided.input.generics.clone();
    generics.make_where_clause().predicates.push(parse_quote! {
        for<'__read> Self: #private::StrictSchema + #private::read::Decode
    });
    reads::deserialize(&decided.paths, &decided.input.ident, &generics)
}

/// Generates schemars' trait from the same tree. A generic type has no single name, so its schema is inlined.
pub(super) fn json_schema(decided: &Decided<'_>) -> TokenStream {
    let private = decided.paths.private();
    let ident = &decided.input.ident;
    let name = &decided.name;
    let generics = bounded(decided);
    let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
    let identity = if decided.is_generic() {
        quote! {
            fn inline_schema() -> ::core::primitive::bool {
                true
            }
        }
    } else {
        quote! {
            fn schema_id() -> ::std::borrow::Cow<'static, ::core::primitive::str> {
                ::std::borrow::Cow::Borrowed(::core::concat!(::core::module_path!(), "::", #name))
            }
        }
    };
    quote! {
        #[automatically_derived]
        impl #impl_generics #private::schemars::JsonSchema for #ident #ty_generics #where_clause {
            fn schema_name() -> ::std::borrow::Cow<'static, ::core::primitive::str> {
                ::std::borrow::Cow::Borrowed(#name)
            }
            #identity
            fn json_schema(generator: &mut #private::schemars::SchemaGenerator) -> #private::schemars::Schema {
                #private::json_schema::<Self>(generator)
            }
        }
    }
}

/// Returns the type's generics. Parameters that a field names get the bound `StrictSchema`; for a field of type `T::Item`, this type gets the bound.
fn bounded(decided: &Decided<'_>) -> Generics {
    let private = decided.paths.private();
    bounded_by(decided, &quote!(#private::StrictSchema))
}

/// Returns the same generics as `bounded`, with `bound` as the trait.
pub(super) fn bounded_by(decided: &Decided<'_>, bound: &TokenStream) -> Generics {
    let mut generics = decided.input.generics.clone();
    let params: Vec<_> = generics
        .type_params()
        .map(|param| param.ident.clone())
        .collect();
    if params.is_empty() {
        return generics;
    }
    let mut named = BTreeSet::new();
    let mut whole: Vec<Type> = Vec::new();
    for site in decided.sites() {
        let ty = &site.value.ty;
        let mut projected = false;
        names(ty.clone(), &mut |ident, is_path| {
            projected |= is_path && params.contains(ident);
            if !is_path {
                named.insert(ident.clone());
            }
        });
        if projected {
            whole.push(parse_quote!(#ty));
        }
    }
    for param in generics.type_params_mut() {
        if named.contains(&param.ident) {
            param.bounds.push(parse_quote!(#bound));
        }
    }
    if !whole.is_empty() {
        let clause = generics.make_where_clause();
        for ty in whole {
            clause.predicates.push(parse_quote!(#ty: #bound));
        }
    }
    generics
}

/// Visits every name in `tokens`, with whether `::` follows it.
fn names(tokens: TokenStream, seen: &mut impl FnMut(&proc_macro2::Ident, bool)) {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Group(group) => names(group.stream(), seen),
            TokenTree::Ident(ident) => {
                let is_path = matches!(tokens.peek(), Some(TokenTree::Punct(punct)) if punct.as_char() == ':');
                seen(&ident, is_path);
            }
            _ => {}
        }
    }
}
