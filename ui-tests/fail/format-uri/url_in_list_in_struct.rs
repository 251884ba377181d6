use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Hooks {
    /// The field `callbacks` of `Hooks`.
    pub callbacks: Vec<Box<url::Url>>,
}

fn main() {}
