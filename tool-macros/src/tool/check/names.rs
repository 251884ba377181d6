//! The names of the tool, of its arguments' struct and of its arguments.

use proc_macro2::TokenStream;
use quote::ToTokens as _;
use syn::ext::IdentExt as _;
use syn::{Ident, LitStr};

use crate::errors::Errors;
use crate::tool::model::{Param, Source};
use crate::tool::parse::Written;
use crate::tool::texts;

/// Decides the name by which a model calls the tool. Also returns the tokens of the name, for errors.
pub(super) fn tool(written: &Written, errors: &Errors) -> (String, TokenStream) {
    let ident = &written.function.ident;
    let (name, at) = match &written.options.name {
        Some(name) => (name.value(), name.to_token_stream()),
        None => (ident.unraw().to_string(), ident.to_token_stream()),
    };
    check_name(&name, &at, errors);
    (name, at)
}

/// Checks the earlier names of the tool.
pub(super) fn aliases(aliases: &[LitStr], name: &str, errors: &Errors) {
    let mut seen: Vec<String> = Vec::new();
    for at in aliases {
        let alias = at.value();
        if !is_name(&alias) {
            errors.at(at, texts::ALIAS_NAME);
        } else if alias == name {
            errors.at(at, texts::ALIAS_OWN);
        } else if seen.contains(&alias) {
            errors.at(at, texts::alias_twice(&alias));
        }
        seen.push(alias);
    }
}

/// Decides the name of the arguments' struct.
pub(super) fn input(written: &Written, errors: &Errors) -> Ident {
    if let Some(input) = &written.options.input {
        return input.clone();
    }
    let input = written.function.ident.clone();
    check_input(&input, errors);
    input
}

fn check_name(name: &str, at: &TokenStream, errors: &Errors) {
    if !is_name(name) {
        errors.at(at, texts::NAME);
    }
}

/// Returns whether this is a tool's name: `^[a-zA-Z][a-zA-Z0-9_-]{0,63}$`.
fn is_name(name: &str) -> bool {
    name.len() <= 64
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

/// Refuses a struct that would shadow a primitive type.
fn check_input(input: &Ident, errors: &Errors) {
    const PRIMITIVES: &[&str] = &[
        "bool", "char", "str", "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "u8",
        "u16", "u32", "u64", "u128", "usize",
    ];
    if PRIMITIVES.iter().any(|primitive| input == primitive) {
        errors.at(input, texts::hides_primitive(&input.unraw().to_string()));
    }
}

/// Checks the rules `property-key` and `duplicate-key` for the keys of parameters.
pub(super) fn keys(params: &[Param<'_>], errors: &Errors) {
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
