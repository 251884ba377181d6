//! The actions of `schedule_task`.

use serde_json::{Value, json};
use tool_core::ErrorKind;
use tool_core::prelude::*;
use tool_core::store::{MemoryStore, ScheduleStore, TaskId, Workspace};
use tool_std::schedule::{Scheduler, Schedules, schedule_task};

use crate::clock::Clock;
use crate::support::Runner;

fn cx(store: &MemoryStore, workspace: &str) -> ToolContext {
    ToolContext::builder()
        .workspace(workspace)
        .user("ann")
        .with(Schedules::new(store.clone()).most_tasks(4))
        .build()
}

async fn run(cx: &ToolContext, arguments: Value) -> Result<Value, ToolError> {
    let call = ToolCall::new("call_0", "schedule_task", arguments.to_string());
    let result = toolset![schedule_task].call(call, cx).await;
    let (output, _) = result.into_parts()?;
    let output: Value = serde_json::from_str(output.get()).unwrap();
    Ok(output["tasks"].clone())
}

/// Deletes a task as its tool does after an approval.
async fn delete(cx: &ToolContext, id: &Value) -> Result<Value, ToolError> {
    let schedules = cx.get::<Schedules>().unwrap();
    let call: schedule_task =
        serde_json::from_value(json!({"action": "delete", "task_id": id})).unwrap();
    let deleted = schedule_task(
        cx,
        &schedules,
        call.action,
        call.task_id,
        None,
        None,
        None,
        None,
        None,
        None,
        None,
        None,
        None,
        None,
        None,
        None,
    );
    Ok(json!(deleted.await?.tasks))
}

fn daily() -> Value {
    json!({
        "action": "create", "name": "Standup", "prompt": "Summarize the tickets.", "schedule_type": "cron",
        "cron_expression": "0 9 * * MON-FRI", "timezone": "Europe/Berlin"
    })
}

fn with(mut arguments: Value, more: Value) -> Value {
    let Value::Object(more) = more else {
        panic!("{more}");
    };
    arguments.as_object_mut().unwrap().extend(more);
    arguments
}

// A task is created with its first due time, listed, changed, run on request and deleted.
#[tokio::test]
async fn task_is_created_listed_changed_run_and_deleted() {
    let (clock, _entered) = Clock::at("2026-11-27T10:00:00Z");
    let store = MemoryStore::default();
    let cx = cx(&store, "acme");
    let created = run(&cx, daily()).await.unwrap()[0].clone();
    assert_eq!(created["next_run_at"], "2026-11-30T08:00:00Z");
    assert_eq!(
        (
            &created["enabled"],
            &created["timezone"],
            &created["errors"]
        ),
        (&json!(true), &json!("Europe/Berlin"), &json!(0))
    );
    let id = &created["task_id"];
    assert_eq!(
        run(&cx, json!({"action": "list"})).await.unwrap(),
        json!([created])
    );

    let update = |more| with(json!({"action": "update", "task_id": id}), more);
    let later = run(&cx, update(json!({"cron_expression": "30 10 * * *"})))
        .await
        .unwrap()[0]
        .clone();
    assert_eq!(
        (&later["next_run_at"], &later["timezone"]),
        (&json!("2026-11-28T09:30:00Z"), &json!("Europe/Berlin"))
    );
    let off = run(&cx, update(json!({"enabled": false, "prompt": "Nothing."})))
        .await
        .unwrap()[0]
        .clone();
    assert_eq!(
        (&off["next_run_at"], &off["prompt"], &off["name"]),
        (&Value::Null, &json!("Nothing."), &json!("Standup"))
    );
    // Due times that pass while the task is disabled do not run later.
    clock.set("2026-12-10T00:00:00Z");
    let on = run(&cx, update(json!({"enabled": true}))).await.unwrap()[0].clone();
    assert_eq!(on["next_run_at"], "2026-12-10T09:30:00Z");

    run(&cx, json!({"action": "run", "task_id": id}))
        .await
        .unwrap();
    let runner = Runner::default();
    assert_eq!(
        Scheduler::new(store.clone(), runner.clone())
            .run_due()
            .await,
        1
    );
    assert_eq!(runner.dues(), [clock.now()]);
    let deleted = delete(&cx, id).await.unwrap();
    assert_eq!(deleted[0]["next_run_at"], "2026-12-10T09:30:00Z");
    assert_eq!(
        run(&cx, json!({"action": "list"})).await.unwrap(),
        json!([])
    );
}

// A run has the identity of the user who created its task, so another user of the workspace cannot change, run or delete the task.
#[tokio::test]
async fn task_of_another_user_is_not_changed() {
    let (_clock, _entered) = Clock::at("2026-11-27T10:00:00Z");
    let store = MemoryStore::default();
    let created = run(&cx(&store, "acme"), daily()).await.unwrap()[0].clone();
    let bob = ToolContext::builder()
        .workspace("acme")
        .user("bob")
        .with(Schedules::new(store.clone()))
        .build();
    let id = &created["task_id"];
    let update = json!({"action": "update", "task_id": id, "prompt": "Send it to Bob."});
    for refused in [
        run(&bob, update).await,
        run(&bob, json!({"action": "run", "task_id": id})).await,
        delete(&bob, id).await,
    ] {
        let text = refused.unwrap_err().model_text().clone();
        assert!(text.contains("belongs to a different user"), "{text}");
    }
    let listed = run(&bob, json!({"action": "list"})).await.unwrap();
    assert_eq!(listed, json!([created]));
}

