//! Host types that are recognized by their names, so that a parameter without the required attribute or `&` causes one error that names the missing
//! part.

use proc_macro2::{TokenStream, TokenTree};
use syn::{GenericArgument, Ident, PathArguments, Type};

use crate::types::{peeled, type_text};

/// Returns the first `SecretString` or `SecretBox` in a type. A type with such a name in the user's own module is ignored.
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

/// Returns whether a type is an `Option`.
pub(crate) fn is_option(ty: &Type) -> bool {
    named(ty).is_some_and(|(name, _)| name == "Option")
}

/// Returns the only type in the angle brackets of a path.
pub(crate) fn argument(ty: &Type) -> Option<&Type> {
    match &*named(ty)?.1 {
        [one] => Some(one),
        _ => None,
    }
}

/// Returns what to write in place of a by-value parameter of a host type: `&ToolContext`, `&Reads<T>`, `&Writes<T>`, or `#[context] name: Option<T>`
/// if the parameter is an `Option`.
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

/// Returns the correct spelling of the host value. `Reads<&T>` has the `&` in the wrong place.
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

/// Returns `std::fs::File` or `tokio::fs::File` in a type: an open file, not the `File` that a tool returns.
pub(crate) fn open_file(tokens: TokenStream) -> Option<TokenStream> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is_word = |at: usize, words: &[&str]| matches!(tokens.get(at), Some(TokenTree::Ident(word)) if words.iter().any(|one| word == one));
    (0..tokens.len()).find_map(|at| {
        if let TokenTree::Group(group) = &tokens[at] {
            return open_file(group.stream());
        }
        // Each `::` is two tokens.
        let is_file = is_word(at, &["std", "tokio"])
            && is_word(at + 3, &["fs"])
            && is_word(at + 6, &["File"]);
        is_file.then(|| tokens[at..=at + 6].iter().cloned().collect())
    })
}

/// Returns the inner `Result` and its `T` for `ToolStream<P, Result<T, ToolError>>`, also within a `Result`.
pub(crate) fn result_of_stream(ty: &Type) -> Option<(&Type, &Type)> {
    let (name, arguments) = named(ty)?;
    if name == "Result" {
        return result_of_stream(arguments.first()?);
    }
    let output = arguments.get(1).filter(|_| name == "ToolStream")?;
    let (name, arguments) = named(output)?;
    let error = named(arguments.get(1)?)?.0;
    (name == "Result" && error == "ToolError").then_some((*output, *arguments.first()?))
}

/// Returns the last name of a path and the types in its angle brackets.
fn named(ty: &Type) -> Option<(&Ident, Vec<&Type>)> {
    let Type::Path(path) = peeled(ty) else {
        return None;
    };
    let last = path.path.segments.last()?;
    let types = match &last.arguments {
        PathArguments::AngleBracketed(given) => given.args.iter().filter_map(|one| match one {
            GenericArgument::Type(ty) => Some(ty),
            _ => None,
        }),
        _ => return Some((&last.ident, Vec::new())),
    };
    Some((&last.ident, types.collect()))
}
