//! `#[derive(StrictSchema)]`: parse → check → expand, with a stub where check finds errors.

mod check;
mod expand;
mod fallback;
mod model;
mod parse;

use proc_macro2::TokenStream;
use syn::DeriveInput;

use crate::errors::Errors;

pub(crate) fn derive(input: TokenStream) -> TokenStream {
    let input: DeriveInput = match syn::parse2(input) {
        Ok(input) => input,
        Err(error) => return error.into_compile_error(),
    };
    let errors = Errors::new();
    let written = parse::parse(&input, &errors);
    let decided = check::check(written, &errors);
    match (errors.finish(), decided) {
        (Ok(()), Some(decided)) => expand::expand(&decided),
        (told, _) => fallback::fallback(&input, told.err()),
    }
}
