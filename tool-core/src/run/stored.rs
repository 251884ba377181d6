//! A result as the ledger and the thread keep it, and back.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::call::CallResult;
use crate::error::{ErrorKind, ToolError};
use crate::output::{Citation, ModelOutput, Output, StoredModel};

/// What is kept of a result: everything that the model and the client may read.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    output: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<StoredModel>,
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

/// A result as JSON text.
pub(crate) fn write(result: &CallResult) -> Option<String> {
    let stored = match &result.outcome {
        Ok(output) => Stored {
            output: Some(output.payload.clone()),
            model: output.model.as_ref().map(ModelOutput::to_stored),
            citations: result.citations.clone(),
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

/// The result of an output that an operator has found, given as JSON text.
pub(crate) fn succeeded(output: &str) -> Result<String, ToolError> {
    let output: Box<RawValue> = serde_json::from_str(output).map_err(|error| {
        ToolError::new(format!(
            "the output is no JSON text, write what the tool would have given: {error}"
        ))
    })?;
    Ok(format!("{{\"output\":{output}}}"))
}

/// The result of a failure that an operator has found, in words for the model.
pub(crate) fn failed(text: &str) -> String {
    serde_json::json!({ "error": { "kind": ErrorKind::Failed.as_str(), "text": text } }).to_string()
}

/// Outcome and citations from JSON text; an error where it is none that this crate has written.
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
                model: model.map(ModelOutput::from_stored),
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
