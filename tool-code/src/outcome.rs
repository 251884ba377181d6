//! What came of a run.

use std::time::Duration;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The code ran to its end.
    Success,
    /// The code is not well-formed, or threw, or left a rejection that nobody caught.
    Error,
    /// The code needed more memory than it may have.
    Memory,
    /// An import names a module, or an export of one, that is not there.
    LinkError,
    /// The run was ended from outside: by its deadline or by its caller.
    Terminated,
}

impl Status {
    /// The status as a word.
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

/// What went wrong, with its place in the code as it was given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CodeError {
    /// Class of the error: `SyntaxError`, `TypeError`, `ToolError`, …
    pub name: String,
    /// What the error says.
    pub message: String,
    /// Line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Column, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// Where it was thrown, innermost first, in lines of the code as it was given.
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

    /// The run was ended because it took longer than it may.
    pub(crate) fn over_time(time: Duration) -> Self {
        let text = format!("the run took longer than the {time:?} it has: do less in one run");
        Self::new("Terminated", text)
    }

    pub(crate) fn at(mut self, place: Option<(u32, u32)>) -> Self {
        (self.line, self.column) = place.unzip();
        self
    }
}

/// How much a line of the log matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// `console.debug`
    Debug,
    /// `console.log`, `console.info`
    Info,
    /// `console.warn`
    Warn,
    /// `console.error`
    Error,
}

/// A line that the code wrote with `console`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Log {
    /// How much it matters.
    pub level: Level,
    /// What it says.
    pub text: String,
}

/// What came of a run: one value whatever happened, and what the code said until then.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct RunResult {
    /// How it ended.
    pub status: Status,
    /// What the code returned, as JSON; `null` where it returned nothing or did not come so far.
    pub result: Box<RawValue>,
    /// What went wrong, or why it was ended; nothing for a success.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<CodeError>,
    /// Values that the code handed over with `report(value)`, in order.
    pub reports: Vec<Box<RawValue>>,
    /// What the code wrote with `console`, in order.
    pub logs: Vec<Log>,
    /// Lines beyond the limit, which are not kept.
    #[serde(skip_serializing_if = "is_zero")]
    pub logs_dropped: u64,
    /// How long it took, from the start of its process to its end.
    #[serde(rename = "duration_ms", serialize_with = "milliseconds")]
    pub duration: Duration,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it so")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

fn milliseconds<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
}

/// `null`, where there is nothing.
pub(crate) fn nothing() -> Box<RawValue> {
    RawValue::NULL.to_owned()
}
