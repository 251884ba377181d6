use tool_core::prelude::*;

/// The record `Times` of this test.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Times {
    /// The field `when` of `Times`.
    pub when: chrono::DateTime<chrono::Utc>,
    /// The day of the event.
    pub day: chrono::NaiveDate,
    /// The field `id` of `Times`.
    pub id: uuid::Uuid,
}

/// Takes times, for this test.
#[tool(example("One", { "times": { "when": "2026-01-31T08:00:00Z", "day": "2026-01-31", "id": "67e55044-10b1-426f-9247-bb680e5fe0c8" } }))]
pub fn take(
    /// The argument `times` of the tool.
    times: Times,
) -> Result<String, ToolError> {
    Ok(format!("{times:?}"))
}

fn main() {}
