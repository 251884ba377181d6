use tool_core::prelude::*;

/// A command.
#[derive(Debug, Deserialize, StrictSchema)]
pub enum Command {
    Start,
    Stop,
}

/// Runs a command.
#[tool]
pub fn run(#[args] command: Command) -> Result<(), ToolError> {
    let _ = command;
    Ok(())
}

fn main() {}
