//! Policies, limits and kill switches at the gate.

use std::sync::Arc;
use std::time::Duration;

use tool_core::limits::{Limit, LimitScope, Limits};
use tool_core::policy::{Policy, Rule, SharedPolicy};
use tool_core::prelude::*;
use tool_core::store::{AuditFilter, AuditSink, MemoryStore, Scope};
use tool_core::{ApprovalError, Approvals, Audit, ErrorKind, Gate, Reply, Rules};

use crate::support::{Host, Mailbox, count, kind, mail, send_mail, ticket};

/// Waits for the post.
#[tool]
async fn wait_for_post(mailbox: &Mailbox) -> Result<u8, ToolError> {
    mailbox.send();
    std::future::pending().await
}

fn ruled(store: &MemoryStore, policy: &SharedPolicy, cx: &ToolContext) -> Toolset {
    let registry = Registry::builder()
        .tool::<send_mail>()
        .tool::<count>()
        .tool::<wait_for_post>()
        .build()
        .unwrap();
    let gate = Gate::builder()
        .approvals(Approvals::builder(store.clone()).build().unwrap())
        .ledger(store.clone())
        .audit(Audit::required(store.clone()))
        .build();
    registry
        .toolset(cx, &Rules::default().policy(policy))
        .through(&gate)
}

fn share(rules: impl IntoIterator<Item = Rule>) -> SharedPolicy {
    Policy::builder().rules(rules).share().unwrap()
}

// M14, M5: a rule requires a four-eyes approval, and the audit row names its decision.
#[tokio::test]
async fn four_eyes_rule_asks_and_its_decision_is_recorded() {
    let host = Host::new();
    let cx = host.ann();
    let policy = share([Rule::ask("counting")
        .tools(["count"])
        .four_eyes()
        .reason("counting is delicate")]);
    let tools = ruled(&host.store, &policy, &cx);
    let call = || ToolCall::new("c-1", "count", r#"{"from":1}"#);
    let asked = ticket(&tools.call(call(), &cx).await);
    assert!(asked.four_eyes);
    assert_eq!(asked.reason.as_deref(), Some("counting is delicate"));

    let approvals = tools.gate().unwrap().approvals().unwrap();
    let own = approvals
        .answer(
            &"acme".into(),
            &tools,
            &asked.token,
            Reply::Approve,
            "ann",
            None,
        )
        .await;
    assert!(matches!(own, Err(ApprovalError::Store(_))), "{own:?}");
    approvals
        .answer(
            &"acme".into(),
            &tools,
            &asked.token,
            Reply::Approve,
            "bob",
            None,
        )
        .await
        .unwrap();
    assert_eq!(tools.resume(&asked.token, &cx).await.model_text(), "1");

    let rows = AuditSink::export(&host.store, Scope::All, &AuditFilter::default())
        .await
        .unwrap();
    let row = rows.iter().find(|row| row.tool == "count").unwrap();
    assert_eq!(row.approver.as_deref(), Some("bob"));
    let explained = policy.explain(row.decision.as_deref().unwrap()).unwrap();
    assert!(explained.contains("counting"), "{explained}");
    assert_eq!(row.policy.as_deref(), Some(policy.current().version()));
}

// M14: a kill switch cancels running calls and refuses pending calls.
#[tokio::test]
async fn kill_switch_cancels_running_calls_and_refuses_pending_calls() {
    let host = Host::new();
    let policy = share([Rule::allow("all")]);
    let cx = host.ann();
    let tools = Arc::new(ruled(&host.store, &policy, &cx));
    let running = {
        let (tools, cx) = (Arc::clone(&tools), cx.clone());
        tokio::spawn(async move {
            tools
                .call(ToolCall::new("c-1", "wait_for_post", "{}"), &cx)
                .await
        })
    };
    while host.mailbox.sent() == 0 {
        tokio::task::yield_now().await;
    }
    let pending = ticket(&tools.call(mail("c-2"), &cx).await);
    let approvals = tools.gate().unwrap().approvals().unwrap();
    approvals
        .answer(
            &"acme".into(),
            &tools,
            &pending.token,
            Reply::Approve,
            "boss",
            None,
        )
        .await
        .unwrap();

    policy.kill("wait_for_post", Some("globex"));
    tokio::time::sleep(Duration::from_millis(5)).await;
    assert!(
        !running.is_finished(),
        "the switch is of a different workspace"
    );
    policy.kill("wait_for_post", Some("acme"));
    policy.kill("send_mail", None);
    assert_eq!(kind(&running.await.unwrap()), Some(ErrorKind::Cancelled));
    let refused = tools.resume(&pending.token, &cx).await;
    assert_eq!(kind(&refused), Some(ErrorKind::UnknownTool), "{refused:?}");
    assert_eq!(host.mailbox.sent(), 1);
    policy.revive("send_mail", None);
    assert_eq!(
        tools.resume(&pending.token, &cx).await.model_text(),
        "sent to bob"
    );
}

#[tokio::test(start_paused = true)]
async fn rate_limited_call_reports_retry_after() {
    let limits = Limits::builder()
        .limit(Limit::quota(2, Duration::from_secs(30)).per(LimitScope::Principal))
        .build()
        .unwrap();
    let gate = Gate::builder().limits(limits).build();
    let tools = toolset![count].through(&gate);
    let host = Host::new();
    let call = async |user: &str| {
        let cx = host.of("acme", user, "th-1");
        tools
            .call(ToolCall::new("c-1", "count", r#"{"from":1}"#), &cx)
            .await
    };
    assert!(!call("ann").await.is_error() && !call("ann").await.is_error());
    let refused = call("ann").await;
    assert_eq!(kind(&refused), Some(ErrorKind::RateLimited));
    assert!(
        refused
            .error()
            .unwrap()
            .wait()
            .is_some_and(|wait| wait <= Duration::from_secs(30))
    );
    assert!(
        !call("bob").await.is_error(),
        "each user has a separate quota"
    );
    tokio::time::advance(Duration::from_secs(31)).await;
    assert!(!call("ann").await.is_error());
}
