use tool_core::prelude::*;

macro_rules! letters {
    ($($name:ident)*) => {
        /// 32 values.
        #[derive(Debug, Deserialize, StrictSchema)]
        pub enum Letters {
            $($name,)*
        }
    };
}

letters!(A0 A1 A2 A3 A4 A5 A6 A7 B0 B1 B2 B3 B4 B5 B6 B7 C0 C1 C2 C3 C4 C5 C6 C7 D0 D1 D2 D3 D4 D5 D6 D7);

/// 256 values.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Eight {
    /// One.
    pub a: Letters,
    /// One.
    pub b: Letters,
    /// One.
    pub c: Letters,
    /// One.
    pub d: Letters,
    /// One.
    pub e: Letters,
    /// One.
    pub f: Letters,
    /// One.
    pub g: Letters,
    /// One.
    pub h: Letters,
}

/// Spells.
#[tool]
pub fn spell(
    /// First.
    first: Eight,
    /// Second.
    second: Eight,
    /// Third.
    third: Eight,
    /// Fourth.
    fourth: Eight,
) -> Result<(), ToolError> {
    drop((first, second, third, fourth));
    Ok(())
}

fn main() {}
