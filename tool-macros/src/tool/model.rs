//! The checked tool: the complete input of the expansion, which cannot fail.

use proc_macro2::{Span, TokenStream};
use quote::format_ident;
use syn::{Attribute, Ident, Type, Visibility};

use crate::allow::{Allowed, Rule};
use crate::constraint::{AuditForm, ValueOptions};
use crate::docs::Doc;
use crate::paths::Paths;
use crate::tool::facts::Facts;
use crate::tool::parse::need::{Secret, Variable};

/// A checked tool, from which the expansion is generated.
pub(crate) struct Decided<'a> {
    /// The fn, without the attributes that its parameters may not have.
    pub(crate) item: TokenStream,
    pub(crate) vis: &'a Visibility,
    /// The name of the fn.
    pub(crate) ident: &'a Ident,
    pub(crate) is_async: bool,
    pub(crate) is_deprecated: bool,
    /// The attributes `#[allow(…)]` of the fn.
    pub(crate) allowed: Vec<&'a Attribute>,
    pub(crate) paths: Paths,
    /// The name by which a model calls the tool.
    pub(crate) name: String,
    /// The tokens of the name, for errors.
    pub(crate) name_at: TokenStream,
    /// The name of the arguments' struct.
    pub(crate) input: Ident,
    pub(crate) doc: Doc,
    pub(crate) params: Vec<Param<'a>>,
    pub(crate) output: Output<'a>,
    /// Whether rustc would report an error for the fn as written, because it is incomplete or its return type is invalid.
    pub(crate) is_broken: bool,
    pub(crate) facts: Facts<'a>,
    /// The secrets on the attribute; the secrets of parameters are in `params`.
    pub(crate) secrets: &'a [Secret],
    /// The variables on the attribute; the variables of parameters are in `params`.
    pub(crate) variables: &'a [Variable],
    /// The rules in the option `allow` of the tool.
    pub(crate) allow: &'a Allowed,
}

/// A parameter and the source of its value.
pub(crate) struct Param<'a> {
    pub(crate) ident: &'a Ident,
    /// The type as written.
    pub(crate) ty: &'a Type,
    /// The doc comments, as attributes.
    pub(crate) docs: Vec<&'a Attribute>,
    pub(crate) source: Source<'a>,
    /// Its index among all parameters.
    pub(crate) number: usize,
}

impl Param<'_> {
    /// Returns the alias of the type in generated code. The alias avoids repeated errors at the user's tokens.
    pub(crate) fn alias(&self) -> Ident {
        format_ident!("__P{}", self.number)
    }

    /// Returns the alias of the type after `as` in generated code.
    pub(crate) fn as_alias(&self) -> Ident {
        format_ident!("__A{}", self.number)
    }

    /// Returns the type of the value; for a borrowed value, the type without its `&`.
    pub(crate) fn value_ty(&self) -> &Type {
        match self.source {
            Source::Borrowed(ty) => ty,
            _ => self.ty,
        }
    }

    /// Returns whether the model sends the value, so that the arguments' struct contains it.
    pub(crate) fn is_sent(&self) -> bool {
        matches!(self.source, Source::Model(_) | Source::Args)
    }
}

/// The source of a parameter's value.
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all values are of the large variant, and few exist"
)]
pub(crate) enum Source<'a> {
    /// The model supplies it.
    Model(Argument),
    /// The model supplies all arguments in one struct.
    Args,
    /// The host supplies it, and the fn borrows it.
    Borrowed(&'a Type),
    /// The host supplies it by value.
    Context,
    /// The host supplies it as a secret.
    Secret(Secret),
    /// The host supplies it as a variable.
    Variable(Variable),
}

/// A parameter that the model fills in.
pub(crate) struct Argument {
    /// The key of the argument in JSON.
    pub(crate) key: String,
    /// The tokens of the key, for errors.
    pub(crate) key_at: TokenStream,
    pub(crate) doc: Doc,
    pub(crate) words: ValueOptions,
    pub(crate) audit: Option<AuditForm>,
    pub(crate) allow: Allowed,
}

/// The return type of the fn, as far as its syntax shows.
pub(crate) enum Output<'a> {
    Unit,
    /// The return type `impl Stream<Item = item>`.
    Stream {
        item: &'a Type,
    },
    Type(&'a Type),
}

impl<'a> Decided<'a> {
    /// Returns the parameters that the model fills in individually.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = (&Param<'a>, &Argument)> {
        self.params.iter().filter_map(|param| match &param.source {
            Source::Model(argument) => Some((param, argument)),
            _ => None,
        })
    }

    /// Returns the parameter that contains all arguments.
    pub(crate) fn args(&self) -> Option<&Param<'a>> {
        self.params
            .iter()
            .find(|param| matches!(param.source, Source::Args))
    }

    /// Returns the aliases of the host types. Each host type has an effect.
    pub(crate) fn host_types(&self) -> impl Iterator<Item = Ident> {
        self.params.iter().filter_map(|param| match param.source {
            Source::Borrowed(_) | Source::Context => Some(param.alias()),
            _ => None,
        })
    }

    /// Returns whether `#[tool(allow(rule))]` is present.
    pub(crate) fn allows(&self, rule: &Rule) -> bool {
        self.allow.contains(rule)
    }

    /// Returns the span of the fn's name.
    pub(crate) fn span(&self) -> Span {
        self.ident.span()
    }
}
