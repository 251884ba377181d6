use tool_core::prelude::*;

macro_rules! letters {
    ($($name:ident)*) => {
        /// The enum `Letters` of this test.
        #[derive(Debug, Deserialize, StrictSchema)]
        pub enum Letters {
            $($name,)*
        }
    };
}

letters!(A0 A1 A2 A3 A4 A5 A6 A7 B0 B1 B2 B3 B4 B5 B6 B7 C0 C1 C2 C3 C4 C5 C6 C7 D0 D1 D2 D3 D4 D5 D6 D7);

/// The record `Eight` of this test.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Eight {
    /// The field `a` of `Eight`.
    pub a: Letters,
    /// The field `b` of `Eight`.
    pub b: Letters,
    /// The field `c` of `Eight`.
    pub c: Letters,
    /// The field `d` of `Eight`.
    pub d: Letters,
    /// The field `e` of `Eight`.
    pub e: Letters,
    /// The field `f` of `Eight`.
    pub f: Letters,
    /// The field `g` of `Eight`.
    pub g: Letters,
    /// The field `h` of `Eight`.
    pub h: Letters,
}

/// The tool `spell` of this test.
#[tool]
pub fn spell(
    /// The argument `first` of the tool.
    first: Eight,
    /// The argument `second` of the tool.
    second: Eight,
    /// The argument `third` of the tool.
    third: Eight,
    /// The argument `fourth` of the tool.
    fourth: Eight,
) -> Result<(), ToolError> {
    drop((first, second, third, fourth));
    Ok(())
}

fn main() {}
