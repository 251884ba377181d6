//! Generation of the tool's schema, `Spec` and `StaticDef`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens as _, quote};

use crate::paths::{Paths, underlined};
use crate::tool::expand::needs;
use crate::tool::model::{Argument, Decided, Output, Param, Source};
use crate::types::is_plain;

/// Generates `impl StrictSchema for search_docs`.
pub(crate) fn schema(tool: &Decided<'_>) -> TokenStream {
    let private = tool.paths.private();
    let input = &tool.input;
    let schema = if let Some(args) = tool.args() {
        let alias = args.alias();
        quote!(#private::asks::NodeOf::<#alias>::NODE)
    } else {
        let name = &tool.name;
        let fields = tool
            .arguments()
            .map(|(param, argument)| field(&tool.paths, param, argument));
        quote! {
            &#private::Schema::new(#private::Kind::Object(&[#(#fields),*])).named(#name).checked()
        }
    };
    quote! {
        impl #private::StrictSchema for #input {
            const SCHEMA: &'static #private::Schema = #schema;
        }
    }
}

/// Generates `Field::new("limit", Text::escaped("…"), NodeOf::<u32>::NODE).default_value(…)`.
fn field(paths: &Paths, param: &Param<'_>, argument: &Argument) -> TokenStream {
    let private = paths.private();
    let key = &argument.key;
    let description = argument.doc.text(paths);
    let schema = bounded_schema(paths, param, argument);
    let default = argument.words.default.as_ref().map(|default| {
        let default = default.example(paths);
        quote!(.default_value(#default))
    });
    let audit = argument.audit.as_ref().map(|form| form.call(paths));
    // With `as`, the type need not be an `Option`, but only an `Option` accepts an absent key.
    let null = argument
        .words
        .as_type
        .as_ref()
        .map(|_| quote!(.null_if_absent()));
    quote!(#private::Field::new(#key, #description, #schema)#default #audit #null)
}

/// Generates the schema of a parameter's type, with its constraints.
pub(crate) fn bounded_schema(paths: &Paths, param: &Param<'_>, argument: &Argument) -> TokenStream {
    let private = paths.private();
    let schema = bare_schema(paths, param, argument);
    if argument.words.bounds.is_empty() {
        return schema;
    }
    let bounds = argument.words.bounds.tree(paths);
    quote!(&#private::Schema::new(#private::Kind::Constrained(#schema, &#bounds)))
}

/// Generates the schema of a parameter's type, without its constraints.
pub(crate) fn bare_schema(paths: &Paths, param: &Param<'_>, argument: &Argument) -> TokenStream {
    let private = paths.private();
    let alias = if argument.words.as_type.is_some() {
        param.as_alias()
    } else {
        param.alias()
    };
    quote!(#private::asks::NodeOf::<#alias>::NODE)
}

/// Generates an alias for each type that generated code names: `type __P0 = String;`. Errors
/// about a type that does not exist are then the same as the errors of the fn and the struct.
pub(crate) fn aliases(tool: &Decided<'_>) -> TokenStream {
    let private = tool.paths.private();
    let input = &tool.input;
    // The arguments of a `pub` tool are in the associated type of a public trait, so rustc would report a private type at all parameters.
    let is_public = !matches!(tool.vis, syn::Visibility::Inherited);
    let mut out = TokenStream::new();
    for param in &tool.params {
        let (alias, ty, number) = (param.alias(), param.value_ty(), param.number);
        if is_public && param.is_sent() && !is_plain(ty) {
            let own = underlined(quote!(type Type = #ty;), &ty.to_token_stream());
            out.extend(quote! {
                impl #private::Param<#number> for #input {
                    #own
                }
                type #alias = <#input as #private::Param<#number>>::Type;
            });
        } else {
            out.extend(quote!(type #alias = #ty;));
        }
        if let Source::Model(argument) = &param.source
            && let Some(ty) = &argument.words.as_type
        {
            let alias = param.as_alias();
            out.extend(quote!(type #alias = #ty;));
        }
    }
    match &tool.output {
        Output::Unit => {}
        Output::Stream { item: ty } | Output::Type(ty) => out.extend(quote!(type __Out = #ty;)),
    }
    out
}

/// Generates `impl HasSpec for search_docs`.
pub(crate) fn spec(tool: &Decided<'_>) -> TokenStream {
    let private = tool.paths.private();
    let input = &tool.input;
    let name = &tool.name;
    let title = tool.facts.title(&tool.paths);
    let description = tool.doc.text(&tool.paths);
    let examples = tool.facts.examples(&tool.paths);
    let providers = tool.facts.providers(&tool.paths);
    let declared = tool.facts.declared(&tool.paths);
    let effects = effects(tool);
    quote! {
        impl #private::HasSpec for #input {
            const SPEC: &'static #private::Spec = &#private::Spec {
                name: #name,
                title: #title,
                description: #description,
                input: <#input as #private::StrictSchema>::SCHEMA,
                examples: &[#(#examples),*],
                providers: #providers,
                hints: #declared.hints(&#effects),
            };
        }
    }
}

/// Generates the effects of the host parameters.
fn effects(tool: &Decided<'_>) -> TokenStream {
    let private = tool.paths.private();
    let types = tool.host_types();
    quote!([#(#private::asks::HostOf::<#types>::EFFECT),*])
}

/// Generates the effects of the host parameters, and which of them only call tools.
fn calls(tool: &Decided<'_>) -> TokenStream {
    let private = tool.paths.private();
    let each = tool.host_types().map(|ty| {
        quote!((
            #private::asks::HostOf::<#ty>::EFFECT,
            #private::asks::HostOf::<#ty>::ONLY_CALLS,
        ))
    });
    quote!([#(#each),*])
}

/// Generates `StaticDef { … }`.
pub(crate) fn definition(tool: &Decided<'_>) -> TokenStream {
    let private = tool.paths.private();
    let input = &tool.input;
    let description = &tool.doc.raw;
    let listing = tool.facts.listing();
    let (secrets, variables) = needs::all(tool);
    let declared = tool.facts.declared(&tool.paths);
    let effects = effects(tool);
    let calls = calls(tool);
    let handling = tool.facts.handling(&tool.paths, input);
    let output_schema =
        quote!(#private::probe::OutputSchema::<<#input as #private::Returns>::Output>::NEW.get());
    let limits = tool.facts.limits();
    // Use the position of the fn, not of the attribute, because a reader looks for the tool at the fn.
    let line = respanned("line", tool.span());
    let file = respanned("file", tool.span());
    quote! {
        #private::StaticDef {
            spec: <#input as #private::HasSpec>::SPEC,
            description: #description,
            #listing
            secrets: &[#(#secrets),*],
            variables: &[#(#variables),*],
            effect: #declared.effect(&#effects),
            #handling
            only_calls: #declared.only_calls(&#calls),
            #limits
            origin: #private::Origin {
                krate: #private::krate(::core::option_env!("CARGO_PKG_NAME"), ::core::module_path!()),
                module: ::core::module_path!(),
                file: #file,
                line: #line,
            },
            text: #private::text::<#input, { <#input as #private::Facts>::TOTAL }>,
            output: || {
                use #private::probe::{ByJsonSchema as _, BySilence as _};
                #output_schema
            },
            start: #private::asks::StartOf::<#input>::START,
        }
    }
}

fn respanned(name: &str, span: Span) -> TokenStream {
    let name = Ident::new(name, span);
    quote::quote_spanned!(span=> ::core::#name!())
}
