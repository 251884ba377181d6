use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Open {
    /// The field `path` of `Open`.
    pub path: std::ffi::OsString,
}

fn main() {}
