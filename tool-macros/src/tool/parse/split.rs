//! Parsing of parameters with `#[cfg]` or `#[cfg_attr]`.
//!
//! rustc passes a fn to an attribute macro before it evaluates `#[cfg(P)]` on parameters, and
//! an expansion that lists the parameters could not respect it. The tool is therefore generated twice,
//! with and without the parameter (for `#[cfg_attr]`: its attributes), each with its condition. rustc drops one before it expands the other.
//!
//! ```text
//! #[tool(…)] fn f(#[cfg(P)] a: A, b: B) {…}
//! →
//! #[cfg(P)] #[tool(…)] fn f(a: A, b: B) {…}
//! #[cfg(not(P))] #[tool(…)] fn f(b: B) {…}
//! ```

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::punctuated::Punctuated;
use syn::{Attribute, Meta, Token};

use crate::tool::parse::function::{Function, Named, Param};
use crate::tool::parse::options::Options;

/// Generates both variants of the tool. Returns `None` if no parameter has a condition.
pub(crate) fn on_cfg(attr: &TokenStream, function: &Function) -> Option<TokenStream> {
    let (at, number, condition) = first(function)?;
    let Param::Named(named) = &function.params[at] else {
        return None;
    };
    let (condition, instead) = condition;
    let listed = instead.as_deref().unwrap_or_default();
    let with = fn_with(function, at, Some(&attributes(named, number, listed)));
    // `cfg` removes the parameter, `cfg_attr` only the attributes that it lists.
    let rest = instead.is_some().then(|| attributes(named, number, &[]));
    let without = fn_with(function, at, rest.as_ref());
    let krate = Options::paths_of(attr.clone()).private();
    Some(quote! {
        #[cfg(#condition)] #[#krate::tool(#attr)] #with
        #[cfg(not(#condition))] #[#krate::tool(#attr)] #without
    })
}

/// The condition `P`, and for `cfg_attr` the attributes that replace the attribute if `P` is true.
type Condition = (TokenStream, Option<Vec<TokenStream>>);

/// Returns the first parameter with a condition, the index of the attribute, and the condition.
fn first(function: &Function) -> Option<(usize, usize, Condition)> {
    function.params.iter().enumerate().find_map(|(at, param)| {
        let Param::Named(named) = param else {
            return None;
        };
        let mut attrs = named.attrs.iter().enumerate();
        attrs.find_map(|(number, attr)| Some((at, number, condition(attr)?)))
    })
}

fn condition(attr: &Attribute) -> Option<Condition> {
    let Meta::List(list) = &attr.meta else {
        return None;
    };
    if list.path.is_ident("cfg") {
        return Some((list.tokens.clone(), None));
    }
    if !list.path.is_ident("cfg_attr") {
        return None;
    }
    let metas = list
        .parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)
        .ok()?;
    // rustc requires a comma after the condition, even if no attribute follows, and reports an attribute without it.
    if metas.len() == 1 && !metas.trailing_punct() {
        return None;
    }
    let mut metas = metas.into_iter().map(ToTokens::into_token_stream);
    Some((metas.next()?, Some(metas.collect())))
}

/// Generates the parameter's attributes with `instead` in place of the attribute at this index.
fn attributes(named: &Named, number: usize, instead: &[TokenStream]) -> TokenStream {
    let before = &named.attrs[..number];
    let after = &named.attrs[number + 1..];
    quote!(#(#before)* #(#[#instead])* #(#after)*)
}

/// Generates the fn with all parameter attributes. The parameter at `at` gets the attributes `attrs`, or is omitted.
fn fn_with(function: &Function, at: usize, attrs: Option<&TokenStream>) -> TokenStream {
    let params = function
        .params
        .iter()
        .enumerate()
        .filter_map(|(number, param)| match param {
            Param::Named(named) => {
                let Named {
                    mutability,
                    ident,
                    colon,
                    ty,
                    ..
                } = named;
                let all = &named.attrs;
                let attrs = if number == at {
                    attrs?.clone()
                } else {
                    quote!(#(#all)*)
                };
                Some(quote!(#attrs #mutability #ident #colon #ty))
            }
            Param::Other(tokens) => Some(tokens.clone()),
        });
    function.with_params(&params.collect::<Vec<_>>())
}
