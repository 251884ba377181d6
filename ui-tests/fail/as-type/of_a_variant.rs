use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
#[serde(tag = "kind", content = "of")]
pub enum Size {
    #[schema(as = String)]
    Width(u32),
    Height(#[schema(as = String)] u32),
    #[serde(deserialize_with = "text")]
    #[schema(as = String)]
    Depth(u32),
}

fn text<'de, D: serde::Deserializer<'de>>(input: D) -> Result<u32, D::Error> {
    String::deserialize(input)?.parse().map_err(serde::de::Error::custom)
}

fn main() {}
