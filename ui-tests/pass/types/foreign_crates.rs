use tool_core::prelude::*;

/// Times.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Times {
    /// When.
    pub when: chrono::DateTime<chrono::Utc>,
    /// Which day.
    pub day: chrono::NaiveDate,
    /// Which one.
    pub id: uuid::Uuid,
}

/// Takes times.
#[tool(example("One", { "times": { "when": "2026-01-31T08:00:00Z", "day": "2026-01-31", "id": "67e55044-10b1-426f-9247-bb680e5fe0c8" } }))]
pub fn take(
    /// When.
    times: Times,
) -> Result<String, ToolError> {
    Ok(format!("{times:?}"))
}

fn main() {}
