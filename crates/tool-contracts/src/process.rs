//! The tools of the pack `process` of `tool-std`.

use serde::{Deserialize, Serialize};
#[cfg(feature = "schema")]
use tool_core::StrictSchema;

use crate::ToolContract;

/// The arguments of `run_command`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct RunCommand {
    /// The program and its arguments.
    #[cfg_attr(feature = "schema", schema(min_items = 1, max_items = 1000))]
    pub command: Vec<String>,
    /// The folder to run in, relative to the workspace.
    pub cwd: Option<String>,
    /// The text that the program reads from standard input.
    pub stdin: Option<String>,
    /// The timeout in seconds, after which the program is killed. The host may set a shorter one.
    #[cfg_attr(feature = "schema", schema(range = 1..=3600))]
    pub timeout_seconds: Option<u32>,
}

impl ToolContract for RunCommand {
    const NAME: &'static str = "run_command";
    type Input = Self;
    type Output = CommandResult;
}

/// Output of a command while it runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct Progress {
    /// The stream of the output.
    pub stream: OutputStream,
    /// One or more lines of output, or a part of a line that is very long or not complete.
    pub text: String,
}

/// One of the two streams of a program's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
#[serde(rename_all = "snake_case")]
pub enum OutputStream {
    /// The standard output of the program.
    Stdout,
    /// The standard error of the program.
    Stderr,
}

/// The reason why a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// The program ended by itself.
    Exited,
    /// A signal killed the program.
    Killed,
    /// The timeout passed.
    TimedOut,
    /// The output limit was exceeded.
    TooMuchOutput,
    /// The memory limit was exceeded.
    OutOfMemory,
}

/// The result of a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct CommandResult {
    /// The reason why the command ended.
    pub ended: Ending,
    /// The exit code; 128 plus the signal's number if a signal killed the program, 124 if the timeout passed.
    pub exit_code: i32,
    /// A note about the end, if the program did not end by itself.
    pub note: Option<String>,
    /// The standard output. If it is long, only its beginning and end, with a line between them that states how much is omitted.
    pub stdout: String,
    /// The standard error, shortened in the same way.
    pub stderr: String,
    /// The number of bytes that were written to standard output.
    pub stdout_bytes: u64,
    /// The number of bytes that were written to standard error.
    pub stderr_bytes: u64,
    /// The duration of the command in milliseconds.
    pub duration_ms: u64,
}
