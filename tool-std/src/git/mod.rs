//! Repositories of a git server, cloned into the workspace, looked at, changed and pushed: `git_clone`, `git_status`, `git_diff`, `git_log`,
//! `git_commit`, `git_branch`, `git_fetch` and `git_push`.
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
//!     .with(Isolation::GroupOnly) // a test has no `main` of its own; a host says `Isolation::new()`
//!     .with(Git::new().host(&format!("file://{server}")).unwrap()) // unsaid: https://github.com
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
//! A clone is at `{workspace}/.repos/{owner}/{name}-{8 hex}`. Its token is never in the workspace: it lies beside all of them, where no path of
//! a tool leads and no sandboxed program may look.
//!
//! ```text
//! {root}/{instance}/git-state/{conversation}/clone-{8 hex}/               0700  while the clone runs, whatever its end
//! {root}/{instance}/git-state/{conversation}/{owner}~{name}-{8 hex}/      0700  as long as the repository
//!     token   0600  made with this mode, not given it afterwards
//!     helper  0700  a script that holds the path of the token; git's `credential.helper`
//!     url     0600  what was cloned
//!     used    0600  empty; its time is that of the last call of a tool
//! ```
//!
//! While a call talks to the server, git works in a folder of the call, which is as private as the state:
//!
//! ```text
//! {root}/{instance}/git-work/{conversation}/{8 hex}/site/   0700, as long as the call runs
//! ```
//!
//! No git that has the token or a network reads anything of the workspace, so nothing that a program changes there at the same time
//! reaches it. `git_clone` clones there, writes the files there without token and network, and moves the result into the workspace in
//! one step. `git_fetch` and `git_push` copy the commits of the branches there, talk to the server, and bring what was fetched back; the
//! copies are made by jobs that have neither the token nor a network. A fetch or a push therefore takes as much more disk as the
//! repository's objects, as long as it runs.
//!
//! The helper answers for the scheme, host and path that were cloned and for nothing else. The clone's own configuration names it too, so that a
//! `git fetch` by hand works later without this program. The token is in no argument, no environment, no log, no audit row and no result. A
//! program that may run as the host's user without Landlock, under [`Isolation::GroupOnly`](crate::isolate::Isolation::GroupOnly), can read it.
//!
//! It is that of the conversation: `git_fetch` and `git_push` use and keep the secret of the call that brings one, in the place of the one that was kept,
//! and a call without one uses what is there, whoever brought it. So a token that has run out is renewed by the next call that has a new one, and whoever
//! may call these tools in a conversation has the rights of its token. What a server says back is masked by the token that is kept.
//!
//! Two clocks end it. Every `git_clone` first removes the conversation's clones that no tool of this pack worked with for two hours and in which no file
//! and no folder has changed since, with whatever was not pushed and with their tokens, and logs a warning for each token that was still there; so it does
//! with tokens whose repository is gone and with what a host that died has left. A time of the future is no change.
//! [`delete_instance`](crate::workspace::Workspaces::delete_instance) removes everything of an instance, and
//! [`delete_conversation`](crate::workspace::Workspaces::delete_conversation) everything of one conversation where a host asks for it.
//!
//! # What a repository may say
//!
//! Whoever wrote a repository's files may have written its `.git` as well. Therefore each run:
//!
//! - is given the repository: `GIT_DIR`, `GIT_COMMON_DIR` and `GIT_WORK_TREE` are set, so no `.git` file, `commondir` or `core.worktree` leads elsewhere.
//!   A `.git` that is no folder, or that has a link, a pipe, a file with a second name or alternates in it, is refused;
//! - begins with a look at the repository's configuration, against a **list of what is allowed**. Any other entry refuses the call. A list of what is
//!   forbidden would have to know every setting that names a program, a file or a host, in every version of git, with filters, drivers and URLs of any name;
//! - has, on the level above the repository's, hooks, fsmonitor, external diffs, textconv, signing, editors, pagers, ssh, proxies of the repository,
//!   submodules, redirects and maintenance off, no system or user configuration, and `GIT_ALLOW_PROTOCOL` with the host's own scheme or with none;
//! - reads the workspace alone for `git_status`, `git_diff` and `git_log`, and writes there for the others. What reaches the host's TCP
//!   port for `git_clone`, `git_fetch` and `git_push` works in the folder of the call and nowhere else, and talks to the URL that was
//!   cloned, not to the one in the configuration.
//!
//! Between the look and the run only a program that runs at the same time in the same workspace can change the files. By the third
//! point that gains it a filter of content at most, which may do what the program itself may, and by the fourth neither a network nor
//! the token.
//!
//! A run may take 120 seconds in all and write 5 MB to both outputs; both are the host's to change ([`Git::deadline`], [`Git::output_limit`]).
//!
//! # Cost
//!
//! Feature `git` adds 23 crates to `tool-core`, all of which `isolate` and `workspace` bring.

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
mod walls;

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
