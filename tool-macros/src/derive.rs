//! `#[derive(StrictSchema)]`: parse → check → expand, or a fallback after an error.

mod check;
mod circle;
mod expand;
mod fallback;
mod model;
mod parse;

use proc_macro2::TokenStream;
use syn::DeriveInput;

use crate::errors::Errors;
use crate::half::is_half_typed_item;

pub(crate) fn derive(item: TokenStream) -> TokenStream {
    let input: DeriveInput = match syn::parse2(item.clone()) {
        Ok(input) => input,
        Err(error) => {
            let reported = is_half_typed_item(item.clone());
            let error = (!reported).then(|| error.into_compile_error());
            return fallback::of_tokens(item, error);
        }
    };
    let errors = Errors::new();
    let written = parse::parse(&input, &errors);
    let decided = check::check(written, &errors);
    match (errors.finish(), decided) {
        (Ok(()), Some(decided)) => expand::expand(&decided),
        (told, _) => fallback::fallback(&input, told.err().as_ref()),
    }
}
