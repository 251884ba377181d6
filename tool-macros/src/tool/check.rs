//! Checks of a tool that need only its syntax, and the decision on the generated code.

pub(super) mod generator;
mod header;
pub(super) mod known;
mod names;
mod needs;
mod output;
mod params;

use quote::ToTokens as _;

use crate::docs::Doc;
use crate::errors::Errors;
use crate::tool::facts::Facts;
use crate::tool::model::Decided;
use crate::tool::parse::Written;
use crate::tool::texts;

/// Decides which code is generated; adds every error to `errors`. After an error, only the fallback uses the result, which then
/// omits the parameters that a tool cannot have.
pub(super) fn check<'a>(written: &'a Written, errors: &Errors) -> Decided<'a> {
    let Written {
        function, options, ..
    } = written;
    header::check(function, errors);
    options.check_conflicts(errors);
    let (name, name_at) = names::tool(written, errors);
    names::aliases(&options.aliases, &name, errors);
    let input = names::input(written, errors);
    let doc = Doc::of(&function.attrs, errors);
    if doc.is_missing() {
        errors.at(&function.ident, texts::UNDESCRIBED_TOOL);
    }
    let params = params::decide(written, errors);
    names::keys(&params, errors);
    needs::twice(options, &params, errors);
    let (output, broken_output) = output::decide(function, &params, errors);
    let has = |word: &str| function.attrs.iter().any(|attr| attr.path().is_ident(word));
    let allowed = function
        .attrs
        .iter()
        .filter(|attr| attr.path().is_ident("allow"));
    Decided {
        item: function.to_token_stream(),
        vis: &function.vis,
        ident: &function.ident,
        is_async: function.asyncness.is_some(),
        is_deprecated: has("deprecated"),
        allowed: allowed.collect(),
        paths: options.paths(),
        name,
        name_at,
        input,
        doc,
        params,
        output,
        is_broken: broken_output || function.is_half_typed(),
        facts: Facts::decide(options),
        secrets: &options.secrets,
        variables: &options.variables,
        allow: &options.allow,
    }
}
