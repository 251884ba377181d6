//! A clone that tests attack, and calls of all tools and of plain git in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tool_core::prelude::*;
use tool_std::git::{Git, Pusher, git_push};
use tool_std::isolate::Isolation;

use crate::world::{World, call, clone, output, script};

/// A clone that a test attacks and restores to its original state.
pub(crate) struct Target {
    pub(crate) world: World,
    pub(crate) cx: ToolContext,
    pub(crate) clone: PathBuf,
}

impl Target {
    /// Clones a repository from a `file://` host.
    pub(crate) async fn new() -> Self {
        let world = World::new();
        let git = world.files();
        Self::with(world, git).await
    }

    pub(crate) async fn with(world: World, git: Git) -> Self {
        let cx = world.conversation(git, "c1", Isolation::GroupOnly);
        let clone = clone(&cx, "acme/site").await;
        // The attack starts this program. It records that it ran and copies its input to its output, so that git continues.
        let ran = world.path("ran");
        script(
            &world.path("evil/run"),
            &format!(
                "echo \"$0 $*\" >> {}\n[ -t 0 ] || timeout 1 cat",
                ran.display()
            ),
        );
        let spare = world.path("spare");
        let target = Self { world, cx, clone };
        copy(&target.clone, &spare);
        target
    }

    pub(crate) fn evil(&self) -> String {
        self.world.path("evil/run").display().to_string()
    }

    pub(crate) fn ran(&self) -> Option<String> {
        fs::read_to_string(self.world.path("ran")).ok()
    }

    /// Restores the original clone and adds uncommitted changes, so that every tool has work to do.
    pub(crate) fn restore(&self) {
        let _ = fs::remove_file(self.world.path("ran"));
        if self
            .clone
            .symlink_metadata()
            .is_ok_and(|meta| meta.is_symlink())
        {
            fs::remove_file(&self.clone).unwrap();
        } else {
            fs::remove_dir_all(&self.clone).unwrap();
        }
        copy(&self.world.path("spare"), &self.clone);
        fs::write(self.clone.join("README.md"), "# Changed\n").unwrap();
        fs::write(self.clone.join("new.txt"), "new\n").unwrap();
    }

    pub(crate) fn config(&self, text: &str) {
        let config = self.clone.join(".git/config");
        let before = fs::read_to_string(&config).unwrap();
        fs::write(config, format!("{before}{text}")).unwrap();
    }

    /// Calls every tool of the pack except `git_clone`, and returns the results.
    pub(crate) async fn everything(&self) -> Vec<(&'static str, Result<Value, String>)> {
        let path = self.clone.display().to_string();
        let mut said = Vec::new();
        for (name, more) in [
            ("git_status", json!({})),
            ("git_diff", json!({})),
            ("git_diff", json!({ "from": "HEAD", "staged": true })),
            ("git_log", json!({})),
            ("git_fetch", json!({})),
            ("git_branch", json!({ "action": "create", "name": "side" })),
            ("git_commit", json!({ "message": "Change" })),
            ("git_branch", json!({ "action": "switch", "name": "main" })),
            ("git_branch", json!({ "action": "list" })),
        ] {
            let mut arguments = json!({ "path": path });
            let more = more.as_object().unwrap().clone();
            arguments.as_object_mut().unwrap().extend(more);
            let result = call(&self.cx, name, arguments).await;
            let outcome = match result.error() {
                Some(error) => Err(error.model_text()),
                None => Ok(output(&result)),
            };
            said.push((name, outcome));
        }
        let git: Pusher = self.cx.get().unwrap();
        let pushed = git_push(&git, None, path, Some(String::from("main"))).await;
        let outcome = pushed
            .map(|pushed| serde_json::to_value(pushed).unwrap())
            .map_err(|error| error.model_text());
        said.push(("git_push", outcome));
        said
    }

    /// Runs plain git without protection, and ignores its result.
    pub(crate) fn plainly(&self, commands: &[&str]) {
        for command in commands {
            let mut git = self.world.command(&self.clone);
            git.args(command.split(' '));
            // `output` gives git no terminal, so git starts a program to ask for passwords.
            git.output().unwrap();
        }
    }
}

pub(crate) fn copy(from: &Path, to: &Path) {
    let done = Command::new("cp").arg("-a").args([from, to]).status();
    assert!(done.unwrap().success());
}
