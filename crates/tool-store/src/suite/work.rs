//! Tests of the queue of threads.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::*;

use super::records::{at, message, thread};
use super::{at_once, conflict, tests};

/// The traits of a store whose queue is erased and purged.
#[doc(hidden)]
pub trait Queue: WorkStore + Maintenance {}
impl<T: WorkStore + Maintenance> Queue for T {}

const LEASE: Duration = Duration::from_millis(300);

fn chief() -> WorkAgent {
    WorkAgent::new("chief", "1")
}

/// Returns the work of a conversation for the agent `chief`, queued at 100.
fn new(conversation: &str) -> NewWork {
    NewWork {
        thread: thread(conversation),
        agent: chief(),
        principal: Some("ann".to_owned()),
        facts: Some(r#"{"language":"grün\u0000…"}"#.to_owned()),
        delay: Duration::ZERO,
        at: at(100),
    }
}

/// Returns a claim of the worker `w1` for the threads of the agent `chief`.
fn claim(now: i64) -> WorkClaim {
    WorkClaim {
        agents: vec![chief()],
        worker: "w1".to_owned(),
        lease: LEASE,
        limit: 9,
        suspects: 9,
        most_recoveries: 2,
        at: at(now),
    }
}

async fn queue(store: &impl WorkStore, work: NewWork) -> WorkRow {
    store.queue_work(work, None).await.unwrap().0
}

async fn claimed(store: &impl WorkStore, claim: WorkClaim) -> Vec<WorkRow> {
    let done = store.claim_work(claim).await.unwrap();
    assert_eq!(done.ended, []);
    done.claimed
}

/// Claims the only ready row. Returns its token.
async fn token(store: &impl WorkStore, now: i64) -> String {
    let mut rows = claimed(store, claim(now)).await;
    assert_eq!(rows.len(), 1, "{rows:?}");
    rows.remove(0).token.unwrap()
}

async fn get(store: &impl WorkStore, conversation: &str) -> Option<WorkRow> {
    store.work(&thread(conversation)).await.unwrap()
}

async fn release(
    store: &impl WorkStore,
    conversation: &str,
    token: &str,
    outcome: WorkOutcome,
    now: i64,
) -> Option<WorkRow> {
    let thread = thread(conversation);
    let released = store.release_work(&thread, token, outcome, at(now));
    released.await.unwrap()
}

async fn extend(
    store: &impl WorkStore,
    conversation: &str,
    token: &str,
    now: i64,
) -> Option<WorkRow> {
    let thread = thread(conversation);
    let extended = store.extend_work(&thread, token, LEASE, at(now));
    extended.await.unwrap()
}

/// Returns the conversations of rows.
fn names(rows: &[WorkRow]) -> Vec<&str> {
    let names = rows.iter().map(|row| row.thread.conversation());
    names.collect()
}

async fn messages(store: &impl ThreadStore, conversation: &str) -> Vec<u64> {
    let messages = store.read(&thread(conversation), None).await.unwrap();
    messages.into_iter().map(|message| message.seq).collect()
}

tests! {
    ($) __suite_work in work for Queue;

    #[test]
    async fn work_round_trips(store: impl WorkStore) {
        let bare = NewWork { principal: None, facts: None, agent: WorkAgent::new("writer", ""), ..new("b") };
        for work in [new("a"), bare] {
            let row = queue(&store, work.clone()).await;
            assert_eq!(row, WorkRow::queue(None, work));
            assert_eq!((row.state, row.ready, row.created), (WorkState::Queued, Some(at(100)), at(100)));
            assert_eq!(store.work(&row.thread).await.unwrap(), Some(row));
        }
        let row = claimed(&store, claim(200)).await.remove(0);
        let token = row.token.clone();
        assert!(token.as_ref().is_some_and(|token| !token.is_empty()));
        let mut expected = WorkRow::queue(None, new("a"));
        expected.state = WorkState::Claimed;
        expected.ready = Some(at(500));
        expected.token = token;
        expected.worker = Some("w1".to_owned());
        expected.updated = at(200);
        assert_eq!(row, expected);
        assert_eq!(get(&store, "a").await, Some(expected));
        assert_eq!(get(&store, "c").await, None);
    }

    // A thread has one row, also if it is queued again while its row is queued, waiting or ended. Each queueing replaces the agent, the user and the
    // facts.
    #[test]
    async fn queueing_is_idempotent(store: impl WorkStore) {
        queue(&store, NewWork { delay: LEASE, ..new("a") }).await;
        let changed = NewWork { agent: WorkAgent::new("chief", "2"), principal: Some("bob".to_owned()), facts: None, at: at(150), ..new("a") };
        let row = queue(&store, changed).await;
        assert_eq!((row.agent.definition.as_str(), row.principal.as_deref(), row.facts.as_deref()), ("2", Some("bob"), None));
        // Of both times, the earlier one is kept.
        assert_eq!((row.state, row.ready, row.created, row.updated), (WorkState::Queued, Some(at(150)), at(100), at(150)));
        let later = queue(&store, NewWork { delay: LEASE, at: at(160), ..new("a") }).await;
        assert_eq!(later.ready, Some(at(150)));

        for outcome in [WorkOutcome::Done, WorkOutcome::Failed, WorkOutcome::Waiting] {
            let token = token(&store, 200).await;
            let row = release(&store, "a", &token, outcome, 300).await.unwrap();
            assert!(matches!(row.state, WorkState::Waiting | WorkState::Ended));
            assert_eq!((row.ready, row.token), (None, None));
            assert_eq!(claimed(&store, claim(i64::MAX / 2)).await, []);
            let row = queue(&store, NewWork { at: at(200), ..new("a") }).await;
            assert_eq!((row.state, row.cause, row.ready), (WorkState::Queued, None, Some(at(200))));
        }
        assert_eq!(store.list_work(Scope::All, &WorkFilter::default()).await.unwrap().len(), 1);
    }

    #[test]
    async fn work_without_an_agent_and_messages_of_other_threads_are_refused(store: impl WorkStore + ThreadStore) {
        let nameless = NewWork { agent: WorkAgent::new("", "1"), ..new("a") };
        conflict(store.queue_work(nameless, None).await, "has no agent");
        conflict(store.queue_work(new("a"), Some(message("b", Role::User, None))).await, "use one thread");
        conflict(store.queue_work(new("a"), Some(message("a", Role::Tool, None))).await, "answers a call");
        store.append(message("a", Role::Tool, Some(0))).await.unwrap();
        conflict(store.queue_work(new("a"), Some(message("a", Role::Tool, Some(0)))).await, "already has a result");
        assert_eq!(get(&store, "a").await, None);
        assert_eq!(messages(&store, "a").await, [1]);
    }

    #[test]
    async fn message_is_stored_with_the_row(store: impl WorkStore + ThreadStore) {
        let said = || Some(message("a", Role::User, None));
        let (row, seq) = store.queue_work(new("a"), said()).await.unwrap();
        assert_eq!((row.state, seq), (WorkState::Queued, Some(1)));
        let token = token(&store, 200).await;
        let (row, seq) = store.queue_work(NewWork { at: at(250), ..new("a") }, said()).await.unwrap();
        assert_eq!((row.state, row.again, row.token, seq), (WorkState::Claimed, Some(at(250)), Some(token), Some(2)));
        assert_eq!(messages(&store, "a").await, [1, 2]);
    }

    // A worker gets only the threads of the agents and definitions that it has.
    #[test]
    async fn claim_takes_only_agents_of_the_worker(store: impl WorkStore) {
        queue(&store, NewWork { agent: WorkAgent::new("chief", "2"), ..new("a") }).await;
        queue(&store, NewWork { agent: WorkAgent::new("writer", "1"), ..new("b") }).await;
        queue(&store, new("c")).await;
        assert_eq!(claimed(&store, WorkClaim { agents: Vec::new(), ..claim(200) }).await, []);
        assert_eq!(claimed(&store, WorkClaim { agents: vec![WorkAgent::new("editor", "1")], ..claim(200) }).await, []);
        assert_eq!(names(&claimed(&store, claim(200)).await), ["c"]);
        let both = vec![WorkAgent::new("writer", "1"), WorkAgent::new("chief", "2"), chief()];
        assert_eq!(names(&claimed(&store, WorkClaim { agents: both, ..claim(200) }).await), ["b", "a"]);
    }

    #[test]
    async fn claim_takes_ready_rows_in_order_and_up_to_its_limit(store: impl WorkStore) {
        for (name, delay) in [("a", 30), ("b", 10), ("c", 20), ("d", 900)] {
            queue(&store, NewWork { delay: Duration::from_millis(delay), ..new(name) }).await;
        }
        assert_eq!(claimed(&store, claim(109)).await, []);
        assert_eq!(claimed(&store, WorkClaim { limit: 0, ..claim(200) }).await, []);
        assert_eq!(names(&claimed(&store, WorkClaim { limit: 2, ..claim(200) }).await), ["b", "c"]);
        assert_eq!(names(&claimed(&store, WorkClaim { limit: 2, ..claim(200) }).await), ["a"]);
        assert_eq!(claimed(&store, claim(200)).await, []);
    }

    // A row that is queued for a later time is ready at that time.
    #[test]
    async fn timer_is_due_at_its_time(store: impl WorkStore) {
        queue(&store, NewWork { delay: Duration::from_millis(900), ..new("d") }).await;
        assert_eq!(claimed(&store, claim(999)).await, []);
        assert_eq!(names(&claimed(&store, claim(1000)).await), ["d"]);
    }

    // A token is new for each claim, and an old or foreign token changes nothing.
    #[test]
    async fn only_the_token_of_the_current_claim_changes_the_row(store: impl WorkStore) {
        queue(&store, new("a")).await;
        let first = token(&store, 200).await;
        for foreign in ["", "w1", "x"] {
            assert_eq!(extend(&store, "a", foreign, 250).await, None);
            assert_eq!(release(&store, "a", foreign, WorkOutcome::Done, 250).await, None);
        }
        assert_eq!(extend(&store, "b", &first, 250).await, None);
        assert_eq!(release(&store, "b", &first, WorkOutcome::Done, 250).await, None);
        assert_eq!(extend(&store, "a", &first, 250).await.unwrap().ready, Some(at(550)));
        // An extension never shortens the lease.
        let short = store.extend_work(&thread("a"), &first, Duration::from_millis(1), at(260)).await.unwrap();
        assert_eq!(short.unwrap().ready, Some(at(550)));

        // The same worker claims the row again after the lease has expired.
        let second = token(&store, 550).await;
        assert_ne!(first, second);
        let before = get(&store, "a").await;
        assert_eq!(extend(&store, "a", &first, 600).await, None);
        assert_eq!(release(&store, "a", &first, WorkOutcome::Done, 600).await, None);
        assert_eq!(get(&store, "a").await, before);
        assert!(release(&store, "a", &second, WorkOutcome::Done, 600).await.is_some());
        assert_eq!(extend(&store, "a", &second, 610).await, None);
        assert_eq!(release(&store, "a", &second, WorkOutcome::Done, 610).await, None);
    }

    // A lease that has expired is not extended, even if no other worker has claimed the row.
    #[test]
    async fn expired_claim_is_not_extended(store: impl WorkStore) {
        queue(&store, new("a")).await;
        let first = token(&store, 200).await;
        assert_eq!(claimed(&store, claim(499)).await, []);
        assert_eq!(extend(&store, "a", &first, 500).await, None);
        assert_eq!(extend(&store, "a", &first, 499).await.unwrap().ready, Some(at(799)));
        // A worker that finished while its lease expired may release the row, because no other worker has it.
        let done = release(&store, "a", &first, WorkOutcome::Done, 900).await.unwrap();
        assert_eq!((done.state, done.cause, done.recoveries), (WorkState::Ended, Some(WorkCause::Done), 0));
    }

    // A row whose lease expires more often than the limit allows ends together with its run, and other rows are claimed. The ended row can be queued
    // again.
    #[test]
    async fn row_ends_after_the_most_recoveries(store: impl WorkStore + RunStore) {
        queue(&store, new("a")).await;
        token(&store, 200).await;
        let begun = NewRun {
            thread: thread("a"), principal: None, agent: None, owner: "o".to_owned(), at: at(200), lease_until: at(1200),
        };
        store.begin_run(begun).await.unwrap();
        for (now, recoveries) in [(500, 1), (800, 2)] {
            let row = claimed(&store, claim(now)).await.remove(0);
            assert_eq!((row.recoveries, row.state), (recoveries, WorkState::Claimed));
        }
        store.wake_work(&thread("a"), Duration::ZERO, at(900)).await.unwrap().unwrap();
        queue(&store, NewWork { at: at(1000), ..new("b") }).await;
        let done = store.claim_work(claim(1100)).await.unwrap();
        assert_eq!((names(&done.claimed), names(&done.ended)), (vec!["b"], vec!["a"]));
        let row = get(&store, "a").await.unwrap();
        assert_eq!(done.ended[0], row);
        assert_eq!((row.state, row.cause, row.recoveries), (WorkState::Ended, Some(WorkCause::CrashLimit), 3));
        assert_eq!((&row.token, row.ready, row.again), (&None, None, None));
        assert_eq!(row.worker.as_deref(), Some("w1"));
        let runs = store.list_runs(Scope::All, &RunFilter::default()).await.unwrap();
        assert_eq!((runs[0].state, runs[0].cause, runs[0].ended), (RunState::Ended, Some(RunCause::CrashLimit), Some(at(1100))));
        assert_eq!(claimed(&store, WorkClaim { agents: vec![chief()], lease: LEASE, ..claim(1100) }).await, []);

        let row = queue(&store, NewWork { at: at(1200), ..new("a") }).await;
        assert_eq!((row.state, row.cause, row.recoveries), (WorkState::Queued, None, 0));
        assert_eq!(names(&claimed(&store, claim(1200)).await), ["a"]);
    }

    // A row that was recovered before is claimed only within the limit of suspects, so that no other suspect runs in the same process.
    #[test]
    async fn claim_takes_suspects_up_to_their_limit(store: impl WorkStore) {
        let only = |suspects, now| WorkClaim { suspects, most_recoveries: 9, ..claim(now) };
        for name in ["a", "b"] {
            queue(&store, new(name)).await;
        }
        // The first recovery is not limited.
        assert_eq!(claimed(&store, only(0, 200)).await.len(), 2);
        let rows = claimed(&store, only(0, 500)).await;
        assert_eq!(rows.iter().map(|row| (row.recoveries, row.is_suspect())).collect::<Vec<_>>(), [(1, false); 2]);
        queue(&store, NewWork { at: at(800), ..new("c") }).await;
        assert_eq!(names(&claimed(&store, only(0, 800)).await), ["c"]);
        let first = claimed(&store, only(1, 800)).await;
        assert_eq!((first.len(), first[0].recoveries, first[0].is_suspect()), (1, 2, true));
        // A suspect that was released and is queued again remains a suspect.
        let (name, token) = (first[0].thread.conversation(), first[0].token.clone().unwrap());
        release(&store, name, &token, WorkOutcome::Again(Duration::ZERO), 810).await.unwrap();
        assert_eq!(claimed(&store, only(0, 820)).await, []);
        assert_eq!(claimed(&store, only(1, 820)).await.len(), 1);
        assert_eq!(claimed(&store, only(1, 820)).await.len(), 1);
        assert_eq!(claimed(&store, only(2, 820)).await, []);
    }

    // A claim of one thread takes only that thread, only when it is ready, and only for its agent, and counts like the other claims.
    #[test]
    async fn claim_of_one_thread_takes_only_this_thread(store: impl WorkStore + RunStore) {
        for name in ["a", "b"] {
            queue(&store, NewWork { delay: LEASE, ..new(name) }).await;
        }
        let none = ClaimedWork::default();
        let (a, other) = (thread("a"), WorkAgent::new("chief", "2"));
        assert_eq!(store.claim_thread(&thread("c"), claim(400)).await.unwrap(), none);
        assert_eq!(store.claim_thread(&a, claim(399)).await.unwrap(), none);
        let foreign = WorkClaim { agents: vec![other], ..claim(400) };
        assert_eq!(store.claim_thread(&a, foreign).await.unwrap(), none);
        assert_eq!(get(&store, "a").await, Some(WorkRow::queue(None, NewWork { delay: LEASE, ..new("a") })));

        let one = WorkClaim { limit: 0, suspects: 0, ..claim(400) };
        let done = store.claim_thread(&a, one.clone()).await.unwrap();
        assert_eq!((names(&done.claimed), done.ended.len()), (vec!["a"], 0));
        let first = done.claimed[0].token.clone().unwrap();
        assert_eq!(get(&store, "a").await.as_ref(), done.claimed.first());
        assert_eq!(store.claim_thread(&a, claim(699)).await.unwrap(), none);
        assert_eq!(get(&store, "b").await.unwrap().state, WorkState::Queued);

        for (now, recoveries) in [(700, 1), (1000, 2)] {
            let done = store.claim_thread(&a, WorkClaim { at: at(now), ..one.clone() }).await.unwrap();
            let row = &done.claimed[0];
            assert_eq!((row.recoveries, row.ready, row.token.as_ref() != Some(&first)), (recoveries, Some(at(now + 300)), true));
        }
        assert_eq!(release(&store, "a", &first, WorkOutcome::Done, 1001).await, None);
        let begun = NewRun {
            thread: a.clone(), principal: None, agent: None, owner: "o".to_owned(), at: at(1000), lease_until: at(1300),
        };
        store.begin_run(begun).await.unwrap();
        let done = store.claim_thread(&a, WorkClaim { at: at(1300), ..one }).await.unwrap();
        assert_eq!((done.claimed.len(), names(&done.ended)), (0, vec!["a"]));
        assert_eq!(done.ended[0].cause, Some(WorkCause::CrashLimit));
        let runs = store.list_runs(Scope::All, &RunFilter::default()).await.unwrap();
        assert_eq!(runs[0].cause, Some(RunCause::CrashLimit));
    }

    // If the claims of a thread expired too often, its run does not end while a driver without a claim renews the lease of the run.
    #[test]
    async fn held_run_is_not_ended_at_the_crash_limit(store: impl WorkStore + RunStore) {
        queue(&store, new("a")).await;
        token(&store, 200).await;
        let begun = NewRun {
            thread: thread("a"), principal: None, agent: None, owner: "o".to_owned(), at: at(200), lease_until: at(900),
        };
        store.begin_run(begun).await.unwrap();
        let done = store.claim_work(WorkClaim { most_recoveries: 0, ..claim(500) }).await.unwrap();
        assert_eq!(names(&done.ended), ["a"]);
        let runs = store.list_runs(Scope::All, &RunFilter::default()).await.unwrap();
        assert_eq!((runs[0].state, runs[0].cause), (RunState::Running, None));
    }

    // A released row that is queued again keeps its number of recoveries, so that a run that crashes repeatedly reaches the limit. A row that waits
    // has none.
    #[test]
    async fn recoveries_and_attempts_are_kept_until_the_row_leaves_the_queue(store: impl WorkStore) {
        queue(&store, new("a")).await;
        token(&store, 200).await;
        let recovered = token(&store, 500).await;
        let row = release(&store, "a", &recovered, WorkOutcome::Retry(LEASE), 600).await.unwrap();
        assert_eq!((row.state, row.ready, row.recoveries, row.attempts), (WorkState::Queued, Some(at(900)), 1, 1));
        assert_eq!(claimed(&store, claim(899)).await, []);
        let next = token(&store, 900).await;
        let row = release(&store, "a", &next, WorkOutcome::Again(Duration::ZERO), 950).await.unwrap();
        assert_eq!((row.state, row.ready, row.recoveries, row.attempts), (WorkState::Queued, Some(at(950)), 1, 1));
        let next = token(&store, 950).await;
        let row = release(&store, "a", &next, WorkOutcome::Waiting, 960).await.unwrap();
        assert_eq!((row.state, row.cause, row.recoveries, row.attempts), (WorkState::Waiting, None, 0, 0));
    }

    // A row that is queued or woken during its claim is queued again when it is released, with each outcome.
    #[test]
    async fn wake_during_a_claim_is_not_lost(store: impl WorkStore) {
        let outcomes = [
            WorkOutcome::Done,
            WorkOutcome::Failed,
            WorkOutcome::Waiting,
            WorkOutcome::Again(Duration::from_mins(1)),
            WorkOutcome::Retry(Duration::from_mins(1)),
        ];
        for (outcome, name) in outcomes.into_iter().zip(["a", "b", "c", "d", "e"]) {
            queue(&store, new(name)).await;
            let token = token(&store, 200).await;
            let later = store.wake_work(&thread(name), Duration::from_millis(50), at(250)).await.unwrap().unwrap();
            assert_eq!((later.state, later.again), (WorkState::Claimed, Some(at(300))));
            let sooner = queue(&store, NewWork { at: at(260), ..new(name) }).await;
            assert_eq!((sooner.state, sooner.again, sooner.token.as_ref()), (WorkState::Claimed, Some(at(260)), Some(&token)));
            let released = release(&store, name, &token, outcome, 400).await.unwrap();
            assert_eq!((released.state, released.ready, released.again), (WorkState::Queued, Some(at(260)), None), "{outcome:?}");
            assert_eq!(names(&claimed(&store, claim(400)).await), [name]);
        }
    }

    // The wake-up is still recorded after the death of the worker.
    #[test]
    async fn wake_during_a_claim_outlives_the_claim(store: impl WorkStore) {
        queue(&store, new("a")).await;
        token(&store, 200).await;
        store.wake_work(&thread("a"), Duration::ZERO, at(250)).await.unwrap();
        let second = token(&store, 500).await;
        let row = release(&store, "a", &second, WorkOutcome::Done, 510).await.unwrap();
        assert_eq!((row.state, row.ready), (WorkState::Queued, Some(at(250))));
    }

    #[test]
    async fn wake_queues_waiting_rows_and_ignores_unknown_threads(store: impl WorkStore) {
        let wake = async |name: &str, now| store.wake_work(&thread(name), Duration::from_millis(5), at(now)).await.unwrap();
        assert_eq!(wake("a", 50).await, None);
        queue(&store, new("a")).await;
        assert_eq!(wake("a", 110).await.unwrap().ready, Some(at(100)));
        let token = token(&store, 200).await;
        release(&store, "a", &token, WorkOutcome::Waiting, 300).await.unwrap();
        let row = wake("a", 400).await.unwrap();
        assert_eq!((row.state, row.ready, row.facts), (WorkState::Queued, Some(at(405)), new("a").facts));
    }

    #[test]
    async fn work_is_listed_in_order_and_in_pages(store: impl WorkStore) {
        let foreign = |name| ThreadId::new("umbrella", name).unwrap();
        for work in [
            new("d"),
            NewWork { delay: Duration::from_mins(1), agent: WorkAgent::new("writer", "1"), ..new("b") },
            new("a"),
            NewWork { delay: Duration::from_mins(1), ..new("c") },
            NewWork { thread: foreign("a"), ..new("a") },
        ] {
            queue(&store, work).await;
        }
        claimed(&store, claim(200)).await;
        let all = WorkFilter::default();
        let (acme, umbrella) = (Workspace::new("acme"), Workspace::new("umbrella"));
        let claimed = WorkFilter { state: Some(WorkState::Claimed), ..all.clone() };
        let writer = WorkFilter { agent: Some("writer".to_owned()), ..all.clone() };
        for (scope, filter, expected) in [
            (Scope::All, &all, &["a", "b", "c", "d", "a"][..]),
            (Scope::Workspace(&acme), &all, &["a", "b", "c", "d"]),
            (Scope::Workspace(&umbrella), &all, &["a"]),
            (Scope::All, &claimed, &["a", "d", "a"]),
            (Scope::Workspace(&acme), &claimed, &["a", "d"]),
            (Scope::All, &writer, &["b"]),
            (Scope::Workspace(&umbrella), &writer, &[]),
        ] {
            let whole = store.list_work(scope, filter).await.unwrap();
            assert_eq!(names(&whole), expected, "{scope:?} {filter:?}");
            for limit in [1, 2, 9] {
                let (mut paged, mut after) = (Vec::new(), None);
                loop {
                    let page = WorkFilter { limit: Some(limit), after: after.clone(), ..filter.clone() };
                    let page = store.list_work(scope, &page).await.unwrap();
                    assert!(page.len() <= usize::try_from(limit).unwrap());
                    let Some(last) = page.last() else { break };
                    after = Some(last.thread.clone());
                    paged.extend(page);
                }
                assert_eq!(paged, whole, "{scope:?} {filter:?} {limit}");
            }
        }
        // A cursor of a different workspace sorts before or after every row of the scope.
        let after = |thread| WorkFilter { after: Some(thread), ..all.clone() };
        assert_eq!(store.list_work(Scope::Workspace(&acme), &after(foreign("a"))).await.unwrap(), []);
        assert_eq!(names(&store.list_work(Scope::Workspace(&umbrella), &after(thread("z"))).await.unwrap()), ["a"]);
    }

    // Rows of two workspaces are separate, even if the names of the conversations are equal.
    #[test]
    async fn work_of_two_workspaces_is_separate(store: impl WorkStore + Maintenance) {
        let foreign = ThreadId::new("umbrella", "a").unwrap();
        queue(&store, new("a")).await;
        queue(&store, NewWork { thread: foreign.clone(), delay: Duration::from_mins(1), ..new("a") }).await;
        let token = token(&store, 200).await;
        assert_eq!(store.extend_work(&foreign, &token, LEASE, at(250)).await.unwrap(), None);
        assert_eq!(store.release_work(&foreign, &token, WorkOutcome::Done, at(250)).await.unwrap(), None);
        store.erase_contents(Erasure::Thread(&foreign)).await.unwrap();
        assert_eq!(store.work(&foreign).await.unwrap(), None);
        assert_eq!(get(&store, "a").await.unwrap().token, Some(token));
    }

    // A worker whose row was removed loses its claim, and a row that is queued again afterwards has a different token.
    #[test]
    async fn removed_row_ends_its_claim(store: impl WorkStore) {
        queue(&store, new("a")).await;
        let first = token(&store, 200).await;
        assert!(store.remove_work(&thread("a")).await.unwrap());
        assert!(!store.remove_work(&thread("a")).await.unwrap());
        assert_eq!(extend(&store, "a", &first, 250).await, None);
        queue(&store, new("a")).await;
        let second = token(&store, 260).await;
        assert_ne!(first, second);
        assert_eq!(release(&store, "a", &first, WorkOutcome::Done, 270).await, None);
    }

    // The row is erased and purged with the messages of its thread, and erased with the data of its user.
    #[test]
    async fn erased_and_purged_threads_lose_their_rows(store: impl WorkStore + ThreadStore + Maintenance) {
        let said = |name, time| Some(NewMessage { at: at(time), ..message(name, Role::User, None) });
        for (name, time) in [("a", 100), ("b", 100), ("c", 900)] {
            store.queue_work(new(name), said(name, time)).await.unwrap();
        }
        store.erase_contents(Erasure::Thread(&thread("a"))).await.unwrap();
        assert_eq!(names(&store.list_work(Scope::All, &WorkFilter::default()).await.unwrap()), ["b", "c"]);
        let retention = Retention { threads: Some(Duration::from_millis(500)), ..Retention::default() };
        assert_eq!(store.purge(&retention, at(1000), 9).await.unwrap().threads, 1);
        assert_eq!(names(&store.list_work(Scope::All, &WorkFilter::default()).await.unwrap()), ["c"]);

        // The rows of an erased user are removed, because they contain facts about the user.
        queue(&store, NewWork { principal: Some("bob".to_owned()), ..new("d") }).await;
        queue(&store, NewWork { thread: ThreadId::new("umbrella", "e").unwrap(), ..new("e") }).await;
        let (workspace, principal) = (&Workspace::new("acme"), "ann");
        store.erase_contents(Erasure::Principal { workspace, principal }).await.unwrap();
        assert_eq!(names(&store.list_work(Scope::All, &WorkFilter::default()).await.unwrap()), ["d", "e"]);
    }
}

tests! {
    ($) __suite_work_races in work for Queue;

    // Of 32 tasks of two processes that claim one row, one succeeds.
    #[test]
    fn concurrent_claims_of_one_row_give_it_to_one_worker(opener) {
        opener.test(async |place| {
            let stores = [place.open().await, place.open().await];
            queue(&stores[0], new("a")).await;
            // The first round claims a queued row, and the other rounds claim a row whose lease has expired.
            for (now, recoveries) in [(200, 0), (500, 1), (800, 2)] {
                let done = at_once(|task| {
                    let store = stores[usize::from(task % 2 == 1)].clone();
                    async move { store.claim_work(claim(now)).await.unwrap() }
                }).await;
                let rows: Vec<WorkRow> = done.into_iter().flat_map(|done| done.claimed).collect();
                assert_eq!(names(&rows), ["a"]);
                assert_eq!(rows[0].recoveries, recoveries);
            }
        });
    }

    // 32 tasks of two processes that claim 24 rows get each row once, with different tokens.
    #[test]
    fn concurrent_claims_take_different_rows(opener) {
        opener.test(async |place| {
            let stores = [place.open().await, place.open().await];
            for number in 0..24 {
                queue(&stores[0], new(&format!("t{number}"))).await;
            }
            let done = at_once(|task| {
                let store = stores[usize::from(task % 2 == 1)].clone();
                async move {
                    let mut rows = Vec::new();
                    loop {
                        let some = store.claim_work(WorkClaim { limit: 2, ..claim(200) }).await.unwrap().claimed;
                        if some.is_empty() {
                            return rows;
                        }
                        rows.extend(some);
                    }
                }
            }).await;
            let rows: Vec<WorkRow> = done.into_iter().flatten().collect();
            let threads: BTreeSet<&ThreadId> = rows.iter().map(|row| &row.thread).collect();
            let tokens: BTreeSet<&Option<String>> = rows.iter().map(|row| &row.token).collect();
            assert_eq!((rows.len(), threads.len(), tokens.len()), (24, 24, 24));
        });
    }

    // 32 tasks of two processes that queue one thread store one row and all their messages.
    #[test]
    fn concurrent_queueing_stores_one_row(opener) {
        opener.test(async |place| {
            let stores = [place.open().await, place.open().await];
            let done = at_once(|task| {
                let store = stores[usize::from(task % 2 == 1)].clone();
                async move { store.queue_work(new("a"), Some(message("a", Role::User, None))).await.unwrap().1 }
            }).await;
            let numbers: BTreeSet<u64> = done.into_iter().flatten().collect();
            assert_eq!(numbers.len(), 32);
            assert_eq!(stores[0].list_work(Scope::All, &WorkFilter::default()).await.unwrap().len(), 1);
        });
    }

    // No wake-up is lost between a worker that releases a row and tasks that queue it at the same time.
    #[test]
    fn queueing_during_a_release_is_not_lost(opener) {
        opener.test(async |place| {
            let stores = [place.open().await, place.open().await];
            queue(&stores[0], new("a")).await;
            let token = token(&stores[0], 200).await;
            at_once(|task| {
                let store = stores[usize::from(task % 2 == 1)].clone();
                let token = token.clone();
                async move {
                    if task == 13 {
                        assert!(release(&store, "a", &token, WorkOutcome::Done, 300).await.is_some());
                    } else {
                        queue(&store, NewWork { at: at(300), ..new("a") }).await;
                    }
                }
            }).await;
            let row = get(&stores[1], "a").await.unwrap();
            assert_eq!((row.state, row.ready), (WorkState::Queued, Some(at(300))));
        });
    }
}
