//! Programs, run apart from the host in the caller's workspace.
//!
//! | tool | what it does | effect |
//! |---|---|---|
//! | [`run_command`](fn@run_command) | one program with its arguments, to its end | everything |
//!
//! The host's `main` begins with [`tool_std::helper()`](crate::helper), and its context has a
//! [`Workspaces`](crate::workspace::Workspaces) and a [`Commands`], or an [`Isolation`](crate::isolate::Isolation) alone for the
//! settings of [`Commands::new`]:
//!
//! ```no_run
//! use tool_core::prelude::*;
//! use tool_std::isolate::Isolation;
//! use tool_std::process::{Commands, run_command};
//! use tool_std::workspace::Workspaces;
//!
//! # async fn demo() {
//! let tools = Registry::builder().tool::<run_command>().build().unwrap().open();
//! let cx = ToolContext::builder()
//!     .workspace("acme")
//!     .conversation("c-1")
//!     .with(Workspaces::from_env())
//!     .with(Commands::new(Isolation::new()))
//!     .build();
//!
//! let call = ToolCall::new("1", "run_command", r#"{"command": ["sort", "-r"], "stdin": "a\nb\n"}"#);
//! let result = tools.call(call, &cx).await;
//! assert_eq!(
//!     result.model_text(),
//!     r#"{"ended":"exited","exit_code":0,"note":null,"stdout":"b\na\n","stderr":"","stdout_bytes":4,"stderr_bytes":0,"duration_ms":9}"#
//! );
//! # }
//! ```
//!
//! # What holds
//!
//! - The program gets the variables of [`PASSED`](crate::isolate::PASSED) and those that the host adds, and nothing else; `HOME` and
//!   `TMPDIR` are one empty folder that goes with the call. Proxies pass only where the host opens a network, without the user and the
//!   password of their addresses.
//! - It reads and writes the workspace and that folder, reads system programs and libraries, and reaches no network unless the host says
//!   so: as far as [`Isolation`](crate::isolate::Isolation) can see to that here, which its report tells.
//! - At its end, its deadline, a cancellation and the host's death everything that it started is killed, daemons included.
//!   Only a host that is killed leaves that folder behind, in its own `TMPDIR`, as `tool-std-…`.
//! - Its output is told line by line as progress. The result has head and tail of either stream; past a hard limit it is killed.
//!
//! # What it costs
//!
//! 25 crates beside those of `tool-core` without features, 10 beside those of `fs`: those of `workspace` and of `isolate`, and
//! async-stream, which generator tools are written with.

mod commands;
mod lines;
mod proxies;
mod run;
mod scratch;

pub use commands::Commands;
pub use run::{CommandResult, Ending, OutputStream, Progress, run_command};
