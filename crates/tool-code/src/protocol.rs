//! The protocol between the host and the engine's process: JSON messages in frames with a length prefix.
//!
//! The engine uses the process's standard input and output, which the code cannot reach: the code has no file
//! descriptors, and `console` output is a message like any other. The host treats every message as
//! untrusted: a call is only accepted for a tool on the run's list, and passes the gate.

use std::io::{self, Read, Write};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::limits::Limits;
use crate::outcome::{CodeError, Level, Status};

/// A message of the host.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum ToEngine {
    /// Runs this program. It is the first message, and occurs only once.
    Run(Box<Program>),
    /// The outcome of a call.
    Answer {
        /// The id of the call.
        id: u64,
        /// The output, or the error.
        outcome: Outcome,
    },
    /// The engine must end the run.
    Terminate {
        /// The reason, which the model reads.
        reason: String,
    },
}

/// The code to run, with its tools, modules, files and limits.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Program {
    pub(crate) code: String,
    /// Wire names of the tools.
    pub(crate) tools: Vec<String>,
    /// Modules that the host grants, as bare specifier and source.
    pub(crate) modules: Vec<(String, String)>,
    /// Files that the code can import by relative paths, as path and source.
    pub(crate) files: Vec<(String, String)>,
    /// Whether the files are only compiled, and nothing runs.
    pub(crate) only_check: bool,
    pub(crate) limits: Limits,
}

/// The outcome of a call.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Outcome {
    /// The JSON text of the output.
    Output(String),
    /// The error of a call that failed.
    Failed { kind: String, message: String },
}

/// A message of the engine.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum ToHost {
    /// The code was compiled and starts.
    Started,
    /// Requests the call of a tool.
    Call {
        /// The id of the call; ids count up from zero.
        id: u64,
        /// The wire name of the tool.
        name: String,
        /// The arguments as JSON text.
        arguments: String,
    },
    /// A line that the code has logged.
    Log {
        /// The log level of the line.
        level: Level,
        /// The text of the line.
        text: String,
    },
    /// A value of `report(value)`.
    Report {
        /// The value that the code has reported.
        value: Box<RawValue>,
    },
    /// The end of the run; no message follows.
    Done(Done),
}

/// The result of a run, as the engine reports it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Done {
    pub(crate) status: Status,
    pub(crate) result: Option<Box<RawValue>>,
    pub(crate) error: Option<CodeError>,
    /// The number of the file of the error's position, counted from zero; `None` for a position in the code, and if no file is known.
    pub(crate) file: Option<u16>,
    pub(crate) logs_dropped: u64,
}

impl Done {
    pub(crate) fn failed(status: Status, error: CodeError) -> Self {
        Self {
            status,
            result: None,
            error: Some(error),
            file: None,
            logs_dropped: 0,
        }
    }
}

/// Serializes a message to a frame.
pub(crate) fn frame<T: Serialize>(message: &T) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; 4];
    serde_json::to_writer(&mut bytes, message)?;
    let length =
        u32::try_from(bytes.len() - 4).map_err(|_| too_long(bytes.len(), u32::MAX as usize))?;
    bytes[..4].copy_from_slice(&length.to_be_bytes());
    Ok(bytes)
}

/// Decodes the length of a frame, and checks it against the limit.
pub(crate) fn length(head: [u8; 4], most: usize) -> io::Result<usize> {
    let length = u32::from_be_bytes(head) as usize;
    if length > most {
        return Err(too_long(length, most));
    }
    Ok(length)
}

fn too_long(length: usize, most: usize) -> io::Error {
    let text = format!("a message has {length} bytes, and {most} are allowed");
    io::Error::new(io::ErrorKind::InvalidData, text)
}

/// Writes a message and flushes.
pub(crate) fn write<T: Serialize>(to: &mut dyn Write, message: &T) -> io::Result<()> {
    to.write_all(&frame(message)?)?;
    to.flush()
}

/// Reads the next message, or returns `None` if the input ends before the length of a message is complete.
pub(crate) fn read<T: for<'de> Deserialize<'de>>(
    from: &mut dyn Read,
    most: usize,
) -> io::Result<Option<T>> {
    let mut head = [0; 4];
    match from.read_exact(&mut head) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let mut bytes = vec![0; length(head, most)?];
    from.read_exact(&mut bytes)?;
    Ok(Some(serde_json::from_slice(&bytes)?))
}
