//! The program `cargo-tool`, which cargo runs for `cargo tool`.

fn main() -> std::process::ExitCode {
    tool_cli::cargo::main()
}
