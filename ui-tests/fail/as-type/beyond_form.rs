use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Job {
    /// How long.
    #[schema(as = String)]
    pub wait: std::time::Duration,
    /// A time.
    #[schema(as = std::time::Duration)]
    pub pause: u64,
    /// How many.
    #[schema(as = u32)]
    pub many: u8,
    /// How many, in range.
    #[schema(as = u32, range = 0..=255)]
    pub few: u8,
    /// A letter.
    #[schema(as = String)]
    pub letter: char,
    /// A point.
    #[schema(as = Vec<f64>)]
    pub point: [f64; 2],
    /// A place.
    #[schema(as = Half)]
    pub place: Whole,
    /// A text that is written by another.
    #[serde(serialize_with = "text")]
    #[schema(as = String)]
    pub number: u32,
}

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Whole {
    /// North.
    pub north: f64,
    /// East.
    pub east: f64,
}

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Half {
    /// North.
    pub north: f64,
}

fn main() {}
