//! Tests of batches: changes of several stores in one transaction.

use crate::*;

use super::records::{at, audit, end, intent, key, message, thread};
use super::{at_once, conflict, missing, tests};

trait Parts: BatchStore + EffectLedger + AuditSink + ThreadStore + RunStore + Clone {}
impl<S: BatchStore + EffectLedger + AuditSink + ThreadStore + RunStore + Clone> Parts for S {}

fn run(conversation: &str) -> NewRun {
    NewRun {
        thread: thread(conversation),
        principal: None,
        agent: None,
        owner: "ahead".to_owned(),
        at: at(100),
        lease_until: at(500),
    }
}

async fn begin(store: &impl RunStore, conversation: &str) -> RunId {
    match store.begin_run(run(conversation)).await.unwrap() {
        RunBegun::Begun(row) => row.id,
        RunBegun::Busy(row) => panic!("{row:?}"),
    }
}

/// Returns a batch that ends the named call: the end of its effect, its audit row, its result, and the end of the run.
fn whole(name: &str, run: &RunId) -> Batch {
    Batch {
        effect: Some(EndedEffect {
            key: key(name),
            owner: "run-1".to_owned(),
            end: end(EffectState::Succeeded, 300),
        }),
        audit: Some(audit(name)),
        message: Some(message("t", Role::Tool, Some(0))),
        run: Some(EndedRun {
            id: run.clone(),
            owner: "ahead".to_owned(),
            end: RunEnd {
                cause: RunCause::Replied,
                at: at(300),
                progress: RunProgress::default(),
            },
        }),
        begin: None,
        fence: None,
    }
}

/// Returns the state of the named effect, the number of all audit rows, the number of messages in the thread `t`, and whether the run has ended.
async fn held(store: &impl Parts, name: &str, run: &RunId) -> (EffectState, usize, usize, bool) {
    let effect = EffectLedger::get(store, &key(name)).await.unwrap().unwrap();
    let rows = store.export(Scope::All, &AuditFilter::default()).await;
    let messages = ThreadStore::read(store, &thread("t"), None).await.unwrap();
    let run = store.get_run(run).await.unwrap().unwrap();
    let done = run.cause.is_some();
    (effect.state, rows.unwrap().len(), messages.len(), done)
}

