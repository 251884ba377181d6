use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Order {
    /// How many.
    #[schema(as = Option<f64>)]
    pub many: Option<u32>,
    /// Where to.
    #[schema(as = String)]
    pub to: String,
    /// Which ones.
    #[schema(as = Vec<String>)]
    pub ids: std::collections::BTreeSet<u64>,
}

fn main() {}
