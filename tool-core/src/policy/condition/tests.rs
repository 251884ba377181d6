#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::{Number, json};

use super::{Answer, Arguments, Condition};

fn ask(condition: &Condition, arguments: &str) -> Answer {
    condition.ask(&Arguments::new(arguments))
}

// M14: each test of a condition answers yes, no, or fails for a different type or an absent place.
#[test]
fn condition_is_true_false_or_fails() {
    let at = || Condition::new("/a");
    for (condition, yes, no) in [
        (at().equals("x"), r#"{"a":"x"}"#, r#"{"a":"X"}"#),
        (
            at().equals(json!([1, 2])),
            r#"{"a":[1,2]}"#,
            r#"{"a":[2,1]}"#,
        ),
        (at().one_of(["x", "y"]), r#"{"a":"y"}"#, r#"{"a":"z"}"#),
        (at().less(3), r#"{"a":2.5}"#, r#"{"a":3}"#),
        (at().greater(3), r#"{"a":3.5}"#, r#"{"a":3.0}"#),
        (at().prefix("/tmp/"), r#"{"a":"/tmp/x"}"#, r#"{"a":"/tmp"}"#),
        (at().glob("*.rs"), r#"{"a":"lib.rs"}"#, r#"{"a":"lib.rss"}"#),
        (at().len(Some(2), Some(3)), r#"{"a":"éé"}"#, r#"{"a":[1]}"#),
        (
            at().len(None, Some(1)),
            r#"{"a":{}}"#,
            r#"{"a":{"b":1,"c":2}}"#,
        ),
    ] {
        assert_eq!(ask(&condition, yes), Answer::Yes, "{condition}");
        assert_eq!(ask(&condition, no), Answer::No, "{condition}");
        for failing in ["{}", "", r#"{"a":true}"#, "[]", "no JSON"] {
            assert_eq!(
                ask(&condition, failing),
                Answer::Failed,
                "{condition} {failing}"
            );
        }
    }
    let (there, absent) = (at().exists(true), at().exists(false));
    for (arguments, is_there) in [("{}", false), ("", false), (r#"{"a":null}"#, true)] {
        assert_eq!(ask(&there, arguments), is_there.into());
        assert_eq!(ask(&absent, arguments), (!is_there).into());
    }
    assert_eq!(ask(&there, "no JSON"), Answer::Failed);
}

// M14: null is a value that differs from all others; a pointer can select items of arrays and escaped keys.
#[test]
fn null_is_a_distinct_value_and_pointers_reach_nested_values() {
    assert_eq!(
        ask(&Condition::new("/a").equals(json!(null)), r#"{"a":null}"#),
        Answer::Yes
    );
    assert_eq!(
        ask(&Condition::new("/a").equals("x"), r#"{"a":null}"#),
        Answer::No
    );
    assert_eq!(
        ask(
            &Condition::new("/a/1/b~1c").equals(1),
            r#"{"a":[0,{"b/c":1}]}"#
        ),
        Answer::Yes
    );
    assert_eq!(
        ask(&Condition::new("").len(Some(1), None), r#"{"a":1}"#),
        Answer::Yes
    );
}

// M14: numbers are compared by value and exactly; an integer that was rounded when it was parsed fails the condition.
#[test]
fn numbers_are_compared_exactly() {
    let equals = |value: i64| Condition::new("/a").equals(value);
    assert_eq!(ask(&equals(1), r#"{"a":1.0}"#), Answer::Yes);
    assert_eq!(
        ask(&equals(9_007_199_254_740_993), r#"{"a":9007199254740993}"#),
        Answer::Yes
    );
    assert_eq!(
        ask(&equals(9_007_199_254_740_993), r#"{"a":9007199254740992}"#),
        Answer::No
    );
    assert_eq!(
        ask(
            &equals(9_007_199_254_740_993),
            r#"{"a":9007199254740992.0}"#
        ),
        Answer::Failed
    );
    assert_eq!(
        ask(
            &Condition::new("/a").equals(json!([{"b": 1}])),
            r#"{"a":[{"b":1.0}]}"#
        ),
        Answer::Yes
    );
    let big = Condition::new("/a").greater(Number::from(u64::MAX));
    assert_eq!(ask(&big, r#"{"a":18446744073709551616}"#), Answer::Failed);
    assert_eq!(
        ask(&Condition::new("/a").less(-1), r#"{"a":-1.5}"#),
        Answer::Yes
    );
    assert_eq!(
        ask(&Condition::new("/a").greater(-2), r#"{"a":-1.5}"#),
        Answer::Yes
    );
}

// M14: a condition in a file has exactly one test, and invalid conditions are reported.
#[test]
fn condition_in_a_file_has_exactly_one_test() {
    for text in [
        r#"{"pointer":"/a","equals":null}"#,
        r#"{"pointer":"/a","one_of":[1,"x"]}"#,
        r#"{"pointer":"/a","len":{"max":3}}"#,
    ] {
        let condition: Condition = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&condition).unwrap(), text);
    }
    for (text, says) in [
        (r#"{"pointer":"/a"}"#, "exactly one of"),
        (r#"{"pointer":"/a","less":1,"greater":0}"#, "exactly one of"),
        (
            r#"{"pointer":"/a","matches":"x"}"#,
            "unknown field `matches`",
        ),
    ] {
        let error = serde_json::from_str::<Condition>(text)
            .unwrap_err()
            .to_string();
        assert!(error.contains(says), "{error}");
    }
    for condition in [
        Condition::new("a").exists(true),
        Condition::new("/a").len(None, None),
        Condition::new("/a").len(Some(2), Some(1)),
        Condition::new("/a").one_of::<i32>([]),
    ] {
        assert!(condition.fault().is_some(), "{condition}");
    }
}
