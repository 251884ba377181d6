use tool_core::prelude::*;

macro_rules! record {
    ($name:ident, $ty:ty) => {
        #[derive(Debug, Deserialize, StrictSchema)]
        pub struct $name {
            /// The value of the record.
            pub value: $ty,
        }
    };
}

record!(Good, Vec<String>);
record!(Bad, Vec<url::Url>);

fn main() {}
