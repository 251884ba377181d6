//! Tests of changes: answers, assignments, settlements, cancellations and switches, with their audit rows.

use std::time::Duration;

use serde_json::{Value, json};
use server_tests::{Sample, Site, StoreKind, seed};
use tool_core::prelude::*;
use tool_core::store::{
    ApprovalKind, ApprovalRequest, ApprovalStore, CallId, CallKey, EffectLedger, Resolution,
    ThreadId, Timestamp,
};
use tool_core::{Registry, Switches};

const VIEWER: &str = "viewer-of-acme";
const OPERATOR: &str = "operator-of-acme";

/// Returns the action, the operator and the tool of each change in the audit, oldest first.
async fn changes(site: &Site) -> Vec<(String, String, String)> {
    let page = site.get("/v1/audit", VIEWER).await;
    let rows = page["items"].as_array().unwrap().iter().rev();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    rows.filter(|row| {
        row["notes"]
            .as_array()
            .is_some_and(|notes| !notes.is_empty())
    })
    .map(|row| {
        (
            text(&row["notes"][0]["action"]),
            text(&row["principal"]),
            text(&row["tool"]),
        )
    })
    .collect()
}

async fn start(kind: StoreKind) -> (Site, Sample) {
    let site = Site::start(kind).await;
    let acme = seed(&*site.store, "acme").await;
    (site, acme)
}

// An approver answers a request. The stored answer names the caller, and a second answer is refused.
pub(crate) async fn approval_is_answered_once(kind: StoreKind) {
    let (site, acme) = start(kind).await;
    let path = format!("/v1/approvals/{}/answer", acme.approval);
    let approve = json!({ "verdict": "approve", "reason": "fine" });
    let answer = site.ask("post", &path, "approver-of-acme", &approve).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let row = answer.json();
    assert_eq!(
        (&row["status"], &row["answer"]["approver"]),
        (&json!("approved"), &json!("approver-of-acme"))
    );
    assert!(!answer.text.contains("nonce"), "{}", answer.text);
    let again = site.ask("post", &path, "approver-of-acme", &approve).await;
    assert_eq!(again.status, 409, "{}", again.text);
    let action = (
        "approval.answer".to_owned(),
        "approver-of-acme".to_owned(),
        acme.tool.clone(),
    );
    assert_eq!(changes(&site).await, [action]);
    // The request requires four eyes, so the requester must not answer it.
    let tokens = server_tests::tokens(&["acme"]);
    let ann =
        tool_server::Caller::new(acme.principal.as_str(), "acme", tool_server::Role::Approver);
    let tokens = tokens.add(tool_server::token_hash("ann"), ann).unwrap();
    let site = Site::with(kind, |server| server.authenticator(tokens)).await;
    let acme = seed(&*site.store, "acme").await;
    let path = format!("/v1/approvals/{}/answer", acme.approval);
    let own = site.ask("post", &path, "ann", &approve).await;
    assert_eq!(own.status, 409, "{}", own.text);
    assert!(own.json()["detail"].as_str().unwrap().contains("four eyes"));
}

/// Sends a mail.
#[tool(destructive)]
fn send_mail(
    /// The receiver.
    to: String,
) -> String {
    to
}

// Edited arguments are validated against the tool; a server without tools refuses edited arguments.
pub(crate) async fn edited_arguments_must_fit_the_tool(kind: StoreKind) {
    let registry = Registry::builder().tool::<send_mail>().build().unwrap();
    let tokens = server_tests::tokens(&["acme"]);
    let site = Site::with(kind, |server| {
        server.registry(&registry).authenticator(tokens)
    })
    .await;
    let now = Timestamp::now();
    let thread = ThreadId::new("acme", "main").unwrap();
    let own = registry.get("send_mail").unwrap().contract();
    let request = ApprovalRequest {
        id: "edit".to_owned(),
        kind: ApprovalKind::Call,
        identity: CallId::in_thread(&thread, 1, 0),
        thread: None,
        call: "call_0".to_owned(),
        tool: "send_mail".to_owned(),
        principal: "ann".to_owned(),
        agent: None,
        contract: own.to_string(),
        arguments: r#"{"to":"bob"}"#.to_owned(),
        policy: String::new(),
        decision: String::new(),
        four_eyes: false,
        reason: None,
        nonce: "n".to_owned(),
        created: now,
        expires: now.plus(Duration::from_mins(5)),
        parent: None,
    };
    ApprovalStore::open(&*site.store, request).await.unwrap();
    let path = |id: &str| format!("/v1/approvals/{id}/answer");
    let edit = |arguments: Value| json!({ "verdict": "edit", "arguments": arguments });
    let id = "edit";
    for (path, body) in [
        (path(id), edit(json!({ "to": 7 }))),
        (path(id), edit(json!({}))),
        (path(id), json!({ "verdict": "edit" })),
        (path(id), json!({ "verdict": "deny", "arguments": {} })),
    ] {
        let answer = site.ask("post", &path, "approver-of-acme", &body).await;
        assert_eq!(answer.status, 422, "{body}: {}", answer.text);
        assert_eq!(
            answer.json()["errors"][0]["pointer"],
            "/arguments",
            "{body}"
        );
    }
    let answer = site
        .ask(
            "post",
            &path(id),
            "approver-of-acme",
            &edit(json!({ "to": "eve" })),
        )
        .await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert_eq!(answer.json()["answer"]["arguments"], json!({ "to": "eve" }));
    let (site, acme) = start(kind).await;
    let answer = site
        .ask(
            "post",
            &path(&acme.approval),
            "approver-of-acme",
            &edit(json!({})),
        )
        .await;
    assert_eq!(answer.status, 409, "{}", answer.text);
}

