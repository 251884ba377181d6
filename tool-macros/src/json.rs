//! Parser of JSON that is written as Rust tokens: `{ "query": "serde", "limit": -2.5, "tags": [null, true] }`.

use std::collections::HashSet;

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Lit, LitFloat, LitInt, LitStr, Token, braced, bracketed, token};

use crate::docs::escape;
use crate::paths::Paths;
use crate::texts;
use crate::words::with_tokens;

/// A JSON value with its tokens.
#[derive(Clone)]
pub(crate) struct Json {
    pub(crate) value: Value,
    /// The tokens as written, for spans.
    pub(crate) tokens: TokenStream,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Null,
    Boolean(bool),
    Number(Number),
    String(String),
    Array(Vec<Value>),
    /// The entries in the order of the source, without duplicate keys.
    Object(Vec<(String, Value)>),
}

/// A number with its exact JSON text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Number {
    pub(crate) size: Size,
    pub(crate) text: String,
}

/// The value of a number, for comparisons.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Size {
    Integer(i128),
    Float(f64),
}

impl Number {
    /// Returns the value as a float, to compare constraints of both kinds.
    #[allow(
        clippy::cast_precision_loss,
        reason = "only compares bounds; equal kinds are compared exactly"
    )]
    pub(crate) fn as_f64(&self) -> f64 {
        match self.size {
            Size::Integer(value) => value as f64,
            Size::Float(value) => value,
        }
    }

    pub(crate) fn is_less_than(&self, other: &Self) -> bool {
        match (self.size, other.size) {
            (Size::Integer(a), Size::Integer(b)) => a < b,
            _ => self.as_f64() < other.as_f64(),
        }
    }

    /// Generates `Number::Integer { value: 5i128, text: "5" }`.
    pub(crate) fn tree(&self, paths: &Paths) -> TokenStream {
        let private = paths.private();
        let text = &self.text;
        match self.size {
            Size::Integer(value) => {
                quote!(#private::Number::Integer { value: #value, text: #text })
            }
            Size::Float(value) => quote!(#private::Number::Float { value: #value, text: #text }),
        }
    }
}

impl Value {
    /// Formats the value as compact JSON text.
    pub(crate) fn text(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Boolean(true) => out.push_str("true"),
            Self::Boolean(false) => out.push_str("false"),
            Self::Number(number) => out.push_str(&number.text),
            Self::String(text) => write_string(text, out),
            Self::Array(items) => {
                out.push('[');
                for (number, item) in items.iter().enumerate() {
                    if number > 0 {
                        out.push(',');
                    }
                    item.write(out);
                }
                out.push(']');
            }
            Self::Object(entries) => {
                out.push('{');
                for (number, (key, value)) in entries.iter().enumerate() {
                    if number > 0 {
                        out.push(',');
                    }
                    write_string(key, out);
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
        }
    }

    /// Generates the `Json` tree as a constant expression.
    pub(crate) fn tree(&self, paths: &Paths) -> TokenStream {
        let private = paths.private();
        match self {
            Self::Null => quote!(#private::Json::Null),
            Self::Boolean(value) => quote!(#private::Json::Boolean(#value)),
            Self::Number(number) => {
                let number = number.tree(paths);
                quote!(#private::Json::Number(#number))
            }
            Self::String(text) => quote!(#private::Json::String(#text)),
            Self::Array(items) => {
                let items = items.iter().map(|item| item.tree(paths));
                quote!(#private::Json::Array(&[#(#items),*]))
            }
            Self::Object(entries) => {
                let entries = entries.iter().map(|(key, value)| {
                    let value = value.tree(paths);
                    quote!((#key, #value))
                });
                quote!(#private::Json::Object(&[#(#entries),*]))
            }
        }
    }
}

impl Json {
    /// Returns the tokens of each entry of an object, `"key": value`, in order.
    pub(crate) fn entries(&self) -> Vec<TokenStream> {
        let mut entries = vec![TokenStream::new()];
        let inside = self.tokens.clone().into_iter().next();
        let Some(TokenTree::Group(object)) = inside else {
            return Vec::new();
        };
        for token in object.stream() {
            let comma = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == ',');
            match entries.last_mut() {
                Some(last) if !comma => last.extend([token]),
                _ => entries.push(TokenStream::new()),
            }
        }
        entries
    }

    /// Generates `Example { value: &Json::…, text: "…" }`.
    pub(crate) fn example(&self, paths: &Paths) -> TokenStream {
        let private = paths.private();
        let tree = self.value.tree(paths);
        let text = self.value.text();
        quote!(#private::Example { value: &#tree, text: #text })
    }
}

impl ToTokens for Json {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.tokens.to_tokens(tokens);
    }
}

fn write_string(text: &str, out: &mut String) {
    out.push('"');
    out.push_str(&escape(text));
    out.push('"');
}

impl Parse for Json {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let (value, tokens) = with_tokens(input, Value::parse)?;
        Ok(Self { value, tokens })
    }
}

impl Parse for Value {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.peek(token::Brace) {
            parse_object(input)
        } else if input.peek(token::Bracket) {
            let content;
            bracketed!(content in input);
            let items = content.parse_terminated(Self::parse, Token![,])?;
            Ok(Self::Array(items.into_iter().collect()))
        } else if input.peek(LitStr) {
            Ok(Self::String(input.parse::<LitStr>()?.value()))
        } else if input.peek(syn::LitBool) {
            Ok(Self::Boolean(input.parse::<syn::LitBool>()?.value))
        } else if input.peek(Token![-]) || input.peek(Lit) {
            input.parse().map(Self::Number)
        } else if input.peek(syn::Ident::peek_any) {
            let word = Ident::parse_any(input)?;
            if word == "null" {
                Ok(Self::Null)
            } else {
                Err(syn::Error::new(word.span(), texts::JSON_EXPECTED))
            }
        } else {
            Err(input.error(texts::JSON_EXPECTED))
        }
    }
}

fn parse_object(input: ParseStream<'_>) -> syn::Result<Value> {
    let content;
    braced!(content in input);
    let mut entries = Vec::new();
    let mut keys = HashSet::new();
    while !content.is_empty() {
        if !content.peek(LitStr) {
            return Err(content.error(texts::JSON_KEY));
        }
        let key = content.parse::<LitStr>()?;
        content.parse::<Token![:]>()?;
        let value = content.parse()?;
        if !keys.insert(key.value()) {
            return Err(syn::Error::new(
                key.span(),
                texts::json_key_twice(&key.value()),
            ));
        }
        entries.push((key.value(), value));
        if !content.is_empty() {
            content.parse::<Token![,]>()?;
        }
    }
    Ok(Value::Object(entries))
}

impl Parse for Number {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let minus = if input.peek(Token![-]) {
            Some(input.parse::<Token![-]>()?)
        } else {
            None
        };
        let (number, literal) = match input.parse::<Lit>() {
            Ok(Lit::Int(literal)) => (
                integer(&literal, minus.is_some())?,
                literal.to_token_stream(),
            ),
            Ok(Lit::Float(literal)) => {
                (float(&literal, minus.is_some())?, literal.to_token_stream())
            }
            Ok(other) => return Err(syn::Error::new(other.span(), texts::NUMBER_EXPECTED)),
            Err(error) => return Err(syn::Error::new(error.span(), texts::NUMBER_EXPECTED)),
        };
        number.ok_or_else(|| {
            syn::Error::new_spanned(quote!(#minus #literal), texts::NUMBER_TOO_LARGE)
        })
    }
}

/// Reads an integer; `None` if it exceeds `i128`.
fn integer(literal: &LitInt, minus: bool) -> syn::Result<Option<Number>> {
    let written = literal.to_string();
    let other_base = written.len() > 1
        && written.as_bytes()[0] == b'0'
        && written.as_bytes()[1].is_ascii_alphabetic();
    if other_base || !literal.suffix().is_empty() {
        return Err(syn::Error::new(literal.span(), texts::NUMBER_PLAIN));
    }
    let sign = if minus { "-" } else { "" };
    Ok(format!("{sign}{}", literal.base10_digits())
        .parse::<i128>()
        .ok()
        .map(|value| Number {
            size: Size::Integer(value),
            text: value.to_string(), // `-0` becomes `0`
        }))
}

/// Reads a number with a fraction or an exponent, and keeps its digits, without `_` and leading zeros; `None` if it is infinite.
fn float(literal: &LitFloat, minus: bool) -> syn::Result<Option<Number>> {
    let digits = literal.base10_digits();
    if !literal.suffix().is_empty() || digits.ends_with('.') {
        return Err(syn::Error::new(literal.span(), texts::NUMBER_PLAIN));
    }
    // JSON has no leading zeros: `00.5` is `0.5`.
    let whole = digits.bytes().take_while(u8::is_ascii_digit).count();
    let zeros = digits.bytes().take_while(|digit| *digit == b'0').count();
    let digits = &digits[zeros.min(whole.saturating_sub(1))..];
    let sign = if minus { "-" } else { "" };
    let text = format!("{sign}{digits}");
    let value = text.parse::<f64>().unwrap_or(f64::INFINITY);
    Ok(value.is_finite().then_some(Number {
        size: Size::Float(value),
        text,
    }))
}

#[cfg(test)]
mod tests {
    use super::Json;

    fn text(source: &str) -> String {
        match syn::parse_str::<Json>(source) {
            Ok(json) => json.value.text(),
            Err(error) => format!("error: {error}"),
        }
    }

    #[test]
    fn json_values_keep_their_exact_text() {
        assert_eq!(
            text(r#"{ "a": [1, -2.50, null, true,], "b": {}, "c\n": "x\"é" }"#),
            r#"{"a":[1,-2.50,null,true],"b":{},"c\n":"x\"é"}"#
        );
        assert_eq!(
            text("1e400"),
            format!("error: {}", crate::texts::NUMBER_TOO_LARGE)
        );
        assert_eq!(text("1E5"), "1e5"); // syn uses a lower-case `e`
        assert_eq!(text("007"), "7");
        assert_eq!(text("00.50"), "0.50");
        assert_eq!(text("-0"), "0");
        assert_eq!(text("1_000_000"), "1000000");
        assert_eq!(
            text("-170141183460469231731687303715884105728"),
            "-170141183460469231731687303715884105728"
        );
    }

    #[test]
    fn tokens_that_are_not_json_are_refused() {
        for source in [
            "0x10", "1u8", "1.0f32", "2.", "'a'", "None", "{ a: 1 }", "+1", "b\"x\"", "",
        ] {
            assert!(
                text(source).starts_with("error: "),
                "{source}: {}",
                text(source)
            );
        }
        assert_eq!(
            text(r#"{ "a": 1, "a": 2 }"#),
            format!("error: {}", crate::texts::json_key_twice("a"))
        );
    }
}
