use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Hooks {
    /// Where to call.
    pub callback: url::Url,
    /// When.
    pub when: std::time::SystemTime,
    /// What.
    pub payload: serde_json::Value,
}

fn main() {}
