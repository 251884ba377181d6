//! serde's attributes: each one is applied, known not to affect the wire format, or refused with a reason. Unknown attributes are refused, not
//! ignored.

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, LitStr, Token, Type, parenthesized, token};

use crate::case::{CASES, Case};
use crate::constraint::value_of;
use crate::errors::Errors;
use crate::texts;
use crate::words::{self, once, whole, with_tokens};

/// The kind of item that has an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Struct,
    Enum,
    Variant,
    Field,
}

/// The values of serde's attributes at one place.
#[derive(Clone, Default)]
pub(crate) struct Serde {
    pub(crate) rename: PerDirection<LitStr>,
    pub(crate) rename_all: PerDirection<Case>,
    pub(crate) rename_all_fields: PerDirection<Case>,
    pub(crate) tag: Option<LitStr>,
    pub(crate) content: Option<LitStr>,
    pub(crate) untagged: Option<Ident>,
    pub(crate) transparent: Option<Ident>,
    pub(crate) default: Option<ByDefault>,
    pub(crate) flatten: Option<Ident>,
    pub(crate) skip_serializing: Option<Ident>,
    pub(crate) skip_deserializing: Option<Ident>,
    pub(crate) skip_serializing_if: Option<Ident>,
    /// The tokens of an alias: from `alias = "…"`, or from a second `deserialize = "…"` in `rename`.
    pub(crate) alias: Option<TokenStream>,
    pub(crate) other: Option<Ident>,
    /// Attributes that use a different type on the wire: `with`, `from`, …
    pub(crate) other_type: Vec<OtherType>,
}

/// A value for deserialization and a value for serialization.
#[derive(Clone)]
pub(crate) struct PerDirection<T> {
    pub(crate) deserialize: Option<T>,
    pub(crate) serialize: Option<T>,
}

impl<T> Default for PerDirection<T> {
    fn default() -> Self {
        Self {
            deserialize: None,
            serialize: None,
        }
    }
}

impl<T: Clone> PerDirection<T> {
    /// Returns these values, with the values of `other` as a fallback.
    pub(crate) fn or(&self, other: &Self) -> Self {
        Self {
            deserialize: self
                .deserialize
                .clone()
                .or_else(|| other.deserialize.clone()),
            serialize: self.serialize.clone().or_else(|| other.serialize.clone()),
        }
    }
}

/// The attribute `default` or `default = "path"`.
#[derive(Clone)]
pub(crate) struct ByDefault {
    /// The path of a function, whose value is only known at run time.
    pub(crate) path: Option<LitStr>,
}

/// An attribute that uses a different type on the wire.
#[derive(Clone)]
pub(crate) struct OtherType {
    pub(crate) word: Ident,
    /// The attribute and its value.
    pub(crate) tokens: TokenStream,
}

impl OtherType {
    /// Returns the path in `with = "module"`.
    pub(crate) fn path(&self) -> Option<syn::ExprPath> {
        let text = self.tokens.clone().into_iter().nth(2)?;
        let text: LitStr = syn::parse2(text.into()).ok()?;
        text.parse().ok()
    }

    /// Returns the type in `try_from = "Type"`.
    pub(crate) fn ty(&self) -> Option<Type> {
        let text = self.tokens.clone().into_iter().nth(2)?;
        let text: LitStr = syn::parse2(text.into()).ok()?;
        text.parse().ok()
    }
}

impl Serde {
    /// Reads every `#[serde(…)]` in `attrs`.
    pub(crate) fn of(attrs: &[Attribute], place: Place, errors: &Errors) -> Self {
        let mut serde = Self::default();
        for attr in attrs.iter().filter(|attr| attr.path().is_ident("serde")) {
            words::of_attribute(attr, errors, |word, input| serde.take(word, input, place));
        }
        serde
    }

    /// Returns whether the field or variant is neither serialized nor deserialized.
    pub(crate) fn is_skipped(&self) -> bool {
        self.skip_serializing.is_some() && self.skip_deserializing.is_some()
    }

