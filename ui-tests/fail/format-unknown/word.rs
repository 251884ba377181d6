use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Contact {
    /// The field `phone` of `Contact`.
    #[schema(format = "phone")]
    pub phone: String,
}

fn main() {}
