//! The sample: definitions and calls, one per line.

use serde::Deserialize;

use crate::json::Json;

/// A line of the sample: one call that answers a user's question.
#[derive(Debug, Deserialize)]
pub struct Line {
    /// The id of the line.
    pub id: String,
    /// The part of the leaderboard that contains the line.
    pub category: String,
    /// The definition of the called function.
    pub function: Function,
    /// The correct call.
    pub gold_call: Call,
}

/// A function definition.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Function {
    /// The name as the leaderboard spells it.
    pub name: String,
    /// The description of the function.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub parameters: Json,
}

/// A call of a function.
#[derive(Debug, Deserialize)]
pub struct Call {
    /// The name of the function.
    pub name: String,
    /// The arguments of the call.
    pub args: Json,
}

/// Parses lines of JSON.
pub fn read(text: &str) -> Result<Vec<Line>, serde_json::Error> {
    text.lines()
        .filter(|line| !line.trim().is_empty())
        .map(serde_json::from_str)
        .collect()
}
