//! Packs of tools that language models call.
//!
//! Each pack is a module behind a feature of its name. A pack that is built is linked: [`Registry::linked`](tool_core::Registry::linked)
//! finds its tools when the program names this crate once (`use tool_std as _;`).
//!
//! | feature | tools |
//! |---|---|
//! | `fs` (default) | `read_file`, `read_file_parts`, `write_file`, `edit_file`, `list_directory`, `find_files`, `search_files` |
//! | `demo` | `log_hello_world`, `slow_count` |
//! | `process` | `run_command` |
//! | `git` | `git_clone`, `git_status`, `git_diff`, `git_log`, `git_commit`, `git_branch`, `git_fetch`, `git_push` |
//! | `isolate` | none: how the tools of other packs start programs |
//! | `http` | `http_get`, `http_request` |
//! | `web` | `fetch_webpage`, `search_web` |
//!
//! Arguments and results are named as Rust fields are, `total_lines` and `duration_ms`, whatever a server that they come from calls them.
//! A result is its value and nothing around it; who wants `{"success":true,…}` takes [`CallResult::envelope`](tool_core::CallResult::envelope).

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(all(feature = "workspace", not(unix)))]
compile_error!(
    "the packs that work on files need a Unix system: build tool-std without `fs`, `process` and `git`"
);

#[cfg(any(feature = "http", feature = "git"))]
mod excerpt;
#[cfg(any(feature = "http", feature = "git"))]
pub use excerpt::Excerpt;

#[cfg(feature = "fs")]
pub mod fs;
#[cfg(feature = "workspace")]
pub mod workspace;

#[cfg(feature = "demo")]
pub mod demo;
#[cfg(all(feature = "git", unix))]
pub mod git;
#[cfg(feature = "http")]
pub mod http;
#[cfg(all(feature = "isolate", unix))]
pub mod isolate;
#[cfg(feature = "web")]
pub mod web;

#[cfg(all(feature = "process", unix))]
pub mod process;

#[cfg(all(feature = "isolate", unix))]
pub use isolate::helper;

/// What generated code names; not for anybody else.
#[doc(hidden)]
#[cfg(all(feature = "isolate", unix))]
pub mod private {
    pub use crate::isolate::TOOL_STD_0_1_MODES;
    pub use linkme;
}
