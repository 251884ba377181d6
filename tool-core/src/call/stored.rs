//! The JSON form of results in the ledger.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::call::CallResult;
use crate::error::{ErrorKind, ToolError};
use crate::output::{Citation, Content, ModelOutput, Output};

/// The stored form of a result: the output with the model output and the citations, or the kind of the error and its text for the model.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    output: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<Content>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    citations: Vec<Citation>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<StoredError>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredError {
    kind: String,
    text: String,
}

/// Returns a result as JSON text; `None` if it cannot be serialized.
pub(crate) fn write(result: &CallResult) -> Option<String> {
    let stored = match result.outcome.get() {
        Ok(output) => Stored {
            output: Some(output.payload.clone()),
            model: output.model.as_ref().map(|model| model.0.clone()),
            citations: result.citations.get().clone(),
            error: None,
        },
        Err(error) => Stored {
            output: None,
            model: None,
            citations: Vec::new(),
            error: Some(StoredError {
                kind: error.kind().as_str().to_owned(),
                text: error.model_text(),
            }),
        },
    };
    serde_json::to_string(&stored).ok()
}

/// Builds the stored form of an output that an operator has entered as JSON text.
pub(crate) fn succeeded(output: &str) -> Result<String, ToolError> {
    let output: Box<RawValue> = serde_json::from_str(output).map_err(|error| {
        ToolError::new(format!(
            "the output is not JSON, write the output of the tool as JSON: {error}"
        ))
    })?;
    Ok(format!("{{\"output\":{output}}}"))
}

/// Builds the stored form of a failure that an operator has entered, with its text for the model.
pub(crate) fn failed(text: &str) -> String {
    serde_json::json!({ "error": { "kind": ErrorKind::Failed.as_str(), "text": text } }).to_string()
}

/// Reads the outcome and the citations from JSON text. The outcome is an error if the text is not a stored result.
pub(crate) fn read(text: &str) -> (Result<Output, ToolError>, Vec<Citation>) {
    match serde_json::from_str::<Stored>(text) {
        Ok(Stored {
            output: Some(payload),
            model,
            citations,
            error: None,
        }) => (
            Ok(Output {
                payload,
                model: model.map(ModelOutput),
            }),
            citations,
        ),
        Ok(Stored {
            error: Some(error), ..
        }) => (
            Err(ToolError::of(ErrorKind::from_word(&error.kind), error.text)),
            Vec::new(),
        ),
        _ => (
            Err(ToolError::of(
                ErrorKind::Interrupted,
                "the stored result of this call cannot be read, ask the operator",
            )),
            Vec::new(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{read, write};
    use crate::call::{CallResult, ToolCall};
    use crate::error::{ErrorKind, ToolError};
    use crate::output::{Citation, ModelOutput, Output, Part};
    use crate::redact::Redactor;

    fn result(outcome: Result<Output, ToolError>) -> CallResult {
        let mut result = CallResult::refused(ToolCall::new("c", "t", "{}"), ToolError::new(""));
        result.outcome = Redactor::default().clean(outcome);
        result
    }

    fn output(model: Option<ModelOutput>) -> CallResult {
        let payload = serde_json::value::to_raw_value(&[7]).unwrap();
        result(Ok(Output { payload, model }))
    }

    /// Returns the stored form of a result, after a check that it is read back unchanged.
    fn kept(result: &CallResult) -> Value {
        let text = write(result).unwrap();
        let (outcome, citations) = read(&text);
        assert_eq!(citations, *result.citations.get());
        match (&outcome, result.outcome.get()) {
            (Ok(found), Ok(kept)) => {
                assert_eq!(found.payload.get(), kept.payload.get());
                let parts = |output: &Output| {
                    let model = output.model.as_ref()?;
                    Some((model.to_parts().into_owned(), model.as_json().is_some()))
                };
                assert_eq!(parts(found), parts(kept));
            }
            (Err(found), Err(kept)) => {
                assert_eq!(found.kind(), kept.kind());
                assert_eq!(found.model_text(), kept.model_text());
            }
            _ => panic!("`{text}` is read as a different outcome"),
        }
        serde_json::from_str(&text).unwrap()
    }

    // M6, S4-63: later versions read the results that earlier versions stored, so their JSON form stays the same.
    #[test]
    fn stored_result_has_a_fixed_format() {
        assert_eq!(kept(&output(None)), json!({"output": [7]}));
        let text = ModelOutput::text("seven");
        assert_eq!(
            kept(&output(Some(text))),
            json!({"output": [7], "model": {"text": "seven"}})
        );
        let value = ModelOutput::json(&["seven"]);
        assert_eq!(
            kept(&output(Some(value))),
            json!({"output": [7], "model": {"json": ["seven"]}})
        );
        let parts = ModelOutput::parts([
            Part::text("seven"),
            Part::base64("image/png", "Nw=="),
            Part::url("image/png", "https://example.org/7"),
        ]);
        assert_eq!(
            kept(&output(Some(parts))),
            json!({"output": [7], "model": {"parts": [
                {"type": "text", "text": "seven"},
                {"type": "file", "media_type": "image/png", "source": {"base64": "Nw=="}},
                {"type": "file", "media_type": "image/png", "source": {"url": "https://example.org/7"}},
            ]}})
        );
        let mut cited = output(None);
        let citation = Citation::new("handbook", "7.md").retrieved_at("2026-03-01T09:30:00Z");
        cited.citations = Redactor::default().clean(vec![citation.unwrap()]);
        assert_eq!(
            kept(&cited),
            json!({"output": [7], "citations": [
                {"source": "handbook", "sourceId": "7.md", "retrievedAt": "2026-03-01T09:30:00Z"},
            ]})
        );
        let error = ToolError::of(ErrorKind::Denied, "not today");
        assert_eq!(
            kept(&result(Err(error))),
            json!({"error": {"kind": "denied", "text": "not today"}})
        );
    }
}
