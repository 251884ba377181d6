//! Tools that clone repositories of a git server into the folder of the conversation, inspect and change them, and push commits: `git_clone`,
//! `git_status`, `git_diff`, `git_log`, `git_commit`, `git_branch`, `git_fetch` and `git_push`.
//!
//! The tools run the `git` of the host (2.32 or newer, tested with 2.47) through [`isolate`](crate::isolate). A host puts a [`Git`], an
//! [`Isolation`](crate::isolate::Isolation) and its [`Workspaces`](crate::workspace::Workspaces) into its contexts, and the token of its git
//! server as the secret `github_token`, if it has one:
//!
//! ```
//! use tool_core::prelude::*;
//! use tool_std::git::{Git, git_clone, git_status};
//! use tool_std::isolate::Isolation;
//! use tool_std::workspace::Workspaces;
//!
//! # let folder = tempfile::tempdir().unwrap();
//! # let (root, server) = (folder.path().join("ws"), folder.path().join("server"));
//! # let bare = server.join("acme/site.git");
//! # let git = |args: &[&str]| {
//! #     let mut git = std::process::Command::new("git");
//! #     git.args(args).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
//! #     for who in ["AUTHOR", "COMMITTER"] {
//! #         git.env(format!("GIT_{who}_NAME"), "Ann").env(format!("GIT_{who}_EMAIL"), "ann@example.org");
//! #     }
//! #     assert!(git.status().unwrap().success());
//! # };
//! # let seed = folder.path().join("seed");
//! # git(&["init", "-q", "-b", "main", seed.to_str().unwrap()]);
//! # git(&["-C", seed.to_str().unwrap(), "commit", "-q", "--allow-empty", "-m", "Begin"]);
//! # git(&["clone", "-q", "--bare", seed.to_str().unwrap(), bare.to_str().unwrap()]);
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn run(root: std::path::PathBuf, server: String) {
//! let cx = ToolContext::builder()
//!     .workspace("acme")
//!     .conversation("c1")
//!     .with(Workspaces::new(root))
//!     .with(Isolation::GroupOnly) // this example has no `main` of its own; a host uses `Isolation::new()`
//!     .with(Git::new().host(&format!("file://{server}")).unwrap()) // default: https://github.com
//!     .build();
//! let tools = Registry::builder().tool::<git_clone>().tool::<git_status>().build().unwrap().open();
//!
//! let call = ToolCall::new("1", "git_clone", r#"{"repo": "acme/site"}"#);
//! let cloned: serde_json::Value = serde_json::from_str(&tools.call(call, &cx).await.model_text()).unwrap();
//! // {"path": "/…/acme/conversations/c1/.repos/acme/site-5e1f09ab", "branch": "main", "commit": "1c0ffee", "status": "cloned", …}
//! assert_eq!((&cloned["branch"], &cloned["status"]), (&"main".into(), &"cloned".into()));
//!
//! let arguments = serde_json::json!({ "path": cloned["path"] }).to_string();
//! let status = tools.call(ToolCall::new("2", "git_status", arguments), &cx).await;
//! // {"branch": "main", …, "changes": [], "truncated": false}
//! assert!(status.model_text().contains(r#""changes":[]"#));
//!
//! let call = ToolCall::new("3", "git_clone", r#"{"repo": "acme/site", "branch": "--upload-pack=x"}"#);
//! let refused = tools.call(call, &cx).await;
//! assert_eq!(refused.error().unwrap().kind(), tool_core::ErrorKind::InvalidArguments); // nothing was started
//! # }
//! # run(root, server.display().to_string());
//! ```
//!
//! # The token
//!
//! A clone is at `.repos/{owner}/{name}-{8 hex}` in the folder of the conversation, which texts for models call the workspace. Its token is never in
//! this folder: the token is stored next to the folders of the workspace's conversations, outside of all paths that tools accept or sandboxed
//! programs may read.
//!
//! ```text
//! {root}/{workspace}/git-state/{conversation}/clone-{8 hex}/              0700  exists while the clone runs
//! {root}/{workspace}/git-state/{conversation}/{owner}~{name}-{8 hex}/     0700  exists as long as the repository
//!     token   0600  created with this mode, without a later chmod
//!     helper  0700  a script that contains the path of the token; git's `credential.helper`
//!     url     0600  the URL that was cloned
//!     used    0600  empty; its modification time is the time of the last call of a tool
//! ```
//!
//! While a call talks to the server, git works in a folder of the call, which is as private as the state:
//!
//! ```text
//! {root}/{workspace}/git-work/{conversation}/{8 hex}/site/   0700, exists while the call runs
//! ```
//!
//! No git process that has the token or a network reads anything in the folder of the conversation, so a program that changes files there at the same
//! time cannot affect such a process. `git_clone` clones into the folder of the call, checks out the files without the token or a network, and moves
//! the result into the folder of the conversation in one step. `git_fetch` and `git_push` copy the commits of the branches into the folder of the
//! call and talk to the server, and `git_fetch` copies the fetched commits back; the jobs that copy have neither the token nor a network. While it
//! runs, a fetch or a push therefore needs additional disk space of the size of the repository's objects.
//!
//! The helper answers only for the scheme, host and path that were cloned. The clone's own configuration names the helper too, so that a manual `git
//! fetch` works later without this program. No argument, environment variable, log, audit row or result contains the token. Under
//! [`Isolation::GroupOnly`](crate::isolate::Isolation::GroupOnly), a program runs as the host's user without Landlock and can read the token.
//!
//! The token belongs to the conversation: if a call of `git_fetch` or `git_push` has the secret, that token is used and replaces the stored one; a
//! call without it uses the stored token, regardless of which caller supplied it. So the next call with a new token replaces an expired token, and
//! every caller of these tools in the conversation has the rights of the stored token. The stored token is redacted from the server's responses.
//!
//! A token is removed with its clone. Every `git_clone` first removes the conversation's clones that no tool of this pack has used, and in which no
//! file or folder has changed, for two hours. Unpushed work and tokens are removed with them, and a warning is logged for each token that was still
//! stored. The call also removes tokens whose repository no longer exists, and leftovers of a host that was killed. A modification time in the future
//! is ignored. [`delete_instance`](crate::workspace::Workspaces::delete_instance) removes all files of a workspace, and
//! [`delete_conversation`](crate::workspace::Workspaces::delete_conversation) removes all data of one conversation, when the host calls it.
//!
//! # Hostile repositories
//!
//! The author of a repository's files may have written its `.git` as well. Therefore each run:
//!
//! - gets the repository explicitly: `GIT_DIR`, `GIT_COMMON_DIR` and `GIT_WORK_TREE` are set, so no `.git` file, `commondir` or `core.worktree` leads
//!   elsewhere. The call is refused if `.git` is not a folder, or if it contains, for example, a link, a pipe, a file with a second hard link (unless
//!   the host allows these), `commondir` or alternates;
//! - first checks the repository's configuration against an **allowlist**. Any other entry refuses the call. A denylist would have to contain every
//!   setting that names a program, a file or a host, in every version of git, with filters, drivers and URLs of any name;
//! - overrides the repository's configuration: hooks, fsmonitor, external diffs, textconv, signing, editors, pagers, ssh, proxies of the repository,
//!   submodules, redirects and maintenance are off, system and user configuration are not read, and `GIT_ALLOW_PROTOCOL` is the host's own scheme,
//!   `file` for the copy of fetched commits, or empty;
//! - may write to the folder of the conversation only if it is a run of a tool other than `git_status`, `git_diff` and `git_log`. The runs of
//!   `git_clone`, `git_fetch` and `git_push` that connect to the git server work only in the folder of the call, and use the URL that was cloned,
//!   not the URL in the configuration.
//!
//! Between the check and the run, only a program that runs in the same folder at the same time can change the files. Because of the third point, such
//! a program can at most make git run a content filter, which has only the rights that the program already has; because of the fourth point, the
//! filter has neither a network nor the token.
//!
//! A call may take 120 seconds in all, and each of its runs of git may write 5 MB to standard output and standard error together; the host can change
//! both limits ([`Git::deadline`], [`Git::output_limit`]).
//!
//! # Cost
//!
//! 25 crates in addition to those of `tool-core` without features, all of them dependencies of `tool-isolate` or of the module `workspace`.

mod address;
mod branch;
mod clone;
mod command;
mod commit;
mod config;
mod credential;
mod diff;
mod fetch;
mod handle;
mod log;
mod name;
mod private;
mod push;
mod repository;
mod session;
mod settings;
mod state;
mod status;
mod sweep;
#[cfg(test)]
mod unchecked_config;

pub use address::HostError;
pub use branch::{Branch, BranchAction, Branches, git_branch};
pub use clone::{CloneStatus, Cloned, git_clone};
pub use commit::{Committed, git_commit};
pub use diff::{Diff, git_diff};
pub use fetch::{Fetched, git_fetch};
pub use handle::{Fetcher, Pusher, Reader, Writer};
pub use log::{Commit, Log, git_log};
pub use push::{PushStatus, Pushed, git_push};
pub use settings::Git;
pub use status::{FileChange, FileState, Status, git_status};
