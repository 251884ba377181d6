//! Tests of the isolation of workspaces: no method reads or changes a record of a different workspace.

use crate::*;
use proptest::collection::vec;
use proptest::prelude::*;

use super::property::{Step, approvals, audits, effects, said, texts};
use super::records::{acme, at, audit, end, intent, message, named_in, request, says, spill};
use super::{conflict, missing, tests};

fn umbrella() -> Workspace {
    Workspace::new("umbrella")
}

fn call_in(workspace: &Workspace, call: &CallId) -> CallId {
    CallId::from_column(workspace, &call.to_column()).unwrap()
}

/// Returns the same step with the same ids, in the given workspace.
fn step_in(own: &Workspace, step: Step) -> Step {
    let key = |key: CallKey| CallKey::new(own, key.as_str());
    let thread = |thread: ThreadId| ThreadId::new(own, thread.conversation()).unwrap();
    let audit = |row: AuditRow| AuditRow {
        identity: call_in(own, &row.identity),
        ..row
    };
    let own = own.clone();
    match step {
        Step::Open(request) => Step::Open(ApprovalRequest {
            identity: call_in(&own, &request.identity),
            ..request
        }),
        Step::Get(_, id) => Step::Get(own, id),
        Step::Answer(_, id, answer) => Step::Answer(own, id, answer),
        Step::Spend(_, id, nonce, now) => Step::Spend(own, id, nonce, now),
        Step::Withdraw(_, id) => Step::Withdraw(own, id),
        Step::Assign(_, id, assignee) => Step::Assign(own, id, assignee),
        Step::List(_, filter) => Step::List(Some(own), filter),
        Step::DenyAll(_, filter, answer) => Step::DenyAll(own, filter, answer),
        Step::ExpireApprovals(_, now) => Step::ExpireApprovals(Some(own), now),
        Step::Begin(intent, row) => Step::Begin(
            Intent {
                identity: call_in(&own, &intent.identity),
                earlier: intent.earlier.map(key),
                ..intent
            },
            row.map(audit),
        ),
        Step::Renew(old, owner, until) => Step::Renew(key(old), owner, until),
        Step::End(old, owner, end) => Step::End(key(old), owner, end),
        Step::Effect(old) => Step::Effect(key(old)),
        Step::Resolve(old, resolution, now) => Step::Resolve(key(old), resolution, now),
        Step::Sweep(_, now) => Step::Sweep(Some(own), now),
        Step::Effects(_, state) => Step::Effects(Some(own), state),
        Step::Write(rows) => Step::Write(rows.into_iter().map(audit).collect()),
        Step::Export(_, filter) => Step::Export(Some(own), filter),
        Step::EraseUser(_, principal) => Step::EraseUser(own, principal),
        Step::Retain(_, since) => Step::Retain(Some(own), since),
        Step::Append(message) => Step::Append(NewMessage {
            thread: thread(message.thread),
            ..message
        }),
        Step::Messages(old, after) => Step::Messages(thread(old), after),
        Step::EraseThread(old) => Step::EraseThread(thread(old)),
        Step::Put(spill) => Step::Put(Spill {
            workspace: own,
            ..spill
        }),
        Step::Part(_, handle, principal, from, most, now) => {
            Step::Part(own, handle, principal, from, most, now)
        }
        Step::ExpireSpills(_, now) => Step::ExpireSpills(Some(own), now),
    }
}

/// Returns all records of a workspace.
async fn holdings(store: &(impl Store + ?Sized), own: &Workspace) -> Vec<String> {
    let mut steps = vec![
        Step::List(None, ApprovalFilter::default()),
        Step::Effects(None, None),
        Step::Export(None, AuditFilter::default()),
    ];
    for name in ["a", "b", "ä", "B"] {
        let thread = ThreadId::new(own, name).unwrap();
        steps.push(Step::Messages(thread, None));
        for principal in ["ann", "eve"] {
            let part = Step::Part(own.clone(), name.into(), principal.into(), 0, 99, at(-9));
            steps.push(part);
        }
    }
    let mut held = Vec::new();
    for step in steps {
        held.push(said(store, step_in(own, step)).await);
    }
    held
}

