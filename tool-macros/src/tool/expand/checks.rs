//! Checks that need const evaluation; their errors underline the user's tokens.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{GenericArgument, PathArguments, Type};

use crate::allow::{
    INT_RANGE, MANY_OPTIONALS, MANY_UNIONS, PATTERN_ANCHORS, TOOL_DESCRIPTION_LONG,
    TOOL_NAME_CLIENT,
};
use crate::json::Value;
use crate::paths::underlined;
use crate::spans;
use crate::tool::expand::{definition, input, needs, run};
use crate::tool::model::{Argument, Decided, Output, Param, Source};
use crate::types::{is_plain, peeled, type_text};

/// Generates every check of the tool.
pub(crate) fn all(tool: &Decided<'_>) -> TokenStream {
    let private = tool.paths.private();
    let input = &tool.input;
    let limits = quote!(<#input as #private::HasSpec>::SPEC, &<#input as #private::Facts>::SURVEY);
    let mut out = match tool.args() {
        Some(args) => spans::check(&tool.paths, &args.ty, "check_limits", limits),
        None => spans::check(&tool.paths, tool.ident, "check_root", limits),
    };
    for (at, (param, argument)) in tool.arguments().enumerate() {
        out.extend(of_argument(tool, param, argument, at));
    }
    for param in &tool.params {
        if let Source::Borrowed(_) | Source::Context = &param.source {
            out.extend(read_only(tool, param));
        }
    }
    if let Some(args) = tool.args() {
        let ty = &args.ty;
        let providers = tool.facts.providers(&tool.paths);
        let (name, param) = (&tool.name, args.ident.to_string());
        let schema = quote!(<#ty as #private::StrictSchema>::SCHEMA);
        let arguments = quote!(#schema, #providers, #name, #param);
        out.extend(spans::check(&tool.paths, ty, "check_param", arguments));
    }
    for param in sent(tool) {
        let ty = param.value_ty();
        let place = not_sent(ty).unwrap_or_else(|| ty.to_token_stream());
        let asked = input::asked(tool, &param.alias(), &place);
        let ask = underlined(quote!(#private::asks::SentOf::<#asked>::ask), &place);
        out.extend(quote!(const _: fn() = #ask;));
    }
    out.extend(run::asks_output(tool));
    out.extend(examples(tool));
    out.extend(needs(tool));
    out.extend(output_keys(tool));
    out
}

/// Generates `check_output_keys` at the return type. A unit has no keys.
fn output_keys(tool: &Decided<'_>) -> Option<TokenStream> {
    let place = match &tool.output {
        Output::Unit => return None,
        Output::Stream { item: ty } | Output::Type(ty) => ty.to_token_stream(),
    };
    let private = tool.paths.private();
    let (name, input) = (&tool.name, &tool.input);
    let asks = |probe: TokenStream| quote!(<#private::#probe::<<#input as #private::Returns>::Output>>::UNWRITABLE);
    let (map, value) = (asks(quote!(WrittenMap)), asks(quote!(WrittenValue)));
    let unwritable = quote! {
        {
            #[allow(unused_imports)]
            use #private::Written as _;
            #map || #value
        }
    };
    let arguments = quote!(#unwritable, #name);
    Some(spans::check(
        &tool.paths,
        &place,
        "check_output_keys",
        arguments,
    ))
}

/// Returns the parameters that the model fills in, without parameters of plain types, which need no check for `Send`.
pub(crate) fn sent<'t, 'a>(tool: &'t Decided<'a>) -> impl Iterator<Item = &'t Param<'a>> {
    tool.params
        .iter()
        .filter(|param| param.is_sent() && !is_plain(param.value_ty()))
}

/// Returns `Rc<…>` in a type, to underline it instead of the whole type.
fn not_sent(ty: &Type) -> Option<TokenStream> {
    let Type::Path(path) = peeled(ty) else {
        return None;
    };
    let last = path.path.segments.last()?;
    if last.ident == "Rc" {
        return Some(ty.to_token_stream());
    }
    let PathArguments::AngleBracketed(inside) = &last.arguments else {
        return None;
    };
    inside.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(ty) => not_sent(ty),
        _ => None,
    })
}

/// Generates `check_argument` at the type, `check_as` at the type of `as`, `check_constraints` at the constraints, and `check_default` at the
/// default. `at` is the index of the argument.
fn of_argument(
    tool: &Decided<'_>,
    param: &Param<'_>,
    argument: &Argument,
    at: usize,
) -> TokenStream {
    let paths = &tool.paths;
    let private = paths.private();
    let input = &tool.input;
    let (name, key) = (&tool.name, &argument.key);
    let ty = param.ty;
    let schema = definition::bare_schema(paths, param, argument);
    let ident = param.ident.to_string();
    let asked = argument.words.as_type.as_ref().unwrap_or(ty);
    let arguments = quote! {
        <#asked as #private::StrictSchema>::SCHEMA,
        <#input as #private::HasSpec>::SPEC,
        &<#input as #private::Facts>::SURVEY,
        #at,
        #ident
    };
    let mut out = spans::check(paths, ty, "check_argument", arguments);
    if let Some(stated) = &argument.words.as_type {
        let own = spans::schema_of(paths, &param.alias());
        let bounded = definition::bounded_schema(paths, param, argument);
        let arguments = quote!(#own, #bounded, #name, #key, true);
        out.extend(spans::check(paths, stated, "check_as", arguments));
    }
    let bounds = &argument.words.bounds;
    let tree = bounds.tree(paths);
    if !bounds.is_empty() {
        let arguments = quote!(#schema, &#tree, #name, #key);
        out.extend(spans::check(paths, bounds, "check_constraints", arguments));
    }
    if let Some(default) = &argument.words.default {
        let bounded = definition::bounded_schema(paths, param, argument);
        let example = default.example(paths);
        let arguments = quote!(#bounded, &#example, #name, #key);
        out.extend(spans::check(paths, default, "check_default", arguments));
    }
    out
}

/// Generates the check that no host parameter of a `read_only` tool can change state.
fn read_only(tool: &Decided<'_>, param: &Param<'_>) -> Option<TokenStream> {
    if !tool.facts.read_only {
        return None;
    }
    let private = tool.paths.private();
    let name = &tool.name;
    let host = param.alias();
    let ident = param.ident.to_string();
    let host_name = type_text(param.value_ty());
    let arguments = quote!(#private::asks::HostOf::<#host>::EFFECT, #name, #ident, #host_name);
    Some(spans::check(
        &tool.paths,
        &param.ty,
        "check_read_only",
        arguments,
    ))
}

fn examples(tool: &Decided<'_>) -> TokenStream {
    let private = tool.paths.private();
    let input = &tool.input;
    let name = &tool.name;
    let mut out = TokenStream::new();
    for (number, example) in tool.facts.examples.iter().enumerate() {
        // An example may omit arguments, so each stated argument is checked separately, at its own tokens.
        if let Value::Object(entries) = &example.input.value {
            for ((key, value), place) in entries.iter().zip(example.input.entries()) {
                let value = value.tree(&tool.paths);
                let arguments = quote! {
                    <#input as #private::StrictSchema>::SCHEMA,
                    #key,
                    &#value,
                    #name
                };
                out.extend(spans::check(
                    &tool.paths,
                    &place,
                    "check_example_entry",
                    arguments,
                ));
            }
        }
        if let Some(result) = &example.result {
            let json = result.example(&tool.paths);
            let own = spans::schema_of(&tool.paths, &quote!(<#input as #private::Returns>::Output));
            let arguments = quote!(#own, &#json, #name, #number);
            out.extend(spans::check(
                &tool.paths,
                result,
                "check_stated_result",
                arguments,
            ));
        }
    }
    out
}

/// Generates the checks that no two declarations of secrets or variables conflict.
fn needs(tool: &Decided<'_>) -> TokenStream {
    let name = tool.ident;
    let mut out = TokenStream::new();
    let (secrets, variables) = needs::all(tool);
    if secrets.len() > 1 {
        out.extend(spans::check(
            &tool.paths,
            name,
            "check_secrets",
            quote!(&[#(#secrets),*]),
        ));
    }
    if variables.len() > 1 {
        out.extend(spans::check(
            &tool.paths,
            name,
            "check_variables",
            quote!(&[#(#variables),*]),
        ));
    }
    out
}

/// Generates every warning of the tool. Conditions that the syntax shows are checked here, so that the compiler need not evaluate them.
pub(crate) fn warnings(tool: &Decided<'_>) -> TokenStream {
    let private = tool.paths.private();
    let input = &tool.input;
    let mut out = TokenStream::new();
    let name = &tool.name;
    if !tool.allows(TOOL_NAME_CLIENT)
        && (name.len() > 50 || name.contains(|c: char| c.is_ascii_uppercase()))
    {
        out.extend(spans::warning(
            &tool.paths,
            &tool.name_at,
            TOOL_NAME_CLIENT.warn,
            quote!(true),
        ));
    }
    let ident = tool.ident;
    if !tool.allows(TOOL_DESCRIPTION_LONG) && tool.doc.raw.chars().count() > 1024 {
        out.extend(spans::warning(
            &tool.paths,
            ident,
            TOOL_DESCRIPTION_LONG.warn,
            quote!(true),
        ));
    }
    if let Some(args) = tool.args() {
        for (rule, asks) in [
            (MANY_OPTIONALS, quote!(many_optionals)),
            (MANY_UNIONS, quote!(many_unions)),
        ] {
            if !tool.allows(rule) {
                let hit = quote!(#private::warn::#asks(<#input as #private::HasSpec>::SPEC, &<#input as #private::Facts>::SURVEY));
                let ty = &args.ty;
                out.extend(spans::warning(&tool.paths, ty, rule.warn, hit));
            }
        }
    }
    for (at, (param, argument)) in tool.arguments().enumerate() {
        out.extend(limit_warnings(tool, param, argument, at));
        out.extend(argument_warnings(tool, param, argument, at));
    }
    out
}

/// Generates the warnings about limits, at the parameter that exceeds them. Parameters that cannot exceed them, by their syntax, are skipped.
fn limit_warnings(
    tool: &Decided<'_>,
    param: &Param<'_>,
    argument: &Argument,
    at: usize,
) -> TokenStream {
    let private = tool.paths.private();
    let input = &tool.input;
    let ty = param.ty;
    let plain = is_plain(ty) && argument.words.as_type.is_none();
    let optional = argument.words.default.is_some() || type_text(ty).starts_with("Option<");
    let mut out = TokenStream::new();
    for (rule, asks, applies) in [
        (
            MANY_OPTIONALS,
            quote!(crosses_optionals),
            optional || !plain,
        ),
        (MANY_UNIONS, quote!(crosses_unions), !plain),
    ] {
        if applies && !tool.allows(rule) {
            let hit = quote!(#private::#asks(<#input as #private::HasSpec>::SPEC, &<#input as #private::Facts>::SURVEY, #at));
            out.extend(spans::warning(&tool.paths, ty, rule.warn, hit));
        }
    }
    out
}

fn argument_warnings(
    tool: &Decided<'_>,
    param: &Param<'_>,
    argument: &Argument,
    at: usize,
) -> TokenStream {
    let private = tool.paths.private();
    let allows = |rule| tool.allows(rule) || argument.allow.contains(rule);
    let mut out = TokenStream::new();
    if let Some(pattern) = argument.words.bounds.unanchored_pattern()
        && !allows(PATTERN_ANCHORS)
    {
        out.extend(spans::warning(
            &tool.paths,
            pattern,
            PATTERN_ANCHORS.warn,
            quote!(true),
        ));
    }
    let ty = param.ty;
    if !allows(INT_RANGE) && !is_plain(ty) {
        let input = &tool.input;
        let hit = quote!(#private::takes_wide_integer(<#input as #private::HasSpec>::SPEC, #at));
        out.extend(spans::warning(&tool.paths, ty, INT_RANGE.warn, hit));
    }
    out
}