tests! {
    ($) __suite_journal in journal for BatchStore;

    // A batch has the same effect as the single writes
    #[test]
    async fn batch_writes_every_part(store: impl Parts) {
        store.begin(intent("a"), None).await.unwrap();
        let run = begin(&store, "t").await;
        let done = store.write_batch(whole("a", &run)).await.unwrap();
        assert_eq!(done, Batched { effect: Some(Ended::InTime), message: Some(1), run: Some(true), begun: None });
        assert_eq!(held(&store, "a", &run).await, (EffectState::Succeeded, 1, 1, true));
        let effect = EffectLedger::get(&store, &key("a")).await.unwrap().unwrap();
        assert_eq!(effect.result.as_deref(), Some(r#""succeeded""#));
        assert_eq!(store.write_batch(Batch::default()).await.unwrap(), Batched::default());
    }

    // A batch with a refused part writes nothing
    #[test]
    async fn batch_that_is_refused_writes_nothing(store: impl Parts) {
        store.begin(intent("a"), None).await.unwrap();
        let run = begin(&store, "t").await;
        let before = (EffectState::Running, 0, 0, false);

        let foreign = Batch { message: Some(message("t", Role::Tool, None)), ..whole("a", &run) };
        conflict(store.write_batch(foreign).await, "answers a call");
        assert_eq!(held(&store, "a", &run).await, before);

        let mut late = whole("a", &run);
        "run-2".clone_into(&mut late.effect.as_mut().unwrap().owner);
        conflict(store.write_batch(late).await, "");
        assert_eq!(held(&store, "a", &run).await, before);

        let mut unknown = whole("a", &run);
        unknown.effect.as_mut().unwrap().key = key("b");
        missing(store.write_batch(unknown).await);
        assert_eq!(held(&store, "a", &run).await, before);

        let overtaken = NewMessage { follows: Some(0), ..message("t", Role::Assistant, None) };
        assert_eq!(store.append(overtaken.clone()).await.unwrap(), 1);
        let overtaken = Batch { message: Some(overtaken), ..whole("a", &run) };
        conflict(store.write_batch(overtaken).await, "newer message of the model");
        assert_eq!(held(&store, "a", &run).await, (EffectState::Running, 0, 1, false));

        store.write_batch(whole("a", &run)).await.unwrap();
        conflict(store.write_batch(whole("a", &run)).await, "");
        assert_eq!(held(&store, "a", &run).await, (EffectState::Succeeded, 1, 2, true));
    }

    // A batch does not end the run of a different owner, and its other parts are written
    #[test]
    async fn batch_does_not_end_the_run_of_a_different_owner(store: impl Parts) {
        store.begin(intent("a"), None).await.unwrap();
        let run = begin(&store, "t").await;
        let mut batch = whole("a", &run);
        "behind".clone_into(&mut batch.run.as_mut().unwrap().owner);
        assert_eq!(store.write_batch(batch).await.unwrap().run, Some(false));
        assert_eq!(held(&store, "a", &run).await, (EffectState::Succeeded, 1, 1, false));
    }

    // A message is stored in the transaction that begins its run, and also if a different run is active
    #[test]
    async fn batch_begins_a_run(store: impl Parts) {
        let batch = || Batch {
            message: Some(message("t", Role::User, None)),
            begin: Some(run("t")),
            ..Batch::default()
        };
        let done = store.write_batch(batch()).await.unwrap();
        let Some(RunBegun::Begun(row)) = done.begun else { panic!("{done:?}") };
        assert_eq!((done.message, row.id.number(), row.state), (Some(1), 1, RunState::Running));
        let other = NewRun { owner: "behind".to_owned(), ..run("t") };
        let done = store.write_batch(Batch { begin: Some(other), ..batch() }).await.unwrap();
        assert_eq!((done.message, done.begun), (Some(2), Some(RunBegun::Busy(row.clone()))));
        // A batch whose message is refused does not begin a run.
        let foreign = Batch { message: Some(message("u", Role::Tool, None)), begin: Some(run("u")), ..Batch::default() };
        conflict(store.write_batch(foreign).await, "answers a call");
        assert_eq!(store.list_runs(Scope::All, &RunFilter::default()).await.unwrap(), [*row]);
    }

    // A driver whose run was taken over, or followed by a later run, writes nothing. A driver can still write after the end of its own run.
    #[test]
    async fn batch_of_a_driver_that_was_replaced_writes_nothing(store: impl Parts) {
        store.begin(intent("a"), None).await.unwrap();
        let run = begin(&store, "t").await;
        let fenced = |owner: &str| Batch {
            fence: Some(RunFence { id: run.clone(), owner: owner.to_owned() }),
            run: None,
            ..whole("a", &run)
        };
        let said = || Batch { effect: None, message: Some(message("t", Role::User, None)), ..fenced("ahead") };
        assert_eq!(store.write_batch(said()).await.unwrap().message, Some(1));

        // The lease of `ahead` ends at 500.
        let behind = NewRun { owner: "behind".to_owned(), at: at(600), lease_until: at(900), ..super::journal::run("t") };
        let taken = store.begin_run(behind).await.unwrap();
        assert!(matches!(&taken, RunBegun::Begun(row) if row.id == run && row.attempt == 2), "{taken:?}");
        conflict(store.write_batch(fenced("ahead")).await, "has a new owner");
        conflict(store.write_batch(said()).await, "has a new owner");
        assert_eq!(held(&store, "a", &run).await, (EffectState::Running, 1, 1, false));

        let ends = RunEnd { cause: RunCause::Cancelled, at: at(650), progress: RunProgress::default() };
        assert!(store.end_run(&run, "behind", ends).await.unwrap());
        assert_eq!(store.write_batch(fenced("behind")).await.unwrap().message, Some(2));
        let next = NewRun { owner: "next".to_owned(), at: at(700), lease_until: at(900), ..super::journal::run("t") };
        assert!(matches!(store.begin_run(next).await.unwrap(), RunBegun::Begun(row) if row.id.number() == 2));
        let late = Batch { fence: Some(RunFence { id: run.clone(), owner: "behind".to_owned() }), ..said() };
        conflict(store.write_batch(late).await, "has a new owner");
    }

    // Of 32 batches that end one call, exactly one is written
    #[test]
    async fn one_of_many_batches_ends_a_call(store: impl Parts) {
        store.begin(intent("a"), None).await.unwrap();
        let run = begin(&store, "t").await;
        let (own, batch) = (store.clone(), whole("a", &run));
        let done = at_once(|_| {
            let (store, batch) = (own.clone(), batch.clone());
            async move { store.write_batch(batch).await.is_ok() }
        });
        assert_eq!(done.await.into_iter().filter(|done| *done).count(), 1);
        assert_eq!(held(&store, "a", &run).await, (EffectState::Succeeded, 1, 1, true));
    }

    // The stores of one database have the same journal, and the stores of two databases have different journals
    #[test]
    async fn parts_of_one_database_have_one_journal(store: impl Parts) {
        let journal = EffectLedger::journal(&store).unwrap();
        assert_eq!(journal, AuditSink::journal(&store.clone()).unwrap());
        assert_eq!(journal, ThreadStore::journal(&store.clone()).unwrap());
        assert_eq!(journal, RunStore::journal(&store).unwrap());
        assert_ne!(journal, RunStore::journal(&MemoryStore::default()).unwrap());
        store.begin(intent("a"), None).await.unwrap();
        let run = begin(&store, "t").await;
        assert_eq!(journal.write(whole("a", &run)).await.unwrap().message, Some(1));
        assert_eq!(held(&store, "a", &run).await, (EffectState::Succeeded, 1, 1, true));
    }
}
