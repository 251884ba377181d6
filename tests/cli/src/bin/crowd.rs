//! A program with more tools than Anthropic accepts in one request.

use std::process::ExitCode;

use tool_core::prelude::*;

macro_rules! tools {
    ($($name:ident)*) => {$(
        /// Returns a number. Use it for numbers.
        #[tool(read_only)]
        fn $name() -> u32 {
            1
        }
    )*};
}

tools! {
    tool_1 tool_2 tool_3 tool_4 tool_5 tool_6 tool_7 tool_8 tool_9 tool_10 tool_11 tool_12 tool_13 tool_14 tool_15 tool_16 tool_17 tool_18
    tool_19 tool_20 tool_21
}

fn main() -> ExitCode {
    tool_cli::main()
}
