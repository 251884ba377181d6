//! Secrets and variables that a tool declares, as written.

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::ext::IdentExt as _;
use syn::parse::{ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::{LitStr, Token, parenthesized, token};

use crate::constraint::value_of;
use crate::errors::Errors;
use crate::tool::texts;
use crate::words::{in_tokens, once, unknown};

/// The options of `secret("key", …)`.
pub(super) const SECRET_WORDS: &[&str] = &["label", "description", "optional", "select"];
/// The options of `variable("NAME", …)`.
pub(super) const VARIABLE_WORDS: &[&str] = &["description", "optional", "secret", "scoped"];

/// The declaration `secret("key", label = "…", description = "…", optional, select("a", "b"))`.
#[derive(Clone)]
pub(crate) struct Secret {
    pub(crate) key: LitStr,
    pub(crate) label: Option<LitStr>,
    pub(crate) description: Option<LitStr>,
    pub(crate) optional: Option<Ident>,
    pub(crate) choices: Option<Vec<LitStr>>,
}

/// The declaration `variable("NAME", description = "…", optional, secret, scoped)`.
#[derive(Clone)]
pub(crate) struct Variable {
    pub(crate) name: LitStr,
    pub(crate) description: Option<LitStr>,
    pub(crate) optional: Option<Ident>,
    pub(crate) secret: Option<Ident>,
    pub(crate) scoped: Option<Ident>,
}

impl Secret {
    /// Reads the parentheses after `word`, on a parameter or in `#[tool(…)]`.
    pub(crate) fn parse(
        tokens: TokenStream,
        word: &impl ToTokens,
        on_param: bool,
        errors: &Errors,
    ) -> syn::Result<Self> {
        let (key, rest) = key_and_rest(tokens, word, on_param)?;
        let mut secret = Self {
            key,
            label: None,
            description: None,
            optional: None,
            choices: None,
        };
        in_tokens(rest, errors, |word, input| match &*word.to_string() {
            "label" => once(&mut secret.label, word, value_of(input)?),
            "description" => once(&mut secret.description, word, value_of(input)?),
            "optional" => once(&mut secret.optional, word, word.clone()),
            "select" => once(&mut secret.choices, word, choices(word, input)?),
            _ => Err(unknown(word, SECRET_WORDS)),
        });
        Ok(secret)
    }
}

impl Variable {
    /// Reads the parentheses after `word`, on a parameter or in `#[tool(…)]`.
    pub(crate) fn parse(
        tokens: TokenStream,
        word: &impl ToTokens,
        on_param: bool,
        errors: &Errors,
    ) -> syn::Result<Self> {
        let (name, rest) = key_and_rest(tokens, word, on_param)?;
        let mut variable = Self {
            name,
            description: None,
            optional: None,
            secret: None,
            scoped: None,
        };
        in_tokens(rest, errors, |word, input| match &*word.to_string() {
            "description" => once(&mut variable.description, word, value_of(input)?),
            "optional" => once(&mut variable.optional, word, word.clone()),
            "secret" => once(&mut variable.secret, word, word.clone()),
            "scoped" => once(&mut variable.scoped, word, word.clone()),
            _ => Err(unknown(word, VARIABLE_WORDS)),
        });
        Ok(variable)
    }
}

fn key_and_rest(
    tokens: TokenStream,
    word: &impl ToTokens,
    on_param: bool,
) -> syn::Result<(LitStr, TokenStream)> {
    let (key, rest) = (|input: ParseStream<'_>| {
        if !input.peek(LitStr) {
            // For `name = "key"`, the error suggests this key.
            let named = input.peek(syn::Ident::peek_any) && input.peek2(Token![=]);
            let named = named.then(|| input.cursor().token_stream().into_iter().nth(2));
            let named = named.flatten();
            let text = texts::key_expected(word, on_param, named.as_ref());
            return Err(syn::Error::new_spanned(word, text));
        }
        let key: LitStr = input.parse()?;
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
        Ok((key, input.parse::<TokenStream>()?))
    })
    .parse2(tokens)?;
    if key.value().trim().is_empty() {
        return Err(syn::Error::new(key.span(), texts::KEY_EMPTY));
    }
    Ok((key, rest))
}

fn choices(word: &Ident, input: ParseStream<'_>) -> syn::Result<Vec<LitStr>> {
    if !input.peek(token::Paren) {
        return Err(syn::Error::new(word.span(), texts::SELECT_EMPTY));
    }
    let content;
    parenthesized!(content in input);
    let list = Punctuated::<LitStr, Token![,]>::parse_terminated(&content)?;
    if list.is_empty() {
        return Err(syn::Error::new(word.span(), texts::SELECT_EMPTY));
    }
    match list.iter().find(|choice| choice.value().is_empty()) {
        Some(empty) => Err(syn::Error::new(empty.span(), texts::CHOICE_EMPTY)),
        None => Ok(list.into_iter().collect()),
    }
}
