//! Why a job did not start or was lost.

use std::io;

/// Why a job did not start, or what went wrong beside it.
///
/// The texts are for the operator; [`NotFound`](Self::NotFound) and [`Refused`](Self::Refused) name nothing but what the caller gave.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IsolateError {
    /// The host's binary cannot be its own helper.
    #[error(
        "there is no helper: make `tool_std::helper();` the first line of `main`, or accept `Isolation::GroupOnly`"
    )]
    NoHelper,
    /// The helper did not answer.
    #[error("the helper did not start the job: {0}")]
    Helper(String),
    /// The program is not there.
    #[error("there is no program `{program}`")]
    NotFound {
        /// As the caller named it.
        program: String,
    },
    /// The program is there and must not run, or its directory cannot be entered.
    #[error("the program `{program}` cannot be run here: {reason}")]
    Refused {
        /// As the caller named it.
        program: String,
        /// What the system says.
        reason: String,
    },
    /// A mechanism that the host requires is not in force.
    #[error("{0}")]
    NotInForce(String),
    /// The helper went away before it said how the job ended; nothing of the job is left where that could be seen to.
    #[error("the helper was lost: {0}")]
    Lost(String),
    /// A pipe broke.
    #[error(transparent)]
    Io(#[from] io::Error),
}
