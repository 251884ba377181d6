use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Order {
    /// Where to.
    #[schema(as = Option<String>)]
    pub to: String,
}

fn main() {}
