use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
#[schema(integer)]
pub enum Level {
    Low = 1,
    High = 2,
}

#[derive(Clone, Debug, Serialize, Deserialize, StrictSchema)]
#[schema(integer)]
#[repr(u8)]
pub enum Rank {
    Low = 1,
    High = 2,
}

#[derive(StrictSchema)]
#[derive(serde::Deserialize)]
#[schema(integer)]
pub enum Grade {
    Low = 1,
    High = 2,
}

fn main() {}
