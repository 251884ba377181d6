//! Constraints and other options for a value, which `#[schema(…)]` and `#[arg(…)]` share.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::{LitInt, LitStr, Token, Type};

use crate::errors::Errors;
use crate::json::{Json, Number, Size};
use crate::paths::Paths;
use crate::texts;
use crate::words::{once, unknown, whole, with_tokens};

/// The options that [`ValueOptions`] reads, for messages that list the known options.
pub(crate) const VALUE_WORDS: &[&str] = &[
    "range",
    "length",
    "pattern",
    "format",
    "multiple_of",
    "min_items",
    "max_items",
    "unique",
    "default",
    "as",
];

/// The options of a field, a parameter or a newtype for its value.
#[derive(Clone, Default)]
pub(crate) struct ValueOptions {
    pub(crate) bounds: Bounds,
    /// The option `default = 10`.
    pub(crate) default: Option<Json>,
    /// The option `as = String`.
    pub(crate) as_type: Option<Type>,
}

impl ValueOptions {
    /// Reads the tokens after `word`; `None` if the option is not one of [`VALUE_WORDS`].
    pub(crate) fn take(&mut self, word: &Ident, input: ParseStream<'_>) -> Option<syn::Result<()>> {
        if word == "default" {
            Some(value_of(input).and_then(|value| once(&mut self.default, word, value)))
        } else if word == "as" {
            Some(value_of(input).and_then(|value| once(&mut self.as_type, word, value)))
        } else {
            self.bounds.take(word, input)
        }
    }
}

/// The form in which the audit log stores a value: `audit = preview`.
#[derive(Clone)]
pub(crate) struct AuditForm {
    /// The name of the form, as written.
    word: Ident,
    variant: &'static str,
}

/// The names of the forms, each with its variant of `AuditForm` in tool-core.
const AUDIT_FORMS: [(&str, &str); 3] = [
    ("value", "Value"),
    ("preview", "Preview"),
    ("length", "Length"),
];

impl AuditForm {
    /// Reads the tokens after the option `audit` at `at`.
    pub(crate) fn parse(at: &Ident, input: ParseStream<'_>) -> syn::Result<Self> {
        if !(input.peek(Token![=]) && input.peek2(syn::Ident)) {
            return Err(syn::Error::new(at.span(), texts::AUDIT_EXPECTED));
        }
        let word: Ident = value_of(input)?;
        match AUDIT_FORMS.iter().find(|(name, _)| word == name) {
            Some((_, variant)) => Ok(Self { word, variant }),
            None => Err(unknown(&word, &AUDIT_FORMS.map(|(name, _)| name))),
        }
    }

