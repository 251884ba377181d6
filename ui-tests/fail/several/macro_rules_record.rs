use tool_core::prelude::*;

macro_rules! record {
    ($name:ident, $ty:ty) => {
        #[derive(Debug, Deserialize, StrictSchema)]
        pub struct $name {
            /// What it holds.
            pub value: $ty,
        }
    };
}

record!(Good, Vec<String>);
record!(Bad, Vec<url::Url>);

fn main() {}