// An assignment with an old `ETag` is refused.
pub(crate) async fn assignment_with_an_old_etag_is_refused(kind: StoreKind) {
    let (site, acme) = start(kind).await;
    let approval = format!("/v1/approvals/{}", acme.approval);
    let path = format!("{approval}/assignee");
    let read = site.send("get", &approval, Some(VIEWER), &[], None).await;
    let tag = read.header("etag").unwrap();
    let to = |name: &str| json!({ "assignee": name });
    let first = site
        .send(
            "put",
            &path,
            Some(OPERATOR),
            &[("if-match", tag)],
            Some(&to("eve")),
        )
        .await;
    assert_eq!(first.json()["assignee"], "eve");
    assert_ne!(first.header("etag"), Some(tag));
    let second = site
        .send(
            "put",
            &path,
            Some(OPERATOR),
            &[("if-match", tag)],
            Some(&to("bob")),
        )
        .await;
    assert_eq!(second.status, 412, "{}", second.text);
    let any = site
        .send(
            "put",
            &path,
            Some(OPERATOR),
            &[],
            Some(&json!({ "assignee": null })),
        )
        .await;
    assert_eq!(any.json()["assignee"], Value::Null);
    assert_eq!(changes(&site).await.len(), 2);
    let blank = site.ask("put", &path, OPERATOR, &to(" ")).await;
    assert_eq!(blank.json()["errors"][0]["pointer"], "/assignee");
}

// Every change has one audit row, which contains the operator. Refused changes have none.
pub(crate) async fn each_change_has_an_audit_row_of_its_operator(kind: StoreKind) {
    let (site, acme) = start(kind).await;
    let run = format!("/v1/runs/{}/1/cancel", acme.conversation);
    let settle = format!("/v1/effects/{}/resolve", acme.effect);
    let revoke = format!("/v1/approvals/{}/revoke", acme.approval);
    let failed = json!({ "finding": "failed", "error": "the mail was not sent" });
    for (method, path, body, status) in [
        ("post", revoke.as_str(), None, 200),
        ("post", &revoke, None, 409),
        ("post", &run, None, 200),
        ("post", &settle, Some(&failed), 200),
        ("post", &settle, Some(&failed), 409),
        (
            "put",
            "/v1/switches/kill/send_mail",
            Some(&json!({ "on": true, "reason": "spam" })),
            200,
        ),
        ("delete", "/v1/switches/kill/send_mail", None, 200),
    ] {
        let answer = site.send(method, path, Some(OPERATOR), &[], body).await;
        assert_eq!(answer.status, status, "{method} {path}: {}", answer.text);
    }
    let row = |action: &str, tool: &str| (action.to_owned(), OPERATOR.to_owned(), tool.to_owned());
    let expected = [
        row("approval.revoke", &acme.tool),
        row("run.cancel", ""),
        row("effect.resolve", &acme.tool),
        row("switch.set", "send_mail"),
        row("switch.set", "send_mail"),
    ];
    let mut found = changes(&site).await;
    found.sort();
    let mut expected = expected.to_vec();
    expected.sort();
    assert_eq!(found, expected);
    let read = site
        .get(&format!("/v1/runs/{}/1", acme.conversation), VIEWER)
        .await;
    assert_eq!(read["stop"], "cancel");
}