    /// Generates the call `.audited(AuditForm::Preview)`.
    pub(crate) fn call(&self, paths: &Paths) -> TokenStream {
        let private = paths.private();
        let variant = format_ident!("{}", self.variant);
        quote!(.audited(#private::AuditForm::#variant))
    }
}

impl ToTokens for AuditForm {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.word.to_tokens(tokens);
    }
}

/// Reads the value of an option: `= value`.
pub(crate) fn value_of<T: Parse>(input: ParseStream<'_>) -> syn::Result<T> {
    input.parse::<Token![=]>()?;
    input.parse()
}

/// The constraints as written. Const evaluation checks whether the type can have them.
#[derive(Clone, Default)]
pub(crate) struct Bounds {
    range: Option<Range>,
    length: Option<Length>,
    pattern: Option<LitStr>,
    format: Option<(LitStr, &'static str)>,
    multiple_of: Option<Number>,
    min_items: Option<(usize, TokenStream)>,
    max_items: Option<(usize, TokenStream)>,
    unique: Option<Ident>,
    /// The tokens of all constraints, for spans.
    tokens: TokenStream,
}

/// The constraint `range = 1..=50`.
#[derive(Clone)]
struct Range {
    min: Option<Number>,
    max: Option<Number>,
    exclusive_max: bool,
}

/// The constraint `length = 1..=50`.
#[derive(Clone)]
struct Length {
    min: Option<usize>,
    max: Option<usize>,
}

impl Bounds {
    pub(crate) fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// Reads the tokens after `word`; `None` if the option is not a constraint.
    fn take(&mut self, word: &Ident, input: ParseStream<'_>) -> Option<syn::Result<()>> {
        let parse: fn(&mut Self, &Ident, ParseStream<'_>) -> syn::Result<()> =
            match &*word.to_string() {
                "range" => Self::range,
                "length" => Self::length,
                "pattern" => |this, word, input| once(&mut this.pattern, word, value_of(input)?),
                "format" => Self::format,
                "multiple_of" => Self::multiple_of,
                "min_items" => {
                    |this, word, input| once(&mut this.min_items, word, count_with_tokens(input)?)
                }
                "max_items" => {
                    |this, word, input| once(&mut this.max_items, word, count_with_tokens(input)?)
                }
                "unique" => |this, word, _| once(&mut this.unique, word, word.clone()),
                _ => return None,
            };
        let read = with_tokens(input, |input| parse(self, word, input));
        Some(read.map(|((), rest)| self.tokens.extend(whole(word, rest))))
    }

    fn range(&mut self, word: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
        input.parse::<Token![=]>()?;
        let (range, tokens) = with_tokens(input, |input| {
            let (min, max, exclusive_max) = ends_of(input, Number::parse, texts::RANGE_EXPECTED)?;
            Ok(Range {
                min,
                max,
                exclusive_max,
            })
        })?;
        if let (Some(min), Some(max)) = (&range.min, &range.max)
            && (max.is_less_than(min) || range.exclusive_max && !min.is_less_than(max))
        {
            return Err(syn::Error::new_spanned(tokens, texts::RANGE_EMPTY));
        }
        once(&mut self.range, word, range)
    }

    fn length(&mut self, word: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
        input.parse::<Token![=]>()?;
        let (length, tokens) = with_tokens(input, |input| {
            if input.peek(LitInt) && !input.peek2(Token![..]) {
                let exact = count(input)?;
                return Ok(Some(Length {
                    min: Some(exact),
                    max: Some(exact),
                }));
            }
            let (min, max, exclusive) = ends_of(input, count, texts::LENGTH_EXPECTED)?;
            let max = match (max, exclusive) {
                (Some(0), true) => return Ok(None),
                (Some(max), true) => Some(max - 1),
                (max, _) => max,
            };
            Ok(Some(Length { min, max }))
        })?;
        match length {
            Some(length)
                if length
                    .min
                    .zip(length.max)
                    .is_none_or(|(min, max)| min <= max) =>
            {
                once(&mut self.length, word, length)
            }
            _ => Err(syn::Error::new_spanned(tokens, texts::RANGE_EMPTY)),
        }
    }

    fn format(&mut self, word: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
        let name: LitStr = value_of(input)?;
        let value = name.value();
        match FORMATS.iter().find(|(known, _)| *known == value) {
            Some((_, variant)) => once(&mut self.format, word, (name, variant)),
            None if ["uri", "url", "uri-reference", "iri", "iri-reference"].contains(&&*value) => {
                Err(syn::Error::new(name.span(), texts::FORMAT_URI))
            }
            None => Err(syn::Error::new(
                name.span(),
                texts::format_unknown(&value, FORMATS.iter().map(|(known, _)| *known)),
            )),
        }
    }

    fn multiple_of(&mut self, word: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
        input.parse::<Token![=]>()?;
        let (number, tokens) = with_tokens(input, Number::parse)?;
        if number.as_f64() <= 0.0 {
            return Err(syn::Error::new_spanned(tokens, texts::MULTIPLE_OF_ZERO));
        }
        once(&mut self.multiple_of, word, number)
    }

    /// Reports constraints that contradict each other.
    pub(crate) fn check(&self, errors: &Errors) {
        if let (Some((min, _)), Some((max, tokens))) = (&self.min_items, &self.max_items)
            && min > max
        {
            errors.at(tokens, texts::ITEMS_EMPTY);
        }
        if let (Some(pattern), Some((format, _))) = (&self.pattern, &self.format) {
            errors.at(pattern, texts::pattern_and_format(&format.value()));
        }
    }

    /// Returns the pattern if it is not anchored at both ends. Some engines silently anchor a pattern, so the rule `pattern-anchors` warns.
    pub(crate) fn unanchored_pattern(&self) -> Option<&LitStr> {
        self.pattern.as_ref().filter(|pattern| {
            let value = pattern.value();
            !(value.starts_with('^') && value.ends_with('$') && !value.ends_with("\\$"))
        })
    }

    /// Generates `Constraints { min: Some(…), …, ..Constraints::NONE }`.
    pub(crate) fn tree(&self, paths: &Paths) -> TokenStream {
        let private = paths.private();
        let number = |number: &Number| number.tree(paths);
        let count = |count: &usize| quote!(#count);
        let range = self.range.as_ref();
        let length = self.length.as_ref();
        let stated = [
            (
                "min",
                range.and_then(|range| range.min.as_ref()).map(number),
            ),
            (
                "max",
                range.and_then(|range| range.max.as_ref()).map(number),
            ),
            ("multiple_of", self.multiple_of.as_ref().map(number)),
            (
                "min_length",
                length.and_then(|length| length.min.as_ref()).map(count),
            ),
            (
                "max_length",
                length.and_then(|length| length.max.as_ref()).map(count),
            ),
            (
                "min_items",
                self.min_items.as_ref().map(|(items, _)| count(items)),
            ),
            (
                "max_items",
                self.max_items.as_ref().map(|(items, _)| count(items)),
            ),
            (
                "pattern",
                self.pattern.as_ref().map(|source| pattern(source, paths)),
            ),
            (
                "format",
                self.format.as_ref().map(|(_, variant)| {
                    let variant = format_ident!("{variant}");
                    quote!(#private::Format::#variant)
                }),
            ),
        ];
        let stated = stated.into_iter().filter_map(|(name, value)| {
            let name = format_ident!("{name}");
            value.map(|value| quote!(#name: ::core::option::Option::Some(#value),))
        });
        let exclusive = range.is_some_and(|range| range.exclusive_max);
        let exclusive = exclusive.then(|| quote!(exclusive_max: true,));
        let unique = self.unique.as_ref().map(|_| quote!(unique: true,));
        quote!(#private::Constraints { #(#stated)* #exclusive #unique ..#private::Constraints::NONE })
    }
}

/// Generates `&Pattern::stated("…")`. `check_constraints` reports a pattern that is invalid or that some provider does not support.
fn pattern(source: &LitStr, paths: &Paths) -> TokenStream {
    let private = paths.private();
    quote!(&#private::Pattern::stated(#source))
}

impl ToTokens for Bounds {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.tokens.to_tokens(tokens);
    }
}

/// The allowed formats: the formats that every strict mode supports, each with the variant of `Format`.
const FORMATS: &[(&str, &str)] = &[
    ("date-time", "DateTime"),
    ("date", "Date"),
    ("time", "Time"),
    ("duration", "Duration"),
    ("email", "Email"),
    ("hostname", "Hostname"),
    ("ipv4", "Ipv4"),
    ("ipv6", "Ipv6"),
    ("uuid", "Uuid"),
];

/// Reads `a..b`, `a..=b`, `a..`, `..b` or `..=b`, and returns both ends and whether the upper end is exclusive.
fn ends_of<T>(
    input: ParseStream<'_>,
    mut end: impl FnMut(ParseStream<'_>) -> syn::Result<T>,
    expected: &'static str,
) -> syn::Result<(Option<T>, Option<T>, bool)> {
    let start = input.span();
    let min = if input.peek(Token![..]) {
        None
    } else {
        Some(end(input)?)
    };
    let exclusive = if input.peek(Token![..=]) {
        input.parse::<Token![..=]>()?;
        false
    } else if input.peek(Token![..]) {
        input.parse::<Token![..]>()?;
        true
    } else {
        return Err(syn::Error::new(start, expected));
    };
    let max = if exclusive && (input.is_empty() || input.peek(Token![,])) {
        None
    } else {
        Some(end(input)?)
    };
    if min.is_none() && max.is_none() {
        return Err(syn::Error::new(start, expected));
    }
    let exclusive = exclusive && max.is_some();
    Ok((min, max, exclusive))
}

fn count(input: ParseStream<'_>) -> syn::Result<usize> {
    let (number, tokens) = with_tokens(input, Number::parse)?;
    match number.size {
        Size::Integer(value) => usize::try_from(value).ok(),
        Size::Float(_) => None,
    }
    .ok_or_else(|| syn::Error::new_spanned(tokens, texts::COUNT_EXPECTED))
}

fn count_with_tokens(input: ParseStream<'_>) -> syn::Result<(usize, TokenStream)> {
    input.parse::<Token![=]>()?;
    with_tokens(input, count)
}
