//! The checked tool: everything that the expansion needs, which cannot fail any more.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident};
use syn::ext::IdentExt as _;
use syn::{Ident, Type};

use crate::allow::{Allowed, Rule};
use crate::constraint::{AuditForm, ValueWords};
use crate::docs::Doc;
use crate::errors::Errors;
use crate::paths::Paths;
use crate::tool::check::names as check;
use crate::tool::check::output;
use crate::tool::check::params;
use crate::tool::parse::function::{Named, Written};
use crate::tool::parse::need::{Secret, Variable};
use crate::tool::parse::options::Options;
use crate::tool::texts;

/// A checked tool, from which the expansion is generated.
pub(crate) struct Tool<'a> {
    pub(crate) written: &'a Written,
    pub(crate) options: &'a Options,
    pub(crate) paths: Paths,
    /// The name by which a model calls the tool.
    pub(crate) name: String,
    /// Where the name is written.
    pub(crate) name_at: TokenStream,
    /// The name of the arguments' struct.
    pub(crate) input: Ident,
    pub(crate) doc: Doc,
    pub(crate) params: Vec<Param<'a>>,
    pub(crate) output: Output<'a>,
    /// Whether rustc would refuse the return type as well.
    broken_output: bool,
}

/// A parameter and who supplies it.
pub(crate) struct Param<'a> {
    pub(crate) named: &'a Named,
    pub(crate) source: Source<'a>,
    /// Its index among all parameters.
    pub(crate) number: usize,
}

impl Param<'_> {
    /// The alias of the type in generated code, which avoids repeated errors at the user's tokens.
    pub(crate) fn alias(&self) -> Ident {
        format_ident!("__P{}", self.number)
    }

    /// The alias of the type after `as` in generated code.
    pub(crate) fn as_alias(&self) -> Ident {
        format_ident!("__A{}", self.number)
    }

    /// The type of the value, as written.
    pub(crate) fn ty(&self) -> &Type {
        match self.source {
            Source::Borrowed(ty) => ty,
            _ => &self.named.ty,
        }
    }

    /// Whether the model sends it, so that it is a field of the arguments' struct.
    pub(crate) fn is_sent(&self) -> bool {
        matches!(self.source, Source::Model(_) | Source::Args)
    }
}

/// The source of a parameter's value.
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all are of the large kind, and there are few"
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
    /// Where the key is written.
    pub(crate) key_at: TokenStream,
    pub(crate) doc: Doc,
    pub(crate) words: ValueWords,
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

impl<'a> Tool<'a> {
    /// Interprets the options; adds every error to `errors`.
    pub(crate) fn decide(written: &'a Written, options: &'a Options, errors: &Errors) -> Self {
        check::header(written, errors);
        check::options(options, errors);
        let (name, name_at) = match &options.name {
            Some(name) => (name.value(), name.to_token_stream()),
            None => (
                written.ident.unraw().to_string(),
                written.ident.to_token_stream(),
            ),
        };
        check::name(&name, &name_at, errors);
        let input = options
            .input
            .clone()
            .unwrap_or_else(|| written.ident.clone());
        check::input(&input, options, errors);
        let doc = Doc::of(&written.attrs, errors);
        if doc.is_missing() {
            errors.at(&written.ident, texts::undescribed_tool(&name));
        }
        let params = params::decide(written, options, errors);
        check::keys(&params, errors);
        check::needs(options, &params, errors);
        let (output, broken_output) = output::decide(written, &params, errors);
        Self {
            written,
            options,
            paths: options.paths(),
            name,
            name_at,
            input,
            doc,
            params,
            output,
            broken_output,
        }
    }

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

    /// Returns the aliases of the host types, each of which has an effect.
    pub(crate) fn host_types(&self) -> impl Iterator<Item = Ident> {
        self.params.iter().filter_map(|param| match param.source {
            Source::Borrowed(_) | Source::Context => Some(param.alias()),
            _ => None,
        })
    }

    /// Whether rustc would report the fn as written: it is incomplete, or its return type is not valid.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken_output || self.written.is_half_typed()
    }

    /// Whether `#[tool(allow(rule))]` is present.
    pub(crate) fn allows(&self, rule: &Rule) -> bool {
        self.options.allow.contains(rule)
    }

    /// The span of the fn's name.
    pub(crate) fn span(&self) -> Span {
        self.written.ident.span()
    }
}
