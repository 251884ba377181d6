//! Helpers for the git tests: repositories, a server, and a conversation that clones the repositories.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tool_core::prelude::*;
use tool_std::fs::read_file;
use tool_std::git::{
    Git, git_branch, git_clone, git_commit, git_diff, git_fetch, git_log, git_push, git_status,
};
use tool_std::isolate::Isolation;
use tool_std::workspace::Workspaces;

use crate::server::Server;

/// The token of the tests. It may appear only in its file and in requests to the server.
pub(crate) const TOKEN: &str = "tok-5c1e0f7a9b3d-secret";

/// A folder with bare repositories in `srv`, workspaces in `ws`, and other files of the test.
pub(crate) struct World {
    root: tempfile::TempDir,
}

pub(crate) fn tools() -> Toolset {
    Registry::builder()
        .tool::<git_clone>()
        .tool::<git_status>()
        .tool::<git_diff>()
        .tool::<git_log>()
        .tool::<git_commit>()
        .tool::<git_branch>()
        .tool::<git_fetch>()
        .tool::<git_push>()
        .tool::<read_file>()
        .build()
        .unwrap()
        .open()
}

/// Returns an isolation with every mechanism that the kernel supports.
pub(crate) fn isolation() -> Isolation {
    Isolation::new().helper(env!("CARGO_BIN_EXE_std-host"))
}

impl World {
    /// Creates the repository `acme/site` with two commits on `main` and a branch `feature/x`.
    pub(crate) fn new() -> Self {
        let world = Self {
            root: tempfile::tempdir().unwrap(),
        };
        let seed = world.path("seed");
        fs::create_dir_all(seed.join("src")).unwrap();
        world.git(&seed, &["init", "-q", "-b", "main"]);
        fs::write(seed.join("README.md"), "# Site\n").unwrap();
        world.git(&seed, &["add", "."]);
        world.git(&seed, &["commit", "-qm", "Begin"]);
        fs::write(seed.join("src/main.rs"), "fn main() {}\n").unwrap();
        world.git(&seed, &["add", "."]);
        world.git(&seed, &["commit", "-qm", "Add a program"]);
        world.git(&seed, &["branch", "feature/x"]);
        world.publish(&seed, "acme/site");
        world
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.root.path().join(below)
    }

    /// Creates a bare repository from a folder.
    pub(crate) fn publish(&self, from: &Path, name: &str) {
        let to = self.path("srv").join(format!("{name}.git"));
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        let (from, to) = (from.to_str().unwrap(), to.to_str().unwrap());
        self.git(self.root.path(), &["clone", "-q", "--bare", from, to]);
    }

    /// Runs plain git without the configuration of a user.
    pub(crate) fn git(&self, folder: &Path, args: &[&str]) -> String {
        let output = self.command(folder).args(args).output().unwrap();
        assert!(
            output.status.success(),
            "{args:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    pub(crate) fn command(&self, folder: &Path) -> Command {
        let mut git = Command::new("git");
        git.current_dir(folder)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.root.path())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_TERMINAL_PROMPT", "0");
        for who in ["AUTHOR", "COMMITTER"] {
            git.env(format!("GIT_{who}_NAME"), "Ann")
                .env(format!("GIT_{who}_EMAIL"), "ann@example.org");
        }
        git
    }

    /// Returns git tools that clone the repositories from `file://` URLs.
    pub(crate) fn files(&self) -> Git {
        Git::new()
            .host(&format!("file://{}", self.path("srv").display()))
            .unwrap()
            .author("Bot", "bot@example.org")
    }

    pub(crate) fn server(&self) -> Server {
        Server::start(&self.path("srv"), Some(TOKEN))
    }

    pub(crate) fn workspaces(&self) -> Workspaces {
        Workspaces::new(self.path("ws"))
    }

    pub(crate) fn cx(&self, git: Git) -> ToolContext {
        self.conversation(git, "c1", isolation())
    }

    pub(crate) fn conversation(&self, git: Git, id: &str, isolation: Isolation) -> ToolContext {
        ToolContext::builder()
            .workspace("acme")
            .conversation(id)
            .secret("github_token", SecretString::from(TOKEN))
            .with(self.workspaces())
            .with(isolation)
            .with(git)
            .build()
    }

    /// Returns the path of the workspace of the conversation `c1`.
    pub(crate) fn workspace(&self) -> PathBuf {
        self.path("ws/acme/conversations/c1")
    }

    /// Returns the path of the state that the host stores for the conversation `c1`.
    pub(crate) fn state(&self) -> PathBuf {
        self.path("ws/acme/git-state/c1")
    }

    /// Returns the path of the state of a clone.
    pub(crate) fn state_of(&self, clone: &Path) -> PathBuf {
        let mut names = clone.iter().rev().map(|name| name.to_str().unwrap());
        let (folder, owner) = (names.next().unwrap(), names.next().unwrap());
        self.state().join(format!("{owner}~{folder}"))
    }
}

/// Returns git tools that clone the repositories from a server.
pub(crate) fn http(server: &Server) -> Git {
    Git::new()
        .host(&server.base())
        .unwrap()
        .author("Bot", "bot@example.org")
}

pub(crate) async fn call(cx: &ToolContext, name: &str, arguments: Value) -> CallResult {
    let call = ToolCall::new("1", name, arguments.to_string());
    tools().call(call, cx).await
}

#[track_caller]
pub(crate) fn output(result: &CallResult) -> Value {
    match result.error() {
        Some(error) => panic!("{}; {}", error.model_text(), error.operator_text()),
        None => serde_json::from_str(result.output().unwrap().get()).unwrap(),
    }
}

pub(crate) async fn clone(cx: &ToolContext, repo: &str) -> PathBuf {
    let result = call(cx, "git_clone", serde_json::json!({ "repo": repo })).await;
    PathBuf::from(output(&result)["path"].as_str().unwrap())
}

/// Lists every file and folder below a folder with its mode.
pub(crate) fn tree(folder: &Path) -> BTreeMap<PathBuf, u32> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            // Git may remove a file while the folder is read.
            let Ok(meta) = entry.metadata() else {
                continue;
            };
            if meta.is_dir() {
                folders.push(entry.path());
            }
            found.insert(entry.path(), meta.permissions().mode() & 0o7777);
        }
    }
    found
}

/// Lists the files below a folder that contain a text, without following links.
pub(crate) fn holding(folder: &Path, text: &str) -> Vec<PathBuf> {
    let is_file = |path: &PathBuf| path.symlink_metadata().is_ok_and(|meta| meta.is_file());
    let files = tree(folder).into_keys().filter(is_file);
    files
        .filter(|path| {
            let bytes = fs::read(path).unwrap();
            let mut windows = bytes.windows(text.len());
            windows.any(|window| window == text.as_bytes())
        })
        .collect()
}

/// Writes an executable shell script.
pub(crate) fn script(path: &Path, lines: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, format!("#!/bin/sh\n{lines}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}
