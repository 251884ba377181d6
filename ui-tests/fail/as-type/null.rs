use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Order {
    /// The field `to` of `Order`: where to.
    #[schema(as = Option<String>)]
    pub to: String,
}

fn main() {}
