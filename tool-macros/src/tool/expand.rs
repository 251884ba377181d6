//! Expansion of `#[tool]`: the fn, the struct of its arguments, and one `const _` with the rest.

mod checks;
mod definition;
pub(super) mod input;
mod needs;
mod run;

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens as _, quote};

use crate::paths::{ends, respan, underlined};
use crate::tool::model::{Decided, Output, Param};

/// Expands a checked tool; this cannot fail.
pub(super) fn expand(tool: &Decided<'_>) -> TokenStream {
    let function = &tool.item;
    let allowed = &tool.allowed;
    let aliases = definition::aliases(tool);
    let impls = input::impls(tool);
    let schema = definition::schema(tool);
    let spec = definition::spec(tool);
    let checks = checks::all(tool);
    let warnings = checks::warnings(tool);
    let implementation = implementation(tool);
    // The user's `#[allow(…)]` attributes on the fn also apply to the generated code, but not to the warnings.
    let deprecated = tool.is_deprecated.then(|| quote!(deprecated,));
    let private = tool.paths.private();
    let rest = quote! {
        #[allow(long_running_const_eval, non_local_definitions)]
        const _: () = {
            #(#allowed)*
            #[allow(#deprecated dead_code, unused_imports, unused_qualifications, clippy::unused_unit)]
            const _: () = {
                use #private::NoPredicate as _;
                use #private::asks::{
                    NoDecode as _, NoField as _, NoHost as _, NoParts as _, NoNode as _, NoReturn as _, NoSecret as _, NoSerde as _, NoStart as _,
                    NoStream as _, NoVariable as _, NotAsked as _,
                };
                #aliases
                #schema
                #spec
                #impls
                #implementation
                #checks
            };
            #warnings
        };
    };
    let item = input::item(tool, &rest);
    // The fn comes first, because editors would otherwise treat its name as the name of the struct. The `allow` silences lints about
    // code that a tool requires.
    quote! {
        #[allow(
            clippy::fn_params_excessive_bools,
            clippy::missing_const_for_fn,
            clippy::missing_errors_doc,
            clippy::must_use_candidate,
            clippy::needless_pass_by_value,
            clippy::too_many_arguments,
            clippy::unnecessary_wraps,
            clippy::unused_async
        )]
        #function
        #(#allowed)*
        #item
    }
}

/// Generates `impl Tool for search_docs`, and its entry in the list of linked tools.
fn implementation(tool: &Decided<'_>) -> TokenStream {
    let private = tool.paths.private();
    let input = &tool.input;
    let name = &tool.name;
    let output = run::output(tool);
    let output = run::at_output(tool, quote!(type Output = #output;));
    let sent = checks::sent(tool).map(Param::alias);
    let def = definition::definition(tool);
    let run = run::run(tool);
    // If the fn of `to_model_output` has the wrong parameter type, rustc reports it at the path of the fn.
    let value = Ident::new(
        "__output",
        tool.facts
            .to_model_output
            .map_or_else(Span::call_site, syn::spanned::Spanned::span),
    );
    let model_view = match tool.facts.to_model_output {
        Some(path) => {
            // rustc reports a wrong return type at the path, too.
            let place = path.to_token_stream();
            let mut arguments = Group::new(Delimiter::Parenthesis, value.to_token_stream());
            arguments.set_span(ends(&place).1);
            let view = respan(quote!(#private::ModelOutput), ends(&place).0);
            let view = underlined(view, &place);
            quote! {
                {
                    let __view: #view = #path #arguments;
                    ::core::option::Option::Some(__view)
                }
            }
        }
        None => {
            quote!({ use #private::probe::WholeView as _; #private::probe::ModelView(#value).get() })
        }
    };
    let shown = run::at_output(tool, quote!(&Self::Output));
    // Code that depends on the return type has the spans of that type, so that rustc reports an invalid output type only once.
    let view = quote! {
        fn model_view(#value: #shown) -> ::core::option::Option<#private::ModelOutput>
    };
    let view = run::at_output(tool, view);
    let view = run::at_output(tool, quote!(#view { #model_view }));
    let stored = stored_output(tool);
    quote! {
        static __TOOL_CORE_DEF: #private::StaticDef = #def;
        impl #private::Returns for #input {
            #output
        }
        impl #private::Tool for #input
        where
            #(for<'__a> #sent: ::core::marker::Send,)*
        {
            const NAME: &'static ::core::primitive::str = #name;
            const DEF: #private::ToolDef = #private::ToolDef::linked(&__TOOL_CORE_DEF);
            const EFFECT: #private::Effect = __TOOL_CORE_DEF.effect;
            type Output = <#input as #private::Returns>::Output;
            #run
            #view
            fn to_arguments(&self) -> ::core::option::Option<#private::String> {
                use #private::probe::Unwritten as _;
                #private::probe::Arguments(self).get()
            }
            #stored
        }
        #[#private::linkme::distributed_slice(#private::TOOLS)]
        #[linkme(crate = #private::linkme)]
        static __TOOL_CORE_LINK: #private::Link = #private::Link::new(#private::ToolDef::linked(&__TOOL_CORE_DEF));
    }
}

/// Generates `fn stored_output`, which reads an output if its type has `Deserialize`.
///
/// A type that borrows, such as `&'static str`, implements `Deserialize` for its own lifetime only: rustc
/// would choose this impl and then refuse it. Such a type uses the trait's default, which reads nothing.
fn stored_output(tool: &Decided<'_>) -> TokenStream {
    let output = match &tool.output {
        Output::Unit => TokenStream::new(),
        Output::Stream { item: ty } | Output::Type(ty) => ty.to_token_stream(),
    };
    if borrows(output) {
        return TokenStream::new();
    }
    let private = tool.paths.private();
    // The code has the spans of the return type, so that rustc reports an invalid output type only once.
    let read = run::at_output(
        tool,
        quote!(#private::probe::StoredOutput::<Self::Output>::NEW),
    );
    let value = run::at_output(tool, quote!(#private::serde_json::Result<Self::Output>));
    let value = run::at_output(tool, quote!(::core::option::Option<#value>));
    let head = run::at_output(
        tool,
        quote!(fn stored_output(__text: &::core::primitive::str) -> #value),
    );
    let body = run::at_output(
        tool,
        quote!({ use #private::probe::Unread as _; #read.read(__text) }),
    );
    let read = run::at_output(tool, quote!(#head #body));
    quote! {
        // Compiled only if a program calls the tool with typed arguments.
        #[inline]
        #read
    }
}

/// Returns whether a type contains a reference.
fn borrows(ty: TokenStream) -> bool {
    ty.into_iter().any(|token| match token {
        TokenTree::Punct(punct) => punct.as_char() == '&',
        TokenTree::Group(group) => borrows(group.stream()),
        TokenTree::Ident(_) | TokenTree::Literal(_) => false,
    })
}
