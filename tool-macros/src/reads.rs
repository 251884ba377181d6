//! What both macros write about reading a value.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};

use crate::paths::Paths;

/// `how(DecodeOf::<T>::ASKS, …)`: by what a type is read. Only for types without parameters.
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

/// `(a, (b, (c, ())))`: one generic impl in the core crate serves every length.
pub(crate) fn nested(items: impl DoubleEndedIterator<Item = TokenStream>) -> TokenStream {
    items
        .rev()
        .fold(quote!(()), |rest, item| quote!((#item, #rest)))
}
