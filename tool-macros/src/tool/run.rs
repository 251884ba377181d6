//! `impl Tool`: from the typed arguments to the fn and back.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned as _;

use crate::tool::model::{Output, Param, Source, Tool};

/// ```text
/// impl Tool for search_docs {
///     fn run(self, cx: ToolContext, _: Pass) -> impl Future<Output = Result<Returned<Self::Output>, ToolError>> + Send {
///         async move {
///             <Result<Hits, ToolError> as IntoOutput>::into_returned(
///                 search_docs(&host(&cx, <DocIndex as FromContext>::from_context)?, self.query, self.limit).await
///             )
///         }
///     }
/// }
/// ```
///
/// Every bound is asked for by a path on the user's own type, so that rustc tells the same fault once.
pub(crate) fn run(tool: &Tool<'_>) -> TokenStream {
    let private = tool.paths.private();
    let name = &tool.written.ident;
    let arguments = tool.params.iter().map(|param| argument(tool, param));
    let call = quote!(#name(#(#arguments),*));
    let returned = returned(tool);
    let asks_host = tool.params.iter().any(|param| !param.is_sent());
    let (cx, body) = match (tool.written.asyncness.is_some(), asks_host) {
        (true, true) => (quote!(cx), quote!(#returned(#call.await))),
        (true, false) => (quote!(_), quote!(#returned(#call.await))),
        (false, false) => (
            quote!(cx),
            quote!(#private::blocking(&cx, move || #returned(#call)).await?),
        ),
        (false, true) => (
            quote!(cx),
            quote! {
                let of_work = #private::ToolContext::clone(&cx);
                #private::blocking(&of_work, move || #returned(#call)).await?
            },
        ),
    };
    let output = output_again(tool);
    // A body that is not `Send` is told at the fn's name.
    let future = quote_spanned!(name.span()=> async move);
    quote! {
        fn run(
            self,
            #cx: #private::ToolContext,
            _: #private::Pass,
        ) -> impl #private::Future<
            Output = ::core::result::Result<#private::Returned<#output>, #private::ToolError>,
        > + ::core::marker::Send + 'static {
            #future { #body }
        }
    }
}

/// `Self::Output` at the return type: where the type cannot be an output, rustc tells it there, and once.
pub(crate) fn output_again(tool: &Tool<'_>) -> TokenStream {
    match &tool.written.output {
        None => quote!(Self::Output),
        Some((_, ty)) => quote_spanned!(ty.span()=> Self::Output),
    }
}

/// `type Output`
pub(crate) fn output(tool: &Tool<'_>) -> TokenStream {
    let private = tool.paths.private();
    match &tool.output {
        Output::Unit => quote!(()),
        Output::Stream { item, .. } => quote!(<#item as #private::Item>::Final),
        Output::Type(ty) => quote!(<#ty as #private::IntoOutput>::Value),
    }
}

/// What makes the fn's value into the tool's.
fn returned(tool: &Tool<'_>) -> TokenStream {
    let private = tool.paths.private();
    match &tool.output {
        Output::Unit => quote!(<() as #private::IntoOutput>::into_returned),
        Output::Stream { whole, .. } => {
            let span = whole.span();
            let private = tool.paths.private_at(span);
            quote_spanned!(span=> #private::returned_stream)
        }
        Output::Type(ty) => quote!(<#ty as #private::IntoOutput>::into_returned),
    }
}

fn argument(tool: &Tool<'_>, param: &Param<'_>) -> TokenStream {
    let private = tool.paths.private();
    let ident = &param.named.ident;
    let ty = &param.named.ty;
    match &param.source {
        Source::Model(_) | Source::Args => quote!(self.#ident),
        Source::Borrowed(ty) => {
            quote!(&#private::host(&cx, <#ty as #private::FromContext>::from_context)?)
        }
        Source::Context => {
            quote!(#private::host(&cx, <#ty as #private::FromContext>::from_context)?)
        }
        Source::Secret(secret) => {
            let key = &secret.key;
            quote!(#private::secret(&cx, #key, <#ty as #private::FromSecret>::from_secret)?)
        }
        Source::Variable(variable) => {
            let name = &variable.name;
            quote!(#private::variable(&cx, #name, <#ty as #private::FromVariable>::from_variable)?)
        }
    }
}
