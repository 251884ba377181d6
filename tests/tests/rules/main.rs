//! The rules: every message comes from `tool-rules`, every rule there is used, and `docs/rules.md` lists all of them.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use tool_core::schema::dynamic::judge;
use tool_rules::{Dialects, Rule};
use tool_tests::sources::each_source;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// Sources of the crates that print messages of rules, without their tests.
fn sources() -> Vec<(PathBuf, TokenStream)> {
    let mut found = Vec::new();
    for folder in ["tool-core/src", "tool-macros/src", "tool-std/src", "crates"] {
        each_source(&root().join(folder), &mut |path| {
            let inside = path.strip_prefix(root()).unwrap();
            let mut parts = inside.components().map(std::path::Component::as_os_str);
            if parts.any(|part| part == "tests" || part == "tests.rs" || part == "tool-rules") {
                return;
            }
            let text = fs::read_to_string(path).unwrap();
            let text = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap();
            found.push((inside.to_owned(), text.parse().unwrap()));
        });
    }
    assert!(found.len() > 200, "{} sources were found", found.len());
    found
}

/// Calls `visit` with each sequence of tokens, from the outside to the inside.
fn each_sequence(tokens: TokenStream, visit: &mut impl FnMut(&[TokenTree])) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    visit(&tokens);
    for token in tokens {
        if let TokenTree::Group(group) = token {
            each_sequence(group.stream(), visit);
        }
    }
}

