//! `impl Tool`: from the typed arguments to the fn and back.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens as _, quote};
use syn::Type;

use crate::paths::underlined;
use crate::tool::model::{Output, Param, Source, Tool};

/// ```text
/// impl Tool for search_docs {
///     fn run(self, __cx: ToolContext, _: Pass) -> impl Future<Output = Result<Returned<Self::Output>, ToolError>> + Send {
///         async move {
///             <Result<Hits, ToolError> as IntoOutput>::into_returned(
///                 search_docs(&host(&__cx, <DocIndex as FromContext>::from_context)?, self.query, self.limit).await
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
    let asks_host = tool.params.iter().any(|param| !param.is_sent());
    let (cx, body) = match (tool.written.asyncness.is_some(), asks_host) {
        (true, true) => (quote!(__cx), returned(tool, &quote!(#call.await))),
        (true, false) => (quote!(_), returned(tool, &quote!(#call.await))),
        (false, false) => {
            let returned = returned(tool, &call);
            (quote!(__cx), blocking(tool, &quote!(__cx), &returned))
        }
        (false, true) => {
            let returned = returned(tool, &call);
            let blocking = blocking(tool, &quote!(__of_work), &returned);
            let body = quote! {
                let __of_work = ::core::clone::Clone::clone(&__cx);
                #blocking
            };
            (quote!(__cx), body)
        }
    };
    let returned = future_of(tool);
    quote! {
        fn run(
            self,
            #cx: #private::ToolContext,
            _: #private::Pass,
        ) -> #returned {
            async move { #body }
        }
    }
}

/// `blocking(&cx, move || returned).await?`, underlined as the return type.
fn blocking(tool: &Tool<'_>, cx: &TokenStream, returned: &TokenStream) -> TokenStream {
    let private = tool.paths.private();
    let call = at_output(tool, quote!(#private::blocking(&#cx, move || #returned)));
    at_output(tool, quote!(#call.await?))
}

/// `impl Future<Output = …> + Send`. Where the return type cannot be an output, or the body is not `Send`, rustc tells it there
/// and not at the attribute; the same text at the same place is told once.
fn future_of(tool: &Tool<'_>) -> TokenStream {
    let private = tool.paths.private();
    let future = quote! {
        impl #private::Future<
            Output = ::core::result::Result<#private::Returned<Self::Output>, #private::ToolError>,
        > + 'static + ::core::marker::Send
    };
    at_output(tool, future)
}

/// Underlined as the return type, or as the fn's name where there is none.
pub(crate) fn at_output(tool: &Tool<'_>, tokens: TokenStream) -> TokenStream {
    underlined(tokens, &output_place(tool))
}

/// The return type, or the fn's name where there is none.
pub(crate) fn output_place(tool: &Tool<'_>) -> TokenStream {
    match &tool.output {
        Output::Unit => tool.written.ident.to_token_stream(),
        Output::Stream { item: ty } | Output::Type(ty) => ty.to_token_stream(),
    }
}

/// `type Output`
pub(crate) fn output(tool: &Tool<'_>) -> TokenStream {
    let private = tool.paths.private();
    match &tool.output {
        Output::Unit => quote!(()),
        Output::Stream { item } => projected(item, &quote!(#private::Item), "Final"),
        Output::Type(ty) => projected(ty, &quote!(#private::IntoOutput), "Value"),
    }
}

/// `<Type as Trait>::Name`, underlined as the type.
fn projected(ty: &Type, of: &TokenStream, name: &str) -> TokenStream {
    let name = Ident::new(name, Span::call_site());
    underlined(quote!(<#ty as #of>::#name), &ty.to_token_stream())
}

/// The fn's value as the tool's.
fn returned(tool: &Tool<'_>, call: &TokenStream) -> TokenStream {
    let private = tool.paths.private();
    let into = match &tool.output {
        Output::Unit => quote!(<() as #private::IntoOutput>::into_returned),
        Output::Stream { .. } => quote!(#private::returned_stream),
        Output::Type(ty) => quote!(<#ty as #private::IntoOutput>::into_returned),
    };
    let into = at_output(tool, into);
    let call = match &tool.output {
        Output::Stream { .. } => at_output(tool, call.clone()),
        Output::Unit | Output::Type(_) => call.clone(),
    };
    at_output(tool, quote!(#into(#call)))
}

fn argument(tool: &Tool<'_>, param: &Param<'_>) -> TokenStream {
    let private = tool.paths.private();
    let ident = &param.named.ident;
    let ty = &param.named.ty;
    match &param.source {
        Source::Model(_) | Source::Args => quote!(self.#ident),
        Source::Borrowed(ty) => {
            quote!(&#private::host(&__cx, <#ty as #private::FromContext>::from_context)?)
        }
        Source::Context => {
            quote!(#private::host(&__cx, <#ty as #private::FromContext>::from_context)?)
        }
        Source::Secret(secret) => {
            let key = &secret.key;
            quote!(#private::secret(&__cx, #key, <#ty as #private::FromSecret>::from_secret)?)
        }
        Source::Variable(variable) => {
            let name = &variable.name;
            quote!(#private::variable(&__cx, #name, <#ty as #private::FromVariable>::from_variable)?)
        }
    }
}
