//! A workspace with watched files on all sides, and the calls of every tool on a path.

use serde_json::{Value, json};
use tool_core::prelude::*;
use tool_std::fs::Limits;
use tool_std::workspace::Workspaces;

use super::outside::Outside;
use crate::place::Place;

/// Content of the files outside, and the name of one that no test path contains. Neither may appear in a result.
pub(crate) const CANARY: &str = "canary-3f9c";
pub(crate) const UNNAMED: &str = "unnamed-71be";

/// A workspace with watched files on all sides.
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

    /// Calls every tool on one path. No result may show anything outside, and nothing outside may be touched.
    pub(crate) async fn every_tool(&self, path: &str) -> Vec<CallResult> {
        let mut results = Vec::new();
        for (tool, arguments) in calls(path) {
            let result = self.place.call(tool, arguments).await;
            let told = format!("{}{:?}", result.model_text(), result.output());
            assert!(
                !told.contains(CANARY) && !told.contains(UNNAMED),
                "{tool} {path:?}: {told}"
            );
            self.outside.is_quiet(&format!("{tool} {path:?}"));
            results.push(result);
        }
        results
    }

    /// Calls every tool on a path that each must refuse.
    pub(crate) async fn refused(&self, path: &str) {
        for (result, (tool, _)) in self.every_tool(path).await.iter().zip(calls(path)) {
            assert!(
                result.is_error() || finds_nothing(result),
                "{tool} {path:?}: {}",
                result.model_text()
            );
        }
    }

    /// Calls every tool on pipes, sockets and devices; none may wait for one.
    pub(crate) async fn refuses_special_files(&self, made: &[&str]) {
        // A pipe without a writer never ends, so a tool that waited for it would never return.
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

/// A search pattern that names something outside is not an error; it only finds nothing.
fn finds_nothing(result: &CallResult) -> bool {
    let Some(output) = result.output() else {
        return false;
    };
    let output: Value = serde_json::from_str(output.get()).unwrap();
    output["paths"] == json!([]) || output["files"] == json!([])
}

/// Returns the calls of every tool with one path. No call searches only outside, so an empty result proves nothing by itself; the inotify watch does.
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
