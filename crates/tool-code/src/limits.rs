//! Resource limits of a run.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Bytes that are counted for each log line in addition to its text, so that empty lines are limited as well.
pub(crate) const LINE: usize = 16;

/// Resource limits of a run. Start from [`Limits::default`].
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
    /// Time from the start of the process to its end, tool calls included; 30 seconds by default.
    /// After this time the engine is interrupted, and the process is killed if it does not end within 150 milliseconds.
    pub time: Duration,
    /// Size of the engine's heap in bytes; 64 MiB by default. The complete process may use four times as much, and 512 MiB in addition.
    pub memory: usize,
    /// Size of the engine's stack in bytes, which limits recursion; 1 MiB by default, at most 16 MiB.
    pub stack: usize,
    /// Length of the code in bytes; 256 KiB by default.
    pub code: usize,
    /// Number of tool calls; 100 by default.
    pub calls: usize,
    /// Number of read-only tool calls that run in parallel; 8 by default.
    pub parallel: usize,
    /// Size of the arguments of one call, and of its output, as JSON in bytes; 1 MiB by default.
    pub message: usize,
    /// Size of the result as JSON in bytes; 256 KiB by default.
    pub result: usize,
    /// Size of all log lines in bytes, plus 16 for each line; 64 KiB by default. The line that exceeds the limit is cut, and
    /// further lines are counted and dropped.
    pub logs: usize,
    /// Number of reports; 100 by default. Their bytes count towards `result`.
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
    /// Returns the maximum size of a frame: a message and its envelope.
    pub(crate) fn frame(&self) -> usize {
        const AROUND: usize = 64 << 10;
        // Escaping may turn one byte of a JSON string into six.
        let longest = self.message.max(self.result).max(self.code);
        longest.saturating_mul(6).saturating_add(AROUND)
    }
}
