//! Tests of `Repair::Safe`: a repair needs exactly one possible reading.

use super::build::*;
use super::repaired;
use crate::schema::{Format, Kind, Tagging};

fn becomes(schema: Node, given: &str, wanted: &str) {
    let (text, notes) = repaired(schema, given).unwrap_or_else(|| panic!("not repaired: {given}"));
    assert_eq!(text, wanted, "{given}");
    assert!(!notes.is_empty(), "{given}");
}

fn stays_refused(schema: Node, given: &str) {
    assert_eq!(repaired(schema, given), None, "{given}");
}

fn search() -> Node {
    let filter = object(vec![
        field("lang", choice(&["rust", "python"])),
        field("tags", array(text())),
    ]);
    object(vec![
        field("query", text()),
        field("limit", optional(u32s())),
        field("filter", optional(filter)),
    ])
}

// M10: a string that contains JSON is read as JSON.
#[test]
fn json_inside_a_string_is_parsed() {
    let whole = r#"{"query":"q","filter":{"lang":"rust","tags":["a"]}}"#;
    becomes(search(), &serde_json::to_string(whole).unwrap(), whole);
    becomes(
        search(),
        r#"{"query":"q","filter":"{\"lang\":\"rust\",\"tags\":[\"a\"]}"}"#,
        whole,
    );
    becomes(
        search(),
        r#"{"query":"q","filter":{"lang":"rust","tags":"[\"a\"]"}}"#,
        whole,
    );
    // The string contains JSON with a string that contains JSON.
    becomes(
        search(),
        r#"{"query":"q","filter":"{\"lang\":\"rust\",\"tags\":\"[\\\"a\\\"]\"}"}"#,
        whole,
    );
    becomes(array(u32s()), r#""[\"1\",2,]""#, "[1,2]");
    stays_refused(
        search(),
        r#"{"query":"q","filter":"{\"lang\":\"rust\",\"tags\":[\"a\"]"}"#,
    );
}

// M10: a number or bool in a string is read as the scalar.
#[test]
fn scalars_written_as_text_are_parsed() {
    becomes(u32s(), "\"5\"", "5");
    becomes(u32s(), "\" 5 \"", "5");
    becomes(number(), "\"0.5\"", "0.5");
    becomes(boolean(), "\"true\"", "true");
    becomes(boolean(), "\"False\"", "false");
    becomes(numbers(&[1, 2]), "\"2\"", "2");
    becomes(
        object(vec![field("a", optional(u32s()))]),
        r#"{"a":"null"}"#,
        r#"{"a":null}"#,
    );
    for given in [
        "\"5.5\"",
        "\"1,000\"",
        "\"+5\"",
        "\"05\"",
        "\"0x5\"",
        "\"five\"",
        "\"\"",
        "\"-1\"",
        "true",
    ] {
        stays_refused(u32s(), given);
    }
    for given in ["\"yes\"", "\"1\"", "1", "null"] {
        stays_refused(boolean(), given);
    }
    stays_refused(u32s(), "\"null\"");
}

// M10: a number in place of a string becomes its text.
#[test]
fn numbers_become_text_where_text_is_expected() {
    becomes(text(), "5", "\"5\"");
    becomes(text(), "-12.5", "\"-12.5\"");
    for given in ["1.0", "1e2", "-0", "true", "null", "[1,2]", "{}"] {
        stays_refused(text(), given);
    }
}

// M10: a single value in place of a list is wrapped, and a list of one item in place of a value is unwrapped.
#[test]
fn single_value_and_one_item_list_are_converted() {
    let tags = object(vec![field("tags", array(text()))]);
    becomes(tags, r#"{"tags":"a"}"#, r#"{"tags":["a"]}"#);
    becomes(
        object(vec![field("n", array(u32s()))]),
        r#"{"n":"5"}"#,
        r#"{"n":[5]}"#,
    );
    let point = array(object(vec![field("x", u32s())]));
    becomes(
        object(vec![field("p", point)]),
        r#"{"p":{"x":1}}"#,
        r#"{"p":[{"x":1}]}"#,
    );
    becomes(
        object(vec![field("q", text())]),
        r#"{"q":["a"]}"#,
        r#"{"q":"a"}"#,
    );
    stays_refused(tags, r#"{"tags":"a, b"}"#);
    stays_refused(tags, r#"{"tags":null}"#);
    stays_refused(object(vec![field("q", text())]), r#"{"q":["a","b"]}"#);
    stays_refused(array(array(u32s())), "[1,2]");
    stays_refused(u32s(), "\"[5]\"");
    stays_refused(
        object(vec![field("t", optional(array(text())))]),
        r#"{"t":"null"}"#,
    );
}

// M10: code fences, white space and trailing commas are removed.
#[test]
fn code_fence_white_space_and_commas_are_removed() {
    let schema = object(vec![field("a", u32s())]);
    for given in [
        "```json\n{\"a\":1}\n```",
        "```\n{\"a\":1}```",
        "\u{feff}{\"a\":1}",
        "\u{a0}{\"a\":1}\n",
        "{\"a\":1,}",
        "```json\n{\"a\": 1 ,\n}\n```\n",
        "{\"a\":1 , }",
    ] {
        let (text, notes) = repaired(schema, given).expect(given);
        assert_eq!(text.replace([' ', '\n'], ""), "{\"a\":1}");
        assert!(!notes.is_empty());
    }
    becomes(array(text()), r#"["a,]",",}",]"#, r#"["a,]",",}"]"#);
    for given in [
        "Sure! {\"a\":1}",
        "```json\n{\"a\":1}\n``` done",
        "{\"a\":1",
        "{\"a\":1,",
        "{\"a\":",
        "{\"a\":1}}",
        "{'a':1}",
        "{\"a\":1,,}",
        "{\"a\":1}{\"a\":1}",
        "```json\n{\"a\":1",
        "{a:1}",
    ] {
        stays_refused(schema, given);
    }
    stays_refused(array(u32s()), "[,]");
}

// M10: names that differ only in case or white space are corrected.
#[test]
fn enum_names_match_case_insensitively() {
    becomes(choice(&["rust", "python"]), "\"Rust\"", "\"rust\"");
    becomes(choice(&["rust", "python"]), "\" PYTHON\\n\"", "\"python\"");
    stays_refused(choice(&["rust", "python"]), "\"rst\"");
    stays_refused(choice(&["Rust", "rust"]), "\"RUST\"");
    becomes(choice(&["1", "2"]), "1", "\"1\"");
    becomes(
        union(Tagging::External, vec![("Add", None), ("Sub", None)]),
        "\"add\"",
        "\"Add\"",
    );
    let shape = union(
        Tagging::Internal { tag: "t" },
        vec![
            ("Circle", Some(object(vec![field("r", u32s())]))),
            ("Square", None),
        ],
    );
    becomes(
        shape,
        r#"{"t":"circle","r":"5"}"#,
        r#"{"t":"Circle","r":5}"#,
    );
    becomes(
        node(Kind::Format(Format::Date)),
        "\" 2024-01-31 \"",
        "\"2024-01-31\"",
    );
}

// M10: repeated items are removed from sets.
#[test]
fn repeated_items_are_removed_from_sets() {
    becomes(set(u32s()), "[1,2, 1.0 ,3,2]", "[1,2 ,3]");
    becomes(set(u32s()), "[\"1\",1,1]", "[1]");
    becomes(
        bounded(array(text()), |b| b.unique = true),
        r#"["a","a"]"#,
        r#"["a"]"#,
    );
    let (_, notes) = repaired(set(u32s()), "[1,1]").unwrap();
    assert_eq!(notes, [("/1".to_owned(), "removed a repeated item")]);
}

// M10: a value with two possible readings stays refused.
#[test]
fn ambiguous_repairs_are_refused() {
    let either = union(
        Tagging::Untagged,
        vec![("a", Some(u32s())), ("b", Some(boolean()))],
    );
    becomes(either, "\"5\"", "5");
    becomes(either, "\"true\"", "true");
    let number_or_text = union(
        Tagging::Untagged,
        vec![("a", Some(u32s())), ("b", Some(text()))],
    );
    assert_eq!(
        repaired(number_or_text, "\"5\"").unwrap(),
        ("\"5\"".to_owned(), vec![])
    );
    let lists = union(
        Tagging::Untagged,
        vec![("a", Some(array(u32s()))), ("b", Some(boolean()))],
    );
    becomes(lists, "5", "[5]");
    let a = object(vec![field("x", u32s())]);
    let b = object(vec![field("x", boolean())]);
    let records = union(Tagging::Untagged, vec![("a", Some(a)), ("b", Some(b))]);
    becomes(records, r#"{"x":"5"}"#, r#"{"x":5}"#);
    let c = object(vec![field("x", text())]);
    stays_refused(
        union(
            Tagging::Untagged,
            vec![("a", Some(array(u32s()))), ("c", Some(array(c)))],
        ),
        r#"{"x":true}"#,
    );
}

// M10: missing values are never invented, and unknown keys are never removed.
#[test]
fn missing_values_are_never_invented() {
    stays_refused(search(), "{}");
    stays_refused(search(), r#"{"query":"q","limt":3}"#);
    stays_refused(search(), r#"{"query":"q","query":"r"}"#);
    stays_refused(search(), r#"{"query":null}"#);
    stays_refused(search(), r#"{"query":"q","limit":-1}"#);
    stays_refused(search(), "null");
    becomes(object(vec![]), "null", "{}");
}

// M10: repair notes have the path and the change.
#[test]
fn repair_notes_have_the_path_and_the_change() {
    let (text, notes) = repaired(
        search(),
        r#"{"query":"q","limit":"3","filter":{"lang":"RUST","tags":"x"}}"#,
    )
    .unwrap();
    assert_eq!(
        text,
        r#"{"query":"q","limit":3,"filter":{"lang":"rust","tags":["x"]}}"#
    );
    assert_eq!(
        notes,
        [
            ("/limit".to_owned(), "read a text as JSON"),
            (
                "/filter/lang".to_owned(),
                "replaced the name with the spelling of the schema"
            ),
            ("/filter/tags".to_owned(), "wrapped the value in a list"),
        ]
    );
}
