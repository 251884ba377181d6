use tool_core::prelude::*;

/// The record `Filter` of this test.
#[derive(Debug, Deserialize, Serialize, StrictSchema)]
#[schema(json_schema)]
pub struct Filter {
    /// The field `word` of `Filter`.
    #[schema(length = 1..=20)]
    pub word: String,
}

fn main() {
    let schema = schemars::schema_for!(Filter);
    assert_eq!(schema.get("type").and_then(|kind| kind.as_str()), Some("object"));
}
