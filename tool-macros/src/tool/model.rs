//! The tool as decided: nothing in here is left to check, so that expansion cannot fail.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::ext::IdentExt as _;
use syn::{GenericArgument, Ident, PathArguments, Type, TypeImplTrait, TypeParamBound};

use crate::allow::{Allowed, Rule};
use crate::constraint::{AuditForm, ValueWords};
use crate::docs::Doc;
use crate::errors::Errors;
use crate::paths::Paths;
use crate::tool::check;
use crate::tool::need::{Secret, Variable};
use crate::tool::options::Options;
use crate::tool::params;
use crate::tool::parse::{Named, Written};
use crate::tool::texts;

/// A tool.
pub(crate) struct Tool<'a> {
    pub(crate) written: &'a Written,
    pub(crate) options: &'a Options,
    pub(crate) paths: Paths,
    /// What the model calls.
    pub(crate) name: String,
    /// Where the name is written.
    pub(crate) name_at: TokenStream,
    /// The struct of the arguments.
    pub(crate) input: Ident,
    pub(crate) doc: Doc,
    pub(crate) params: Vec<Param<'a>>,
    pub(crate) output: Output<'a>,
}

/// A parameter and who supplies it.
pub(crate) struct Param<'a> {
    pub(crate) named: &'a Named,
    pub(crate) source: Source<'a>,
}

impl Param<'_> {
    /// Whether the model sends it, so that it is a field of the arguments' struct.
    pub(crate) fn is_sent(&self) -> bool {
        matches!(self.source, Source::Model(_) | Source::Args)
    }
}

/// Who supplies a parameter.
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all are of the large kind, and there are few"
)]
pub(crate) enum Source<'a> {
    /// The model.
    Model(Argument),
    /// The model, all arguments in one struct.
    Args,
    /// The host; the fn borrows it.
    Borrowed(&'a Type),
    /// The host.
    Context,
    /// The host's secrets.
    Secret(Secret),
    /// The host's variables.
    Variable(Variable),
}

/// What a model fills in.
pub(crate) struct Argument {
    /// Its key on the wire.
    pub(crate) key: String,
    /// Where the key is written.
    pub(crate) key_at: TokenStream,
    pub(crate) doc: Doc,
    pub(crate) words: ValueWords,
    pub(crate) audit: Option<AuditForm>,
    pub(crate) allow: Allowed,
}

/// What the fn returns, as far as syntax can tell.
pub(crate) enum Output<'a> {
    Unit,
    /// `impl Stream<Item = item>`
    Stream {
        item: &'a Type,
    },
    Type(&'a Type),
}

impl<'a> Tool<'a> {
    /// Settles what the words mean; every fault goes to `errors`.
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
        if doc.is_empty() {
            errors.at(&written.ident, texts::undescribed_tool(&name));
        }
        let params = params::decide(written, options, errors);
        check::keys(&params, errors);
        check::needs(options, &params, errors);
        let output = output(written, &params, errors);
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
        }
    }

    /// Parameters that the model fills in, each as its own argument.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = (&'a Named, &Argument)> {
        self.params.iter().filter_map(|param| match &param.source {
            Source::Model(argument) => Some((param.named, argument)),
            _ => None,
        })
    }

    /// The parameter that holds all arguments.
    pub(crate) fn args(&self) -> Option<&'a Named> {
        self.params.iter().find_map(|param| match param.source {
            Source::Args => Some(param.named),
            _ => None,
        })
    }

    /// Host types, with the effect that each of them has.
    pub(crate) fn host_types(&self) -> impl Iterator<Item = &'a Type> {
        self.params.iter().filter_map(|param| match param.source {
            Source::Borrowed(ty) => Some(ty),
            Source::Context => Some(&param.named.ty),
            _ => None,
        })
    }

    /// Whether `#[tool(allow(rule))]` is written.
    pub(crate) fn allows(&self, rule: &Rule) -> bool {
        self.options.allow.contains(rule)
    }

    /// The fn's name, for spans.
    pub(crate) fn span(&self) -> Span {
        self.written.ident.span()
    }
}

fn output<'a>(written: &'a Written, params: &[Param<'_>], errors: &Errors) -> Output<'a> {
    let Some((_, whole)) = &written.output else {
        return Output::Unit;
    };
    let Type::ImplTrait(bounds) = params::peeled(whole) else {
        return Output::Type(whole);
    };
    let Some(item) = stream_item(bounds) else {
        errors.at(whole, texts::IMPL_OUTPUT);
        return Output::Type(whole);
    };
    for param in params {
        if let Source::Borrowed(_) = param.source {
            errors.at(&param.named.ty, texts::BORROWED_BY_STREAM);
        }
    }
    Output::Stream { item }
}

/// The `X` of `impl Stream<Item = X> + Send`.
fn stream_item(bounds: &TypeImplTrait) -> Option<&Type> {
    bounds.bounds.iter().find_map(|bound| {
        let TypeParamBound::Trait(bound) = bound else {
            return None;
        };
        let last = bound.path.segments.last()?;
        let PathArguments::AngleBracketed(arguments) = &last.arguments else {
            return None;
        };
        arguments.args.iter().find_map(|argument| match argument {
            GenericArgument::AssocType(assoc) if assoc.ident == "Item" => Some(&assoc.ty),
            _ => None,
        })
    })
}
