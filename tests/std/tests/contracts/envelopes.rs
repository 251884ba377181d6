//! Results and failures in the form that hosts return.

use serde::de::DeserializeOwned;
use test_support::Ran;
use tool_contracts::fs::Written;
use tool_contracts::team::TaskResult;
use tool_contracts::{Envelope, Failure};
use tool_core::prelude::*;
use tool_core::{DynamicTool, ErrorKind};

/// Calls a tool that returns `payload`, and returns the envelope of the result.
fn envelope(payload: &'static str) -> String {
    let schema = serde_json::json!({
        "type": "object", "properties": {}, "required": [], "additionalProperties": false,
    });
    let tool = DynamicTool::new(
        "sample",
        "Returns a sample.",
        schema,
        move |_: serde_json::Value, _| async move {
            match payload.strip_prefix("error: ") {
                Some(text) => Err(ToolError::of(ErrorKind::Failed, text)),
                None => Ok(serde_json::from_str::<serde_json::Value>(payload)?),
            }
        },
    );
    let tools = Registry::builder().dynamic(tool).build().unwrap().open();
    let cx = ToolContext::anonymous();
    let call = tools.call(ToolCall::new("1", "sample", "{}"), &cx);
    futures::executor::block_on(call).envelope()
}

fn read<T: DeserializeOwned>(payload: &'static str) -> Result<T, Failure> {
    let text = envelope(payload);
    let envelope: Envelope<T> = serde_json::from_str(&text).unwrap_or_else(|error| {
        panic!("{error}: {text}");
    });
    envelope.into_result()
}

// S1-66, S2-24: clients read what a host writes: objects, other values, results with a key `success`, and failures.
pub(crate) fn results_and_failures_are_read_case() -> Ran {
    let written: Written = read(r#"{"path":"a.txt","size_bytes":2,"created":true}"#).unwrap();
    assert_eq!((&*written.path, written.size_bytes), ("a.txt", 2));
    let task: TaskResult =
        read(r#"{"success":false,"result":"no answer","toolsUsed":["add"]}"#).unwrap();
    assert!(!task.success && task.tools_used == ["add"]);
    assert_eq!(read::<Vec<u32>>("[1,2]"), Ok(vec![1, 2]));
    assert_eq!(read::<Option<u32>>("null"), Ok(None));
    let open = r#"{"result":1,"count":2}"#;
    let value: serde_json::Value = serde_json::from_str(open).unwrap();
    assert_eq!(read::<serde_json::Value>(open), Ok(value));
    let failure = read::<Written>("error: the file exists").unwrap_err();
    assert_eq!(failure.error, "the file exists");
    assert!(failure.variables_required.is_empty());
    Ok(())
}
