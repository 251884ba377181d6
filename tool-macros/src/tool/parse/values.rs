//! The values of the options of `#[tool(…)]`.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::{
    AngleBracketedGenericArguments, LitInt, LitStr, Path, Token, Type, bracketed, parenthesized,
    token,
};
use tool_rules::Dialect;

use crate::case::{CASES, Case};
use crate::constraint::value_of;
use crate::json::{Json, Value};
use crate::tool::texts;
use crate::words::unknown;

/// The option `example("Label", { … } => { … })`.
pub(crate) struct Example {
    pub(crate) label: Option<LitStr>,
    pub(crate) input: Json,
    pub(crate) result: Option<Json>,
}

/// The option `approval` or `approval = predicate`.
pub(crate) enum Approval {
    Always,
    When(Predicate),
}

/// The predicate that decides whether a call needs approval.
pub(crate) enum Predicate {
    Path(Path),
    Closure(TokenStream),
}

/// The option `timeout = …`.
pub(crate) enum Timeout {
    Millis(u64),
    Expr(TokenStream),
}

/// Reads the tokens in the parentheses that must follow.
pub(super) fn parens(input: ParseStream<'_>) -> syn::Result<TokenStream> {
    let content;
    parenthesized!(content in input);
    content.parse()
}

/// Reads `= "text"`, which must not be empty.
pub(super) fn text(input: ParseStream<'_>) -> syn::Result<LitStr> {
    let text: LitStr = value_of(input)?;
    if text.value().trim().is_empty() {
        return Err(syn::Error::new(text.span(), texts::TEXT_EMPTY));
    }
    Ok(text)
}

/// Reads a naming convention: `= "camelCase"`.
pub(super) fn case(input: ParseStream<'_>) -> syn::Result<Case> {
    let text: LitStr = value_of(input)?;
    let value = text.value();
    let known = CASES.iter().find(|(name, _)| *name == value);
    known.map(|(_, case)| *case).ok_or_else(|| {
        syn::Error::new(
            text.span(),
            texts::unknown_case(&value, CASES.iter().map(|(name, _)| *name)),
        )
    })
}

/// Reads `("a", "b")` or `= ["a", "b"]`. None of the texts may be empty.
pub(super) fn texts_of(input: ParseStream<'_>) -> syn::Result<Vec<LitStr>> {
    let content;
    if input.peek(token::Paren) {
        parenthesized!(content in input);
    } else {
        input.parse::<Token![=]>()?;
        bracketed!(content in input);
    }
    let list = Punctuated::<LitStr, Token![,]>::parse_terminated(&content)?;
    match list.iter().find(|text| text.value().trim().is_empty()) {
        Some(empty) => Err(syn::Error::new(empty.span(), texts::TEXT_EMPTY)),
        None => Ok(list.into_iter().collect()),
    }
}

pub(super) fn example(input: ParseStream<'_>) -> syn::Result<Example> {
    if !input.peek(token::Paren) {
        return Err(input.error(texts::EXAMPLE));
    }
    let content;
    parenthesized!(content in input);
    let label = if content.peek(LitStr) {
        let label = content.parse()?;
        content.parse::<Token![,]>()?;
        Some(label)
    } else {
        None
    };
    if content.is_empty() {
        return Err(content.error(texts::EXAMPLE));
    }
    let input: Json = content.parse()?;
    if !matches!(input.value, Value::Object(_)) {
        return Err(syn::Error::new_spanned(&input, texts::EXAMPLE_OBJECT));
    }
    let result = if content.peek(Token![=>]) {
        content.parse::<Token![=>]>()?;
        Some(content.parse()?)
    } else {
        None
    };
    content.parse::<Option<Token![,]>>()?;
    if content.is_empty() {
        Ok(Example {
            label,
            input,
            result,
        })
    } else {
        Err(content.error(texts::EXAMPLE))
    }
}

pub(super) fn approval(input: ParseStream<'_>) -> syn::Result<Approval> {
    if input.peek(token::Paren) {
        let error = input.error(texts::APPROVAL_LIST);
        input.parse::<TokenTree>()?;
        return Err(error);
    }
    if !input.peek(Token![=]) {
        return Ok(Approval::Always);
    }
    input.parse::<Token![=]>()?;
    let is_closure = input.peek(Token![|]) || input.peek(Token![||]) || input.peek(Token![move]);
    if is_closure {
        return closure(input).map(|closure| Approval::When(Predicate::Closure(closure)));
    }
    if input.is_empty()
        || input.peek(Token![,])
        || !input.peek(syn::Ident::peek_any) && !input.peek(Token![::])
    {
        return Err(input.error(texts::APPROVAL));
    }
    let start = input.span();
    let path: Path = input
        .parse()
        .map_err(|_| syn::Error::new(start, texts::APPROVAL))?;
    // A fn with one of these names can be used with a longer path, such as `self::always`.
    for (word, text) in [
        ("always", texts::APPROVAL_ALWAYS),
        ("never", texts::APPROVAL_NEVER),
    ] {
        if path.is_ident(word) {
            return Err(syn::Error::new(start, text));
        }
    }
    Ok(Approval::When(Predicate::Path(path)))
}

