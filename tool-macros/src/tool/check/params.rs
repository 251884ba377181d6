//! The source of each parameter, which its type and attributes decide, never its name.

use proc_macro2::TokenStream;
use quote::ToTokens as _;
use strsim::levenshtein;
use syn::ext::IdentExt as _;
use syn::{Attribute, LitStr, Meta, Type};

use crate::allow::{ARG_RULES, Allowed};
use crate::constraint::{AuditForm, VALUE_WORDS, ValueWords, value_of};
use crate::docs::Doc;
use crate::errors::Errors;
use crate::json::Value;
use crate::tool::check::{known, needs};
use crate::tool::model::{Argument, Param, Source};
use crate::tool::parse::function::{Function, Named, belongs_to_the_fn};
use crate::tool::parse::need::{Secret, Variable};
use crate::tool::parse::options::Options;
use crate::tool::texts;
use crate::types::peeled;
use crate::words::{nearest, of_attribute, once, unknown};

/// The options of `#[arg]` in addition to [`VALUE_WORDS`].
pub(crate) const ARG_WORDS: &[&str] = &["rename", "audit", "allow"];

const ATTRIBUTES: &[&str] = &["arg", "args", "context", "secret", "variable"];

/// Decides the source of every named parameter. Parameters that a tool cannot have are reported and omitted.
pub(super) fn decide<'a>(
    function: &'a Function,
    options: &Options,
    errors: &Errors,
) -> Vec<Param<'a>> {
    let params: Vec<Param<'a>> = function
        .named()
        .enumerate()
        .filter_map(|(number, named)| {
            let source = source(function, named, options, errors)?;
            let is_doc = |attr: &&Attribute| attr.path().is_ident("doc");
            Some(Param {
                ident: &named.ident,
                ty: &named.ty,
                docs: named.attrs.iter().filter(is_doc).collect(),
                source,
                number,
            })
        })
        .collect();
    args_alone(&params, options, errors);
    params
}

/// Checks that the struct of `#[args]` is all that the model sends.
fn args_alone(params: &[Param<'_>], options: &Options, errors: &Errors) {
    let mut args = params
        .iter()
        .filter(|param| matches!(param.source, Source::Args));
    if args.next().is_none() {
        return;
    }
    for second in args {
        errors.at(second.ident, texts::ARGS_TWICE);
    }
    for other in params
        .iter()
        .filter(|param| matches!(param.source, Source::Model(_)))
    {
        errors.at(other.ident, texts::ARGS_ALONE);
    }
    if options.rename_all.is_some() {
        errors.at_span(proc_macro2::Span::call_site(), texts::ARGS_RENAME_ALL);
    }
}

/// The attributes of one parameter by their purpose.
#[derive(Default)]
struct Sorted<'a> {
    arg: Vec<&'a Attribute>,
    /// The attribute `#[args]`, `#[context]`, `#[secret]` or `#[variable]`.
    source: Option<&'a Attribute>,
    /// Whether it has an unknown attribute, so that its source is unknown as well.
    unknown: bool,
}

fn sort<'a>(named: &'a Named, errors: &Errors) -> Sorted<'a> {
    let mut sorted = Sorted::default();
    for attr in &named.attrs {
        let path = attr.path();
        if path.is_ident("doc") || belongs_to_the_fn(attr) {
            continue;
        }
        if path.is_ident("arg") {
            sorted.arg.push(attr);
        } else if ATTRIBUTES.iter().any(|known| path.is_ident(known)) {
            if sorted.source.is_some() {
                errors.at(attr, texts::TWO_SOURCES);
            }
            sorted.source = Some(attr);
        } else if path.is_ident("serde") {
            errors.at(attr, texts::SERDE_ON_PARAM);
        } else if path.is_ident("schema") {
            errors.at(attr, texts::SCHEMA_ON_PARAM);
        } else {
            let name = path.to_token_stream().to_string();
            // Short names are close to many others, so the limit is strict.
            let nearest = nearest(&name, ATTRIBUTES)
                .filter(|nearest| levenshtein(&name, nearest) * 3 <= nearest.len());
            errors.at(path, texts::unknown_attribute(&name, nearest, ATTRIBUTES));
            sorted.unknown = true;
        }
    }
    sorted
}

