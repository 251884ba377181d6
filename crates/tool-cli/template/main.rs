//! A command line for the tools: `cargo run -- list`, `cargo run -- call greet --name Ada`.

use CRATE as _;

fn main() -> std::process::ExitCode {
    // Tools with host values, such as `pool: &Reads<Pool>`, need them in the context. Supply them here:
    //     tool_cli::Cli::new().context(move |cx| cx.with(pool.clone())).run()
    tool_cli::main()
}
