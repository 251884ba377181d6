//! A workspace in a temporary folder, and the file tools on it.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tool_core::prelude::*;
use tool_std::fs::{
    Limits, edit_file, find_files, list_directory, read_file, read_file_parts, search_files,
    write_file,
};
use tool_std::workspace::Workspaces;

pub(crate) struct Place {
    root: tempfile::TempDir,
    pub(crate) tools: Toolset,
    pub(crate) cx: ToolContext,
    pub(crate) path: PathBuf,
}

/// Returns the seven file tools.
pub(crate) fn tools() -> Toolset {
    Registry::builder()
        .tool::<read_file>()
        .tool::<read_file_parts>()
        .tool::<write_file>()
        .tool::<edit_file>()
        .tool::<list_directory>()
        .tool::<find_files>()
        .tool::<search_files>()
        .build()
        .unwrap()
        .open()
}

impl Place {
    pub(crate) fn new() -> Self {
        Self::with(Limits::default(), |workspaces| workspaces)
    }

    pub(crate) fn limited(limits: Limits) -> Self {
        Self::with(limits, |workspaces| workspaces)
    }

    pub(crate) fn with(limits: Limits, allow: impl FnOnce(Workspaces) -> Workspaces) -> Self {
        let root = tempfile::tempdir().unwrap();
        let workspaces = allow(Workspaces::new(root.path().join("ws")));
        let workspace = workspaces.open("acme", "conv1").unwrap();
        workspace.dir().unwrap();
        let cx = ToolContext::builder()
            .workspace("acme")
            .conversation("conv1")
            .with(workspaces)
            .with(limits)
            .build();
        Self {
            root,
            tools: tools(),
            cx,
            path: workspace.path().to_owned(),
        }
    }

    /// Returns the folder with the root of the workspaces and the files outside of it.
    pub(crate) fn around(&self) -> &Path {
        self.root.path()
    }

    /// Writes a file to the workspace.
    pub(crate) fn put(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// Returns the content of a file in the workspace.
    pub(crate) fn holds(&self, path: &str) -> String {
        fs::read_to_string(self.path.join(path)).unwrap()
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> CallResult {
        let call = ToolCall::new("c", tool, arguments.to_string());
        self.tools.call(call, &self.cx).await
    }

    /// Returns the output of a call that succeeds.
    pub(crate) async fn ok(&self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments).await;
        match result.output() {
            Some(output) => serde_json::from_str(output.get()).unwrap(),
            None => panic!("{}", result.error().unwrap().operator_text()),
        }
    }

    /// Returns the error text for the model of a call that fails.
    pub(crate) async fn fails(&self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments).await;
        match result.error() {
            Some(error) => error.model_text(),
            None => panic!("{}", result.model_text()),
        }
    }
}
