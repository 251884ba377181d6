//! The calls that each tool makes in a race.

use std::fs;

use serde_json::{Value, json};
use tool_core::ErrorKind;
use tool_core::prelude::*;
use tool_std::git::{Pusher, git_push};

use crate::scene::{Scene, text};
use crate::trial::{CANARY, UNNAMED};
use crate::world::{TOKEN, output, script};

/// A tool or an operation of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Actor {
    WriteFile,
    EditFile,
    RunCommand,
    HttpRequest,
    Commit,
    CreateBranch,
    SwitchBranch,
    DeleteBranch,
    Fetch,
    Push,
    Clone,
    // The following actors only read.
    ReadFile,
    ReadFileParts,
    ListDirectory,
    FindFiles,
    SearchFiles,
    Status,
    Diff,
    Log,
    HttpGet,
    FetchWebpage,
    SearchWeb,
}

use Actor as A;

/// The output of a call, or the error text for the operator.
pub(crate) type Outcome = Result<Value, String>;

/// One call of a race.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    pub(crate) actor: Actor,
    pub(crate) seat: usize,
    pub(crate) round: usize,
}

impl Actor {
    pub(crate) const ALL: [Self; 22] = [
        A::WriteFile,
        A::EditFile,
        A::RunCommand,
        A::HttpRequest,
        A::Commit,
        A::CreateBranch,
        A::SwitchBranch,
        A::DeleteBranch,
        A::Fetch,
        A::Push,
        A::Clone,
        A::ReadFile,
        A::ReadFileParts,
        A::ListDirectory,
        A::FindFiles,
        A::SearchFiles,
        A::Status,
        A::Diff,
        A::Log,
        A::HttpGet,
        A::FetchWebpage,
        A::SearchWeb,
    ];

    pub(crate) fn writes(self) -> bool {
        self < A::ReadFile
    }

    /// Returns whether the tool contacts the git server.
    pub(crate) fn is_remote(self) -> bool {
        matches!(self, A::Fetch | A::Push | A::Clone)
    }

    /// Returns whether the tool writes to the repository.
    pub(crate) fn writes_git(self) -> bool {
        self.writes() && self > A::HttpRequest
    }

    /// Returns whether the tool may change the file that all tools use.
    pub(crate) fn changes_file(self) -> bool {
        matches!(
            self,
            A::WriteFile | A::EditFile | A::RunCommand | A::SwitchBranch
        )
    }
}

impl Turn {
    /// Returns a name that no other call has.
    pub(crate) fn name(&self) -> String {
        format!("{}-{}", self.seat, self.round)
    }

    /// Returns the file that a commit of this call contains.
    pub(crate) fn own_file(&self) -> String {
        format!("own-{}", self.seat)
    }

    /// Returns the branch that this call uses.
    pub(crate) fn branch(&self) -> String {
        match self.actor {
            A::Fetch => format!("fetched-{}", self.seat),
            A::SwitchBranch => String::from("side"),
            actor => format!("{actor:?}-{}", self.name()),
        }
    }

    /// Creates the files and branches that the call needs.
    pub(crate) fn prepare(&self, scene: &Scene) {
        let (name, branch) = (self.name(), self.branch());
        match self.actor {
            A::Commit => fs::write(scene.clone.join(self.own_file()), &name).unwrap(),
            A::DeleteBranch | A::Push => drop(scene.git(&["branch", &branch, "main"])),
            A::Fetch => {
                let tree = scene.git_there(&["rev-parse", "main^{tree}"]);
                let commit = ["commit-tree", &tree, "-p", "main", "-m", &name];
                let commit = scene.git_there(&commit);
                let branch = format!("refs/heads/{branch}");
                scene.git_there(&["update-ref", &branch, &commit]);
            }
            A::RunCommand => {
                let home = scene.workspace();
                fs::write(
                    home.join(format!("from-{name}")),
                    text(&format!("command {name}")),
                )
                .unwrap();
                let lines = format!("mv from-{name} {} && echo {name}", scene.file().display());
                script(&home.join(format!("command-{name}")), &lines);
            }
            _ => {}
        }
    }

