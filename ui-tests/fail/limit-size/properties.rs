use tool_core::prelude::*;

/// The record `Ten` of this test.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Ten<T> {
    /// The field `a` of `Ten`.
    pub a: T,
    /// The field `b` of `Ten`.
    pub b: T,
    /// The field `c` of `Ten`.
    pub c: T,
    /// The field `d` of `Ten`.
    pub d: T,
    /// The field `e` of `Ten`.
    pub e: T,
    /// The field `f` of `Ten`.
    pub f: T,
    /// The field `g` of `Ten`.
    pub g: T,
    /// The field `h` of `Ten`.
    pub h: T,
    /// The field `i` of `Ten`.
    pub i: T,
    /// The field `j` of `Ten`.
    pub j: T,
}

/// Measures all of the values.
#[tool]
pub fn measure(
    /// The argument `numbers` of the tool.
    numbers: Ten<Ten<Ten<Ten<f64>>>>,
) -> Result<(), ToolError> {
    drop(numbers);
    Ok(())
}

fn main() {}
