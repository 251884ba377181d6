//! Expansion after an error: the type still has a schema, so that its uses cause no further errors.

use proc_macro2::{TokenStream, TokenTree};
use quote::quote;
use syn::DeriveInput;

use crate::derive::expand::impls;
use crate::words::paths_of;

/// Expands a type that cannot be parsed, if its name can be found and it has no parameters. If `error` is `None`, rustc has reported an error, and
/// serde's derives have failed too.
pub(super) fn of_tokens(item: TokenStream, error: Option<TokenStream>) -> TokenStream {
    let is_half_typed = error.is_none();
    let mut tokens = item.into_iter().skip_while(|token| {
        !matches!(token, TokenTree::Ident(word) if word == "struct" || word == "enum" || word == "union")
    });
    let Some(TokenTree::Ident(name)) = tokens.nth(1) else {
        return error.unwrap_or_default();
    };
    let is_generic =
        matches!(tokens.next(), Some(TokenTree::Punct(punct)) if punct.as_char() == '<');
    if is_generic {
        return error.unwrap_or_default();
    }
    match syn::parse2(quote!(struct #name;)) {
        Ok(input) => {
            let unread = is_half_typed.then(|| serde_impls(&input));
            let stub = fallback(&input, error.as_ref());
            quote!(#stub #unread)
        }
        Err(_) => error.unwrap_or_default(),
    }
}

/// Generates the impls that serde's derives would have written, so that uses of the type cause no errors.
fn serde_impls(input: &DeriveInput) -> TokenStream {
    let private = paths_of(&input.attrs).private();
    let ident = &input.ident;
    quote! {
        #[doc(hidden)]
        const _: () = {
            #[automatically_derived]
            impl<'de> #private::Deserialize<'de> for #ident {
                fn deserialize<__From: #private::Deserializer<'de>>(_: __From) -> ::core::result::Result<Self, __From::Error> {
                    ::core::unreachable!()
                }
            }
            #[automatically_derived]
            impl #private::Serialize for #ident {
                fn serialize<__To: #private::Serializer>(&self, _: __To) -> ::core::result::Result<__To::Ok, __To::Error> {
                    ::core::unreachable!()
                }
            }
        };
    }
}

pub(super) fn fallback(input: &DeriveInput, error: Option<&TokenStream>) -> TokenStream {
    let paths = paths_of(&input.attrs);
    let private = paths.private();
    let output = impls::into_output(&paths, input);
    let ident = &input.ident;
    let (impl_generics, ty_generics, where_clause) = input.generics.split_for_impl();
    quote! {
        #error
        #[doc(hidden)]
        const _: () = {
            #[automatically_derived]
            impl #impl_generics #private::StrictSchema for #ident #ty_generics #where_clause {
                const SCHEMA: &'static #private::Schema = #private::REPORTED;
            }
            #[automatically_derived]
            impl #impl_generics #private::read::Decode for #ident #ty_generics #where_clause {
                fn decode(__reader: &mut #private::read::Reader<'_>, _: #private::read::Node<'_>) -> #private::Result<Self, #private::read::Unfit> {
                    __reader.none()
                }
            }
            #output
        };
    }
}
