//! `#[tool]`: parse → check → expand, or a fallback after an error.

mod check;
mod expand;
mod facts;
mod fallback;
mod model;
mod parse;

use proc_macro2::TokenStream;

use crate::errors::Errors;
use crate::texts::tool as texts;
use crate::tool::parse::Parsed;

/// Expands the attribute `#[tool(attr)]` on an item.
pub(crate) fn expand(attr: TokenStream, item: TokenStream) -> TokenStream {
    let errors = Errors::new();
    let written = match parse::parse(attr.clone(), item.clone(), &errors) {
        Parsed::Tool(written) => written,
        Parsed::Both(both) => {
            // Errors are reported when rustc expands the remaining variant.
            drop(errors.finish());
            return both;
        }
        Parsed::Faulty => return fallback::of_tokens(attr, item, errors),
    };
    let decided = check::check(&written, &errors);
    match errors.finish() {
        Ok(()) => expand::expand(&decided),
        Err(told) => fallback::of_tool(&written.function, &decided, &told),
    }
}
