//! Helpers that start servers and import their tools.

use std::path::PathBuf;
use std::time::Duration;

use futures::StreamExt as _;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::Command;
use tool_core::Rules;
use tool_core::policy::{Policy, Rule};
use tool_core::prelude::*;
use tool_mcp::client::{McpClient, McpTools, mcp_tools};
use tool_mcp::rmcp::transport::TokioChildProcess;
use tool_mcp_client_tests::script;

pub(crate) async fn start(command: Command) -> McpClient {
    let (transport, _) = TokioChildProcess::builder(command)
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    McpClient::connect(transport).await.unwrap()
}

/// A client of the misbehaving server, and the log of the messages that the server received.
pub(crate) struct Hostile {
    pub(crate) client: McpClient,
    folder: TempDir,
}

impl Hostile {
    pub(crate) async fn start(mode: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new("python3");
        command
            .arg(script("hostile.py"))
            .env("HOSTILE", mode)
            .env("HOSTILE_LOG", folder.path().join("log"));
        Self {
            client: start(command).await,
            folder,
        }
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    /// Returns the messages that the server received with this method.
    pub(crate) fn got(&self, method: &str) -> Vec<Value> {
        let log = std::fs::read_to_string(self.log()).unwrap();
        let lines = log.lines().map(|line| serde_json::from_str(line).unwrap());
        lines
            .filter(|message: &Value| message["method"] == method)
            .collect()
    }

    /// Waits until the server has received a message with this method.
    pub(crate) async fn until_got(&self, method: &str) -> Value {
        loop {
            if let Some(message) = self.got(method).pop() {
                return message;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    pub(crate) async fn tools(&self) -> McpTools {
        mcp_tools(&self.client).await.unwrap()
    }
}

/// A client of a server whose tools and answers are listed in a file.
pub(crate) struct Listed {
    pub(crate) client: McpClient,
    _folder: TempDir,
}

impl Listed {
    pub(crate) async fn start(served: &Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("served.json");
        std::fs::write(&file, served.to_string()).unwrap();
        let mut command = Command::new("python3");
        command.arg(script("listed.py")).arg(file);
        Self {
            client: start(command).await,
            _folder: folder,
        }
    }
}

/// Opens a toolset with a policy that allows every offered tool.
pub(crate) fn open(tools: &McpTools) -> Toolset {
    let registry = tools.add_to(Registry::builder()).build().unwrap();
    let policy = Policy::builder().rule(Rule::allow("all")).share().unwrap();
    registry.toolset(&ToolContext::anonymous(), &Rules::default().policy(&policy))
}

pub(crate) async fn call(tools: &Toolset, name: &str, arguments: Value) -> CallResult {
    let call = ToolCall::new("c-1", name, arguments.to_string());
    tools.call(call, &ToolContext::anonymous()).await
}

/// Returns the progress steps of a call and its result.
pub(crate) async fn steps(
    tools: &Toolset,
    name: &str,
    arguments: Value,
) -> (Vec<Value>, CallResult) {
    let call = ToolCall::new("c-1", name, arguments.to_string());
    let cx = ToolContext::anonymous();
    let mut events = std::pin::pin!(tools.stream(call, &cx));
    let mut told = Vec::new();
    while let Some(event) = events.next().await {
        match event {
            ToolEvent::Started => {}
            ToolEvent::Progress(step) => told.push(serde_json::from_str(step.get()).unwrap()),
            ToolEvent::Done(result) => return (told, result),
        }
    }
    panic!("the stream has ended without a result")
}

pub(crate) fn payload(result: &CallResult) -> Value {
    let output = result
        .output()
        .unwrap_or_else(|| panic!("{:?}", result.error()));
    serde_json::from_str(output.get()).unwrap()
}

pub(crate) fn none() -> Value {
    json!({})
}
