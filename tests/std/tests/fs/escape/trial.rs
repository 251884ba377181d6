//! A workspace next to watched files, and calls of every tool with a path.

use serde_json::{Value, json};
use tool_core::prelude::*;
use tool_std::fs::Limits;
use tool_std::workspace::Workspaces;

use super::outside::Outside;
use crate::place::Place;

/// The content of the files outside. `UNNAMED` is the name of a file that no path of the tests contains. No result may contain either text.
pub(crate) const CANARY: &str = "canary-3f9c";
pub(crate) const UNNAMED: &str = "unnamed-71be";

/// A workspace next to watched files.
pub(crate) struct Trial {
    pub(crate) place: Place,
    pub(crate) outside: Outside,
}

impl Trial {
    pub(crate) fn new() -> Self {
        Self::with(|workspaces| workspaces)
    }

    pub(crate) fn with(allow: impl FnOnce(Workspaces) -> Workspaces) -> Self {
        let place = Place::with(Limits::default(), allow);
        place.put("a/b/inside.txt", "inside\n");
        place.put("file", "inside\n");
        let outside = Outside::around(&place.path);
        Self { place, outside }
    }

    /// Calls every tool with one path. Checks that no result has content from outside, and that no file outside was accessed.
    pub(crate) async fn every_tool(&self, path: &str) -> Vec<CallResult> {
        let mut results = Vec::new();
        for (tool, arguments) in calls(path) {
            let result = self.place.call(tool, arguments).await;
            let message = format!("{}{:?}", result.model_text(), result.output());
            assert!(
                !message.contains(CANARY) && !message.contains(UNNAMED),
                "{tool} {path:?}: {message}"
            );
            self.outside.is_quiet(&format!("{tool} {path:?}"));
            results.push(result);
        }
        results
    }

    /// Calls every tool with a path that each tool must refuse.
    pub(crate) async fn refused(&self, path: &str) {
        for (result, (tool, _)) in self.every_tool(path).await.iter().zip(calls(path)) {
            assert!(
                result.is_error() || finds_nothing(result),
                "{tool} {path:?}: {}",
                result.model_text()
            );
        }
    }

    /// Checks that every tool refuses the paths of pipes, sockets and devices, and that searches do not return them.
    pub(crate) async fn refuses_special_files(&self, made: &[&str]) {
        // A read of a pipe without a writer never ends, so a tool that reads it would never return.
        for path in made {
            self.refused(path).await;
            self.refused(&format!("{path}/x")).await;
            assert!(
                !std::fs::symlink_metadata(self.place.path.join(path))
                    .unwrap()
                    .is_file(),
                "{path} was replaced"
            );
        }
        let out = self.place.ok("find_files", json!({"pattern": "*"})).await;
        assert_eq!(out["paths"], json!(["a/b/inside.txt", "file"]));
        let out = self.place.ok("search_files", json!({"pattern": "."})).await;
        assert_eq!((&out["matches"], &out["skipped"]), (&json!(2), &json!(0)));
    }
    pub(crate) fn is_untouched(&self) {
        self.outside.is_unchanged();
    }
}

/// Returns whether a search succeeded without a match. Such a search counts as refused.
fn finds_nothing(result: &CallResult) -> bool {
    let Some(output) = result.output() else {
        return false;
    };
    let output: Value = serde_json::from_str(output.get()).unwrap();
    output["paths"] == json!([]) || output["files"] == json!([])
}

/// Returns the calls of every tool with one path. An empty result does not prove that a tool listed no folder outside; the inotify watch proves it.
pub(crate) fn calls(path: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("read_file", json!({"path": path})),
        ("read_file", json!({"path": path, "tail": 3})),
        (
            "read_file_parts",
            json!({"parts": [{"path": path, "start_line": 1, "end_line": 9}]}),
        ),
        ("list_directory", json!({"path": path, "hidden": true})),
        (
            "find_files",
            json!({"path": path, "pattern": "**", "hidden": true, "ignored": true}),
        ),
        ("find_files", json!({"path": path, "pattern": "**"})),
        (
            "search_files",
            json!({"path": path, "pattern": ".", "hidden": true, "ignored": true}),
        ),
        (
            "search_files",
            json!({"path": path, "pattern": CANARY, "literal": true}),
        ),
        (
            "edit_file",
            json!({"path": path, "old_text": CANARY, "new_text": "gone"}),
        ),
        (
            "edit_file",
            json!({"path": path, "old_text": "a", "new_text": "gone", "replace_all": true}),
        ),
        (
            "write_file",
            json!({"path": path, "content": "gone", "overwrite": false}),
        ),
        ("write_file", json!({"path": path, "content": "gone"})),
    ]
}
