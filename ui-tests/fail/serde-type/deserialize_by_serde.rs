use tool_core::prelude::*;

/// A number as text.
#[derive(StrictSchema)]
#[schema(as = String, deserialize)]
pub struct Number(pub u32);

/// A page of numbers.
#[derive(StrictSchema)]
#[schema(deserialize)]
pub struct Page<T> {
    /// What is on it.
    pub items: Vec<T>,
    /// Its number.
    #[serde(deserialize_with = "number")]
    #[schema(as = u32)]
    pub number: u32,
}

/// Takes a number.
#[tool(read_only)]
pub async fn take(
    /// Which.
    number: Number,
) -> u32 {
    number.0
}

fn number<'de, D: serde::Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    serde::Deserialize::deserialize(from)
}

fn main() {}
