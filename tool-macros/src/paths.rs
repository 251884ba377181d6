//! Absolute paths into tool-core for generated code.

use proc_macro2::{Delimiter, Group, Ident, Spacing, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use syn::parse::ParseStream;
use syn::{LitStr, Path, Token};

/// The path of tool-core in generated code: `::tool_core`, or the value of `crate = path`.
#[derive(Clone, Default)]
pub(crate) struct Paths {
    krate: Option<Path>,
}

impl Paths {
    /// Parses `= path` (or serde's spelling `= "path"`) after the option `crate`.
    pub(crate) fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        input.parse::<Token![=]>()?;
        let krate = if input.peek(LitStr) {
            input.parse::<LitStr>()?.parse_with(Path::parse_mod_style)?
        } else {
            input.call(Path::parse_mod_style)?
        };
        Ok(Self { krate: Some(krate) })
    }

    /// Generates `::tool_core::__privateN`, where `N` is the patch version.
    pub(crate) fn private(&self) -> TokenStream {
        let private = private(Span::call_site());
        match &self.krate {
            None => quote!(::tool_core::#private),
            Some(krate) => quote!(#krate::#private),
        }
    }

    /// Generates the path of [`Paths::private`]; every token has the span `span`.
    pub(crate) fn private_at(&self, span: Span) -> TokenStream {
        let private = private(span);
        match &self.krate {
            None => quote_spanned!(span=> ::tool_core::#private),
            Some(krate) => respan(quote!(#krate::#private), span),
        }
    }
}

/// Generates the name of the module of tool-core that generated code uses. The name contains the patch version, so that code of one version does not
/// compile with the crate of another version.
pub(crate) fn private(span: Span) -> Ident {
    Ident::new(concat!("__private", env!("CARGO_PKG_VERSION_PATCH")), span)
}

/// Moves all tokens to a different span.
pub(crate) fn respan(tokens: TokenStream, span: Span) -> TokenStream {
    tokens
        .into_iter()
        .map(|token| match token {
            TokenTree::Group(group) => {
                let mut moved = Group::new(group.delimiter(), respan(group.stream(), span));
                moved.set_span(span);
                TokenTree::Group(moved)
            }
            mut other => {
                other.set_span(span);
                other
            }
        })
        .collect()
}

/// Sets the spans of the first and the last token to the ends of `place`, so that rustc underlines all of `place`.
pub(crate) fn underlined(tokens: TokenStream, place: &TokenStream) -> TokenStream {
    let (first, last) = ends(place);
    let mut tokens: Vec<TokenTree> = tokens.into_iter().collect();
    if let Some(token) = tokens.last_mut() {
        token.set_span(last);
    }
    for token in &mut tokens {
        token.set_span(first);
        // `::` is two tokens here but one for rustc.
        if !matches!(token, TokenTree::Punct(punct) if punct.spacing() == Spacing::Joint) {
            break;
        }
    }
    tokens.into_iter().collect()
}

/// Returns the first and last span in `tokens`. An expression whose first and last tokens have
/// these spans is underlined from one to the other; `Span::join` does that on nightly only.
pub(crate) fn ends(tokens: &TokenStream) -> (Span, Span) {
    let mut all = tokens.clone().into_iter();
    let Some(first) = all.next() else {
        return (Span::call_site(), Span::call_site());
    };
    let last = all.last();
    let (from, to) = ends_of(&first);
    (from, last.map_or(to, |last| ends_of(&last).1))
}

/// Returns the spans of one token. For a `$ty:ty` of `macro_rules!` these are the spans of its content, which the user wrote at the call.
fn ends_of(token: &TokenTree) -> (Span, Span) {
    match token {
        TokenTree::Group(group)
            if group.delimiter() == Delimiter::None && !group.stream().is_empty() =>
        {
            ends(&group.stream())
        }
        token => (token.span(), token.span()),
    }
}
