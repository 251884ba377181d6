//! Tests of erasure and retention.

use std::time::Duration;

use crate::*;

use super::records::{acme, at, audit, end, intent, key, message, request, spill, thread};
use super::{conflict, tests};

fn in_thread(name: &str, conversation: &str) -> Intent {
    Intent {
        thread: Some(conversation.to_owned()),
        ..intent(name)
    }
}

fn answered(verdict: Verdict) -> ApprovalAnswer {
    ApprovalAnswer {
        verdict,
        approver: "eve".to_owned(),
        reason: Some("because".to_owned()),
        at: at(200),
    }
}

/// Fills a store with effects, approvals, messages and audit rows in two threads, and with one spilled output.
async fn filled(
    store: &(impl EffectLedger + ApprovalStore + ThreadStore + AuditSink + SpillStore),
) {
    for (name, conversation) in [("a", "main"), ("b", "main"), ("c", "side")] {
        store
            .begin(in_thread(name, conversation), Some(audit(name)))
            .await
            .unwrap();
        EffectLedger::end(store, &key(name), "run-1", end(EffectState::Succeeded, 300))
            .await
            .unwrap();
        let request = ApprovalRequest {
            thread: Some(conversation.to_owned()),
            ..request(name)
        };
        store.open(request).await.unwrap();
    }
    ApprovalStore::answer(
        store,
        &acme(),
        "a",
        answered(Verdict::Edit("{\"to\":\"eve\"}".to_owned())),
    )
    .await
    .unwrap();
    store.spend(&acme(), "a", "nonce", at(210)).await.unwrap();
    for conversation in ["main", "side"] {
        store
            .append(message(conversation, Role::User, None))
            .await
            .unwrap();
    }
    store.put(spill("s", "long")).await.unwrap();
}

async fn effect(store: &impl EffectLedger, name: &str) -> EffectRow {
    store.get(&key(name)).await.unwrap().unwrap()
}

async fn approval(store: &impl ApprovalStore, name: &str) -> ApprovalRow {
    store.get(&acme(), name).await.unwrap().unwrap()
}

/// Purges until no rows are left to remove, and returns the sum of the results.
async fn purge(store: &impl Maintenance, retention: Retention, now: i64) -> Purged {
    let mut all = Purged::default();
    loop {
        let purged = store.purge(&retention, at(now), 2).await.unwrap();
        assert!(
            purged.effects <= 2 && purged.audit <= 2 && purged.approvals <= 2,
            "{purged:?}"
        );
        all.effects += purged.effects;
        all.audit += purged.audit;
        all.approvals += purged.approvals;
        all.threads += purged.threads;
        all.runs += purged.runs;
        all.spills += purged.spills;
        if !purged.more {
            return all;
        }
    }
}

/// The age after which rows are purged.
const AGE: Option<Duration> = Some(Duration::from_millis(100));

