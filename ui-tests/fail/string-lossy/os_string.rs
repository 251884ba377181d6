use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Open {
    /// A path.
    pub path: std::ffi::OsString,
}

fn main() {}
