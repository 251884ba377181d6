use tool_core::prelude::*;

/// An internally tagged enum.
#[derive(Debug, Deserialize, StrictSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Internal {
    /// The variant `Nothing` of `Internal`.
    Nothing,
    /// The variant `Circle` of `Internal`.
    Circle {
        /// The field `radius` of `Circle`.
        radius: f64,
    },
    /// The variant `Named` of `Internal`.
    Named(Named),
}

/// The record `Named` of this test.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Named {
    /// The field `name` of `Named`.
    pub name: String,
}

/// An adjacently tagged enum.
#[derive(Debug, Deserialize, StrictSchema)]
#[serde(tag = "type", content = "value")]
pub enum Adjacent {
    /// The variant `Text` of `Adjacent`.
    Text(String),
    /// The variant `Number` of `Adjacent`.
    Number(f64),
    /// The variant `Nothing` of `Adjacent`.
    Nothing,
}

/// An externally tagged enum.
#[derive(Debug, Deserialize, StrictSchema)]
#[schema(allow(external-tag))]
pub enum External {
    /// The variant `Text` of `External`.
    Text(String),
    /// The variant `Named` of `External`.
    Named(Named),
    /// The variant `Nothing` of `External`.
    Nothing,
}

/// An untagged enum, which is read by its shape.
#[derive(Debug, Deserialize, StrictSchema)]
#[serde(untagged)]
#[schema(allow(untagged))]
pub enum Shape {
    /// The variant `Text` of `Shape`.
    Text(String),
    /// The variant `Number` of `Shape`.
    Number(i64),
    /// The variant `Named` of `Shape`.
    Named(Named),
}

/// Takes unions, for this test.
#[tool]
pub fn take(
    /// The argument `internal` of the tool.
    internal: Internal,
    /// The argument `adjacent` of the tool.
    adjacent: Adjacent,
    /// The argument `external` of the tool.
    external: External,
    /// The argument `shape` of the tool.
    shape: Shape,
) -> Result<String, ToolError> {
    Ok(format!("{internal:?} {adjacent:?} {external:?} {shape:?}"))
}

fn main() {}
