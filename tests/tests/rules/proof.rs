//! The proof of each rule: a recorded compiler output, a case, or a test that contains the complete message.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use proc_macro2::TokenStream;
use tool_rules::Rule;
use tool_tests::sources::each_source;

use crate::message::{fits, messages, pieces, rule_of};
use crate::sources::{constants, each_sequence, string};
use crate::{cases, recorded, root, schemas};

/// The kinds of proof, in descending order of preference.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Proof {
    /// A recorded output in the folder with the rule's id.
    Folder(String),
    /// A labelled case in [`schemas::LABELLED`].
    Labelled,
    /// A schema in [`schemas::BROKEN`].
    Broken,
    /// A case in the module [`cases`].
    Case,
    /// A test that contains the message in a literal.
    Test(String),
    /// A recorded output in a different folder.
    Other(String),
}

/// The proofs of each rule, by its message.
static PROOFS: LazyLock<BTreeMap<&'static str, Vec<Proof>>> = LazyLock::new(|| {
    let mut proofs: BTreeMap<&'static str, Vec<Proof>> = BTreeMap::new();
    let mut add = |rule: &Rule, proof: Proof| {
        let rule = Rule::all().find(|known| *known == rule).unwrap();
        let known = proofs.entry(rule.message).or_default();
        if !known.contains(&proof) {
            known.push(proof);
        }
    };
    for found in recorded::recorded() {
        let Ok(rule) = rule_of(&found.id, &found.text) else {
            continue;
        };
        let (folder, _) = found.path.rsplit_once('/').unwrap();
        if folder == format!("ui-tests/fail/{}", rule.id) {
            add(rule, Proof::Folder(folder.to_owned()));
        } else if folder.starts_with("ui-tests/fail/") {
            add(rule, Proof::Other(folder.to_owned()));
        }
    }
    for schema in schemas::labelled() {
        for seen in schemas::seen(&schema) {
            add(seen.rule, Proof::Labelled);
        }
    }
    for (_, schema) in schemas::broken() {
        for seen in schemas::seen(&schema) {
            add(seen.rule, Proof::Broken);
        }
    }
    for rule in cases::broken() {
        add(rule, Proof::Case);
    }
    // Ignore short texts, because a test may contain a short text by coincidence.
    let long = |rule: &&Rule| pieces(rule.text).concat().len() > 20;
    let texts: Vec<&Rule> = Rule::all().filter(long).collect();
    for (path, literal) in literals() {
        for (id, text) in messages(&literal) {
            if let Ok(rule) = rule_of(id, text) {
                add(rule, Proof::Test(path.clone()));
            }
        }
        if literal.len() > 20 {
            for rule in texts.iter().filter(|rule| fits(rule, &literal)) {
                add(rule, Proof::Test(path.clone()));
            }
        }
    }
    for known in proofs.values_mut() {
        known.sort();
    }
    proofs
});

/// Returns the string literals of all other tests, with the paths of the tests.
fn literals() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for folder in ["tool-core", "tool-macros", "tool-std", "crates", "tests"] {
        each_source(&root().join(folder), &mut |path| {
            let inside = path.strip_prefix(root()).unwrap();
            let text = fs::read_to_string(path).unwrap();
            let is_test = inside
                .iter()
                .any(|part| part == "tests" || part == "tests.rs");
            let tests = if is_test {
                Some(&*text)
            } else {
                text.split_once("\n#[cfg(test)]\nmod tests {")
                    .map(|(_, tests)| tests.trim_end().trim_end_matches('}'))
            };
            let Some(tests) = tests.filter(|_| !inside.starts_with("tests/tests/rules")) else {
                return;
            };
            let tokens: TokenStream = tests.parse().unwrap();
            let path = inside.to_str().unwrap();
            each_sequence(tokens, &mut |tokens| {
                let literals = tokens.iter().filter_map(string);
                found.extend(literals.map(|literal| (path.to_owned(), literal)));
            });
        });
    }
    found
}

/// Returns the number of programs in a folder of `ui-tests`.
fn programs(folder: &str) -> usize {
    let is_program = |path: &Path| path.extension().is_some_and(|end| end == "rs");
    fs::read_dir(root().join(folder))
        .unwrap()
        .filter(|entry| is_program(&entry.as_ref().unwrap().path()))
        .count()
}

/// Returns the preferred proof of each rule in the format of docs/rules.md.
pub(crate) fn shown(rules: &[&Rule]) -> String {
    let mut best: Vec<&Proof> = rules
        .iter()
        .filter_map(|rule| PROOFS.get(rule.message)?.first())
        .collect();
    best.sort();
    best.dedup();
    let shown = best.into_iter().map(|proof| match proof {
        Proof::Folder(folder) | Proof::Other(folder) => {
            format!("`{folder}` ({})", programs(folder))
        }
        Proof::Labelled => format!("`{}`", schemas::LABELLED),
        Proof::Broken => format!("`{}`", schemas::BROKEN),
        Proof::Case => "`tests/tests/rules/cases.rs`".to_owned(),
        Proof::Test(path) => format!("`{path}`"),
    });
    shown.collect::<Vec<_>>().join(", ")
}

// M2: each rule has a test that breaks it.
#[test]
fn every_rule_is_proven() {
    let unproven: Vec<&str> = Rule::all()
        .map(|rule| rule.message)
        .filter(|message| !PROOFS.contains_key(message))
        .collect();
    assert!(
        unproven.is_empty(),
        "no test has these messages:\n{}",
        unproven.join("\n")
    );
}

#[test]
fn every_case_breaks_its_rule() {
    let constants = constants();
    for (name, schema) in schemas::broken() {
        let message = constants
            .get(&name)
            .unwrap_or_else(|| panic!("the constant {name} does not exist"));
        let seen = schemas::seen(&schema);
        assert!(
            seen.iter().any(|seen| seen.rule.message == *message),
            "the rule {name} is not reported: {schema}\n{:?}",
            seen.iter()
                .map(|seen| seen.rule.message)
                .collect::<Vec<_>>()
        );
    }
}