/// Fills `acme`, then runs steps with the same ids in `umbrella`: the records of `acme` do not change, and `umbrella` receives the same results as in
/// a store without other workspaces.
async fn apart(
    store: &(impl Store + ?Sized),
    fill: &[Step],
    attack: &[Step],
) -> Result<(), TestCaseError> {
    for step in fill {
        said(store, step_in(&acme(), step.clone())).await;
    }
    let before = holdings(store, &acme()).await;
    let alone = MemoryStore::default();
    for step in attack {
        // Ids of approvals and handles of spills are unique in the store, so a step with the same id would be refused in the second workspace.
        if matches!(step, Step::Open(_) | Step::Put(_)) {
            continue;
        }
        let step = step_in(&umbrella(), step.clone());
        let expected = said(&alone, step.clone()).await;
        prop_assert_eq!(said(store, step.clone()).await, expected, "{:?}", step);
    }
    prop_assert_eq!(holdings(store, &acme()).await, before);
    Ok(())
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![approvals(), effects(), audits(), texts()]
}

tests! {
    ($) __suite_isolation in workspaces for Store;

    // Workspaces with equal ids and names are isolated.
    #[test]
    fn workspaces_are_isolated(opener) {
        opener.hold(&(vec(step(), 1..80), vec(step(), 1..80)), async |store, (fill, attack)| {
            apart(store, &fill, &attack).await
        });
    }
}

/// Stores approvals, effects with audit rows, messages and a spill in a workspace. Ids of approvals and spills have a prefix, because they are unique
/// in the store.
pub(super) async fn fill(store: &impl Store, own: &Workspace, prefix: &str) {
    for id in ["pending", "approved"] {
        let id = format!("{prefix}{id}");
        let request = ApprovalRequest {
            identity: named_in(own.as_str(), "a"),
            ..request(&id)
        };
        store.open(request).await.unwrap();
    }
    let approved = format!("{prefix}approved");
    let yes = says(Verdict::Approve);
    store.answer(own, &approved, yes).await.unwrap();
    for name in ["a", "done"] {
        let identity = named_in(own.as_str(), name);
        let row = AuditRow {
            identity: identity.clone(),
            ..audit(name)
        };
        let intent = Intent {
            identity,
            ..intent(name)
        };
        let begun = store.begin(intent, Some(row)).await.unwrap();
        assert_eq!(begun, Begun::New);
    }
    let done = CallKey::new(own, "done");
    let ended = end(EffectState::Succeeded, 300);
    store.end(&done, "run-1", ended).await.unwrap();
    let thread = ThreadId::new(own, "a").unwrap();
    for said in [
        message("a", Role::Assistant, None),
        message("a", Role::Tool, Some(0)),
    ] {
        let thread = thread.clone();
        let seq = store.append(NewMessage { thread, ..said }).await;
        seq.unwrap();
    }
    let handle = format!("{prefix}a");
    let workspace = own.clone();
    let text = spill(&handle, own.as_str());
    store.put(Spill { workspace, ..text }).await.unwrap();
}

/// Returns the records that `fill` has stored, as the methods return them to a workspace.
pub(super) async fn seen(
    store: &impl Store,
    own: &Workspace,
    handle: &str,
) -> impl PartialEq + std::fmt::Debug {
    let scope = Scope::Workspace(own);
    let thread = ThreadId::new(own, "a").unwrap();
    (
        ApprovalStore::list(store, scope, &ApprovalFilter::default())
            .await
            .unwrap(),
        EffectLedger::list(store, scope, None).await.unwrap(),
        store.export(scope, &AuditFilter::default()).await.unwrap(),
        ThreadStore::read(store, &thread, None).await.unwrap(),
        SpillStore::read(store, own, "ann", handle, 0, 99, at(200))
            .await
            .unwrap(),
    )
}

