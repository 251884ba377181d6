//! Tests of scheduled tasks.

use std::time::Duration;

use crate::*;

use super::records::at;
use super::{at_once, conflict, tests};

/// The traits that these tests need.
#[doc(hidden)]
pub trait Schedules: ScheduleStore + Maintenance {}
impl<T: ScheduleStore + Maintenance> Schedules for T {}

const LEASE: Duration = Duration::from_millis(50);

fn id(id: &str) -> TaskId {
    TaskId::new(&Workspace::new("acme"), id).unwrap()
}

fn definition() -> TaskDefinition {
    TaskDefinition {
        name: "news".to_owned(),
        prompt: "Summarize\0 the news.".to_owned(),
        timing: TaskTiming::Interval {
            every_ms: 100,
            from: at(100),
        },
        delete_after_run: false,
        keep_history: false,
        outbound_channel: Some("slack".to_owned()),
        outbound_target: None,
    }
}

/// Returns a task that is due at 200.
fn new(name: &str) -> NewTask {
    NewTask {
        id: id(name),
        principal: Some("ann".to_owned()),
        definition: definition(),
        enabled: true,
        due: Some(at(200)),
        at: at(100),
    }
}

/// Returns a claim, made at the time `now`, of the run that is due at `due`.
fn claim(row: &TaskRow, due: i64, now: i64) -> TaskClaim {
    TaskClaim {
        id: row.id.clone(),
        version: row.version,
        due: at(due),
        conversation: format!("run at {due}"),
        skipped: Vec::new(),
        next: Some(at(due + 100)),
        worker: "w1".to_owned(),
        lease: LEASE,
        most_errors: 3,
        at: at(now),
    }
}

/// Changes one part of an update.
type Change = fn(&mut TaskUpdate);

fn update(enabled: bool, due: Option<i64>) -> TaskUpdate {
    TaskUpdate {
        definition: TaskDefinition {
            name: "changed".to_owned(),
            ..definition()
        },
        enabled,
        due: due.map(at),
        error: None,
        at: at(900),
    }
}

/// Returns the end of an attempt that is repeated after 30 ms, unless the task has at least `most_errors` errors.
fn failed(most_errors: u32) -> TaskOutcome {
    TaskOutcome::Failed {
        error: "the model is down".to_owned(),
        retry: Duration::from_millis(30),
        most_errors,
    }
}

async fn row(store: &impl ScheduleStore, name: &str) -> TaskRow {
    store.task(&id(name)).await.unwrap().unwrap()
}

/// Claims the run of a task that is due at a time, and returns the token.
async fn begin(store: &impl ScheduleStore, name: &str, due: i64, now: i64) -> String {
    let claim = claim(&row(store, name).await, due, now);
    let (row, run) = store.claim_task(claim).await.unwrap().unwrap();
    assert_eq!(
        (row.running, run.due, run.state),
        (Some(at(due)), at(due), TaskRunState::Running)
    );
    row.token.unwrap()
}

async fn end(store: &impl ScheduleStore, name: &str, token: &str, outcome: TaskOutcome, now: i64) {
    let attempt = TaskAttempt {
        outcome,
        at: at(now),
    };
    assert!(
        store
            .end_task_attempt(&id(name), token, attempt)
            .await
            .unwrap()
    );
}

async fn ready(store: &impl ScheduleStore, now: i64) -> Vec<String> {
    let rows = store.ready_tasks(at(now), 10).await.unwrap();
    rows.iter().map(|row| row.id.id().to_owned()).collect()
}

/// Returns the due time, the state and the number of attempts of each run, the latest first.
async fn runs(store: &impl ScheduleStore, name: &str) -> Vec<(i64, TaskRunState, u32)> {
    let runs = store
        .list_task_runs(&id(name), &TaskRunFilter::default())
        .await
        .unwrap();
    runs.iter()
        .map(|run| (run.due.as_millis(), run.state, run.attempts))
        .collect()
}

