//! Results and errors of calls, as a host returns them.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The result of a call in the form of `CallResult::envelope` of `tool-core`.
///
/// A success is `{"success":true,…}` with the keys of the result, or `{"success":true,"result":…}` if the result is not an object or has a key
/// `success` or `error` itself. A failure is `{"success":false,"error":"…"}`.
///
/// ```
/// use tool_contracts::Envelope;
/// use tool_contracts::fs::Written;
///
/// let text = r#"{"success":true,"path":"a.txt","size_bytes":2,"created":true}"#;
/// let written: Envelope<Written> = serde_json::from_str(text)?;
/// assert!(written.into_result().is_ok_and(|written| written.created));
///
/// let text = r#"{"success":false,"error":"the file exists"}"#;
/// let refused: Envelope<Written> = serde_json::from_str(text)?;
/// assert_eq!(refused.into_result().unwrap_err().error, "the file exists");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "Written<T>", bound(deserialize = "T: Deserialize<'de>"))]
pub enum Envelope<T> {
    /// The call succeeded.
    Success(T),
    /// The call failed.
    Failure(Failure),
}

impl<T> Envelope<T> {
    /// Returns the result of the call, or its failure.
    pub fn into_result(self) -> Result<T, Failure> {
        match self {
            Self::Success(output) => Ok(output),
            Self::Failure(failure) => Err(failure),
        }
    }
}

/// The JSON forms of an envelope.
#[derive(Deserialize)]
#[serde(untagged)]
enum Written<T> {
    Failed {
        #[serde(rename = "success")]
        _success: False,
        #[serde(flatten)]
        failure: Failure,
    },
    Wrapped(Wrapped<T>),
    Flat {
        #[serde(rename = "success")]
        _success: True,
        #[serde(flatten)]
        output: T,
    },
}

/// An envelope with the key `result`: for a result that is not an object, or that has a key `success` or `error` itself. An object with any other key
/// is [`Written::Flat`].
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wrapped<T> {
    #[serde(rename = "success")]
    _success: True,
    result: T,
}

impl<T> From<Written<T>> for Envelope<T> {
    fn from(written: Written<T>) -> Self {
        match written {
            Written::Failed { failure, .. } => Self::Failure(failure),
            Written::Wrapped(Wrapped { result, .. }) => Self::Success(result),
            Written::Flat { output, .. } => Self::Success(output),
        }
    }
}

/// The value `true`.
#[derive(Deserialize)]
#[serde(try_from = "bool")]
struct True;

impl TryFrom<bool> for True {
    type Error = &'static str;

    fn try_from(value: bool) -> Result<Self, Self::Error> {
        value.then_some(Self).ok_or("expected true")
    }
}

/// The value `false`.
#[derive(Deserialize)]
#[serde(try_from = "bool")]
struct False;

impl TryFrom<bool> for False {
    type Error = &'static str;

    fn try_from(value: bool) -> Result<Self, Self::Error> {
        (!value).then_some(Self).ok_or("expected false")
    }
}

/// The failure of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The text of the error, which the model also reads.
    pub error: String,
    /// The variables that the tool needs and that the host does not have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variables_required: Vec<MissingVariable>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.error)
    }
}

impl std::error::Error for Failure {}

/// A variable that a tool needs and that the host does not have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingVariable {
    /// The name of the variable.
    pub name: String,
    /// The kind of the variable: `text`, or `secret` for a value that must not be shown.
    #[serde(rename = "type")]
    pub kind: String,
    /// A text for the person who enters the value.
    pub description: Option<String>,
    /// Whether a child thread does not inherit the value of its parent thread.
    pub scoped: bool,
}

/// The kind of an error, as stores and telemetry write it. An unknown name, which a newer version may write, is [`Failed`](Self::Failed).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorKind {
    /// No tool of this name is visible.
    UnknownTool,
    /// The arguments do not match the schema.
    InvalidArguments,
    /// The call is not allowed, for example by a policy.
    Denied,
    /// The call waits for a person or for a time.
    Pending,
    /// The deadline of the call passed.
    TimedOut,
    /// The turn or the call was cancelled, or the caller dropped the call.
    Cancelled,
    /// The body of the tool panicked.
    Panicked,
    /// A limit was exceeded: a limit of the host, for example on calls or on open approvals, or the limit of a service that the tool calls.
    RateLimited,
    /// The result of the call is unknown. The call may have had an effect.
    Interrupted,
    /// The tool lacks something that the host has to supply, or the call could not be made, for example because a store failed or the host is
    /// shutting down.
    Unavailable,
    /// The tool itself failed.
    #[serde(other)]
    Failed,
}
