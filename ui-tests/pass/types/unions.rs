use tool_core::prelude::*;

/// Internally tagged.
#[derive(Debug, Deserialize, StrictSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Internal {
    /// Nothing.
    Nothing,
    /// A circle.
    Circle {
        /// Its radius.
        radius: f64,
    },
    /// A named one.
    Named(Named),
}

/// A name.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Named {
    /// The name.
    pub name: String,
}

/// Adjacently tagged.
#[derive(Debug, Deserialize, StrictSchema)]
#[serde(tag = "type", content = "value")]
pub enum Adjacent {
    /// Text.
    Text(String),
    /// A number.
    Number(f64),
    /// Nothing.
    Nothing,
}

/// Externally tagged.
#[derive(Debug, Deserialize, StrictSchema)]
#[schema(allow(external-tag))]
pub enum External {
    /// Text.
    Text(String),
    /// A name.
    Named(Named),
    /// Nothing.
    Nothing,
}

/// By shape.
#[derive(Debug, Deserialize, StrictSchema)]
#[serde(untagged)]
#[schema(allow(untagged))]
pub enum Shape {
    /// Text.
    Text(String),
    /// A number.
    Number(i64),
    /// A name.
    Named(Named),
}

/// Takes unions.
#[tool]
pub fn take(
    /// One.
    internal: Internal,
    /// One.
    adjacent: Adjacent,
    /// One.
    external: External,
    /// One.
    shape: Shape,
) -> Result<String, ToolError> {
    Ok(format!("{internal:?} {adjacent:?} {external:?} {shape:?}"))
}

fn main() {}
