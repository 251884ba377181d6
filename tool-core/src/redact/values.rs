//! Redaction of payloads, progress values, the issues of invalid values, and texts.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::Redactor;
use crate::args::Issue;

impl Redactor {
    /// Redacts the secrets in a payload. Returns the payload unchanged if it contains no secrets.
    ///
    /// ```
    /// use tool_core::SecretString;
    /// use tool_core::redact::Redactor;
    ///
    /// let redactor = Redactor::new([("pin", SecretString::from("12345678"))])?;
    /// let payload = serde_json::value::to_raw_value(&serde_json::json!({"pin": 12_345_678, "left": 3})).unwrap();
    /// assert_eq!(redactor.payload(payload).get(), r#"{"left":3,"pin":"[secret:pin]"}"#);
    /// # Ok::<(), tool_core::redact::TooShort>(())
    /// ```
    pub fn payload(&self, payload: Box<RawValue>) -> Box<RawValue> {
        let Cow::Owned(masked) = self.redact_json(payload.get()) else {
            return payload;
        };
        // Placeholders are JSON strings, so this does not fail. If it ever does, the payload is replaced by `null`.
        RawValue::from_string(masked).unwrap_or_else(|_| RawValue::NULL.to_owned())
    }

    /// Redacts the secrets in a progress value.
    pub fn progress(&self, progress: Box<RawValue>) -> Box<RawValue> {
        self.payload(progress)
    }

    /// Returns the issues of a text that does not match a schema, without secrets.
    ///
    /// An issue quotes a part of the text, and the redactor does not find a part of a secret. For a text with secrets, this therefore returns the issues that
    /// `again` finds in the redacted text.
    pub(crate) fn issues(
        &self,
        text: &str,
        issues: Vec<Issue>,
        again: impl FnOnce(&str) -> Vec<Issue>,
    ) -> Vec<Issue> {
        let Cow::Owned(masked) = self.redact_json(text) else {
            return issues;
        };
        let again = again(&masked);
        if !again.is_empty() {
            return again;
        }
        // The placeholder matches the schema, but the secret does not.
        vec![Issue {
            pointer: String::new(),
            expected: "a value that fits the schema".to_owned(),
            found: "a value with a secret, which is not shown".to_owned(),
        }]
    }

    /// Redacts the secrets in a text. Returns the text unchanged if it contains no secrets.
    pub(crate) fn own(&self, text: String) -> String {
        match self.redact(&text) {
            Cow::Borrowed(_) => text,
            Cow::Owned(masked) => masked,
        }
    }
}
