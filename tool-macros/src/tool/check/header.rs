//! Checks of the fn's header.

use syn::GenericParam;

use crate::errors::Errors;
use crate::tool::parse::function::Function;
use crate::tool::texts;

/// Refuses parts of a header that a tool cannot have: `const`, `unsafe`, `extern`, generics, a `where` clause. Also refuses an associated fn and a fn
/// without a body.
pub(super) fn check(function: &Function, errors: &Errors) {
    if let Some(token) = &function.constness {
        errors.at(token, texts::CONST);
    }
    if let Some(token) = &function.unsafety {
        errors.at(token, texts::UNSAFE);
    }
    if let Some(token) = &function.abi {
        errors.at(token, texts::EXTERN);
    }
    for param in &function.generics.params {
        match param {
            GenericParam::Lifetime(_) => errors.at(param, texts::LIFETIME),
            GenericParam::Type(_) | GenericParam::Const(_) => errors.at(param, texts::GENERIC),
        }
    }
    if let Some(clause) = &function.where_clause {
        errors.at(clause, texts::WHERE);
    }
    if let Some(own) = function.own_type()
        && !function.has_receiver()
    {
        errors.at(own, texts::ASSOCIATED);
    }
    if function.body.to_string() == ";" && !function.is_associated() {
        errors.at(&function.ident, texts::NO_BODY);
    }
}