tests! {
    ($) __suite_maintenance in maintenance for Maintenance;

    // Erasing a thread removes its messages, the results of its effects and the contents of its approvals. It keeps the keys, states and times of the
    // effects, and withdraws pending approvals.
    #[test]
    async fn erased_thread_keeps_keys_and_states_of_effects(
        store: impl EffectLedger + ApprovalStore + ThreadStore + AuditSink + SpillStore + Maintenance
    ) {
        filled(&store).await;
        let before = effect(&store, "a").await;
        let (spent, open) = (approval(&store, "a").await, approval(&store, "b").await);
        let main = thread("main");
        let erased = store.erase_contents(Erasure::Thread(&main)).await.unwrap();
        assert_eq!(erased, Erased { messages: 1, effects: 2, approvals: 2, ..Erased::default() });
        assert_eq!(effect(&store, "a").await, EffectRow { result: None, ..before });
        assert!(effect(&store, "c").await.result.is_some());
        assert_eq!(ThreadStore::read(&store, &main, None).await.unwrap(), []);

        let mut blank = spent;
        ApprovalRequest::BLANK.clone_into(&mut blank.request.arguments);
        blank.request.reason = None;
        blank.answer = Some(ApprovalAnswer { reason: None, ..answered(Verdict::Edit(ApprovalRequest::BLANK.to_owned())) });
        assert_eq!(approval(&store, "a").await, blank);
        // A pending approval is withdrawn.
        let mut withdrawn = open;
        ApprovalRequest::BLANK.clone_into(&mut withdrawn.request.arguments);
        withdrawn.request.reason = None;
        withdrawn.status = ApprovalStatus::Withdrawn;
        assert_eq!(approval(&store, "b").await, withdrawn);
        assert!(ApprovalStore::answer(&store, &acme(), "b", answered(Verdict::Approve)).await.is_err());
        assert_eq!(approval(&store, "c").await.status, ApprovalStatus::Pending);

        // The effect is not begun again.
        let Begun::Replay(row) = store.begin(in_thread("a", "main"), None).await.unwrap() else {
            panic!("begun twice");
        };
        assert_eq!(row.state, EffectState::Succeeded);
        assert_eq!(store.erase_contents(Erasure::Thread(&main)).await.unwrap(), Erased::default());
    }

    // Erasing a user clears the contents of the user in one workspace: effects, approvals, audit rows and spilled outputs. Messages are kept.
    #[test]
    async fn erasure_of_a_user_removes_the_contents_of_the_user(
        store: impl EffectLedger + ApprovalStore + ThreadStore + AuditSink + SpillStore + Maintenance
    ) {
        filled(&store).await;
        let acme = acme();
        let foreign = Workspace::new("umbrella");
        for (workspace, principal) in [(&foreign, "ann"), (&acme, "bob")] {
            let none = Erasure::Principal { workspace, principal };
            assert_eq!(store.erase_contents(none).await.unwrap(), Erased::default());
        }
        let ann = Erasure::Principal { workspace: &acme, principal: "ann" };
        let erased = store.erase_contents(ann).await.unwrap();
        assert_eq!(erased, Erased { messages: 0, effects: 3, approvals: 3, audit: 3, spills: 1, ..Erased::default() });
        assert_eq!(store.export(Scope::All, &AuditFilter::default()).await.unwrap(), []);
        assert_eq!(effect(&store, "c").await.state, EffectState::Succeeded);
    }

    // An erasure ends the runs in progress of the user or of the thread, and their drivers write no more messages. Other runs continue.
    #[test]
    async fn erasure_ends_runs_in_progress(store: impl ThreadStore + RunStore + Maintenance) {
        let (acme, t) = (acme(), thread("t"));
        // Without a journal, the store has no fence, and the driver reads its run before it writes.
        let write = async |batch: Batch| {
            if let Some(journal) = RunStore::journal(&store) {
                return journal.write(batch).await.map(drop);
            }
            let fence = batch.fence.unwrap();
            let row = store.get_run(&fence.id).await?.unwrap();
            fence.check(Some((row.id.number(), &*row.owner)))?;
            store.append(batch.message.unwrap()).await.map(drop)
        };
        let user = Erasure::Principal { workspace: &acme, principal: "ann" };
        for (number, of) in [(1, user), (2, Erasure::Thread(&t))] {
            for (conversation, principal) in [("t", "ann"), ("u", "bob")] {
                let new = NewRun {
                    thread: thread(conversation), principal: Some(principal.to_owned()), agent: None, owner: "ahead".to_owned(), at: at(100),
                    lease_until: at(500),
                };
                let begun = store.begin_run(new).await.unwrap();
                assert!(matches!(&begun, RunBegun::Begun(row) if row.owner == "ahead"), "{begun:?}");
            }
            let said = |conversation: &str, number| Batch {
                message: Some(message(conversation, Role::User, None)),
                fence: Some(RunFence { id: RunId::new(thread(conversation), number), owner: "ahead".to_owned() }),
                ..Batch::default()
            };
            write(said("t", number)).await.unwrap();
            store.erase_contents(of).await.unwrap();
            conflict(write(said("t", number)).await, "has a new owner");
            let id = RunId::new(t.clone(), number);
            let progress = RunProgress::default();
            assert_eq!(store.renew_run(&id, "ahead", at(900), progress).await.unwrap(), None);
            let ends = RunEnd { cause: RunCause::Replied, at: at(300), progress };
            assert!(!store.end_run(&id, "ahead", ends).await.unwrap());
            let ended = store.get_run(&id).await.unwrap().unwrap();
            assert_eq!((ended.state, ended.cause), (RunState::Ended, Some(RunCause::Cancelled)), "{of:?}");
            assert!(ended.ended.is_some());
            // The erasure of a user keeps messages.
            let left = ThreadStore::read(&store, &t, None).await.unwrap().len();
            assert_eq!(left, usize::from(of == user), "{of:?}");
            // The run of a different user in a different thread continues.
            write(said("u", 1)).await.unwrap();
            // The erasure of the user does not change a run that has ended.
            store.erase_contents(user).await.unwrap();
            assert_eq!(store.get_run(&id).await.unwrap().unwrap(), ended);
        }
    }

    // An effect is kept as long as a message of its thread or an approval can refer to it. An ambiguous effect is kept in any case.
    #[test]
    async fn effects_are_kept_while_something_refers_to_them(
        store: impl EffectLedger + ApprovalStore + ThreadStore + AuditSink + SpillStore + Maintenance
    ) {
        filled(&store).await;
        store.begin(in_thread("doubt", "gone"), None).await.unwrap();
        store.sweep(Scope::All, at(600)).await.unwrap();
        store.begin(in_thread("alone", "gone"), None).await.unwrap();
        EffectLedger::end(&store, &key("alone"), "run-1", end(EffectState::Failed, 300)).await.unwrap();
        let effects = Retention { effects: AGE, ..Retention::default() };
        // At first no effect is old enough. Later, the only effect that no message and no approval refers to is purged.
        assert_eq!(purge(&store, effects, 400).await.effects, 0);
        assert_eq!(purge(&store, effects, 10_000).await.effects, 1);
        assert_eq!(EffectLedger::get(&store, &key("alone")).await.unwrap(), None);
        let threads = Retention { threads: AGE, ..effects };
        let purged = purge(&store, threads, 10_000).await;
        assert_eq!((purged.threads, purged.effects), (2, 0));
        // The next message of the thread has the next number.
        assert_eq!(store.append(message("main", Role::User, None)).await.unwrap(), 2);
        ApprovalStore::expire(&store, Scope::All, at(10_000)).await.unwrap();
        let approvals = Retention { approvals: AGE, ..effects };
        let purged = purge(&store, approvals, 10_000).await;
        // The effects of the thread that has a new message are kept.
        assert_eq!((purged.approvals, purged.effects), (3, 1));
        assert_eq!(effect(&store, "a").await.state, EffectState::Succeeded);
        // The ambiguous effect is kept.
        assert_eq!(effect(&store, "doubt").await.state, EffectState::Ambiguous);
    }

    // Old audit rows, approvals that are not open, and expired spilled outputs are purged. One purge removes a bounded number of rows.
    #[test]
    async fn old_rows_are_purged_in_batches(
        store: impl EffectLedger + ApprovalStore + ThreadStore + AuditSink + SpillStore + Maintenance
    ) {
        filled(&store).await;
        let nothing = purge(&store, Retention::default(), 900).await;
        assert_eq!(nothing, Purged::default());
        let audit = Retention { audit: AGE, ..Retention::default() };
        assert_eq!(purge(&store, audit, 200).await.audit, 0);
        let purged = purge(&store, audit, 10_000).await;
        // An expired spilled output is removed, even if no retention is set for its table.
        assert_eq!((purged.audit, purged.spills), (3, 1));
        // An approval that is still open is kept, even if its deadline has passed, until `expire` marks it as expired.
        let approvals = Retention { approvals: AGE, ..Retention::default() };
        assert_eq!(purge(&store, approvals, 10_000).await.approvals, 1);
    }

    // Ended runs are removed after their retention, in bounded batches. The next run of the thread has the next number.
    #[test]
    async fn ended_runs_are_purged_in_batches(store: impl RunStore + Maintenance) {
        let begin = |conversation: &str, at_ms| NewRun {
            thread: thread(conversation),
            principal: None,
            agent: None,
            owner: format!("{conversation}-{at_ms}"),
            at: at(at_ms),
            lease_until: at(at_ms + 100),
        };
        for n in 0..3 {
            let run = begin("main", 100 + n);
            let owner = run.owner.clone();
            let RunBegun::Begun(row) = store.begin_run(run).await.unwrap() else { panic!("the thread is busy") };
            let end = RunEnd { cause: RunCause::Replied, at: at(200), progress: RunProgress::default() };
            store.end_run(&row.id, &owner, end).await.unwrap();
        }
        store.begin_run(begin("side", 100)).await.unwrap();
        let runs = Retention { runs: AGE, ..Retention::default() };
        assert_eq!(purge(&store, runs, 250).await.runs, 0);
        let two = store.purge(&runs, at(10_000), 2).await.unwrap();
        assert_eq!((two.runs, two.more), (2, true));
        let last = store.purge(&runs, at(10_000), 2).await.unwrap();
        assert_eq!((last.runs, last.more), (1, false));
        // The run of the other thread has not ended.
        assert_eq!(store.list_runs(Scope::All, &RunFilter::default()).await.unwrap().len(), 1);
        let RunBegun::Begun(next) = store.begin_run(begin("main", 300)).await.unwrap() else { panic!("the thread is busy") };
        assert_eq!(next.id.number(), 4);
    }
}
