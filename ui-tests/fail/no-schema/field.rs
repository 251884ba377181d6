use tool_core::prelude::*;

/// A type of the host.
#[derive(Debug, Deserialize)]
pub struct Plain {
    /// A name.
    pub name: String,
}

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Query {
    /// Name.
    pub whom: Vec<Plain>,
}

fn main() {}
