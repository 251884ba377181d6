//! `cargo tool`, where the tests find it.

fn main() -> std::process::ExitCode {
    tool_cli::cargo::main()
}
