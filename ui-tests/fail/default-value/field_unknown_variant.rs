use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
#[serde(rename_all = "snake_case")]
pub enum Lang {
    Rust,
    Go,
}

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Filter {
    /// The field `lang` of `Filter`.
    #[schema(default = "cobol")]
    pub lang: Lang,
}

fn main() {}
