//! Approvals of calls and plans, from the request to the answer and the resumed call.

use std::time::Duration;

use tool_core::prelude::*;
use tool_core::store::{ApprovalFilter, ApprovalStatus, MemoryStore, Scope, ThreadId, Workspace};
use tool_core::turn::{ModelMessage, Turn, Turns};
use tool_core::{ApprovalError, Approvals, DynamicTool, ErrorKind, Gate, Reply, Route};

use crate::support::{Host, Mailbox, count, kind, mail, pay, placed, send_mail, thread, ticket};

// S2-11, S2-12, S3-15: a call that needs approval, by flag or by predicate, waits and runs nothing.
#[tokio::test]
async fn call_that_requires_approval_waits_and_does_not_run() {
    let host = Host::new();
    let result = host.tools.call(mail("c-1"), &host.ann()).await;
    let ticket = ticket(&result);
    assert_eq!(
        ticket.arguments, r#"{"copies":1,"to":"bob"}"#,
        "the arguments have their defaults and are sorted by name"
    );
    assert_eq!(
        (
            ticket.tool.as_str(),
            ticket.call.as_str(),
            ticket.thread.as_deref()
        ),
        ("send_mail", "c-1", Some("th-1"))
    );
    assert_eq!(
        result.model_text(),
        "the call must be approved by a person first"
    );
    assert_eq!(host.mailbox.sent(), 0);

    // The predicate reads typed arguments.
    let small = host
        .tools
        .call(
            ToolCall::new("c-2", "pay", r#"{"amount":100}"#),
            &host.ann(),
        )
        .await;
    assert_eq!(small.model_text(), "100");
    let large = host
        .tools
        .call(
            ToolCall::new("c-3", "pay", r#"{"amount":101}"#),
            &host.ann(),
        )
        .await;
    assert_eq!(kind(&large), Some(ErrorKind::Pending));
    assert_eq!(host.mailbox.sent(), 1);

    // No approval is requested for invalid arguments.
    let wrong = host
        .tools
        .call(
            ToolCall::new("c-4", "send_mail", r#"{"to":7,"copies":9}"#),
            &host.ann(),
        )
        .await;
    assert_eq!(kind(&wrong), Some(ErrorKind::InvalidArguments));
    let filter = ApprovalFilter::default();
    assert_eq!(
        host.approvals()
            .list(Scope::All, &filter)
            .await
            .unwrap()
            .len(),
        2
    );
}

// A dynamic tool receives the number that the approval shows; a large number that its handler would receive rounded is refused before an approval is
// requested.
#[tokio::test]
async fn dynamic_tool_receives_the_approved_number() {
    let host = Host::new();
    let tool = DynamicTool::new(
        "transfer",
        "Transfers an amount.",
        serde_json::json!({
            "type": "object",
            "properties": {"amount": {"type": "number", "description": "The amount to pay."}},
            "required": ["amount"],
            "additionalProperties": false
        }),
        |arguments: serde_json::Value, _| async move {
            Ok::<_, ToolError>(arguments["amount"].to_string())
        },
    )
    .approval(tool_core::Approval::Always);
    let registry = Registry::builder().dynamic(tool).build().unwrap();
    let tools = registry.open().through(&host.gate);
    let call =
        |id: &str, amount: &str| ToolCall::new(id, "transfer", format!(r#"{{"amount":{amount}}}"#));
    for (id, amount, approved, ran) in [
        (
            "c-1",
            "18446744073709551615",
            "18446744073709551615",
            "18446744073709551615",
        ),
        (
            "c-2",
            "122.41629403378658",
            "122.41629403378658",
            "122.41629403378658",
        ),
        ("c-3", "1.50e2", "150", "150"),
        // No double has so many digits, so the nearest double is approved.
        (
            "c-4",
            "122.416294033786585",
            "122.41629403378658",
            "122.41629403378658",
        ),
    ] {
        let result = tools.call(call(id, amount), &host.ann()).await;
        let ticket = ticket(&result);
        assert_eq!(ticket.arguments, format!(r#"{{"amount":{approved}}}"#));
        let answer = host.approvals();
        let acme = host.ann().own_workspace();
        let answer = answer.answer(&acme, &tools, &ticket.token, Reply::Approve, "boss", None);
        answer.await.unwrap();
        let result = tools.resume(&ticket.token, &host.ann()).await;
        assert_eq!(result.model_text(), ran);
    }
    let asked = host
        .approvals()
        .list(Scope::All, &ApprovalFilter::default())
        .await;
    let asked = asked.unwrap().len();
    for (id, amount) in [
        ("c-5", "12345678901234567890123"),
        ("c-6", "100000000000000000.9"),
    ] {
        let result = tools.call(call(id, amount), &host.ann()).await;
        assert_eq!(kind(&result), Some(ErrorKind::InvalidArguments), "{amount}");
        let text = result.model_text();
        assert!(
            text.contains("/amount") && text.contains("exactly"),
            "{text}"
        );
        assert!(text.contains(amount), "{text}");
    }
    let later = host
        .approvals()
        .list(Scope::All, &ApprovalFilter::default())
        .await;
    assert_eq!(later.unwrap().len(), asked);
}

// S3-15: a dynamic tool that requires an approval waits for it, and other dynamic tools run immediately.
#[tokio::test]
async fn dynamic_tool_that_requires_approval_waits() {
    let host = Host::new();
    let tool = |name: &str| {
        DynamicTool::new(
            name,
            "Runs.",
            serde_json::json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false}),
            |_: serde_json::Value, _| async { Ok::<_, ToolError>("ran") },
        )
    };
    let registry = Registry::builder()
        .dynamic(tool("remote").approval(tool_core::Approval::Always))
        .dynamic(tool("plain"))
        .build()
        .unwrap();
    let plain = registry.open().through(&host.gate);
    let plain = plain
        .call(ToolCall::new("c-0", "plain", "{}"), &host.ann())
        .await;
    assert_eq!(plain.model_text(), "ran");
    let tools = registry.open().through(&host.gate);
    let result = tools
        .call(ToolCall::new("c-1", "remote", "{}"), &host.ann())
        .await;
    let token = ticket(&result).token;
    host.approvals()
        .answer(&"acme".into(), &tools, &token, Reply::Approve, "boss", None)
        .await
        .unwrap();
    assert_eq!(tools.resume(&token, &host.ann()).await.model_text(), "ran");
}

// S2-13, S2-16, M5: an approved call runs once, and its approval is answered once.
#[tokio::test]
async fn approved_call_runs_once() {
    let host = Host::new();
    let ticket = host.asked().await;
    host.approve(&ticket).await;

    let result = host.tools.resume(&ticket.token, &host.ann()).await;
    assert_eq!(result.model_text(), "sent to bob");
    assert_eq!((result.id(), host.mailbox.sent()), ("c-1", 1));

    // Submitting the call again, by token or by call, returns the stored result and sends no second mail.
    let again = host.tools.resume(&ticket.token, &host.ann()).await;
    assert!(again.is_replayed());
    assert_eq!(again.model_text(), "sent to bob");
    let again = host.tools.call(mail("c-1"), &placed(&host.ann(), 1)).await;
    assert!(again.is_replayed(), "{again:?}");
    assert_eq!(host.mailbox.sent(), 1);

    // The approval cannot be answered again, and an unknown id is invalid.
    let error = host
        .approvals()
        .answer(
            &"acme".into(),
            &host.tools,
            &ticket.token,
            Reply::Deny,
            "boss",
            None,
        )
        .await;
    assert!(matches!(error, Err(ApprovalError::Store(_))), "{error:?}");
    let error = host
        .approvals()
        .answer_id(
            &"acme".into(),
            &host.tools,
            "unknown",
            Reply::Approve,
            "boss",
            None,
        )
        .await;
    assert!(matches!(error, Err(ApprovalError::Invalid)), "{error:?}");
}

/// A break between two tasks.
#[derive(Debug, StrictSchema)]
struct Break {
    /// The length of the break.
    wait: Duration,
    /// The time before the break.
    #[schema(default = "PT1S")]
    lead: Duration,
}

/// Takes breaks from work.
#[tool(approval = |call: &take_breaks, _: &ToolContext| call.breaks.iter().any(|one| one.wait > Duration::from_mins(1)))]
async fn take_breaks(
    mailbox: &Mailbox,
    /// The breaks to take.
    breaks: Vec<Break>,
    /// The length of the last break.
    #[arg(default = "PT2S")]
    last: Duration,
) -> Result<String, ToolError> {
    mailbox.send();
    let sum: Duration = breaks.iter().map(|one| one.wait + one.lead).sum();
    Ok(format!("{} s", (sum + last).as_secs()))
}

// S2-12, S2-13: the approver reads and edits a duration as ISO 8601 text; the predicate and the tool get a `Duration`
#[tokio::test]
async fn an_approved_call_with_a_duration_runs() {
    let mut host = Host::new();
    host.tools = toolset![take_breaks].through(&host.gate);
    let call = |id: &str, wait: &str| {
        let arguments = format!(r#"{{"breaks":[{{"wait":"{wait}"}}]}}"#);
        ToolCall::new(id, "take_breaks", arguments)
    };
    let short = host.tools.call(call("c-1", "PT1M"), &host.ann()).await;
    assert_eq!(short.model_text(), "63 s");

    let long = host.tools.call(call("c-2", "PT2M"), &host.ann()).await;
    let ticket = ticket(&long);
    assert_eq!(
        ticket.arguments,
        r#"{"breaks":[{"lead":"PT1S","wait":"PT2M"}],"last":"PT2S"}"#
    );
    let edit = Reply::Edit(r#"{"breaks":[{"wait":"PT3M","lead":null}],"last":null}"#.to_owned());
    host.approvals()
        .answer(
            &"acme".into(),
            &host.tools,
            &ticket.token,
            edit,
            "boss",
            None,
        )
        .await
        .unwrap();
    let result = host.tools.resume(&ticket.token, &host.ann()).await;
    assert_eq!(result.model_text(), "183 s");
    assert_eq!(host.mailbox.sent(), 2);
}

// S2-17: the model reads a denial with its reason, and the call does not request a second approval.
#[tokio::test]
async fn a_denial_reaches_the_model_with_its_reason() {
    let host = Host::new();
    let ticket = host.asked().await;
    let route = host
        .approvals()
        .answer(
            &"acme".into(),
            &host.tools,
            &ticket.token,
            Reply::Deny,
            "boss",
            Some("bob has left"),
        )
        .await
        .unwrap();
    assert_eq!(
        route,
        Route::Call {
            thread: Some(thread("th-1"))
        }
    );
    let result = host.tools.resume(&ticket.token, &host.ann()).await;
    assert_eq!(kind(&result), Some(ErrorKind::Denied));
    assert_eq!(
        result.model_text(),
        "a person has denied the call: bob has left"
    );
    let result = host.tools.call(mail("c-1"), &placed(&host.ann(), 1)).await;
    assert_eq!(
        kind(&result),
        Some(ErrorKind::Denied),
        "the call does not request a second approval"
    );
    assert_eq!(host.mailbox.sent(), 0);
}

#[tokio::test]
async fn the_approver_may_change_the_arguments() {
    let host = Host::new();
    let ticket = host.asked().await;
    let edit = |text: &str| Reply::Edit(text.to_owned());
    let wrong = host
        .approvals()
        .answer(
            &"acme".into(),
            &host.tools,
            &ticket.token,
            edit(r#"{"to":"eve","copies":7}"#),
            "boss",
            None,
        )
        .await;
    let Err(ApprovalError::Edit(error)) = wrong else {
        panic!("{wrong:?}")
    };
    assert_eq!(error.issues()[0].pointer, "/copies");

    host.approvals()
        .answer(
            &"acme".into(),
            &host.tools,
            &ticket.token,
            edit(r#"{"to":"eve","copies":2}"#),
            "boss",
            None,
        )
        .await
        .unwrap();
    let result = host.tools.resume(&ticket.token, &host.ann()).await;
    assert_eq!(result.model_text(), "sent to eve");
    assert_eq!(host.mailbox.sent(), 2);
}

// S2-19, S2-20: the answer to a plan is stored, its route is `Route::Plan`, and the plan's token runs no call.
#[tokio::test]
async fn answered_plan_runs_no_call() {
    let host = Host::new();
    let ticket = host
        .approvals()
        .ask_plan(r#"{"steps":["look","pay"]}"#, &host.ann())
        .await
        .unwrap();
    let route = host
        .approvals()
        .answer(
            &"acme".into(),
            &host.tools,
            &ticket.token,
            Reply::Approve,
            "boss",
            None,
        )
        .await
        .unwrap();
    assert_eq!(route, Route::Plan);
    let row = host
        .approvals()
        .list(Scope::All, &ApprovalFilter::default())
        .await
        .unwrap()
        .remove(0);
    assert_eq!(row.status, ApprovalStatus::Approved);
    // The approval of a plan does not approve a call.
    let result = host.tools.resume(&ticket.token, &host.ann()).await;
    assert_eq!(kind(&result), Some(ErrorKind::Denied));
}

// S2-14, S2-15: `waiting` lists the unanswered approvals of a conversation.
#[tokio::test]
async fn waiting_lists_the_unanswered_approvals_of_a_conversation() {
    let host = Host::new();
    let cx = host.ann();
    let first = ticket(&host.tools.call(mail("c-1"), &cx).await);
    let second = ticket(&host.tools.call(mail("c-2"), &cx).await);
    host.approve(&first).await;
    let waiting = host.approvals().waiting(&thread("th-1")).await.unwrap();
    assert_eq!(
        waiting
            .iter()
            .map(|ticket| ticket.call.as_str())
            .collect::<Vec<_>>(),
        ["c-2"]
    );
    host.approve(&second).await;
    assert!(
        host.approvals()
            .waiting(&thread("th-1"))
            .await
            .unwrap()
            .is_empty()
    );
    assert!(
        host.approvals()
            .waiting(&ThreadId::new("globex", "th-1").unwrap())
            .await
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn approvals_are_listed_assigned_and_denied_in_bulk() {
    let host = Host::new();
    let mut ids = Vec::new();
    for user in ["ann", "cid"] {
        let result = host
            .tools
            .call(mail("c-1"), &placed(&host.of("acme", user, user), 1))
            .await;
        ids.push(ticket(&result).id);
    }
    let approvals = host.approvals();
    approvals
        .assign(&"acme".into(), &ids[0], Some("olga"))
        .await
        .unwrap();
    let olgas = ApprovalFilter {
        assignee: Some("olga".to_owned()),
        ..ApprovalFilter::default()
    };
    let rows = approvals.list(Scope::All, &olgas).await.unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].request.principal, "ann");
    let tools = ApprovalFilter {
        tool: Some("send_mail".to_owned()),
        ..ApprovalFilter::default()
    };
    assert_eq!(
        approvals
            .deny_all(&"acme".into(), &tools, "olga", Some("not today"))
            .await
            .unwrap(),
        2
    );
    let result = host
        .tools
        .call(mail("c-1"), &placed(&host.of("acme", "cid", "cid"), 1))
        .await;
    assert_eq!(
        result.model_text(),
        "a person has denied the call: not today"
    );
}

#[tokio::test]
async fn expired_approval_is_refused() {
    let store = MemoryStore::default();
    let approvals = Approvals::builder(store)
        .wait(Duration::from_millis(30))
        .build()
        .unwrap();
    let gate = Gate::builder().approvals(approvals).build();
    let host = Host::new();
    let tools = toolset![send_mail, pay, count].through(&gate);
    let ticket = ticket(&tools.call(mail("c-1"), &host.ann()).await);
    gate.approvals()
        .unwrap()
        .answer(
            &"acme".into(),
            &tools,
            &ticket.token,
            Reply::Approve,
            "boss",
            None,
        )
        .await
        .unwrap();
    tokio::time::sleep(Duration::from_millis(60)).await;
    let result = tools.resume(&ticket.token, &host.ann()).await;
    assert_eq!(
        result.model_text(),
        "the approval is no longer valid: it has expired"
    );
    assert_eq!(host.mailbox.sent(), 0);
}

#[tokio::test]
async fn gate_without_approvals_cannot_request_one() {
    let host = Host::new();
    let gate = Gate::builder().build();
    let result = toolset![send_mail]
        .through(&gate)
        .call(mail("c-1"), &host.ann())
        .await;
    assert_eq!(kind(&result), Some(ErrorKind::Pending));
    assert!(
        result
            .error()
            .unwrap()
            .operator_text()
            .contains("Gate::builder().approvals")
    );
    assert_eq!(host.mailbox.sent(), 0);
}

/// Calls `send_mail` through the toolset that the host provides.
#[tool(idempotent)]
async fn delegate(#[context] tools: Tools, cx: &ToolContext) -> Result<String, ToolError> {
    let inner = ToolCall::new("inner", "send_mail", r#"{"to":"bob"}"#);
    let result = tools.0.call(inner, cx).await;
    result
        .into_parts()
        .map(|(payload, _)| payload.get().to_owned())
}

#[derive(Clone)]
struct Tools(Toolset);
tool_core::host_value!(Tools, tool_core::Effect::WRITE);

// M5: the outer call reports the approval that its nested call waits for.
#[tokio::test]
async fn outer_call_reports_the_approval_of_its_nested_call() {
    let host = Host::new();
    let tools = toolset![delegate, send_mail].through(&host.gate);
    let cx = || {
        ToolContext::builder()
            .workspace("acme")
            .user("ann")
            .conversation("th-1")
            .with(host.mailbox.clone())
            .with(Tools(tools.clone()))
            .build()
    };
    let outer = ToolCall::new("c-1", "delegate", "{}");
    let result = tools.call(outer.clone(), &placed(&cx(), 1)).await;
    let ticket = ticket(&result);
    assert_eq!(
        (ticket.tool.as_str(), ticket.parent.as_deref()),
        ("send_mail", Some("c-1"))
    );
    assert_eq!(host.mailbox.sent(), 0);

    host.approve(&ticket).await;
    let inner = tools.resume(&ticket.token, &cx()).await;
    assert_eq!(
        (inner.id(), inner.model_text().as_str()),
        ("inner", "sent to bob")
    );
    // The outer call runs again and gets the stored result of the inner call.
    let result = tools.call(outer, &placed(&cx(), 1)).await;
    assert_eq!(result.model_text(), r#""sent to bob""#);
    assert_eq!(host.mailbox.sent(), 1);
}

#[tokio::test]
async fn durable_approval_store_requires_keys() {
    use futures::future::BoxFuture;
    use tool_core::store::{
        ApprovalAnswer, ApprovalRequest, ApprovalRow, ApprovalStore, StoreError, Timestamp,
    };
    type Fut<'a, T> = BoxFuture<'a, Result<T, StoreError>>;

    /// A memory store that claims to be durable.
    struct Durable(MemoryStore);
    impl ApprovalStore for Durable {
        fn is_durable(&self) -> bool {
            true
        }
        fn open(&self, request: ApprovalRequest) -> Fut<'_, ()> {
            self.0.open(request)
        }
        fn get<'a>(
            &'a self,
            workspace: &'a Workspace,
            id: &'a str,
        ) -> Fut<'a, Option<ApprovalRow>> {
            ApprovalStore::get(&self.0, workspace, id)
        }
        fn answer<'a>(
            &'a self,
            workspace: &'a Workspace,
            id: &'a str,
            answer: ApprovalAnswer,
        ) -> Fut<'a, ApprovalRow> {
            self.0.answer(workspace, id, answer)
        }
        fn spend<'a>(
            &'a self,
            workspace: &'a Workspace,
            id: &'a str,
            nonce: &'a str,
            now: Timestamp,
        ) -> Fut<'a, bool> {
            self.0.spend(workspace, id, nonce, now)
        }
        fn withdraw<'a>(&'a self, workspace: &'a Workspace, id: &'a str) -> Fut<'a, bool> {
            self.0.withdraw(workspace, id)
        }
        fn assign<'a>(
            &'a self,
            workspace: &'a Workspace,
            id: &'a str,
            assignee: Option<String>,
        ) -> Fut<'a, ApprovalRow> {
            self.0.assign(workspace, id, assignee)
        }
        fn list<'a>(
            &'a self,
            scope: Scope<'a>,
            filter: &'a ApprovalFilter,
        ) -> Fut<'a, Vec<ApprovalRow>> {
            ApprovalStore::list(&self.0, scope, filter)
        }
        fn deny_all<'a>(
            &'a self,
            workspace: &'a Workspace,
            filter: &'a ApprovalFilter,
            answer: ApprovalAnswer,
        ) -> Fut<'a, u64> {
            self.0.deny_all(workspace, filter, answer)
        }
        fn expire<'a>(&'a self, scope: Scope<'a>, now: Timestamp) -> Fut<'a, u64> {
            ApprovalStore::expire(&self.0, scope, now)
        }
    }
    let error = Approvals::builder(Durable(MemoryStore::default()))
        .build()
        .unwrap_err();
    assert!(error.to_string().contains(".keys(KeyRing::new"), "{error}");
    let _ = Mailbox::default();
}

