use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Job {
    /// The field `wait` of `Job`.
    #[schema(as = String)]
    pub wait: std::time::Duration,
    /// The field `pause` of `Job`.
    #[schema(as = std::time::Duration)]
    pub pause: u64,
    /// The field `many` of `Job`.
    #[schema(as = u32)]
    pub many: u8,
    /// A small number with a range that its type can represent.
    #[schema(as = u32, range = 0..=255)]
    pub few: u8,
    /// The field `letter` of `Job`.
    #[schema(as = String)]
    pub letter: char,
    /// The field `point` of `Job`.
    #[schema(as = Vec<f64>)]
    pub point: [f64; 2],
    /// The field `place` of `Job`.
    #[schema(as = Half)]
    pub place: Whole,
    /// A number that a different function writes as a text.
    #[serde(serialize_with = "text")]
    #[schema(as = String)]
    pub number: u32,
}

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Whole {
    /// The field `north` of `Whole`.
    pub north: f64,
    /// The field `east` of `Whole`.
    pub east: f64,
}

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Half {
    /// The field `north` of `Half`.
    pub north: f64,
}

fn main() {}
