//! Errors of agents.

use tool_core::RegistryError;
use tool_core::turn::{Outcome, TurnError};

/// Why an agent cannot be used as it is configured.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AgentConfigError {
    /// The name is empty.
    #[error("the name of the agent is empty: use a name such as `clerk`")]
    NoName,
    /// The agent may not ask its model.
    #[error("the limit on the agent's steps is 0: set `most_steps` to at least 1")]
    NoSteps,
}

/// Why a run has no output.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// The loop failed.
    #[error(transparent)]
    Turn(#[from] TurnError),
    /// The run stopped before its output, for example because a call waits for an approval. Continue it with
    /// [`Agent::resume`](super::Agent::resume), as the outcome describes.
    #[error("the run stopped before its output, with the cause `{}`", .0.cause().map_or("busy", |cause| cause.as_str()))]
    Stopped(Box<Outcome>),
    /// The answer reached the limit on tokens. Raise the limit of the model before you run the agent again.
    #[error("the output reached the limit on tokens: raise `max_tokens` of the model")]
    Truncated,
    /// The model wrote no output that fits, although it was asked again.
    #[error("the model returned no valid output: {0}")]
    NoOutput(String),
    /// The type of the output cannot be offered to a model, for example because it is not a record.
    #[error("the output type cannot be the arguments of a tool: {0}")]
    Schema(#[from] RegistryError),
    /// A tool of the agent has the name of the tool with which the model returns the output.
    #[error(
        "a tool of the agent is named `final_answer`, which is reserved for the output: rename the tool"
    )]
    NameTaken,
    /// The output fits the schema, and the type refuses it.
    #[error("the output cannot be deserialized: {0}")]
    Refused(#[source] serde_json::Error),
}
