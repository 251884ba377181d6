use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
#[serde(untagged)]
#[schema(allow(untagged))]
pub enum Key {
    /// The variant `Number` of `Key`.
    Number(u32),
    /// The variant `Name` of `Key`.
    Name(String),
    /// The variant `Path` of `Key`.
    Path(std::path::PathBuf),
}

fn main() {}
