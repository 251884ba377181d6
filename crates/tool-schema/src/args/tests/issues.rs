//! Tests of the issues that a model reads when its arguments are refused.

use super::super::nearest;
use super::build::*;
use super::issues;
use crate::schema::{Format, Kind, Tagging};

fn issue_texts(schema: Node, text: &str) -> Vec<(String, String, String)> {
    issues(schema, text)
        .into_iter()
        .map(|issue| (issue.pointer, issue.expected, issue.found))
        .collect()
}

fn one(schema: Node, text: &str) -> (String, String, String) {
    let mut issues = issue_texts(schema, text);
    assert_eq!(issues.len(), 1, "{issues:?}");
    issues.remove(0)
}

fn as_strs(issue: &(String, String, String)) -> (&str, &str, &str) {
    (&issue.0, &issue.1, &issue.2)
}

// S4-61, S0-07: all issues are reported at once, each with its path.
#[test]
fn all_issues_are_reported_at_once() {
    let filter = object(vec![
        field("lang", choice(&["rust", "python"])),
        field("tags", array(text())),
        field("min_stars", optional(u32s())),
    ]);
    let limit = bounded(u32s(), |b| {
        b.min = number_bound("1");
        b.max = number_bound("50");
    });
    let schema = object(vec![
        field("query", text()),
        field("limit", optional(limit)),
        field("filter", optional(filter)),
    ]);
    let issues = issue_texts(
        schema,
        r#"{"limt":3,"limit":51,"filter":{"lang":"rast","tags":["a",5,null],"min_stars":"many"}}"#,
    );
    let issues: Vec<_> = issues.iter().map(as_strs).collect();
    assert_eq!(
        issues,
        [
            (
                "/limt",
                "no key `limt`, did you mean `limit`?",
                "the number 3"
            ),
            ("/limit", "a whole number from 1 to 50", "the number 51"),
            (
                "/filter/lang",
                "one of `rust` or `python`, did you mean `rust`?",
                "the text \"rast\""
            ),
            ("/filter/tags/1", "text", "the number 5"),
            ("/filter/tags/2", "text", "`null`"),
            (
                "/filter/min_stars",
                "a whole number from 0 to 4294967295",
                "the text \"many\""
            ),
            ("/query", "text", "nothing: the key is missing"),
        ]
    );
}

// S4-61: an issue describes the expected and the found value.
#[test]
fn each_schema_kind_has_an_issue_text() {
    let cases: Vec<(Node, &str, &str, &str)> = vec![
        (i64s(), "\"x\"", "a whole number", "the text \"x\""),
        (
            i64s(),
            "9223372036854775808",
            "a whole number from -9223372036854775808 to 9223372036854775807",
            "the number 9223372036854775808",
        ),
        (
            integer("u64", 0, u64::MAX.into()),
            "true",
            "a whole number, at least 0",
            "`true`",
        ),
        (
            number(),
            "1e999",
            "a number that fits 64 bits",
            "the number 1e999",
        ),
        (
            bounded(number(), |b| {
                b.min = number_bound("0");
                b.exclusive_min = true;
                b.multiple_of = number_bound("0.5");
            }),
            "0",
            "a number above 0, a multiple of 0.5",
            "the number 0",
        ),
        (boolean(), "[]", "`true` or `false`", "an empty list"),
        (
            node(Kind::Char),
            "\"ab\"",
            "text of exactly one character",
            "the text \"ab\"",
        ),
        (
            node(Kind::Format(Format::Date)),
            "\"\"",
            "a date such as 2026-01-31",
            "empty text",
        ),
        (
            bounded(text(), |b| {
                b.min_length = Some(1);
                b.max_length = Some(3);
            }),
            "\"abcd\"",
            "text of 1 to 3 characters",
            "the text \"abcd\"",
        ),
        (
            array(text()),
            "\"[\\\"a\\\"]\"",
            "a list, not JSON inside a text",
            "the text \"[\\\"a\\\"]\"",
        ),
        (
            set(u32s()),
            "{}",
            "a list without repeats",
            "an empty object",
        ),
        (
            bounded(array(u32s()), |b| b.max_items = Some(1)),
            "[1,2]",
            "a list of at most 1 item",
            "a list of 2 items",
        ),
        (
            object(vec![field("a", text()), field("b", text())]),
            "[1]",
            "an object with `a` and `b`",
            "a list of 1 item",
        ),
        (
            numbers(&[1, 2, 3]),
            "4",
            "the number 1, 2 or 3",
            "the number 4",
        ),
        (
            union(Tagging::External, vec![("a", None), ("b", Some(text()))]),
            "\"c\"",
            "one of `a`, or an object with the one key `b`",
            "the text \"c\"",
        ),
        (
            union(
                Tagging::Internal { tag: "t" },
                vec![("a", None), ("b", None)],
            ),
            "{}",
            "an object whose `t` is one of `a` or `b`",
            "an object without `t`",
        ),
        (
            union(
                Tagging::Untagged,
                vec![("a", Some(text())), ("b", Some(u32s()))],
            ),
            "true",
            "text or a whole number from 0 to 4294967295",
            "`true`",
        ),
        (
            node(Kind::Duration),
            "\"P1Y\"",
            "a duration such as `PT1M30S`, without years, months and fractions of a second",
            "the text \"P1Y\"",
        ),
        (optional(text()), "1", "text", "the number 1"),
    ];
    for (schema, given, expected, found) in cases {
        assert_eq!(
            as_strs(&one(schema, given)),
            ("", expected, found),
            "{given}"
        );
    }
}

