use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Order {
    /// The field `to` of `Order`.
    #[schema(as = Option<String>)]
    pub to: String,
}

fn main() {}
