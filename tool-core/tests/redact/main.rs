//! Redaction of secrets in every supported spelling.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]
#![allow(
    clippy::format_collect,
    reason = "an encoder of a test should be readable, not fast"
)]

mod encodings;
mod host;
mod property;
mod spelling;
mod values;

use std::borrow::Cow;

use tool_core::SecretString;
use tool_core::redact::Redactor;

fn redactor(secrets: &[(&str, &str)]) -> Redactor {
    let secrets = secrets
        .iter()
        .map(|(name, secret)| (*name, SecretString::from(*secret)));
    Redactor::new(secrets).unwrap()
}

// M8: secrets that are too short are refused.
#[test]
fn short_secrets_are_refused() {
    let refused = Redactor::new([
        ("long", SecretString::from("123456")),
        ("pin", SecretString::from("12345")),
    ])
    .unwrap_err();
    assert_eq!(refused.name, "pin");
    assert_eq!(
        refused.to_string(),
        "the secret `pin` has fewer than 6 bytes, white space around it not counted, and would match other text: use a longer one"
    );
    // The limit counts bytes, not characters.
    assert!(Redactor::new([("ok", SecretString::from("äöü"))]).is_ok());
}

// M8: a text without secrets is not copied.
#[test]
fn text_without_secrets_is_not_copied() {
    let none = Redactor::default();
    assert!(none.is_empty());
    assert!(matches!(none.redact("tok-1234"), Cow::Borrowed(_)));
    let one = redactor(&[("token", "tok-1234")]);
    assert!(!one.is_empty());
    for text in [
        "",
        "tok-123",
        "a\\nb 100% c+d \\u00",
        "tok-\\u003123 %74%6fk",
    ] {
        assert!(matches!(one.redact(text), Cow::Borrowed(_)), "{text}");
        assert!(matches!(
            one.redact_bytes(text.as_bytes()),
            Cow::Borrowed(_)
        ));
    }
    assert!(matches!(
        one.redact_json(r#"{"a":"b\nc","d":[1,null]}"#),
        Cow::Borrowed(_)
    ));
}

// M8: overlapping secrets are replaced by one placeholder.
#[test]
fn overlapping_secrets_are_redacted_together() {
    let prefix = redactor(&[("short", "abcdef"), ("long", "abcdefgh")]);
    assert_eq!(prefix.redact("xabcdefghx"), "x[secret:long]x");
    assert_eq!(prefix.redact("xabcdefgx"), "x[secret:short]gx");

    let overlap = redactor(&[("left", "abcdef"), ("right", "defghi")]);
    assert_eq!(overlap.redact("-abcdefghi-"), "-[secret:left]-");
    assert_eq!(
        overlap.redact("-abcdefdefghi-"),
        "-[secret:left][secret:right]-"
    );

    let inside = redactor(&[("inner", "cdefgh"), ("outer", "abcdefghij")]);
    assert_eq!(
        inside.redact("abcdefghij cdefgh"),
        "[secret:outer] [secret:inner]"
    );

    let twice = redactor(&[("one", "same-value"), ("two", "same-value")]);
    assert_eq!(twice.redact("same-value"), "[secret:one]");
}

// M8: inserting a placeholder never forms a secret.
#[test]
fn placeholder_never_forms_a_secret() {
    let named = redactor(&[("secret", "secret")]);
    assert_eq!(named.redact("a secret!"), "a <masked>!");
    let joined = redactor(&[("a", "tok-1234"), ("b", "]tail-99")]);
    assert_eq!(joined.redact("tok-1234tail-99"), "<masked>tail-99");
}

// M8: a redactor does not print its secrets.
#[test]
fn redactors_do_not_print_secrets() {
    let redactor = redactor(&[("token", "tok-1234")]);
    let mut stream = redactor.stream();
    stream.push("tok-1");
    assert!(!format!("{redactor:?} {stream:?}").contains("tok-1"));
}
