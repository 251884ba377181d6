use tool_core::prelude::*;

/// A filter.
#[derive(Debug, Deserialize, Serialize, StrictSchema)]
#[schema(json_schema)]
pub struct Filter {
    /// A word.
    #[schema(length = 1..=20)]
    pub word: String,
}

fn main() {
    let schema = schemars::schema_for!(Filter);
    assert_eq!(schema.get("type").and_then(|kind| kind.as_str()), Some("object"));
}
