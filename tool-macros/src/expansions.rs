//! Test that the macros expand each `NAME.rs` in the folder `expansions` to its `NAME.expanded.rs`, formatted by rustfmt.
//!
//! `EXPANSIONS=overwrite` writes the expanded files. The tokens in `#[beside(…)]` are shown after the item, as that macro emits them.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, fs};

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::{ToTokens as _, quote};
use syn::parse::{ParseStream, Parser as _};
use syn::{Attribute, Meta};

/// Expands the items that have a macro of this crate, and drops all other items.
fn expand(program: TokenStream) -> TokenStream {
    let items = |input: ParseStream<'_>| {
        let mut out = TokenStream::new();
        while !input.is_empty() {
            let attrs = input.call(Attribute::parse_outer)?;
            let mut item = TokenStream::new();
            while !input.is_empty() {
                let token: TokenTree = input.parse()?;
                let is_end = match &token {
                    TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
                    TokenTree::Punct(punct) => punct.as_char() == ';',
                    _ => false,
                };
                token.to_tokens(&mut item);
                if is_end {
                    break;
                }
            }
            out.extend(expand_item(&attrs, &item));
        }
        Ok(out)
    };
    items.parse2(program).unwrap()
}

fn expand_item(attrs: &[Attribute], item: &TokenStream) -> TokenStream {
    let is_macro =
        |attr: &&Attribute| attr.path().is_ident("tool") || attr.path().is_ident("derive");
    let others = attrs.iter().filter(|attr| !is_macro(attr));
    let item = quote!(#(#others)* #item);
    let mut out = TokenStream::new();
    for attr in attrs.iter().filter(is_macro) {
        let list = match &attr.meta {
            Meta::List(list) => list.tokens.clone(),
            _ => TokenStream::new(),
        };
        if attr.path().is_ident("tool") {
            let mut beside = TokenStream::new();
            out.extend(without_beside(
                crate::tool::expand(list, item.clone()),
                &mut beside,
            ));
            out.extend(beside);
            continue;
        }
        for derive in list {
            match &*derive.to_string() {
                "StrictSchema" => out.extend(crate::derive::derive(item.clone())),
                "ToolError" => out.extend(crate::failure::derive(item.clone())),
                _ => {}
            }
        }
    }
    out
}

/// Moves the tokens in `#[…::beside(…)]` to `beside`.
fn without_beside(tokens: TokenStream, beside: &mut TokenStream) -> TokenStream {
    let mut out: Vec<TokenTree> = Vec::new();
    for token in tokens {
        if let TokenTree::Group(group) = &token
            && let [.., TokenTree::Ident(name), TokenTree::Group(rest)] =
                &*group.stream().into_iter().collect::<Vec<_>>()
            && name == "beside"
        {
            out.pop();
            beside.extend(rest.stream());
        } else {
            out.push(token);
        }
    }
    out.into_iter().collect()
}

fn format(program: &TokenStream) -> String {
    let mut rustfmt = Command::new("rustfmt")
        .args(["--edition", "2024"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let text = program.to_string();
    rustfmt
        .stdin
        .take()
        .unwrap()
        .write_all(text.as_bytes())
        .unwrap();
    let done = rustfmt.wait_with_output().unwrap();
    assert!(
        done.status.success(),
        "rustfmt refuses the expansion: {text}"
    );
    String::from_utf8(done.stdout).unwrap()
}

#[test]
fn macros_expand_to_the_recorded_code() {
    let overwrite = env::var_os("EXPANSIONS").is_some_and(|value| value == "overwrite");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("expansions");
    let (mut changed, mut programs) = (Vec::new(), 0);
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.to_str().unwrap().ends_with(".expanded.rs") {
            continue;
        }
        programs += 1;
        let program = fs::read_to_string(&path).unwrap();
        let found = format(&expand(program.parse().unwrap()));
        let expanded = path.with_extension("expanded.rs");
        if overwrite {
            fs::write(expanded, found).unwrap();
        } else if fs::read_to_string(&expanded).unwrap_or_default() != found {
            changed.push(expanded);
        }
    }
    assert!(programs > 0, "the folder `expansions` contains no program");
    assert!(
        changed.is_empty(),
        "the expansion differs from the recorded files, write them with `EXPANSIONS=overwrite` and read the difference: {changed:?}"
    );
}
