//! Tests of approval requests and their answers.

use crate::*;

use super::records::{acme, at, key, named, named_in, request, says};
use super::{at_once, conflict, missing, tests};

async fn status(store: &impl ApprovalStore, id: &str) -> ApprovalStatus {
    store.get(&acme(), id).await.unwrap().unwrap().status
}

async fn ids(store: &impl ApprovalStore, filter: &ApprovalFilter) -> Vec<String> {
    let rows = store.list(Scope::All, filter).await.unwrap();
    rows.into_iter().map(|row| row.request.id).collect()
}

tests! {
    ($) __suite_approval in approval for Store;

    #[test]
    async fn a_request_is_stored_once_with_every_field(store: impl ApprovalStore) {
        let full = ApprovalRequest { parent: Some("outer".into()), four_eyes: true, ..request("a") };
        let bare = ApprovalRequest { thread: None, agent: None, reason: None, ..request("b") };
        for request in [full, bare] {
            store.open(request.clone()).await.unwrap();
            let row = store.get(&acme(), &request.id).await.unwrap().unwrap();
            assert_eq!(row, ApprovalRow { request: request.clone(), status: ApprovalStatus::Pending, assignee: None, answer: None });
            let other = ApprovalRequest { tool: "other".into(), ..request.clone() };
            conflict(store.open(other).await, "exists");
            assert_eq!(store.get(&acme(), &request.id).await.unwrap().unwrap().request, request);
        }
        assert_eq!(store.get(&acme(), "c").await.unwrap(), None);
    }

    // S2-13: an unknown id is an error, and an answer is single-use.
    #[test]
    async fn an_approval_is_answered_only_once(store: impl ApprovalStore) {
        missing(store.answer(&acme(), "a", says(Verdict::Approve)).await);
        let verdicts = [
            (Verdict::Approve, ApprovalStatus::Approved, "approved"),
            (Verdict::Edit(r#"{"to":"eve"}"#.into()), ApprovalStatus::Approved, "approved"),
            (Verdict::Deny, ApprovalStatus::Denied, "denied"),
        ];
        for (n, (verdict, expected, word)) in verdicts.into_iter().enumerate() {
            let id = format!("a{n}");
            store.open(request(&id)).await.unwrap();
            let row = store.answer(&acme(), &id, says(verdict.clone())).await.unwrap();
            assert_eq!((row.status, row.answer.clone()), (expected, Some(says(verdict.clone()))));
            assert_eq!(store.get(&acme(), &id).await.unwrap().unwrap(), row);
            conflict(store.answer(&acme(), &id, says(Verdict::Deny)).await, word);
            conflict(store.answer(&acme(), &id, says(Verdict::Approve)).await, word);
            assert_eq!(store.get(&acme(), &id).await.unwrap().unwrap(), row);
        }
    }

    // S2-13: of 32 concurrent answers, one is accepted and stored.
    #[test]
    async fn one_of_many_concurrent_answers_is_stored(store: impl ApprovalStore + Clone) {
        store.open(request("a")).await.unwrap();
        let said = at_once(|task| {
            let store = store.clone();
            async move {
                let verdict = if task % 2 == 0 { Verdict::Approve } else { Verdict::Deny };
                let answer = ApprovalAnswer { approver: format!("approver {task}"), ..says(verdict) };
                store.answer(&acme(), "a", answer).await
            }
        }).await;
        let mut counted = said.into_iter().flatten();
        let row = counted.next().unwrap();
        assert_eq!(counted.next(), None);
        assert_eq!(store.get(&acme(), "a").await.unwrap().unwrap(), row);
    }

    #[test]
    async fn late_answer_is_refused(store: impl ApprovalStore) {
        store.open(request("a")).await.unwrap();
        store.open(request("b")).await.unwrap();
        let last = ApprovalAnswer { at: at(999), ..says(Verdict::Approve) };
        let late = ApprovalAnswer { at: at(1000), ..says(Verdict::Approve) };
        assert_eq!(store.answer(&acme(), "a", last).await.unwrap().status, ApprovalStatus::Approved);
        conflict(store.answer(&acme(), "b", late).await, "expired");
        let row = store.get(&acme(), "b").await.unwrap().unwrap();
        assert_eq!((row.status, row.answer), (ApprovalStatus::Expired, None));
        conflict(store.answer(&acme(), "b", says(Verdict::Approve)).await, "expired");
    }

    #[test]
    async fn four_eyes_approval_needs_a_second_person(store: impl ApprovalStore) {
        store.open(ApprovalRequest { four_eyes: true, ..request("a") }).await.unwrap();
        store.open(request("b")).await.unwrap();
        let own = ApprovalAnswer { approver: "ann".into(), ..says(Verdict::Approve) };
        conflict(store.answer(&acme(), "a", own.clone()).await, "four eyes");
        assert_eq!(status(&store, "a").await, ApprovalStatus::Pending);
        assert_eq!(store.answer(&acme(), "a", says(Verdict::Approve)).await.unwrap().status, ApprovalStatus::Approved);
        assert_eq!(store.answer(&acme(), "b", own).await.unwrap().status, ApprovalStatus::Approved);
    }

    // An answer by an approver without a name is refused, also in a bulk denial.
    #[test]
    async fn an_approver_without_a_name_is_refused(store: impl ApprovalStore) {
        store.open(request("a")).await.unwrap();
        store.open(ApprovalRequest { four_eyes: true, principal: String::new(), ..request("b") }).await.unwrap();
        for verdict in [Verdict::Approve, Verdict::Edit("{}".into()), Verdict::Deny] {
            for name in ["", " "] {
                let nameless = ApprovalAnswer { approver: name.into(), ..says(verdict.clone()) };
                for id in ["a", "b"] {
                    conflict(store.answer(&acme(), id, nameless.clone()).await, "without a name");
                }
            }
        }
        for name in ["", " "] {
            let nameless = ApprovalAnswer { approver: name.into(), ..says(Verdict::Deny) };
            let all = ApprovalFilter::default();
            conflict(store.deny_all(&acme(), &all, nameless).await, "without a name");
        }
        for id in ["a", "b"] {
            let row = store.get(&acme(), id).await.unwrap().unwrap();
            assert_eq!((row.status, row.answer), (ApprovalStatus::Pending, None));
        }
    }

    #[test]
    async fn an_approval_is_spent_only_if_everything_matches(store: impl ApprovalStore) {
        assert!(!store.spend(&acme(), "a", "nonce", at(300)).await.unwrap());
        store.open(request("a")).await.unwrap();
        assert!(!store.spend(&acme(), "a", "nonce", at(300)).await.unwrap(), "pending");
        store.answer(&acme(), "a", says(Verdict::Approve)).await.unwrap();
        assert!(!store.spend(&acme(), "a", "other", at(300)).await.unwrap(), "another nonce");
        assert!(!store.spend(&acme(), "a", "nonce", at(1000)).await.unwrap(), "expired");
        assert_eq!(status(&store, "a").await, ApprovalStatus::Approved);
        assert!(store.spend(&acme(), "a", "nonce", at(999)).await.unwrap());
        assert!(!store.spend(&acme(), "a", "nonce", at(999)).await.unwrap(), "spent");
        assert_eq!(status(&store, "a").await, ApprovalStatus::Spent);
        conflict(store.answer(&acme(), "a", says(Verdict::Approve)).await, "spent");

        store.open(request("b")).await.unwrap();
        store.answer(&acme(), "b", says(Verdict::Deny)).await.unwrap();
        assert!(!store.spend(&acme(), "b", "nonce", at(300)).await.unwrap(), "denied");
    }

    // M5: of 32 tasks that spend one approval, one succeeds.
    #[test]
    async fn one_of_many_concurrent_spends_succeeds(store: impl ApprovalStore + Clone) {
        store.open(request("a")).await.unwrap();
        store.answer(&acme(), "a", says(Verdict::Approve)).await.unwrap();
        let spent = at_once(|_| {
            let store = store.clone();
            async move { store.spend(&acme(), "a", "nonce", at(300)).await.unwrap() }
        }).await;
        assert_eq!(spent.into_iter().filter(|spent| *spent).count(), 1);
    }

    #[test]
    async fn withdrawn_approval_stays_withdrawn(store: impl ApprovalStore) {
        assert!(!store.withdraw(&acme(), "a").await.unwrap());
        store.open(request("a")).await.unwrap();
        store.open(request("b")).await.unwrap();
        store.answer(&acme(), "b", says(Verdict::Approve)).await.unwrap();
        for id in ["a", "b"] {
            assert!(store.withdraw(&acme(), id).await.unwrap());
            assert!(!store.withdraw(&acme(), id).await.unwrap());
            assert!(!store.spend(&acme(), id, "nonce", at(300)).await.unwrap());
            conflict(store.answer(&acme(), id, says(Verdict::Approve)).await, "withdrawn");
        }
    }

    #[test]
    async fn pending_approval_can_be_assigned(store: impl ApprovalStore) {
        missing(store.assign(&acme(), "a", None).await);
        store.open(request("a")).await.unwrap();
        let row = store.assign(&acme(), "a", Some("eve".into())).await.unwrap();
        assert_eq!(row.assignee.as_deref(), Some("eve"));
        assert_eq!(store.get(&acme(), "a").await.unwrap().unwrap(), row);
        assert_eq!(store.assign(&acme(), "a", None).await.unwrap().assignee, None);
        store.answer(&acme(), "a", says(Verdict::Deny)).await.unwrap();
        conflict(store.assign(&acme(), "a", Some("eve".into())).await, "denied");
    }

    #[test]
    async fn lists_are_narrowed_by_every_field(store: impl ApprovalStore) {
        let plain = request("plain");
        let all = [
            plain.clone(),
            ApprovalRequest { id: "principal".into(), principal: "bob".into(), ..plain.clone() },
            ApprovalRequest { id: "tool".into(), tool: "wipe".into(), ..plain.clone() },
            ApprovalRequest { id: "key".into(), identity: named("another call"), ..plain.clone() },
            ApprovalRequest { id: "thread".into(), thread: None, ..plain.clone() },
            ApprovalRequest { id: "kind".into(), kind: ApprovalKind::Plan, ..plain.clone() },
            ApprovalRequest { id: "status".into(), ..plain.clone() },
            ApprovalRequest { id: "assignee".into(), ..plain.clone() },
        ];
        for request in &all {
            store.open(request.clone()).await.unwrap();
        }
        store.answer(&acme(), "status", says(Verdict::Deny)).await.unwrap();
        store.assign(&acme(), "assignee", Some("eve".into())).await.unwrap();
        let none = ApprovalFilter::default();
        let only = [
            (ApprovalFilter { principal: Some("bob".into()), ..none.clone() }, "principal"),
            (ApprovalFilter { tool: Some("wipe".into()), ..none.clone() }, "tool"),
            (ApprovalFilter { key: Some(key("another call").as_str().into()), ..none.clone() }, "key"),
            (ApprovalFilter { kind: Some(ApprovalKind::Plan), ..none.clone() }, "kind"),
            (ApprovalFilter { status: Some(ApprovalStatus::Denied), ..none.clone() }, "status"),
            (ApprovalFilter { assignee: Some("eve".into()), ..none.clone() }, "assignee"),
        ];
        for (filter, id) in &only {
            assert_eq!(ids(&store, filter).await, [*id]);
        }
        let thread = ApprovalFilter { thread: Some("thread".into()), ..none.clone() };
        assert_eq!(ids(&store, &thread).await.len(), all.len() - 1);
        let two = ApprovalFilter { tool: Some("wipe".into()), principal: Some("bob".into()), ..none.clone() };
        assert_eq!(ids(&store, &two).await, Vec::<String>::new());

        let elsewhere = ApprovalRequest { id: "workspace".into(), identity: named_in("umbrella", "plain"), ..plain };
        store.open(elsewhere).await.unwrap();
        let umbrella = Workspace::new("umbrella");
        let rows = store.list(Scope::Workspace(&umbrella), &none).await.unwrap();
        assert_eq!(rows.into_iter().map(|row| row.request.id).collect::<Vec<_>>(), ["workspace"]);
        let rows = store.list(Scope::Workspace(&acme()), &none).await.unwrap();
        assert_eq!(rows.len(), all.len());
        let two = ApprovalFilter { principal: Some("bob".into()), ..none };
        assert_eq!(store.list(Scope::Workspace(&umbrella), &two).await.unwrap(), []);
    }

    #[test]
    async fn lists_have_an_order_and_pages(store: impl ApprovalStore) {
        for (id, created) in [("c", 3), ("b", 7), ("a", 7), ("ä", 7), ("B", 7), ("d", -1)] {
            store.open(ApprovalRequest { created: at(created), ..request(id) }).await.unwrap();
        }
        let order = ["d", "c", "B", "a", "b", "ä"];
        assert_eq!(ids(&store, &ApprovalFilter::default()).await, order);
        let mut page = ApprovalFilter { limit: Some(2), ..ApprovalFilter::default() };
        let mut seen = Vec::new();
        while let Some(last) = store.list(Scope::All, &page).await.unwrap().last().cloned() {
            seen.extend(ids(&store, &page).await);
            page.after = Some((last.request.created, last.request.id));
        }
        assert_eq!(seen, order);
        let nothing = ApprovalFilter { limit: Some(0), ..ApprovalFilter::default() };
        assert_eq!(ids(&store, &nothing).await, Vec::<String>::new());
    }

    #[test]
    async fn bulk_denial_applies_the_checks_of_a_single_denial(store: impl ApprovalStore) {
        for id in ["a", "b", "answered"] {
            store.open(request(id)).await.unwrap();
        }
        store.answer(&acme(), "answered", says(Verdict::Approve)).await.unwrap();
        store.open(ApprovalRequest { tool: "other".into(), ..request("other") }).await.unwrap();
        store.open(ApprovalRequest { expires: at(200), ..request("late") }).await.unwrap();
        store.open(ApprovalRequest { four_eyes: true, principal: "eve".into(), ..request("own") }).await.unwrap();

        let filter = ApprovalFilter { tool: Some("send_mail".into()), ..ApprovalFilter::default() };
        conflict(store.deny_all(&acme(), &filter, says(Verdict::Approve)).await, "deny");
        assert_eq!(store.deny_all(&acme(), &filter, says(Verdict::Deny)).await.unwrap(), 2);
        for id in ["a", "b"] {
            let row = store.get(&acme(), id).await.unwrap().unwrap();
            assert_eq!((row.status, row.answer), (ApprovalStatus::Denied, Some(says(Verdict::Deny))));
        }
        assert_eq!(status(&store, "answered").await, ApprovalStatus::Approved);
        assert_eq!(status(&store, "other").await, ApprovalStatus::Pending);
        let late = store.get(&acme(), "late").await.unwrap().unwrap();
        assert_eq!((late.status, late.answer), (ApprovalStatus::Expired, None));
        let own = store.get(&acme(), "own").await.unwrap().unwrap();
        assert_eq!((own.status, own.answer), (ApprovalStatus::Pending, None));
        assert_eq!(store.deny_all(&acme(), &filter, says(Verdict::Deny)).await.unwrap(), 0);
    }

    #[test]
    async fn bulk_denial_respects_its_limit(store: impl ApprovalStore) {
        for id in ["a", "b", "c"] {
            store.open(request(id)).await.unwrap();
        }
        let filter = ApprovalFilter { limit: Some(1), after: Some((at(100), "a".into())), ..ApprovalFilter::default() };
        assert_eq!(store.deny_all(&acme(), &filter, says(Verdict::Deny)).await.unwrap(), 1);
        let denied = ApprovalFilter { status: Some(ApprovalStatus::Denied), ..ApprovalFilter::default() };
        assert_eq!(ids(&store, &denied).await, ["b"]);
    }

    #[test]
    async fn open_approvals_expire(store: impl ApprovalStore) {
        for id in ["pending", "approved", "denied", "spent", "later"] {
            let expires = if id == "later" { at(1001) } else { at(1000) };
            store.open(ApprovalRequest { expires, ..request(id) }).await.unwrap();
        }
        store.answer(&acme(), "approved", says(Verdict::Approve)).await.unwrap();
        store.answer(&acme(), "denied", says(Verdict::Deny)).await.unwrap();
        store.answer(&acme(), "spent", says(Verdict::Approve)).await.unwrap();
        store.spend(&acme(), "spent", "nonce", at(300)).await.unwrap();
        assert_eq!(store.expire(Scope::All, at(999)).await.unwrap(), 0);
        assert_eq!(store.expire(Scope::All, at(1000)).await.unwrap(), 2);
        assert_eq!(store.expire(Scope::All, at(1000)).await.unwrap(), 0);
        for (id, expected) in [
            ("pending", ApprovalStatus::Expired),
            ("approved", ApprovalStatus::Expired),
            ("denied", ApprovalStatus::Denied),
            ("spent", ApprovalStatus::Spent),
            ("later", ApprovalStatus::Pending),
        ] {
            assert_eq!(status(&store, id).await, expected);
        }
        assert!(store.get(&acme(), "approved").await.unwrap().unwrap().answer.is_some());
    }

    #[test]
    async fn answer_to_a_plan_is_stored_with_its_kind(store: impl ApprovalStore) {
        store.open(ApprovalRequest { kind: ApprovalKind::Plan, ..request("plan") }).await.unwrap();
        store.open(request("call")).await.unwrap();
        store.answer(&acme(), "plan", says(Verdict::Approve)).await.unwrap();
        let plans = ApprovalFilter { kind: Some(ApprovalKind::Plan), ..ApprovalFilter::default() };
        let rows = store.list(Scope::All, &plans).await.unwrap();
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].answer, Some(says(Verdict::Approve)));
        assert_eq!(status(&store, "call").await, ApprovalStatus::Pending);
    }
}