/// Reads the closure `|call, cx| …` up to the next comma. Fails unless it has two parameters.
fn closure(input: ParseStream<'_>) -> syn::Result<TokenStream> {
    let mut tokens = TokenStream::new();
    if input.peek(Token![move]) {
        input.parse::<Token![move]>()?.to_tokens(&mut tokens);
    }
    let mut params = TokenStream::new();
    let mut count = 0;
    if input.peek(Token![||]) {
        input.parse::<Token![||]>()?.to_tokens(&mut params);
    } else {
        input.parse::<Token![|]>()?.to_tokens(&mut params);
        while !input.is_empty() && !input.peek(Token![|]) {
            count += 1;
            closure_param(input, &mut params)?;
            input.parse::<Option<Token![,]>>()?.to_tokens(&mut params);
        }
        if !input.is_empty() {
            input.parse::<Token![|]>()?.to_tokens(&mut params);
        }
    }
    params.to_tokens(&mut tokens);
    expr(input)?.to_tokens(&mut tokens);
    if count == 2 {
        Ok(tokens)
    } else {
        Err(syn::Error::new_spanned(params, texts::APPROVAL_PARAMS))
    }
}

/// Reads a pattern, and its type if there is one. The pattern is not parsed, because `syn` parses patterns only with its feature `full`.
fn closure_param(input: ParseStream<'_>, tokens: &mut TokenStream) -> syn::Result<()> {
    while !(input.is_empty() || input.peek(Token![,]) || input.peek(Token![|])) {
        if input.peek(Token![:]) && !input.peek(Token![::]) {
            input.parse::<Token![:]>()?.to_tokens(tokens);
            // Without a valid type, the rest of the list is passed on, and rustc reports the fault.
            if input.fork().parse::<Type>().is_ok() {
                input.parse::<Type>()?.to_tokens(tokens);
            }
        } else {
            path_or_token(input)?.to_tokens(tokens);
        }
    }
    Ok(())
}

/// Reads the generic arguments `::<A, B>` of a path, whose commas separate no options, or a single token.
fn path_or_token(input: ParseStream<'_>) -> syn::Result<TokenStream> {
    type Generics = AngleBracketedGenericArguments;
    let is_generics = input.peek(Token![::]) && input.peek3(Token![<]);
    if is_generics && input.fork().parse::<Generics>().is_ok() {
        return Ok(input.parse::<Generics>()?.into_token_stream());
    }
    // Both colons of `::` are read, so that the second one is not mistaken for the colon before a type.
    if input.peek(Token![::]) {
        return Ok(input.parse::<Token![::]>()?.into_token_stream());
    }
    Ok(input.parse::<TokenTree>()?.into())
}

/// Reads an expression up to the next comma, without parsing it.
fn expr(input: ParseStream<'_>) -> syn::Result<TokenStream> {
    let mut tokens = TokenStream::new();
    while !input.is_empty() && !input.peek(Token![,]) {
        path_or_token(input)?.to_tokens(&mut tokens);
    }
    if tokens.is_empty() {
        return Err(input.error(texts::VALUE));
    }
    Ok(tokens)
}

pub(super) fn timeout(input: ParseStream<'_>) -> syn::Result<Timeout> {
    input.parse::<Token![=]>()?;
    let (millis, span) = if input.peek(LitStr) {
        let text: LitStr = input.parse()?;
        (duration(&text.value()), text.span())
    } else if input.peek(LitInt) {
        let seconds: LitInt = input.parse()?;
        let millis = seconds
            .base10_parse::<u64>()
            .ok()
            .and_then(|value| value.checked_mul(1000));
        (
            millis.filter(|_| seconds.suffix().is_empty()),
            seconds.span(),
        )
    } else if input.peek(syn::Lit) {
        return Err(input.error(texts::TIMEOUT));
    } else {
        return expr(input).map(Timeout::Expr);
    };
    match millis {
        Some(0) => Err(syn::Error::new(span, texts::TIMEOUT_ZERO)),
        Some(millis) => Ok(Timeout::Millis(millis)),
        None => Err(syn::Error::new(span, texts::TIMEOUT)),
    }
}

/// Converts `5s`, `250ms`, `2m`, `2min` or `1h` to milliseconds.
fn duration(text: &str) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let unit = match unit.trim() {
        "ms" => 1,
        "s" => 1_000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(unit)
}

pub(super) fn output_limit(input: ParseStream<'_>) -> syn::Result<TokenStream> {
    input.parse::<Token![=]>()?;
    if input.peek(LitInt)
        && input
            .fork()
            .parse::<LitInt>()
            .is_ok_and(|limit| limit.base10_digits() == "0")
    {
        return Err(input.error(texts::LIMIT_ZERO));
    }
    expr(input)
}

pub(super) fn providers(input: ParseStream<'_>) -> syn::Result<Vec<&'static str>> {
    let content;
    let paren = parenthesized!(content in input);
    let words = Punctuated::<Ident, Token![,]>::parse_terminated(&content)?;
    if words.is_empty() {
        return Err(syn::Error::new(paren.span.join(), texts::PROVIDERS_EMPTY));
    }
    words
        .iter()
        .map(|word| {
            let known = Dialect::ALL
                .into_iter()
                .find(|dialect| word == dialect.name());
            known
                .map(Dialect::variant)
                .ok_or_else(|| unknown(word, &Dialect::ALL.map(Dialect::name)))
        })
        .collect()
}
