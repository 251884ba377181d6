//! Tests of changes by operators, their audit rows and their idempotency keys.

use crate::*;

use super::records::{acme, at, intent, key, key_of, request, says, thread};
use super::{at_once, conflict, missing, tests};

fn umbrella() -> Workspace {
    Workspace::new("umbrella")
}

/// Returns a change in a workspace, with an audit row of the operator `olga`.
fn of(workspace: &Workspace, change: Change) -> ChangeRequest {
    let audit = AuditRow::of_operator(workspace, "olga", "test", "{}", at(300)).unwrap();
    ChangeRequest {
        change,
        audit,
        key: None,
    }
}

fn respond(changed: &Changed) -> String {
    match changed {
        Changed::Approval(row) => format!("{} {}", row.request.id, row.status),
        _ => String::new(),
    }
}

/// Adds the idempotency key `k1` of a user to a request. The key expires at 1000.
fn keyed(caller: &str, fingerprint: &str, now: i64, request: ChangeRequest) -> ChangeRequest {
    let key = RequestKey {
        caller: caller.to_owned(),
        key: "k1".to_owned(),
        fingerprint: fingerprint.to_owned(),
        at: at(now),
        expires: at(1000),
        respond,
    };
    ChangeRequest {
        key: Some(key),
        ..request
    }
}

fn answer(id: &str) -> Change {
    Change::Answer {
        id: id.to_owned(),
        answer: says(Verdict::Approve),
    }
}

fn kill(on: bool, workspace: Option<Workspace>) -> Switch {
    let key = SwitchKey {
        workspace,
        kind: SwitchKind::Kill,
        tool: "send_mail".to_owned(),
        source: String::new(),
    };
    Switch {
        key,
        on,
        by: "olga".to_owned(),
        reason: None,
        at: at(300),
    }
}

async fn audit_of(store: &impl AuditSink) -> Vec<AuditRow> {
    store
        .export(Scope::All, &AuditFilter::default())
        .await
        .unwrap()
}

async fn begin_run(store: &impl RunStore) -> RunId {
    let new = NewRun {
        thread: thread("main"),
        principal: None,
        agent: None,
        owner: "one".to_owned(),
        at: at(100),
        lease_until: at(900),
    };
    match store.begin_run(new).await.unwrap() {
        RunBegun::Begun(row) => row.id,
        RunBegun::Busy(row) => panic!("{row:?}"),
    }
}

