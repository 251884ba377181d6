use tool_core::prelude::*;

/// A type without a schema.
#[derive(Debug, Deserialize)]
pub struct Plain {
    /// The field `name` of `Plain`.
    pub name: String,
}

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Query {
    /// The field `whom` of `Query`.
    pub whom: Vec<Plain>,
}

fn main() {}
