//! Tests with the protocol's reference server `everything` from npm.

use serde_json::json;
use test_support::{Missing, Node, Ran};
use tokio::process::Command;
use tool_core::prelude::*;
use tool_core::{ErrorKind, Part};
use tool_mcp::client::{McpClient, mcp_tools};

use crate::support::{call, none, open, payload, start, steps};

async fn everything() -> Result<McpClient, Missing> {
    let node = Node::with("@modelcontextprotocol/server-everything")?;
    let mut command = Command::from(node.command());
    command
        .arg(node.package("@modelcontextprotocol/server-everything/dist/index.js"))
        .arg("stdio");
    Ok(start(command).await)
}

pub(crate) async fn everything_server_tools_and_results_are_converted_case() -> Ran {
    let client = everything().await?;
    let tools = mcp_tools(&client)
        .namespace("every")
        .trust_hints()
        .await
        .unwrap();
    let report = tools.report();
    assert_eq!(report.refused().count(), 0, "{report}");
    let structured = report.get("get-structured-content").unwrap();
    assert!(
        structured.unheld.is_empty() && structured.left_out.is_empty(),
        "{structured}"
    );
    let tools = open(&tools);
    assert!(tools.get("every__echo").unwrap().hints().read_only);
    assert!(
        !tools
            .get("every__toggle-simulated-logging")
            .unwrap()
            .hints()
            .destructive
    );

    let echo = call(&tools, "every__echo", json!({"message": "grüße"})).await;
    assert_eq!(echo.model_text(), "Echo: grüße");
    let sum = call(&tools, "every__get-sum", json!({"a": 2.5, "b": 40})).await;
    assert!(sum.model_text().contains("42.5"), "{}", sum.model_text());

    let weather = call(
        &tools,
        "every__get-structured-content",
        json!({"location": "Chicago"}),
    )
    .await;
    assert!(payload(&weather)["temperature"].is_number());

    let image = call(&tools, "every__get-tiny-image", none()).await;
    let parts = image.model_output().unwrap().to_parts();
    assert!(
        matches!(&parts[1], Part::File { media_type, .. } if media_type == "image/png"),
        "{parts:?}"
    );

    let links = call(&tools, "every__get-resource-links", json!({"count": 2})).await;
    assert!(
        links.model_text().contains("[resource `"),
        "{}",
        links.model_text()
    );
    let reference = json!({"resourceType": "Text", "resourceId": 1});
    let reference = call(&tools, "every__get-resource-reference", reference).await;
    assert!(
        reference
            .model_text()
            .contains("This is a plaintext resource"),
        "{}",
        reference.model_text()
    );

    // The model does not see content whose audience is only the user.
    let annotated = json!({"messageType": "success", "includeImage": true});
    let annotated = call(&tools, "every__get-annotated-message", annotated).await;
    let parts = annotated.model_output().unwrap().to_parts();
    assert!(
        parts.iter().all(|part| matches!(part, Part::Text { .. })),
        "{parts:?}"
    );
    assert_eq!(payload(&annotated).as_array().unwrap().len(), 2);

    let wrong = call(&tools, "every__get-sum", json!({"a": "two", "b": 1})).await;
    assert_eq!(wrong.error().unwrap().kind(), ErrorKind::InvalidArguments);
    // The server returns an error, because this tool runs only as a task, which its schema does not express.
    let task = call(
        &tools,
        "every__simulate-research-query",
        json!({"topic": "tea"}),
    )
    .await;
    assert!(task.is_error());
    Ok(())
}

pub(crate) async fn everything_server_progress_and_cancellation_work_case() -> Ran {
    let client = everything().await?;
    let tools = open(&mcp_tools(&client).trust_hints().await.unwrap());
    let long = json!({"duration": 0.3, "steps": 3});
    let (told, result) = steps(&tools, "trigger-long-running-operation", long).await;
    let at: Vec<_> = told
        .iter()
        .map(|step| step["progress"].as_f64().unwrap())
        .collect();
    assert_eq!(at, [1.0, 2.0, 3.0], "{}", result.model_text());
    assert_eq!(told[0]["total"], 3.0);

    let token = tool_core::CancellationToken::new();
    let cx = ToolContext::builder().cancellation(token.clone()).build();
    let hours = ToolCall::new(
        "c",
        "trigger-long-running-operation",
        r#"{"duration":3600,"steps":3600}"#,
    );
    let (cancelled, ()) = tokio::join!(tools.call(hours, &cx), async {
        tokio::task::yield_now().await;
        token.cancel();
    });
    assert_eq!(cancelled.error().unwrap().kind(), ErrorKind::Cancelled);
    let echo = call(&tools, "echo", json!({"message": "x"})).await;
    assert_eq!(echo.model_text(), "Echo: x");
    Ok(())
}
