//! Tools that read, write, list, find and search files in the folder of the conversation, and nothing outside of it.
//!
//! | tool | what it does | effect |
//! |---|---|---|
//! | [`read_file`](fn@read_file) | text of a file, from an offset or its last lines | read |
//! | [`read_file_parts`](fn@read_file_parts) | ranges of lines of several files | read |
//! | [`list_directory`](fn@list_directory) | the entries of a folder | read |
//! | [`find_files`](fn@find_files) | files by their names | read |
//! | [`search_files`](fn@search_files) | lines by a regular expression | read |
//! | [`write_file`](fn@write_file) | a whole file | read, write, destroy |
//! | [`edit_file`](fn@edit_file) | exact text in a file | read, write |
//!
//! The host puts [`Workspaces`](crate::workspace::Workspaces), which has the folder of each conversation, into the context, and [`Limits`] to change
//! the defaults. Texts for models call this folder the *workspace*:
//!
//! ```
//! use tool_core::prelude::*;
//! use tool_std::fs::{read_file, write_file};
//! use tool_std::workspace::Workspaces;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! # let root = tempfile::tempdir().unwrap();
//! # let root = root.path();
//! let tools = Registry::builder().tool::<read_file>().tool::<write_file>().build().unwrap().open();
//! let cx = ToolContext::builder().workspace("acme").conversation("c-1").with(Workspaces::new(root)).build();
//!
//! let call = ToolCall::new("1", "write_file", r##"{"path": "notes/plan.md", "content": "# Plan\n1. Begin\n"}"##);
//! let result = tools.call(call, &cx).await;
//! assert_eq!(result.model_text(), r#"{"path":"notes/plan.md","size_bytes":16,"created":true}"#);
//!
//! let result = tools.call(ToolCall::new("2", "read_file", r#"{"path": "notes/../notes/plan.md", "tail": 1}"#), &cx).await;
//! assert_eq!(
//!     result.model_text(),
//!     r#"{"path":"notes/plan.md","content":"1. Begin\n","size_bytes":16,"lines":2,"start_line":2,"end_line":2,"truncated":false,"next_offset":null}"#
//! );
//!
//! let result = tools.call(ToolCall::new("3", "read_file", r#"{"path": "../other/secret"}"#), &cx).await;
//! assert_eq!(result.error().unwrap().model_text(), "`../other/secret` leads out of the workspace, write a path that stays in it");
//! # }
//! ```
//!
//! # Guarantees
//!
//! - Every file is opened below the handle of the conversation's folder (on Linux with `openat2`, so that the kernel enforces this), so no path, link
//!   or race reaches a file outside of the folder. Reads follow links that stay inside. Writes follow no links; the error names the target of the
//!   link.
//! - Files are opened without blocking, and everything other than a regular file is refused: pipes, sockets and devices. Files with more than one
//!   hard link and files on a different file system, bind mounts included, are refused unless the host allows them with
//!   [`allow_hard_links`](crate::workspace::Workspaces::allow_hard_links) and
//!   [`allow_other_devices`](crate::workspace::Workspaces::allow_other_devices).
//! - A file is written under a temporary name and then renamed, so no reader sees a part of it. Calls that replace files of the same conversation
//!   hold a lock for the comparison and the rename, also across processes, so an edit is applied to exactly the text that the edit has read, or
//!   fails. A program that runs in the folder does not take this lock. With `overwrite` set to false, the file is created only if no entry has its
//!   name. Nothing is written into a `.git`, in any spelling that a file system treats as `.git`.
//! - `find_files` and `search_files` apply the `.gitignore` and `.ignore` files in the folder. Ignore files above it, git's global ignore file and
//!   `.git/info/exclude` are not read.
//! - Text is UTF-8. A file with a NUL byte near its beginning is reported as binary; a file in a different encoding is reported with the position
//!   of the first invalid byte. `list_directory` lists names that are not UTF-8, but no tool can open them.
//!
//! # Cost
//!
//! 38 crates in addition to those of `tool-core` without features: cap-std and the crates that ripgrep consists of. `tool-std` builds nothing else by
//! default.

mod edit;
mod find;
mod hits;
mod limits;
mod list;
mod open;
mod read;
mod search;
mod text;
mod walk;
mod write;

pub use edit::{Edited, edit_file};
pub use find::{Found, find_files};
pub use limits::Limits;
pub use list::{Entry, EntryKind, Listing, list_directory};
pub use read::{FileText, Part, PartText, PartTexts, read_file, read_file_parts, read_text};
pub use search::{FileMatches, Line, Matches, search_files};
pub use write::{Written, write_file};
