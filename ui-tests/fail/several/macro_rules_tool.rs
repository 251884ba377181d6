use tool_core::prelude::*;

macro_rules! make {
    ($name:ident, $ty:ty, $key:ident, $example:tt) => {
        /// Returns the value.
        #[tool(example($example))]
        pub fn $name(
            /// The value to return.
            $key: $ty,
        ) -> Result<(), ToolError> {
            drop($key);
            Ok(())
        }
    };
}

make!(echo_text, String, text, { "text": 1 });
make!(echo_map, std::collections::HashMap<String, u8>, map, {});

fn main() {}
