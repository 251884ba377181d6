//! Types as their syntax shows them.

use quote::ToTokens as _;
use syn::Type;

/// Returns a type without parentheses and without the invisible group that `macro_rules!` puts around it.
pub(crate) fn peeled(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => peeled(&group.elem),
        Type::Paren(paren) => peeled(&paren.elem),
        other => other,
    }
}

/// Returns whether a type is `String`, `bool`, `char` or a number of at most 64 bits, or an `Option` or `Vec` of such a type. A model can fill in
/// these types.
pub(crate) fn is_plain(ty: &Type) -> bool {
    let text = type_text(ty);
    let inner = text
        .strip_prefix("Option<")
        .or_else(|| text.strip_prefix("Vec<"))
        .and_then(|rest| rest.strip_suffix('>'))
        .unwrap_or(&text);
    [
        "String", "bool", "char", "u8", "u16", "u32", "u64", "usize", "i8", "i16", "i32", "i64",
        "isize", "f32", "f64",
    ]
    .contains(&inner)
}

/// Formats a type as `Option<&'static str>`; tokens alone would be printed as `Option < & 'static str >`.
pub(crate) fn type_text(ty: &Type) -> String {
    let mut text = String::new();
    let written = ty.to_token_stream().to_string();
    for word in written.split(' ') {
        let apart = text.ends_with(|c: char| c.is_alphanumeric() || c == '+')
            && word.starts_with(|c: char| c.is_alphanumeric() || c == '+');
        if apart {
            text.push(' ');
        }
        text.push_str(word);
    }
    text
}

/// Returns the type for a message, if it is a path without generic arguments.
pub(crate) fn short(ty: &Type) -> Option<String> {
    let is_name = matches!(peeled(ty), Type::Path(path) if path.path.segments.iter().all(|part| part.arguments.is_none()));
    let text = ty.to_token_stream();
    (is_name && !text.is_empty()).then(|| type_text(ty))
}
