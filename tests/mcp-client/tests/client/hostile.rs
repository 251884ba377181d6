//! Tests of the tools and calls of a misbehaving MCP server.

use std::time::Duration;

use serde_json::json;
use tool_core::policy::{Condition, Policy, Rule};
use tool_core::prelude::*;
use tool_core::{Effect, ErrorKind, Gate, Rules};
use tool_mcp::client::{McpToolsError, Refusal, mcp_tools};

use crate::support::{Hostile, call, none, open, steps};

fn refusals(tools: &tool_mcp::McpTools, remote: &str) -> Vec<String> {
    let report = tools.report().tools().iter();
    let of = report.filter(|tool| tool.remote == remote);
    of.flat_map(|tool| tool.refusals.iter().map(ToString::to_string))
        .collect()
}

#[tokio::test]
async fn every_page_is_read_and_every_tool_reported() {
    let hostile = Hostile::start("").await;
    let tools = hostile.tools().await;
    assert_eq!(tools.server(), "hostile");
    assert_eq!(tools.report().tools().len(), 22);
    let offered: Vec<_> = tools.report().offered().map(|tool| &*tool.remote).collect();
    let expected = [
        "note", "stay", "hang", "die", "huge", "wrong", "leak", "odd", "steps", "read", "map",
        "any", "loose",
    ];
    assert_eq!(offered, expected);

    // Each refused tool is reported with the reason.
    let reason = |remote: &str, says: &str| {
        let found = refusals(&tools, remote);
        assert!(
            found.iter().any(|why| why.contains(says)),
            "{remote}: {found:?}"
        );
    };
    reason("dotted.name", "no provider accepts its name");
    reason("dotted/name", "no provider accepts its name");
    reason("twin", "the server's tool `twin` has the same local name");
    assert_eq!(refusals(&tools, "twin").len(), 2);
    reason("silent", "it has no description");
    reason("dangling", "schema cannot be used");
    reason("schemaless", "inputSchema");
    reason("listed", "is not a tool");
    reason("", "is not a tool");
    // The text of the report also names the refused tools.
    let said = tools.report().to_string();
    assert!(said.contains("`dotted.name`: refused"), "{said}");
}

#[tokio::test]
async fn report_names_the_providers_that_refuse_a_schema() {
    let hostile = Hostile::start("").await;
    let tools = hostile.tools().await;
    // OpenAI's strict mode accepts neither schema. The report lists OpenAI as left out, or the tool is refused.
    for remote in ["map", "any"] {
        let report = tools.report().get(remote).unwrap();
        assert!(!report.providers.contains(Dialect::OpenAi), "{report}");
        let told = report
            .left_out
            .iter()
            .any(|(dialect, _)| *dialect == Dialect::OpenAi);
        assert!(told || !report.refusals.is_empty(), "{report}");
    }
    // A tool whose output schema cannot be compiled is reported. It is refused if the host requires validated outputs.
    let loose = tools.report().get("loose").unwrap();
    assert!(loose.is_offered() && !loose.unheld.is_empty(), "{loose}");
    let held = mcp_tools(&hostile.client).hold_outputs().await.unwrap();
    let loose = held.report().get("loose").unwrap();
    assert!(
        matches!(&loose.refusals[..], [Refusal::Output(_)]),
        "{loose}"
    );
    assert!(held.report().get("wrong").unwrap().is_offered());
}

