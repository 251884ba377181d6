use tool_core::prelude::*;

/// A command.
#[derive(Debug, Deserialize, StrictSchema)]
#[serde(tag = "kind")]
pub enum Command {
    /// Start.
    Start {
        /// Which one.
        name: String,
    },
    /// Stop.
    Stop {
        /// Which one.
        name: String,
    },
}

/// Runs a command.
#[tool]
pub fn run(#[args] command: Command) -> Result<(), ToolError> {
    drop(command);
    Ok(())
}

fn main() {}
