use tool_core::prelude::*;

/// A level.
#[derive(Debug, Clone, Copy, StrictSchema)]
#[schema(integer)]
pub enum Level {
    /// Quiet.
    Low = 1,
    /// Loud.
    High = 10,
}

impl<'de> Deserialize<'de> for Level {
    fn deserialize<D: serde::Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        match u8::deserialize(input)? {
            1 => Ok(Self::Low),
            _ => Ok(Self::High),
        }
    }
}

/// Sets a level.
#[tool(example("Loud", { "level": 10 }))]
pub fn set(
    /// The level.
    level: Level,
) -> Result<String, ToolError> {
    Ok(format!("{level:?}"))
}

fn main() {}
