//! How much one run may use.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A line of the log costs more than its text: empty ones count as well.
pub(crate) const LINE: usize = 16;

/// How much one run may use. What is not said stays as [`Limits::default`] has it.
///
/// ```
/// use std::time::Duration;
/// use tool_code::Limits;
///
/// let limits = Limits { time: Duration::from_secs(5), calls: 20, ..Limits::default() };
/// assert_eq!(limits.memory, 64 << 20);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// From the start of the process to its end, tools included; 30 seconds. The engine is interrupted then, and the process killed
    /// a moment later.
    pub time: Duration,
    /// Bytes of the engine's heap; 64 MiB. The process as a whole gets a multiple of it.
    pub memory: usize,
    /// Bytes of the engine's stack, which bounds recursion; 1 MiB, and 16 MiB at most.
    pub stack: usize,
    /// Bytes of the code; 256 KiB.
    pub code: usize,
    /// Calls of tools; 100.
    pub calls: usize,
    /// Calls of read-only tools at once; 8.
    pub parallel: usize,
    /// Bytes of one message between process and host, such as the arguments of a call or its result; 1 MiB.
    pub message: usize,
    /// Bytes of the result as JSON; 256 KiB.
    pub result: usize,
    /// Bytes of all log lines together, 16 more for each; 64 KiB. What comes later is counted and dropped.
    pub logs: usize,
    /// Reports; 100. Their bytes count towards `result`.
    pub reports: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            time: Duration::from_secs(30),
            memory: 64 << 20,
            stack: 1 << 20,
            code: 256 << 10,
            calls: 100,
            parallel: 8,
            message: 1 << 20,
            result: 256 << 10,
            logs: 64 << 10,
            reports: 100,
        }
    }
}

impl Limits {
    /// Largest frame on the pipe: a message, and room for what is said around it.
    pub(crate) fn frame(&self) -> usize {
        const AROUND: usize = 64 << 10;
        // Text inside JSON may be escaped, six bytes for one.
        let longest = self.message.max(self.result).max(self.code);
        longest.saturating_mul(6).saturating_add(AROUND)
    }
}
