//! Errors of agents and of their configuration.

use tool_core::RegistryError;
use tool_core::turn::{Outcome, Tripped, TurnError};

/// The configuration of an agent is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AgentConfigError {
    /// The name is empty or consists of white space.
    #[error("the name of the agent is empty: use a name such as `clerk`")]
    NoName,
    /// The limit on steps is 0.
    #[error("the limit on the agent's steps is 0: set `most_steps` to at least 1")]
    NoSteps,
    /// The limit on time is 0.
    #[error("the limit on the agent's time is 0: set `most_time` to more than 0")]
    NoTime,
}

/// An error of [`Agent::run`](super::Agent::run) and [`Agent::resume`](super::Agent::resume).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// The function of the instructions failed, a message of the user could not be stored, or the agent loop failed.
    #[error(transparent)]
    Turn(#[from] TurnError),
    /// The run stopped before its output, for example because a call waits for an approval. [`Outcome`] describes how to continue after each cause;
    /// then call [`Agent::resume`](super::Agent::resume). After `Filtered`, `Cut`, `StepLimit` and `TimeLimit`, `resume` stops at the same place:
    /// send a new message with [`Agent::run`](super::Agent::run).
    #[error("the run stopped before its output, with the cause `{}`", .0.cause().map_or("busy", |cause| cause.as_str()))]
    Stopped(Box<Outcome>),
    /// A guardrail ended the run. Its text is the answer in the thread: send a new message with [`Agent::run`](super::Agent::run).
    #[error("a guardrail ended the run: {}", .0.text)]
    Guardrail(Tripped),
    /// The answer reached the limit on tokens. Raise `max_tokens` of the model, and send a new message with [`Agent::run`](super::Agent::run).
    #[error("the output reached the limit on tokens: raise `max_tokens` of the model")]
    Truncated,
    /// No attempt of the model returned a valid output. The text states the problem of the last one.
    #[error("the model returned no valid output: {0}")]
    NoOutput(String),
    /// The output type cannot be the arguments of a tool, for example because it is not a struct with fields.
    #[error("the output type cannot be the arguments of a tool: {0}")]
    Schema(#[from] RegistryError),
    /// A tool of the agent has the name of the tool with which the model returns the output.
    #[error(
        "a tool of the agent is named `final_answer`, which is reserved for the output: rename the tool"
    )]
    NameTaken,
    /// The output matches the schema, but cannot be deserialized into its type. Also returned if a tool of the agent answered in place of the model,
    /// with a text that is not a valid output.
    #[error("the output cannot be deserialized: {0}")]
    Refused(#[source] serde_json::Error),
}