    fn arguments(&self, scene: &Scene) -> (&'static str, Value) {
        let (name, branch, seat) = (self.name(), self.branch(), self.seat);
        let (file, folder) = (scene.shown("README.md"), scene.shown(""));
        let repository = scene.clone.display().to_string();
        let on_branch = |action: &str| {
            (
                "git_branch",
                json!({ "path": repository, "action": action, "name": branch }),
            )
        };
        match self.actor {
            A::WriteFile => (
                "write_file",
                json!({ "path": file, "content": text(&format!("write {name}")) }),
            ),
            A::EditFile => (
                "edit_file",
                json!({ "path": file, "old_text": format!("slot-{seat}\n"), "new_text": format!("slot-{seat} by {name}\n") }),
            ),
            A::RunCommand => (
                "run_command",
                json!({ "command": ["sh", format!("command-{name}")] }),
            ),
            A::HttpRequest => (
                "http_request",
                json!({ "url": scene.url(&format!("/request/{name}")), "method": "POST", "body": json!(name).to_string() }),
            ),
            A::Commit => {
                // The first call commits all files, and the second call commits only its own file.
                let paths = (seat == 1).then(|| vec![self.own_file()]);
                (
                    "git_commit",
                    json!({ "path": repository, "message": format!("Commit {name}"), "paths": paths }),
                )
            }
            A::CreateBranch => on_branch("create"),
            A::SwitchBranch => on_branch("switch"),
            A::DeleteBranch => on_branch("delete"),
            A::Fetch => ("git_fetch", json!({ "path": repository, "branch": branch })),
            A::Push => ("git_push", json!({})),
            A::Clone => ("git_clone", json!({ "repo": "acme/site" })),
            A::ReadFile => ("read_file", json!({ "path": file })),
            A::ReadFileParts => (
                "read_file_parts",
                json!({ "parts": [{ "path": file, "start_line": 1, "end_line": 400 }] }),
            ),
            A::ListDirectory => ("list_directory", json!({ "path": folder, "hidden": true })),
            A::FindFiles => (
                "find_files",
                json!({ "path": folder, "pattern": "*", "hidden": true, "ignored": true }),
            ),
            A::SearchFiles => (
                "search_files",
                json!({ "path": folder, "pattern": "^slot-|canary|token", "hidden": true, "ignored": true }),
            ),
            A::Status => ("git_status", json!({ "path": repository })),
            A::Diff => ("git_diff", json!({ "path": repository })),
            A::Log => ("git_log", json!({ "path": repository, "limit": 5 })),
            A::HttpGet => (
                "http_get",
                json!({ "url": scene.url(&format!("/get/{name}")) }),
            ),
            A::FetchWebpage => (
                "fetch_webpage",
                json!({ "url": scene.url(&format!("/article/{name}")) }),
            ),
            A::SearchWeb => ("search_web", json!({ "query": name })),
        }
    }

    /// Calls the tool. Checks that the call did not panic and that its result contains no text from outside and no token.
    pub(crate) async fn call(&self, scene: &Scene) -> Outcome {
        let (tool, arguments) = self.arguments(scene);
        let shown = |told: &str| {
            for hidden in [CANARY, UNNAMED, TOKEN] {
                assert!(!told.contains(hidden), "{self:?}: {told}");
            }
        };
        if self.actor == A::Push {
            let git: Pusher = scene.cx.get().unwrap();
            let pushed = git_push(
                &git,
                None,
                scene.clone.display().to_string(),
                Some(self.branch()),
            );
            return match pushed.await {
                Ok(pushed) => Ok(serde_json::to_value(pushed).unwrap()),
                Err(error) => {
                    shown(&error.model_text());
                    Err(error.operator_text().clone())
                }
            };
        }
        let call = ToolCall::new(self.name(), tool, arguments.to_string());
        let result = scene.tools.call(call, &scene.cx).await;
        shown(&format!("{}{:?}", result.model_text(), result.output()));
        match result.error() {
            None => Ok(output(&result)),
            Some(error) => {
                let text = format!("{} ({})", error.model_text(), error.operator_text());
                let expected = [ErrorKind::Failed, ErrorKind::TimedOut];
                assert!(expected.contains(&error.kind()), "{self:?}: {text}");
                Err(text)
            }
        }
    }
}