tests! {
    ($) __suite_workspaces in workspaces for Store;

    // The methods for approvals, effects, audit rows, threads and spills do not read, change, list, erase or expire a record of a different
    // workspace.
    #[test]
    async fn no_method_reaches_a_different_workspace(store: impl Store) {
        let (acme, own) = (acme(), umbrella());
        let scope = Scope::Workspace(&own);
        fill(&store, &acme, "").await;
        let before = seen(&store, &acme, "a").await;

        let all = ApprovalFilter::default();
        for id in ["pending", "approved"] {
            assert_eq!(ApprovalStore::get(&store, &own, id).await.unwrap(), None);
            for verdict in [Verdict::Approve, Verdict::Deny] {
                missing(store.answer(&own, id, says(verdict)).await);
            }
            // In the row's own workspace, this late answer would mark the row as expired.
            missing(store.answer(&own, id, ApprovalAnswer { at: at(9000), ..says(Verdict::Approve) }).await);
            assert!(!store.spend(&own, id, "nonce", at(300)).await.unwrap());
            assert!(!store.withdraw(&own, id).await.unwrap());
            missing(store.assign(&own, id, Some("eve".into())).await);
            let taken = ApprovalRequest { identity: named_in("umbrella", "a"), ..request(id) };
            conflict(store.open(taken).await, "exists");
        }
        assert_eq!(ApprovalStore::list(&store, scope, &all).await.unwrap(), []);
        assert_eq!(store.deny_all(&own, &all, says(Verdict::Deny)).await.unwrap(), 0);
        assert_eq!(ApprovalStore::expire(&store, scope, at(9000)).await.unwrap(), 0);

        for name in ["a", "done"] {
            let key = CallKey::new(&own, name);
            assert_eq!(EffectLedger::get(&store, &key).await.unwrap(), None);
            assert!(!store.renew(&key, "run-1", at(900)).await.unwrap());
            missing(store.end(&key, "run-1", end(EffectState::Failed, 300)).await);
            for resolution in [Resolution::Rerun, Resolution::Succeeded("1".into())] {
                missing(store.resolve(&key, resolution, "olga", at(9000)).await);
            }
        }
        assert_eq!(store.sweep(scope, at(9000)).await.unwrap(), []);
        assert_eq!(EffectLedger::list(&store, scope, None).await.unwrap(), []);

        assert_eq!(store.export(scope, &AuditFilter::default()).await.unwrap(), []);
        assert_eq!(AuditSink::erase(&store, &own, "ann").await.unwrap(), 0);
        assert_eq!(store.retain(scope, at(9000)).await.unwrap(), 0);

        let thread = ThreadId::new(&own, "a").unwrap();
        assert_eq!(ThreadStore::read(&store, &thread, None).await.unwrap(), []);
        assert_eq!(ThreadStore::erase(&store, &thread).await.unwrap(), 0);

        assert_eq!(SpillStore::read(&store, &own, "ann", "a", 0, 99, at(200)).await.unwrap(), None);
        conflict(store.put(Spill { workspace: own.clone(), ..spill("a", "other") }).await, "exists");
        assert_eq!(SpillStore::expire(&store, scope, at(9000)).await.unwrap(), 0);
        assert_eq!(seen(&store, &acme, "a").await, before);

        // The same calls, threads and audit rows in the other workspace are separate records.
        fill(&store, &own, "own ").await;
        let two = seen(&store, &own, "own a").await;
        assert_eq!(seen(&store, &acme, "a").await, before);
        let key = CallKey::new(&own, "a");
        store.resolve(&key, Resolution::Failed("1".into()), "olga", at(900)).await.unwrap();
        store.write(vec![AuditRow { identity: named_in("umbrella", "a"), outcome: Some("ok".into()), ..audit("a") }]).await.unwrap();
        assert_ne!(seen(&store, &own, "own a").await, two);
        assert_eq!(store.deny_all(&own, &all, says(Verdict::Deny)).await.unwrap(), 1);
        assert_eq!(ApprovalStore::expire(&store, scope, at(9000)).await.unwrap(), 1);
        assert_eq!(store.sweep(scope, at(9000)).await.unwrap(), []);
        assert_eq!(AuditSink::erase(&store, &own, "ann").await.unwrap(), 2);
        assert_eq!(ThreadStore::erase(&store, &thread).await.unwrap(), 2);
        assert_eq!(SpillStore::expire(&store, scope, at(9000)).await.unwrap(), 1);
        assert_eq!(seen(&store, &acme, "a").await, before);
    }
}
