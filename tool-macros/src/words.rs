//! Comma lists of words, as in `#[schema(range = 1..=5, unique)]`.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Meta, Token};

use crate::errors::Errors;
use crate::texts;

/// Reads the list of one attribute. `take` reads what follows a word. After a bad element the list goes on.
pub(crate) fn of_attribute(
    attr: &Attribute,
    errors: &Errors,
    take: impl FnMut(&Ident, ParseStream<'_>) -> syn::Result<()>,
) {
    match &attr.meta {
        Meta::List(list) => in_tokens(list.tokens.clone(), errors, take),
        other => errors.at(other, texts::LIST_EXPECTED),
    }
}

/// Reads a list that is all of `tokens`.
pub(crate) fn in_tokens(
    tokens: TokenStream,
    errors: &Errors,
    take: impl FnMut(&Ident, ParseStream<'_>) -> syn::Result<()>,
) {
    let parser = |input: ParseStream<'_>| {
        in_list(input, errors, take);
        Ok(())
    };
    let before = errors.count();
    let read = parser.parse2(tokens);
    // What an error left unread inside of a group was told with it.
    if errors.count() == before {
        errors.keep(read);
    }
}

fn in_list(
    input: ParseStream<'_>,
    errors: &Errors,
    mut take: impl FnMut(&Ident, ParseStream<'_>) -> syn::Result<()>,
) {
    while !input.is_empty() {
        let read = Ident::parse_any(input)
            .and_then(|word| take(&word, input))
            .and_then(|()| {
                if input.is_empty() || input.peek(Token![,]) {
                    Ok(())
                } else {
                    Err(input.error("expected `,`"))
                }
            });
        if let Err(error) = read {
            errors.push(error);
            while !input.is_empty() && !input.peek(Token![,]) {
                let _ = input.parse::<TokenTree>();
            }
        }
        let _ = input.parse::<Token![,]>();
    }
}

/// Keeps the value of a word that may stand once.
pub(crate) fn once<T>(slot: &mut Option<T>, word: &Ident, value: T) -> syn::Result<()> {
    if slot.is_some() {
        return Err(syn::Error::new(word.span(), texts::word_twice(word)));
    }
    *slot = Some(value);
    Ok(())
}

/// What `parse` reads, and the tokens it took.
pub(crate) fn with_tokens<T>(
    input: ParseStream<'_>,
    parse: impl FnOnce(ParseStream<'_>) -> syn::Result<T>,
) -> syn::Result<(T, TokenStream)> {
    let before: Vec<TokenTree> = input.cursor().token_stream().into_iter().collect();
    let value = parse(input)?;
    let left = input.cursor().token_stream().into_iter().count();
    let taken = before.len().saturating_sub(left);
    Ok((value, before.into_iter().take(taken).collect()))
}

/// `word` and what follows it, for the span of the whole.
pub(crate) fn whole(word: &Ident, rest: TokenStream) -> TokenStream {
    let mut all = word.to_token_stream();
    all.extend(rest);
    all
}
