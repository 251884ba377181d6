//! The tools from a terminal: `cargo run -- list`, `cargo run -- call greet --name Ada`.

use CRATE as _;

fn main() -> std::process::ExitCode {
    // A tool that takes a value of the host, such as `pool: &Reads<Pool>`, is supplied with it here:
    //     tool_cli::Cli::new().context(move |cx| cx.with(pool.clone())).run()
    tool_cli::main()
}
