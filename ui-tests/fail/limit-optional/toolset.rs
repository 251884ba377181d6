use tool_core::prelude::*;

/// Many choices.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Many {
    /// One.
    pub a: Option<u8>,
    /// One.
    pub b: Option<u8>,
    /// One.
    pub c: Option<u8>,
    /// One.
    pub d: Option<u8>,
    /// One.
    pub e: Option<u8>,
    /// One.
    pub f: Option<u8>,
    /// One.
    pub g: Option<u8>,
    /// One.
    pub h: Option<u8>,
    /// One.
    pub i: Option<u8>,
}

/// One.
#[tool]
pub fn one(#[args] many: Many) -> Result<(), ToolError> {
    drop(many);
    Ok(())
}

/// Two.
#[tool]
pub fn two(#[args] many: Many) -> Result<(), ToolError> {
    drop(many);
    Ok(())
}

/// Three.
#[tool]
pub fn three(#[args] many: Many) -> Result<(), ToolError> {
    drop(many);
    Ok(())
}

fn main() {
    let _ = toolset![one, two, three];
}
