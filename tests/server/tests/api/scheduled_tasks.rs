//! Tests of the routes `/v1/scheduled-tasks`: lists, runs, enabling and deletion.

use std::time::Duration;

use serde_json::{Value, json};
use server_tests::{Answer, Site, StoreKind, create_task};
use tool_core::store::{NewTask, SkippedRun, TaskClaim, TaskId, TaskRow, TaskTiming, Timestamp};

use crate::administration::{done, note};

const VIEWER: &str = "viewer-of-acme";
const OPERATOR: &str = "operator-of-acme";
const ADMIN: &str = "admin-of-acme";

async fn row(site: &Site, id: &TaskId) -> TaskRow {
    site.store.task(id).await.unwrap().unwrap()
}

/// Claims the run of a requested task, with one due time that was skipped before it.
async fn begin(site: &Site, id: &TaskId) -> TaskRow {
    let at = Timestamp::now();
    let requested = site.store.request_task_run(id, at).await.unwrap().unwrap();
    let due = requested.requested.unwrap();
    let missed = SkippedRun {
        due: Timestamp::from_millis(due.as_millis() - 60_000),
        reason: "missed".to_owned(),
    };
    let claim = TaskClaim {
        id: id.clone(),
        version: requested.version,
        due,
        conversation: "run-1".to_owned(),
        skipped: vec![missed],
        next: None,
        worker: "worker-1".to_owned(),
        lease: Duration::from_mins(1),
        most_errors: 5,
        at: Timestamp::now(),
    };
    let claimed = site.store.claim_task(claim).await.unwrap();
    claimed.unwrap().0
}

async fn enable(site: &Site, task: &str, token: &str, enabled: bool) -> Answer {
    let path = format!("/v1/scheduled-tasks/{task}/enabled");
    let body = json!({ "enabled": enabled });
    site.ask("put", &path, token, &body).await
}

// Tasks are listed page by page, even if tasks are created between two pages. A task has its schedule and the state of its run. The response for a
// task of a different workspace is the same as for an unknown task.
pub(crate) async fn tasks_are_listed_with_their_schedule(kind: StoreKind) {
    let site = Site::start(kind).await;
    for id in ["b", "c", "a"] {
        create_task(&*site.store, "acme", id, "ann").await;
    }
    let foreign = create_task(&*site.store, "globex", "d", "ann").await;
    let page = site.get("/v1/scheduled-tasks?limit=2", VIEWER).await;
    let cursor = page["next"].as_str().unwrap();
    for id in ["a0", "e"] {
        create_task(&*site.store, "acme", id, "ann").await;
    }
    let rest = format!("/v1/scheduled-tasks?limit=2&cursor={cursor}");
    let rest = site.get(&rest, VIEWER).await;
    let ids = [&page, &rest].map(|page| {
        let items = page["items"].as_array().unwrap().iter();
        let ids = items.map(|item| item["id"].as_str().unwrap());
        ids.collect::<Vec<_>>()
    });
    assert_eq!(ids, [["a", "b"], ["c", "e"]]);
    let path = "/v1/scheduled-tasks/a";
    let read = site.get(path, VIEWER).await;
    for (key, value) in [
        ("name", json!("News")),
        ("schedule_type", json!("cron")),
        ("cron_expression", json!("0 9 * * *")),
        ("timezone", json!("Europe/Berlin")),
        ("principal", json!("ann")),
        ("enabled", json!(true)),
        ("running", Value::Null),
        ("every_ms", Value::Null),
    ] {
        assert_eq!(read[key], value, "{key}");
    }
    let mut answers = Vec::new();
    for id in [foreign.id(), "nothing"] {
        for (method, token) in [("get", VIEWER), ("delete", ADMIN)] {
            let path = format!("/v1/scheduled-tasks/{id}");
            let answer = site.send(method, &path, Some(token), &[], None).await;
            answers.push((answer.status, answer.text));
        }
        let answer = enable(&site, id, OPERATOR, false).await;
        answers.push((answer.status, answer.text));
    }
    assert_eq!(answers[0].0, 404);
    assert!(
        answers.iter().all(|answer| *answer == answers[0]),
        "{answers:?}"
    );
    assert!(row(&site, &foreign).await.enabled);
}

