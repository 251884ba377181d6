use tool_core::prelude::*;

#[derive(Debug, ToolError)]
pub enum Fault {
    #[shown]
    Unknown(u32),
}

fn main() {}
