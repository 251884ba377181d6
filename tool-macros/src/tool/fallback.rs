//! Expansion of a tool with an error. It contains:
//!
//! - the errors,
//! - the fn, if its header can be parsed, so that editors still complete and check its body. If rustc would report an error of the fn again, the fn
//!   is replaced by one with the same name and parameters,
//! - a tool that is never called, so that `use tools::search_docs` and `toolset![search_docs]` cause no errors. It is left out if the fn has no name,
//!   or if `self` or `Self` shows that the fn is in an `impl` or a `trait`.

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use quote::quote;

use crate::errors::Errors;
use crate::paths::Paths;
use crate::tool::check::generator;
use crate::tool::expand::input;
use crate::tool::model::Decided;
use crate::tool::parse::function::Function;
use crate::tool::parse::options::Options;

/// Expands an item whose header cannot be parsed.
pub(super) fn of_tokens(attr: TokenStream, item: TokenStream, errors: Errors) -> TokenStream {
    let errors = errors.finish().err();
    let paths = Options::paths_of(attr);
    let stand_in = stand_in_for(&paths, item);
    quote!(#stand_in #errors)
}

/// Expands a fn that cannot be a tool.
pub(super) fn of_tool(
    function: &Function,
    tool: &Decided<'_>,
    errors: &TokenStream,
) -> TokenStream {
    if function.is_associated() {
        // Structs are not allowed in an `impl`.
        return quote!(#function #errors);
    }
    let is_generic = !function.generics.params.is_empty();
    let rest = impls(&tool.paths, &tool.input);
    let input = if is_generic {
        let (vis, input) = (&function.vis, &tool.input);
        struct_of(&tool.paths, vis, input, &rest)
    } else {
        input::item(tool, &rest)
    };
    let item = if tool.is_broken {
        // For such a fn, rustc would report the syntax error or the invalid output type again.
        let (vis, asyncness, ident) = (&function.vis, &function.asyncness, &function.ident);
        let params = function.named();
        let params = params.map(|named| {
            let (ident, ty) = (&named.ident, &named.ty);
            quote!(#ident: #ty)
        });
        quote! {
            #[allow(warnings, clippy::all, clippy::pedantic)]
            #vis #asyncness fn #ident(#(#params),*) -> ! {
                ::core::unreachable!()
            }
        }
    } else {
        generator::without_captures(tool, function)
    };
    quote!(#item #input #errors)
}

/// Generates the struct and its impls. Returns `None` for a method, and for a fn whose name cannot be found.
fn stand_in_for(paths: &Paths, item: TokenStream) -> Option<TokenStream> {
    let mut vis = TokenStream::new();
    let mut tokens = item.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match &token {
            TokenTree::Punct(punct) if punct.as_char() == '#' => {
                tokens.next();
            }
            TokenTree::Ident(word) if word == "fn" => break,
            TokenTree::Ident(word) if word == "pub" => {
                vis.extend([token]);
                let path = tokens.next_if(|token| {
                    matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis)
                });
                vis.extend(path);
            }
            _ => {}
        }
    }
    let Some(TokenTree::Ident(name)) = tokens.next() else {
        return None;
    };
    let is_method = tokens.any(|token| match token {
        TokenTree::Group(group) => group
            .stream()
            .into_iter()
            .take(4)
            .any(|token| matches!(token, TokenTree::Ident(word) if word == "self")),
        _ => false,
    });
    if is_method {
        return None;
    }
    let rest = impls(paths, &name);
    Some(struct_of(paths, &vis, &name, &rest))
}

fn struct_of(
    paths: &Paths,
    vis: &impl quote::ToTokens,
    name: &Ident,
    rest: &TokenStream,
) -> TokenStream {
    let private = paths.private();
    quote! {
        #[doc(hidden)]
        #[allow(non_camel_case_types, dead_code)]
        #[#private::beside(#rest)]
        #vis struct #name {}
    }
}

/// Generates `impl HasSpec` and `impl Tool` for a tool that is never called.
fn impls(paths: &Paths, name: &Ident) -> TokenStream {
    let private = paths.private();
    quote! {
        #[doc(hidden)]
        const _: () = {
            impl #private::HasSpec for #name {
                const SPEC: &'static #private::Spec = &#private::FAULTY_SPEC;
            }
            impl #private::Tool for #name
            where
                for<'__a> #name: ::core::marker::Send,
            {
                const NAME: &'static ::core::primitive::str = "";
                const DEF: #private::ToolDef = #private::FAULTY_DEF;
                const EFFECT: #private::Effect = #private::Effect::NONE;
                type Output = ();
                fn run(
                    self,
                    _: #private::ToolContext,
                    _: #private::Pass,
                ) -> impl #private::Future<
                    Output = ::core::result::Result<#private::Returned<()>, #private::ToolError>,
                > + 'static + ::core::marker::Send {
                    #private::faulty_run()
                }
            }
        };
    }
}
