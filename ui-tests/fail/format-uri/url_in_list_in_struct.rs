use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Hooks {
    /// Where to call.
    pub callbacks: Vec<Box<url::Url>>,
}

fn main() {}
