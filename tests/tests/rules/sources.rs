//! Tests that all ids and messages of rules in the sources of the crates come from the catalogue.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use tool_rules::Rule;
use tool_tests::sources::each_source;

use crate::message::bracketed;
use crate::root;

/// Returns the tokens of the sources of the crates that print messages of rules, without their tests.
fn sources() -> Vec<(PathBuf, TokenStream)> {
    let mut found = Vec::new();
    for folder in ["tool-core/src", "tool-macros/src", "tool-std/src", "crates"] {
        each_source(&root().join(folder), &mut |path| {
            let inside = path.strip_prefix(root()).unwrap();
            let mut parts = inside.components().map(Component::as_os_str);
            if parts.any(|part| part == "tests" || part == "tests.rs" || part == "tool-rules") {
                return;
            }
            let text = fs::read_to_string(path).unwrap();
            let text = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap();
            found.push((inside.to_owned(), text.parse().unwrap()));
        });
    }
    assert!(found.len() > 200, "only {} sources were found", found.len());
    found
}

/// Calls `visit` with each sequence of tokens, outer sequences before inner sequences.
pub(crate) fn each_sequence(tokens: TokenStream, visit: &mut impl FnMut(&[TokenTree])) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    visit(&tokens);
    for token in tokens {
        if let TokenTree::Group(group) = token {
            each_sequence(group.stream(), visit);
        }
    }
}

/// Returns the value of a token if it is a string literal.
pub(crate) fn string(token: &TokenTree) -> Option<String> {
    let TokenTree::Literal(literal) = token else {
        return None;
    };
    syn::parse_str::<syn::LitStr>(&literal.to_string())
        .ok()
        .map(|literal| literal.value())
}

fn ident(token: Option<&TokenTree>) -> Option<String> {
    match token {
        Some(TokenTree::Ident(ident)) => Some(ident.to_string()),
        _ => None,
    }
}

fn is_punct(token: Option<&TokenTree>, punct: char) -> bool {
    matches!(token, Some(TokenTree::Punct(found)) if found.as_char() == punct)
}

/// Returns whether a text has the form of an id with several words.
fn is_like_an_id(text: &str) -> bool {
    text.contains('-')
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.split('-').all(|word| {
            !word.is_empty()
                && word
                    .chars()
                    .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
        })
}

/// Returns whether a literal contains text in the form of a rule's message: `[id] text` at the beginning or after `: `.
fn has_message(text: &str) -> bool {
    text.match_indices('[')
        .map(|(at, _)| text.split_at(at))
        .filter(|(before, _)| before.is_empty() || before.ends_with(": "))
        .find_map(|(_, text)| bracketed(text))
        .is_some()
}

// In the code, only the `message` of one attribute, which must be a literal, repeats the message of a rule. All other messages use a constant.
#[test]
fn only_one_attribute_repeats_a_message() {
    let mut found = Vec::new();
    for (path, tokens) in sources() {
        each_sequence(tokens, &mut |tokens| {
            for (at, token) in tokens.iter().enumerate() {
                let Some(text) = string(token).filter(|text| has_message(text)) else {
                    continue;
                };
                if at > 1 && ident(tokens.get(at - 2)).as_deref() == Some("doc") {
                    continue;
                }
                let is_message = at > 1
                    && ident(tokens.get(at - 2)).as_deref() == Some("message")
                    && is_punct(tokens.get(at - 1), '=');
                found.push((path.display().to_string(), is_message, text));
            }
        });
    }
    let [(path, is_message, text)] = &found[..] else {
        panic!("use the constants of rules instead of these messages: {found:#?}");
    };
    assert!(path.ends_with("map_key.rs") && *is_message, "{path}");
    assert_eq!(text, Rule::MAP_KEY_TYPE.message);
}

/// Words with the form of an id that are not ids: the names of formats.
const OTHER_WORDS: &[&str] = &[
    "date-time",
    "partial-time",
    "full-date",
    "idn-email",
    "json-pointer",
];

