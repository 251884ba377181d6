//! Code generation of `#[derive(StrictSchema)]`. It cannot fail, except for errors that only appear when the reader is generated (`read.rs`).

mod checks;
pub(super) mod impls;
mod read;
mod schema;

use proc_macro2::TokenStream;
use quote::quote;
use syn::Data;

use crate::allow::{EXTERNAL_TAG, EXTERNAL_TAG_VALUES, UNTAGGED, UNTAGGED_VALUES};
use crate::derive::model::{Decided, Payload, Shape};
use crate::spans;

/// Generates the impls, the checks and the warnings of a type:
///
/// ```text
/// const _: () = {
///     enum __NodeAgain {}                                 // only for a recursive type
///     impl StrictSchema for __NodeAgain { … Kind::Ref("Node") … }
///     const __BOUNDS_0: &Constraints = &Constraints { … };
///     impl StrictSchema for Node { const SCHEMA: &'static Schema = &Schema::new(…).named("Node").checked_if(__INPUT); }
///     impl UnwritableKey for Node {}                      // `MapKey` for an enum of strings, neither for other types
///     const _: () = check_field(<String as StrictSchema>::SCHEMA, "Node", "label", __INPUT);
///     const _: () = check_type(<Node as StrictSchema>::SCHEMA, __INPUT);
///     impl Decode for Node where … { … }
///     impl IntoOutput for Node where for<'__a> Node: Serialize { … }
/// };
/// const _: () = <warn::VariantAlias<true>>::W;            // only if a rule warns
/// ```
pub(super) fn expand(decided: &Decided<'_>) -> TokenStream {
    let markers = impls::markers(decided);
    let aliases = schema::aliases(decided);
    let holds = decided.circles.impls(decided);
    let constants = schema::constants(decided);
    let strict_schema = impls::strict_schema(decided);
    let key = impls::key(decided);
    let checks = (!decided.is_generic()).then(|| checks::beside(decided));
    let read = read::of(decided);
    let output = impls::into_output(&decided.paths, decided.input);
    let json_schema = decided.json_schema.then(|| impls::json_schema(decided));
    let deprecated = is_deprecated(decided).then(|| quote!(#[allow(deprecated)]));
    let warnings = warnings(decided);
    quote! {
        #[doc(hidden)]
        #[allow(
            dead_code,
            non_camel_case_types,
            private_bounds,
            unused_imports,
            unused_qualifications,
            long_running_const_eval,
            clippy::absolute_paths,
            reason = "generated from names and types that the user chose"
        )]
        #deprecated
        const _: () = {
            #markers
            #aliases
            #holds
            #constants
            #strict_schema
            #key
            #read
            #checks
            #output
            #json_schema
        };
        #warnings
    }
}

/// Generates the warnings, which are outside of the block because the block's `allow` would silence them.
fn warnings(decided: &Decided<'_>) -> TokenStream {
    let mut out = TokenStream::new();
    // Warnings about arguments do not apply to a type that is only written.
    let input = (!decided.is_generic()).then(|| {
        let input = spans::is_input(&decided.paths, &decided.input.ident);
        quote!((#input) &&)
    });
    for warning in &decided.warnings {
        let rule = warning.rule;
        let (values, hit) = if rule.id == UNTAGGED.id {
            (UNTAGGED_VALUES, object_variants(decided))
        } else if rule.id == EXTERNAL_TAG.id {
            (EXTERNAL_TAG_VALUES, quote!(true))
        } else {
            out.extend(spans::warning(
                &decided.paths,
                &warning.place,
                rule.warn,
                quote!(#input true),
            ));
            continue;
        };
        // The suggested tag depends on the types in the variants.
        let (beside, around) = tags(decided);
        for (rule, holds) in [(rule, beside), (values, around)] {
            if let Some(holds) = holds {
                let hit = quote!(#input (#hit) && #holds);
                out.extend(spans::warning(
                    &decided.paths,
                    &warning.place,
                    rule.warn,
                    hit,
                ));
            }
        }
    }
    out
}

/// Returns the condition for a tag among the fields of each variant, and the condition for a tag with a
/// separate key for the value. `None` means that a condition is known to be false.
fn tags(decided: &Decided<'_>) -> (Option<TokenStream>, Option<TokenStream>) {
    let Shape::Union(_, branches) = &decided.shape else {
        return (Some(quote!(true)), None);
    };
    let has_value = branches
        .iter()
        .any(|branch| matches!(branch.payload, Payload::Value(_)));
    if !has_value {
        return (Some(quote!(true)), None);
    }
    if decided.is_generic() {
        return (None, Some(quote!(true)));
    }
    let private = decided.paths.private();
    let ident = &decided.input.ident;
    let holds = quote!(#private::warn::holds_a_value(<#ident as #private::StrictSchema>::SCHEMA));
    (Some(quote!(!#holds)), Some(holds))
}

/// Generates the condition that more than one variant is a record, so that only their keys distinguish these variants.
fn object_variants(decided: &Decided<'_>) -> TokenStream {
    let Shape::Union(_, branches) = &decided.shape else {
        return quote!(true);
    };
    let records = branches
        .iter()
        .filter(|branch| matches!(branch.payload, Payload::Record(_)))
        .count();
    if records > 1 || decided.is_generic() {
        return quote!(true);
    }
    let private = decided.paths.private();
    let ident = &decided.input.ident;
    quote!(#private::warn::has_records(<#ident as #private::StrictSchema>::SCHEMA))
}

fn is_deprecated(decided: &Decided<'_>) -> bool {
    let input = decided.input;
    let marked =
        |attrs: &[syn::Attribute]| attrs.iter().any(|attr| attr.path().is_ident("deprecated"));
    marked(&input.attrs)
        || match &input.data {
            Data::Struct(data) => data.fields.iter().any(|field| marked(&field.attrs)),
            Data::Enum(data) => data.variants.iter().any(|variant| {
                marked(&variant.attrs) || variant.fields.iter().any(|field| marked(&field.attrs))
            }),
            Data::Union(_) => false,
        }
}
