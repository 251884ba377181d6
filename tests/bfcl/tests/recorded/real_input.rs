//! Tests that every gold call of a tool except the listed one is accepted, that every spoiled call that is compared gets the same verdict as from
//! `jsonschema`, and that the numbers of the sample do not change.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use bfcl::compare::{by_rule, compare, same};
use bfcl::spoil::{Kind, VARIANTS};

#[test]
fn verdicts_agree_with_jsonschema() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime");
    let findings = runtime.block_on(compare()).expect("a comparison");
    println!("{findings}");

    assert!(findings.misses.is_empty(), "{findings}");
    assert_eq!(findings.lines, 1094);
    assert!(findings.typed_percent() >= 95.0);
    assert_eq!(findings.typed_lines, TYPED_LINES);
    assert_eq!(findings.gold_accepted + INVENTED_KEYS.len(), TYPED_LINES);
    assert_eq!(findings.gold_refused.len(), INVENTED_KEYS.len());
    for (call, id) in findings.gold_refused.iter().zip(INVENTED_KEYS) {
        assert!(call.starts_with(id), "{call}");
    }

    // Both verdicts are frequent, and every kind occurs.
    assert_eq!(findings.spoiled(|tally| tally.sent), TYPED_LINES * VARIANTS);
    assert!(findings.spoiled(|tally| tally.refused) > 1000);
    assert!(findings.spoiled(|tally| tally.accepted) > 1000);
    for (at, kind) in Kind::ALL.into_iter().enumerate() {
        let sent = findings.kinds.get(&at).map_or(0, |tally| tally.sent);
        assert!(sent > 0, "no call of kind `{}`", kind.name());
    }

    // These rules forbid the remaining definitions.
    let rules: Vec<_> = by_rule(&findings.definitions).into_keys().collect();
    assert_eq!(rules, ["enum-case-only", "map-type", "untyped-value"]);
}

/// The number of lines whose function is a tool.
const TYPED_LINES: usize = 1069;

/// Gold calls with a key that their own definition does not have (`journey_start_time`): valid under the leaderboard's open schema,
/// and refused by the dispatcher and by `jsonschema` under the closed schema.
const INVENTED_KEYS: [&str; 1] = ["live_multiple_862-181-3#0"];

#[test]
fn numbers_are_compared_as_numbers() {
    let value = |text: &str| serde_json::from_str(text).unwrap_or_default();
    assert!(same(
        &value("[1, {\"a\": 2.0}]"),
        &value("[1.0, {\"a\": 2}]")
    ));
    assert!(!same(&value("1"), &value("\"1\"")));
}
