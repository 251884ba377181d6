//! Tests of the routes `/v1/plans`: lists, nodes, events and cancellation.

use serde_json::{Value, json};
use server_tests::{Site, StoreKind, create_plan};
use tool_core::store::{
    PlanChange, PlanExecutor, PlanOutcome, PlanOwner, PlanSubmission, ThreadId, Timestamp,
};

use crate::administration::{done, note};

const VIEWER: &str = "viewer-of-acme";
const OPERATOR: &str = "operator-of-acme";

fn thread(workspace: &str, conversation: &str) -> ThreadId {
    ThreadId::new(workspace, conversation).unwrap()
}

async fn places(site: &Site, query: &str) -> Vec<(String, u64)> {
    let page = site.get(&format!("/v1/plans{query}"), VIEWER).await;
    let items = page["items"].as_array().unwrap().iter();
    items
        .map(|item| {
            let conversation = item["conversation"].as_str().unwrap().to_owned();
            (conversation, item["number"].as_u64().unwrap())
        })
        .collect()
}

// Runs are listed by conversation, user and state, page by page, even if runs are created between two pages.
pub(crate) async fn runs_of_plans_are_listed(kind: StoreKind) {
    let site = Site::start(kind).await;
    let store = &*site.store;
    let first = create_plan(store, &thread("acme", "b"), "ann").await;
    let abort = store.change_plan(&first.id, PlanChange::Abort, Timestamp::now());
    abort.await.unwrap();
    create_plan(store, &thread("acme", "b"), "bob").await;
    create_plan(store, &thread("acme", "a"), "ann").await;
    create_plan(store, &thread("globex", "b"), "ann").await;
    let place = |conversation: &str, number| (conversation.to_owned(), number);
    let (a1, b1, b2) = (place("a", 1), place("b", 1), place("b", 2));
    for (query, expected) in [
        ("", vec![a1.clone(), b1.clone(), b2.clone()]),
        ("?conversation=b", vec![b1.clone(), b2.clone()]),
        ("?principal=ann", vec![a1.clone(), b1.clone()]),
        ("?status=aborted", vec![b1.clone()]),
        ("?status=running&conversation=b", vec![b2.clone()]),
    ] {
        assert_eq!(places(&site, query).await, expected, "{query}");
    }
    let page = site.get("/v1/plans?limit=2", VIEWER).await;
    let cursor = page["next"].as_str().unwrap();
    for conversation in ["a0", "c"] {
        create_plan(store, &thread("acme", conversation), "eve").await;
    }
    let rest = format!("?limit=2&cursor={cursor}");
    assert_eq!(places(&site, &rest).await, [b2, place("c", 1)]);
    for query in ["status=lost", "limit=101", "cursor=x"] {
        let path = format!("/v1/plans?{query}");
        let answer = site.send("get", &path, Some(VIEWER), &[], None).await;
        assert_eq!(answer.status, 400, "{query}: {}", answer.text);
    }
}