    /// Returns the attribute that replaces serde's derive when reading: `with`, `deserialize_with`, `from`, `try_from`.
    pub(crate) fn reader(&self) -> Option<&OtherType> {
        self.by_words(&["with", "deserialize_with", "from", "try_from"])
    }

    /// Returns the attribute that replaces serde's derive when writing: `with`, `serialize_with`, `into`.
    pub(crate) fn writer(&self) -> Option<&OtherType> {
        self.by_words(&["with", "serialize_with", "into"])
    }

    fn by_words(&self, words: &[&str]) -> Option<&OtherType> {
        self.other_type
            .iter()
            .find(|other| words.iter().any(|word| other.word == word))
    }

    fn take(&mut self, word: &Ident, input: ParseStream<'_>, place: Place) -> syn::Result<()> {
        match place {
            Place::Struct => self.take_struct(word, input),
            Place::Enum => self.take_enum(word, input),
            Place::Variant => self.take_variant(word, input),
            Place::Field => self.take_field(word, input),
        }
    }

    fn take_struct(&mut self, word: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
        match &*word.to_string() {
            "default" => self.by_default(word, input),
            "transparent" => once(&mut self.transparent, word, word.clone()),
            "tag" => once(&mut self.tag, word, value_of(input)?),
            "rename_all" => split(&mut self.rename_all, input, case),
            _ => self.take_container(word, input),
        }
    }

    fn take_enum(&mut self, word: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
        match &*word.to_string() {
            "rename_all" => split(&mut self.rename_all, input, case),
            "rename_all_fields" => split(&mut self.rename_all_fields, input, case),
            "tag" => once(&mut self.tag, word, value_of(input)?),
            "content" => once(&mut self.content, word, value_of(input)?),
            "untagged" => once(&mut self.untagged, word, word.clone()),
            "field_identifier" | "variant_identifier" => {
                Err(syn::Error::new(word.span(), texts::serde_identifier(word)))
            }
            _ => self.take_container(word, input),
        }
    }

    /// Reads attributes that structs and enums share.
    fn take_container(&mut self, word: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
        match &*word.to_string() {
            // Unknown keys are always refused here; the other attributes do not affect the wire format.
            "deny_unknown_fields" | "expecting" | "bound" | "crate" | "rename" => {
                pass_value(input);
                Ok(())
            }
            "from" | "try_from" | "into" | "remote" => {
                self.other_type(word, input);
                Ok(())
            }
            _ => Err(unknown(word)),
        }
    }

    fn take_variant(&mut self, word: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
        match &*word.to_string() {
            "rename_all" => split(&mut self.rename_all, input, case),
            "other" => once(&mut self.other, word, word.clone()),
            "untagged" => Err(syn::Error::new(word.span(), texts::VARIANT_UNTAGGED)),
            _ => self.take_inner(word, input),
        }
    }

    fn take_field(&mut self, word: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
        match &*word.to_string() {
            "default" => self.by_default(word, input),
            "flatten" => once(&mut self.flatten, word, word.clone()),
            "skip_serializing_if" => {
                pass_value(input);
                once(&mut self.skip_serializing_if, word, word.clone())
            }
            "getter" => Err(syn::Error::new(word.span(), texts::SERDE_GETTER)),
            _ => self.take_inner(word, input),
        }
    }

    /// Reads attributes that variants and fields share.
    fn take_inner(&mut self, word: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
        match &*word.to_string() {
            "rename" => {
                let more = split_names(&mut self.rename, input)?;
                self.alias = self.alias.take().or(more);
                Ok(())
            }
            "alias" => {
                let (_, rest) = with_tokens(input, value_of::<LitStr>)?;
                self.alias.get_or_insert_with(|| whole(word, rest));
                Ok(())
            }
            "skip" => {
                once(&mut self.skip_serializing, word, word.clone())?;
                once(&mut self.skip_deserializing, word, word.clone())
            }
            "skip_serializing" => once(&mut self.skip_serializing, word, word.clone()),
            "skip_deserializing" => once(&mut self.skip_deserializing, word, word.clone()),
            "bound" | "borrow" => {
                pass_value(input);
                Ok(())
            }
            "with" | "serialize_with" | "deserialize_with" => {
                self.other_type(word, input);
                Ok(())
            }
            _ => Err(unknown(word)),
        }
    }

