//! Parser of comma-separated options, as in `#[schema(range = 1..=5, unique)]`.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::ToTokens;
use strsim::levenshtein;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Meta, Token, parenthesized};

use crate::errors::Errors;
use crate::paths::{Paths, ends};
use crate::texts;

/// Reads the list of one attribute. `take` reads the tokens after an option. Parsing continues after an invalid element.
pub(crate) fn of_attribute(
    attr: &Attribute,
    errors: &Errors,
    take: impl FnMut(&Ident, ParseStream<'_>) -> syn::Result<()>,
) {
    match &attr.meta {
        Meta::List(list) => in_tokens(list.tokens.clone(), errors, take),
        other => errors.at(other, texts::list_expected(attr)),
    }
}

/// Returns the path of tool-core from `#[schema(crate = path)]`, even if the attribute has errors.
pub(crate) fn paths_of(attrs: &[Attribute]) -> Paths {
    let quiet = Errors::new();
    let mut paths = Paths::default();
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("schema")) {
        of_attribute(attr, &quiet, |word, input| {
            if word == "crate" {
                paths = Paths::parse(input)?;
            }
            Ok(())
        });
    }
    let _ = quiet.finish();
    paths
}

/// Reads a list that consists of all `tokens`.
pub(crate) fn in_tokens(
    tokens: TokenStream,
    errors: &Errors,
    take: impl FnMut(&Ident, ParseStream<'_>) -> syn::Result<()>,
) {
    let parser = |input: ParseStream<'_>| {
        let content;
        parenthesized!(content in input);
        in_list(&content, errors, take);
        Ok(())
    };
    let before = errors.count();
    // The parentheses get the span of the last token. Otherwise an error at the end of the list would be reported for the whole attribute.
    let (_, last) = ends(&tokens);
    let mut group = Group::new(Delimiter::Parenthesis, tokens);
    group.set_span(last);
    let read = parser.parse2(TokenTree::Group(group).into());
    // After an error, `read` would only report the tokens that the parser left unread.
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
            .and_then(|word| take(&word, input).map_err(|error| with_usage(&word, error)))
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

/// Adds the syntax of the option to an error that only names the missing token.
fn with_usage(word: &Ident, error: syn::Error) -> syn::Error {
    let text = error.to_string();
    let bare = text.starts_with("expected ") || text.starts_with("unexpected end of input");
    match texts::usage(&word.to_string()) {
        Some(usage) if bare && !text.contains("such as") && !text.contains("write") => {
            let text = text.replace("unexpected end of input, ", "");
            let text = text.replace(texts::NUMBER_EXPECTED, "expected a number");
            syn::Error::new(error.span(), format!("{text}, write `{usage}`"))
        }
        _ => error,
    }
}

/// Stores the value of an option. Fails if the option has a value already.
pub(crate) fn once<T>(slot: &mut Option<T>, word: &Ident, value: T) -> syn::Result<()> {
    if slot.is_some() {
        return Err(syn::Error::new(word.span(), texts::word_twice(word)));
    }
    *slot = Some(value);
    Ok(())
}

/// Returns the value that `parse` reads, and the tokens of this value.
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

/// Joins an option and the tokens after it, for a span that covers both.
pub(crate) fn whole(word: &Ident, rest: TokenStream) -> TokenStream {
    let mut all = word.to_token_stream();
    all.extend(rest);
    all
}

/// Returns the error for an unknown option.
pub(crate) fn unknown(word: &Ident, known: &[&str]) -> syn::Error {
    let written = word.to_string();
    let nearest = nearest(&written, known);
    syn::Error::new(word.span(), texts::tool::unknown(&written, nearest, known))
}

/// Returns the most similar known name, if it is similar enough to be the name that was meant.
pub(crate) fn nearest<'a>(written: &str, known: &[&'a str]) -> Option<&'a str> {
    known
        .iter()
        .map(|known| (levenshtein(written, known), *known))
        .min()
        .filter(|(distance, known)| distance * 2 <= known.len().max(written.len()))
        .map(|(_, known)| known)
}
