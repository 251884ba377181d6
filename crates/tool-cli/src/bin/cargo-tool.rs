//! The program behind `cargo tool`.

fn main() -> std::process::ExitCode {
    tool_cli::cargo::main()
}
