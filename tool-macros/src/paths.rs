//! Absolute paths into the core crate.

use proc_macro2::{Delimiter, Group, Spacing, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use syn::parse::ParseStream;
use syn::{Attribute, LitStr, Path, Token};

use crate::errors::Errors;
use crate::words;

/// Where generated code finds the core crate: `::tool_core`, or what `crate = path` says.
#[derive(Clone, Default)]
pub(crate) struct Paths {
    krate: Option<Path>,
}

impl Paths {
    /// Parses `= path` (or serde's spelling `= "path"`) after the word `crate`.
    pub(crate) fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        input.parse::<Token![=]>()?;
        let krate = if input.peek(LitStr) {
            input.parse::<LitStr>()?.parse_with(Path::parse_mod_style)?
        } else {
            input.call(Path::parse_mod_style)?
        };
        Ok(Self { krate: Some(krate) })
    }

    /// Finds `#[schema(crate = path)]` where the attribute may hold errors besides.
    pub(crate) fn of(attrs: &[Attribute]) -> Self {
        let quiet = Errors::new();
        let mut paths = Self::default();
        for attr in attrs.iter().filter(|attr| attr.path().is_ident("schema")) {
            words::of_attribute(attr, &quiet, |word, input| {
                if word == "crate" {
                    paths = Self::parse(input)?;
                }
                Ok(())
            });
        }
        let _ = quiet.finish();
        paths
    }

    /// `::tool_core::private`
    pub(crate) fn private(&self) -> TokenStream {
        match &self.krate {
            None => quote!(::tool_core::private),
            Some(krate) => quote!(#krate::private),
        }
    }

    /// `::tool_core::private`, every token at `span`.
    pub(crate) fn private_at(&self, span: Span) -> TokenStream {
        match &self.krate {
            None => quote_spanned!(span=> ::tool_core::private),
            Some(krate) => respan(quote!(#krate::private), span),
        }
    }
}

/// The same tokens at another place.
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

/// The tokens, underlined as all of `place` where rustc takes a span from the first and the last of them.
pub(crate) fn underlined(tokens: TokenStream, place: &TokenStream) -> TokenStream {
    let (first, last) = ends(place);
    let mut tokens: Vec<TokenTree> = tokens.into_iter().collect();
    if let Some(token) = tokens.last_mut() {
        token.set_span(last);
    }
    for token in &mut tokens {
        token.set_span(first);
        // `::` is two tokens here and one for rustc.
        if !matches!(token, TokenTree::Punct(punct) if punct.spacing() == Spacing::Joint) {
            break;
        }
    }
    tokens.into_iter().collect()
}

/// The first and the last place in `tokens`. An expression whose first and last tokens lie there is underlined from one to
/// the other: `Span::join` does that on nightly only.
pub(crate) fn ends(tokens: &TokenStream) -> (Span, Span) {
    let mut all = tokens.clone().into_iter();
    let Some(first) = all.next() else {
        return (Span::call_site(), Span::call_site());
    };
    let last = all.last();
    let (from, to) = ends_of(&first);
    (from, last.map_or(to, |last| ends_of(&last).1))
}

/// The ends of one token. What `macro_rules!` captured as `$ty:ty` is looked into: the user wrote it at the call.
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
