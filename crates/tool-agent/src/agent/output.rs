//! Typed outputs: the tool `final_answer`, whose arguments are the output of a run.

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tool_core::schema::StrictSchema;
use tool_core::schema::dialect::schema_text;
use tool_core::{Dialect, DynamicTool, Registry, ToolError, Toolset};

use super::error::AgentError;

/// The name of the tool that returns the output.
pub(super) const NAME: &str = "final_answer";

const DESCRIPTION: &str = "Returns the final answer. Call this tool once, when the answer is complete; the arguments are the answer.";

/// The user message that is stored after the model answered with a text.
pub(super) const REMINDER: &str = "Call the tool `final_answer` with the final answer as its arguments. A text message is not accepted as the answer.";

/// The tool for outputs of one type.
pub(super) struct Output(Toolset);

impl Output {
    pub(super) fn new<T: StrictSchema>() -> Result<Self, AgentError> {
        let schema = schema_text(T::SCHEMA, Dialect::JsonSchema);
        // `Turns` ends a run with the text of a tool that answers in place of the model.
        let answer = |output: Value, _| async move {
            Ok::<_, ToolError>(json!({"replyHandled": true, "replyText": output.to_string()}))
        };
        let tool = DynamicTool::new(NAME, DESCRIPTION, schema, answer).read_only();
        Ok(Self(Registry::builder().dynamic(tool).build()?.open()))
    }

    /// Adds the tool to the tools of a step.
    pub(super) fn with(&self, tools: Toolset) -> Toolset {
        // `combine` fails only if two tools have the same name. Then the tool of the agent is offered, and the run has no output.
        tools.clone().combine(&self.0).unwrap_or(tools)
    }
}

/// Parses the JSON text of an output.
pub(super) fn read<T: DeserializeOwned>(text: &str) -> Result<T, AgentError> {
    serde_json::from_str(text).map_err(AgentError::Refused)
}

/// The invalid outputs of a run, and the messages that were already judged.
pub(super) struct Wanted {
    retries: u32,
    /// The number of invalid outputs so far.
    invalid: u32,
    /// The sequence number of the last message that was judged; `None` before the first request.
    pub(super) judged: Option<u64>,
    /// Why the model is not asked again.
    pub(super) refused: Option<String>,
}

impl Wanted {
    pub(super) fn new(retries: u32) -> Self {
        Self {
            retries,
            invalid: 0,
            judged: None,
            refused: None,
        }
    }

    /// Counts an invalid output. Returns the problem if no retry is left.
    pub(super) fn refuse(&mut self, why: &str) -> Option<String> {
        self.invalid += 1;
        if self.invalid > self.retries {
            let number = self.invalid;
            let plural = if number == 1 { "" } else { "s" };
            self.refused = Some(format!("after {number} attempt{plural}: {why}"));
        }
        self.refused.clone()
    }
}
