//! Packs of tools for language models: files, programs, git, HTTP, web pages, people and the services of vendors.
//!
//! Each pack is a module behind a feature of the same name. If the program names this crate once (`use tool_std as _;`), the tools of all enabled
//! packs except `ask_user` are linked, and [`Registry::linked`](tool_core::Registry::linked) finds them.
//!
//! | feature | tools |
//! |---|---|
//! | `fs` (default) | `read_file`, `read_file_parts`, `write_file`, `edit_file`, `list_directory`, `find_files`, `search_files` |
//! | `attachments` | `upload_attachment` |
//! | `attachments-s3` | none: files in S3 for the pack `attachments` |
//! | `demo` | `log_hello_world`, `slow_count` |
//! | `process` | `run_command` |
//! | `git` | `git_clone`, `git_status`, `git_diff`, `git_log`, `git_commit`, `git_branch`, `git_fetch`, `git_push` |
//! | `isolate` | none: runs the programs of other packs in a sandbox |
//! | `http` | `http_get`, `http_request` |
//! | `http-client` | none: the HTTP client and its guard, for other packs, and `HttpEmbedder` |
//! | `http-runner` | none: runs stored HTTP operations |
//! | `memory` | `search_memory`, `remember`, `memory_block`, `search_conversation` |
//! | `human` | `send_message_to_human`, `mark_room_event_completed`, `compact_room_history`, `send_outbound_message`; `ask_user`, which the host adds to its registry |
//! | `schedule` | `schedule_task` |
//! | `knowledge` | `search_knowledge`, `get_knowledge`, `write_knowledge` |
//! | `knowledge-html`, `knowledge-pdf` | none: documents in HTML and PDF for the pack `knowledge` |
//! | `html` | none: converts HTML to Markdown for other packs |
//! | `plan` | `create_execution_plan`, `replace_execution_plan`, `submit_execution_node_result`, `get_active_execution_plan`, `resume_execution_plan_run` |
//! | `web` | `fetch_webpage`, `search_web` |
//! | `vendor` | none: the requests that the packs of vendors share |
//! | `slack` | `post_slack_message` |
//! | `github` | `get_github_issue`, `get_github_pull_request`, `list_github_issues`, `search_github_issues`, `create_github_issue`, `create_github_pull_request`, `comment_github_issue` |
//! | `hubspot` | `search_hubspot_contacts`, `create_hubspot_contact`, `update_hubspot_contact`, `search_hubspot_tickets`, `create_hubspot_ticket`, `update_hubspot_ticket` |
//! | `whatsapp` | `send_whatsapp_template` |
//! | `email` | `send_email` |
//! | `workspace` | none: a folder for each conversation, for other packs |
//!
//! The keys of arguments and results have the style of Rust fields, such as `total_lines` and `duration_ms`, even if a server uses other names. Only
//! the results of `send_outbound_message` (`Replied`) and `send_whatsapp_template` (`SentTemplate`) have keys in camel case, such as `replyHandled`.
//! A result is the plain value; for an envelope such as `{"success":true,…}`, use [`CallResult::envelope`](tool_core::CallResult::envelope).
//!
//! # Cost
//!
//! The table lists the crates and the seconds that each feature adds to a build of `tool-core` without features. The seconds are the CPU time (user
//! and system) of rustc and of build scripts with the profile `dev`, measured by `.ci/build-times` on a machine with 2 cores. `tool-core` itself
//! takes 41 seconds. Features that need the same crates share their time: a build with `github` and `slack` takes little longer than a build with
//! one of them.
//!
//! | feature | crates | seconds |
//! |---|---|---|
//! | `attachments` | 84 | 56 |
//! | `attachments-s3` | 136 | 117 |
//! | `demo` | 3 | 4 |
//! | `email` | 58 | 32 |
//! | `fs` | 38 | 20 |
//! | `git` | 25 | 21 |
//! | `github` | 69 | 31 |
//! | `html` | 49 | 16 |
//! | `http` | 69 | 29 |
//! | `http-client` | 69 | 28 |
//! | `http-runner` | 99 | 54 |
//! | `hubspot` | 69 | 31 |
//! | `human` | 34 | 30 |
//! | `isolate` | 14 | 14 |
//! | `knowledge` | 35 | 34 |
//! | `knowledge-html` | 77 | 48 |
//! | `knowledge-pdf` | 95 | 65 |
//! | `memory` | 34 | 31 |
//! | `plan` | 76 | 64 |
//! | `process` | 27 | 21 |
//! | `schedule` | 50 | 41 |
//! | `slack` | 69 | 29 |
//! | `vendor` | 69 | 28 |
//! | `web` | 113 | 49 |
//! | `whatsapp` | 69 | 29 |
//! | `workspace` | 14 | 6 |
//!
//! The names, arguments and results of the tools are also types of the crate `tool-contracts`, which clients can use without the packs.

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(all(feature = "workspace", not(unix)))]
compile_error!(
    "the packs that work on files need a Unix system: build tool-std without `fs`, `process`, `git` and `workspace`"
);

#[cfg(any(feature = "http-client", feature = "git", feature = "email"))]
mod excerpt;
#[cfg(any(feature = "http-client", feature = "git", feature = "email"))]
pub use excerpt::Excerpt;

#[cfg(any(feature = "http-client", feature = "knowledge-html"))]
mod charset;
#[cfg(any(feature = "web", feature = "knowledge-html"))]
mod html;

#[cfg(any(feature = "memory", feature = "plan"))]
mod mirrored;

#[cfg(feature = "fs")]
pub mod fs;
#[cfg(feature = "workspace")]
pub mod workspace;

#[cfg(feature = "attachments")]
pub mod attachments;
#[cfg(feature = "demo")]
pub mod demo;
#[cfg(feature = "email")]
pub mod email;
#[cfg(any(feature = "memory", feature = "knowledge"))]
pub mod embedding;
#[cfg(all(feature = "git", unix))]
pub mod git;
#[cfg(feature = "github")]
pub mod github;
#[cfg(feature = "http-client")]
#[cfg_attr(
    not(feature = "http"),
    allow(dead_code, reason = "a part of the client is only for the tools")
)]
pub mod http;
#[cfg(feature = "hubspot")]
pub mod hubspot;
#[cfg(feature = "human")]
pub mod human;
#[cfg(feature = "memory")]
pub mod memory;
#[cfg(feature = "schedule")]
pub mod schedule;
#[cfg(all(feature = "isolate", unix))]
pub use tool_isolate as isolate;
#[cfg(feature = "knowledge")]
pub mod knowledge;
#[cfg(feature = "slack")]
pub mod slack;
#[cfg(feature = "vendor")]
#[cfg_attr(
    not(all(feature = "slack", feature = "github", feature = "hubspot")),
    allow(dead_code, reason = "each pack uses a part of the client")
)]
pub mod vendor;
#[cfg(feature = "web")]
pub mod web;
#[cfg(feature = "whatsapp")]
pub mod whatsapp;

#[cfg(feature = "plan")]
pub mod plan;
#[cfg(all(feature = "process", unix))]
pub mod process;

/// `helper` is the function that a host calls first in `main`. `mode` is the macro that declares code of the host's binary that runs in a sandbox.
#[cfg(all(feature = "isolate", unix))]
pub use tool_isolate::{helper, mode};
