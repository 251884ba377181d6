//! Cargo commands that tests run.

use std::process::Command;

/// Returns a command for cargo without the variables that the outer cargo sets.
pub fn command() -> Command {
    let mut command = Command::new(env!("CARGO"));
    remove_variables(&mut command);
    command
}

/// Removes the variables that cargo sets for a test, because the cargo that the command runs must reuse the output of builds in a shell.
///
/// The build script of `ring` depends on `CARGO_MANIFEST_DIR` and `CARGO_PKG_NAME`. With other values, cargo builds `ring` and the crates above it,
/// such as `rustls`, `sqlx` and `tool-store`, again, and the next build in a shell builds them once more.
pub fn remove_variables(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(is_of_the_outer_cargo) {
            command.env_remove(name);
        }
    }
}

fn is_of_the_outer_cargo(name: &str) -> bool {
    let prefixes = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_"];
    prefixes.iter().any(|prefix| name.starts_with(prefix)) || name == "OUT_DIR"
}