#[tokio::test]
async fn names_are_mapped_and_collisions_are_reported() {
    let hostile = Hostile::start("").await;
    let tools = mcp_tools(&hostile.client)
        .namespace("evil")
        .map_names()
        .await
        .unwrap();
    let first = tools.report().get("dotted.name").unwrap();
    assert_eq!(first.name.as_deref(), Some("evil:dotted_name"));
    let collision = Refusal::Collision("dotted/name".to_owned());
    assert_eq!(first.refusals, [collision]);
    let open = open(&tools);
    assert!(open.names().all(|name| name.starts_with("evil__")));
    // The request to the server contains the server's own name of the tool.
    let result = call(&open, "evil__note", json!({"text": "x"})).await;
    assert_eq!(result.model_text(), r#"{"text": "x"}"#);
    assert_eq!(hostile.got("tools/call")[0]["params"]["name"], "note");
}

#[tokio::test]
async fn invalid_or_endless_tool_lists_are_errors() {
    for (mode, says) in [
        ("endless", "more than"),
        ("circle", "the same cursor twice"),
        ("nolist", "no list"),
    ] {
        let hostile = Hostile::start(mode).await;
        let error = mcp_tools(&hostile.client).await.unwrap_err();
        assert!(error.to_string().contains(says), "{mode}: {error}");
    }
    let hostile = Hostile::start("mute").await;
    let load = mcp_tools(&hostile.client).list_timeout(Duration::from_millis(50));
    let error = load.await.unwrap_err();
    assert!(matches!(error, McpToolsError::Service(_)), "{error}");
}

#[tokio::test]
async fn effects_are_pessimistic_unless_the_host_trusts_hints() {
    let hostile = Hostile::start("").await;
    let plain = open(&hostile.tools().await);
    let everything = Effect::WRITE.union(Effect::DESTROY).union(Effect::EXTERNAL);
    for name in ["read", "note"] {
        let def = plain.get(name).unwrap();
        assert!(
            def.effect().contains(everything),
            "{name}: {}",
            def.effect()
        );
        assert!(!def.hints().read_only && def.hints().destructive);
    }
    // Because of these effects, a host's gate asks for approval unless a policy allows the call.
    let gate = Gate::builder().build();
    let registry = hostile
        .tools()
        .await
        .add_to(Registry::builder())
        .build()
        .unwrap();
    let asked = call(&registry.open().through(&gate), "read", none()).await;
    assert_eq!(asked.error().unwrap().kind(), ErrorKind::Pending);
    assert!(hostile.got("tools/call").is_empty());

    let trusted = open(&mcp_tools(&hostile.client).trust_hints().await.unwrap());
    let read = trusted.get("read").unwrap();
    assert!(read.hints().read_only && !read.hints().open_world && !read.hints().destructive);
    // The defaults of the protocol apply to a tool without hints.
    let note = trusted.get("note").unwrap().hints();
    assert!(!note.read_only && note.destructive && note.open_world && !note.idempotent);
    let stated = open(&mcp_tools(&hostile.client).read_only("note").await.unwrap());
    assert!(stated.get("note").unwrap().hints().read_only);
    assert!(!stated.get("read").unwrap().hints().read_only);
}

#[tokio::test]
async fn a_call_that_the_gate_refuses_never_reaches_the_server() {
    let hostile = Hostile::start("").await;
    let registry = hostile
        .tools()
        .await
        .add_to(Registry::builder())
        .build()
        .unwrap();
    let policy = Policy::builder()
        .rule(
            Rule::deny("d")
                .tools(["note"])
                .when(Condition::new("/text").prefix("secret")),
        )
        .rule(Rule::allow("a"))
        .share()
        .unwrap();
    let cx = ToolContext::anonymous();
    let tools = registry.toolset(&cx, &Rules::default().policy(&policy));
    let denied = call(&tools, "note", json!({"text": "secret"})).await;
    assert_eq!(denied.error().unwrap().kind(), ErrorKind::Denied);
    let wrong = call(&tools, "stay", json!({"more": 1})).await;
    assert_eq!(wrong.error().unwrap().kind(), ErrorKind::InvalidArguments);
    assert_eq!(call(&tools, "stay", none()).await.model_text(), "{}");
    let got = hostile.got("tools/call");
    assert_eq!(got.len(), 1, "{got:?}");
    assert_eq!(got[0]["params"]["name"], "stay");
}

#[tokio::test]
async fn dropped_or_timed_out_call_is_cancelled_at_the_server() {
    let hostile = Hostile::start("").await;
    let tools = mcp_tools(&hostile.client)
        .timeout(Duration::from_millis(80))
        .await
        .unwrap();
    let late = call(&open(&tools), "hang", none()).await;
    assert_eq!(late.error().unwrap().kind(), ErrorKind::TimedOut);
    let cancelled = hostile.until_got("notifications/cancelled").await;
    let asked = hostile.got("tools/call");
    assert_eq!(cancelled["params"]["requestId"], asked[0]["id"]);

    let tools = open(&mcp_tools(&hostile.client).timeout(None).await.unwrap());
    let token = tool_core::CancellationToken::new();
    let cx = ToolContext::builder().cancellation(token.clone()).build();
    let running = async { tools.call(ToolCall::new("c", "hang", "{}"), &cx).await };
    let cancel = async {
        while hostile.got("tools/call").len() < 2 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        token.cancel();
    };
    let (result, ()) = tokio::join!(running, cancel);
    assert_eq!(result.error().unwrap().kind(), ErrorKind::Cancelled);
    while hostile.got("notifications/cancelled").len() < 2 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // The connection still works.
    assert_eq!(call(&tools, "stay", none()).await.model_text(), "{}");
}

#[tokio::test]
async fn a_server_that_dies_is_unavailable() {
    let hostile = Hostile::start("").await;
    let tools = open(&hostile.tools().await);
    for name in ["die", "stay"] {
        let gone = call(&tools, name, none()).await;
        let error = gone.error().unwrap();
        assert_eq!(
            error.kind(),
            ErrorKind::Unavailable,
            "{}",
            error.operator_text()
        );
        assert!(error.model_text().contains("cannot be reached"));
    }
    assert!(mcp_tools(&hostile.client).await.is_err());
}

#[tokio::test]
async fn results_are_bounded_validated_and_hide_details() {
    let hostile = Hostile::start("").await;
    let tools = open(&hostile.tools().await);
    let huge = call(&tools, "huge", none()).await;
    let text = huge.error().unwrap().model_text();
    assert!(text.contains("8388608 bytes"), "{text}");
    let more = open(
        &mcp_tools(&hostile.client)
            .output_limit(9 << 20)
            .await
            .unwrap(),
    );
    assert_eq!(
        call(&more, "huge", none()).await.model_text().len(),
        8 << 20
    );

    let wrong = call(&tools, "wrong", none()).await;
    let text = wrong.error().unwrap().operator_text();
    assert!(text.contains("`/n`"), "{text}");

    let leak = call(&tools, "leak", none()).await;
    let error = leak.error().unwrap();
    assert!(
        !error.model_text().contains("hunter2"),
        "{}",
        error.model_text()
    );
    assert!(
        error.operator_text().contains("hunter2"),
        "{}",
        error.operator_text()
    );

    let odd = call(&tools, "odd", none()).await;
    assert_eq!(odd.error().unwrap().kind(), ErrorKind::Failed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn progress_arrives_in_order_before_the_result() {
    let hostile = Hostile::start("").await;
    let tools = open(&hostile.tools().await);
    let (told, result) = steps(&tools, "steps", none()).await;
    assert_eq!(result.model_text(), "done");
    let at: Vec<_> = told
        .iter()
        .map(|step| step["progress"].as_f64().unwrap())
        .collect();
    assert_eq!(at, (1..40).map(f64::from).collect::<Vec<_>>());
    assert_eq!(
        told[0],
        json!({"progress": 1.0, "total": 39.0, "message": "step 1"})
    );
    // The host's own ids of the call are not sent to the server.
    let meta = &hostile.got("tools/call")[0]["params"]["_meta"];
    assert_eq!(meta.as_object().unwrap().len(), 1, "{meta}");
}
