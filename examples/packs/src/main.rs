//! Every pack of tools in one program: `cargo run -p packs -- list`, `… -- call slow_count --to 3`, `… -- serve`.

use std::process::ExitCode;

use tool_cli::Cli;
use tool_std as _;

fn main() -> ExitCode {
    Cli::new()
        .name("packs")
        .context(|cx| cx.workspace("demo").conversation("packs"))
        .run()
}
