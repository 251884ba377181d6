//! Tests of the runs of threads.

use crate::*;

use super::records::{acme, at, thread};
use super::{at_once, tests};

/// Returns a run of a conversation of `acme`, with a lease of 100 ms.
fn new(conversation: &str, owner: &str, now: i64) -> NewRun {
    NewRun {
        thread: thread(conversation),
        principal: Some("ann".to_owned()),
        agent: Some("clerk".to_owned()),
        owner: owner.to_owned(),
        at: at(now),
        lease_until: at(now + 100),
    }
}

fn row(begun: RunBegun) -> RunRow {
    match begun {
        RunBegun::Begun(row) => *row,
        RunBegun::Busy(row) => panic!("busy: {row:?}"),
    }
}

async fn begin(store: &impl RunStore, conversation: &str, owner: &str, now: i64) -> RunRow {
    row(store
        .begin_run(new(conversation, owner, now))
        .await
        .unwrap())
}

fn end(now: i64, cause: RunCause) -> RunEnd {
    RunEnd {
        cause,
        at: at(now),
        progress: progress(2),
    }
}

fn progress(steps: u32) -> RunProgress {
    // The provider did not report tokens that were written to a cache for 1 hour.
    let usage = Usage {
        input_tokens: 100,
        cache_read_tokens: Some(60),
        cache_write_5m_tokens: Some(0),
        output_tokens: 20,
        reasoning_tokens: Some(5),
        cost_micros: Some(1_234),
        ..Usage::default()
    };
    RunProgress {
        steps,
        usage,
        unmeasured: 1,
    }
}

