use tool_core::prelude::*;

/// A type that serde's attribute reads from a number.
#[derive(Debug, Deserialize, StrictSchema)]
#[serde(from = "u32")]
#[schema(as = String)]
pub struct Ticks(u32);

impl From<u32> for Ticks {
    fn from(ticks: u32) -> Self {
        Self(ticks)
    }
}

/// A type that serde's derive reads.
#[derive(Debug, Deserialize, StrictSchema)]
#[schema(as = String)]
pub struct Point {
    /// The field `north` of `Point`.
    pub north: f64,
}

/// A type that serde's derive reads.
#[derive(Debug, Deserialize, StrictSchema)]
#[schema(as = bool)]
pub enum Switch {
    On,
    Off,
}

/// A type that is read from a text and written as a number.
#[derive(Clone, Debug, Deserialize, Serialize, StrictSchema)]
#[serde(try_from = "String", into = "u32")]
#[schema(as = String)]
pub struct Mark(u32);

impl TryFrom<String> for Mark {
    type Error = std::num::ParseIntError;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse().map(Self)
    }
}

impl From<Mark> for u32 {
    fn from(mark: Mark) -> Self {
        mark.0
    }
}

fn main() {}