// A task of another workspace is not found by any action, and is not in the list.
#[tokio::test]
async fn task_of_another_workspace_is_not_found() {
    let store = MemoryStore::default();
    let (acme, umbrella) = (cx(&store, "acme"), cx(&store, "umbrella"));
    let created = run(&acme, daily()).await.unwrap()[0].clone();
    let id = &created["task_id"];
    for action in ["update", "run"] {
        let error = run(&umbrella, json!({"action": action, "task_id": id}))
            .await
            .unwrap_err();
        assert!(
            error.model_text().starts_with("there is no task `task-"),
            "{error:?}"
        );
    }
    let error = delete(&umbrella, id).await.unwrap_err();
    assert!(
        error.model_text().starts_with("there is no task `task-"),
        "{error:?}"
    );
    assert_eq!(
        run(&umbrella, json!({"action": "list"})).await.unwrap(),
        json!([])
    );
    assert_eq!(
        run(&acme, json!({"action": "list"})).await.unwrap(),
        json!([created])
    );
    let id = TaskId::new(&Workspace::new("acme"), id.as_str().unwrap()).unwrap();
    assert_eq!(
        store.task(&id).await.unwrap().unwrap().principal.as_deref(),
        Some("ann")
    );
}

// Each kind of schedule has its first due time, and each option is kept.
#[tokio::test]
async fn every_kind_of_schedule_is_created() {
    let (_clock, _entered) = Clock::at("2026-11-27T10:00:00Z");
    let store = MemoryStore::default();
    let cx = cx(&store, "acme");
    let create = async |more: Value| {
        let base = json!({"action": "create", "name": "n", "prompt": "p"});
        run(&cx, with(base, more)).await.unwrap()[0].clone()
    };
    let interval = create(json!({"schedule_type": "interval", "every_ms": 90_000})).await;
    assert_eq!(
        (&interval["next_run_at"], &interval["every_ms"]),
        (&json!("2026-11-27T10:01:30Z"), &json!(90_000))
    );
    let wait =
        create(json!({"schedule_type": "one-shot", "run_at": "+20m", "delete_after_run": true}))
            .await;
    assert_eq!(
        (
            &wait["next_run_at"],
            &wait["run_at"],
            &wait["delete_after_run"]
        ),
        (
            &json!("2026-11-27T10:20:00Z"),
            &json!("2026-11-27T10:20:00Z"),
            &json!(true)
        )
    );
    let local = json!({
        "schedule_type": "one-shot", "run_at": "2026-11-28T09:00:00", "timezone": "Africa/Cairo", "keep_history": true,
        "outbound_channel": "slack", "outbound_target": "C17", "enabled": false
    });
    let local = create(local).await;
    assert_eq!(
        (&local["run_at"], &local["next_run_at"], &local["enabled"]),
        (&json!("2026-11-28T07:00:00Z"), &Value::Null, &json!(false))
    );
    assert_eq!(
        (
            &local["keep_history"],
            &local["outbound_channel"],
            &local["outbound_target"]
        ),
        (&json!(true), &json!("slack"), &json!("C17"))
    );
}

// The error for a faulty argument names the argument and what to write, and nothing is stored.
#[tokio::test]
async fn faulty_arguments_are_refused() {
    let (_clock, _entered) = Clock::at("2026-11-27T10:00:00Z");
    let store = MemoryStore::default();
    let cx = cx(&store, "acme");
    let base = |more| {
        with(
            json!({"action": "create", "name": "n", "prompt": "p"}),
            more,
        )
    };
    for (arguments, words) in [
        (
            json!({"action": "create"}),
            "`/schedule_type`: expected the kind of the schedule",
        ),
        (
            base(json!({"schedule_type": "cron"})),
            "`/cron_expression`: expected a cron expression",
        ),
        (
            base(json!({"schedule_type": "interval"})),
            "`/every_ms`: expected a number of milliseconds",
        ),
        (
            base(json!({"schedule_type": "interval", "every_ms": 1_000})),
            "`/every_ms`: expected",
        ),
        (
            base(json!({"schedule_type": "one-shot"})),
            "`/run_at`: expected a time",
        ),
        (
            base(json!({"schedule_type": "one-shot", "run_at": "soon"})),
            "`soon` is not a time: write an ISO 8601 time",
        ),
        (
            base(json!({"schedule_type": "one-shot", "run_at": "2026-11-27T09:59:00Z"})),
            "`/run_at`: expected a time in the future",
        ),
        (
            base(json!({"schedule_type": "cron", "cron_expression": "often"})),
            "`often` is not a cron expression",
        ),
        (
            base(json!({"schedule_type": "cron", "cron_expression": "0 0 30 2 *"})),
            "never due",
        ),
        (
            with(daily(), json!({"timezone": "Berlin"})),
            "`/timezone`: `Berlin` is not a time zone",
        ),
        (
            with(daily(), json!({"outbound_channel": "slack"})),
            "`/outbound_target`: expected an address",
        ),
        (
            with(daily(), json!({"outbound_target": "C17"})),
            "`/outbound_channel`: expected the name",
        ),
        (
            with(daily(), json!({"name": null})),
            "`/name`: expected a name",
        ),
        (
            with(daily(), json!({"prompt": null})),
            "`/prompt`: expected the instructions",
        ),
        (
            json!({"action": "update"}),
            "`/task_id`: expected the id of a task",
        ),
        (
            json!({"action": "run", "task_id": "task-1"}),
            "there is no task `task-1`",
        ),
    ] {
        let error = run(&cx, arguments).await.unwrap_err();
        assert!(error.model_text().contains(words), "{}", error.model_text());
    }
    assert_eq!(
        run(&cx, json!({"action": "list"})).await.unwrap(),
        json!([])
    );
    for _ in 0..4 {
        run(&cx, daily()).await.unwrap();
    }
    let error = run(&cx, daily()).await.unwrap_err();
    assert!(
        error.model_text().contains("there are 4 tasks already"),
        "{error:?}"
    );
}

