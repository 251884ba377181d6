//! Types that are known by their names to come from the host, so that a parameter without the attribute or the `&` that they need is one
//! error that says which.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::{GenericArgument, Ident, PathArguments, Type};

use crate::tool::params::{peeled, type_text};

/// The first `SecretString` or `SecretBox` in a type. A type of that name from a module of the user's is a different one.
pub(crate) fn secret(tokens: TokenStream) -> Option<TokenTree> {
    let mut module: Option<String> = None;
    let mut colons = 0;
    for token in tokens {
        match token {
            TokenTree::Ident(word) => {
                let known_module = colons < 2
                    || module.as_deref().is_some_and(|module| {
                        ["secrecy", "tool_core", "prelude"].contains(&module)
                    });
                if known_module && (word == "SecretString" || word == "SecretBox") {
                    return Some(word.into());
                }
                module = Some(word.to_string());
                colons = 0;
            }
            TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
            TokenTree::Group(group) => {
                if let Some(found) = secret(group.stream()) {
                    return Some(found);
                }
                colons = 0;
            }
            _ => {
                colons = 0;
                module = None;
            }
        }
    }
    None
}

/// Whether a type is an `Option`.
pub(crate) fn is_option(ty: &Type) -> bool {
    matches!(peeled(ty), Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Option"))
}

/// The one type in the brackets of a path.
fn argument(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = peeled(ty) else {
        return None;
    };
    let PathArguments::AngleBracketed(list) = &path.path.segments.last()?.arguments else {
        return None;
    };
    match list.args.first()? {
        GenericArgument::Type(ty) if list.args.len() == 1 => Some(ty),
        _ => None,
    }
}

/// What to write for a parameter of a type that only the host has: `ToolContext`, `Reads<T>`, `Writes<T>`, taken by value.
pub(crate) fn by_reference(name: &Ident, ty: &Type) -> Option<String> {
    if let Some(inner) = argument(ty).filter(|_| is_option(ty)) {
        let inner = match peeled(inner) {
            Type::Reference(reference) => &reference.elem,
            _ => inner,
        };
        return host_value(inner).map(|host| format!("#[context] {name}: Option<{host}>"));
    }
    host_value(ty).map(|host| format!("&{host}"))
}

/// The host value, as it has to be written. `Reads<&T>` has the `&` in the wrong place.
fn host_value(ty: &Type) -> Option<String> {
    let Type::Path(path) = peeled(ty) else {
        return None;
    };
    let last = path.path.segments.last()?;
    if last.ident == "ToolContext" {
        return matches!(last.arguments, PathArguments::None).then(|| type_text(ty));
    }
    if last.ident != "Reads" && last.ident != "Writes" {
        return None;
    }
    let inner = argument(ty)?;
    let Type::Reference(reference) = peeled(inner) else {
        return Some(type_text(ty));
    };
    Some(format!("{}<{}>", last.ident, type_text(&reference.elem)))
}

/// The type in a message: by name where the name is short.
pub(crate) fn short(ty: &Type) -> Option<String> {
    let is_name = matches!(peeled(ty), Type::Path(path) if path.path.segments.iter().all(|part| part.arguments.is_none()));
    let text = ty.to_token_stream();
    (is_name && !text.is_empty()).then(|| type_text(ty))
}