    fn by_default(&mut self, word: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
        let path = if input.peek(Token![=]) {
            Some(value_of(input)?)
        } else {
            None
        };
        once(&mut self.default, word, ByDefault { path })
    }

    fn other_type(&mut self, word: &Ident, input: ParseStream<'_>) {
        let tokens = whole(word, pass_value(input));
        self.other_type.push(OtherType {
            word: word.clone(),
            tokens,
        });
    }
}

/// Returns the error for an unknown attribute, which may affect the wire format.
fn unknown(word: &Ident) -> syn::Error {
    syn::Error::new(word.span(), texts::serde_unknown(word))
}

/// Skips `= value` or `(…)`, and returns the skipped tokens.
fn pass_value(input: ParseStream<'_>) -> TokenStream {
    let mut passed = TokenStream::new();
    while !input.is_empty() && !input.peek(Token![,]) {
        match input.parse::<TokenTree>() {
            Ok(token) => passed.extend([token]),
            Err(_) => break,
        }
    }
    passed
}

/// Reads `= "…"` or `(serialize = "…", deserialize = "…")`.
fn split<T: Clone>(
    slot: &mut PerDirection<T>,
    input: ParseStream<'_>,
    read: impl Fn(ParseStream<'_>) -> syn::Result<T>,
) -> syn::Result<()> {
    if !input.peek(token::Paren) {
        input.parse::<Token![=]>()?;
        let value = read(input)?;
        *slot = PerDirection {
            deserialize: Some(value.clone()),
            serialize: Some(value),
        };
        return Ok(());
    }
    each_direction(input, |direction, content| match direction {
        Direction::Deserialize => {
            slot.deserialize = Some(read(content)?);
            Ok(())
        }
        Direction::Serialize => {
            slot.serialize = Some(read(content)?);
            Ok(())
        }
    })
}

/// Reads names as [`split`] does. Returns a second `deserialize = "…"`, which serde treats as an alias.
fn split_names(
    slot: &mut PerDirection<LitStr>,
    input: ParseStream<'_>,
) -> syn::Result<Option<TokenStream>> {
    if !input.peek(token::Paren) {
        split(slot, input, <LitStr as Parse>::parse)?;
        return Ok(None);
    }
    let mut alias = None;
    each_direction(input, |direction, content| {
        let name: LitStr = content.parse()?;
        match direction {
            Direction::Serialize => slot.serialize = Some(name),
            Direction::Deserialize if slot.deserialize.is_none() => slot.deserialize = Some(name),
            Direction::Deserialize => alias = Some(quote::quote!(#name)),
        }
        Ok(())
    })?;
    Ok(alias)
}

enum Direction {
    Serialize,
    Deserialize,
}

fn each_direction(
    input: ParseStream<'_>,
    mut take: impl FnMut(Direction, ParseStream<'_>) -> syn::Result<()>,
) -> syn::Result<()> {
    let content;
    parenthesized!(content in input);
    while !content.is_empty() {
        let word = Ident::parse_any(&content)?;
        let direction = match &*word.to_string() {
            "serialize" => Direction::Serialize,
            "deserialize" => Direction::Deserialize,
            _ => return Err(unknown(&word)),
        };
        content.parse::<Token![=]>()?;
        take(direction, &content)?;
        if !content.is_empty() {
            content.parse::<Token![,]>()?;
        }
    }
    Ok(())
}

fn case(input: ParseStream<'_>) -> syn::Result<Case> {
    let name: LitStr = input.parse()?;
    let value = name.value();
    CASES
        .iter()
        .find(|(known, _)| *known == value)
        .map(|(_, case)| *case)
        .ok_or_else(|| {
            let known: Vec<&str> = CASES.iter().map(|(known, _)| *known).collect();
            syn::Error::new(name.span(), texts::unknown_case(&value, &known))
        })
}
