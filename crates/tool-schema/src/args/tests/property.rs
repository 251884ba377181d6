//! Property tests with random schemas and random, often invalid, values.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value;

use super::scene::{damage, scene};
use super::{Repair, admit};
use crate::schema::{Kind, Schema};

/// Returns whether an independent validator accepts the text.
fn is_valid(document: &Value, text: &str) -> bool {
    let validator = jsonschema::options()
        .should_validate_formats(true)
        .build(document)
        .unwrap();
    validator.is_valid(&serde_json::from_str(text).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    // S4-61, S0-07: the guard admits exactly the texts that the JSON Schema admits.
    #[test]
    fn guard_admits_what_the_json_schema_admits(bytes in vec(any::<u8>(), 0..400), wrong in prop_oneof![Just(0usize), Just(8), Just(40)]) {
        let (schema, document, text, twice) = scene(bytes, wrong);
        let wanted = !twice && is_valid(&document, &text);
        let admitted = admit(schema, &text, Repair::Off);
        prop_assert_eq!(admitted.is_ok(), wanted, "{} against {}: {:?}", text, document, admitted);
        match admitted {
            // The text for policies and readers must also be JSON.
            Ok(admitted) => drop(serde_json::from_str::<Value>(&admitted.text).unwrap()),
            Err(issues) => {
                prop_assert!(!issues.is_empty() && issues.len() <= 33, "{:?}", issues);
                let bytes: usize = issues.iter().map(|issue| issue.pointer.len() + issue.expected.len() + issue.found.len()).sum();
                prop_assert!(bytes < 4096);
                // Every pointer leads to a value, unless the issue is about a missing value, or a key is repeated.
                let value: Value = serde_json::from_str(&text).unwrap();
                for issue in issues {
                    let missing = issue.found.starts_with("nothing");
                    prop_assert!(missing || twice || value.pointer(&issue.pointer).is_some(), "{:?} in {}", issue, text);
                }
            }
        }
    }

    // M10: a repair never changes valid arguments, and its result is valid.
    #[test]
    fn repairs_keep_valid_arguments_and_give_valid_results(bytes in vec(any::<u8>(), 0..400), wrong in prop_oneof![Just(0usize), Just(20), Just(60)]) {
        let (schema, document, text, _) = scene(bytes, wrong);
        let off = admit(schema, &text, Repair::Off);
        let safe = admit(schema, &text, Repair::Safe);
        match (off, safe) {
            (Ok(off), Ok(safe)) => {
                prop_assert_eq!(off.text, safe.text);
                prop_assert!(safe.repairs.is_empty());
            }
            (Err(_), Ok(safe)) => {
                prop_assert!(!safe.repairs.is_empty());
                // Texts and schemas with durations are skipped. All other results must be valid again.
                if !text.contains("PT") && !document.to_string().contains("duration") {
                    prop_assert!(admit(schema, &safe.text, Repair::Off).is_ok(), "{} became {}", text, safe.text);
                    prop_assert!(is_valid(&document, &safe.text), "{} became {}", text, safe.text);
                }
            }
            (Err(off), Err(safe)) => prop_assert_eq!(off, safe),
            (Ok(_), Err(issues)) => prop_assert!(false, "{:?}", issues),
        }
    }

    // S0-07: the guard and serde_json accept the same texts as JSON.
    #[test]
    fn guard_and_serde_json_accept_the_same_json(bytes in vec(any::<u8>(), 0..200), at in any::<usize>(), with in any::<u8>()) {
        let (_, _, text, _) = scene(bytes, 30);
        let text = damage(&text, at, with);
        let schema = Schema::new(Kind::Any);
        let serde = serde_json::from_str::<Value>(&text).is_ok();
        let guard = admit(&schema, &text, Repair::Off);
        // Two exceptions: serde_json accepts repeated keys, and the guard accepts empty text as no arguments.
        let twice = guard.as_ref().is_err_and(|issues| issues.iter().any(|issue| issue.found.starts_with("the key a second time")));
        prop_assert!(guard.is_ok() == serde || twice || text.trim().is_empty(), "{}", text);
    }

    // M10: a call that was cut off never runs.
    #[test]
    fn truncated_arguments_are_refused(bytes in vec(any::<u8>(), 0..400), at in any::<usize>()) {
        let (schema, _, text, _) = scene(bytes, 0);
        let at = at % text.len();
        if let Some(cut) = text.get(..at)
            && text.starts_with(['{', '[', '"'])
            && !cut.trim().is_empty()
        {
            prop_assert!(admit(schema, cut, Repair::Safe).is_err(), "{}", cut);
        }
    }
}

/// Returns the number of test cases. Set `GUARD_CASES` for a long run.
fn cases() -> u32 {
    std::env::var("GUARD_CASES")
        .ok()
        .and_then(|cases| cases.parse().ok())
        .unwrap_or(400)
}
