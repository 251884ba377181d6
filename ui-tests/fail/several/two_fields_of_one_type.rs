use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Hooks {
    /// The field `callback` of `Hooks`.
    pub callback: url::Url,
    /// The field `when` of `Hooks`.
    pub when: std::time::SystemTime,
    /// The field `payload` of `Hooks`.
    pub payload: serde_json::Value,
}

fn main() {}