// S2-18: states are types (`ui-tests/fail/permit/approval_state.rs`), and the store refuses a step that the stored state does not allow.
#[tokio::test]
async fn invalid_approval_transition_is_refused() {
    use tool_core::store::{ApprovalStore, Timestamp};

    let host = Host::new();
    let (now, acme) = (Timestamp::now(), Workspace::new("acme"));
    let row = async |id: &str| {
        ApprovalStore::get(&host.store, &acme, id)
            .await
            .unwrap()
            .unwrap()
    };
    let asked = host.asked().await;
    let nonce = row(&asked.id).await.request.nonce;

    // A pending approval cannot be spent.
    assert!(
        !host
            .store
            .spend(&acme, &asked.id, &nonce, now)
            .await
            .unwrap()
    );
    // A denied approval cannot be answered again, spent or assigned.
    host.approvals()
        .answer(
            &"acme".into(),
            &host.tools,
            &asked.token,
            Reply::Deny,
            "boss",
            None,
        )
        .await
        .unwrap();
    assert!(
        host.approvals()
            .answer(
                &"acme".into(),
                &host.tools,
                &asked.token,
                Reply::Approve,
                "boss",
                None
            )
            .await
            .is_err()
    );
    assert!(
        !host
            .store
            .spend(&acme, &asked.id, &nonce, now)
            .await
            .unwrap()
    );
    assert!(
        host.approvals()
            .assign(&"acme".into(), &asked.id, Some("olga"))
            .await
            .is_err()
    );
    assert_eq!(row(&asked.id).await.status, ApprovalStatus::Denied);

    // An approval cannot be spent with a different nonce. A spent approval cannot be answered or withdrawn.
    let other = ticket(&host.tools.call(mail("c-2"), &host.ann()).await);
    host.approve(&other).await;
    assert!(
        !host
            .store
            .spend(&acme, &other.id, "another", now)
            .await
            .unwrap()
    );
    assert_eq!(
        host.tools
            .resume(&other.token, &host.ann())
            .await
            .model_text(),
        "sent to bob"
    );
    assert_eq!(row(&other.id).await.status, ApprovalStatus::Spent);
    assert!(
        host.approvals()
            .answer(
                &"acme".into(),
                &host.tools,
                &other.token,
                Reply::Deny,
                "boss",
                None
            )
            .await
            .is_err()
    );
    assert!(
        !ApprovalStore::withdraw(&host.store, &acme, &other.id)
            .await
            .unwrap()
    );
    assert_eq!(host.mailbox.sent(), 1);
}

