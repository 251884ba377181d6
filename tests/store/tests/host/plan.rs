//! The approval of a plan, which is different from the approval of a call.

use tool_core::prelude::*;
use tool_core::store::{
    ApprovalFilter, ApprovalKind, ApprovalStatus, ApprovalStore, Scope, ThreadId, ThreadStore,
};
use tool_core::turn::{ModelMessage, Outcome, Turns};
use tool_core::{Gate, Reply, Route};
use tool_store::SqliteStore;

use crate::support::{Script, approvals};

/// Returns a text and changes nothing.
#[tool(read_only)]
async fn look() -> &'static str {
    "nothing there"
}

// S2-19: the answer to a plan is stored and survives a restart. The model gets no request, and the thread is unchanged.
#[tokio::test]
async fn answer_to_a_plan_is_stored_without_a_model_call() {
    for reply in [Reply::Approve, Reply::Deny] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("state.db");
        let store = SqliteStore::open(&file).await.unwrap();
        let gate = Gate::builder()
            .approvals(approvals(&store))
            .ledger(store.clone())
            .build();
        let tools = toolset![look].through(&gate);
        let cx = ToolContext::builder()
            .workspace("acme")
            .user("ann")
            .conversation("main")
            .build();
        let turns = Turns::new(store.clone());
        let mut model = Script::new(vec![ModelMessage::calls([ToolCall::new(
            "c-1", "look", "{}",
        )])]);
        let driven = turns.drive(&mut model, |_| tools.clone(), &cx);
        assert!(matches!(driven.await.unwrap(), Outcome::Answered(text) if text == "done"));
        let thread = ThreadId::new("acme", "main").unwrap();
        let before = ThreadStore::read(&store, &thread, None).await.unwrap();
        assert_eq!((model.requests(), before.len()), (2, 3));

        let approvals = gate.approvals().unwrap();
        let plan = r#"{"steps":["look","pay"]}"#;
        let ticket = approvals.ask_plan(plan, &cx).await.unwrap();
        let workspace = "acme".into();
        let (answer, status) = match reply {
            Reply::Deny => (Reply::Deny, ApprovalStatus::Denied),
            _ => (Reply::Approve, ApprovalStatus::Approved),
        };
        let why = Some("only on weekdays");
        let route = approvals
            .answer(&workspace, &tools, &ticket.token, answer, "boss", why)
            .await
            .unwrap();
        assert_eq!(route, Route::Plan);
        // `drive` returns the model's last message again and sends no request.
        let driven = turns.drive(&mut model, |_| tools.clone(), &cx);
        assert!(matches!(driven.await.unwrap(), Outcome::Answered(text) if text == "done"));
        assert_eq!(model.requests(), 2);
        store.close().await;

        let store = SqliteStore::open(&file).await.unwrap();
        let rows = ApprovalStore::list(&store, Scope::All, &ApprovalFilter::default()).await;
        let [row] = &rows.unwrap()[..] else {
            panic!("one approval")
        };
        assert_eq!(
            (row.request.kind, row.status, row.request.arguments.as_str()),
            (ApprovalKind::Plan, status, plan)
        );
        let answer = row.answer.as_ref().unwrap();
        assert_eq!(
            (answer.approver.as_str(), answer.reason.as_deref()),
            ("boss", Some("only on weekdays"))
        );
        let after = ThreadStore::read(&store, &thread, None).await.unwrap();
        assert_eq!(after, before);
        store.close().await;
    }
}