tests! {
    ($) __suite_change in change for ChangeStore;

    // Each change by an operator is stored with an audit row that contains the operator and identifies the changed row.
    #[test]
    async fn changes_are_stored_with_their_audit_row(store: impl Store + ChangeStore) {
        store.open(request("a1")).await.unwrap();
        let run = begin_run(&store).await;
        let lapsed = Intent { lease_until: at(150), ..intent("e1") };
        store.begin(lapsed, None).await.unwrap();
        let acme = acme();
        let assign = Change::Assign { id: "a1".into(), assignee: Some("eve".into()), expected: Expected::Any };
        let stop = Change::StopRun { id: run.clone(), stop: RunStop::Cancel };
        let resolve = Change::Resolve {
            key: key("e1"),
            resolution: Resolution::Failed("no".into()),
            operator: "olga".into(),
            at: at(300),
        };
        let switch = Change::SetSwitch { switch: kill(true, Some(acme.clone())), expected: Expected::Same(None) };
        for (change, tool, conversation) in [
            (assign, "send_mail", Some("thread")),
            (answer("a1"), "send_mail", Some("thread")),
            (Change::Revoke { id: "a1".into() }, "send_mail", Some("thread")),
            (stop, "", Some("main")),
            (resolve, "send_mail", Some("thread")),
            (switch, "send_mail", None),
            (Change::Note, "", None),
        ] {
            let request = of(&acme, change.clone());
            let written = request.audit.identity.key();
            let Applied::Changed(_) = store.apply(request).await.unwrap() else {
                panic!("{change:?} was not made");
            };
            let rows = audit_of(&store).await;
            let row = rows.iter().find(|row| row.identity.key() == written).unwrap();
            assert_eq!(row.principal.as_deref(), Some("olga"), "{change:?}");
            assert_eq!((row.tool.as_str(), row.thread.as_deref()), (tool, conversation), "{change:?}");
        }
        let row = store.get_run(&run).await.unwrap().unwrap();
        assert_eq!(row.stop, Some(RunStop::Cancel));
        let row = ApprovalStore::get(&store, &acme, "a1").await.unwrap().unwrap();
        assert_eq!((row.status, row.assignee.as_deref()), (ApprovalStatus::Withdrawn, Some("eve")));
        assert_eq!(row.answer, Some(says(Verdict::Approve)));
        let row = EffectLedger::get(&store, &key("e1")).await.unwrap().unwrap();
        assert_eq!((row.state, row.resolved_by.as_deref()), (EffectState::Failed, Some("olga")));
        assert_eq!(store.in_force().await.unwrap(), [kill(true, Some(acme))]);
    }

    // A refused change writes no audit row and stores no key.
    #[test]
    async fn refused_change_writes_nothing(store: impl Store + ChangeStore) {
        store.open(request("a1")).await.unwrap();
        store.withdraw(&acme(), "a1").await.unwrap();
        let run = begin_run(&store).await;
        let end = RunEnd { cause: RunCause::Replied, at: at(200), progress: RunProgress::default() };
        RunStore::end_run(&store, &run, "one", end).await.unwrap();
        let acme = acme();
        let refused = keyed("olga", "f1", 300, of(&acme, answer("a1")));
        conflict(store.apply(refused).await, "withdrawn");
        conflict(store.apply(of(&acme, Change::Revoke { id: "a1".into() })).await, "withdrawn");
        conflict(store.apply(of(&acme, Change::StopRun { id: run, stop: RunStop::Cancel })).await, "ended");
        missing(store.apply(of(&acme, answer("a2"))).await);
        let stale = Change::SetSwitch {
            switch: kill(true, Some(acme.clone())),
            expected: Expected::Same(Some(kill(false, Some(acme.clone())))),
        };
        let answer = store.apply(of(&acme, stale)).await;
        assert!(matches!(answer, Err(StoreError::Stale(_))), "{answer:?}");
        assert_eq!(audit_of(&store).await, []);
        // The refused request has not stored its key.
        store.open(request("a3")).await.unwrap();
        let free = keyed("olga", "f2", 300, of(&acme, self::answer("a3")));
        assert!(matches!(store.apply(free).await, Ok(Applied::Changed(_))));
    }

    // If two operators change a row that both have read, the second change is refused as stale.
    #[test]
    async fn change_of_a_row_that_was_changed_meanwhile_is_stale(store: impl Store + ChangeStore) {
        store.open(request("a1")).await.unwrap();
        let acme = acme();
        let read = ApprovalStore::get(&store, &acme, "a1").await.unwrap().map(Box::new);
        let assign = |to: &str| Change::Assign {
            id: "a1".into(),
            assignee: Some(to.into()),
            expected: Expected::Same(read.clone()),
        };
        store.apply(of(&acme, assign("eve"))).await.unwrap();
        let answer = store.apply(of(&acme, assign("bob"))).await;
        assert!(matches!(answer, Err(StoreError::Stale(_))), "{answer:?}");
        let row = ApprovalStore::get(&store, &acme, "a1").await.unwrap().unwrap();
        assert_eq!(row.assignee.as_deref(), Some("eve"));
    }

    // A repeated request with the same idempotency key receives the first response and changes nothing.
    #[test]
    async fn repeated_request_gets_the_first_response(store: impl Store + ChangeStore) {
        store.open(request("a1")).await.unwrap();
        store.open(request("a2")).await.unwrap();
        let acme = acme();
        let first = |now| keyed("olga", "f1", now, of(&acme, answer("a1")));
        assert!(matches!(store.apply(first(300)).await, Ok(Applied::Changed(_))));
        let again = Applied::Repeated("a1 approved".to_owned());
        assert_eq!(store.apply(first(400)).await.unwrap(), again);
        assert_eq!(audit_of(&store).await.len(), 1);
        let other = keyed("olga", "f2", 400, of(&acme, answer("a2")));
        conflict(store.apply(other).await, "different request");
        // The key belongs to the user and to the workspace, and has no effect after it has expired.
        let other = keyed("bob", "f2", 400, of(&acme, answer("a2")));
        assert!(matches!(store.apply(other).await, Ok(Applied::Changed(_))));
        missing(store.apply(keyed("olga", "f1", 400, of(&umbrella(), answer("a1")))).await);
        conflict(store.apply(first(1000)).await, "not pending");
    }

    // Of concurrent requests with the same idempotency key, one makes the change, and the others receive its response.
    #[test]
    async fn one_of_many_concurrent_requests_with_a_key_makes_the_change(store: impl Store + ChangeStore + Clone) {
        let acme = acme();
        let respond: fn(&Changed) -> String = |_| "a\0b".to_owned();
        let answers = at_once(|task| {
            let (store, mut request) = (store.clone(), keyed("olga", "f1", 300, of(&acme, Change::Note)));
            request.key.as_mut().unwrap().respond = respond;
            let on = task % 2 == 0;
            request.change = Change::SetSwitch { switch: kill(on, Some(acme.clone())), expected: Expected::Any };
            async move { store.apply(request).await.unwrap() }
        });
        let answers = answers.await;
        let repeated = Applied::Repeated("a\0b".to_owned());
        assert_eq!(answers.iter().filter(|answer| **answer == repeated).count(), 31);
        assert_eq!(audit_of(&store).await.len(), 1);
    }

    // An operator cannot erase the record of their own changes. The rows of changes to calls have the id of the call.
    #[test]
    async fn erasure_of_an_operator_keeps_changes_to_calls(store: impl Store + ChangeStore) {
        store.open(request("a1")).await.unwrap();
        let lapsed = Intent { lease_until: at(150), ..intent("e1") };
        store.begin(lapsed, None).await.unwrap();
        let resolve = Change::Resolve {
            key: key("e1"),
            resolution: Resolution::Rerun,
            operator: "olga".into(),
            at: at(300),
        };
        for change in [answer("a1"), resolve] {
            store.apply(of(&acme(), change)).await.unwrap();
        }
        let changes = audit_of(&store).await;
        assert!(changes.len() == 2 && changes.iter().all(|row| !row.call.is_empty() && row.is_of_operator()), "{changes:?}");
        // The call of a tool that does not exist has no contract.
        let call = super::records::audit("c1");
        let call = AuditRow { principal: Some("olga".into()), contract: None, ..call };
        assert!(!call.is_of_operator());
        store.write(vec![call]).await.unwrap();
        assert_eq!(AuditSink::erase(&store, &acme(), "olga").await.unwrap(), 1);
        assert_eq!(audit_of(&store).await, changes);
    }

    // A change cannot affect a row of a different workspace, except that it can set a switch for every workspace.
    #[test]
    async fn changes_stay_in_their_workspace(store: impl Store + ChangeStore) {
        store.open(request("a1")).await.unwrap();
        let run = begin_run(&store).await;
        let lapsed = Intent { lease_until: at(150), ..intent("e1") };
        store.begin(lapsed, None).await.unwrap();
        let umbrella = umbrella();
        let resolve = Change::Resolve {
            key: key("e1"),
            resolution: Resolution::Rerun,
            operator: "olga".into(),
            at: at(300),
        };
        for change in [
            answer("a1"),
            Change::Assign { id: "a1".into(), assignee: None, expected: Expected::Any },
            Change::Revoke { id: "a1".into() },
            Change::StopRun { id: run.clone(), stop: RunStop::Cancel },
            resolve,
            Change::SetSwitch { switch: kill(true, Some(acme())), expected: Expected::Any },
        ] {
            missing(store.apply(of(&umbrella, change)).await);
        }
        assert_eq!(audit_of(&store).await, []);
        let row = ApprovalStore::get(&store, &acme(), "a1").await.unwrap().unwrap();
        assert_eq!((row.status, row.assignee), (ApprovalStatus::Pending, None));
        assert_eq!(store.get_run(&run).await.unwrap().unwrap().stop, None);
        assert_eq!(store.switches(Scope::All, &SwitchFilter::default()).await.unwrap(), []);
        let every = Change::SetSwitch { switch: kill(true, None), expected: Expected::Any };
        store.apply(of(&umbrella, every)).await.unwrap();
        assert_eq!(store.in_force().await.unwrap(), [kill(true, None)]);
        assert_eq!(audit_of(&store).await.iter().map(key_of).count(), 1);
    }

    // The messages of a thread are in order across pages.
    #[test]
    async fn pages_of_a_thread_are_in_order(store: impl ThreadStore) {
        let main = thread("main");
        for n in 0..5 {
            let message = NewMessage {
                thread: main.clone(), role: Role::User, answers: None, follows: None, content: format!("{n}"), at: at(n),
            };
            store.append(message).await.unwrap();
        }
        let mut read = Vec::new();
        while let page @ [_, ..] = &store.read_page(&main, read.last().copied().unwrap_or(0), 2).await.unwrap()[..] {
            assert!(page.len() <= 2);
            read.extend(page.iter().map(|message| message.seq));
        }
        assert_eq!(read, [1, 2, 3, 4, 5]);
        assert_eq!(store.read_page(&thread("side"), 0, 2).await.unwrap(), []);
    }
}
