//! The rules that the functions of `schema::dynamic` report for JSON Schemas.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;
use tool_core::schema::dialect::Dialect;
use tool_core::schema::dynamic::{SchemaFault, judge, non_strict, read};
use tool_rules::Rule;

use crate::message::rule_of;
use crate::root;

/// A function of `schema::dynamic` that reports a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// `judge` reports that a strict mode refuses the schema.
    Judge,
    /// `read` reports that the schema cannot be read into the tree.
    Read,
    /// `non_strict` reports that a provider refuses the schema in every mode.
    NonStrict,
    /// A note of `read`, or a change of `non_strict`. Neither is a fault.
    Changed,
}

/// A rule that was reported for a location in a schema.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) by: By,
    pub(crate) rule: &'static Rule,
    pub(crate) pointer: String,
}

/// Returns all reports of the functions about a schema.
pub(crate) fn seen(schema: &Value) -> Vec<Seen> {
    let mut seen = Vec::new();
    let mut add = |by: By, faults: &[SchemaFault]| {
        for fault in faults {
            seen.push(Seen {
                by,
                rule: rule_of(fault.rule, &fault.text)
                    .unwrap_or_else(|why| panic!("{why}: {schema}")),
                pointer: fault.pointer.clone(),
            });
        }
    };
    add(By::Judge, judge(schema).faults());
    match read(schema) {
        Ok(read) => add(By::Changed, read.notes()),
        Err(faults) => add(By::Read, &faults),
    }
    for dialect in Dialect::ALL {
        match non_strict(schema, dialect) {
            Ok(sent) => add(By::Changed, &sent.changes),
            Err(faults) => add(By::NonStrict, &faults),
        }
    }
    seen
}

fn lines(path: &str) -> Vec<Value> {
    let text = fs::read_to_string(root().join(path)).unwrap();
    let lines = text.lines().filter(|line| !line.is_empty());
    lines
        .map(|line| {
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{path}: {error}: {line}"))
        })
        .collect()
}

/// The file of the labelled cases. `strict_cases.rs` compares the rules with their labels.
pub(crate) const LABELLED: &str = "tests/data/strict-cases.jsonl";

/// Returns the schemas of the labelled cases.
pub(crate) fn labelled() -> Vec<Value> {
    let mut cases = lines(LABELLED);
    cases.iter_mut().map(|case| case["schema"].take()).collect()
}

/// The file of schemas that break rules which no labelled case breaks. Each schema has the name of its rule's constant.
pub(crate) const BROKEN: &str = "tests/data/rule-cases.jsonl";

/// Returns the constants and schemas in [`BROKEN`].
pub(crate) fn broken() -> Vec<(String, Value)> {
    let mut cases = lines(BROKEN);
    cases
        .iter_mut()
        .map(|case| {
            (
                case["rule"].as_str().unwrap().to_owned(),
                case["schema"].take(),
            )
        })
        .collect()
}

/// Two different faults with the same id that are reported for the same location: the rules of `judge`, the rules of a different function, and the
/// difference between the faults.
type Pair = (&'static [Rule], &'static [Rule], &'static str);

const READERS: &[Pair] = &[
    (
        &[Rule::JSON_ALL_OF],
        &[
            Rule::JSON_ALL_OF_TARGET,
            Rule::JSON_ALL_OF_DIFFERS,
            Rule::JSON_ALL_OF_ENDLESS,
        ],
        "the keyword is refused; its parts cannot be merged",
    ),
    (
        &[Rule::JSON_REF_NOT_ALONE],
        &[
            Rule::JSON_REF_TARGET,
            Rule::JSON_REF_DIFFERS,
            Rule::JSON_REF_ENDLESS,
        ],
        "the keyword is refused; it cannot be merged with the reference",
    ),
    (
        &[Rule::JSON_ANY_OF_NOT_ALONE],
        &[Rule::JSON_CHOICE_NOT_ALONE],
        "any other keyword is refused; one of them cannot be merged",
    ),
    (
        &[Rule::JSON_NOT, Rule::JSON_CONDITION],
        &[Rule::JSON_NOT_UNREAD, Rule::JSON_CONDITION_UNREAD],
        "the keyword is refused; values cannot be checked against it",
    ),
    (
        &[Rule::JSON_CONTAINS],
        &[Rule::JSON_CONTAINS_UNREAD],
        "the keyword is refused; values cannot be checked against it",
    ),
    (
        &[Rule::JSON_PATTERN_PROPERTIES],
        &[Rule::JSON_PATTERN_PROPERTIES_UNREAD],
        "the keyword is refused; values cannot be checked against it",
    ),
    (
        &[Rule::JSON_PROPERTY_NAMES],
        &[Rule::JSON_PROPERTY_NAMES_UNREAD],
        "the keyword is refused; values cannot be checked against it",
    ),
    (
        &[
            Rule::JSON_UNEVALUATED_PROPERTIES,
            Rule::JSON_UNEVALUATED_ITEMS,
        ],
        &[
            Rule::JSON_UNEVALUATED_PROPERTIES_UNREAD,
            Rule::JSON_UNEVALUATED_ITEMS_UNREAD,
        ],
        "the keyword is refused; values cannot be checked against it",
    ),
    (
        &[Rule::JSON_ITEMS_LIST, Rule::JSON_PREFIX_ITEMS],
        &[Rule::JSON_TUPLE_OPEN],
        "a list of several types is refused; its length is not fixed",
    ),
    (
        &[Rule::JSON_RECURSIVE],
        &[Rule::JSON_RECURSIVE_REQUIRED],
        "any recursion is refused; one through required properties",
    ),
];

// If several functions report the same fault at a location, they use the same text. Different faults with the same id are listed.
#[test]
fn one_fault_has_one_text_in_every_function() {
    let mut wrong = BTreeSet::new();
    let mut used = Vec::new();
    let schemas = labelled()
        .into_iter()
        .chain(broken().into_iter().map(|(_, schema)| schema));
    for schema in schemas {
        let seen = seen(&schema);
        let faults = |by: By, like: &Seen| -> Vec<&'static Rule> {
            seen.iter()
                .filter(|seen| {
                    seen.by == by && seen.rule.id == like.rule.id && seen.pointer == like.pointer
                })
                .map(|seen| seen.rule)
                .collect()
        };
        for one in seen.iter().filter(|seen| seen.by != By::Changed) {
            for by in [By::Judge, By::Read, By::NonStrict] {
                let others = faults(by, one);
                if by == one.by || others.is_empty() || others.contains(&one.rule) {
                    continue;
                }
                for other in others {
                    let is = |pair: &&Pair, one: &Rule, other: &Rule| {
                        pair.0.contains(one) && pair.1.contains(other)
                    };
                    let pair = READERS
                        .iter()
                        .find(|pair| is(pair, one.rule, other) || is(pair, other, one.rule));
                    match pair {
                        Some(pair) => used.push(pair.2),
                        None => {
                            wrong.insert(format!(
                                "{:?}: {}\n  {by:?}: {}\n  {schema}",
                                one.by, one.rule.message, other.message
                            ));
                        }
                    }
                }
            }
        }
    }
    let wrong: Vec<String> = wrong.into_iter().collect();
    assert!(
        wrong.is_empty(),
        "two functions have different texts for the same fault:\n{}",
        wrong.join("\n")
    );
    for pair in READERS {
        assert!(
            used.contains(&pair.2),
            "this pair is not needed: {}",
            pair.2
        );
    }
}
