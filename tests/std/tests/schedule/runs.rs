//! The rules of the scheduler: missed due times, failures, and runs at the same time.

use std::time::Duration;

use tool_core::CancellationToken;
use tool_core::store::{
    MemoryStore, ScheduleStore, TaskRunFilter, TaskRunState, TaskTiming, TaskUpdate, Timestamp,
};
use tool_std::schedule::{Scheduler, TaskDone};

use crate::clock::{Clock, time};
use crate::support::{Runner, created, row, runs, task};

const MINUTE: u64 = 60_000;

fn every_minute() -> TaskTiming {
    TaskTiming::Interval {
        every_ms: MINUTE,
        from: Timestamp::now(),
    }
}

fn hourly() -> TaskTiming {
    TaskTiming::Cron {
        expression: "0 * * * *".to_owned(),
        timezone: "UTC".to_owned(),
    }
}

// A task runs once at each due time, even if the scheduler polls more often.
#[tokio::test]
async fn each_due_time_runs_once() {
    let (clock, _entered) = Clock::at("2026-03-01T00:00:00Z");
    let runner = Runner::default();
    let (store, scheduler) = created(&runner, every_minute()).await;
    assert_eq!(scheduler.run_due().await, 0);
    for _ in 0..6 {
        clock.pass(Duration::from_secs(20));
        scheduler.run_due().await;
        scheduler.run_due().await;
    }
    assert_eq!(
        runner.dues(),
        [time("2026-03-01T00:01:00Z"), time("2026-03-01T00:02:00Z")]
    );
    let runs = runs(&store).await;
    assert!(
        runs.iter()
            .all(|run| run.state == TaskRunState::Succeeded && run.attempts == 1)
    );
    assert_eq!(row(&store).await.ready, Some(time("2026-03-01T00:03:00Z")));
}

// If no process claimed the due times in time, the last 5 run in order. Each earlier due time is stored as a skipped run with a reason.
#[tokio::test]
async fn five_missed_due_times_run_later() {
    let (clock, _entered) = Clock::at("2026-03-01T00:00:00Z");
    let runner = Runner::default();
    let (store, scheduler) = created(&runner, hourly()).await;
    clock.set("2026-03-01T08:30:00Z");
    assert_eq!(scheduler.run_due().await, 5);
    let hours = |hours: std::ops::RangeInclusive<u32>| -> Vec<Timestamp> {
        hours
            .map(|hour| time(&format!("2026-03-01T{hour:02}:00:00Z")))
            .collect()
    };
    assert_eq!(runner.dues(), hours(4..=8));
    let runs = runs(&store).await;
    let skipped: Vec<_> = runs
        .iter()
        .filter(|run| run.state == TaskRunState::Skipped)
        .collect();
    assert_eq!(
        skipped.iter().map(|run| run.due).collect::<Vec<_>>(),
        hours(1..=3)
    );
    assert!(skipped.iter().all(|run| {
        run.reason
            .as_deref()
            .unwrap()
            .starts_with("missed: only the last 5")
    }));
    assert_eq!(
        (runs.len(), row(&store).await.due),
        (8, Some(time("2026-03-01T09:00:00Z")))
    );

    // If exactly 5 due times were missed, all of them run and none is skipped.
    clock.set("2026-03-01T13:00:00Z");
    assert_eq!(scheduler.run_due().await, 5);
    assert_eq!(self::runs(&store).await.len(), 13);
}

// After a long time, the number of rows of skipped due times is bounded, and the last row represents the rest.
#[tokio::test]
async fn rows_of_skipped_due_times_are_bounded() {
    let (clock, _entered) = Clock::at("2026-01-01T00:00:00Z");
    let runner = Runner::default();
    let (store, scheduler) = created(&runner, every_minute()).await;
    clock.set("2026-04-01T00:00:00Z");
    assert_eq!(scheduler.run_due().await, 5);
    assert_eq!(runner.dues().last(), Some(&time("2026-04-01T00:00:00Z")));
    let runs = runs(&store).await;
    let skipped: Vec<_> = runs
        .iter()
        .filter(|run| run.state == TaskRunState::Skipped)
        .collect();
    assert_eq!(skipped.len(), 100);
    let last = skipped.last().unwrap().reason.as_deref().unwrap();
    assert!(
        last.contains("as all later due times before 2026-03-31T23:56:00Z"),
        "{last}"
    );
}

