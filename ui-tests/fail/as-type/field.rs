use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Order {
    /// The field `many` of `Order`.
    #[schema(as = Option<f64>)]
    pub many: Option<u32>,
    /// The field `to` of `Order`.
    #[schema(as = String)]
    pub to: String,
    /// The field `ids` of `Order`.
    #[schema(as = Vec<String>)]
    pub ids: std::collections::BTreeSet<u64>,
}

fn main() {}
