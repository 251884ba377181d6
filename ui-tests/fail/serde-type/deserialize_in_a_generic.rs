use tool_core::prelude::*;

/// A page of numbers.
#[derive(StrictSchema)]
#[schema(deserialize)]
pub struct Page<T> {
    /// The items on the page.
    pub items: Vec<T>,
    /// The field `number` of `Page`.
    #[serde(deserialize_with = "number")]
    #[schema(as = u32)]
    pub number: u32,
}

fn number<'de, D: serde::Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    serde::Deserialize::deserialize(from)
}

fn main() {}
