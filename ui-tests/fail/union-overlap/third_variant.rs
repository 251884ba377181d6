use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
#[serde(untagged)]
#[schema(allow(untagged))]
pub enum Key {
    /// A number.
    Number(u32),
    /// A name.
    Name(String),
    /// A path.
    Path(std::path::PathBuf),
}

fn main() {}