tests! {
    ($) __suite_run in run for Store;

    // A second driver of a running thread receives `Busy`, and the store numbers the runs of a thread.
    #[test]
    async fn a_thread_has_one_running_run(store: impl RunStore) {
        let first = begin(&store, "t", "one", 0).await;
        assert_eq!((first.id.number(), first.attempt, first.state), (1, 1, RunState::Running));
        assert_eq!((first.principal.as_deref(), first.agent.as_deref()), (Some("ann"), Some("clerk")));
        let busy = store.begin_run(new("t", "other", 99)).await.unwrap();
        assert_eq!(busy, RunBegun::Busy(Box::new(first.clone())));
        // The driver repeats its request, as it does after a lost response.
        assert_eq!(begin(&store, "t", "one", 1).await, first);
        // Other threads are not affected.
        assert_eq!(begin(&store, "u", "other", 0).await.id.number(), 1);
        let foreign = NewRun { thread: ThreadId::new("umbrella", "t").unwrap(), ..new("t", "other", 0) };
        assert_eq!(row(store.begin_run(foreign).await.unwrap()).id.number(), 1);

        assert!(!store.end_run(&first.id, "other", end(50, RunCause::Replied)).await.unwrap());
        assert!(store.end_run(&first.id, "one", end(50, RunCause::Replied)).await.unwrap());
        assert!(!store.end_run(&first.id, "one", end(60, RunCause::Failed)).await.unwrap());
        let ended = store.get_run(&first.id).await.unwrap().unwrap();
        assert_eq!((ended.state, ended.cause, ended.ended), (RunState::Ended, Some(RunCause::Replied), Some(at(50))));
        assert_eq!(ended.progress, progress(2));
        assert_eq!(begin(&store, "t", "other", 60).await.id.number(), 2);
        assert_eq!(store.get_run(&RunId::new(thread("nobody's"), 1)).await.unwrap(), None);
    }

    // A different driver takes over the run of a dead process when its lease has expired, and the old driver's renewals and end are refused.
    #[test]
    async fn expired_lease_is_taken_over(store: impl RunStore) {
        let id = begin(&store, "t", "one", 0).await.id;
        let renewed = store.renew_run(&id, "one", at(150), progress(1)).await.unwrap().unwrap();
        assert_eq!((renewed.lease_until, renewed.progress), (at(150), progress(1)));
        assert!(matches!(store.begin_run(new("t", "other", 149)).await.unwrap(), RunBegun::Busy(_)));
        let taken = begin(&store, "t", "other", 150).await;
        assert_eq!((&taken.id, taken.attempt, taken.lease_until), (&id, 2, at(250)));
        assert_eq!((taken.started, taken.progress), (at(0), progress(1)));
        assert_eq!(store.renew_run(&id, "one", at(900), progress(5)).await.unwrap(), None);
        assert!(!store.end_run(&id, "one", end(160, RunCause::Replied)).await.unwrap());
        assert_eq!(store.get_run(&id).await.unwrap().unwrap(), taken);
    }

    #[test]
    async fn one_of_many_concurrent_drivers_gets_the_run(store: impl RunStore + Clone) {
        let begun = at_once(|task| {
            let store = store.clone();
            async move { matches!(store.begin_run(new("t", &task.to_string(), 0)).await.unwrap(), RunBegun::Begun(_)) }
        }).await;
        assert_eq!(begun.into_iter().filter(|begun| *begun).count(), 1);
    }

    // A run can be stopped by a different process.
    #[test]
    async fn a_stop_request_reaches_the_driver(store: impl RunStore) {
        let id = begin(&store, "t", "one", 0).await.id;
        assert_eq!(store.stop_run(&id, RunStop::Interrupt).await.unwrap().unwrap().stop, Some(RunStop::Interrupt));
        assert_eq!(store.stop_run(&id, RunStop::Cancel).await.unwrap().unwrap().stop, Some(RunStop::Cancel));
        assert_eq!(store.stop_run(&id, RunStop::Interrupt).await.unwrap().unwrap().stop, Some(RunStop::Cancel));
        let seen = store.renew_run(&id, "one", at(150), progress(1)).await.unwrap().unwrap();
        assert_eq!(seen.stop, Some(RunStop::Cancel));
        assert_eq!(store.stop_run(&RunId::new(thread("t"), 9), RunStop::Cancel).await.unwrap(), None);

        // The driver's process has died, so the run ends as requested, and a new run begins.
        let next = begin(&store, "t", "other", 150).await;
        assert_eq!((next.id.number(), next.stop), (2, None));
        let ended = store.get_run(&id).await.unwrap().unwrap();
        assert_eq!((ended.state, ended.cause, ended.ended), (RunState::Ended, Some(RunCause::Cancelled), Some(at(150))));
        assert_eq!(store.stop_run(&id, RunStop::Interrupt).await.unwrap().unwrap(), ended, "an ended run was changed");
    }

    #[test]
    async fn lists_are_paged_newest_first_and_scoped(store: impl RunStore) {
        for (conversation, now) in [("t", 0), ("u", 0), ("t", 200), ("t", 400), ("u", 300)] {
            begin(&store, conversation, "one", now).await;
            let id = begin(&store, conversation, "one", now).await.id;
            store.end_run(&id, "one", end(now + 1, RunCause::Replied)).await.unwrap();
        }
        begin(&store, "v", "one", 500).await;
        let foreign = NewRun { thread: ThreadId::new("umbrella", "t").unwrap(), ..new("t", "one", 450) };
        store.begin_run(foreign).await.unwrap();

        let acme = acme();
        let own = Scope::Workspace(&acme);
        let names = |rows: &[RunRow]| -> Vec<String> {
            rows.iter().map(|row| format!("{}{}", row.id.thread().conversation(), row.id.number())).collect()
        };
        let all = store.list_runs(own, &RunFilter::default()).await.unwrap();
        assert_eq!(names(&all), ["v1", "t3", "u2", "t2", "u1", "t1"]);
        assert_eq!(store.list_runs(Scope::All, &RunFilter::default()).await.unwrap().len(), 7);
        let of = RunFilter { conversation: Some("t".to_owned()), ..RunFilter::default() };
        assert_eq!(names(&store.list_runs(own, &of).await.unwrap()), ["t3", "t2", "t1"]);
        let running = RunFilter { state: Some(RunState::Running), ..RunFilter::default() };
        assert_eq!(names(&store.list_runs(own, &running).await.unwrap()), ["v1"]);

        let (mut paged, mut page) = (Vec::new(), RunFilter { limit: Some(2), ..RunFilter::default() });
        loop {
            let rows = store.list_runs(own, &page).await.unwrap();
            let Some(last) = rows.last() else { break };
            page.after = Some(last.cursor());
            paged.extend(rows);
        }
        assert_eq!(paged, all);

        // Ended runs can be removed; their numbers are not used again.
        assert_eq!(store.retain_runs(own, at(301)).await.unwrap(), 3);
        assert_eq!(names(&store.list_runs(own, &RunFilter::default()).await.unwrap()), ["v1", "t3", "u2"]);
        assert_eq!(store.retain_runs(own, at(9000)).await.unwrap(), 2);
        assert_eq!(begin(&store, "t", "one", 9000).await.id.number(), 4);
        assert_eq!(store.list_runs(Scope::All, &running).await.unwrap().len(), 3);
    }
}
