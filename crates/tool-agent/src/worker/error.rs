//! Errors of workers and queues.

use tool_core::store::StoreError;
use tool_core::turn::{MessageError, TurnError};

/// A worker is configured so that it has nothing to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkerConfigError {
    /// The runtime has none of the agents of the queue.
    #[error(
        "the runtime has none of the agents of the queue ({queue}): name the agents with `AgentQueue::agent`, and add them to the runtime"
    )]
    NoAgents {
        /// The names of the agents of the queue.
        queue: String,
    },
}

/// A thread could not be queued.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueueError {
    /// The queue has no agent of this name.
    #[error("the queue has no agent `{0}`: add it with `AgentQueue::agent`")]
    UnknownAgent(String),
    /// The context has no conversation.
    #[error("{}", TurnError::Unnamed)]
    Unnamed,
    /// The message is invalid.
    #[error("the message cannot be stored: {0}")]
    Message(#[from] MessageError),
    /// The message or the facts cannot be written as JSON.
    #[error("the message or the facts cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// The store failed.
    #[error("the queue failed: {0}")]
    Store(#[from] StoreError),
}
