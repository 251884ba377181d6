//! After an error the type still has a schema, so that the user reads one error and not one more per use.

use proc_macro2::TokenStream;
use quote::quote;
use syn::DeriveInput;
use syn::ext::IdentExt;

use crate::derive::expand::impls;
use crate::paths::Paths;

pub(super) fn fallback(input: &DeriveInput, error: Option<syn::Error>) -> TokenStream {
    let error = error.map(syn::Error::into_compile_error);
    let paths = Paths::of(&input.attrs);
    let private = paths.private();
    let output = impls::into_output(&paths, input);
    let ident = &input.ident;
    let name = ident.unraw().to_string();
    let (impl_generics, ty_generics, where_clause) = input.generics.split_for_impl();
    quote! {
        #error
        #[doc(hidden)]
        const _: () = {
            #[automatically_derived]
            impl #impl_generics #private::StrictSchema for #ident #ty_generics #where_clause {
                const SCHEMA: &'static #private::Schema =
                    &#private::Schema::new(#private::Kind::Object(&[])).named(#name).checked();
            }
            #output
        };
    }
}
