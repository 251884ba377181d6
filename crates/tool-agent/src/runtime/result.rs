//! The result of an agent that ran as a tool.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool_core::{ModelOutput, Part, ToModelOutput};

/// The text of a result that has no text.
pub(super) const NO_TEXT: &str = "The agent finished without a text.";

/// The text of a failure whose details are hidden or missing.
pub(super) const FAILED: &str = "the agent failed";

/// Whether an agent succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResultStatus {
    /// The agent returned a result.
    Success,
    /// The agent failed with an error.
    Error,
}

/// The result of a prompt tool or of a sub-agent, as the client reads it. A model reads [`model_text`](Self::model_text).
///
/// A tool of a sub-agent may return this type to pass files to the parent: see [`Session::stop_tool`](super::Session::stop_tool).
///
/// ```
/// use tool_agent::runtime::AgentResult;
/// use tool_core::{Part, ToModelOutput};
///
/// let result = AgentResult::success_parts([Part::text("Two rows."), Part::text("No errors.")]);
/// assert_eq!(result.result.as_deref(), Some("Two rows.\nNo errors."));
/// assert_eq!(AgentResult::success_value(&serde_json::json!({"rows": 2})).result.as_deref(), Some(r#"{"rows":2}"#));
///
/// let failed = AgentResult::error("no network");
/// assert!(failed.model_text().starts_with("failed (status: error)"));
/// let json = serde_json::to_string(&failed)?;
/// assert_eq!(serde_json::from_str::<AgentResult>(&json)?, failed);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AgentResult {
    /// Whether the agent succeeded.
    pub status: ResultStatus,
    /// The text of the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// The text of the error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// A code for programs, such as `subagent_env_required`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_code: Option<String>,
    /// Details of the error, for programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_data: Option<Value>,
    /// The stack trace of the error, if the tool that failed reports one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
    /// The files of the result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<ResultAttachment>,
    /// The files that were not passed on: paths that are not files of the thread that sends them, and all files if the runtime has no object store.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped_attachments: Vec<String>,
    /// The reference of the sub-agent, for `subagent_message`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent_id: Option<String>,
    /// The calls that the agent made, with their results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ResultCall>,
}

/// A file of a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum ResultAttachment {
    /// A new file. It is stored in the thread that receives the result.
    New {
        /// The name of the file.
        name: String,
        /// The media type, such as `image/png`.
        media_type: String,
        /// The bytes, as base64.
        data: String,
    },
    /// The path of a file. The file is in the thread of the agent until the result is passed on, and then in the calling thread.
    Path(String),
}

/// A call that an agent made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ResultCall {
    /// The name of the tool.
    pub name: String,
    /// The arguments, as the model wrote them.
    pub arguments: String,
    /// The text that the model read, if the call succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// The text of the error, if the call failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl AgentResult {
    fn of(status: ResultStatus) -> Self {
        Self {
            status,
            result: None,
            error: None,
            error_code: None,
            error_data: None,
            stack: None,
            attachments: Vec::new(),
            skipped_attachments: Vec::new(),
            subagent_id: None,
            tool_calls: Vec::new(),
        }
    }

    /// Creates the result of an agent that succeeded. An empty text is left out.
    pub fn success(text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            result: (!text.trim().is_empty()).then_some(text),
            ..Self::of(ResultStatus::Success)
        }
    }

    /// Creates a result from the texts of these parts, with a line for each part.
    pub fn success_parts(parts: impl IntoIterator<Item = Part>) -> Self {
        Self::success(tool_core::turn::UserMessage::new(parts).to_text())
    }

    /// Creates a result from a value: a string unchanged, any other value as JSON.
    pub fn success_value(value: &Value) -> Self {
        Self::success(text_of(value))
    }

    /// Creates the result of an agent that failed.
    pub fn error(text: impl Into<String>) -> Self {
        Self {
            error: Some(text.into()),
            ..Self::of(ResultStatus::Error)
        }
    }

    /// Adds a code and details to an error.
    #[must_use]
    pub fn code(mut self, code: impl Into<String>, data: Option<Value>) -> Self {
        self.error_code = Some(code.into());
        self.error_data = data;
        self
    }

    /// Adds the files of the call that were not passed on. They come before the files of the result, which the sub-agent did not pass on.
    pub(super) fn skip(&mut self, paths: Vec<String>) {
        self.skipped_attachments.splice(0..0, paths);
    }

    /// Returns whether the agent failed.
    pub fn is_error(&self) -> bool {
        self.status == ResultStatus::Error
    }

    /// Returns the text that a model reads: the text of the result or of the error, the calls, the files, and the reference of the sub-agent.
    pub fn model_text(&self) -> String {
        let mut text = match self.status {
            ResultStatus::Error => {
                let why = self.error.as_deref().unwrap_or(FAILED);
                let mut text = format!("failed (status: error): {why}");
                if let Some(partial) = &self.result {
                    let _ = write!(text, "\n{partial}");
                }
                text
            }
            ResultStatus::Success => match (&self.result, self.tool_calls.is_empty()) {
                (Some(text), _) => text.clone(),
                (None, true) => NO_TEXT.to_owned(),
                (None, false) => String::new(),
            },
        };
        if let Some(code) = &self.error_code {
            let _ = write!(text, "\ncode: {code}");
        }
        if let Some(data) = &self.error_data {
            let _ = write!(text, "\ndata: {data}");
        }
        for call in &self.tool_calls {
            if !text.is_empty() {
                text.push('\n');
            }
            let _ = write!(text, "{}({})", call.name, call.arguments);
            match (&call.result, &call.error) {
                (_, Some(error)) => {
                    let _ = write!(text, " failed: {error}");
                }
                (Some(result), None) => {
                    let _ = write!(text, " -> {result}");
                }
                (None, None) => {}
            }
        }
        for attachment in &self.attachments {
            if let ResultAttachment::Path(path) = attachment {
                let _ = write!(text, "\nattachment: {path}");
            }
        }
        for path in &self.skipped_attachments {
            let _ = write!(
                text,
                "\nskipped attachment, which was not passed on: {path}"
            );
        }
        if let Some(id) = &self.subagent_id {
            let _ = write!(text, "\nsubagent_id: {id}");
        }
        text
    }
}

/// Returns a string unchanged, and any other value as JSON.
pub(super) fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

impl ToModelOutput for AgentResult {
    fn to_model_output(&self) -> ModelOutput {
        ModelOutput::text(self.model_text())
    }
}
