//! Generation of `Tool::run`, which calls the fn with the typed arguments and converts its output.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens as _, format_ident, quote, quote_spanned};

use crate::paths::{ends, respan, underlined};
use crate::tool::expand::input;
use crate::tool::model::{Decided, Output, Param, Source};

/// Generates `Tool::run`, here for an async fn, with shortened paths:
///
/// ```text
/// fn run(self, __cx: ToolContext, _: Pass) -> impl Future<Output = Result<Returned<Self::Output>, ToolError>> + 'static + Send {
///     async move {
///         ReturnOf::<__Out>::into_returned(
///             search_docs(&host(&__cx, <DocIndex as FromContext>::from_context)?, self.query, self.limit).await
///         )
///     }
/// }
/// ```
///
/// Each bound is required at a path that has the span of the user's type, so that rustc reports a fault only once.
pub(crate) fn run(tool: &Decided<'_>) -> TokenStream {
    let private = tool.paths.private();
    let name = tool.ident;
    let arguments = tool.params.iter().map(|param| argument(tool, param));
    let call = quote!(#name(#(#arguments),*));
    let asks_host = tool.params.iter().any(|param| !param.is_sent());
    let (cx, body) = match (tool.is_async, asks_host) {
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
    // Clippy would report a user's fn that returns `()` as a mistake.
    quote! {
        #[allow(clippy::unit_arg)]
        fn run(
            self,
            #cx: #private::ToolContext,
            _: #private::Pass,
        ) -> #returned {
            async move { #body }
        }
    }
}

/// Generates `blocking(&cx, move || returned).await?` with the span that [`at_output`] gives.
fn blocking(tool: &Decided<'_>, cx: &TokenStream, returned: &TokenStream) -> TokenStream {
    let private = tool.paths.private();
    let call = at_output(tool, quote!(#private::blocking(&#cx, move || #returned)));
    at_output(tool, quote!(#call.await?))
}

/// Generates `impl Future<Output = …> + Send` with the span of the return type, so that rustc reports an invalid output type, or a body that is not
/// `Send`, there and not at the attribute. rustc reports equal errors at the same place only once.
fn future_of(tool: &Decided<'_>) -> TokenStream {
    let private = tool.paths.private();
    let future = quote! {
        impl #private::Future<
            Output = ::core::result::Result<#private::Returned<Self::Output>, #private::ToolError>,
        > + 'static + ::core::marker::Send
    };
    at_output(tool, future)
}

/// Gives the tokens the span of the return type, or of the fn's name if there is no return type.
pub(crate) fn at_output(tool: &Decided<'_>, tokens: TokenStream) -> TokenStream {
    underlined(tokens, &output_place(tool))
}

/// Returns the tokens of the return type, or the fn's name if there is no return type.
pub(crate) fn output_place(tool: &Decided<'_>) -> TokenStream {
    match &tool.output {
        Output::Unit => tool.ident.to_token_stream(),
        Output::Stream { item: ty } | Output::Type(ty) => ty.to_token_stream(),
    }
}

/// Generates `<Type as IntoOutput>::Value`, which is `()` for a type that a tool cannot return.
pub(crate) fn output(tool: &Decided<'_>) -> TokenStream {
    let private = tool.paths.private();
    let whole = match &tool.output {
        Output::Unit => return quote!(()),
        Output::Stream { .. } => quote!(#private::StreamOf<__Out>),
        Output::Type(_) => quote!(__Out),
    };
    quote!(<#private::asks::Picked<{ #private::asks::ReturnOf::<#whole>::IS }, #whole> as #private::asks::Pick>::Value)
}

/// Generates the check that a tool can return the type, with the span of the type.
pub(crate) fn asks_output(tool: &Decided<'_>) -> Option<TokenStream> {
    let private = tool.paths.private();
    let place = match &tool.output {
        Output::Unit => return None,
        Output::Stream { item: ty } | Output::Type(ty) => ty.to_token_stream(),
    };
    let at = Span::call_site().located_at(ends(&place).0);
    let private = respan(private, at);
    let asked = input::asked(tool, &format_ident!("__Out"), &place);
    let whole = match &tool.output {
        Output::Stream { .. } => underlined(
            quote_spanned!(at=> <#asked as #private::asks::Streamed>::Type),
            &place,
        ),
        _ => asked,
    };
    let ask = underlined(
        quote_spanned!(at=> #private::asks::can_return::<#whole>),
        &place,
    );
    Some(quote!(const _: fn() = #ask;))
}

/// Generates the conversion of the fn's value to the tool's output.
fn returned(tool: &Decided<'_>, call: &TokenStream) -> TokenStream {
    let private = tool.paths.private();
    let into = match &tool.output {
        Output::Unit => quote!(<() as #private::IntoOutput>::into_returned),
        Output::Stream { .. } => quote!(#private::StreamOf::<__Out>::into_returned),
        Output::Type(_) => quote!(#private::asks::ReturnOf::<__Out>::into_returned),
    };
    let into = at_output(tool, into);
    let call = match &tool.output {
        Output::Stream { .. } => at_output(tool, call.clone()),
        Output::Unit | Output::Type(_) => call.clone(),
    };
    at_output(tool, quote!(#into(#call)))
}

fn argument(tool: &Decided<'_>, param: &Param<'_>) -> TokenStream {
    let private = tool.paths.private();
    let ident = param.ident;
    let ty = param.ty;
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
