//! Running calls, limits and client calls of tools that were renamed.

use std::time::Duration;

use serde_json::json;
use serde_json::value::to_raw_value;
use tool_core::limits::{Limit, Limits};
use tool_core::policy::SharedPolicy;
use tool_core::prelude::*;
use tool_core::store::{MemoryStore, Workspace};
use tool_core::turn::{ClientResult, ModelMessage, Turn, Turns};
use tool_core::{Audit, DynamicTool, ErrorKind, Gate, Rules, Switches};

use crate::support::{Mailbox, count, kind};

/// Sends a letter and never returns.
#[tool(alias = "send_letter")]
async fn post_letter(mailbox: &Mailbox) -> u64 {
    mailbox.send();
    std::future::pending().await
}

/// Sends a parcel and never returns.
#[tool(alias = "send_parcel")]
async fn post_parcel(mailbox: &Mailbox) -> u64 {
    mailbox.send();
    std::future::pending().await
}

fn cx(workspace: &str, mailbox: &Mailbox) -> ToolContext {
    let cx = ToolContext::builder().workspace(workspace).user("ann");
    cx.with(mailbox.clone()).build()
}

/// Starts a call of each tool in each workspace, cancels some of them with `cancel`, and checks that only the letter of `acme` ends.
async fn only_the_letter_of_acme_ends(gate: &Gate, rules: Rules, cancel: impl AsyncFnOnce()) {
    let mailbox = Mailbox::default();
    let registry = Registry::builder()
        .tool::<post_letter>()
        .tool::<post_parcel>();
    let registry = registry.build().unwrap();
    let mut calls = Vec::new();
    for (workspace, name) in [
        ("acme", "post_letter"),
        ("acme", "post_parcel"),
        ("globex", "post_letter"),
        ("globex", "post_parcel"),
    ] {
        let cx = cx(workspace, &mailbox);
        let tools = registry.toolset(&cx, &rules).through(gate);
        calls.push(tokio::spawn(async move {
            tools.call(ToolCall::new("c", name, "{}"), &cx).await
        }));
    }
    while mailbox.sent() < calls.len() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    cancel().await;
    let ended = tokio::time::timeout(Duration::from_secs(5), calls.remove(0));
    let ended = ended.await.expect("the call was not cancelled").unwrap();
    assert_eq!(kind(&ended), Some(ErrorKind::Cancelled), "{ended:?}");
    for call in calls {
        assert!(!call.is_finished());
        call.abort();
    }
}

// S1-43: a kill switch of the earlier name cancels the running calls of the renamed tool in its workspace
#[tokio::test]
async fn kill_switches_of_an_earlier_name_cancel_running_calls() {
    let gate = Gate::builder().build();
    let policy = SharedPolicy::default();
    only_the_letter_of_acme_ends(&gate, Rules::default().policy(&policy), async || {
        policy.kill("send_letter", Some("acme"));
    })
    .await;

    let switches = Switches::open(MemoryStore::default()).await.unwrap();
    only_the_letter_of_acme_ends(&gate, Rules::default().switches(&switches), async || {
        let acme = Workspace::new("acme");
        let kill = switches.kill("send_letter", Some(&acme), "olga", None);
        assert!(kill.await.unwrap());
    })
    .await;
}

// S1-43: `Gate::stop` cancels the running calls of a tool by its earlier name
#[tokio::test]
async fn stop_of_an_earlier_name_cancels_running_calls() {
    let gate = Gate::builder().build();
    only_the_letter_of_acme_ends(&gate, Rules::default(), async || {
        assert_eq!(gate.stop("send_letter", Some("acme")), 1);
    })
    .await;
}

// S1-43: a limit of the earlier name counts the calls of the renamed tool, and of no other tool
#[tokio::test]
async fn limit_of_an_earlier_name_counts_the_renamed_tool() {
    let quota = Limit::quota(1, Duration::from_hours(1)).tools(["tally"]);
    let gate = Gate::builder().limits(Limits::builder().limit(quota).build().unwrap());
    let gate = gate.audit(Audit::required(MemoryStore::default())).build();
    let one = || {
        DynamicTool::new(
            "one",
            "Returns the number one.",
            json!({"type": "object", "properties": {}, "additionalProperties": false}),
            |_: serde_json::Value, _| async { 1 },
        )
    };
    let registry = Registry::builder()
        .tool::<count>()
        .dynamic(one())
        .renamed("tally", "count");
    let tools = registry.build().unwrap().open().through(&gate);
    let call = async |name: &str, arguments: &str| {
        let result = tools
            .call(
                ToolCall::new("c", name, arguments),
                &cx("acme", &Mailbox::default()),
            )
            .await;
        kind(&result)
    };
    assert_eq!(call("count", r#"{"from":1}"#).await, None);
    assert_eq!(
        call("count", r#"{"from":1}"#).await,
        Some(ErrorKind::RateLimited)
    );
    assert_eq!(call("one", "{}").await, None);
}

// S1-43: the client's result of a call that was sent under the earlier name is accepted after the rename
#[tokio::test]
async fn result_of_a_client_call_is_accepted_after_the_rename() {
    let tools = |name: &str, alias: &str| {
        let empty = json!({"type": "object", "properties": {}, "additionalProperties": false});
        let color = json!({"type": "object", "properties": {"color": {"type": "string"}}, "required": ["color"]});
        let tool =
            DynamicTool::client(name, "Asks the user for a color.", empty, &color).alias(alias);
        Registry::builder().dynamic(tool).build().unwrap().open()
    };
    let (old, new) = (
        tools("ask_color", "older"),
        tools("ask_for_color", "ask_color"),
    );
    let turns = Turns::new(MemoryStore::default());
    for workspace in ["acme", "globex"] {
        let cx = ToolContext::builder()
            .workspace(workspace)
            .conversation("main")
            .build();
        let message = ModelMessage::calls([ToolCall::new("call_0", "ask_color", "{}")]);
        let message = turns.record(message, &cx).await.unwrap();
        let Turn::Client(calls) = turns.run(&old, &message, &cx).await.unwrap() else {
            panic!("the call is for the client")
        };
        let output = to_raw_value(&json!({"color": "red"})).unwrap();
        let answer = ClientResult::output(&*calls[0].id, output);
        let Turn::Complete(results) = turns.supply(&new, [answer], &cx).await.unwrap() else {
            panic!("the turn is complete")
        };
        assert_eq!(
            (&*results[0].name, &*results[0].text),
            ("ask_color", r#"{"color":"red"}"#)
        );
    }
}
