//! Test that every option has an example in the documentation.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::need::{SECRET_WORDS, VARIABLE_WORDS};
use super::options::WORDS;
use crate::constraint::VALUE_WORDS;
use crate::tool::parse::params::ARG_WORDS;

/// The pages of `#[tool]`, in the order in which they are shown.
const PAGES: [&str; 2] = [
    include_str!("../../../docs/tool.md"),
    include_str!("../../../docs/options.md"),
];

/// Returns the code blocks without a language on a page: rustdoc compiles these blocks, and they must compile.
fn programs(page: &str) -> impl Iterator<Item = String> {
    let mut blocks = page.split("\n```").skip(1).step_by(2);
    std::iter::from_fn(move || {
        blocks.find_map(|block| {
            let (language, code) = block.split_once('\n')?;
            language.is_empty().then(|| {
                let lines = code
                    .lines()
                    .map(|line| line.strip_prefix("# ").unwrap_or(line));
                lines.collect::<Vec<_>>().join("\n")
            })
        })
    })
}

/// Returns the names of the options in a list: `a` and `b` for `a = 1, b("x", c)`.
fn words(list: TokenStream) -> Vec<String> {
    let tokens: Vec<TokenTree> = list.into_iter().collect();
    let elements =
        tokens.split(|token| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ','));
    let first = elements.filter_map(|element| match element.first() {
        Some(TokenTree::Ident(word)) => Some(word.to_string()),
        _ => None,
    });
    first.collect()
}

/// Adds the options of every list `NAME(…)`, nested lists included, as `NAME.OPTION`.
fn gather(tokens: TokenStream, found: &mut BTreeSet<String>) {
    let mut name = None;
    for token in tokens {
        if let TokenTree::Group(group) = &token {
            if let Some(name) = name.take()
                && group.delimiter() == Delimiter::Parenthesis
            {
                found.extend(
                    words(group.stream())
                        .iter()
                        .map(|word| format!("{name}.{word}")),
                );
            }
            gather(group.stream(), found);
        }
        name = match token {
            TokenTree::Ident(ident) => Some(ident.to_string()),
            _ => None,
        };
    }
}

// Every option has an example that compiles.
#[test]
fn every_option_has_an_example_that_compiles() {
    let mut found = BTreeSet::new();
    for program in PAGES.into_iter().flat_map(programs) {
        gather(program.parse().unwrap(), &mut found);
    }
    let lists = [
        ("tool", WORDS.to_vec()),
        ("arg", [VALUE_WORDS, ARG_WORDS].concat()),
        ("secret", SECRET_WORDS.to_vec()),
        ("variable", VARIABLE_WORDS.to_vec()),
    ];
    for (list, words) in lists {
        let missing: Vec<&str> = words
            .into_iter()
            .filter(|word| !found.contains(&format!("{list}.{word}")))
            .collect();
        assert!(missing.is_empty(), "no example of `{list}` has {missing:?}");
    }
}
