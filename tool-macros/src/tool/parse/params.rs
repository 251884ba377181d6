//! The attributes of a parameter, as written.

use proc_macro2::TokenStream;
use quote::ToTokens as _;
use strsim::levenshtein;
use syn::{Attribute, LitStr, Meta};

use crate::allow::{ARG_RULES, Allowed};
use crate::constraint::{AuditForm, VALUE_WORDS, ValueOptions, value_of};
use crate::docs::Doc;
use crate::errors::Errors;
use crate::tool::parse::function::{Named, belongs_to_the_fn};
use crate::tool::parse::need::{Secret, Variable};
use crate::tool::texts;
use crate::words::{nearest, of_attribute, once, unknown};

/// The options of `#[arg]` in addition to [`VALUE_WORDS`].
pub(super) const ARG_WORDS: &[&str] = &["rename", "audit", "allow"];

const ATTRIBUTES: &[&str] = &["arg", "args", "context", "secret", "variable"];

/// A part of a parameter and its errors, which are reported only if the part is used.
pub(crate) struct Read<T> {
    value: T,
    errors: Vec<syn::Error>,
}

impl<T> Read<T> {
    fn new(read: impl FnOnce(&Errors) -> T) -> Self {
        let errors = Errors::new();
        let value = read(&errors);
        Self {
            value,
            errors: errors.into_list(),
        }
    }

    /// Returns the part and reports its errors.
    pub(crate) fn used(&self, errors: &Errors) -> &T {
        for error in &self.errors {
            errors.push(error.clone());
        }
        &self.value
    }
}

/// The attributes of one parameter by their purpose.
pub(crate) struct Attributes {
    /// The attributes `#[arg]`, for errors at them.
    pub(crate) arg_at: Vec<TokenStream>,
    /// The options in all `#[arg]`.
    pub(crate) arg: Read<Arg>,
    pub(crate) doc: Read<Doc>,
    /// The attribute that states the source, if there is one.
    pub(crate) stated: Option<Stated>,
    /// Whether the parameter has an unknown attribute, so that its source is unknown as well.
    pub(crate) unknown: bool,
}

/// The options in `#[arg(…)]`.
#[derive(Default)]
pub(crate) struct Arg {
    pub(crate) words: ValueOptions,
    pub(crate) rename: Option<LitStr>,
    pub(crate) audit: Option<AuditForm>,
    pub(crate) allow: Allowed,
}

/// An attribute that states the source of a parameter.
pub(crate) struct Stated {
    /// The whole attribute, for errors at it.
    pub(crate) at: TokenStream,
    pub(crate) source: StatedSource,
}

/// The source that an attribute states.
pub(crate) enum StatedSource {
    Args(Read<()>),
    Context(Read<()>),
    /// `None` if the attribute cannot be parsed.
    Secret(Read<Option<Secret>>),
    /// `None` if the attribute cannot be parsed.
    Variable(Read<Option<Variable>>),
}

impl StatedSource {
    /// Returns true for `#[secret]`, false for `#[variable]`, and `None` for other attributes.
    pub(crate) const fn need(&self) -> Option<bool> {
        match self {
            Self::Secret(_) => Some(true),
            Self::Variable(_) => Some(false),
            Self::Args(_) | Self::Context(_) => None,
        }
    }
}

/// Parses the attributes of a parameter.
pub(super) fn parse(named: &Named) -> Read<Attributes> {
    Read::new(|errors| {
        let (mut arg, mut stated, mut is_unknown) = (Vec::new(), None, false);
        for attr in &named.attrs {
            let path = attr.path();
            if path.is_ident("doc") || belongs_to_the_fn(attr) {
                continue;
            }
            if path.is_ident("arg") {
                arg.push(attr);
            } else if ATTRIBUTES.iter().any(|known| path.is_ident(known)) {
                if stated.is_some() {
                    errors.at(attr, texts::TWO_SOURCES);
                }
                stated = Some(attr);
            } else if path.is_ident("serde") {
                errors.at(attr, texts::SERDE_ON_PARAM);
            } else if path.is_ident("schema") {
                errors.at(attr, texts::SCHEMA_ON_PARAM);
            } else {
                let name = path.to_token_stream().to_string();
                // Short names are similar to many words, so the limit is strict.
                let nearest = nearest(&name, ATTRIBUTES)
                    .filter(|nearest| levenshtein(&name, nearest) * 3 <= nearest.len());
                errors.at(path, texts::unknown_attribute(&name, nearest, ATTRIBUTES));
                is_unknown = true;
            }
        }
        Attributes {
            arg_at: arg.iter().map(quote::ToTokens::to_token_stream).collect(),
            arg: options(&arg),
            doc: Read::new(|errors| Doc::of(&named.attrs, errors)),
            stated: stated.map(|attr| Stated {
                at: attr.to_token_stream(),
                source: source(named, attr),
            }),
            unknown: is_unknown,
        }
    })
}

fn options(attrs: &[&Attribute]) -> Read<Arg> {
    Read::new(|errors| {
        let mut arg = Arg::default();
        for attr in attrs {
            of_attribute(attr, errors, |word, input| match &*word.to_string() {
                "rename" => once(&mut arg.rename, word, value_of(input)?),
                "audit" => once(&mut arg.audit, word, AuditForm::parse(word, input)?),
                "allow" => arg.allow.take(input, ARG_RULES),
                _ => arg.words.take(word, input).unwrap_or_else(|| {
                    let known = [VALUE_WORDS, ARG_WORDS].concat();
                    Err(unknown(word, &known))
                }),
            });
        }
        arg
    })
}

fn source(named: &Named, attr: &Attribute) -> StatedSource {
    let path = attr.path();
    if path.is_ident("secret") {
        StatedSource::Secret(Read::new(|errors| {
            let (tokens, doc) = need(named, attr, errors)?;
            let mut secret = errors.keep(Secret::parse(tokens, path, true, errors))?;
            secret.description = secret.description.or(doc);
            Some(secret)
        }))
    } else if path.is_ident("variable") {
        StatedSource::Variable(Read::new(|errors| {
            let (tokens, doc) = need(named, attr, errors)?;
            let mut variable = errors.keep(Variable::parse(tokens, path, true, errors))?;
            variable.description = variable.description.or(doc);
            Some(variable)
        }))
    } else {
        let read = Read::new(|errors| {
            if !matches!(attr.meta, Meta::Path(_)) {
                errors.at(&attr.meta, texts::NO_WORDS);
            }
        });
        if path.is_ident("args") {
            StatedSource::Args(read)
        } else {
            StatedSource::Context(read)
        }
    }
}

/// Returns the list in `#[secret("key", …)]` or `#[variable("NAME", …)]`, and the doc comment of the parameter, which is the default description.
fn need(named: &Named, attr: &Attribute, errors: &Errors) -> Option<(TokenStream, Option<LitStr>)> {
    let Meta::List(list) = &attr.meta else {
        let key = match &attr.meta {
            Meta::NameValue(pair) => texts::key_expected(attr.path(), true, Some(&pair.value)),
            _ => texts::key_expected(attr.path(), true, None::<&syn::Path>),
        };
        errors.at(&attr.meta, key);
        return None;
    };
    let doc = Doc::of(&named.attrs, errors);
    let doc = (!doc.is_empty()).then(|| LitStr::new(&doc.raw, named.ident.span()));
    Some((list.tokens.clone(), doc))
}
