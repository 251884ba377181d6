//! Results of calls, as the model reads them.

use std::borrow::Cow;

use serde_json::value::RawValue;
use tool_core::turn::{ModelMessage, ToolMessage};
use tool_core::{CallResult, ModelOutput, Part};

use super::WireError;

/// The result of a call as the model reads it: from a [`CallResult`] or a turn's [`ToolMessage`].
#[derive(Clone, Debug)]
pub struct ToolResult<'a> {
    pub(super) id: &'a str,
    pub(super) name: &'a str,
    pub(super) view: View<'a>,
    pub(super) is_error: bool,
}

/// The form in which the model reads a result.
#[derive(Clone, Debug)]
pub(super) enum View<'a> {
    Text(Cow<'a, str>),
    Json(&'a RawValue),
    Parts(Cow<'a, [Part]>),
}

impl View<'_> {
    /// Returns the result as text alone, for providers whose results can contain only text.
    pub(super) fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::Json(json) => Cow::Borrowed(json.get()),
            Self::Parts(parts) => Cow::Owned(ModelOutput::parts(parts.iter().cloned()).to_text()),
        }
    }
}

/// Returns the view of an output that has no separate form for the model: a JSON string becomes plain text.
fn payload(payload: &RawValue) -> View<'_> {
    if !payload.get().starts_with('"') {
        return View::Json(payload);
    }
    let text = serde_json::from_str::<String>(payload.get());
    View::Text(text.map_or(Cow::Borrowed(payload.get()), Cow::Owned))
}

fn view(output: &ModelOutput) -> View<'_> {
    if let Some(json) = output.as_json() {
        return View::Json(json);
    }
    let parts = output.to_parts();
    match &*parts {
        [Part::Text { text }] => View::Text(Cow::Owned(text.clone())),
        _ => View::Parts(parts),
    }
}

impl<'a> From<&'a CallResult> for ToolResult<'a> {
    fn from(result: &'a CallResult) -> Self {
        let view = match (result.error(), result.model_output(), result.output()) {
            (Some(error), _, _) => View::Text(error.model_text().into()),
            (None, Some(output), _) => view(output),
            (None, None, Some(output)) => payload(output),
            (None, None, None) => View::Text(Cow::Borrowed("")),
        };
        Self {
            id: result.id(),
            name: result.name(),
            view,
            is_error: result.is_error(),
        }
    }
}

impl<'a> From<&'a ToolMessage> for ToolResult<'a> {
    fn from(message: &'a ToolMessage) -> Self {
        let view = match (&message.model, &message.output) {
            (Some(output), _) => view(output),
            // If the text equals the JSON of the payload, the model reads the payload.
            (None, Some(output)) if output.get() == message.text => payload(output),
            (None, _) => View::Text(Cow::Borrowed(&message.text)),
        };
        Self {
            id: &message.id,
            name: &message.name,
            view,
            is_error: message.is_error(),
        }
    }
}

/// Sorts the results of a message's calls in the order of the calls. Fails if a call has no result, if no call has the id of a result, or if more
/// results than calls have the same id.
pub(super) fn in_order<'a>(
    message: &ModelMessage,
    results: impl Iterator<Item = ToolResult<'a>>,
) -> Result<Vec<ToolResult<'a>>, WireError> {
    let mut open: Vec<Option<ToolResult<'a>>> = message.calls.iter().map(|_| None).collect();
    for result in results {
        let place = message
            .calls
            .iter()
            .zip(&open)
            .position(|(call, taken)| call.id == result.id && taken.is_none());
        match place {
            Some(at) => open[at] = Some(result),
            None => {
                return Err(WireError::UnknownCall {
                    call: result.id.to_owned(),
                });
            }
        }
    }
    let results = message.calls.iter().zip(open).map(|(call, result)| {
        result.ok_or_else(|| WireError::MissingResult {
            call: call.id.clone(),
        })
    });
    results.collect()
}
