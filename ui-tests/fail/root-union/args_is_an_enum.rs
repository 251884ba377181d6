use tool_core::prelude::*;

/// The enum `Command` of this test.
#[derive(Debug, Deserialize, StrictSchema)]
#[serde(tag = "kind")]
pub enum Command {
    /// The variant `Start` of `Command`.
    Start {
        /// The field `name` of `Start`.
        name: String,
    },
    /// The variant `Stop` of `Command`.
    Stop {
        /// The field `name` of `Stop`.
        name: String,
    },
}

/// Runs a command, for this test.
#[tool]
pub fn run(#[args] command: Command) -> Result<(), ToolError> {
    drop(command);
    Ok(())
}

fn main() {}
