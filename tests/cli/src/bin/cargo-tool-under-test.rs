//! The `cargo tool` binary, built here so that the tests of this crate can start it.

fn main() -> std::process::ExitCode {
    tool_cli::cargo::main()
}
