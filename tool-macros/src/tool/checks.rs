//! What only const evaluation can check, underlined at the user's own tokens.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::Type;

use crate::allow::PATTERN_ANCHORS;
use crate::spans;
use crate::tool::model::{Argument, Output, Source, Tool};
use crate::tool::parse::Named;
use crate::tool::{
    INT_RANGE, LIMIT_OPTIONAL, LIMIT_UNION, TOOL_DESCRIPTION_LONG, TOOL_NAME_CLIENT,
};
use crate::tool::{definition, run};

/// Every check of the tool.
pub(crate) fn all(tool: &Tool<'_>) -> TokenStream {
    let private = tool.paths.private();
    let input = &tool.input;
    let place = match tool.args() {
        Some(args) => args.ty.to_token_stream(),
        None => tool.written.ident.to_token_stream(),
    };
    let limits = quote!(<#input as #private::HasSpec>::SPEC, &<#input as #private::Facts>::SURVEY);
    let mut out = spans::check(&tool.paths, &place, "check_limits", limits);
    for param in &tool.params {
        match &param.source {
            Source::Model(argument) => out.extend(of_argument(tool, param.named, argument)),
            Source::Borrowed(ty) => out.extend(read_only(tool, param.named, ty)),
            Source::Context => out.extend(read_only(tool, param.named, &param.named.ty)),
            Source::Args | Source::Secret(_) | Source::Variable(_) => {}
        }
    }
    if let Some(args) = tool.args() {
        let ty = &args.ty;
        out.extend(param(
            tool,
            args,
            &quote!(<#ty as #private::Argument>::NODE),
        ));
    }
    out.extend(examples(tool));
    out.extend(needs(tool));
    out.extend(output_keys(tool));
    out
}

/// `check_output_keys` on the return type. A unit has no keys.
fn output_keys(tool: &Tool<'_>) -> Option<TokenStream> {
    if matches!(tool.output, Output::Unit) {
        return None;
    }
    let private = tool.paths.private();
    let name = &tool.name;
    // Underlined as the return type, so that a type that cannot be an output is told once.
    let output = run::output(tool);
    let asks = |probe: TokenStream| {
        let probe = run::at_output(tool, quote!(#private::#probe::<#output>));
        run::at_output(tool, quote!(<#probe>::UNWRITABLE))
    };
    let (map, value) = (asks(quote!(WrittenMap)), asks(quote!(WrittenValue)));
    let unwritable = quote! {
        {
            #[allow(unused_imports)]
            use #private::Written as _;
            #map || #value
        }
    };
    let place = run::output_place(tool);
    let arguments = quote!(#unwritable, #name);
    Some(spans::check(
        &tool.paths,
        &place,
        "check_output_keys",
        arguments,
    ))
}

/// `check_param` on the type, `check_constraints` on the bounds, `check_default` on the default.
fn of_argument(tool: &Tool<'_>, named: &Named, argument: &Argument) -> TokenStream {
    let paths = &tool.paths;
    let (name, key) = (&tool.name, &argument.key);
    let schema = definition::bare_schema(paths, named, argument);
    let mut out = param(tool, named, &schema);
    if let Some(stated) = &argument.words.as_type {
        let own = spans::schema_of(paths, &named.ty);
        let bounded = definition::bounded_schema(paths, named, argument);
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
        let bounded = definition::bounded_schema(paths, named, argument);
        let example = default.example(paths);
        let arguments = quote!(#bounded, &#example, #name, #key);
        out.extend(spans::check(paths, default, "check_default", arguments));
    }
    out
}

fn param(tool: &Tool<'_>, named: &Named, schema: &TokenStream) -> TokenStream {
    let providers = definition::providers(tool);
    let name = &tool.name;
    let param = named.ident.to_string();
    spans::check(
        &tool.paths,
        &named.ty,
        "check_param",
        quote!(#schema, #providers, #name, #param),
    )
}

/// Types that everybody writes and that hold no 128 bits: no use in asking.
fn is_narrow(ty: &Type) -> bool {
    let text = type_text(ty);
    let inner = text
        .strip_prefix("Option<")
        .or_else(|| text.strip_prefix("Vec<"))
        .and_then(|rest| rest.strip_suffix('>'))
        .unwrap_or(&text);
    [
        "String", "bool", "char", "u8", "u16", "u32", "u64", "usize", "i8", "i16", "i32", "i64",
        "isize", "f32", "f64",
    ]
    .contains(&inner)
}

/// `Option<&'static str>`, where tokens alone are printed as `Option < & 'static str >`.
fn type_text(ty: &Type) -> String {
    let mut text = String::new();
    let written = ty.to_token_stream().to_string();
    for word in written.split(' ') {
        let apart = text.ends_with(|c: char| c.is_alphanumeric() || c == '+')
            && word.starts_with(|c: char| c.is_alphanumeric() || c == '+');
        if apart {
            text.push(' ');
        }
        text.push_str(word);
    }
    text
}

/// `read_only` holds only where no host parameter can write.
fn read_only(tool: &Tool<'_>, named: &Named, host: &Type) -> Option<TokenStream> {
    tool.options.read_only.as_ref()?;
    let private = tool.paths.private();
    let name = &tool.name;
    let param = named.ident.to_string();
    let host_name = type_text(host);
    let arguments = quote!(<#host as #private::FromContext>::EFFECT, #name, #param, #host_name);
    Some(spans::check(
        &tool.paths,
        &named.ty,
        "check_read_only",
        arguments,
    ))
}

fn examples(tool: &Tool<'_>) -> TokenStream {
    let private = tool.paths.private();
    let input = &tool.input;
    let name = &tool.name;
    let mut out = TokenStream::new();
    for (number, example) in tool.options.examples.iter().enumerate() {
        let place = &example.input;
        let arguments = quote! {
            <#input as #private::StrictSchema>::SCHEMA,
            &<#input as #private::HasSpec>::SPEC.examples[#number].input,
            #name,
            #number
        };
        out.extend(spans::check(&tool.paths, place, "check_example", arguments));
        if let Some(result) = &example.result {
            let json = result.example(&tool.paths);
            let own = spans::schema_of(&tool.paths, &quote!(<#input as #private::Tool>::Output));
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

/// Declarations that injected ones may clash with.
fn needs(tool: &Tool<'_>) -> TokenStream {
    let name = &tool.written.ident;
    let mut out = TokenStream::new();
    let (secrets, variables) = definition::needs(tool);
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

/// Every warning of the tool. What syntax shows is asked here, so that the compiler has nothing to evaluate.
pub(crate) fn warnings(tool: &Tool<'_>) -> TokenStream {
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
    let ident = &tool.written.ident;
    if !tool.allows(TOOL_DESCRIPTION_LONG) && tool.doc.raw.chars().count() > 1024 {
        out.extend(spans::warning(
            &tool.paths,
            ident,
            TOOL_DESCRIPTION_LONG.warn,
            quote!(true),
        ));
    }
    for (rule, asks) in [
        (LIMIT_OPTIONAL, quote!(many_optionals)),
        (LIMIT_UNION, quote!(many_unions)),
    ] {
        if !tool.allows(rule) {
            let hit = quote!(#private::warn::#asks(<#input as #private::HasSpec>::SPEC, &<#input as #private::Facts>::SURVEY));
            out.extend(spans::warning(&tool.paths, ident, rule.warn, hit));
        }
    }
    for (named, argument) in tool.arguments() {
        out.extend(argument_warnings(tool, named, argument));
    }
    out
}

fn argument_warnings(tool: &Tool<'_>, named: &Named, argument: &Argument) -> TokenStream {
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
    let ty = &named.ty;
    if !allows(INT_RANGE) && !is_narrow(ty) {
        let node = definition::bare_schema(&tool.paths, named, argument);
        let hit = quote!(#private::survey(#node).wide_integer);
        out.extend(spans::warning(&tool.paths, ty, INT_RANGE.warn, hit));
    }
    out
}