/// The value of a token that is a string literal.
fn string(token: &TokenTree) -> Option<String> {
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

/// The id and the rest of a text such as `[id] rest`.
fn bracketed(text: &str) -> Option<(&str, &str)> {
    let (id, rest) = text.strip_prefix('[')?.split_once("] ")?;
    let is_id = id
        .chars()
        .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    (is_id && !id.is_empty()).then_some((id, rest))
}

#[test]
fn every_message_is_in_the_catalogue() {
    let messages: BTreeSet<&str> = Rule::all().map(|rule| rule.message).collect();
    let ids: BTreeSet<&str> = Rule::all().map(|rule| rule.id).collect();
    let mut wrong = Vec::new();
    for (path, tokens) in sources() {
        each_sequence(tokens, &mut |tokens| {
            for text in tokens.iter().filter_map(string) {
                // Attributes need a literal, which is the same as the rule's.
                if bracketed(&text).is_some() && !messages.contains(text.as_str()) {
                    wrong.push(format!(
                        "{}: no rule has this message: {text}",
                        path.display()
                    ));
                }
                // Ids of one word are also words of other things.
                if text.contains('-') && ids.contains(text.as_str()) {
                    wrong.push(format!("{}: write the constant of {text}", path.display()));
                }
            }
        });
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_compile_error_has_the_text_of_its_rule() {
    let mut rules: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for rule in Rule::all() {
        rules.entry(rule.id).or_default().push(rule.text);
    }
    // The text before the first fact.
    let begin = |text: &'static str| text.split('{').next().unwrap();
    let (mut wrong, mut seen) = (Vec::new(), 0);
    let mut folders = vec![root().join("ui-tests")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with("target") {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "stderr") {
                let text = fs::read_to_string(&path).unwrap();
                let found = text
                    .lines()
                    .flat_map(|line| {
                        line.match_indices('[')
                            .map(move |(at, _)| line.split_at(at))
                    })
                    .filter(|(before, _)| before.ends_with(": "))
                    .filter_map(|(_, text)| bracketed(text));
                for (id, rest) in found {
                    seen += 1;
                    let known = rules.get(id).is_some_and(|texts| {
                        texts.iter().any(|text| rest.starts_with(begin(text)))
                    });
                    if !known {
                        wrong.push(format!("{}: [{id}] {rest}", path.display()));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen > 100, "{seen} messages were found");
}

/// The constants of the catalogue: idents before `=` in the tables, and the names in the table of warnings.
fn constants() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    each_source(&root().join("crates/tool-rules/src"), &mut |path| {
        let tokens: TokenStream = fs::read_to_string(path).unwrap().parse().unwrap();
        each_sequence(tokens, &mut |tokens| {
            for (at, token) in tokens.iter().enumerate() {
                let begins = at == 0
                    || is_punct(tokens.get(at - 1), ';')
                    || is_punct(tokens.get(at - 1), ':');
                if begins
                    && is_punct(tokens.get(at + 1), '=')
                    && tokens.get(at + 2).and_then(string).is_some()
                {
                    // The attribute of a comment looks like a row.
                    names.extend(ident(Some(token)).filter(|name| name != "doc"));
                }
            }
        });
    });
    names
}

macro_rules! warnings {
    ($($name:ident, $type:ident, $message:literal, $evidence:literal, $dialects:expr;)*) => {
        [$(stringify!($name)),*]
    };
}

#[test]
fn every_rule_is_used() {
    let warnings = tool_rules::warnings!(warnings);
    let names = constants();
    assert_eq!(names.len() + warnings.len(), Rule::all().count());
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
            words.extend(tokens.iter().filter_map(string));
            words.extend(tokens.iter().filter_map(|token| ident(Some(token))));
        });
    }
    // The macros have a constant of the same name for each warning.
    let unused: Vec<&str> = warnings
        .iter()
        .copied()
        .filter(|name| !words.contains(*name))
        .chain(
            names
                .iter()
                .filter(|name| !used.contains(*name))
                .map(String::as_str)
                // An attribute holds the same literal.
                .filter(|name| *name != "MAP_KEY_TYPE"),
        )
        .collect();
    assert!(unused.is_empty(), "{unused:?}");
    assert!(words.contains(Rule::MAP_KEY_TYPE.message));
}

#[test]
fn each_fault_has_one_text() {
    let mut seen = BTreeSet::new();
    for rule in Rule::all() {
        assert!(seen.insert(rule.message), "twice: {}", rule.message);
        assert_eq!(rule.message, format!("[{}] {}", rule.id, rule.text));
        assert!(!rule.evidence.is_empty(), "{rule:?}");
    }
}

/// Tests that name rules by id or by text.
const TESTS: &[&str] = &[
    "crates/tool-schema/src/schema/rules/tests.rs",
    "crates/tool-schema/src/schema/pattern/tests.rs",
    "tests/tests/schemas/dynamic.rs",
    "tests/tests/schemas/non_strict.rs",
    "tests/mcp-client/tests/client/hidden.rs",
    "crates/tool-mcp/src/client/check/tests.rs",
];

/// Tests that break a rule without naming it.
const SILENT: &[(&str, &str)] = &[
    (
        "enum-duplicate",
        "crates/tool-schema/src/schema/rules/tests.rs",
    ),
    ("old-draft", "tests/tests/schemas/non_strict.rs"),
];

/// The rules that the labelled cases of `strict_cases.rs` break.
fn labelled() -> BTreeSet<&'static str> {
    let text = fs::read_to_string(root().join("tests/data/strict-cases.jsonl")).unwrap();
    let verdicts = text.lines().filter(|line| !line.is_empty()).map(|line| {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        judge(&case["schema"])
    });
    verdicts
        .flat_map(|verdicts| verdicts.faults().to_vec())
        .map(|fault| fault.rule)
        .collect()
}

/// Where a rule is tested: its programs that must not compile, and the tests that break it.
fn proof(id: &str, texts: &[&str], labelled: &BTreeSet<&str>) -> String {
    let mut found = Vec::new();
    if let Ok(programs) = fs::read_dir(root().join("ui-tests/fail").join(id)) {
        let is_program = |path: &Path| path.extension().is_some_and(|end| end == "rs");
        let count = programs
            .filter(|entry| is_program(&entry.as_ref().unwrap().path()))
            .count();
        found.push(format!("`ui-tests/fail/{id}` ({count})"));
    }
    if labelled.contains(id) {
        found.push("`tests/tests/schemas/strict_cases.rs`".to_owned());
    }
    // Shorter pieces of text between facts may be in a test by chance.
    let pieces = || texts.iter().flat_map(|text| text.split(['{', '}']));
    let pieces: Vec<&str> = pieces().filter(|piece| piece.len() > 16).collect();
    for path in TESTS {
        let text = fs::read_to_string(root().join(path)).unwrap();
        if text.contains(&format!("\"{id}\""))
            || text.contains(&format!("[{id}]"))
            || pieces.iter().any(|piece| text.contains(piece))
            || SILENT.contains(&(id, path))
        {
            found.push(format!("`{path}`"));
        }
    }
    found.join(", ")
}

/// The rows of the rules in these areas: a row for each id, with all of its messages.
fn rows(areas: &[&str]) -> String {
    let labelled = labelled();
    let rules: Vec<&Rule> = Rule::AREAS
        .iter()
        .filter(|area| areas.contains(&area.name))
        .flat_map(|area| area.rules)
        .collect();
    let mut ids: Vec<&str> = Vec::new();
    for rule in &rules {
        if !ids.contains(&rule.id) {
            ids.push(rule.id);
        }
    }
    let mut out = String::from(
        "| rule | messages | who refuses, with what | proven by |\n|---|---|---|---|\n",
    );
    for id in ids {
        let own = || rules.iter().filter(|rule| rule.id == id);
        let texts: Vec<&str> = own().map(|rule| rule.text).collect();
        let dialects = own().fold(Dialects::NONE, |all, rule| all.and(rule.dialects));
        let dialects: Vec<&str> = if dialects == Dialects::ALL {
            vec!["all"]
        } else {
            dialects.names().collect()
        };
        let mut evidence: Vec<&str> = Vec::new();
        for rule in own() {
            if !evidence.contains(&rule.evidence) {
                evidence.push(rule.evidence);
            }
        }
        let who = if dialects.is_empty() {
            evidence.join("; ")
        } else {
            format!("**{}**: {}", dialects.join(", "), evidence.join("; "))
        };
        let _ = writeln!(
            out,
            "| `{id}` | {} | {} | {} |",
            cell(&texts.join("<br>")),
            cell(&who),
            proof(id, &texts, &labelled)
        );
    }
    out
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// Replaces the rows between `<!-- rules: name -->` and `<!-- end -->`.
fn with_rows(page: &str, name: &str, rows: &str) -> String {
    let begin = format!("<!-- rules: {name} -->\n");
    let (before, rest) = page
        .split_once(&begin)
        .unwrap_or_else(|| panic!("docs/rules.md has no {begin}"));
    let (_, after) = rest.split_once("<!-- end -->").unwrap();
    format!("{before}{begin}{rows}<!-- end -->{after}")
}

// M2: the page lists every rule. `UPDATE=1` writes its rows.
#[test]
fn page_lists_every_rule() {
    let path = root().join("docs/rules.md");
    let page = fs::read_to_string(&path).unwrap();
    let schemas = ["schema", "constraint", "types"];
    let syntax = ["tool", "derive", "warning"];
    let mut expected = with_rows(&page, "schemas", &rows(&schemas));
    expected = with_rows(&expected, "declarations", &rows(&syntax));
    expected = with_rows(&expected, "JSON Schema", &rows(&["dynamic"]));
    let listed = schemas.len() + syntax.len() + 1;
    assert_eq!(listed, Rule::AREAS.len(), "an area is not on the page");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, expected).unwrap();
    } else {
        assert!(
            page == expected,
            "run `UPDATE=1 cargo test -p tool-tests --test rules`"
        );
    }
}
