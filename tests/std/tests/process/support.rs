//! A place for commands.

use futures::StreamExt as _;
use serde_json::Value;
use tempfile::{TempDir, tempdir};
use tool_core::prelude::*;
use tool_std::isolate::Isolation;
use tool_std::process::{Commands, run_command};
use tool_std::workspace::Workspaces;

pub(crate) const HOST: &str = env!("CARGO_BIN_EXE_std-host");

pub(crate) fn commands() -> Commands {
    Commands::new(Isolation::new().helper(HOST))
}

/// A workspace and a way to call the tool in it.
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
