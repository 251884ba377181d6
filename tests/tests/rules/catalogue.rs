//! Checks of the tables in `tool-rules`.

use std::collections::BTreeSet;

use tool_rules::Rule;

use crate::message::{pieces, rule_of};

/// Rules with the same id that describe the same fault with different advice, and the reason for the difference.
const ADVICE: &[(&[Rule], &str)] = &[
    (
        &[
            Rule::TOOL_DESCRIPTION_MISSING,
            Rule::DYNAMIC_DESCRIPTION_MISSING,
        ],
        "a fn has a doc comment, a tool that is created at run time does not",
    ),
    (
        &[Rule::PROPERTY_KEY, Rule::PARAM_KEY],
        "the attribute of a field or of a parameter",
    ),
    (
        &[Rule::FORMAT_UNKNOWN, Rule::FORMAT_NAME],
        "the format of a type, or a name in an attribute",
    ),
    (
        &[Rule::TUPLE, Rule::TUPLE_VARIANT],
        "a type, or a variant of an enum",
    ),
    (
        &[Rule::UNTAGGED, Rule::UNTAGGED_VALUES],
        "variants with named fields, or with one value",
    ),
    (
        &[Rule::EXTERNAL_TAG, Rule::EXTERNAL_TAG_VALUES],
        "variants with named fields, or with one value",
    ),
    (&[Rule::JSON_NOT, Rule::JSON_CONDITION], "the keyword"),
    (
        &[Rule::JSON_NOT_UNREAD, Rule::JSON_CONDITION_UNREAD],
        "the keyword",
    ),
    (
        &[
            Rule::JSON_UNEVALUATED_PROPERTIES,
            Rule::JSON_UNEVALUATED_ITEMS,
        ],
        "the keyword",
    ),
    (
        &[Rule::JSON_PREFIX_ITEMS, Rule::JSON_ADDITIONAL_ITEMS],
        "the keyword",
    ),
    (&[Rule::JSON_REF, Rule::JSON_DEFINITIONS], "the keyword"),
    (
        &[Rule::LENGTH_OF_LIST, Rule::LENGTH_NOT_TEXT],
        "a list has bounds for its number of items, other types do not",
    ),
    (
        &[Rule::JSON_DEPTH, Rule::JSON_DEPTH_GEMINI],
        "each provider has its own limit",
    ),
];

/// Returns the part of a rule's text that describes the fault: the words before the first comma or colon, without placeholders and articles.
fn wrong(rule: &Rule) -> String {
    let text = pieces(rule.text).join(" ");
    let (end, _) = text
        .match_indices([',', ':'])
        .find(|(at, _)| text[at + 1..].starts_with(' '))
        .unwrap_or((text.len(), ""));
    let words = text[..end].split(|c: char| c.is_whitespace() || c == '`');
    let words = words.map(str::to_lowercase);
    let articles = ["", "a", "an", "the", "this", "these"];
    words
        .filter(|word| !articles.contains(&word.as_str()))
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn each_fault_has_one_text() {
    let rules: Vec<(&Rule, String)> = Rule::all().map(|rule| (rule, wrong(rule))).collect();
    let mut faults = Vec::new();
    let mut used = BTreeSet::new();
    for (at, (rule, fault)) in rules.iter().enumerate() {
        for (other, other_fault) in &rules[..at] {
            if rule.id != other.id || fault != other_fault || fault.is_empty() {
                continue;
            }
            let listed = ADVICE
                .iter()
                .position(|(same, _)| same.contains(rule) && same.contains(other));
            match listed {
                Some(listed) => {
                    used.insert(listed);
                }
                None => faults.push(format!("[{}]\n  {}\n  {}", rule.id, other.text, rule.text)),
            }
        }
    }
    assert!(
        faults.is_empty(),
        "the same fault has two texts:\n{}",
        faults.join("\n")
    );
    assert_eq!(used.len(), ADVICE.len(), "an entry of ADVICE is not needed");
}

// Each printed message belongs to exactly one rule.
#[test]
fn each_text_belongs_to_one_rule() {
    for rule in Rule::all() {
        let filled = pieces(rule.text).join("x");
        if let Err(why) = rule_of(rule.id, &filled) {
            panic!("{why}");
        }
    }
}

#[test]
fn every_row_is_complete() {
    for rule in Rule::all() {
        assert_eq!(rule.message, format!("[{}] {}", rule.id, rule.text));
        assert!(!rule.evidence.is_empty(), "{rule:?}");
        // A text needs words besides its placeholders to describe the fault.
        let letters = pieces(rule.text).concat();
        let letters = letters.chars().filter(|c| c.is_alphabetic()).count();
        assert!(letters > 8, "the text has hardly any words: {rule:?}");
    }
}
