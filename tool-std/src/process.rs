//! The `run_command` tool, which runs programs in a sandbox in the folder of the conversation.
//!
//! | tool | what it does | effect |
//! |---|---|---|
//! | [`run_command`](fn@run_command) | runs one program with its arguments and waits for it to exit | all effects |
//!
//! The host's `main` begins with [`tool_std::helper()`](crate::helper). The host puts a [`Workspaces`](crate::workspace::Workspaces) and a
//! [`Commands`] into the context. If the context has an [`Isolation`](crate::isolate::Isolation) and no `Commands`, [`Commands::new`] supplies the
//! settings:
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
//! # Guarantees
//!
//! - The program receives the variables of [`PASSED`](crate::isolate::PASSED) and the variables that the host adds, and no others. Unless the host
//!   sets them, `HOME` and `TMPDIR` are the same empty folder, which is removed after the call. Proxy variables are passed only if the host opens a
//!   network; the user name and password are removed from their URLs.
//! - The program can read and write the folder of the conversation and that empty folder, can read system files, such as programs and libraries, and
//!   the paths of [`Commands::reads`], and reaches no network unless the host allows it, as far as [`Isolation`](crate::isolate::Isolation) can
//!   enforce this on the current system. `Isolation::report` describes the enforcement.
//! - When the program ends, its deadline passes, the call is cancelled or the host dies, all processes that the program started are killed, daemons
//!   included. With [`Isolation::GroupOnly`](crate::isolate::Isolation::GroupOnly), daemons that leave the process group survive, and so do all
//!   processes if the host dies. If the host is killed, the folder of `HOME` and `TMPDIR` is left behind in the host's own `TMPDIR`, as
//!   `tool-std-…`, until the next host of the same user runs its first command.
//! - The output is reported line by line as progress. The result has the head and tail of each stream. A program that exceeds the output limit is
//!   killed.
//!
//! # Cost
//!
//! 27 crates in addition to those of `tool-core` without features, and 12 in addition to those of `fs`: the dependencies of `workspace` and
//! `tool-isolate`, and async-stream, which streaming tools use.

mod commands;
mod lines;
mod proxies;
mod run;
mod scratch;

pub use commands::Commands;
pub use run::{CommandResult, Ending, OutputStream, Progress, run_command};