fn source<'a>(
    function: &Function,
    named: &'a Named,
    options: &Options,
    errors: &Errors,
) -> Option<Source<'a>> {
    let sorted = sort(named, errors);
    if sorted.unknown {
        return None;
    }
    let need = sorted.source.filter(|attr| is_need(attr));
    if need.is_none() && refused_secret(named, &sorted, errors) {
        return None;
    }
    if let Type::Reference(reference) = peeled(&named.ty) {
        if let Some(attr) = need {
            let is_secret = attr.path().is_ident("secret");
            errors.at(reference, texts::need_by_value(is_secret, &reference.elem));
            return None;
        }
        no_arg(&sorted, texts::ARG_ON_HOST, errors);
        let before = errors.count();
        let source = borrowed(function, reference, errors);
        if let Some(attr) = sorted.source
            && errors.count() == before
        {
            errors.at(attr, texts::REFERENCE_TWICE);
        }
        return source;
    }
    if sorted.source.is_none()
        && let Some(instead) = known::by_reference(&named.ident, &named.ty)
    {
        errors.at(&named.ty, texts::by_reference(&instead));
        return None;
    }
    if let Some(attr) = need
        && let Some(at) = inner_reference(named.ty.to_token_stream())
    {
        let is_secret = attr.path().is_ident("secret");
        errors.at(at, texts::need_without_reference(is_secret));
        return None;
    }
    let known = value_type(&named.ty, errors);
    let Some(attr) = sorted.source else {
        let argument = argument(named, &sorted, options, errors);
        let known =
            known && (argument.words.as_type.is_some() || no_trait_object(&named.ty, errors));
        if known
            && let Some(default) = &argument.words.default
            && argument.words.as_type.is_none()
            && known::is_option(&named.ty)
            && !matches!(default.value, Value::Null)
        {
            errors.at(
                default,
                texts::default_of_option(known::argument(&named.ty)),
            );
        }
        if known && argument.doc.is_missing() {
            let name = named.ident.unraw().to_string();
            errors.at(&named.ident, texts::undescribed_param(&name, &named.ty));
        }
        return known.then_some(Source::Model(argument));
    };
    let args = attr.path().is_ident("args");
    no_arg(
        &sorted,
        if args {
            texts::ARG_ON_ARGS
        } else {
            texts::ARG_ON_HOST
        },
        errors,
    );
    let source = if args {
        no_words(attr, errors);
        Source::Args
    } else if attr.path().is_ident("context") {
        no_words(attr, errors);
        Source::Context
    } else {
        errors.keep(host_need(named, attr, errors))?
    };
    known.then_some(source)
}

/// Whether an attribute is `#[secret]` or `#[variable]`.
fn is_need(attr: &Attribute) -> bool {
    attr.path().is_ident("secret") || attr.path().is_ident("variable")
}

/// Refuses a type that contains a secret, which only `#[secret]` and `#[variable]` can supply, unless `#[arg(as = …)]` states that the model sends it.
fn refused_secret(named: &Named, sorted: &Sorted<'_>, errors: &Errors) -> bool {
    let Some(at) = known::secret(named.ty.to_token_stream()) else {
        return false;
    };
    if !sorted.arg.is_empty() {
        return false;
    }
    let name = named.ident.unraw().to_string();
    let optional = known::is_option(&named.ty);
    errors.at(at, texts::secret_from_the_host(&name, optional));
    true
}

/// Reads `#[secret("key", …)]` or `#[variable("NAME", …)]`. The parameter's doc comment helps the person who enters the value.
fn host_need<'a>(named: &Named, attr: &Attribute, errors: &Errors) -> syn::Result<Source<'a>> {
    let Meta::List(list) = &attr.meta else {
        let key = match &attr.meta {
            Meta::NameValue(pair) => texts::key_expected(attr.path(), true, Some(&pair.value)),
            _ => texts::key_expected(attr.path(), true, None::<&syn::Path>),
        };
        return Err(syn::Error::new_spanned(&attr.meta, key));
    };
    let doc = Doc::of(&named.attrs, errors);
    let doc = (!doc.is_empty()).then(|| LitStr::new(&doc.raw, named.ident.span()));
    let tokens = list.tokens.clone();
    if attr.path().is_ident("secret") {
        let mut secret = Secret::parse(tokens, &list.path, true, errors)?;
        needs::secret_optional(&secret, &named.ty, errors);
        secret.description = secret.description.or(doc);
        Ok(Source::Secret(secret))
    } else {
        let mut variable = Variable::parse(tokens, &list.path, true, errors)?;
        needs::variable_optional(&variable, &named.ty, errors);
        variable.description = variable.description.or(doc);
        Ok(Source::Variable(variable))
    }
}

fn no_arg(sorted: &Sorted<'_>, text: &str, errors: &Errors) {
    for attr in &sorted.arg {
        errors.at(attr, text);
    }
}

fn no_words(attr: &Attribute, errors: &Errors) {
    if !matches!(attr.meta, Meta::Path(_)) {
        errors.at(&attr.meta, texts::NO_WORDS);
    }
}

/// Decides the source of a parameter of type `&T`.
fn borrowed<'a>(
    function: &Function,
    reference: &'a syn::TypeReference,
    errors: &Errors,
) -> Option<Source<'a>> {
    let refusal = if reference.mutability.is_some() {
        Some(texts::MUT_REFERENCE)
    } else {
        match peeled(&reference.elem) {
            Type::Slice(_) => Some(texts::SLICE),
            Type::TraitObject(_) => Some(texts::DYN),
            Type::ImplTrait(_) => Some(texts::IMPL_HOST),
            Type::Path(path) if path.path.is_ident("str") => Some(texts::STR),
            Type::Infer(_) => Some(texts::INFER),
            _ => None,
        }
    };
    if let Some(text) = refusal {
        errors.at(reference, text);
        return None;
    }
    if let Some(lifetime) = &reference.lifetime {
        // If the lifetime is declared, the declaration is refused instead.
        if function.generics.params.is_empty() {
            errors.at(lifetime, texts::REFERENCE_LIFETIME);
        }
        return None;
    }
    Some(Source::Borrowed(&reference.elem))
}

