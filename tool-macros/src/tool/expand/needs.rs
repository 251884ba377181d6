//! Generation of the secrets and variables that a tool declares.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::LitStr;

use crate::paths::Paths;
use crate::tool::facts::option;
use crate::tool::model::{Decided, Source};
use crate::tool::parse::need::{Secret, Variable};

/// Generates the list of secrets and the list of variables. In each list, the declarations of the attribute precede the declarations of parameters.
pub(super) fn all(tool: &Decided<'_>) -> (Vec<TokenStream>, Vec<TokenStream>) {
    let private = tool.paths.private();
    let paths = &tool.paths;
    let mut secrets: Vec<_> = tool
        .secrets
        .iter()
        .map(|need| secret(need, paths, None))
        .collect();
    let mut variables: Vec<_> = tool
        .variables
        .iter()
        .map(|need| variable(need, paths, None))
        .collect();
    for param in &tool.params {
        let ty = param.alias();
        match &param.source {
            Source::Secret(need) => {
                let optional = quote!(#private::asks::SecretOf::<#ty>::OPTIONAL);
                secrets.push(secret(need, paths, Some(optional)));
            }
            Source::Variable(need) => {
                let optional = quote!(#private::asks::VariableOf::<#ty>::OPTIONAL);
                variables.push(variable(need, paths, Some(optional)));
            }
            _ => {}
        }
    }
    (secrets, variables)
}

/// Generates `SecretNeed { … }`. `optional` is a constant expression for whether the parameter's type is optional.
fn secret(secret: &Secret, paths: &Paths, optional: Option<TokenStream>) -> TokenStream {
    let private = paths.private();
    let key = &secret.key;
    let label = text_or_none(secret.label.as_ref(), paths);
    let description = text_or_none(secret.description.as_ref(), paths);
    let optional = flag(secret.optional.as_ref(), optional);
    let kind = match &secret.choices {
        None => quote!(Text),
        Some(choices) => {
            quote!(Select(#private::Cow::Borrowed(&[#(#private::Cow::Borrowed(#choices)),*])))
        }
    };
    quote! {
        #private::SecretNeed {
            key: #private::Cow::Borrowed(#key),
            kind: #private::SecretKind::#kind,
            label: #label,
            description: #description,
            optional: #optional,
        }
    }
}

/// Generates `VariableNeed { … }`. `optional` is a constant expression for whether the parameter's type is optional.
fn variable(variable: &Variable, paths: &Paths, optional: Option<TokenStream>) -> TokenStream {
    let private = paths.private();
    let name = &variable.name;
    let description = text_or_none(variable.description.as_ref(), paths);
    let optional = flag(variable.optional.as_ref(), optional);
    let kind = if variable.secret.is_some() {
        quote!(Secret)
    } else {
        quote!(Text)
    };
    let scoped = variable.scoped.is_some();
    quote! {
        #private::VariableNeed {
            name: #private::Cow::Borrowed(#name),
            kind: #private::VariableKind::#kind,
            description: #description,
            required: !#optional,
            scoped: #scoped,
        }
    }
}

fn text_or_none(text: Option<&LitStr>, paths: &Paths) -> TokenStream {
    let private = paths.private();
    option(text.map(|text| quote!(#private::Cow::Borrowed(#text))))
}

/// Generates `true` if the option is written, otherwise `of_type`, or `false` if there is no `of_type`.
fn flag(written: Option<&Ident>, of_type: Option<TokenStream>) -> TokenStream {
    match (written, of_type) {
        (Some(_), _) => quote!(true),
        (None, Some(of_type)) => of_type,
        (None, None) => quote!(false),
    }
}
