use tool_core::prelude::*;

macro_rules! make {
    ($name:ident, $ty:ty, $key:ident) => {
        /// Returns the value.
        #[tool]
        pub fn $name(
            /// The value to return.
            $key: $ty,
        ) -> Result<$ty, ToolError> {
            Ok($key)
        }
    };
}

make!(echo_text, String, text);
make!(echo_numbers, Vec<u32>, numbers);

macro_rules! record {
    ($name:ident, $ty:ty) => {
        /// A record that a macro generates.
        #[derive(Debug, Deserialize, StrictSchema)]
        pub struct $name {
            /// The value of the record.
            pub value: $ty,
        }
    };
}

record!(Held, Option<Vec<u16>>);
record!(Kept, Vec<String>);

fn main() {}
