//! Generated code for reading values, which `#[tool]` and `#[derive(StrictSchema)]` share.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Generics, parse_quote};

use crate::paths::Paths;

/// Generates `how(DecodeOf::<T>::ASKS, …)`, which decides how a type is read. The type must not have parameters.
pub(crate) fn how(paths: &Paths, ty: &impl ToTokens) -> TokenStream {
    let private = paths.private();
    quote! {
        #private::read::how(
            #private::asks::DecodeOf::<#ty>::ASKS,
            #private::asks::SerdeOf::<#ty>::IS,
            #private::asks::NodeOf::<#ty>::IS,
        )
    }
}

/// Generates serde's `Deserialize` of a type from its `Decode`.
pub(crate) fn deserialize(paths: &Paths, name: &impl ToTokens, generics: &Generics) -> TokenStream {
    let private = paths.private();
    let mut with_lifetime = generics.clone();
    with_lifetime.params.insert(0, parse_quote!('__de));
    let (_, ty_generics, where_clause) = generics.split_for_impl();
    let (impl_generics, ..) = with_lifetime.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #impl_generics #private::Deserialize<'__de> for #name #ty_generics #where_clause {
            fn deserialize<__From: #private::Deserializer<'__de>>(__from: __From) -> #private::Result<Self, __From::Error> {
                #private::read::deserialize(__from)
            }
        }
    }
}

/// Generates nested tuples, `(a, (b, (c, ())))`: one generic impl in tool-core supports every length.
pub(crate) fn nested(items: impl DoubleEndedIterator<Item = TokenStream>) -> TokenStream {
    items
        .rev()
        .fold(quote!(()), |rest, item| quote!((#item, #rest)))
}
