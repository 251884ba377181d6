//! Redaction of payloads, progress, errors and model output.

use std::borrow::Cow;
use std::fmt;

use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};
use tool_core::prelude::*;
use tool_core::{ErrorKind, Issue, Part};

use super::redactor;

const SECRET: &str = "s3cr\"et/ä";

fn raw(value: &serde_json::Value) -> Box<RawValue> {
    to_raw_value(value).unwrap()
}

// M8, S4-13: payloads and progress are redacted.
#[test]
fn payloads_and_progress_are_redacted() {
    let redactor = redactor(&[("key", SECRET)]);
    let payload = raw(&json!({"a": [SECRET, 1, null], SECRET: format!("x{SECRET}y")}));
    let masked = redactor.payload(payload.clone());
    let read: serde_json::Value = serde_json::from_str(masked.get()).unwrap();
    assert_eq!(
        read,
        json!({"a": ["[secret:key]", 1, null], "[secret:key]": "x[secret:key]y"})
    );
    assert_eq!(redactor.progress(payload).get(), masked.get());
    let clean = raw(&json!({"a": "b\n"}));
    assert_eq!(redactor.payload(clean.clone()).get(), clean.get());
}

// M8: a number or a literal that contains a secret becomes a string with the secret's placeholder.
#[test]
fn secret_number_or_literal_is_replaced_by_its_placeholder() {
    let redactor = redactor(&[("pin", "123456")]);
    let masked = redactor.payload(raw(&json!({"a": 123_456, "b": [-12_345_678], "c": 12_345})));
    assert_eq!(
        masked.get(),
        r#"{"a":"[secret:pin]","b":["-[secret:pin]78"],"c":12345}"#
    );
}

// M8: a secret that is itself JSON, such as a key file, is redacted.
#[test]
fn secret_across_values_redacts_the_smallest_enclosing_value() {
    let secret = r#"{"kid":"k1","d":"xyz"}"#;
    let redactor = redactor(&[("jwk", secret)]);
    let text = format!(r#"{{"id":7,"keys":[{secret},{{"kid":"k2"}}]}}"#);
    assert_eq!(
        redactor.redact_json(&text),
        r#"{"id":7,"keys":["[secret:jwk]",{"kid":"k2"}]}"#
    );
    // The secret is one string if it is text within JSON.
    let text = json!({ "file": secret }).to_string();
    assert_eq!(redactor.redact_json(&text), r#"{"file":"[secret:jwk]"}"#);
    // This text has so many occurrences that the whole payload is replaced.
    let text = format!("[{}]", [secret; 40].join(","));
    assert_eq!(redactor.redact_json(&text), r#""[secret:jwk]""#);
}

// M8: where a secret begins in the middle of an escape, the whole string is redacted, so that no half of an escape is left.
#[test]
fn redaction_never_splits_an_escape() {
    let redactor = redactor(&[("key", "nsecret")]);
    assert_eq!(
        redactor.redact_json(r#"["a\nsecret"]"#),
        r#"["[secret:key]"]"#
    );
    assert_eq!(
        redactor.redact_json(r#"["a\\nsecret"]"#),
        r#"["a\\[secret:key]"]"#
    );
}

// M8: text that looks like JSON but is not valid JSON is redacted as text.
#[test]
fn broken_json_is_redacted_as_text() {
    let redactor = redactor(&[("key", "tok-1234")]);
    for text in [
        "tok-1234",
        "{\"a\":\"tok-1234",
        "]tok-1234[",
        "\"\\tok-1234",
    ] {
        assert!(!redactor.redact_json(text).contains("tok-1234"), "{text}");
    }
}

#[derive(Debug)]
struct Foreign;

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GET /?key=s3cr%22et%2F%C3%A4 failed")
    }
}

impl std::error::Error for Foreign {}

/// An error whose `Debug` text contains a secret and whose `Display` text does not.
struct Quiet;

impl fmt::Debug for Quiet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Quiet({SECRET})")
    }
}

impl fmt::Display for Quiet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "quiet")
    }
}

impl std::error::Error for Quiet {}

// M8, S1-22: both texts of an error, for the model and for the operator, are redacted.
#[test]
fn both_texts_of_an_error_are_redacted() {
    let redactor = redactor(&[("key", SECRET)]);
    let own = redactor.error(
        ToolError::of(ErrorKind::Denied, format!("no {SECRET}"))
            .operator(format!("because {SECRET}"))
            .retry_after(std::time::Duration::from_secs(3)),
    );
    assert_eq!(own.kind(), ErrorKind::Denied);
    assert_eq!(own.model_text(), "no [secret:key] (try again after 3 s)");
    assert!(own.operator_text().contains("because [secret:key]"));

    let foreign = ToolError::foreign(Foreign);
    let id = foreign.audit_id();
    let foreign = redactor.error(foreign);
    assert_eq!(foreign.audit_id(), id);
    assert!(
        foreign
            .operator_text()
            .starts_with("GET /?key=[secret:key] failed")
    );
    assert_eq!(
        foreign.source().unwrap().to_string(),
        "GET /?key=[secret:key] failed"
    );
    assert_eq!(
        redactor.error(ToolError::shown(Foreign)).model_text(),
        "GET /?key=[secret:key] failed"
    );

    let quiet = redactor.error(ToolError::foreign(Quiet));
    assert_eq!(format!("{:?}", quiet.source().unwrap()), "\"quiet\"");
    let kept = redactor.error(ToolError::foreign(std::fmt::Error));
    assert!(kept.source().unwrap().is::<std::fmt::Error>());

    let issues = redactor.error(ToolError::invalid_arguments(vec![Issue {
        pointer: format!("/{SECRET}"),
        expected: "a number".to_owned(),
        found: format!("`{SECRET}`"),
    }]));
    assert_eq!(
        issues.model_text(),
        "the arguments do not fit the schema: `/[secret:key]`: expected a number, found `[secret:key]`"
    );
    assert_eq!(issues.issues()[0].found, "`[secret:key]`");
}

// M8, S4-13: model output is redacted.
#[test]
fn model_output_is_redacted() {
    let redactor = redactor(&[("key", SECRET)]);
    assert_eq!(
        redactor
            .model(ModelOutput::text(format!("it is {SECRET}")))
            .to_text(),
        "it is [secret:key]"
    );
    assert_eq!(
        redactor
            .model(ModelOutput::json(&json!({"k": SECRET})))
            .to_text(),
        r#"{"k":"[secret:key]"}"#
    );
    let parts = redactor.model(ModelOutput::parts([
        Part::text(SECRET),
        Part::url("image/png", "https://example.org/?k=s3cr%22et/%c3%a4"),
        Part::base64(
            "text/plain",
            base64::Engine::encode(&base64::prelude::BASE64_STANDARD, format!("a{SECRET}")),
        ),
        Part::base64("text/plain", "aGVsbG8="),
    ]));
    assert_eq!(
        parts.to_parts(),
        Cow::<[Part]>::Owned(vec![
            Part::text("[secret:key]"),
            Part::url("image/png", "https://example.org/?k=[secret:key]"),
            Part::text("[a file is left out here, because it contains a secret]"),
            Part::base64("text/plain", "aGVsbG8="),
        ])
    );
}
