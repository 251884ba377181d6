//! Tests of changes of a server's tools after the host has locked them.

use serde_json::json;
use tool_core::ErrorKind;
use tool_core::prelude::*;
use tool_mcp::McpServer;
use tool_mcp::client::{Facet, McpClient, McpLock, Refusal, mcp_tools};

use crate::support::{Hostile, call, none, open};

// M3: a changed tool is refused until the host accepts the change.
#[tokio::test]
async fn a_changed_tool_is_refused_until_it_is_accepted() {
    let hostile = Hostile::start("flip").await;
    let first = hostile.tools().await;
    assert!(first.drift().is_empty());
    let kept = serde_json::to_string(first.lock()).unwrap();
    let lock: McpLock = serde_json::from_str(&kept).unwrap();
    assert_eq!(&lock, first.lock());

    // The second list of the server has a different description of the tool.
    let mut second = mcp_tools(&hostile.client).lock(lock.clone()).await.unwrap();
    assert_eq!(second.drift().changed["note"], [Facet::Description]);
    assert_eq!(second.drift().added, ["new"]);
    assert_eq!(second.drift().removed, ["stay"]);
    let said = second.drift().to_string();
    assert!(
        said.contains("`note` has a different description"),
        "{said}"
    );
    let refusals = |tools: &tool_mcp::McpTools, remote: &str| {
        let report = tools.report().get(remote).unwrap();
        report.refusals.clone()
    };
    assert_eq!(
        refusals(&second, "note"),
        [Refusal::Changed(vec![Facet::Description])]
    );
    assert_eq!(refusals(&second, "new"), [Refusal::New]);
    assert!(open(&second).get("note").is_none() && open(&second).get("new").is_none());
    assert!(open(&second).get("leak").is_some());
    // Reading a list does not accept its changes.
    assert_eq!(second.lock(), &lock);
    let again = mcp_tools(&hostile.client)
        .lock(second.lock().clone())
        .await
        .unwrap();
    assert!(open(&again).get("note").is_none());

    assert!(second.accept("note") && !second.accept("note"));
    assert!(open(&second).get("note").is_some() && open(&second).get("new").is_none());
    assert!(second.accept("stay") && second.lock().get("stay").is_none());
    let third = mcp_tools(&hostile.client)
        .lock(second.lock().clone())
        .await
        .unwrap();
    assert_eq!(
        (third.drift().added.len(), third.drift().changed.len()),
        (1, 0)
    );
    second.accept_all();
    assert!(open(&second).get("new").is_some() && second.drift().is_empty());
}

// M3: an empty lock offers no tool of the server.
#[tokio::test]
async fn empty_lock_offers_no_tool() {
    let hostile = Hostile::start("").await;
    let mut tools = mcp_tools(&hostile.client)
        .lock(McpLock::default())
        .await
        .unwrap();
    assert_eq!(tools.report().offered().count(), 0);
    assert!(tools.accept("stay"));
    assert_eq!(open(&tools).names().collect::<Vec<_>>(), ["stay"]);
    assert!(!tools.accept("nobody"));
}

// M3: a tool that changes while the snapshot is in use is refused.
#[tokio::test]
async fn tool_changed_after_the_snapshot_is_refused() {
    let hostile = Hostile::start("").await;
    let tools = hostile.tools().await;
    let open = open(&tools);
    let first = call(&open, "note", json!({"text": "change"})).await;
    assert_eq!(first.model_text(), "changed");
    tools.changed().await;
    assert!(tools.is_stale().await);
    let second = call(&open, "note", json!({"text": "x"})).await;
    let error = second.error().unwrap();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(
        error.model_text().contains("changed"),
        "{}",
        error.model_text()
    );
    assert!(
        error.operator_text().contains("description"),
        "{}",
        error.operator_text()
    );
    let gone = call(&open, "stay", none()).await;
    assert_eq!(gone.error().unwrap().kind(), ErrorKind::Unavailable);
    // Unchanged tools still work.
    assert_eq!(call(&open, "read", none()).await.model_text(), "{}");
    assert_eq!(hostile.got("tools/call").len(), 2);
    assert!(!tools.is_stale().await);
}

// M3: a client that receives no notifications can request the list again.
#[tokio::test]
async fn client_without_notifications_rechecks_the_server() {
    let hostile = Hostile::start("").await;
    let tools = mcp_tools(hostile.client.peer()).await.unwrap();
    let open = open(&tools);
    call(&open, "note", json!({"text": "change"})).await;
    let drift = tools.recheck().await.unwrap();
    assert_eq!(drift.changed["note"], [Facet::Description]);
    let second = call(&open, "note", json!({"text": "x"})).await;
    assert_eq!(second.error().unwrap().kind(), ErrorKind::Unavailable);
}

fn described(description: &str) -> Registry {
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let run = |_: serde_json::Value, _cx| async { "done" };
    let tool = tool_core::DynamicTool::new("greet", description, schema, run).read_only();
    Registry::builder().dynamic(tool).build().unwrap()
}

// M3: a server of this project announces its changes in both protocol versions.
#[tokio::test]
async fn own_server_announces_changes_in_both_protocol_versions() {
    for era in crate::own::eras() {
        let server = McpServer::builder(described("Greets."))
            .name("greeter")
            .build();
        let client = crate::own::connect(&server, era.clone()).await;
        let tools = mcp_tools(&client).trust_hints().await.unwrap();
        let open = open(&tools);
        assert_eq!(call(&open, "greet", none()).await.model_text(), "done");
        server
            .replace_tools(described("Greets, and says where you are."))
            .await;
        tools.changed().await;
        let refused = call(&open, "greet", none()).await;
        assert_eq!(
            refused.error().unwrap().kind(),
            ErrorKind::Unavailable,
            "{era:?}"
        );
    }
}

// The tools keep the connection open, so they work after the client that listed them is dropped.
#[tokio::test]
async fn tools_work_after_their_client_is_dropped() {
    let server = McpServer::builder(described("Greets."))
        .name("greeter")
        .build();
    let client: McpClient = crate::own::connect(&server, crate::own::eras()[0].clone()).await;
    let open = open(&mcp_tools(&client).trust_hints().await.unwrap());
    drop(client);
    assert_eq!(call(&open, "greet", none()).await.model_text(), "done");
}
