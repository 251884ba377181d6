//! Command line for tools: list, call, check, lock, measure and serve them.
//!
//! A program gets every command whose feature is enabled if its `main` makes one call:
//!
//! ```no_run
//! // The commands have the tools of every linked crate.
//! fn main() -> std::process::ExitCode {
//!     tool_cli::main()
//! }
//! ```
//!
//! A host that needs more (its own registry, rules, gate and context values) uses [`Cli`]. The program
//! `cargo-tool` of this crate runs the same commands for the libraries of a workspace: `cargo tool list`.
//!
#![doc = ""]
#![doc = include_str!("../docs/cli.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod args;
#[cfg(feature = "cargo")]
pub mod cargo;
mod commands;
mod host;
mod outcome;
mod run;
mod screen;
mod table;

pub use host::Cli;
#[cfg(feature = "import")]
pub use tool_import as import;
pub use tool_import::json;

/// Runs the command in the arguments of the process, with every linked tool.
pub fn main() -> std::process::ExitCode {
    Cli::new().run()
}
