#![deny(warnings)]

use tool_core::prelude::*;

macro_rules! tools {
    ($($(#[$meta:meta])* $name:ident($($(#[$of:meta])* $key:ident: $ty:ty),*);)*) => {
        $(
            $(#[$meta])*
            #[tool]
            pub async fn $name($($(#[$of])* $key: $ty),*) -> Result<(), ToolError> {
                let _ = ($(&$key,)*);
                Ok(())
            }
        )*
    };
}

tools! {
    /// Starts a program.
    start(/** The name of the program. */ name: String, /** The number of starts. */ #[arg(default = 1)] often: u8);
    /// Stops a program.
    stop();
}

fn main() {}
