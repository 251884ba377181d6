//! How a job ended.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The exit status of the job's first process.
    pub exit: Exit,
    /// What ended the job.
    pub because: Cause,
    /// Whether the kernel killed a process of the job for exceeding the memory limit. Always false without a memory cgroup.
    pub out_of_memory: bool,
}

impl Ended {
    /// Whether the job exited by itself with code 0.
    pub fn success(&self) -> bool {
        self.exit == Exit::Code(0) && self.because == Cause::Itself
    }
}

/// The exit status of a job's first process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Exit {
    /// It exited with this code.
    Code(i32),
    /// This signal killed it.
    Signal(i32),
}

/// What ended a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Its first process exited.
    Itself,
    /// Its deadline passed, which was this long.
    Deadline(Duration),
    /// The host killed it.
    Killed,
}
