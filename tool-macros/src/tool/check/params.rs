//! The source of each parameter, decided by its type and attributes. Its name has no influence.

use proc_macro2::TokenStream;
use quote::ToTokens as _;
use syn::ext::IdentExt as _;
use syn::{Attribute, Type};

use crate::errors::Errors;
use crate::json::Value;
use crate::tool::check::{known, needs};
use crate::tool::model::{Argument, Param, Source};
use crate::tool::parse::Written;
use crate::tool::parse::function::{Function, Named};
use crate::tool::parse::options::Options;
use crate::tool::parse::params::{Attributes, StatedSource};
use crate::tool::texts;
use crate::types::peeled;

/// Decides the source of every named parameter. Parameters that a tool cannot have are reported and omitted.
pub(super) fn decide<'a>(written: &'a Written, errors: &Errors) -> Vec<Param<'a>> {
    let Written {
        function,
        options,
        params,
    } = written;
    let params: Vec<Param<'a>> = function
        .named()
        .zip(params)
        .enumerate()
        .filter_map(|(number, (named, attributes))| {
            let source = source(written, named, attributes.used(errors), errors)?;
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

/// Checks that a tool with `#[args]` has one such parameter, no other parameter that the model sends, and no `rename_all`.
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

fn source<'a>(
    written: &Written,
    named: &'a Named,
    attributes: &Attributes,
    errors: &Errors,
) -> Option<Source<'a>> {
    if attributes.unknown {
        return None;
    }
    let stated = attributes.stated.as_ref();
    let need = stated.and_then(|stated| stated.source.need());
    if need.is_none() && refused_secret(named, attributes, errors) {
        return None;
    }
    if let Type::Reference(reference) = peeled(&named.ty) {
        if let Some(is_secret) = need {
            errors.at(reference, texts::need_by_value(is_secret, &reference.elem));
            return None;
        }
        no_arg(attributes, texts::ARG_ON_HOST, errors);
        let before = errors.count();
        let source = borrowed(&written.function, reference, errors);
        if let Some(stated) = stated
            && errors.count() == before
        {
            errors.at(&stated.at, texts::REFERENCE_TWICE);
        }
        return source;
    }
    if stated.is_none()
        && let Some(instead) = known::by_reference(&named.ident, &named.ty)
    {
        errors.at(&named.ty, texts::by_reference(&instead));
        return None;
    }
    if let Some(is_secret) = need
        && let Some(at) = inner_reference(named.ty.to_token_stream())
    {
        errors.at(at, texts::need_without_reference(is_secret));
        return None;
    }
    let known = value_type(&named.ty, errors);
    let Some(stated) = stated else {
        let argument = argument(named, attributes, &written.options, errors);
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
    let is_args = matches!(stated.source, StatedSource::Args(_));
    no_arg(
        attributes,
        if is_args {
            texts::ARG_ON_ARGS
        } else {
            texts::ARG_ON_HOST
        },
        errors,
    );
    let source = match &stated.source {
        StatedSource::Args(read) => {
            read.used(errors);
            Source::Args
        }
        StatedSource::Context(read) => {
            read.used(errors);
            Source::Context
        }
        StatedSource::Secret(read) => {
            let secret = read.used(errors).as_ref()?;
            needs::secret_optional(secret, &named.ty, errors);
            Source::Secret(secret.clone())
        }
        StatedSource::Variable(read) => {
            let variable = read.used(errors).as_ref()?;
            needs::variable_optional(variable, &named.ty, errors);
            Source::Variable(variable.clone())
        }
    };
    known.then_some(source)
}

/// Refuses a type that contains a secret, unless an `#[arg(…)]` states that the model sends the value. Only `#[secret]` and `#[variable]` can supply
/// a secret.
fn refused_secret(named: &Named, attributes: &Attributes, errors: &Errors) -> bool {
    let Some(at) = known::secret(named.ty.to_token_stream()) else {
        return false;
    };
    if !attributes.arg_at.is_empty() {
        return false;
    }
    let name = named.ident.unraw().to_string();
    let optional = known::is_option(&named.ty);
    errors.at(at, texts::secret_from_the_host(&name, optional));
    true
}

fn no_arg(attributes: &Attributes, text: &str, errors: &Errors) {
    for attr in &attributes.arg_at {
        errors.at(attr, text);
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
    // A reference inside the type, as in `Option<&T>` or `Vec<&str>`, is refused.
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

/// Returns the first lifetime that is not `'static`. Tokens after `fn`, `Fn` or `for` in the same group are not searched.
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

/// Returns the first `&`. Groups after `fn` or `Fn`, such as the parameters of a `fn` type, are not searched.
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

fn argument(
    named: &Named,
    attributes: &Attributes,
    options: &Options,
    errors: &Errors,
) -> Argument {
    let arg = attributes.arg.used(errors);
    arg.words.bounds.check(errors);
    let doc = attributes.doc.used(errors).clone();
    let written = named.ident.unraw().to_string();
    let key_at = match &arg.rename {
        Some(rename) => rename.to_token_stream(),
        None => named.ident.to_token_stream(),
    };
    let key = match (&arg.rename, options.rename_all) {
        (Some(rename), _) => rename.value(),
        (None, Some(case)) => case.of_field(&written),
        (None, None) => written,
    };
    Argument {
        key,
        key_at,
        doc,
        words: arg.words.clone(),
        audit: arg.audit.clone(),
        allow: arg.allow.clone(),
    }
}