// The approval of a call that a turn has refused cannot run the call
#[tokio::test]
async fn refused_call_of_a_turn_loses_its_approvals() {
    let host = Host::new();
    let turns = Turns::new(host.store.clone());
    let cx = host.ann();
    let message = turns.record(ModelMessage::calls([mail("c-1")]), &cx).await;
    let message = message.unwrap();
    let turn = turns.run(&host.tools, &message, &cx).await.unwrap();
    let Turn::Waiting(tickets) = turn else {
        panic!("{turn:?}")
    };
    host.approve(&tickets[0]).await;
    let hidden = toolset![count].through(&host.gate);
    let turn = turns.run(&hidden, &message, &cx).await.unwrap();
    let Turn::Complete(results) = turn else {
        panic!("{turn:?}")
    };
    assert!(results[0].is_of(ErrorKind::UnknownTool), "{results:?}");
    let resumed = host.tools.resume(&tickets[0].token, &cx).await;
    assert_eq!(kind(&resumed), Some(ErrorKind::Denied), "{resumed:?}");
    assert_eq!(host.mailbox.sent(), 0);
}

// Plans count towards the limit of open approvals of a conversation
#[tokio::test]
async fn plans_count_towards_the_open_approvals_of_a_conversation() {
    let host = Host::new();
    let approvals = Approvals::builder(host.store.clone()).most_open(2);
    let approvals = approvals.build().unwrap();
    for _ in 0..2 {
        approvals.ask_plan("{}", &host.ann()).await.unwrap();
    }
    let full = approvals.ask_plan("{}", &host.ann()).await;
    assert!(matches!(full, Err(ApprovalError::Full)), "{full:?}");
    let elsewhere = host.of("acme", "ann", "th-2");
    approvals.ask_plan("{}", &elsewhere).await.unwrap();
}

// Calls outside of conversations have a limit of open approvals for each user
#[tokio::test]
async fn calls_outside_of_conversations_have_a_limit_for_each_user() {
    let host = Host::new();
    let approvals = Approvals::builder(host.store.clone()).most_open(2);
    let gate = Gate::builder().approvals(approvals.build().unwrap());
    let tools = host.tools.clone().through(&gate.build());
    let outside = |user: &str| {
        let cx = ToolContext::builder().workspace("acme").user(user);
        cx.with(host.mailbox.clone()).build()
    };
    // The approvals of a conversation do not count towards this limit.
    for id in ["a", "b"] {
        ticket(&tools.call(mail(id), &host.ann()).await);
    }
    for id in ["c", "d"] {
        ticket(&tools.call(mail(id), &outside("ann")).await);
    }
    let full = tools.call(mail("e"), &outside("ann")).await;
    assert_eq!(kind(&full), Some(ErrorKind::RateLimited), "{full:?}");
    ticket(&tools.call(mail("f"), &outside("bob")).await);
}
