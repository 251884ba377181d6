use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Contact {
    /// A number.
    #[schema(format = "phone")]
    pub phone: String,
}

fn main() {}
