//! What the host and the engine's process say to each other: JSON in frames, each with its length before it.
//!
//! The engine's side speaks over the process's standard input and output, to which the code has no way: it has no file descriptors,
//! and what it writes with `console` is a message like any other. Nothing that arrives from the process is believed beyond what the
//! code may do anyway: a call is a call of a tool on the run's own list, and passes the gate.

use std::io::{self, Read, Write};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::limits::Limits;
use crate::outcome::{CodeError, Level, Status};

/// What the host says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum ToEngine {
    /// Run this; the first message, and the only one of its kind.
    Run(Box<Program>),
    /// What came of a call.
    Answer {
        /// The call's number.
        id: u64,
        /// Its output, or why there is none.
        outcome: Outcome,
    },
    /// End the run.
    Terminate {
        /// Why.
        reason: String,
    },
}

/// What is to be run, and under which limits.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Program {
    pub(crate) code: String,
    /// Names of the tools, as the code calls them.
    pub(crate) tools: Vec<String>,
    /// Modules that the host grants: bare specifier and source.
    pub(crate) modules: Vec<(String, String)>,
    pub(crate) limits: Limits,
}

/// What came of a call.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Outcome {
    /// JSON text of the output.
    Output(String),
    /// Why there is none.
    Failed { kind: String, message: String },
}

/// What the engine says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum ToHost {
    /// The code was read and begins.
    Started,
    /// Call a tool.
    Call {
        /// Numbers count up from zero.
        id: u64,
        /// The tool, as the code calls it.
        name: String,
        /// JSON text.
        arguments: String,
    },
    /// A line of the log.
    Log {
        /// How much it matters.
        level: Level,
        /// What it says.
        text: String,
    },
    /// A value that the code hands over.
    Report {
        /// The value.
        value: Box<RawValue>,
    },
    /// The end; nothing follows.
    Done(Done),
}

/// How the code ended.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Done {
    pub(crate) status: Status,
    pub(crate) result: Option<Box<RawValue>>,
    pub(crate) error: Option<CodeError>,
    pub(crate) logs_dropped: u64,
}

impl Done {
    pub(crate) fn failed(status: Status, error: CodeError) -> Self {
        Self {
            status,
            result: None,
            error: Some(error),
            logs_dropped: 0,
        }
    }
}

/// A message in its frame.
pub(crate) fn frame<T: Serialize>(message: &T) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; 4];
    serde_json::to_writer(&mut bytes, message)?;
    let length =
        u32::try_from(bytes.len() - 4).map_err(|_| too_long(bytes.len(), u32::MAX as usize))?;
    bytes[..4].copy_from_slice(&length.to_be_bytes());
    Ok(bytes)
}

/// Length of the frame that a head announces, if it may be that long.
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

/// Writes a message and sends it off.
pub(crate) fn write<T: Serialize>(to: &mut dyn Write, message: &T) -> io::Result<()> {
    to.write_all(&frame(message)?)?;
    to.flush()
}

/// Reads the next message; `None` at the end.
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
