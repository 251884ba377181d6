//! Errors of workers and queues.

use tool_core::store::StoreError;
use tool_core::turn::{MessageError, TurnError};

use crate::runtime::RuntimeError;

/// The configuration of a worker is invalid.
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
    /// The message cannot be written as JSON.
    #[error("the message cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// The store of the queue failed.
    #[error("the queue failed: {0}")]
    Store(#[from] StoreError),
}

/// The work of a thread could not be cancelled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CancelError {
    /// The run has not stopped within three leases.
    #[error(
        "the run has not stopped yet: its process may be dead or may not reach the database; cancel the thread again after the end of the lease"
    )]
    Active,
    /// The context of the thread could not be built.
    #[error("the context of the thread could not be built; details are in the host's log")]
    Context,
    /// The runtime of the agents failed.
    #[error("the run could not be cancelled: {0}")]
    Runtime(#[from] RuntimeError),
    /// The store of the queue failed.
    #[error("the queue failed: {0}")]
    Store(#[from] StoreError),
}