// The runs of a task are listed with the due times that were skipped. Deleting the task ends its run, and its runs stay listed until the contents of
// its user are erased.
pub(crate) async fn runs_of_a_deleted_task_are_listed(kind: StoreKind) {
    let site = Site::start(kind).await;
    let id = create_task(&*site.store, "acme", "a", "ann").await;
    begin(&site, &id).await;
    let (path, runs) = ("/v1/scheduled-tasks/a", "/v1/scheduled-tasks/a/runs");
    let page = site.get(runs, VIEWER).await;
    let [run, skipped] = [&page["items"][0], &page["items"][1]];
    assert_eq!(
        (&run["state"], &run["conversation"], &run["attempts"]),
        (&json!("running"), &json!("run-1"), &json!(1))
    );
    assert_eq!(
        (&skipped["state"], &skipped["reason"]),
        (&json!("skipped"), &json!("missed"))
    );
    let first = site.get(&format!("{runs}?limit=1"), VIEWER).await;
    assert_eq!(&first["items"][0], run);
    let next = first["next"].as_str().unwrap();
    let last = site
        .get(&format!("{runs}?limit=1&cursor={next}"), VIEWER)
        .await;
    assert_eq!((&last["items"][0], &last["next"]), (skipped, &Value::Null));
    let read = done(&site, VIEWER, "get", path, &Value::Null).await;
    assert_eq!(read.json()["worker"], "worker-1");
    let tag = [("if-match", read.header("etag").unwrap())];
    let delete = async |token: &str, headers: &[(&str, &str)]| {
        let sent = site.send("delete", path, Some(token), headers, None).await;
        sent.status
    };
    site.store
        .request_task_run(&id, Timestamp::now())
        .await
        .unwrap();
    assert_eq!(delete(OPERATOR, &[]).await, 403);
    assert_eq!(delete(ADMIN, &tag).await, 412);
    assert_eq!(delete(ADMIN, &[]).await, 200);
    assert_eq!(delete(ADMIN, &[]).await, 404);
    let ended = site.get(&format!("{runs}?state=failed"), VIEWER).await;
    let ended = &ended["items"];
    assert_eq!(ended.as_array().unwrap().len(), 1, "{ended}");
    assert!(ended[0]["ended_at"].is_string(), "{ended}");
    let running = site.get(&format!("{runs}?state=running"), VIEWER).await;
    assert_eq!(running["items"], json!([]));
    let foreign = site.get(runs, "viewer-of-globex").await;
    assert_eq!(foreign["items"], json!([]));
    let (operator, details) = note(&site, "scheduled_task.delete").await;
    assert_eq!((&*operator, &details), (ADMIN, &json!({ "task": "a" })));
    let why = json!({ "reason": "ann asked for it" });
    let erased = site.ask("post", "/v1/users/ann/erase", ADMIN, &why).await;
    assert_eq!(erased.status, 200, "{}", erased.text);
    assert_eq!(site.get(runs, VIEWER).await["items"], json!([]));
}

// An operator disables and enables a task. Due times that pass while the task is disabled do not run later, and a task that is never due again cannot
// be enabled.
pub(crate) async fn task_is_enabled_from_its_next_due_time(kind: StoreKind) {
    let site = Site::start(kind).await;
    let id = create_task(&*site.store, "acme", "a", "ann").await;
    let first = row(&site, &id).await;
    assert_eq!(enable(&site, "a", VIEWER, false).await.status, 403);
    let unchanged = enable(&site, "a", OPERATOR, true).await;
    assert_eq!(unchanged.status, 200, "{}", unchanged.text);
    assert_eq!(row(&site, &id).await, first);
    let off = enable(&site, "a", OPERATOR, false).await;
    assert_eq!((off.status, &off.json()["enabled"]), (200, &json!(false)));
    assert_eq!(row(&site, &id).await.ready, None);
    let on = enable(&site, "a", OPERATOR, true).await;
    assert_eq!((on.status, &on.json()["enabled"]), (200, &json!(true)));
    let enabled = row(&site, &id).await;
    let due = enabled.due.unwrap();
    let now = Timestamp::now();
    assert!(
        now < due && due < now.plus(Duration::from_hours(25)),
        "{due:?}"
    );
    // 9 o'clock in Berlin is 7 or 8 o'clock in UTC.
    let hour = due.as_millis() / 3_600_000 % 24;
    assert!(
        [7, 8].contains(&hour) && enabled.ready == Some(due),
        "{due:?}"
    );
    let (operator, details) = note(&site, "scheduled_task.enable").await;
    assert_eq!(
        (&*operator, &details),
        (OPERATOR, &json!({ "task": "a", "enabled": true }))
    );

    let path = "/v1/scheduled-tasks/a/enabled";
    let tag = [("if-match", on.header("etag").unwrap())];
    let off = json!({ "enabled": false });
    let send = async || {
        site.send("put", path, Some(OPERATOR), &tag, Some(&off))
            .await
    };
    assert_eq!(send().await.status, 200);
    assert_eq!(send().await.status, 412);
    let faulty = site
        .ask("put", path, OPERATOR, &json!({ "on": true }))
        .await;
    assert_eq!(faulty.status, 422, "{}", faulty.text);

    let mut once = first.definition.clone();
    once.timing = TaskTiming::Once {
        at: Timestamp::from_millis(1_000),
    };
    let id = TaskId::new(&"acme".into(), "once").unwrap();
    let new = NewTask {
        id,
        principal: None,
        definition: once,
        enabled: false,
        due: None,
        at: now,
    };
    site.store.create_task(new).await.unwrap();
    let late = enable(&site, "once", OPERATOR, true).await;
    assert_eq!(late.status, 409, "{}", late.text);
    assert!(late.text.contains("never due again"), "{}", late.text);
}