// S2-48: a run has its nodes with their attempts, and its events. The response for a run of a different workspace is the same as for an unknown run.
pub(crate) async fn run_of_a_plan_has_nodes_and_events_case(kind: StoreKind) {
    let site = Site::start(kind).await;
    let run = create_plan(&*site.store, &thread("acme", "main"), "ann").await;
    create_plan(&*site.store, &thread("globex", "side"), "ann").await;
    let submission = PlanSubmission {
        node: "draft".to_owned(),
        attempt: None,
        by: PlanOwner::new(PlanExecutor::Agent, "writer"),
        outcome: PlanOutcome::Completed,
        output: Some(json!({ "words": 7 })),
        schema_issues: Vec::new(),
        artifacts: Vec::new(),
        notes: Some("short".to_owned()),
    };
    let submit = PlanChange::Submit(submission);
    let changed = site.store.change_plan(&run.id, submit, Timestamp::now());
    changed.await.unwrap();
    let read = site.get("/v1/plans/main/1", VIEWER).await;
    assert_eq!(
        (&read["run"]["title"], &read["run"]["ended_nodes"]),
        (&json!("Report of ann"), &json!(1))
    );
    let [draft, check] = [&read["nodes"][0], &read["nodes"][1]];
    assert_eq!(
        (&draft["status"], &draft["output"], &draft["owner"]),
        (&json!("completed"), &json!({ "words": 7 }), &json!("agent"))
    );
    assert_eq!(
        (
            &draft["attempts"][0]["by"],
            &draft["attempts"][0]["notes"],
            &check["status"],
            &check["after"]
        ),
        (
            &json!("agent:writer"),
            &json!("short"),
            &json!("ready"),
            &json!(["draft"])
        )
    );
    let (mut events, mut cursor) = (Vec::new(), String::new());
    loop {
        let path = format!("/v1/plans/main/1/events?limit=2{cursor}");
        let page = site.get(&path, VIEWER).await;
        let items = page["items"].as_array().unwrap().iter();
        events.extend(items.map(|item| item["number"].as_u64().unwrap()));
        let Some(next) = page["next"].as_str() else {
            break;
        };
        cursor = format!("&cursor={next}");
    }
    let all: Vec<u64> = (1..=read["run"]["events"].as_u64().unwrap()).collect();
    assert_eq!(events, all);
    let mut answers = Vec::new();
    for path in [
        "/v1/plans/side/1",
        "/v1/plans/nothing/1",
        "/v1/plans/main/2",
        "/v1/plans/side/1/events",
    ] {
        let answer = site.send("get", path, Some(VIEWER), &[], None).await;
        answers.push((answer.status, answer.text));
    }
    assert_eq!(answers[0].0, 404);
    assert!(
        answers.iter().all(|answer| *answer == answers[0]),
        "{answers:?}"
    );
}

// An operator cancels an active run once. The audit names the run and contains no text of the plan.
pub(crate) async fn active_plan_is_cancelled(kind: StoreKind) {
    let site = Site::start(kind).await;
    create_plan(&*site.store, &thread("acme", "main"), "ann").await;
    create_plan(&*site.store, &thread("globex", "side"), "ann").await;
    let path = "/v1/plans/main/1/cancel";
    let send = async |path: &str, token: &str, key: &str| {
        let key = [("idempotency-key", key)];
        site.send("post", path, Some(token), &key, None).await
    };
    assert_eq!(send(path, VIEWER, "k-1").await.status, 403);
    let cancelled = send(path, OPERATOR, "k-1").await;
    assert_eq!(
        (cancelled.status, &cancelled.json()["status"]),
        (200, &json!("aborted")),
        "{}",
        cancelled.text
    );
    assert_eq!(send(path, OPERATOR, "k-1").await.text, cancelled.text);
    assert_eq!(send(path, OPERATOR, "k-2").await.status, 409);
    let foreign = send("/v1/plans/side/1/cancel", OPERATOR, "k-3").await;
    let unknown = send("/v1/plans/nothing/1/cancel", OPERATOR, "k-4").await;
    assert_eq!((foreign.status, &foreign.text), (404, &unknown.text));
    let read = done(&site, VIEWER, "get", "/v1/plans/main/1", &Value::Null).await;
    assert_eq!(read.json()["nodes"][0]["status"], "skipped");
    let (operator, details) = note(&site, "plan.cancel").await;
    assert_eq!(
        (&*operator, &details),
        (OPERATOR, &json!({ "conversation": "main", "run": 1 }))
    );
    // The erasure of the conversation removes the stored response, which contains the title of the plan.
    let why = json!({ "reason": "ann asked for it" });
    let erase = "/v1/threads/main/erase";
    let report = site.ask("post", erase, "admin-of-acme", &why).await.json();
    assert_eq!(report["requests"], json!(1), "{report}");
}
