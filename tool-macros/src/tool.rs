//! `#[tool]`: `parse → model → check → expand`. Before them, `split` handles parameters
//! with `#[cfg]`; after an error, `fallback` replaces `expand`.

use proc_macro2::TokenStream;

use crate::errors::Errors;
use crate::texts::tool as texts;

mod check;
mod expand;
mod fallback;
mod model;
mod parse;

/// Expands `#[tool(attr)] item`.
pub(crate) fn expand(attr: TokenStream, item: TokenStream) -> TokenStream {
    let errors = Errors::new();
    let Some(written) = parse::function::parse(item.clone(), &errors) else {
        return fallback::of_tokens(&attr, item, errors);
    };
    if let Some(both) = parse::split::on_cfg(&attr, &written) {
        // Errors are reported when the remaining half is expanded.
        drop(errors.finish());
        return both;
    }
    let options = parse::options::Options::parse(attr, &errors);
    let tool = model::Tool::decide(&written, &options, &errors);
    match errors.finish() {
        Ok(()) => expand::tool(&tool),
        Err(errors) => fallback::of_tool(&tool, &errors),
    }
}
