//! The error of a job that did not start or was lost.

use std::io;

/// The reason why a job did not start, or the failure of a running job.
///
/// The error texts are for the operator. The texts of [`NotFound`](Self::NotFound) and [`Refused`](Self::Refused) contain only the caller's
/// values, and an error of the system or a fixed reason.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IsolateError {
    /// No helper can be started: the host's binary does not call [`tool_isolate::helper()`](crate::helper), or the system is not Linux.
    #[error(
        "there is no helper: make `tool_isolate::helper();` (or `tool_std::helper();`) the first line of `main`, or accept `Isolation::GroupOnly`"
    )]
    NoHelper,
    /// The helper did not start the job.
    #[error("the helper did not start the job: {0}")]
    Helper(String),
    /// There is no such program that the job may run, or the interpreter of a script does not exist.
    #[error("there is no program `{program}`")]
    NotFound {
        /// The program as the caller named it.
        program: String,
    },
    /// The program cannot be started, for example because it may not be run or its working directory cannot be entered.
    #[error("the program `{program}` cannot be run here: {reason}")]
    Refused {
        /// The program as the caller named it.
        program: String,
        /// The error of the operating system, or the reason why the helper does not run the program.
        reason: String,
    },
    /// A mechanism that the host requires is not in force.
    #[error("{0}")]
    NotInForce(String),
    /// The helper exited before it reported how the job ended, or did not end the job in time. With `Isolation::GroupOnly`: the runtime was shut
    /// down. The rest of the job was killed as far as possible.
    #[error("the job was lost: {0}")]
    Lost(String),
    /// An operation of the system failed, for example the creation of a pipe.
    #[error(transparent)]
    Io(#[from] io::Error),
}
