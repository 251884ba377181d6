//! The return type of the fn, as far as its syntax shows.

use proc_macro2::TokenStream;
use quote::ToTokens as _;
use syn::{
    GenericArgument, Lifetime, PathArguments, Type, TypeImplTrait, TypeParamBound, TypePath,
};

use crate::errors::Errors;
use crate::tool::check::generator;
use crate::tool::check::known;
use crate::tool::model::{Output, Param, Source};
use crate::tool::parse::function::Function;
use crate::tool::texts;
use crate::types::peeled;

/// Decides the output, and whether rustc would refuse the return type as written.
pub(super) fn decide<'a>(
    function: &'a Function,
    params: &[Param<'_>],
    errors: &Errors,
) -> (Output<'a>, bool) {
    let yields = generator::check_yield(&function.body, errors);
    let Some((_, whole)) = &function.output else {
        return (Output::Unit, yields);
    };
    let borrowed = borrowed(whole);
    if let Some(tokens) = &borrowed {
        errors.at(tokens, texts::BORROWED_OUTPUT);
    }
    let broken = borrowed.is_some() || yields;
    if let Some(at) = known::secret(whole.to_token_stream()) {
        errors.at(at, texts::SECRET_OUTPUT);
    }
    if let Some(at) = known::open_file(whole.to_token_stream()) {
        errors.at(at, texts::FILE_OUTPUT);
    }
    if let Some((result, value)) = known::result_of_stream(whole) {
        errors.at(result, texts::result_as_output(value));
    }
    let Type::ImplTrait(bounds) = peeled(whole) else {
        generator::check(&function.body, params, errors);
        return (Output::Type(whole), broken);
    };
    let Some(item) = stream_item(bounds) else {
        if !broken {
            errors.at(whole, texts::IMPL_OUTPUT);
        }
        return (Output::Type(whole), broken);
    };
    for param in params {
        if let Source::Borrowed(_) = param.source {
            errors.at(param.ty, texts::BORROWED_BY_STREAM);
        }
    }
    (Output::Stream { item }, broken)
}

/// Returns `X` of `impl Stream<Item = X> + Send`.
fn stream_item(bounds: &TypeImplTrait) -> Option<&Type> {
    bounds.bounds.iter().find_map(|bound| {
        let TypeParamBound::Trait(bound) = bound else {
            return None;
        };
        let last = bound.path.segments.last()?;
        let PathArguments::AngleBracketed(arguments) = &last.arguments else {
            return None;
        };
        arguments.args.iter().find_map(|argument| match argument {
            GenericArgument::AssocType(assoc) if assoc.ident == "Item" => Some(&assoc.ty),
            _ => None,
        })
    })
}

/// Returns the first part of a type that borrows for less than `'static`. Lifetimes in a `fn` type are ignored.
fn borrowed(ty: &Type) -> Option<TokenStream> {
    match ty {
        Type::Reference(reference) => match &reference.lifetime {
            Some(lifetime) if is_static(lifetime) => borrowed(&reference.elem),
            _ => Some(ty.to_token_stream()),
        },
        Type::Array(array) => borrowed(&array.elem),
        Type::Group(group) => borrowed(&group.elem),
        Type::Paren(paren) => borrowed(&paren.elem),
        Type::Slice(slice) => borrowed(&slice.elem),
        Type::Tuple(tuple) => tuple.elems.iter().find_map(borrowed),
        Type::Path(path) => borrowed_path(path),
        Type::ImplTrait(bounds) => bounds.bounds.iter().find_map(|bound| match bound {
            TypeParamBound::Trait(bound) => {
                borrowed_arguments(&bound.path.segments.last()?.arguments)
            }
            _ => None,
        }),
        _ => None,
    }
}

fn borrowed_path(ty: &TypePath) -> Option<TokenStream> {
    let last = ty.path.segments.last()?;
    let lifetimes = match &last.arguments {
        PathArguments::AngleBracketed(inside) => inside
            .args
            .iter()
            .filter_map(|argument| match argument {
                GenericArgument::Lifetime(lifetime) => Some(lifetime),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    };
    let elided = last.ident == "Cow" && lifetimes.is_empty();
    if elided || lifetimes.into_iter().any(|lifetime| !is_static(lifetime)) {
        return Some(ty.to_token_stream());
    }
    borrowed_arguments(&last.arguments)
}

fn borrowed_arguments(arguments: &PathArguments) -> Option<TokenStream> {
    let PathArguments::AngleBracketed(list) = arguments else {
        return None;
    };
    list.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(ty) => borrowed(ty),
        GenericArgument::AssocType(assoc) => borrowed(&assoc.ty),
        _ => None,
    })
}

fn is_static(lifetime: &Lifetime) -> bool {
    lifetime.ident == "static"
}