// A failed attempt is repeated as the same run after 30 seconds, 1 minute, and then 5 minutes. After 5 failures, the task is disabled and the run has
// failed.
#[tokio::test]
async fn failed_attempts_are_repeated_until_the_task_is_disabled() {
    let (clock, _entered) = Clock::at("2026-03-01T00:00:00Z");
    let runner = Runner::default();
    let (store, scheduler) = created(&runner, hourly()).await;
    runner.plan([
        Err("the model is down"),
        Err("panic"),
        Err("down"),
        Err("down"),
        Err("down"),
    ]);
    clock.set("2026-03-01T01:00:00Z");
    assert_eq!(scheduler.run_due().await, 1);
    assert_eq!(
        row(&store).await.last_error.as_deref(),
        Some("the model is down")
    );
    for (number, wait) in [(1, 30), (2, 60), (3, 300), (4, 300)] {
        clock.pass(Duration::from_secs(wait - 1));
        assert_eq!(
            scheduler.run_due().await,
            0,
            "attempt {number} is too early"
        );
        assert_eq!(
            (row(&store).await.errors, row(&store).await.enabled),
            (number, true)
        );
        clock.pass(Duration::from_secs(1));
        assert_eq!(scheduler.run_due().await, 1);
    }
    let off = row(&store).await;
    assert_eq!((off.enabled, off.errors, off.ready), (false, 5, None));
    assert_eq!(runner.attempts(), [1, 2, 3, 4, 5]);
    let runs = runs(&store).await;
    assert_eq!(
        (runs.len(), runs[0].state, runs[0].attempts),
        (1, TaskRunState::Failed, 5)
    );
    assert_eq!(runs[0].reason.as_deref(), Some("down"));
    clock.set("2026-03-02T00:00:00Z");
    assert_eq!(scheduler.run_due().await, 0);
}

// A change of the task during its fifth attempt resets the errors, so the failure of this attempt does not disable the task.
#[tokio::test(start_paused = true)]
async fn change_during_the_last_attempt_is_kept() {
    let (clock, _entered) = Clock::at("2026-03-01T00:00:00Z");
    let runner = Runner::taking(Duration::from_secs(5));
    let (store, scheduler) = created(&runner, hourly()).await;
    runner.plan((0..5).map(|_| Err("down")));
    clock.set("2026-03-01T01:00:00Z");
    scheduler.run_due().await;
    for wait in [30, 60, 300] {
        clock.pass(Duration::from_secs(wait));
        scheduler.run_due().await;
    }
    clock.pass(Duration::from_mins(5));
    let change = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let row = row(&store).await;
        assert_eq!(row.errors, 4);
        let update = TaskUpdate {
            definition: row.definition.clone(),
            enabled: true,
            due: row.due,
            error: None,
            at: Timestamp::now(),
        };
        store
            .update_task(&row.id, update, row.version)
            .await
            .unwrap();
    };
    futures::join!(scheduler.run_due(), change);
    assert_eq!(runner.attempts(), [1, 2, 3, 4, 5]);
    let after = row(&store).await;
    assert_eq!((after.enabled, after.errors), (true, 1));
    clock.pass(Duration::from_mins(5));
    assert_eq!(scheduler.run_due().await, 1);
    assert_eq!(runs(&store).await[0].state, TaskRunState::Succeeded);
}

// A success resets the count of errors. Due times that passed during the failed attempts run afterwards.
#[tokio::test]
async fn success_resets_the_errors() {
    let (clock, _entered) = Clock::at("2026-03-01T00:00:00Z");
    let runner = Runner::default();
    let (store, scheduler) = created(&runner, every_minute()).await;
    runner.plan([
        Err("down"),
        Err("down"),
        Ok(TaskDone::Waiting("the turn waits for ann".to_owned())),
    ]);
    for wait in [60, 30, 60] {
        clock.pass(Duration::from_secs(wait));
        scheduler.run_due().await;
    }
    let first = time("2026-03-01T00:01:00Z");
    let second = time("2026-03-01T00:02:00Z");
    assert_eq!(runner.dues(), [first, first, first, second]);
    assert_eq!(
        (row(&store).await.errors, row(&store).await.last_error),
        (0, None)
    );
    let runs = runs(&store).await;
    assert_eq!(
        (runs[0].state, runs[0].attempts),
        (TaskRunState::Waiting, 3)
    );
    assert_eq!(runs[0].reason.as_deref(), Some("the turn waits for ann"));
}

