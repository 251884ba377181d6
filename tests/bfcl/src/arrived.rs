//! The output of every generated tool: the arguments that reached its body.

use serde::Serialize;
use serde_json::value::RawValue;
use tool_core::prelude::ToolError;

/// The typed arguments, serialized as JSON.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct Arrived(Box<RawValue>);

/// Serializes typed arguments as JSON.
pub fn arrived<T: Serialize>(arguments: &T) -> Result<Arrived, ToolError> {
    Ok(Arrived(serde_json::value::to_raw_value(arguments)?))
}
