//! What is left of a tool with an error: the fn as it stands, so that its body goes on being completed and checked, the errors,
//! and the struct of its arguments, so that `use tools::search_docs` goes on resolving.

use proc_macro2::TokenStream;
use quote::quote;

use crate::errors::Errors;
use crate::tool::input;
use crate::tool::model::Tool;
use crate::tool::parse::{self, Param};

/// Where the header cannot be read.
pub(crate) fn of_tokens(item: TokenStream, errors: Errors) -> TokenStream {
    let item = parse::without_param_attributes(item);
    let errors = errors.finish().err().map(|error| error.to_compile_error());
    quote!(#item #errors)
}

/// Where the fn cannot be a tool as it stands.
pub(crate) fn of_tool(tool: &Tool<'_>, error: &syn::Error) -> TokenStream {
    let written = tool.written;
    let errors = error.to_compile_error();
    // A fn with a receiver stands in an `impl`, where no struct may stand.
    let in_impl = written.params.iter().any(|param| match param {
        Param::Other(tokens) => tokens.to_string().contains("self"),
        Param::Named(_) => false,
    });
    let input = (!in_impl && written.generics.params.is_empty()).then(|| input::item(tool));
    quote!(#written #input #errors)
}