// A scheduler drives at most 3 runs at the same time, and at most one run of each task.
#[tokio::test(start_paused = true)]
async fn three_runs_are_active_at_the_same_time() {
    let (clock, _entered) = Clock::at("2026-03-01T00:00:00Z");
    let runner = Runner::taking(Duration::from_secs(5));
    let (store, scheduler) = created(&runner, every_minute()).await;
    for name in ["a", "b", "c", "d", "e", "f"] {
        store.create_task(task(name, every_minute())).await.unwrap();
    }
    clock.pass(Duration::from_mins(1));
    assert_eq!(scheduler.run_due().await, 7);
    assert_eq!(runner.most_active(), 3);
    // Two missed due times of one task run one after the other.
    let alone = Runner::taking(Duration::from_secs(5));
    let (_store, scheduler) = created(&alone, every_minute()).await;
    clock.pass(Duration::from_mins(2));
    assert_eq!((scheduler.run_due().await, alone.most_active()), (2, 1));
}

// Two schedulers on one store share the work: each due time runs once.
#[tokio::test(start_paused = true)]
async fn two_schedulers_share_the_runs() {
    let (clock, _entered) = Clock::at("2026-03-01T00:00:00Z");
    let runner = Runner::taking(Duration::from_secs(1));
    let store = MemoryStore::default();
    for name in ["t", "a", "b", "c"] {
        store.create_task(task(name, every_minute())).await.unwrap();
    }
    let schedulers = [0, 1].map(|_| Scheduler::new(store.clone(), runner.clone()));
    clock.pass(Duration::from_mins(1));
    let [one, two] = &schedulers;
    let (one, two) = futures::join!(one.run_due(), two.run_due());
    assert_eq!((one + two, runner.dues().len()), (4, 4));
}

// A run whose process is lost is claimed again when the lease ends, as the same run with the same conversation.
#[tokio::test(start_paused = true)]
async fn lost_run_is_claimed_again_as_the_same_run() {
    let (clock, _entered) = Clock::at("2026-03-01T00:00:00Z");
    let runner = Runner::taking(Duration::from_hours(1));
    let (store, scheduler) = created(&runner, hourly()).await;
    clock.set("2026-03-01T01:00:00Z");
    // The future is dropped in the middle of the run, as if the process had ended.
    let dropped = tokio::time::timeout(Duration::from_secs(5), scheduler.run_due()).await;
    assert!(dropped.is_err());
    let conversation = runs(&store).await[0].conversation.clone();
    let quick = Runner::default();
    let other = Scheduler::new(store.clone(), quick.clone());
    clock.pass(Duration::from_secs(59));
    assert_eq!(other.run_due().await, 0, "the lease has not ended");
    clock.pass(Duration::from_secs(1));
    assert_eq!(other.run_due().await, 1);
    assert_eq!(
        (quick.dues(), quick.attempts()),
        (vec![time("2026-03-01T01:00:00Z")], vec![2])
    );
    let runs = runs(&store).await;
    assert_eq!(
        (runs.len(), runs[0].attempts, runs[0].state),
        (1, 2, TaskRunState::Succeeded)
    );
    assert_eq!(runs[0].conversation, conversation);
}

// The scheduler of a host looks for due tasks at each tick, and waits for its runs when it is stopped.
#[tokio::test(start_paused = true)]
async fn scheduler_runs_until_it_is_stopped() {
    let (clock, _entered) = Clock::at("2026-03-01T00:00:00Z");
    let runner = Runner::taking(Duration::from_secs(40));
    let (store, scheduler) = created(&runner, every_minute()).await;
    let stop = CancellationToken::new();
    let test = async {
        tokio::time::sleep(Duration::from_secs(29)).await;
        clock.pass(Duration::from_mins(1));
        tokio::time::sleep(Duration::from_secs(2)).await;
        assert_eq!(runner.dues().len(), 1);
        stop.cancel();
    };
    futures::join!(scheduler.run(stop.clone()), test);
    assert_eq!(runs(&store).await[0].state, TaskRunState::Succeeded);
}

// A run stops when its claim is lost, for example because the task was deleted.
#[tokio::test(start_paused = true)]
async fn run_of_a_deleted_task_is_dropped() {
    let (clock, _entered) = Clock::at("2026-03-01T00:00:00Z");
    let runner = Runner::taking(Duration::from_hours(1));
    let (store, scheduler) = created(&runner, every_minute()).await;
    clock.pass(Duration::from_mins(1));
    let began = tokio::time::Instant::now();
    let test = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let id = crate::support::id("t");
        assert!(store.remove_task(&id, Timestamp::now()).await.unwrap());
        let filter = TaskRunFilter::default();
        let ended = store.list_task_runs(&id, &filter);
        ended.await.unwrap()
    };
    let (_, ended) = futures::join!(scheduler.run_due(), test);
    assert!(began.elapsed() < Duration::from_mins(1));
    assert_eq!((ended.len(), ended[0].state), (1, TaskRunState::Failed));
}