// A task whose time has passed is enabled again only with a new time.
#[tokio::test]
async fn passed_task_needs_a_new_time() {
    let (clock, _entered) = Clock::at("2026-11-27T10:00:00Z");
    let store = MemoryStore::default();
    let cx = cx(&store, "acme");
    let once = json!({"action": "create", "name": "n", "prompt": "p", "schedule_type": "one-shot", "run_at": "+1h"});
    let id = run(&cx, once).await.unwrap()[0]["task_id"].clone();
    clock.set("2026-11-27T11:00:00Z");
    let scheduler = Scheduler::new(store.clone(), Runner::default());
    assert_eq!(scheduler.run_due().await, 1);
    let listed = run(&cx, json!({"action": "list"})).await.unwrap()[0].clone();
    assert_eq!(
        (&listed["enabled"], &listed["next_run_at"]),
        (&json!(false), &Value::Null)
    );
    let update = |more| {
        with(
            json!({"action": "update", "task_id": id, "enabled": true}),
            more,
        )
    };
    let error = run(&cx, update(json!({}))).await.unwrap_err();
    assert!(
        error
            .model_text()
            .contains("`/run_at`: expected a new time"),
        "{error:?}"
    );
    let again = run(&cx, update(json!({"run_at": "+1h"}))).await.unwrap()[0].clone();
    assert_eq!(again["next_run_at"], "2026-11-27T12:00:00Z");
}

// A one-shot task whose attempt has failed keeps its run when it is renamed. A change of its prompt ends the run, so that change needs a new time.
#[tokio::test]
async fn renamed_task_keeps_its_waiting_run() {
    let (clock, _entered) = Clock::at("2026-11-27T10:00:00Z");
    let store = MemoryStore::default();
    let cx = cx(&store, "acme");
    let once = json!({"action": "create", "name": "n", "prompt": "p", "schedule_type": "one-shot", "run_at": "+1h"});
    let id = run(&cx, once).await.unwrap()[0]["task_id"].clone();
    let update = |more| with(json!({"action": "update", "task_id": id}), more);
    clock.set("2026-11-27T11:00:00Z");
    let runner = Runner::default();
    runner.plan([Err("the model is down")]);
    let scheduler = Scheduler::new(store.clone(), runner.clone());
    assert_eq!(scheduler.run_due().await, 1);
    let error = run(&cx, update(json!({"prompt": "q"}))).await.unwrap_err();
    assert!(
        error
            .model_text()
            .contains("`/run_at`: expected a new time"),
        "{error:?}"
    );
    let renamed = run(&cx, update(json!({"name": "m"}))).await.unwrap()[0].clone();
    assert_eq!(
        (&renamed["name"], &renamed["enabled"]),
        (&json!("m"), &json!(true))
    );
    clock.set("2026-11-27T11:00:30Z");
    assert_eq!(scheduler.run_due().await, 1);
    assert_eq!(runner.attempts(), [1, 2]);
    let listed = run(&cx, json!({"action": "list"})).await.unwrap()[0].clone();
    assert_eq!(
        (&listed["enabled"], &listed["errors"]),
        (&json!(false), &json!(0))
    );
}

// Only the deletion of a task waits for an approval, and without the host's value the tool is unavailable.
#[tokio::test]
async fn deletion_waits_for_an_approval() {
    let store = MemoryStore::default();
    let cx = cx(&store, "acme");
    let id = run(&cx, daily()).await.unwrap()[0]["task_id"].clone();
    let error = run(&cx, json!({"action": "delete", "task_id": id}))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Pending);
    assert_eq!(
        run(&cx, json!({"action": "list"}))
            .await
            .unwrap()
            .as_array()
            .unwrap()
            .len(),
        1
    );
    let error = run(&ToolContext::anonymous(), json!({"action": "list"}))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(
        toolset![schedule_task]
            .get("schedule_task")
            .unwrap()
            .hints()
            .destructive
    );
}
