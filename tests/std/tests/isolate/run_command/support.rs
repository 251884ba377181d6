//! Helpers for `run_command`: a workspace, and checks for leftover processes and folders.

use futures::StreamExt as _;
use serde_json::{Value, json};
use tempfile::{TempDir, tempdir};
use tool_core::prelude::*;
use tool_std::isolate::Isolation;
use tool_std::process::{Commands, run_command};
use tool_std::workspace::Workspaces;

use crate::mark::Mark;

pub(crate) const HOST: &str = env!("CARGO_BIN_EXE_std-host");

pub(crate) fn commands() -> Commands {
    Commands::new(Isolation::new().helper(HOST))
}

/// A workspace and the `run_command` tool in it.
pub(crate) struct Place {
    pub(crate) root: TempDir,
    pub(crate) commands: Commands,
}

impl Place {
    pub(crate) fn new(commands: Commands) -> Self {
        let root = tempdir().unwrap();
        Self { root, commands }
    }

    pub(crate) fn context(&self) -> ToolContext {
        ToolContext::builder()
            .workspace("acme")
            .conversation("c1")
            .with(Workspaces::new(self.root.path()))
            .with(self.commands.clone())
            .build()
    }

    pub(crate) async fn events(&self, arguments: Value) -> Vec<ToolEvent> {
        let tools = Registry::builder()
            .tool::<run_command>()
            .build()
            .unwrap()
            .open();
        let call = ToolCall::new("1", "run_command", arguments.to_string());
        tools.stream(call, &self.context()).collect().await
    }

    pub(crate) async fn result(&self, arguments: Value) -> CallResult {
        match self.events(arguments).await.pop() {
            Some(ToolEvent::Done(result)) => result,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn run(&self, arguments: Value) -> Value {
        let result = self.result(arguments).await;
        let output = result
            .output()
            .unwrap_or_else(|| panic!("{}", result.model_text()));
        serde_json::from_str(output.get()).unwrap()
    }

    pub(crate) async fn refused(&self, arguments: Value) -> String {
        self.result(arguments).await.error().unwrap().model_text()
    }
}

/// Runs hostile commands and checks that no process remains, that the memory has not grown, and that the next command succeeds.
pub(crate) async fn leaves_nothing(place: &Place, mark: &Mark, worst: &[String]) {
    place.run(json!({ "command": ["true"] })).await;
    let before = own_memory();
    for script in worst {
        place
            .run(json!({ "command": [script], "timeout_seconds": 2 }))
            .await;
    }
    assert_eq!(mark.mentioned(), 0);
    let grown = own_memory().saturating_sub(before);
    assert!(grown < 32 << 20, "{grown} bytes more than before");
    let output = place.run(json!({ "command": ["echo", "alive"] })).await;
    assert_eq!(output["stdout"], "alive\n");
}

/// Returns the resident memory of this process in bytes.
fn own_memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .unwrap();
    line.trim()
        .trim_end_matches(" kB")
        .parse::<usize>()
        .unwrap()
        << 10
}

/// Lists the folders of calls that remain in a `TMPDIR`.
pub(crate) fn left_in(path: &std::path::Path) -> Vec<String> {
    let names = std::fs::read_dir(path).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with("tool-std-")).collect()
}
