//! `#[derive(ToolError)]`: marks which errors of a type the model may read.

use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote, quote_spanned};
use strsim::levenshtein;
use syn::{Attribute, Data, DeriveInput, Ident};

use crate::errors::Errors;
use crate::paths::underlined;
use crate::words::paths_of;

/// The attribute for errors that the model may read.
const SHOWN: &str = "shown";

/// Adds the type to the list of error types that the model may read as a whole or in part. This is a list
/// because one blanket impl converts every error to `ToolError`, so a type cannot have its own impl.
pub(crate) fn derive(input: TokenStream) -> TokenStream {
    let input: DeriveInput = match syn::parse2(input) {
        Ok(input) => input,
        Err(error) => return error.into_compile_error(),
    };
    let errors = Errors::new();
    if is_misspelt(&input) {
        let _ = errors.finish();
        return TokenStream::new();
    }
    let shown = shown(&input, &errors);
    if let Err(told) = errors.finish() {
        return told;
    }
    let private = paths_of(&input.attrs).private();
    let name = &input.ident;
    let place = name.to_token_stream();
    let at = paths_of(&input.attrs).private_at(name.span());
    let ask = underlined(
        quote_spanned!(name.span()=> #at::asks::is_error::<#name>),
        &place,
    );
    let is_shown = match shown {
        Shown::Whole => quote!(true),
        Shown::Variants(variants) => {
            quote!(::core::matches!(__error, #(#name::#variants { .. })|*))
        }
    };
    quote! {
        const _: () = {
            fn __shown(
                __error: &(dyn #private::StdError + 'static),
            ) -> ::core::option::Option<::core::primitive::bool> {
                use #private::asks::NotAnError as _;
                let __error = #private::asks::ErrorOf::<#name>::of(__error)?;
                ::core::option::Option::Some(#is_shown)
            }
            const _: fn() = #ask;
            #[#private::linkme::distributed_slice(#private::SHOWN_ERRORS)]
            #[linkme(crate = #private::linkme)]
            static __TOOL_CORE_SHOWN: #private::ShownError = #private::ShownError::new(__shown);
        };
    }
}

/// Returns whether the type has a misspelt `#[shown]` and no correct `#[shown]`. rustc reports the misspelt attribute with a correction.
fn is_misspelt(input: &DeriveInput) -> bool {
    let Data::Enum(data) = &input.data else {
        return false;
    };
    let of_variants = data.variants.iter().flat_map(|variant| &variant.attrs);
    let mut misspelt = false;
    for attr in input.attrs.iter().chain(of_variants) {
        let word = attr.path().get_ident().map(ToString::to_string);
        let word = word.unwrap_or_default();
        match levenshtein(&word, SHOWN) {
            0 => return false,
            1 | 2 => misspelt = true,
            _ => {}
        }
    }
    misspelt
}

/// The part of a type that is visible to the model.
enum Shown<'a> {
    Whole,
    Variants(Vec<&'a Ident>),
}

fn shown<'a>(input: &'a DeriveInput, errors: &Errors) -> Shown<'a> {
    if !input.generics.params.is_empty() {
        errors.at(
            &input.generics,
            "a generic error type cannot be recognized where a call fails, write a type without parameters, or call `ToolError::shown` where the error is created",
        );
    }
    let whole = marked(&input.attrs, errors);
    let Data::Enum(data) = &input.data else {
        if !whole {
            errors.at(
                &input.ident,
                "nothing of this error is shown: write `#[shown]` above the type, or leave `ToolError` out of the derive",
            );
        }
        return Shown::Whole;
    };
    if whole {
        return Shown::Whole;
    }
    let variants: Vec<&Ident> = data
        .variants
        .iter()
        .filter(|variant| marked(&variant.attrs, errors))
        .map(|variant| &variant.ident)
        .collect();
    if variants.is_empty() {
        errors.at(
            &input.ident,
            "no error of this type is shown: write `#[shown]` above the variants that a model may read, or above the type for all of them",
        );
    }
    Shown::Variants(variants)
}

fn marked(attrs: &[Attribute], errors: &Errors) -> bool {
    let mut all = attrs.iter().filter(|attr| attr.path().is_ident(SHOWN));
    let Some(attr) = all.next() else {
        return false;
    };
    if attr.meta.require_path_only().is_err() {
        errors.at(
            attr.meta.to_token_stream(),
            "`#[shown]` takes no arguments: the model reads the text of `Display`",
        );
    }
    true
}