// S4-61: unknown tags and keys, and repeated keys and items, have their own issues.
#[test]
fn unknown_tags_and_repeated_keys_have_issues() {
    let shape = union(
        Tagging::Internal { tag: "kind" },
        vec![
            ("circle", Some(object(vec![field("r", u32s())]))),
            ("square", None),
        ],
    );
    assert_eq!(
        as_strs(&one(shape, r#"{"kind":"circel","r":"x"}"#)),
        (
            "/kind",
            "one of `circle` or `square`, did you mean `circle`?",
            "the text \"circel\""
        )
    );
    assert_eq!(as_strs(&one(shape, r#"{"kind":"circle","r":"x"}"#)).0, "/r");
    assert_eq!(
        as_strs(&one(set(u32s()), "[1,2,1.0]")),
        ("/2", "an item that differs from item 0", "the number 1.0")
    );
    assert_eq!(
        as_strs(&one(object(vec![field("a", u32s())]), r#"{"a":1,"a":[2]}"#)),
        (
            "/a",
            "the key `a` once",
            "the key a second time, with a list of 1 item"
        )
    );
    assert_eq!(
        as_strs(&one(
            union(Tagging::External, vec![("ab", Some(text())), ("c", None)]),
            r#"{"abc":1}"#
        )),
        ("/abc", "no key `abc`, did you mean `ab`?", "the number 1")
    );
    // RFC 6901 escapes `/` as `~1` and `~` as `~0`.
    assert_eq!(
        one(node(Kind::Map(u32s())), r#"{"a/b~c":"x"}"#).0,
        "/a~1b~0c"
    );
}

// S4-61: issues of a union are the issues of the closest variant.
#[test]
fn closest_union_variant_is_reported() {
    let a = object(vec![field("x", u32s()), field("y", u32s())]);
    let b = object(vec![field("name", text()), field("size", u32s())]);
    let schema = union(
        Tagging::Untagged,
        vec![("a", Some(a)), ("b", Some(b)), ("c", Some(boolean()))],
    );
    assert_eq!(
        as_strs(&one(schema, r#"{"name":"n","size":"big"}"#)).0,
        "/size"
    );
    assert_eq!(as_strs(&one(schema, r#"{"name":1,"size":2}"#)).0, "/name");
    assert_eq!(issue_texts(schema, r#"{"x":"1","y":"2"}"#).len(), 2);
}

// S4-61: the issue of malformed JSON has line, column and byte.
#[test]
fn malformed_json_is_reported_with_its_position() {
    let schema = object(vec![field("a", u32s()), field("b", u32s())]);
    assert_eq!(
        as_strs(&one(schema, "{\"a\":1,\n  \"b\" 2}")),
        (
            "",
            "valid JSON: `:` after a key",
            "'2' at line 2 column 7 (byte 14)"
        )
    );
    assert_eq!(
        as_strs(&one(schema, r#"{"a":1"#)),
        (
            "",
            "valid JSON: `,` or `}` after a value",
            "the end of the text at line 1 column 7 (byte 6)"
        )
    );
    assert_eq!(one(schema, "ä").2, "'ä' at line 1 column 1 (byte 0)");
    assert!(one(schema, r#"{"a":"\ud800"}"#).1.contains("surrogate"));
    assert!(one(schema, &"[".repeat(1000)).1.contains("nesting"));
}

// S4-61: the number and the total length of issues are limited.
#[test]
fn number_and_length_of_issues_are_limited() {
    let schema = array(u32s());
    let items = vec![format!("\"{}\"", "x".repeat(500)); 500].join(",");
    let many = issues(schema, &format!("[{items}]"));
    assert!(many.len() <= 33);
    let bytes: usize = many
        .iter()
        .map(|issue| issue.pointer.len() + issue.expected.len() + issue.found.len())
        .sum();
    assert!(bytes < 4096, "{bytes}");
    assert!(many.last().unwrap().found.ends_with("more problems"));
    assert!(many.iter().all(|issue| issue.found.chars().count() <= 64));
    let key = "k".repeat(10_000);
    let odd = issues(object(vec![]), &format!("{{\"{key}\":1}}"));
    assert!(odd.first().unwrap().pointer.len() < 100);
}

// Similar names are found, and names without similarity are not.
#[test]
fn similar_names_are_suggested() {
    let tools = [
        "search_docs",
        "search_code",
        "fetch_page",
        "send_mail",
        "ls",
    ];
    let near = |name| nearest(name, tools.into_iter(), 5);
    assert_eq!(near("searchDocs"), ["search_docs", "search_code"]);
    assert_eq!(near("serach_docs").first(), Some(&"search_docs"));
    assert_eq!(near("search"), ["search_code", "search_docs"]);
    assert_eq!(near("functions.fetch_page"), ["fetch_page"]);
    assert!(near("xyz").is_empty());
    assert!(near("").is_empty());
    assert!(near(&"x".repeat(100_000)).is_empty());
}
