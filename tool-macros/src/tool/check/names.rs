//! Checks of the fn's header, the names and the options.

use proc_macro2::TokenStream;
use syn::ext::IdentExt as _;
use syn::{GenericParam, Ident};

use crate::errors::Errors;
use crate::tool::model::{Param, Source};
use crate::tool::parse::function::Written;
use crate::tool::parse::options::Options;
use crate::tool::texts;

/// Refuses what a fn may have but a tool may not: `const`, `unsafe`, `extern`, generics, a `where` clause.
pub(crate) fn header(written: &Written, errors: &Errors) {
    if let Some(token) = &written.constness {
        errors.at(token, texts::CONST);
    }
    if let Some(token) = &written.unsafety {
        errors.at(token, texts::UNSAFE);
    }
    if let Some(token) = &written.abi {
        errors.at(token, texts::EXTERN);
    }
    for param in &written.generics.params {
        match param {
            GenericParam::Lifetime(_) => errors.at(param, texts::LIFETIME),
            GenericParam::Type(_) | GenericParam::Const(_) => errors.at(param, texts::GENERIC),
        }
    }
    if let Some(clause) = &written.where_clause {
        errors.at(clause, texts::WHERE);
    }
    if let Some(own) = written.own_type()
        && !written.has_receiver()
    {
        errors.at(own, texts::ASSOCIATED);
    }
    if written.body.to_string() == ";" && !written.is_associated() {
        errors.at(&written.ident, texts::NO_BODY);
    }
}

/// Refuses options that contradict each other.
pub(crate) fn options(options: &Options, errors: &Errors) {
    if let (Some(_), Some(destructive)) = (&options.read_only, &options.destructive) {
        errors.at(destructive, texts::READ_AND_DESTROY);
    }
}

/// Checks the tool's name: `^[a-zA-Z][a-zA-Z0-9_-]{0,63}$`.
pub(crate) fn name(name: &str, at: &TokenStream, errors: &Errors) {
    let fits = name.len() <= 64
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
    if !fits {
        errors.at(at, texts::NAME);
    }
}

/// Refuses a struct that would shadow a primitive type.
pub(crate) fn input(input: &Ident, options: &Options, errors: &Errors) {
    const PRIMITIVES: &[&str] = &[
        "bool", "char", "str", "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "u8",
        "u16", "u32", "u64", "u128", "usize",
    ];
    if options.input.is_none() && PRIMITIVES.iter().any(|primitive| input == primitive) {
        errors.at(input, texts::hides_primitive(&input.unraw().to_string()));
    }
}

/// Checks `property-key` and `duplicate-key` for parameters.
pub(crate) fn keys(params: &[Param<'_>], errors: &Errors) {
    let mut seen: Vec<&str> = Vec::new();
    for param in params {
        let Source::Model(argument) = &param.source else {
            continue;
        };
        let at = &argument.key_at;
        if seen.contains(&&*argument.key) {
            errors.at(at, texts::key_twice(&argument.key));
        }
        seen.push(&argument.key);
        let fits = argument.key.len() <= 64
            && argument
                .key
                .starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && argument
                .key
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !fits {
            errors.at(at, texts::key(&argument.key));
        }
    }
}

/// Checks `secret-spec` and `variable-spec`: duplicate declarations, on the attribute or on parameters.
pub(crate) fn needs(options: &Options, params: &[Param<'_>], errors: &Errors) {
    let injected = params.iter().filter_map(|param| match &param.source {
        Source::Secret(secret) => Some(&secret.key),
        _ => None,
    });
    let declared = options.secrets.iter().map(|secret| &secret.key);
    let mut seen = Vec::new();
    for key in declared.chain(injected) {
        let value = key.value();
        if seen.contains(&value) {
            errors.at(key, texts::secret_twice(&value));
        }
        seen.push(value);
    }
    let injected = params.iter().filter_map(|param| match &param.source {
        Source::Variable(variable) => Some(variable),
        _ => None,
    });
    let mut seen: Vec<(String, bool)> = Vec::new();
    for variable in options.variables.iter().chain(injected) {
        let (name, secret) = (variable.name.value(), variable.secret.is_some());
        if seen.contains(&(name.clone(), !secret)) {
            errors.at(&variable.name, texts::variable_kinds(&name));
        }
        seen.push((name, secret));
    }
}
