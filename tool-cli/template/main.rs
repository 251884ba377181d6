//! The tools from a terminal: `cargo run -- list`, `cargo run -- call greet --name Ada`.

use CRATE as _;

fn main() -> std::process::ExitCode {
    tool_cli::main()
}