/// Checks that a by-value parameter has a type that a struct field can have.
fn value_type(ty: &Type, errors: &Errors) -> bool {
    let refusal = match peeled(ty) {
        Type::ImplTrait(_) => Some(texts::IMPL_PARAM),
        Type::TraitObject(_) | Type::Slice(_) => Some(texts::DYN_VALUE),
        Type::Infer(_) => Some(texts::INFER),
        Type::Path(path) if path.path.is_ident("str") => Some(texts::STR),
        _ => None,
    };
    if let Some(text) = refusal {
        errors.at(ty, text);
        return false;
    }
    // A reference inside the type, as in `Option<&T>` or `Vec<&str>`.
    if let Some(at) = inner_reference(ty.to_token_stream()) {
        errors.at(at, texts::INNER_REFERENCE);
        return false;
    }
    if let Some(at) = lifetime(ty.to_token_stream()) {
        errors.at(at, texts::BORROWS);
        return false;
    }
    true
}

/// Checks that a type that a model fills in contains no `dyn Trait`, as in `Box<dyn Trait>`.
fn no_trait_object(ty: &Type, errors: &Errors) -> bool {
    let found = trait_object(ty);
    if let Some(object) = found {
        errors.at(object, texts::TRAIT_OBJECT);
    }
    found.is_none()
}

fn trait_object(ty: &Type) -> Option<&Type> {
    match ty {
        Type::TraitObject(_) => Some(ty),
        Type::Group(group) => trait_object(&group.elem),
        Type::Paren(paren) => trait_object(&paren.elem),
        Type::Array(array) => trait_object(&array.elem),
        Type::Slice(slice) => trait_object(&slice.elem),
        Type::Tuple(tuple) => tuple.elems.iter().find_map(trait_object),
        Type::Path(path) => match &path.path.segments.last()?.arguments {
            syn::PathArguments::AngleBracketed(list) => {
                list.args.iter().find_map(|argument| match argument {
                    syn::GenericArgument::Type(ty) => trait_object(ty),
                    _ => None,
                })
            }
            _ => None,
        },
        _ => None,
    }
}

/// Returns the first lifetime that is not `'static` and not in a `fn` type.
fn lifetime(tokens: TokenStream) -> Option<TokenStream> {
    use proc_macro2::TokenTree::{Group, Ident, Punct};
    let mut tokens = tokens.into_iter();
    while let Some(token) = tokens.next() {
        match &token {
            Punct(quote) if quote.as_char() == '\'' => {
                let name = tokens.next()?;
                if name.to_string() != "static" {
                    return Some([token, name].into_iter().collect());
                }
            }
            Group(group) => {
                if let Some(found) = lifetime(group.stream()) {
                    return Some(found);
                }
            }
            Ident(word) if ["fn", "Fn", "for"].iter().any(|one| word == one) => return None,
            _ => {}
        }
    }
    None
}

/// Returns the first `&` that is not in a `fn` or `Fn` type.
fn inner_reference(tokens: TokenStream) -> Option<TokenStream> {
    use proc_macro2::TokenTree::{Group, Ident, Punct};
    let mut in_fn = false;
    for token in tokens {
        match &token {
            Punct(punct) if punct.as_char() == '&' => return Some(token.into()),
            Group(group) if !in_fn => {
                if let Some(found) = inner_reference(group.stream()) {
                    return Some(found);
                }
            }
            Ident(ident) => in_fn |= ident == "fn" || ident == "Fn",
            _ => {}
        }
    }
    None
}

fn argument(named: &Named, sorted: &Sorted<'_>, options: &Options, errors: &Errors) -> Argument {
    let mut words = ValueWords::default();
    let mut rename: Option<LitStr> = None;
    let mut audit: Option<AuditForm> = None;
    let mut allow = Allowed::default();
    for attr in &sorted.arg {
        of_attribute(attr, errors, |word, input| match &*word.to_string() {
            "rename" => once(&mut rename, word, value_of(input)?),
            "audit" => once(&mut audit, word, AuditForm::parse(word, input)?),
            "allow" => allow.take(input, ARG_RULES),
            _ => words.take(word, input).unwrap_or_else(|| {
                let known = [VALUE_WORDS, ARG_WORDS].concat();
                Err(unknown(word, &known))
            }),
        });
    }
    words.bounds.check(errors);
    let written = named.ident.unraw().to_string();
    let doc = Doc::of(&named.attrs, errors);
    let key_at = match &rename {
        Some(rename) => rename.to_token_stream(),
        None => named.ident.to_token_stream(),
    };
    let key = match (rename, options.rename_all) {
        (Some(rename), _) => rename.value(),
        (None, Some(case)) => case.of_field(&written),
        (None, None) => written,
    };
    Argument {
        key,
        key_at,
        doc,
        words,
        audit,
        allow,
    }
}
