use tool_core::prelude::*;

macro_rules! tools {
    ($($name:ident)*) => {
        $(
            /// Does nothing, for this test.
            #[tool]
            pub fn $name() -> Result<(), ToolError> {
                Ok(())
            }
        )*

        fn main() {
            let _ = toolset![$($name),*];
        }
    };
}

tools!(a b c d e f g h i j k l m n o p q r s t u);
