//! Tests with a server that uses the `mcp` package of `PyPI`, in both major versions of the package.

use serde_json::json;
use test_support::Ran;
use tokio::process::Command;
use tool_core::prelude::*;
use tool_core::{ErrorKind, Part};
use tool_mcp::client::mcp_tools;
use tool_mcp_client_tests::script;

use crate::support::{call, none, open, payload, start, steps};

async fn is_right(environment: &str) -> Ran {
    let python = test_support::python(environment)?;
    let mut command = Command::new(python);
    command.arg(script("notes.py"));
    let client = start(command).await;
    let tools = mcp_tools(&client).namespace("notes").await.unwrap();
    let report = tools.report();
    for suits in ["search", "add", "count", "fail", "picture"] {
        let tool = report.get(suits).unwrap();
        assert!(tool.is_offered() && tool.left_out.is_empty(), "{report}");
    }
    // The report lists the providers that refuse a map.
    let map = report.get("anything").unwrap();
    assert!(!map.providers.contains(Dialect::OpenAi), "{map}");
    assert!(
        map.left_out
            .iter()
            .any(|(dialect, _)| *dialect == Dialect::OpenAi),
        "{map}"
    );

    let tools = open(&tools);
    let found = call(&tools, "notes__search", json!({"query": "tea"})).await;
    assert_eq!(payload(&found)["result"].as_array().unwrap().len(), 3);
    assert_eq!(payload(&found)["result"][0]["title"], "tea 0");
    let few = call(
        &tools,
        "notes__search",
        json!({"query": "tea", "limit": 11}),
    )
    .await;
    assert_eq!(few.error().unwrap().issues()[0].pointer, "/limit");

    // The numbers have more digits than a double can represent.
    let sum = call(
        &tools,
        "notes__add",
        json!({"a": 9_007_199_254_740_993_u64, "b": 0}),
    )
    .await;
    assert_eq!(payload(&sum), json!({"result": 9_007_199_254_740_993_u64}));
    assert_eq!(sum.model_text(), "9007199254740993");

    let (told, result) = steps(&tools, "notes__count", json!({"to": 5})).await;
    assert_eq!(result.model_text(), "counted to 5");
    let told: Vec<_> = told
        .iter()
        .map(|step| step["message"].as_str().unwrap())
        .collect();
    assert_eq!(told, ["at 1", "at 2", "at 3", "at 4", "at 5"]);

    let failed = call(&tools, "notes__fail", none()).await;
    let error = failed.error().unwrap();
    assert_eq!(error.kind(), ErrorKind::Failed);
    assert!(
        error.model_text().contains("locked by another writer"),
        "{}",
        error.model_text()
    );

    let picture = call(&tools, "notes__picture", none()).await;
    let parts = picture.model_output().unwrap().to_parts();
    assert!(
        matches!(&parts[..], [Part::File { media_type, .. }] if media_type == "image/png"),
        "{parts:?}"
    );
    Ok(())
}

pub(crate) async fn version_1_case() -> Ran {
    is_right("mcp1").await
}

pub(crate) async fn version_2_case() -> Ran {
    is_right("mcp2").await
}
