use tool_core::prelude::*;

pub trait Shape {
    fn area(&self) -> f64;
}

/// Measures all of the values.
#[tool]
pub async fn measure(
    /// The argument `shapes` of the tool.
    shapes: Vec<Box<dyn Shape + Send>>,
) -> Result<f64, ToolError> {
    Ok(shapes.iter().map(|shape| shape.area()).sum())
}

fn main() {}