tests! {
    ($) __suite_schedule in schedule for Schedules;

    // A task is stored as it was created, and its first run has the due time, the conversation and the end that the process reports. An
    // attempt is ended once, with the token of its claim.
    #[test]
    async fn due_run_is_claimed_and_ends(store: impl Schedules) {
        let store = &store;
        let created = store.create_task(new("a")).await.unwrap();
        assert_eq!(store.task(&id("a")).await.unwrap(), Some(created.clone()));
        assert_eq!((&created.definition, created.ready, created.version), (&definition(), Some(at(200)), 1));
        conflict(store.create_task(new("a")).await, "choose another id");
        assert_eq!((ready(store, 199).await, ready(store, 200).await), (vec![], vec!["a".to_owned()]));
        assert_eq!(store.claim_task(claim(&created, 200, 199)).await.unwrap(), None, "the task is not due");

        let (claimed, run) = store.claim_task(claim(&created, 200, 210)).await.unwrap().unwrap();
        assert_eq!((claimed.due, claimed.running, claimed.ready), (Some(at(300)), Some(at(200)), Some(at(260))));
        assert_eq!((claimed.worker.as_deref(), run.attempts, run.started), (Some("w1"), 1, at(210)));
        assert_eq!((run.conversation.as_deref(), run.ended), (Some("run at 200"), None));
        // The claim was computed from a row that has changed.
        assert_eq!(store.claim_task(claim(&created, 200, 300)).await.unwrap(), None);
        let token = claimed.token.unwrap();
        let done = TaskAttempt { outcome: TaskOutcome::Succeeded, at: at(240) };
        assert!(!store.end_task_attempt(&id("a"), "other", done.clone()).await.unwrap());
        assert!(store.end_task_attempt(&id("a"), &token, done.clone()).await.unwrap());
        assert!(!store.end_task_attempt(&id("a"), &token, done).await.unwrap());
        let ended = row(store, "a").await;
        assert_eq!((ended.running, ended.token, ended.ready), (None, None, Some(at(300))));
        let runs = store.list_task_runs(&id("a"), &TaskRunFilter::default()).await.unwrap();
        assert_eq!((runs.len(), runs[0].state, runs[0].ended), (1, TaskRunState::Succeeded, Some(at(240))));
    }

    // Skipped due times are rows with their reasons. A run that has ended does not run again, and the task advances to the next due time.
    #[test]
    async fn skipped_due_times_are_rows(store: impl Schedules) {
        let store = &store;
        let created = store.create_task(new("a")).await.unwrap();
        let skip = |due| SkippedRun { due: at(due), reason: format!("missed {due}") };
        let late = TaskClaim { skipped: vec![skip(200), skip(300)], ..claim(&created, 400, 1_000) };
        let (claimed, _) = store.claim_task(late).await.unwrap().unwrap();
        assert_eq!(claimed.due, Some(at(500)));
        end(store, "a", &claimed.token.unwrap(), TaskOutcome::Waiting("for ann".to_owned()), 1_010).await;
        let all = [(400, TaskRunState::Waiting, 1), (300, TaskRunState::Skipped, 0), (200, TaskRunState::Skipped, 0)];
        assert_eq!(runs(store, "a").await, all);
        let page = TaskRunFilter { limit: Some(1), before: Some(at(400)), ..TaskRunFilter::default() };
        let page = store.list_task_runs(&id("a"), &page).await.unwrap();
        assert_eq!((page.len(), page[0].reason.as_deref(), page[0].ended), (1, Some("missed 300"), Some(at(1_000))));
        let waiting = TaskRunFilter { state: Some(TaskRunState::Waiting), ..TaskRunFilter::default() };
        let waiting = store.list_task_runs(&id("a"), &waiting).await.unwrap();
        assert_eq!(waiting.iter().map(|run| run.due).collect::<Vec<_>>(), [at(400)]);

        for due in [200, 400] {
            store.update_task(&id("a"), update(true, Some(due)), row(store, "a").await.version).await.unwrap().unwrap();
            let again = claim(&row(store, "a").await, due, 1_020);
            assert_eq!(store.claim_task(again).await.unwrap(), None);
            let row = row(store, "a").await;
            assert_eq!((row.due, row.running, row.ready), (Some(at(due + 100)), None, Some(at(due + 100))));
        }
        assert_eq!(runs(store, "a").await, all);
    }

    // A failed attempt is repeated later as the same run, and a success resets the errors. If no further attempt
    // is allowed, the run fails and the task is switched off.
    #[test]
    async fn failed_attempt_is_repeated_as_the_same_run(store: impl Schedules) {
        let store = &store;
        store.create_task(new("a")).await.unwrap();
        let token = begin(store, "a", 200, 200).await;
        end(store, "a", &token, failed(3), 210).await;
        let waiting = row(store, "a").await;
        assert_eq!((waiting.errors, waiting.token, waiting.running), (1, None, Some(at(200))));
        assert_eq!((waiting.ready, waiting.last_error.as_deref()), (Some(at(240)), Some("the model is down")));
        assert_eq!(ready(store, 239).await, [""; 0]);
        let other = claim(&row(store, "a").await, 300, 400);
        assert_eq!(store.claim_task(other).await.unwrap(), None, "the run of 200 has not ended");
        let token = begin(store, "a", 200, 240).await;
        end(store, "a", &token, TaskOutcome::Succeeded, 250).await;
        let done = row(store, "a").await;
        assert_eq!((done.errors, done.last_error, done.due), (0, None, Some(at(300))));
        assert_eq!(runs(store, "a").await, [(200, TaskRunState::Succeeded, 2)]);

        let token = begin(store, "a", 300, 300).await;
        end(store, "a", &token, failed(1), 310).await;
        let off = row(store, "a").await;
        assert_eq!((off.enabled, off.ready, off.errors), (false, None, 1));
        assert_eq!(runs(store, "a").await[0], (300, TaskRunState::Failed, 1));
    }

    // If a process does not extend its claim, another process claims the same run again, and the task counts an error. At the maximum number of
    // errors, the run fails and the task is switched off.
    #[test]
    async fn lost_run_is_claimed_again(store: impl Schedules) {
        let store = &store;
        store.create_task(new("a")).await.unwrap();
        let first = begin(store, "a", 200, 200).await;
        assert!(store.extend_task(&id("a"), &first, LEASE, at(240)).await.unwrap());
        assert_eq!(ready(store, 289).await, [""; 0]);
        let second = begin(store, "a", 200, 290).await;
        assert_ne!(first, second);
        assert!(!store.extend_task(&id("a"), &first, LEASE, at(291)).await.unwrap());
        let late = TaskAttempt { outcome: TaskOutcome::Succeeded, at: at(291) };
        assert!(!store.end_task_attempt(&id("a"), &first, late).await.unwrap());
        assert_eq!((row(store, "a").await.errors, runs(store, "a").await), (1, vec![(200, TaskRunState::Running, 2)]));
        begin(store, "a", 200, 340).await;
        let last = claim(&row(store, "a").await, 200, 390);
        assert_eq!(store.claim_task(last).await.unwrap(), None, "the third process is lost");
        let off = row(store, "a").await;
        assert_eq!((off.enabled, off.running, off.ready, off.errors), (false, None, None, 3));
        let runs = store.list_task_runs(&id("a"), &TaskRunFilter::default()).await.unwrap();
        assert_eq!((runs[0].state, runs[0].attempts), (TaskRunState::Failed, 3));
        assert_eq!(runs[0].reason.as_deref(), Some("the process ended during the run"));
    }

    // A requested run does not change the due times, and begins even if the task is switched off.
    #[test]
    async fn requested_run_does_not_change_the_schedule(store: impl Schedules) {
        let store = &store;
        store.create_task(NewTask { enabled: false, ..new("a") }).await.unwrap();
        assert_eq!(ready(store, 9_999).await, [""; 0]);
        for time in [150, 160] {
            let row = store.request_task_run(&id("a"), at(time)).await.unwrap().unwrap();
            assert_eq!((row.requested, row.ready), (Some(at(150)), Some(at(150))));
        }
        let token = begin(store, "a", 150, 170).await;
        // A request during a run waits for its end.
        assert_eq!(store.request_task_run(&id("a"), at(180)).await.unwrap().unwrap().ready, Some(at(220)));
        end(store, "a", &token, TaskOutcome::Succeeded, 190).await;
        let row = row(store, "a").await;
        assert_eq!((row.requested, row.ready, row.due, row.enabled), (Some(at(180)), Some(at(180)), Some(at(200)), false));
        assert_eq!(store.request_task_run(&id("b"), at(150)).await.unwrap(), None);
    }

    // A task that is due once is switched off after its run, and a task that is deleted after its run keeps its runs.
    #[test]
    async fn last_run_ends_the_task(store: impl Schedules) {
        let store = &store;
        for (name, delete_after_run) in [("a", false), ("b", true)] {
            let timing = TaskTiming::Once { at: at(200) };
            let definition = TaskDefinition { timing, delete_after_run, ..definition() };
            store.create_task(NewTask { definition, ..new(name) }).await.unwrap();
            let claim = TaskClaim { next: None, ..claim(&row(store, name).await, 200, 200) };
            let (row, _) = store.claim_task(claim).await.unwrap().unwrap();
            end(store, name, &row.token.unwrap(), TaskOutcome::Succeeded, 210).await;
            assert_eq!(runs(store, name).await, [(200, TaskRunState::Succeeded, 1)]);
        }
        let off = row(store, "a").await;
        assert_eq!((off.enabled, off.due, off.ready), (false, None, None));
        assert_eq!(store.task(&id("b")).await.unwrap(), None);
    }

    // An update checks the version and resets the errors. A run in progress continues. If the update switches the task off, a run that waits for its
    // next attempt ends.
    #[test]
    async fn update_replaces_the_definition(store: impl Schedules) {
        let store = &store;
        let created = store.create_task(new("a")).await.unwrap();
        let token = begin(store, "a", 200, 200).await;
        let stale = store.update_task(&id("a"), update(true, Some(950)), created.version).await;
        assert!(matches!(stale, Err(StoreError::Stale(_))), "{stale:?}");
        let version = row(store, "a").await.version;
        let during = store.update_task(&id("a"), update(true, Some(950)), version).await.unwrap().unwrap();
        assert_eq!((during.running, &*during.definition.name, during.due), (Some(at(200)), "changed", Some(at(950))));
        end(store, "a", &token, failed(3), 910).await;
        let off = store.update_task(&id("a"), update(false, None), row(store, "a").await.version).await.unwrap().unwrap();
        assert_eq!((off.running, off.ready, off.errors, off.last_error), (None, None, 0, None));
        assert_eq!(runs(store, "a").await, [(200, TaskRunState::Failed, 1)]);
        assert_eq!(store.update_task(&id("b"), update(true, None), 1).await.unwrap(), None);
    }

    // A run that waits for its next attempt continues if only the name or the outbound channel of the task changes. It ends if the prompt or the
    // schedule changes, or if the task is switched off.
    #[test]
    async fn update_keeps_a_waiting_run_of_the_same_work(store: impl Schedules) {
        let store = &store;
        let timing = TaskTiming::Once { at: at(200) };
        let once = TaskDefinition { timing, ..definition() };
        let changes: [(&str, Change, bool); 5] = [
            ("name", |update| "renamed".clone_into(&mut update.definition.name), true),
            ("channel", |update| update.definition.outbound_channel = None, true),
            ("prompt", |update| "Write.".clone_into(&mut update.definition.prompt), false),
            ("timing", |update| update.definition.timing = TaskTiming::Once { at: at(800) }, false),
            ("off", |update| update.enabled = false, false),
        ];
        for (name, change, is_kept) in changes {
            store.create_task(NewTask { definition: once.clone(), ..new(name) }).await.unwrap();
            let claim = TaskClaim { next: None, ..claim(&row(store, name).await, 200, 200) };
            let (claimed, _) = store.claim_task(claim).await.unwrap().unwrap();
            end(store, name, &claimed.token.unwrap(), failed(3), 210).await;
            let mut update = TaskUpdate { definition: once.clone(), ..update(true, None) };
            change(&mut update);
            let expected = row(store, name).await.version;
            let after = store.update_task(&id(name), update, expected).await.unwrap().unwrap();
            let waiting = is_kept.then(|| at(240));
            assert_eq!((after.ready, after.running, after.errors), (waiting, is_kept.then(|| at(200)), 0), "{name}");
            let state = if is_kept { TaskRunState::Running } else { TaskRunState::Failed };
            assert_eq!(runs(store, name).await, [(200, state, 1)], "{name}");
        }
        let token = begin(store, "name", 200, 240).await;
        end(store, "name", &token, TaskOutcome::Succeeded, 250).await;
        assert_eq!(runs(store, "name").await, [(200, TaskRunState::Succeeded, 2)]);
    }

    // An update during the last attempt resets the errors, so a failure of this attempt does not switch the task off.
    #[test]
    async fn update_during_the_last_attempt_is_kept(store: impl Schedules) {
        let store = &store;
        store.create_task(new("a")).await.unwrap();
        let token = begin(store, "a", 200, 200).await;
        end(store, "a", &token, failed(2), 210).await;
        let token = begin(store, "a", 200, 240).await;
        let version = row(store, "a").await.version;
        store.update_task(&id("a"), update(true, Some(950)), version).await.unwrap().unwrap();
        end(store, "a", &token, failed(2), 250).await;
        let after = row(store, "a").await;
        assert_eq!((after.enabled, after.errors, after.due, after.ready), (true, 1, Some(at(950)), Some(at(280))));
        assert_eq!(runs(store, "a").await, [(200, TaskRunState::Running, 2)]);
        let token = begin(store, "a", 200, 280).await;
        end(store, "a", &token, failed(2), 290).await;
        assert_eq!((row(store, "a").await.enabled, runs(store, "a").await), (false, vec![(200, TaskRunState::Failed, 3)]));
    }

    // A task that is switched off during an attempt is not attempted again, whether the attempt fails or its process dies. If it is switched on again
    // during the attempt, the run continues.
    #[test]
    async fn task_switched_off_during_an_attempt_is_not_attempted_again(store: impl Schedules) {
        let store = &store;
        for (name, dies) in [("fails", false), ("dies", true)] {
            store.create_task(new(name)).await.unwrap();
            let token = begin(store, name, 200, 200).await;
            let version = row(store, name).await.version;
            let off = store.update_task(&id(name), update(false, Some(300)), version).await.unwrap().unwrap();
            assert_eq!((off.running, off.token.as_deref()), (Some(at(200)), Some(&*token)), "the attempt continues");
            let reason = if dies {
                assert_eq!(ready(store, 250).await, [name], "the lease has ended");
                let again = claim(&row(store, name).await, 200, 250);
                assert_eq!(store.claim_task(again).await.unwrap(), None, "the run has ended");
                "the process ended during the run, and the task is switched off"
            } else {
                end(store, name, &token, failed(3), 210).await;
                "the model is down"
            };
            let after = row(store, name).await;
            assert_eq!((after.enabled, after.running, after.token, after.ready, after.errors), (false, None, None, None, 1), "{name}");
            let runs = store.list_task_runs(&id(name), &TaskRunFilter::default()).await.unwrap();
            assert_eq!((runs.len(), runs[0].state, runs[0].attempts), (1, TaskRunState::Failed, 1), "{name}");
            assert_eq!(runs[0].reason.as_deref(), Some(reason), "{name}");
            assert!(runs[0].ended.is_some(), "{name}");
            assert_eq!(ready(store, 9_999).await, [""; 0], "{name}");
        }
        store.create_task(new("on")).await.unwrap();
        let token = begin(store, "on", 200, 200).await;
        for enabled in [false, true] {
            let version = row(store, "on").await.version;
            store.update_task(&id("on"), update(enabled, Some(300)), version).await.unwrap().unwrap();
        }
        end(store, "on", &token, failed(3), 210).await;
        assert_eq!(runs(store, "on").await, [(200, TaskRunState::Running, 1)]);
        assert_eq!(row(store, "on").await.ready, Some(at(240)));
    }

    // A run that was requested for a task that is off is attempted once, and a later request runs the task again.
    #[test]
    async fn requested_run_of_a_task_that_is_off_is_attempted_once(store: impl Schedules) {
        let store = &store;
        store.create_task(NewTask { enabled: false, ..new("a") }).await.unwrap();
        for time in [150, 170] {
            store.request_task_run(&id("a"), at(time)).await.unwrap().unwrap();
            let token = begin(store, "a", time, time).await;
            end(store, "a", &token, failed(3), time + 10).await;
            let after = row(store, "a").await;
            assert_eq!((after.running, after.ready, after.enabled), (None, None, false));
            assert_eq!(runs(store, "a").await[0], (time, TaskRunState::Failed, 1));
        }
    }

    // Lists are ordered and have pages, and tasks of another workspace are neither found nor changed.
    #[test]
    async fn tasks_belong_to_their_workspace(store: impl Schedules) {
        let store = &store;
        let (acme, umbrella) = (Workspace::new("acme"), Workspace::new("umbrella"));
        let foreign = TaskId::new(&umbrella, "a").unwrap();
        for name in ["b", "a", "c"] {
            store.create_task(new(name)).await.unwrap();
        }
        assert_eq!(store.task(&foreign).await.unwrap(), None);
        assert_eq!(store.update_task(&foreign, update(false, None), 1).await.unwrap(), None);
        assert_eq!(store.request_task_run(&foreign, at(150)).await.unwrap(), None);
        assert!(!store.remove_task(&foreign, at(150)).await.unwrap());
        store.create_task(NewTask { id: foreign.clone(), ..new("a") }).await.unwrap();
        let names = async |scope: Scope<'_>, filter: TaskFilter| {
            let rows = store.list_tasks(scope, &filter).await.unwrap();
            rows.iter().map(|row| row.id.id().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(names(Scope::All, TaskFilter::default()).await, ["a", "b", "c", "a"]);
        assert_eq!(names(Scope::Workspace(&umbrella), TaskFilter::default()).await, ["a"]);
        let page = TaskFilter { limit: Some(1), after: Some(id("a")) };
        assert_eq!(names(Scope::Workspace(&acme), page).await, ["b"]);
        assert!(store.remove_task(&foreign, at(150)).await.unwrap());
        assert_eq!(names(Scope::All, TaskFilter::default()).await, ["a", "b", "c"]);
        conflict(TaskId::new(&acme, "a\0"), "the id of the task");
    }

    // The removal of a task ends its run, whether a process drives the run or the run waits for its next attempt. So retention and the erasure of the
    // user cover the run.
    #[test]
    async fn removed_task_ends_its_run(store: impl Schedules) {
        let store = &store;
        for (name, is_driven) in [("a", true), ("b", false)] {
            store.create_task(new(name)).await.unwrap();
            let token = begin(store, name, 200, 200).await;
            if !is_driven {
                end(store, name, &token, failed(3), 205).await;
            }
            assert!(store.remove_task(&id(name), at(210)).await.unwrap());
            assert!(!store.remove_task(&id(name), at(220)).await.unwrap());
            let ended = store.list_task_runs(&id(name), &TaskRunFilter::default()).await.unwrap();
            assert_eq!((ended[0].state, ended[0].ended, ended[0].principal.as_deref()), (TaskRunState::Failed, Some(at(210)), Some("ann")));
            assert_eq!(ended[0].reason.as_deref(), Some("the task was deleted before the run ended"));
            assert!(!store.extend_task(&id(name), &token, LEASE, at(230)).await.unwrap());
            let late = TaskAttempt { outcome: TaskOutcome::Succeeded, at: at(230) };
            assert!(!store.end_task_attempt(&id(name), &token, late).await.unwrap());
        }
        // The erasure of a user keeps the runs of other users, and those of the user with the same name in a different workspace.
        store.create_task(NewTask { principal: Some("bob".to_owned()), ..new("c") }).await.unwrap();
        begin(store, "c", 200, 200).await;
        let (acme, umbrella) = (Workspace::new("acme"), Workspace::new("umbrella"));
        store.erase_contents(Erasure::Principal { workspace: &umbrella, principal: "ann" }).await.unwrap();
        assert_eq!(runs(store, "a").await, [(200, TaskRunState::Failed, 1)]);
        store.erase_contents(Erasure::Principal { workspace: &acme, principal: "ann" }).await.unwrap();
        assert_eq!((runs(store, "a").await, runs(store, "b").await), (vec![], vec![]));
        assert!(store.remove_task(&id("c"), at(210)).await.unwrap());
        let keep = Retention { runs: Some(Duration::from_millis(100)), ..Retention::default() };
        assert_eq!(store.purge(&keep, at(1_000), 10).await.unwrap().task_runs, 1);
        assert_eq!(runs(store, "c").await, []);
    }

    // The erasure of a user removes the tasks of the user with their runs, the erasure of a conversation removes its runs, and retention removes
    // ended runs.
    #[test]
    async fn erasure_and_retention_cover_tasks(store: impl Schedules) {
        let store = &store;
        for (name, user) in [("a", "ann"), ("b", "bob")] {
            store.create_task(NewTask { principal: Some(user.to_owned()), ..new(name) }).await.unwrap();
            for due in [200, 300] {
                let token = begin(store, name, due, due).await;
                end(store, name, &token, TaskOutcome::Succeeded, due + 10).await;
            }
            begin(store, name, 400, 400).await;
        }
        let workspace = &Workspace::new("acme");
        store.erase_contents(Erasure::Principal { workspace, principal: "ann" }).await.unwrap();
        assert_eq!((store.task(&id("a")).await.unwrap(), runs(store, "a").await), (None, vec![]));
        let thread = ThreadId::new("acme", "run at 200").unwrap();
        store.erase_contents(Erasure::Thread(&thread)).await.unwrap();
        let left = vec![(400, TaskRunState::Running, 1), (300, TaskRunState::Succeeded, 1)];
        assert_eq!(runs(store, "b").await, left);
        let keep = |millis| Retention { runs: Some(Duration::from_millis(millis)), ..Retention::default() };
        assert_eq!(store.purge(&keep(690), at(1_000), 10).await.unwrap().task_runs, 0);
        assert_eq!(store.purge(&keep(689), at(1_000), 10).await.unwrap().task_runs, 1);
        assert_eq!(runs(store, "b").await, left[..1]);
    }
}

tests! {
    ($) __suite_schedule_races in schedule for Schedules;

    // 32 tokio tasks of two processes claim the same run at the same time, for each of 8 scheduled tasks: one claim of each run succeeds.
    #[test]
    fn concurrent_claims_begin_a_run_once(opener) {
        opener.test(async |place| {
            let stores = [place.open().await, place.open().await];
            for number in 0..8 {
                stores[0].create_task(new(&format!("t{number}"))).await.unwrap();
            }
            let claimed = at_once(|task| {
                let store = stores[usize::from(task % 2 == 1)].clone();
                async move {
                    let mut claimed = Vec::new();
                    for row in store.ready_tasks(at(200), 10).await.unwrap() {
                        claimed.extend(store.claim_task(claim(&row, 200, 200)).await.unwrap());
                    }
                    claimed.len()
                }
            }).await;
            assert_eq!(claimed.iter().sum::<usize>(), 8);
            for number in 0..8 {
                assert_eq!(runs(&stores[1], &format!("t{number}")).await, [(200, TaskRunState::Running, 1)]);
            }
        });
    }
}
