use tool_core::prelude::*;

/// The enum `Level` of this test.
#[derive(Debug, Clone, Copy, StrictSchema)]
#[schema(integer)]
pub enum Level {
    /// A quiet level.
    Low = 1,
    /// A loud level.
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

/// Sets a level, for this test.
#[tool(example("Loud", { "level": 10 }))]
pub fn set(
    /// The argument `level` of the tool.
    level: Level,
) -> Result<String, ToolError> {
    Ok(format!("{level:?}"))
}

fn main() {}
