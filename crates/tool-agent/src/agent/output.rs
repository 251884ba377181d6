//! Typed outputs: the tool `final_answer`, whose arguments are the output of a run, and the structured outputs of providers.

use serde::de::DeserializeOwned;
use tool_core::Toolset;

use super::error::AgentError;
use crate::model::OutputFormat;

/// How a model returns a typed output ([`Agent::run`](super::Agent::run)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OutputMode {
    /// The model calls the tool `final_answer`, whose arguments are the output. This mode works with every model that can call tools.
    #[default]
    Tool,
    /// The text of the model is the output, and the provider enforces its schema: `response_format` of Chat Completions, `text.format` of Responses,
    /// `output_config.format` of Anthropic, `responseJsonSchema` of Gemini, and `outputConfig.textFormat` of Bedrock. Gemini models before version 3
    /// refuse a request that has both this field and tools. A model that is not an [`HttpModel`](crate::model::HttpModel) must read the schema from
    /// the context of the request ([`OutputFormat`]).
    Native,
}

/// The name of the tool that returns the output.
pub(super) const NAME: &str = OutputFormat::NAME;

/// The user message that is stored after the model answered with a text.
pub(super) const REMINDER: &str = "Call the tool `final_answer` with the final answer as its arguments. A text message is not accepted as the answer.";

/// Returns the user message that is stored after a text that is not a valid output.
pub(super) fn correction(problem: &str) -> String {
    format!(
        "The last message is not a valid answer: {problem}\nAnswer again, only with the corrected JSON."
    )
}

/// Adds the tool of an output to the tools of a step.
pub(super) fn with_tool(format: &OutputFormat, tools: Toolset) -> Toolset {
    // `combine` fails only if two tools have the same name. In that case, the tool of the agent is offered, and the run has no output.
    tools.clone().combine(format.tool()).unwrap_or(tools)
}

/// Parses the JSON text of an output.
pub(super) fn read<T: DeserializeOwned>(text: &str) -> Result<T, AgentError> {
    serde_json::from_str(text).map_err(AgentError::Refused)
}

/// The typed output that a run must return: its mode, and the number of invalid outputs so far.
pub(super) struct Wanted {
    retries: u32,
    pub(super) mode: OutputMode,
    /// The number of invalid outputs so far.
    invalid: u32,
    /// The sequence number of the last message that was judged; `None` before the first request, and in the mode `Native`.
    pub(super) judged: Option<u64>,
    /// Why the model is not asked again; `None` while a retry is left.
    pub(super) refused: Option<String>,
}

impl Wanted {
    pub(super) fn new(retries: u32, mode: OutputMode) -> Self {
        Self {
            retries,
            mode,
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
