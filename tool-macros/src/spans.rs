//! Checks in const evaluation whose errors underline the user's tokens.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};

use crate::paths::{Paths, ends};

/// Generates `const _: () = ::tool_core::__private0::check(arguments);`, which underlines all of `place` when it panics.
///
/// The call starts with a token at the first span and ends with a parenthesis at the last: rustc computes the span of
/// an expression from these two tokens.
pub(crate) fn check(
    paths: &Paths,
    place: &impl ToTokens,
    check: &str,
    arguments: TokenStream,
) -> TokenStream {
    let call = call(paths, place, check, arguments);
    let (first, _) = ends(&place.to_token_stream());
    // A tree of a few thousand nodes exceeds the lint's threshold.
    quote_spanned!(first=> #[allow(long_running_const_eval)] const _: () = #call;)
}

/// Generates `::tool_core::__private0::check(arguments)` as an expression.
pub(crate) fn call(
    paths: &Paths,
    place: &impl ToTokens,
    check: &str,
    arguments: TokenStream,
) -> TokenStream {
    let (first, last) = ends(&place.to_token_stream());
    let private = paths.private_at(first);
    let check = Ident::new(check, first);
    let mut arguments = Group::new(Delimiter::Parenthesis, arguments);
    arguments.set_span(last);
    let mut out = quote_spanned!(first=> #private::#check);
    out.extend([TokenTree::Group(arguments)]);
    out
}

/// Generates the schema of a type as an `Option`, which is `None` for a type without a schema. The type must not have parameters.
pub(crate) fn schema_of(paths: &Paths, ty: &impl ToTokens) -> TokenStream {
    let private = paths.private();
    quote! {
        {
            #[allow(unused_imports)]
            use #private::probe::NoTypeSchema as _;
            <#private::probe::TypeSchema::<#ty>>::SCHEMA
        }
    }
}

/// Generates an expression that is true if a model may fill in a type: the type is read, or is neither read nor written. The type must not have
/// parameters.
pub(crate) fn is_input(paths: &Paths, ty: &impl ToTokens) -> TokenStream {
    let private = paths.private();
    quote! {
        {
            #[allow(unused_imports)]
            use #private::probe::NotSerde as _;
            <#private::probe::Serde::<#ty>>::READ || !<#private::probe::Serde::<#ty>>::WRITTEN
        }
    }
}

/// Generates a warning with the rule's text at `place`: a constant that is deprecated if the condition is true.
pub(crate) fn warning(
    paths: &Paths,
    place: &impl ToTokens,
    rule: &str,
    hit: TokenStream,
) -> TokenStream {
    let (first, last) = ends(&place.to_token_stream());
    let private = paths.private_at(first);
    let rule = Ident::new(rule, first);
    let name = Ident::new("W", last);
    let hit = TokenTree::Group(Group::new(Delimiter::Brace, hit));
    quote_spanned!(first=> const _: () = <#private::warn::#rule<#hit>>::#name;)
}
