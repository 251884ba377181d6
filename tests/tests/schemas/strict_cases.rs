//! The provider rules for raw schemas, compared with labelled cases.
//!
//! All 328 labels that are not inferred agree with the rules (`OpenAI` 98, Anthropic 95, Gemini 29, Gemini `parameters`
//! 106), so the tests need no table of disagreements. The labels and the rules have the same evidence. The comparison
//! proves that the rules are implemented correctly, not that the providers follow them.
#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::collections::BTreeMap;

use serde_json::Value;
use tool_core::schema::dynamic::{Target, judge};
use tool_tests::lint::lint;

/// The labels in the data, each with the corresponding target in the code.
const JUDGED: [(&str, Target); 4] = [
    ("openai_strict", Target::OpenAi),
    ("anthropic_strict", Target::Anthropic),
    ("gemini", Target::Gemini),
    ("gemini_parameters", Target::GeminiParameters),
];

fn cases() -> Vec<Value> {
    include_str!("../../data/strict-cases.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).expect("the data is JSON"))
        .collect()
}

// M2, S1-27, S1-28, S1-29: the verdict for each provider agrees with the label.
#[test]
fn verdicts_agree_with_the_labels() {
    let mut score: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut disagreements = Vec::new();
    for case in cases() {
        let verdicts = judge(&case["schema"]);
        for (label, target) in JUDGED {
            let verdict = &case[label];
            if case["confidence"][label] == "inferred" || verdict == "unknown" {
                continue;
            }
            let entry = score.entry(label).or_default();
            entry.1 += 1;
            if verdicts.accepts(target) == (verdict == "accept") {
                entry.0 += 1;
            } else {
                let faults: Vec<String> =
                    verdicts.against(target).map(ToString::to_string).collect();
                disagreements.push(format!(
                    "{} {label}: labelled {verdict}, found {faults:?}",
                    case["id"]
                ));
            }
        }
    }
    let (agreed, judged) = score
        .values()
        .fold((0, 0), |sum, (a, j)| (sum.0 + a, sum.1 + j));
    println!("{score:?}: {agreed} of {judged}");
    assert!(judged > 250, "only {judged} labels were judged");
    assert!(disagreements.is_empty(), "{}", disagreements.join("\n"));
}

// M2: a refusal names the rule of the label.
#[test]
fn refusal_names_the_rule_of_the_label() {
    // Two labels differ from the reported rule: the label `not-keyword` of an empty enum is reported as `conditional`, and the label `map-type` of a
    // flattened map as `open-object`.
    const OTHERWISE: [(&str, &str); 2] =
        [("not-keyword", "conditional"), ("map-type", "open-object")];
    for case in cases() {
        let rule = case["rule"].as_str().expect("every case names its rule");
        let sure = |label: &str| case[label] == "reject" && case["confidence"][label] != "inferred";
        // The label `format-on-number` is skipped: only a linter refuses this format, and Gemini refuses the case for a different reason.
        if rule == "ok"
            || rule == "format-on-number"
            || !JUDGED.iter().any(|(label, _)| sure(label))
        {
            continue;
        }
        let verdicts = judge(&case["schema"]);
        let named = verdicts
            .faults()
            .iter()
            .any(|fault| fault.rule == rule || OTHERWISE.contains(&(rule, fault.rule)));
        assert!(
            named,
            "{}: `{rule}` is not among {:?}",
            case["id"],
            verdicts.faults()
        );
    }
}

// M2: the linter of the dialect tests finds a fault in every case that OpenAI or Anthropic refuses according to a label that is not inferred.
#[test]
fn linter_reports_every_case_that_a_provider_refuses() {
    let mut missed = Vec::new();
    for case in cases() {
        for (label, dialect) in [
            ("openai_strict", "openai"),
            ("anthropic_strict", "anthropic"),
        ] {
            let refused = case[label] == "reject" && case["confidence"][label] != "inferred";
            if refused && lint(dialect, &case["schema"]).is_empty() {
                missed.push(format!("{} {dialect}", case["id"]));
            }
        }
    }
    assert!(missed.is_empty(), "{missed:?}");
}
