//! Generation of the tool's schema, `Spec` and `StaticDef`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens as _, format_ident, quote, quote_spanned};

use crate::docs::escape;
use crate::paths::{Paths, ends, underlined};
use crate::tool::model::{Argument, Output, Param, Source, Tool};
use crate::tool::parse::options::{Approval, Example, Predicate, Timeout};
use crate::types::is_plain;

const SOME: fn(TokenStream) -> TokenStream = |value| quote!(::core::option::Option::Some(#value));

fn none() -> TokenStream {
    quote!(::core::option::Option::None)
}

/// Generates `impl StrictSchema for search_docs`.
pub(crate) fn schema(tool: &Tool<'_>) -> TokenStream {
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
    // The type need not be an `Option`, and only an `Option` is read when the key is absent.
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
/// about a type that does not exist are then the same as those of the fn and the struct.
pub(crate) fn aliases(tool: &Tool<'_>) -> TokenStream {
    let private = tool.paths.private();
    let input = &tool.input;
    // The arguments of a `pub` tool are in the associated type of a public trait, so a private type would be an error at all parameters.
    let is_public = !matches!(tool.written.vis, syn::Visibility::Inherited);
    let mut out = TokenStream::new();
    for param in &tool.params {
        let (alias, ty, number) = (param.alias(), param.ty(), param.number);
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
pub(crate) fn spec(tool: &Tool<'_>) -> TokenStream {
    let private = tool.paths.private();
    let input = &tool.input;
    let name = &tool.name;
    let title = tool.options.title.as_ref().map_or_else(none, |title| {
        let title = escape(&title.value());
        SOME(quote!(#private::Text::escaped(#title)))
    });
    let description = tool.doc.text(&tool.paths);
    let examples = tool
        .options
        .examples
        .iter()
        .map(|example| tool_example(&tool.paths, example));
    let providers = providers(tool);
    let declared = declared(tool);
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

fn tool_example(paths: &Paths, example: &Example) -> TokenStream {
    let private = paths.private();
    let label = example.label.as_ref().map_or_else(none, |label| {
        let label = escape(&label.value());
        SOME(quote!(#private::Text::escaped(#label)))
    });
    let input = example.input.example(paths);
    let result = example
        .result
        .as_ref()
        .map_or_else(none, |result| SOME(result.example(paths)));
    quote!(#private::ToolExample { label: #label, input: #input, result: #result })
}

/// Generates `Dialects::ALL`, or the dialects of `providers(…)`.
pub(crate) fn providers(tool: &Tool<'_>) -> TokenStream {
    let private = tool.paths.private();
    match &tool.options.providers {
        None => quote!(#private::Dialects::ALL),
        Some(names) => {
            let names = names.iter().map(|name| format_ident!("{name}"));
            quote!(#private::Dialects::NONE #(.with(#private::Dialect::#names))*)
        }
    }
}

/// Generates the declared effects.
fn declared(tool: &Tool<'_>) -> TokenStream {
    let private = tool.paths.private();
    let words = [
        &tool.options.read_only,
        &tool.options.destructive,
        &tool.options.idempotent,
        &tool.options.open_world,
    ];
    if words.iter().all(|word| word.is_none()) {
        return quote!(#private::Declared::NONE);
    }
    let [read_only, destructive, idempotent, open_world] = words.map(Option::is_some);
    quote! {
        #private::Declared {
            read_only: #read_only,
            destructive: #destructive,
            idempotent: #idempotent,
            open_world: #open_world,
        }
    }
}

/// Generates the effects of the host parameters.
fn effects(tool: &Tool<'_>) -> TokenStream {
    let private = tool.paths.private();
    let types = tool.host_types();
    quote!([#(#private::asks::HostOf::<#types>::EFFECT),*])
}

/// Generates the effects of the host parameters, and which of them only call tools.
fn calls(tool: &Tool<'_>) -> TokenStream {
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
pub(crate) fn definition(tool: &Tool<'_>) -> TokenStream {
    let private = tool.paths.private();
    let input = &tool.input;
    let options = tool.options;
    let description = &tool.doc.raw;
    let category = options
        .category
        .as_ref()
        .map_or_else(|| "general".to_owned(), syn::LitStr::value);
    let tags = options.tags.iter().flatten();
    let (secrets, variables) = needs(tool);
    let declared = declared(tool);
    let effects = effects(tool);
    let calls = calls(tool);
    let approval = approval(tool);
    let timeout = timeout(tool);
    let sequential = options.sequential.is_some();
    let harness = options.harness.is_some();
    let output_schema =
        quote!(#private::probe::OutputSchema::<<#input as #private::Returns>::Output>::NEW.get());
    let output_limit = options.output_limit.clone().map_or_else(none, SOME);
    // The position of the fn, not of the attribute, because a reader looks for the tool there.
    let line = respanned("line", tool.span());
    let file = respanned("file", tool.span());
    quote! {
        #private::StaticDef {
            spec: <#input as #private::HasSpec>::SPEC,
            description: #description,
            category: #category,
            tags: &[#(#tags),*],
            secrets: &[#(#secrets),*],
            variables: &[#(#variables),*],
            effect: #declared.effect(&#effects),
            approval: #approval,
            timeout: #timeout,
            sequential: #sequential,
            harness: #harness,
            only_calls: #declared.only_calls(&#calls),
            output_limit: #output_limit,
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

/// Returns the secrets and variables on the attribute, and then those of parameters.
pub(crate) fn needs(tool: &Tool<'_>) -> (Vec<TokenStream>, Vec<TokenStream>) {
    let private = tool.paths.private();
    let paths = &tool.paths;
    let mut secrets: Vec<_> = tool
        .options
        .secrets
        .iter()
        .map(|secret| secret.need(paths, None))
        .collect();
    let mut variables: Vec<_> = tool
        .options
        .variables
        .iter()
        .map(|variable| variable.need(paths, None))
        .collect();
    for param in &tool.params {
        let ty = param.alias();
        match &param.source {
            Source::Secret(secret) => {
                let optional = quote!(#private::asks::SecretOf::<#ty>::OPTIONAL);
                secrets.push(secret.need(paths, Some(optional)));
            }
            Source::Variable(variable) => {
                let optional = quote!(#private::asks::VariableOf::<#ty>::OPTIONAL);
                variables.push(variable.need(paths, Some(optional)));
            }
            _ => {}
        }
    }
    (secrets, variables)
}

/// Generates `Approval::…`. A predicate is a fn of the typed arguments and the context.
fn approval(tool: &Tool<'_>) -> TokenStream {
    let private = tool.paths.private();
    let input = &tool.input;
    match &tool.options.approval {
        None => quote!(#private::Approval::ByEffect),
        Some(Approval::Always) => quote!(#private::Approval::Always),
        Some(Approval::When(predicate)) => {
            let (fn_name, place, value) = match predicate {
                Predicate::Path(path) => {
                    let place = path.to_token_stream();
                    let picked = quote!(#private::PredicateOf::<#input, _>::of(#path).picked());
                    ("predicate_path", place.clone(), underlined(picked, &place))
                }
                Predicate::Closure(closure) => ("predicate", closure.clone(), closure.clone()),
            };
            // A wrong type of the predicate is reported at the predicate.
            let (first, _) = ends(&place);
            let private_at = tool.paths.private_at(first);
            let fn_name = Ident::new(fn_name, first);
            let path = underlined(
                quote_spanned!(first=> #private_at::#fn_name::<#input, _>),
                &place,
            );
            quote!(#private::Approval::When(|__text, __cx| #path(__text, __cx, #value)))
        }
    }
}

fn timeout(tool: &Tool<'_>) -> TokenStream {
    let private = tool.paths.private();
    match &tool.options.timeout {
        None => none(),
        Some(Timeout::Millis(millis)) => SOME(quote!(#private::Duration::from_millis(#millis))),
        Some(Timeout::Expr(expr)) => SOME(expr.clone()),
    }
}
