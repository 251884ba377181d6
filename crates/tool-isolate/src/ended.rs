//! The end of a job: its exit status and the cause.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The end of a job: its exit status and the cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The exit status of the job's first process; signal 9 if it is unknown because the process was killed with its PID namespace.
    pub exit: Exit,
    /// The cause of the job's end.
    pub because: Cause,
    /// Whether the kernel killed a process of the job for exceeding the memory limit. Always false without a memory cgroup.
    pub out_of_memory: bool,
}

impl Ended {
    /// Returns whether the job exited by itself with code 0.
    pub fn success(&self) -> bool {
        self.exit == Exit::Code(0) && self.because == Cause::Itself
    }
}

/// The exit status of a job's first process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Exit {
    /// The process exited with this code.
    Code(i32),
    /// This signal killed the process.
    Signal(i32),
}

/// The cause of a job's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The job's first process exited, or was killed by a signal that was not the host's request or the deadline.
    Itself,
    /// The job's deadline passed. The value is the time limit.
    Deadline(Duration),
    /// The host killed the job.
    Killed,
}
