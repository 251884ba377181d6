//! The lines of the sample.

use serde::Deserialize;

use crate::json::Json;

/// One call that answers a real question.
#[derive(Debug, Deserialize)]
pub struct Line {
    /// Identifies the line.
    pub id: String,
    /// Part of the leaderboard it comes from.
    pub category: String,
    /// The function called.
    pub function: Function,
    /// The right call.
    pub gold_call: Call,
}

/// A function definition.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Function {
    /// As the leaderboard spells it.
    pub name: String,
    /// What it does.
    pub description: String,
    /// JSON Schema of its arguments.
    pub parameters: Json,
}

/// A call of a function.
#[derive(Debug, Deserialize)]
pub struct Call {
    /// Name of the function.
    pub name: String,
    /// Its arguments.
    pub args: Json,
}

/// Reads lines of JSON.
pub fn read(text: &str) -> Result<Vec<Line>, serde_json::Error> {
    text.lines()
        .filter(|line| !line.trim().is_empty())
        .map(serde_json::from_str)
        .collect()
}
