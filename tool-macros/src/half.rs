//! Detection of incomplete code while the user types.
//!
//! rustc parses an item before it calls the macro, reports missing tokens, and passes the incomplete item on. A second error about the same
//! mistake would not help the user, so the macro does not report code that is recognized as incomplete. All other errors are reported, even if rustc
//! may have reported them: a tool must never be missing silently.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Returns whether `name: Type`, without attributes and visibility, is incomplete.
pub(crate) fn is_half_typed(tokens: TokenStream) -> bool {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let Some(colon) = single_colon(&tokens) else {
        return true;
    };
    let ty = &tokens[colon + 1..];
    let Some(last) = ty.last() else {
        return true;
    };
    let open = matches!(last, TokenTree::Punct(punct) if "<&:+-='*".contains(punct.as_char()));
    open || angles(ty) > 0 || single_colon(ty).is_some() || misses_comma(ty)
}

/// Returns whether a struct or enum has an incomplete field or variant.
pub(crate) fn is_half_typed_item(item: TokenStream) -> bool {
    let mut is_enum = false;
    for token in item {
        match token {
            TokenTree::Ident(word) if word == "enum" => is_enum = true,
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                return elements(group.stream()).into_iter().any(|element| {
                    if is_enum {
                        is_half_typed_variant(element)
                    } else {
                        is_half_typed(without_head(element))
                    }
                });
            }
            _ => {}
        }
    }
    false
}

fn is_half_typed_variant(variant: TokenStream) -> bool {
    let mut tokens = without_head(variant).into_iter();
    if !matches!(tokens.next(), Some(TokenTree::Ident(_))) {
        return true;
    }
    match tokens.next() {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
            let fields = elements(group.stream());
            tokens.next().is_some()
                || fields
                    .into_iter()
                    .any(|field| is_half_typed(without_head(field)))
        }
        _ => tokens.any(|token| matches!(token, TokenTree::Punct(punct) if punct.as_char() == '#')),
    }
}

/// Splits tokens at commas. Commas between `<` and `>` belong to a type.
fn elements(tokens: TokenStream) -> Vec<TokenStream> {
    let mut all = vec![TokenStream::new()];
    let mut depth = 0_usize;
    let mut before = ' ';
    for token in tokens {
        let sign = match &token {
            TokenTree::Punct(punct) => punct.as_char(),
            _ => ' ',
        };
        match sign {
            '<' => depth += 1,
            '>' if before != '-' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                all.push(TokenStream::new());
                before = ' ';
                continue;
            }
            _ => {}
        }
        before = sign;
        if let Some(last) = all.last_mut() {
            last.extend([token]);
        }
    }
    if all.last().is_some_and(TokenStream::is_empty) {
        all.pop();
    }
    all
}

/// Removes leading attributes `#[…]` and a visibility, `pub` or `pub(…)`.
pub(crate) fn without_head(tokens: TokenStream) -> TokenStream {
    let mut tokens = tokens.into_iter().peekable();
    loop {
        match tokens.peek() {
            Some(TokenTree::Punct(punct)) if punct.as_char() == '#' => {
                tokens.next();
                tokens.next();
            }
            Some(TokenTree::Ident(word)) if word == "pub" => {
                tokens.next();
                tokens.next_if(|token| {
                    matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis)
                });
            }
            _ => return tokens.collect(),
        }
    }
}

/// Returns the position of the first `:` that is not part of `::`.
fn single_colon(tokens: &[TokenTree]) -> Option<usize> {
    let is_colon = |at: usize| matches!(tokens.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == ':');
    (0..tokens.len())
        .find(|at| is_colon(*at) && !is_colon(*at + 1) && !(*at > 0 && is_colon(*at - 1)))
}

/// Returns the number of `<` that are open at the end.
fn angles(tokens: &[TokenTree]) -> usize {
    let mut depth = 0_usize;
    let mut before = ' ';
    for token in tokens {
        let sign = match token {
            TokenTree::Punct(punct) => punct.as_char(),
            _ => ' ',
        };
        match sign {
            '<' => depth += 1,
            '>' if before != '-' => depth = depth.saturating_sub(1),
            _ => {}
        }
        before = sign;
    }
    depth
}

/// Returns whether a type ends and another token follows without a comma.
fn misses_comma(tokens: &[TokenTree]) -> bool {
    let sign = |at: usize| match tokens.get(at) {
        Some(TokenTree::Punct(punct)) => punct.as_char(),
        _ => ' ',
    };
    (1..tokens.len()).any(|at| {
        let ends = match &tokens[at - 1] {
            TokenTree::Ident(word) => ![
                "dyn", "impl", "mut", "const", "for", "fn", "unsafe", "extern", "as",
            ]
            .iter()
            .any(|keyword| word == keyword),
            // The `>` of `->` or of `for<'a>` does not end the type.
            TokenTree::Punct(punct) => {
                punct.as_char() == '>'
                    && !(at > 1 && sign(at - 2) == '-')
                    && !(at > 2 && sign(at - 3) == '\'')
            }
            TokenTree::Group(_) | TokenTree::Literal(_) => false,
        };
        // A lifetime consists of two tokens, and a type may follow it without a comma.
        let lifetime = at > 1 && sign(at - 2) == '\'';
        let begins = matches!(&tokens[at], TokenTree::Ident(word) if word != "as");
        sign(at) == '#' || ends && !lifetime && begins
    })
}

#[cfg(test)]
mod tests {
    use super::{is_half_typed, is_half_typed_item};

    // Incomplete code causes one error, the error of rustc.
    #[test]
    fn incomplete_parameters_are_recognised() {
        for half in [
            "",
            "whom",
            "whom:",
            "whom String",
            "whom: Vec<",
            "whom: std::",
            "whom: &",
            "whom: String often: u8",
            "whom: String #[doc = \"x\"] often: u8",
            "whom: Vec<u8> often",
        ] {
            assert!(is_half_typed(half.parse().unwrap()), "{half}");
        }
    }

    #[test]
    fn complete_parameters_are_recognised_as_complete() {
        for whole in [
            "whom: String",
            "whom: Vec<Option<u8>>",
            "f: fn(&str) -> u8",
            "d: Box<dyn Fn(u8) -> u8 + Send>",
            "a: [u8; 3]",
            "c: <T as X<u8>>::Y",
            "m: &mut std::vec::Vec<u8>",
            "l: &'static str",
            "p: *const u8",
            "u: unsafe<'a> Foo",
            "h: for<'a> fn(&'a str) -> &'a str",
        ] {
            assert!(!is_half_typed(whole.parse().unwrap()), "{whole}");
        }
    }

    #[test]
    fn incomplete_fields_and_variants_are_recognised() {
        for half in [
            "struct A { #[doc = \"x\"] pub a }",
            "struct A { a: u8, pub b: }",
            "struct A { #[doc = \"x\"] }",
            "struct A { pub }",
            "enum A { B { c }, D }",
            "enum A { #[doc = \"x\"] }",
        ] {
            assert!(is_half_typed_item(half.parse().unwrap()), "{half}");
        }
        for whole in [
            "pub struct A<T> { #[serde(x)] pub a: Vec<T>, pub(crate) b: u8, }",
            "struct A(u8);",
            "struct A;",
            "enum A { B { c: u8 }, #[x] C(u8, u8), D = 3, E }",
        ] {
            assert!(!is_half_typed_item(whole.parse().unwrap()), "{whole}");
        }
    }
}
