use tool_core::prelude::*;

#[derive(Debug, ToolError)]
pub enum Fault {
    #[show]
    Unknown(u32),
    #[shown]
    Known(u32),
}

impl std::error::Error for Fault {}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("fault")
    }
}

fn main() {}
