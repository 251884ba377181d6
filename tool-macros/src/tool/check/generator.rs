//! Check of `tool_stream!` in a fn that borrows from the host. The stream outlives the call of
//! the fn, so a borrow in it is refused. rustc would underline generated code and suggest no fix.
//!
//! A borrow that the fn uses before it creates its stream is allowed, and so is a borrow that a `let` of the same name has copied, as in `let cx =
//! cx.clone();`.

use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens as _, quote};
use syn::ext::IdentExt as _;

use crate::errors::Errors;
use crate::stream::first_yield;
use crate::tool::model::{Decided, Param, Source};
use crate::tool::parse::function::Function;
use crate::tool::texts;
use crate::types::type_text;

/// Refuses every borrowed host value that the stream uses, at its type.
pub(crate) fn check(body: &TokenStream, params: &[Param<'_>], errors: &Errors) {
    for param in params {
        let Source::Borrowed(ty) = &param.source else {
            continue;
        };
        let name = param.ident.unraw().to_string();
        if captures(body.clone(), &name, &mut false) {
            let text = texts::borrowed_by_generator(&name, &type_text(ty));
            errors.at(param.ty, text);
        }
    }
}

/// Refuses a `yield` outside of `tool_stream!`. Returns whether the body contains such a `yield`, because rustc would report it again.
pub(crate) fn check_yield(body: &TokenStream, errors: &Errors) -> bool {
    let word = first_yield(body.clone());
    if let Some(word) = &word {
        errors.at(word, texts::YIELD);
    }
    word.is_some()
}

/// Returns the fn of a tool for the fallback. If a stream uses a borrowed host value, every stream of the fn is replaced, so that rustc does not
/// report the borrow again.
pub(crate) fn without_captures(tool: &Decided<'_>, function: &Function) -> TokenStream {
    let borrowed = tool
        .params
        .iter()
        .filter(|param| matches!(param.source, Source::Borrowed(_)));
    let mut names = borrowed.map(|param| param.ident.unraw().to_string());
    if !names.any(|name| captures(function.body.clone(), &name, &mut false)) {
        return function.to_token_stream();
    }
    let private = tool.paths.private();
    let item = replaced(function.to_token_stream(), &quote!(#private::no_stream()));
    // Variables that only the stream used are unused without it.
    quote!(#[allow(unused_variables)] #item)
}

/// Returns whether a `tool_stream!` in the tokens uses a name that no `let` before it has shadowed. `taken` is whether a `let` has shadowed the name.
fn captures(tokens: TokenStream, name: &str, taken: &mut bool) -> bool {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for at in 0..tokens.len() {
        match (&tokens[at], tokens.get(at + 1), tokens.get(at + 2)) {
            (TokenTree::Ident(word), Some(next), after) if word == "let" => {
                let bound = if is_word(next, "mut") {
                    after
                } else {
                    Some(next)
                };
                *taken |= bound.is_some_and(|bound| is_word(bound, name));
            }
            (
                TokenTree::Ident(word),
                Some(TokenTree::Punct(bang)),
                Some(TokenTree::Group(stream)),
            ) if word == "tool_stream"
                && bang.as_char() == '!'
                && !*taken
                && uses(stream.stream(), name) =>
            {
                return true;
            }
            (TokenTree::Group(group), ..) => {
                // A `let` in a block ends with the block.
                let mut inner = *taken;
                if captures(group.stream(), name, &mut inner) {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}

/// Returns whether a variable of this name is used, also in a format string. Fields, methods and the keys of a struct's fields are ignored.
fn uses(tokens: TokenStream, name: &str) -> bool {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    (0..tokens.len()).any(|at| match &tokens[at] {
        TokenTree::Ident(word) => {
            let before = at.checked_sub(1).and_then(|at| tokens.get(at));
            let before_that = at.checked_sub(2).and_then(|at| tokens.get(at));
            // `..name` is a use, `.name` is a field.
            let is_field = before.is_some_and(|token| is_sign(token, '.'))
                && !before_that.is_some_and(|token| is_sign(token, '.'));
            let is_key = tokens.get(at + 1).is_some_and(|token| is_sign(token, ':'));
            word.unraw() == name && !is_field && !is_key
        }
        TokenTree::Literal(literal) => {
            let text = literal.to_string();
            [format!("{{{name}}}"), format!("{{{name}:")]
                .iter()
                .any(|used| text.contains(used))
        }
        TokenTree::Group(group) => uses(group.stream(), name),
        TokenTree::Punct(_) => false,
    })
}

/// Replaces each `tool_stream!`, its path included, with `instead`.
fn replaced(tokens: TokenStream, instead: &TokenStream) -> TokenStream {
    let mut out: Vec<TokenTree> = Vec::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Ident(word)
                if word == "tool_stream"
                    && tokens.peek().is_some_and(|token| is_sign(token, '!')) =>
            {
                // Skip the `!` and the body.
                tokens.next();
                tokens.next();
                while out.last().is_some_and(|token| is_sign(token, ':')) {
                    out.truncate(out.len().saturating_sub(2));
                    if matches!(out.last(), Some(TokenTree::Ident(_))) {
                        out.pop();
                    }
                }
                out.extend(instead.clone());
            }
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), replaced(group.stream(), instead));
                inner.set_span(group.span());
                out.push(inner.into());
            }
            other => out.push(other),
        }
    }
    out.into_iter().collect()
}

fn is_word(token: &TokenTree, text: &str) -> bool {
    matches!(token, TokenTree::Ident(word) if Ident::unraw(word) == text)
}

fn is_sign(token: &TokenTree, sign: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == sign)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured(body: TokenStream) -> bool {
        captures(body, "cx", &mut false)
    }

    // Only a borrow that the stream itself uses is refused.
    #[test]
    fn stream_captures_only_borrows_that_it_uses() {
        for body in [
            quote!({
                tool_stream! { cx.note(); 1 }
            }),
            quote!({
                let x = 1;
                Ok(tool_core::tool_stream! { if x { run(&cx).await?; } 1 })
            }),
            quote!({
                tool_stream! { yield format!("{cx}"); 1 }
            }),
            quote!({
                tool_stream! { yield format!("{cx:?}"); 1 }
            }),
            quote!({
                {
                    let cx = cx.clone();
                }
                tool_stream! { cx.note(); 1 }
            }),
            quote!({
                tool_stream! { let cx = cx.clone(); 1 }
            }),
            quote!({
                tool_stream! { Lines { from: 1, ..cx } }
            }),
            quote!({
                tool_stream! { Lines { cx } }
            }),
        ] {
            assert!(captured(body.clone()), "{body}");
        }
        for body in [
            quote!({
                let files = cx.files();
                tool_stream! { files.len() }
            }),
            quote!({
                let cx = cx.clone();
                tool_stream! { cx.note(); 1 }
            }),
            quote!({
                let mut cx = cx.clone();
                Ok(tool_stream! { cx.note(); 1 })
            }),
            quote!({
                tool_stream! { call.cx(); this.cx; Lines { cx: 1 } }
            }),
            quote!({
                tool_stream! { yield "cx"; "{other}" }
            }),
            quote!({ stream(cx) }),
        ] {
            assert!(!captured(body.clone()), "{body}");
        }
    }

    #[test]
    fn stream_macro_is_replaced_with_its_path() {
        let body = quote!({
            let x = 1;
            Ok(::tool_core::tool_stream! { cx; 1 })
        });
        let expected = quote!({
            let x = 1;
            Ok(nothing())
        });
        assert_eq!(
            replaced(body, &quote!(nothing())).to_string(),
            expected.to_string()
        );
        let body = quote!({
            tool_stream! { cx; 1 }
        });
        assert_eq!(
            replaced(body, &quote!(nothing())).to_string(),
            quote!({ nothing() }).to_string()
        );
    }
}
