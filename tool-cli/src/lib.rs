//! The command line of a set of tools.
//!
//! A program of one's own gets every command with one call:
//!
//! ```no_run
//! // The tools of every crate that is linked here.
//! fn main() -> std::process::ExitCode {
//!     tool_cli::main()
//! }
//! ```
//!
//! A host that has more to say (its registry, rules, gate and context values) uses [`Cli`]. The program `cargo-tool` of this crate
//! does the same for the libraries of a workspace: `cargo tool list`.
//!
#![doc = ""]
#![doc = include_str!("../docs/cli.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod args;
#[cfg(feature = "cargo")]
pub mod cargo;
mod commands;
mod host;
#[cfg(feature = "import")]
pub mod import;
pub mod json;
mod outcome;
mod screen;
mod table;

pub use host::Cli;

/// The command line over every linked tool, with the arguments of the process.
pub fn main() -> std::process::ExitCode {
    Cli::new().run()
}
