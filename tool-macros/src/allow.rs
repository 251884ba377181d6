//! The `allow(rule, …)` option, which silences warnings.

use proc_macro2::Ident;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{LitStr, Token, parenthesized};

use crate::texts;

/// A rule that can be allowed: its id in messages, and the name of its type in the module `warn` of tool-schema. The name is empty for a rule that is
/// an error unless it is allowed.
pub(crate) struct Rule {
    pub(crate) id: &'static str,
    pub(crate) warn: &'static str,
}

macro_rules! warnings {
    ($($name:ident, $type:ident, $message:literal, $evidence:literal, $dialects:expr;)*) => {$(
        #[doc = $message]
        pub(crate) const $name: &Rule = &Rule {
            id: tool_rules::Rule::$name.id,
            warn: stringify!($type),
        };
    )*};
}

tool_rules::warnings!(warnings);

pub(crate) const VARIANT_OTHER: &Rule = &Rule {
    id: tool_rules::Rule::VARIANT_OTHER.id,
    warn: "",
};

/// The rules that `#[derive(StrictSchema)]` can allow.
pub(crate) const SCHEMA_RULES: &[&Rule] = &[
    EXTERNAL_TAG,
    UNTAGGED,
    VARIANT_ALIAS,
    VARIANT_OTHER,
    PATTERN_ANCHORS,
];

/// The rules that a tool can allow.
pub(crate) const TOOL_RULES: &[&Rule] = &[
    TOOL_NAME_CLIENT,
    TOOL_DESCRIPTION_LONG,
    MANY_OPTIONALS,
    MANY_UNIONS,
    INT_RANGE,
    PATTERN_ANCHORS,
];

/// The rules that a parameter can allow.
pub(crate) const ARG_RULES: &[&Rule] = &[INT_RANGE, PATTERN_ANCHORS];

/// The ids of the allowed rules.
#[derive(Clone, Default)]
pub(crate) struct Allowed(Vec<String>);

impl Allowed {
    /// Reads a list of rules as [`Allowed::take`] does.
    pub(crate) fn parse(input: ParseStream<'_>, known: &[&Rule]) -> syn::Result<Self> {
        let mut allowed = Self::default();
        allowed.take(input, known)?;
        Ok(allowed)
    }

    /// Reads `(rule, …)`: ids as they appear in messages (`variant-alias`), with or without quotes.
    pub(crate) fn take(&mut self, input: ParseStream<'_>, known: &[&Rule]) -> syn::Result<()> {
        let content;
        parenthesized!(content in input);
        while !content.is_empty() {
            let (id, span) = if content.peek(LitStr) {
                let text: LitStr = content.parse()?;
                (text.value(), text.span())
            } else {
                let first = Ident::parse_any(&content)?;
                let mut id = first.to_string();
                while content.peek(Token![-]) {
                    content.parse::<Token![-]>()?;
                    id = format!("{id}-{}", Ident::parse_any(&content)?);
                }
                (id, first.span())
            };
            if !known.iter().any(|rule| rule.id == id) {
                let known: Vec<&str> = known.iter().map(|rule| rule.id).collect();
                return Err(syn::Error::new(span, texts::unknown_rule(id, &known)));
            }
            self.0.push(id);
            if !content.is_empty() {
                content.parse::<Token![,]>()?;
            }
        }
        Ok(())
    }

    /// Adds the rules of a second list.
    pub(crate) fn extend(&mut self, further: Self) {
        self.0.extend(further.0);
    }

    pub(crate) fn contains(&self, rule: &Rule) -> bool {
        self.0.iter().any(|id| id == rule.id)
    }
}
