//! Checks of the secrets and variables that a tool declares.

use syn::{Ident, Type};

use crate::errors::Errors;
use crate::tool::check::known;
use crate::tool::model::{Param, Source};
use crate::tool::parse::need::{Secret, Variable};
use crate::tool::parse::options::Options;
use crate::tool::texts;
use crate::types::type_text;

/// Refuses `optional` on a parameter whose type requires the secret.
pub(super) fn secret_optional(secret: &Secret, ty: &Type, errors: &Errors) {
    if let Some(optional) = unfit(secret.optional.as_ref(), ty) {
        errors.at(optional, texts::optional("secret", "SecretString"));
    }
}

/// Refuses `optional` on a parameter whose type requires the variable.
pub(super) fn variable_optional(variable: &Variable, ty: &Type, errors: &Errors) {
    if let Some(optional) = unfit(variable.optional.as_ref(), ty) {
        errors.at(optional, texts::optional("variable", &type_text(ty)));
    }
}

/// Returns the option `optional` if the type is not an `Option`.
fn unfit<'a>(optional: Option<&'a Ident>, ty: &Type) -> Option<&'a Ident> {
    optional.filter(|_| !known::is_option(ty))
}

/// Checks the rules `secret-spec` and `variable-spec`: refuses secrets that are declared twice, and variables that are declared both as a secret and
/// as text.
pub(super) fn twice(options: &Options, params: &[Param<'_>], errors: &Errors) {
    let injected = params.iter().filter_map(|param| match &param.source {
        Source::Secret(secret) => Some(&secret.key),
        _ => None,
    });
    let declared = options.secrets.iter().map(|secret| &secret.key);
    let mut seen = Vec::new();
    for key in declared.chain(injected) {
        let value = key.value();
        if seen.contains(&value) {
            errors.at(key, texts::SECRET_TWICE);
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
            errors.at(&variable.name, texts::VARIABLE_KINDS);
        }
        seen.push((name, secret));
    }
}
