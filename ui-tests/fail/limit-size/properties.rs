use tool_core::prelude::*;

/// Ten of them.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Ten<T> {
    /// One.
    pub a: T,
    /// One.
    pub b: T,
    /// One.
    pub c: T,
    /// One.
    pub d: T,
    /// One.
    pub e: T,
    /// One.
    pub f: T,
    /// One.
    pub g: T,
    /// One.
    pub h: T,
    /// One.
    pub i: T,
    /// One.
    pub j: T,
}

/// Measures.
#[tool]
pub fn measure(
    /// Ten thousand numbers.
    numbers: Ten<Ten<Ten<Ten<f64>>>>,
) -> Result<(), ToolError> {
    drop(numbers);
    Ok(())
}

fn main() {}