// The API stores a settled effect in the form that the gate replays.
pub(crate) async fn settled_effect_has_the_form_that_the_gate_replays(kind: StoreKind) {
    let (site, acme) = start(kind).await;
    let path = format!("/v1/effects/{}/resolve", acme.effect);
    for (body, pointer) in [
        (json!({ "finding": "succeeded" }), "/output"),
        (json!({ "finding": "failed" }), "/error"),
        (json!({ "finding": "rerun", "output": 1 }), "/output"),
        (json!({ "finding": "rerun", "error": "x" }), "/error"),
        (json!({ "finding": "maybe" }), "/finding"),
        (json!({ "finding": "rerun", "colour": 1 }), "/colour"),
    ] {
        let answer = site.ask("post", &path, OPERATOR, &body).await;
        assert_eq!(answer.status, 422, "{body}: {}", answer.text);
        assert_eq!(answer.json()["errors"][0]["pointer"], pointer, "{body}");
    }
    let body = json!({ "finding": "succeeded", "output": { "sent": 1 } });
    let answer = site.ask("post", &path, OPERATOR, &body).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let key = CallKey::new("acme", acme.effect.as_str());
    let row = EffectLedger::get(&*site.store, &key)
        .await
        .unwrap()
        .unwrap();
    let output = r#"{"sent":1}"#.to_owned();
    let resolution = Resolution::Succeeded(output);
    let expected = tool_core::Gate::stored_resolution(resolution).unwrap();
    assert_eq!(Resolution::Succeeded(row.result.unwrap()), expected);
    assert_eq!(row.resolved_by.as_deref(), Some(OPERATOR));
}

// A change with an idempotency key is made once, and a repeated request gets the first response.
pub(crate) async fn repeated_request_is_made_once(kind: StoreKind) {
    let (site, acme) = start(kind).await;
    let path = format!("/v1/approvals/{}/revoke", acme.approval);
    let key = [("idempotency-key", "k-1")];
    let first = site.send("post", &path, Some(OPERATOR), &key, None).await;
    let again = site.send("post", &path, Some(OPERATOR), &key, None).await;
    assert_eq!((first.status, &first.text), (200, &again.text));
    assert_eq!(changes(&site).await.len(), 1);
    let other = format!("/v1/runs/{}/1/cancel", acme.conversation);
    let other = site.send("post", &other, Some(OPERATOR), &key, None).await;
    assert_eq!(other.status, 409, "{}", other.text);
    let quoted = site
        .send(
            "post",
            &path,
            Some(OPERATOR),
            &[("idempotency-key", "\"k-1\"")],
            None,
        )
        .await;
    assert_eq!(quoted.text, first.text);
    let long = "x".repeat(201);
    for key in ["", long.as_str()] {
        let answer = site
            .send(
                "post",
                &path,
                Some(OPERATOR),
                &[("idempotency-key", key)],
                None,
            )
            .await;
        assert_eq!(answer.status, 400, "{key}");
    }
}

// A switch that the API sets refuses calls in the processes of the host.
pub(crate) async fn switch_is_applied_by_the_host(kind: StoreKind) {
    let (site, _) = start(kind).await;
    let switches = Switches::open_shared(site.store.clone()).await.unwrap();
    let on = json!({ "on": true, "reason": "spam" });
    let path = "/v1/switches/kill/send_mail";
    let answer = site.ask("put", path, OPERATOR, &on).await;
    assert_eq!(answer.json()["by"], OPERATOR);
    switches.refresh().await.unwrap();
    assert!(switches.is_killed("send_mail", "acme") && !switches.is_killed("send_mail", "globex"));
    let everywhere = format!("{path}?reach=host");
    assert_eq!(
        site.ask("put", &everywhere, "admin-of-acme", &on)
            .await
            .status,
        403
    );
    assert_eq!(site.ask("put", &everywhere, "host", &on).await.status, 200);
    switches.refresh().await.unwrap();
    assert!(switches.is_killed("send_mail", "globex"));
    let listed = site
        .get("/v1/switches?reach=host", "viewer-of-globex")
        .await;
    assert_eq!(listed["items"][0]["reach"], "host");
    let read = site.send("get", path, Some(VIEWER), &[], None).await;
    let old = [("if-match", "\"old\"")];
    assert_eq!(
        site.send("delete", path, Some(OPERATOR), &old, None)
            .await
            .status,
        412
    );
    let tag = [("if-match", read.header("etag").unwrap())];
    assert_eq!(
        site.send("delete", path, Some(OPERATOR), &tag, None)
            .await
            .status,
        200
    );
    assert_eq!(
        site.send("delete", path, Some(OPERATOR), &tag, None)
            .await
            .status,
        412
    );
    switches.refresh().await.unwrap();
    assert!(
        switches.is_killed("send_mail", "acme"),
        "the switch of the host was turned off"
    );
    let enable = site
        .ask("put", "/v1/switches/enable/send_mail", OPERATOR, &on)
        .await;
    assert_eq!(enable.status, 404);
}