#[test]
fn every_id_comes_from_the_catalogue() {
    let ids: BTreeSet<&str> = Rule::all().map(|rule| rule.id).collect();
    let mut wrong = Vec::new();
    for (path, tokens) in sources() {
        let mut names_rules = false;
        let mut words = Vec::new();
        each_sequence(tokens, &mut |tokens| {
            for (at, token) in tokens.iter().enumerate() {
                let word = ident(Some(token)).unwrap_or_default();
                names_rules |= word == "tool_rules";
                names_rules |= word == "rules"
                    && is_punct(tokens.get(at + 1), ':')
                    && tokens[at + 1..].iter().take(4).any(|token| match token {
                        TokenTree::Ident(ident) => ident == "Rule",
                        TokenTree::Group(group) => {
                            group.delimiter() == Delimiter::Brace
                                && group.to_string().contains("Rule")
                        }
                        _ => false,
                    });
                if let Some(text) = string(token) {
                    if is_like_an_id(&text) {
                        words.push(text);
                    }
                } else if word == "rule"
                    && is_punct(tokens.get(at + 1), ':')
                    && tokens
                        .get(at + 2)
                        .and_then(string)
                        .is_some_and(|id| !id.is_empty())
                {
                    wrong.push(format!("{}: a literal as the id of a rule", path.display()));
                }
            }
        });
        for word in words {
            // Ids of one word are not checked, because such words also have other meanings.
            if ids.contains(word.as_str()) {
                wrong.push(format!("{}: write the constant of {word}", path.display()));
            } else if names_rules && !OTHER_WORDS.contains(&word.as_str()) {
                wrong.push(format!("{}: no rule has the id {word}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The places where a source reads the id of a rule without its text: the file, the number of reads, and the purpose.
const IDS: &[(&str, usize, &str)] = &[
    (
        "output/media.rs",
        2,
        "the schema of a refused type, and a comparison",
    ),
    (
        "pattern.rs",
        1,
        "the error of a pattern has the id and the text",
    ),
    ("dynamic/fault.rs", 1, "a fault has the id and the text"),
    (
        "example/message.rs",
        3,
        "a message that is built in parts, and a comparison",
    ),
    ("rules/report.rs", 1, "a fault has the id and the text"),
    (
        "src/types.rs",
        1,
        "the schema of a refused type has the id and the text",
    ),
    ("tool-macros/src/allow.rs", 4, "the option `allow`"),
    ("derive/expand.rs", 4, "comparisons"),
    (
        "tool-cli/src/commands/check.rs",
        1,
        "a finding has the id and the text",
    ),
    (
        "tool-cli/src/commands/import.rs",
        2,
        "the option `allow` in generated code",
    ),
    (
        "tool-import/src/shape.rs",
        1,
        "a fault has the id and the text",
    ),
    (
        "tool-mcp/src/client/check.rs",
        1,
        "a fault has the id and the text",
    ),
];

// A source that prints an id with its own text would give the fault a second text, so each read of an id is listed in `IDS`.
#[test]
fn an_id_is_printed_with_the_text_of_its_rule() {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for (path, tokens) in sources() {
        each_sequence(tokens, &mut |tokens| {
            for at in 1..tokens.len() {
                let is_id = is_punct(tokens.get(at), '.')
                    && ident(tokens.get(at + 1)).as_deref() == Some("id");
                let is_rule = match &tokens[at - 1] {
                    TokenTree::Ident(name) => {
                        let name = name.to_string();
                        name == "rule"
                            || name.len() > 1
                                && name.chars().all(|c| c.is_ascii_uppercase() || c == '_')
                    }
                    TokenTree::Group(_) => {
                        at > 1 && ident(tokens.get(at - 2)).as_deref() == Some("broken")
                    }
                    _ => false,
                };
                if is_id && is_rule {
                    *counts.entry(path.display().to_string()).or_default() += 1;
                }
            }
        });
    }
    let mut wrong = Vec::new();
    for (path, count) in &counts {
        let listed = IDS.iter().find(|(end, ..)| path.ends_with(end));
        if listed.is_none_or(|(_, listed, _)| listed != count) {
            wrong.push(format!(
                "{path} reads {count} ids of rules, but IDS lists {listed:?}"
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "print `text_with` or `message_with` of the rule:\n{}",
        wrong.join("\n")
    );
    assert_eq!(counts.len(), IDS.len(), "an entry of IDS is not needed");
}

/// Returns the tokens of the value of a field in a struct literal.
fn value<'t>(tokens: &'t [TokenTree], field: &str) -> Option<&'t [TokenTree]> {
    let at = (0..tokens.len()).find(|at| {
        ident(tokens.get(*at)).as_deref() == Some(field) && is_punct(tokens.get(at + 1), ':')
    })?;
    let value = &tokens[at + 2..];
    let end = value
        .iter()
        .position(|token| is_punct(Some(token), ','))
        .unwrap_or(value.len());
    Some(&value[..end])
}

// A message that is built from another fault uses the text of that fault and no literal.
#[test]
fn fault_built_from_another_fault_uses_its_text() {
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for (path, tokens) in sources() {
        each_sequence(tokens, &mut |tokens| {
            let rule = value(tokens, "rule").unwrap_or_default();
            let [
                TokenTree::Ident(of),
                TokenTree::Punct(dot),
                TokenTree::Ident(word),
            ] = rule
            else {
                return;
            };
            if dot.as_char() != '.' || word != "rule" || of == "self" {
                return;
            }
            seen += 1;
            let text: TokenStream = value(tokens, "text")
                .unwrap_or_default()
                .iter()
                .cloned()
                .collect();
            let text = text.to_string().replace(' ', "");
            if !text.contains(&format!("{of}.text")) || text.contains('"') {
                wrong.push(format!(
                    "{}: the id of `{of}` with the text `{text}`",
                    path.display()
                ));
            }
        });
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen > 3, "only {seen} faults are built from others");
}

/// Returns the constants in the tables of `tool-rules` with their messages. A row has an identifier, `=`, the id and the text.
pub(crate) fn constants() -> BTreeMap<String, String> {
    let mut constants = BTreeMap::new();
    each_source(&root().join("crates/tool-rules/src"), &mut |path| {
        let tokens: TokenStream = fs::read_to_string(path).unwrap().parse().unwrap();
        each_sequence(tokens, &mut |tokens| {
            for (at, token) in tokens.iter().enumerate() {
                let begins = at == 0
                    || is_punct(tokens.get(at - 1), ';')
                    || is_punct(tokens.get(at - 1), ':');
                let text = |at: usize| tokens.get(at).and_then(string);
                if begins
                    && is_punct(tokens.get(at + 1), '=')
                    && let (Some(name), Some(id), Some(text)) =
                        (ident(Some(token)), text(at + 2), text(at + 4))
                {
                    constants.insert(name, format!("[{id}] {text}"));
                }
            }
        });
    });
    constants
}

macro_rules! warnings {
    ($($name:ident, $type:ident, $message:literal, $evidence:literal, $dialects:expr;)*) => {
        [$(stringify!($name)),*]
    };
}

#[test]
fn every_rule_is_used() {
    let warnings = tool_rules::warnings!(warnings);
    let constants = constants();
    assert_eq!(constants.len() + warnings.len(), Rule::all().count());
    let (mut used, mut words) = (BTreeSet::new(), BTreeSet::new());
    for (_, tokens) in sources() {
        each_sequence(tokens, &mut |tokens| {
            for at in 0..tokens.len() {
                if ident(tokens.get(at)).as_deref() == Some("Rule")
                    && is_punct(tokens.get(at + 1), ':')
                    && is_punct(tokens.get(at + 2), ':')
                {
                    used.extend(ident(tokens.get(at + 3)));
                }
            }
            words.extend(tokens.iter().filter_map(|token| ident(Some(token))));
        });
    }
    let unused: Vec<&str> = warnings
        .iter()
        .copied()
        // The macros use a constant with the same name for each warning.
        .filter(|name| !words.contains(*name))
        .chain(
            constants
                .keys()
                .filter(|name| !used.contains(*name))
                .map(String::as_str)
                // An attribute repeats this message as a literal.
                .filter(|name| *name != "MAP_KEY_TYPE"),
        )
        .collect();
    assert!(unused.is_empty(), "{unused:?}");
}
