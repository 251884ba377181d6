//! Tests that nesting up to the limit does not overflow the default stack of a Rust thread, and that deeper nesting is an error.
#![allow(clippy::expect_used, reason = "a test fails by panicking")]

use std::fmt::Debug;
use std::thread;

use decode_tests::{own, twin};
use serde::de::DeserializeOwned;
use tool_core::__private0::read::{Decode, by_serde, from_text};
use tool_core::StrictSchema;

/// The depth that the guard allows. It is also the limit of `serde_json`.
const LEVELS: usize = 127;

/// Returns a text with this many nested brackets.
fn nested(levels: usize, open: &str, inside: &str, close: &str) -> String {
    let brackets = |text: &str| text.matches(['{', '[']).count();
    let each = brackets(open);
    let rest = levels
        .checked_sub(brackets(inside))
        .expect("the inner text has fewer brackets than `levels`");
    assert!(
        rest.is_multiple_of(each),
        "{open} does not open {levels} levels"
    );
    [
        &*open.repeat(rest / each),
        inside,
        &close.repeat(rest / each),
    ]
    .concat()
}

fn on_two_mebibytes(test: impl FnOnce() + Send + 'static) {
    let thread = thread::Builder::new().stack_size(2 << 20).spawn(test);
    thread
        .expect("a thread starts")
        .join()
        .expect("the thread does not panic");
}

/// Checks that both decoders accept the two greatest depths within the limit, and refuse four depths beyond it.
fn reads<O, T>(open: &'static str, inside: &'static str, close: &'static str)
where
    O: StrictSchema + Decode + Debug,
    T: StrictSchema + Decode + DeserializeOwned + Debug,
{
    on_two_mebibytes(move || {
        let each = open.matches(['{', '[']).count();
        let inner = inside.matches(['{', '[']).count();
        let deepest = LEVELS - (LEVELS - inner) % each;
        for levels in [deepest - each, deepest] {
            let text = nested(levels, open, inside, close);
            let one = from_text::<O>(&text).expect(&text);
            let other = by_serde::<T>(&text).expect(&text);
            assert_eq!(format!("{:?}", one.value), format!("{:?}", other.value));
        }
        for levels in [
            deepest + each,
            deepest + 2 * each,
            deepest + 1000 * each,
            deepest + 100_000 * each,
        ] {
            let text = nested(levels, open, inside, close);
            let one = from_text::<O>(&text).expect_err("too deep");
            let other = by_serde::<T>(&text).expect_err("too deep");
            assert!(one.own.is_none());
            assert_eq!(one.issues, other.issues);
            assert!(!one.issues.is_empty());
        }
    });
}

#[test]
fn lists_nest_to_the_limit() {
    reads::<own::Forest, twin::Forest>("[", "", "]");
    reads::<Vec<own::Forest>, Vec<twin::Forest>>("[", "", "]");
    reads::<own::Untagged, twin::Untagged>("[", "1", "]");
}

#[test]
fn records_nest_to_the_limit() {
    reads::<own::Chain, twin::Chain>(r#"{"next":"#, "{}", "}");
    reads::<own::Chain, twin::Chain>(r#"{"label":"a","next":"#, r#"{"label":"b"}"#, "}");
    reads::<own::Node, twin::Node>(r#"{"kids":["#, r#"{"kids":[]}"#, "]}");
    reads::<own::Node, twin::Node>(r#"{"limit":1,"also":"#, r#"{"kids":[]}"#, r#","kids":[]}"#);
    reads::<own::tree::Node, twin::tree::Node>(
        r#"{"weight":1,"kids":["#,
        r#"{"weight":1,"kids":[]}"#,
        "]}",
    );
    reads::<own::Folder, twin::Folder>(
        r#"{"entries":[{"kind":"Folder","folder":"#,
        r#"{"entries":[]}"#,
        "}]}",
    );
    reads::<own::Outer, twin::Outer>(r#"{"number":1,"kids":["#, r#"{"number":1,"kids":[]}"#, "]}");
}

#[test]
fn unions_nest_to_the_limit() {
    reads::<own::Internal, twin::Internal>(r#"{"op":"not","inner":"#, r#"{"op":"nothing"}"#, "}");
    reads::<own::Internal, twin::Internal>(
        r#"{"parts":["#,
        r#"{"op":"nothing"}"#,
        r#"],"op":"sum"}"#,
    );
    reads::<own::Adjacent, twin::Adjacent>(r#"{"t":"List","c":["#, r#"{"t":"Nothing"}"#, "]}");
    reads::<own::Adjacent, twin::Adjacent>(
        r#"{"c":{"again":"#,
        r#"{"t":"Nothing"}"#,
        r#"},"t":"Record"}"#,
    );
    reads::<own::External, twin::External>(r#"{"List":["#, r#""Nothing""#, "]}");
    reads::<own::External, twin::External>(r#"{"Again":"#, r#""Nothing""#, "}");
    reads::<own::External, twin::External>(r#"{"Record":{"again":"#, r#""Nothing""#, "}}");
    reads::<own::Untagged, twin::Untagged>(r#"{"again":"#, "1", "}");
}
