use tool_core::prelude::*;

/// The enum `Command` of this test.
#[derive(Debug, Deserialize, StrictSchema)]
pub enum Command {
    Start,
    Stop,
}

/// Runs a command, for this test.
#[tool]
pub fn run(#[args] command: Command) -> Result<(), ToolError> {
    let _ = command;
    Ok(())
}

fn main() {}
