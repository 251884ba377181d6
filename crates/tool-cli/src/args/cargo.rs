//! Command-line arguments of `cargo tool`: the arguments of every command, and the selection of the libraries to build.

use clap::{Args, Parser};

use super::Arguments;

/// Lists, calls, checks, locks and serves the tools of the libraries of a workspace.
///
/// Exit codes: 0 success; 1 a tool or a check failed, or the libraries cannot be built; 2 wrong use; 3 the call was not allowed; 130
/// interrupted.
#[derive(Debug, Parser)]
#[command(
    name = "cargo tool",
    bin_name = "cargo tool",
    version,
    max_term_width = 100
)]
pub(crate) struct CargoArguments {
    #[command(flatten)]
    pub(crate) cargo: CargoArgs,
    #[command(flatten)]
    pub(crate) words: Arguments,
}

/// Selects and builds the libraries. Write these options before the name of a tool.
#[derive(Debug, Args)]
pub(crate) struct CargoArgs {
    /// Uses only the tools of these packages.
    #[arg(
        long = "package",
        short,
        value_name = "NAME",
        global = true,
        help_heading = "Workspace"
    )]
    pub(crate) packages: Vec<String>,
    /// The path of the workspace's `Cargo.toml`.
    #[arg(long, value_name = "PATH", global = true, help_heading = "Workspace")]
    pub(crate) manifest_path: Option<std::path::PathBuf>,
    /// Builds the libraries with optimizations.
    #[arg(long, global = true, help_heading = "Workspace")]
    pub(crate) release: bool,
    /// Builds the libraries without network access.
    #[arg(long, global = true, help_heading = "Workspace")]
    pub(crate) offline: bool,
}
