use tool_core::Effect;
use tool_core::prelude::*;

/// The record `Store` of this test.
#[derive(Clone)]
pub struct Store;

impl FromContext for Store {
    const EFFECT: Effect = Effect::READ;

    fn from_context(_: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self)
    }
}

/// Uses everything, for this test.
#[tool(read_only)]
pub async fn use_all(
    cx: &ToolContext,
    store: &Store,
    #[context] owned: Store,
    #[context] absent: Option<Store>,
    #[secret("api_key", label = "Key of the API")] key: SecretString,
    #[secret("other_key")] other: Option<SecretString>,
    #[variable("REGION", description = "Where to look")] region: String,
    #[variable("ZONE")] zone: Option<String>,
    /// The text that the model searches for.
    mut query: String,
) -> Result<String, ToolError> {
    let _ = (cx, store, owned, absent, key, other, zone);
    query.push_str(&region);
    Ok(query)
}

fn main() {}
