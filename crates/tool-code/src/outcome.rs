//! Results, errors and logs of a run of code.

use std::time::Duration;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

/// The status at the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The code ran to its end.
    Success,
    /// The code has a syntax error, has thrown an exception, has an unhandled rejection, waits for a promise that never settles, or has exceeded a
    /// size limit; or the engine's process failed.
    Error,
    /// The code, the engine or its process ran out of memory, or a string is too long for the engine.
    Memory,
    /// A static import refers to a module or export that does not exist or to a path or address, or has attributes; or a granted module has a
    /// syntax error.
    LinkError,
    /// The run exceeded its time limit, or the host terminated it.
    Terminated,
}

impl Status {
    /// Returns the status in snake case.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Error => "error",
            Self::Memory => "memory",
            Self::LinkError => "link_error",
            Self::Terminated => "terminated",
        }
    }
}

/// An error, with its position in the original code if the position is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CodeError {
    /// Class of the error: `SyntaxError`, `TypeError`, `ToolError`, …
    pub name: String,
    /// The message of the error.
    pub message: String,
    /// The line of the error in the code; the first line is 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The column of the error in its line, counted in UTF-16 code units; the first column is 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The stack, innermost frame first, with positions in the original code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
}

impl CodeError {
    pub(crate) fn new(name: &str, message: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            message: message.into(),
            line: None,
            column: None,
            stack: None,
        }
    }

    /// Returns the error of a run that exceeded its time limit.
    pub(crate) fn over_time(time: Duration) -> Self {
        let text = format!("the run exceeded its time limit of {time:?}: do less in one run");
        Self::new("Terminated", text)
    }

    pub(crate) fn at(mut self, place: Option<(u32, u32)>) -> Self {
        (self.line, self.column) = place.unzip();
        self
    }
}

/// The level of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// A line of `console.debug`.
    Debug,
    /// A line of `console.log` or `console.info`.
    Info,
    /// A line of `console.warn`.
    Warn,
    /// A line of `console.error`.
    Error,
}

/// A line that the code wrote with `console`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Log {
    /// The level of the line.
    pub level: Level,
    /// The text of the line.
    pub text: String,
}

/// The result of a run: its status, and what the code returned, reported and logged.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct RunResult {
    /// The status at the end of the run.
    pub status: Status,
    /// The returned value or the default export, as JSON; `null` if there is none, or if the run did not succeed.
    pub result: Box<RawValue>,
    /// The reason why the run failed or was stopped; `None` for a success.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<CodeError>,
    /// The file of the error's position; `None` for a position in the code itself, and if no file is known.
    #[serde(skip)]
    pub(crate) file: Option<String>,
    /// Values of `report(value)`, in order.
    pub reports: Vec<Box<RawValue>>,
    /// Lines that the code wrote with `console`, in order.
    pub logs: Vec<Log>,
    /// Number of log lines that were dropped because of the limit; 0 if the process ended without reporting it.
    #[serde(skip_serializing_if = "is_zero")]
    pub logs_dropped: u64,
    /// Duration of the run, including the start and the end of its process.
    #[serde(rename = "duration_ms", serialize_with = "milliseconds")]
    pub duration: Duration,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls the function with a reference"
)]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

fn milliseconds<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
}

/// Returns the JSON value `null`.
pub(crate) fn nothing() -> Box<RawValue> {
    RawValue::NULL.to_owned()
}
