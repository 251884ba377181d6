//! Tests of plans: runs, results of nodes, approvals and resumption.

use serde_json::{Value, json};

use crate::*;

use super::records::{at, thread};
use super::{conflict, missing, tests};

/// The traits that the tests of plans require.
pub trait Plans: PlanStore + Maintenance + ChangeStore {}
impl<T: PlanStore + Maintenance + ChangeStore> Plans for T {}

/// Compiles a plan. A node is the id of a task of any agent, or an object with the fields in which the node differs from such a task. An edge is a
/// text of the form `from to`. Nodes without an edge to them are the entry nodes.
pub(super) fn spec(nodes: &[Value], edges: &[&str]) -> PlanSpec {
    let edges = edges.iter().map(|edge| {
        let (from, to) = edge.split_once(' ').unwrap();
        json!({"from": from, "to": to})
    });
    compiled(nodes, edges.collect(), &PlanRules::default())
}

pub(super) fn compiled(nodes: &[Value], edges: Vec<Value>, rules: &PlanRules) -> PlanSpec {
    let nodes = nodes.iter().map(|node| {
        let mut all = json!({"id": node, "owner": {"executor": "agent"}, "objective": "do it", "success_criteria": ["it is done"]});
        if let Some(fields) = node.as_object() {
            all.as_object_mut().unwrap().extend(fields.clone());
        }
        all
    });
    let nodes: Vec<_> = nodes.collect();
    let entries = nodes.iter().map(|node| &node["id"]);
    let entries = entries.filter(|id| !edges.iter().any(|edge| edge["to"] == **id));
    let draft = json!({
        "title": "Release", "objective": "Publish version 2", "entry_nodes": entries.collect::<Vec<_>>(), "nodes": nodes, "edges": edges,
        "schemas": [{"id": "verdict", "schema": {"type": "object"}}],
    });
    let draft = serde_json::from_value(draft).unwrap();
    PlanSpec::compile(draft, rules, |_| Ok(())).unwrap()
}

pub(super) fn new(conversation: &str, spec: PlanSpec) -> NewPlanRun {
    NewPlanRun {
        thread: thread(conversation),
        principal: Some("ann".to_owned()),
        spec,
        at: at(100),
    }
}

pub(super) async fn create(store: &impl PlanStore, new: NewPlanRun) -> PlanRow {
    match store.create_plan(new).await.unwrap() {
        PlanCreated::Created(row) => *row,
        PlanCreated::Active(row) => panic!("active: {row:?}"),
    }
}

pub(super) fn agent() -> PlanOwner {
    PlanOwner::new(PlanExecutor::Agent, "clerk")
}

/// Returns the result of a node, without an output.
pub(super) fn result(node: &str, outcome: PlanOutcome) -> PlanSubmission {
    PlanSubmission {
        node: node.to_owned(),
        attempt: None,
        by: agent(),
        outcome,
        output: None,
        schema_issues: Vec::new(),
        artifacts: Vec::new(),
        notes: None,
    }
}

fn done(node: &str) -> PlanChange {
    PlanChange::Submit(result(node, PlanOutcome::Completed))
}

fn with_output(node: &str, output: Value) -> PlanChange {
    PlanChange::Submit(PlanSubmission {
        output: Some(output),
        ..result(node, PlanOutcome::Completed)
    })
}

pub(super) fn start(node: &str, lease_until: i64) -> PlanChange {
    PlanChange::Start {
        node: node.to_owned(),
        by: agent(),
        lease_until: at(lease_until),
    }
}

fn resume() -> PlanChange {
    PlanChange::Resume {
        unresolved: Vec::new(),
    }
}

/// Makes a change at 200, and asserts that it is accepted.
async fn change(store: &impl PlanStore, row: &PlanRow, change: PlanChange) -> PlanRow {
    change_at(store, row, change, 200).await
}

pub(super) async fn change_at(
    store: &impl PlanStore,
    row: &PlanRow,
    change: PlanChange,
    millis: i64,
) -> PlanRow {
    let changed = store
        .change_plan(&row.id, change, at(millis))
        .await
        .unwrap();
    let PlanChanged::Changed(changed) = changed else {
        panic!("{changed:?}");
    };
    assert_eq!(store.plan(&row.id).await.unwrap().as_ref(), Some(&*changed));
    *changed
}

/// Asserts that a change is refused with a text that contains `words`, and that the run stays unchanged.
async fn refused(store: &impl PlanStore, row: &PlanRow, change: PlanChange, words: &str) {
    let changed = store.change_plan(&row.id, change, at(300)).await.unwrap();
    let PlanChanged::Refused(refusal, same) = changed else {
        panic!("{changed:?}");
    };
    assert!(refusal.to_string().contains(words), "{refusal}");
    assert_eq!(
        (&*same, store.plan(&row.id).await.unwrap().as_ref()),
        (row, Some(row))
    );
}

/// Returns the statuses of the nodes, separated by spaces.
fn statuses(row: &PlanRow) -> String {
    let statuses = row.nodes.iter().map(|node| node.status.as_str());
    statuses.collect::<Vec<_>>().join(" ")
}

tests! {
    ($) __suite_plan in plan for Plans;

    // An operator ends an active run once. The run and its nodes have their final statuses, and one audit row records the change.
    #[test]
    async fn active_run_is_ended_by_an_operator(store: impl Store + Plans) {
        let row = create(&store, new("main", spec(&[json!("a"), json!("b")], &["a b"]))).await;
        let request = || {
            let change = RecordChange::EndPlan { id: row.id.clone(), at: at(200) };
            let audit = AuditRow::of_operator(row.id.workspace(), "olga", "plan.cancel", "{}", at(200)).unwrap();
            ChangeRequest { change: Change::Record(change), audit, key: None }
        };
        let Applied::Changed(Changed::Plan(ended)) = store.apply(request()).await.unwrap() else {
            panic!("the change ends a run");
        };
        assert_eq!((ended.status, statuses(&ended)), (PlanStatus::Aborted, "skipped skipped".to_owned()));
        assert_eq!(store.plan(&row.id).await.unwrap().as_ref(), Some(&*ended));
        assert_eq!(store.active_plan(row.id.thread()).await.unwrap(), None);
        conflict(store.apply(request()).await, "aborted");
        let filter = PlanFilter { status: Some(PlanStatus::Aborted), ..PlanFilter::default() };
        assert_eq!(store.find_plans(row.id.workspace(), &filter).await.unwrap(), [*ended]);
        let audit = store.export(Scope::All, &AuditFilter::default()).await.unwrap();
        assert_eq!((audit.len(), audit[0].thread.as_deref()), (1, Some(row.id.thread().conversation())));
    }

    // S2-39: the entry nodes of a new run are ready. S2-42: reading the run changes nothing, and the conversation has no active run before the run is
    // created and after it has ended. S2-48: the run, its nodes and its event log are stored.
    #[test]
    async fn new_run_has_ready_entry_nodes(store: impl PlanStore) {
        let store = &store;
        assert_eq!(store.active_plan(&thread("main")).await.unwrap(), None);
        let spec = spec(&[json!("a"), json!("b"), json!("c")], &["a c", "b c"]);
        let row = create(store, new("main", spec.clone())).await;
        assert_eq!((statuses(&row).as_str(), row.status), ("ready ready pending", PlanStatus::Running));
        assert_eq!(row.nodes_with(PlanNodeStatus::Ready).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!((row.id.number(), row.created, row.principal.as_deref()), (1, at(100), Some("ann")));
        assert_eq!((&row.spec, row.replaces, row.checkpoint.number), (&spec, None, 0));
        for _ in 0..2 {
            assert_eq!(store.active_plan(&thread("main")).await.unwrap().as_ref(), Some(&row));
        }
        assert_eq!(store.plan(&row.id).await.unwrap().as_ref(), Some(&row));
        let events = store.plan_events(&row.id, 0, 99).await.unwrap();
        let kinds: Vec<_> = events.iter().map(|event| event.kind.as_str()).collect();
        assert_eq!(kinds, ["created", "node_status", "node_status"]);
        assert_eq!((events[1].node.as_deref(), events[1].status.as_deref()), (Some("a"), Some("ready")));

        let row = change(store, &row, PlanChange::Abort).await;
        assert_eq!((row.status, statuses(&row).as_str()), (PlanStatus::Aborted, "skipped skipped skipped"));
        assert_eq!(store.active_plan(&thread("main")).await.unwrap(), None);
        refused(store, &row, done("a"), "has ended with the status `aborted`").await;
    }

    // S2-48: a second run of the conversation is refused; S2-40: a replacement aborts the old run, and the two are linked. Numbers are not reused.
    #[test]
    async fn active_run_is_replaced_and_not_doubled(store: impl PlanStore) {
        let store = &store;
        let spec = || spec(&[json!("a"), json!("b")], &["a b"]);
        let reason = || "the goal changed".to_owned();
        assert_eq!(store.replace_plan(new("main", spec()), reason()).await.unwrap(), None);
        let first = create(store, new("main", spec())).await;
        let first = change(store, &first, start("a", 500)).await;
        let PlanCreated::Active(active) = store.create_plan(new("main", spec())).await.unwrap() else { panic!("created") };
        assert_eq!(*active, first);

        let later = NewPlanRun { at: at(400), ..new("main", spec()) };
        let second = store.replace_plan(later, reason()).await.unwrap().unwrap();
        assert_eq!((second.id.number(), second.replaces, second.reason.as_deref()), (2, Some(1), Some("the goal changed")));
        assert_eq!(store.active_plan(&thread("main")).await.unwrap().as_ref(), Some(&second));
        let old = store.plan(&first.id).await.unwrap().unwrap();
        assert_eq!((old.status, old.replaced_by, old.updated), (PlanStatus::Aborted, Some(2), at(400)));
        assert_eq!((statuses(&old).as_str(), old.nodes[0].attempts[0].status), ("skipped skipped", PlanAttemptStatus::Interrupted));
        // A late result of the old run does not change the new run.
        refused(store, &old, done("a"), "aborted").await;
        assert_eq!(store.active_plan(&thread("main")).await.unwrap(), Some(second));
        let rows = store.list_plans(&thread("main"), None, 9).await.unwrap();
        assert_eq!(rows.iter().map(|row| row.id.number()).collect::<Vec<_>>(), [2, 1]);
        let rows = store.list_plans(&thread("main"), Some(2), 1).await.unwrap();
        assert_eq!(rows, [old]);
        missing(store.change_plan(&PlanRunId::new(thread("main"), 3), PlanChange::Abort, at(1)).await);
    }

    // S2-41: a result is accepted only for a node that is running or ready. Results for other nodes, of other executors and of other attempts are
    // refused, and nothing is changed.
    #[test]
    async fn results_are_accepted_only_for_ready_or_running_nodes_of_their_owner(store: impl PlanStore) {
        let store = &store;
        let user = json!({"id": "user", "owner": {"executor": "user", "name": "bob"}});
        let row = create(store, new("main", spec(&[json!("a"), json!("b"), user], &["a b", "a user"]))).await;
        refused(store, &row, done("b"), "the node `b` is pending: it waits for `a`").await;
        refused(store, &row, start("b", 500), "only a ready node can begin").await;
        refused(store, &row, done("x"), "no node `x`").await;
        let row = change(store, &row, start("a", 500)).await;
        assert_eq!(statuses(&row), "running pending pending");
        refused(store, &row, start("a", 500), "running").await;
        let other = PlanOwner::new(PlanExecutor::Agent, "other");
        let of_other = PlanSubmission { by: other, ..result("a", PlanOutcome::Completed) };
        refused(store, &row, PlanChange::Submit(of_other), "belongs to `agent:clerk`").await;
        let late = PlanSubmission { attempt: Some(2), ..result("a", PlanOutcome::Completed) };
        refused(store, &row, PlanChange::Submit(late), "attempt 2 at the node `a` is not running").await;
        let long = PlanSubmission { notes: Some("x".repeat(70_000)), ..result("a", PlanOutcome::Completed) };
        refused(store, &row, PlanChange::Submit(long), "has 70000 bytes").await;

        let row = change(store, &row, with_output("a", json!({"n": 1}))).await;
        assert_eq!((statuses(&row).as_str(), row.checkpoint.number), ("completed ready ready", 1));
        assert_eq!((&row.input("b"), row.nodes[0].attempts.len()), (&json!({"n": 1}), 1));
        refused(store, &row, done("a"), "its result cannot change any more").await;
        refused(store, &row, done("user"), "belongs to `user:bob`").await;
        // The result of a ready node also begins the node.
        let row = change(store, &row, done("b")).await;
        assert_eq!((statuses(&row).as_str(), row.status), ("completed completed ready", PlanStatus::AwaitingHuman));
        let by_user = PlanSubmission { by: PlanOwner::new(PlanExecutor::User, "bob"), ..result("user", PlanOutcome::Completed) };
        let row = change(store, &row, PlanChange::Submit(by_user)).await;
        assert_eq!((row.status, row.checkpoint.number), (PlanStatus::Completed, 3));
    }

    // S2-41: an output that does not match the schema, a missing deliverable and an unmet check are recorded as failed attempts. The last attempt
    // fails the run.
    #[test]
    async fn faulty_results_are_failed_attempts(store: impl PlanStore) {
        let store = &store;
        let review = json!({
            "id": "a", "output_schema_ref": "verdict", "deliverables": [{"name": "report", "required": true}, {"name": "log", "required": false}],
            "completion_checks": [{"pointer": "/verdict", "equals": "good"}, {"pointer": "/score"}],
        });
        let row = create(store, new("main", spec(&[review, json!("b"), json!("c")], &["a b"]))).await;
        let faults = |row: &PlanRow| {
            let last = row.nodes[0].attempts.last().unwrap();
            assert_eq!(last.status, PlanAttemptStatus::Failed);
            last.issues.iter().map(|issue| issue.pointer.clone()).collect::<Vec<_>>()
        };
        let row = change(store, &row, done("a")).await;
        assert_eq!(statuses(&row), "ready pending ready");
        assert_eq!(faults(&row), ["/structured_output", "/artifacts", "/structured_output/verdict", "/structured_output/score"]);
        let unfit = PlanSubmission {
            output: Some(json!({"verdict": "good", "score": "x"})),
            schema_issues: vec![PlanIssue::blocking("/structured_output/score", "must be a number")],
            artifacts: vec![PlanArtifact { name: "report".to_owned(), uri: Some("report.md".to_owned()), content: None }],
            notes: Some("second".to_owned()),
            ..result("a", PlanOutcome::Completed)
        };
        let row = change(store, &row, PlanChange::Submit(unfit.clone())).await;
        assert_eq!(faults(&row), ["/structured_output/score"]);
        let attempt = &row.nodes[0].attempts[1];
        assert_eq!((attempt.notes.as_deref(), &attempt.refused_output), (Some("second"), &unfit.output));
        assert_eq!((row.nodes[0].output.as_ref(), row.checkpoint.number), (None, 0));
        let fit = PlanSubmission { schema_issues: Vec::new(), ..unfit.clone() };
        let accepted = change(store, &row, PlanChange::Submit(fit)).await;
        assert_eq!((statuses(&accepted).as_str(), accepted.nodes[0].artifacts.len()), ("completed ready ready", 1));

        let second = create(store, new("other", row.spec.clone())).await;
        let mut last = second;
        for _ in 0..3 {
            last = change(store, &last, PlanChange::Submit(unfit.clone())).await;
        }
        assert_eq!((statuses(&last).as_str(), last.status), ("failed skipped skipped", PlanStatus::Failed));
    }

    // S2-49: a switch chooses a branch and skips the others, a fork begins several branches, and a join waits for the branches that are not skipped.
    #[test]
    async fn structural_nodes_choose_fork_and_join(store: impl PlanStore) {
        let store = &store;
        let nodes = [
            json!("a"), json!({"id": "s", "type": "switch", "owner": null}), json!("yes"), json!("no"), json!("after_no"),
            json!({"id": "f", "type": "deliberation_fork", "owner": null}), json!("x"), json!("y"), json!({"id": "j", "type": "join", "owner": null}), json!("end"),
        ];
        let edge = |from: &str, to: &str| json!({"from": from, "to": to});
        let edges = || vec![
            edge("a", "s"), json!({"from": "s", "to": "yes", "when": {"pointer": "/go", "equals": true}}), edge("s", "no"), edge("no", "after_no"),
            edge("yes", "f"), edge("f", "x"), edge("f", "y"), edge("x", "j"), edge("y", "j"), edge("after_no", "j"), edge("j", "end"),
        ];
        let spec = || compiled(&nodes, edges(), &PlanRules::default());
        let row = create(store, new("main", spec())).await;
        refused(store, &row, done("s"), "is structural").await;
        let row = change(store, &row, with_output("a", json!({"go": true}))).await;
        assert_eq!(statuses(&row), "completed completed ready skipped skipped pending pending pending pending pending");
        let row = change(store, &row, done("yes")).await;
        assert_eq!(statuses(&row), "completed completed completed skipped skipped completed ready ready pending pending");
        let row = change(store, &row, with_output("x", json!("for"))).await;
        let row = change(store, &row, with_output("y", json!("against"))).await;
        assert_eq!((statuses(&row).split(' ').next_back(), row.input("end")), (Some("ready"), json!({"x": "for", "y": "against"})));
        assert_eq!(change(store, &row, done("end")).await.status, PlanStatus::Completed);

        // The edge without a condition is taken if no other edge is taken. All nodes of the other branch are skipped.
        let row = create(store, new("other", spec())).await;
        let row = change(store, &row, with_output("a", json!({"go": "maybe"}))).await;
        assert_eq!(statuses(&row), "completed completed skipped ready pending skipped skipped skipped pending pending");
        // If no condition is met and every edge has a condition, the switch is blocked.
        let mut only = edges();
        only[2]["when"] = json!({"pointer": "/go", "equals": false});
        let row = create(store, new("third", compiled(&nodes, only, &PlanRules::default()))).await;
        let row = change(store, &row, with_output("a", json!({"go": 1}))).await;
        assert_eq!((row.nodes[1].status, row.status), (PlanNodeStatus::Blocked, PlanStatus::Blocked));
    }

    // S2-49: a run is blocked if no other node can continue, and continues when the node is unblocked. A failed node fails the run.
    #[test]
    async fn blocked_and_failed_nodes_change_the_run(store: impl PlanStore) {
        let store = &store;
        let row = create(store, new("main", spec(&[json!("a"), json!("b"), json!("c")], &["a c"]))).await;
        let row = change(store, &row, PlanChange::Submit(result("a", PlanOutcome::Blocked))).await;
        assert_eq!((statuses(&row).as_str(), row.status), ("blocked ready pending", PlanStatus::Running));
        refused(store, &row, PlanChange::Unblock { node: "b".to_owned() }, "only a blocked node").await;
        refused(store, &row, done("a"), "blocked").await;
        let row = change(store, &row, done("b")).await;
        assert_eq!(row.status, PlanStatus::Blocked);
        assert_eq!(store.active_plan(&thread("main")).await.unwrap().as_ref(), Some(&row));
        let row = change(store, &row, PlanChange::Unblock { node: "a".to_owned() }).await;
        assert_eq!((statuses(&row).as_str(), row.status), ("ready completed pending", PlanStatus::Running));
        let row = change(store, &row, PlanChange::Submit(result("a", PlanOutcome::Failed))).await;
        assert_eq!((statuses(&row).as_str(), row.status), ("failed completed skipped", PlanStatus::Failed));
        assert_eq!(store.active_plan(&thread("main")).await.unwrap(), None);
    }

    // S2-19: a plan that needs an approval begins when a person has approved it, and is aborted when a person has rejected it.
    #[test]
    async fn plan_waits_for_its_approval(store: impl PlanStore) {
        let store = &store;
        let rules = PlanRules { approval: true, ..PlanRules::default() };
        let spec = compiled(&[json!("a")], Vec::new(), &rules);
        let answer = |approved| PlanChange::Answer(PlanAnswer { approved, by: "olga".to_owned(), reason: Some("ok".to_owned()), at: at(200) });
        let row = create(store, new("main", spec.clone())).await;
        assert_eq!((statuses(&row).as_str(), row.status), ("pending", PlanStatus::AwaitingHuman));
        refused(store, &row, done("a"), "the plan waits for the approval of a person").await;
        let row = change(store, &row, answer(true)).await;
        assert_eq!((statuses(&row).as_str(), row.status), ("ready", PlanStatus::Running));
        assert_eq!(row.approval.as_ref().unwrap().answer.as_ref().unwrap().by, "olga");
        refused(store, &row, answer(false), "does not wait for an approval").await;
        let other = create(store, new("other", spec)).await;
        let other = change(store, &other, answer(false)).await;
        assert_eq!((statuses(&other).as_str(), other.status), ("skipped", PlanStatus::Aborted));
    }

    // S2-43: resumption makes the running nodes of dead processes ready, and leaves completed nodes and nodes with a lease. It is idempotent. A
    // result of the earlier attempt is refused, and a node with an unresolved effect is blocked.
    #[test]
    async fn interrupted_run_is_resumed(store: impl PlanStore) {
        let store = &store;
        let row = create(store, new("main", spec(&[json!("a"), json!("b"), json!("c"), json!("d")], &["a d"]))).await;
        let row = change(store, &row, with_output("a", json!(1))).await;
        let row = change(store, &row, start("b", 500)).await;
        let row = change(store, &row, start("c", 900)).await;
        assert_eq!(change_at(store, &row, resume(), 499).await, row);
        let renewed = PlanChange::Renew { node: "b".to_owned(), attempt: 1, lease_until: at(600) };
        let row = change(store, &row, renewed.clone()).await;
        assert_eq!(change_at(store, &row, resume(), 599).await, row);
        let row = change_at(store, &row, resume(), 600).await;
        assert_eq!(statuses(&row), "completed ready running ready");
        assert_eq!(row.nodes[1].attempts[0].status, PlanAttemptStatus::Interrupted);
        assert_eq!(change_at(store, &row, resume(), 700).await, row);
        refused(store, &row, renewed, "attempt 1 at the node `b` is not running").await;
        let late = PlanSubmission { attempt: Some(1), ..result("b", PlanOutcome::Completed) };
        refused(store, &row, PlanChange::Submit(late.clone()), "attempt 1 at the node `b` is not running").await;
        let row = change_at(store, &row, start("b", 800), 700).await;
        assert_eq!(row.nodes[1].attempts.len(), 2);
        refused(store, &row, PlanChange::Submit(late), "attempt 1 at the node `b` is not running").await;
        let unresolved = PlanChange::Resume { unresolved: vec!["b".to_owned()] };
        let row = change_at(store, &row, unresolved, 800).await;
        assert_eq!(statuses(&row), "completed blocked running ready");
        let events = store.plan_events(&row.id, 0, 99).await.unwrap();
        assert_eq!(events.iter().filter(|event| event.kind == PlanEventKind::Resumed).count(), 2);
        assert!(events.iter().map(|event| event.seq).eq(1..=row.events));
        assert_eq!(store.plan_events(&row.id, 3, 2).await.unwrap(), events[3..5]);
    }

    // Runs of a different workspace or conversation are not found and not changed.
    #[test]
    async fn runs_of_workspaces_and_conversations_are_separate(store: impl PlanStore) {
        let store = &store;
        let spec = || spec(&[json!("a")], &[]);
        let main = create(store, new("main", spec())).await;
        let other = create(store, new("other", spec())).await;
        let umbrella = ThreadId::new("umbrella", "main").unwrap();
        assert_eq!(store.active_plan(&umbrella).await.unwrap(), None);
        let foreign = PlanRunId::new(umbrella.clone(), 1);
        assert_eq!(store.plan(&foreign).await.unwrap(), None);
        assert_eq!(store.plan_events(&foreign, 0, 9).await.unwrap(), []);
        missing(store.change_plan(&foreign, PlanChange::Abort, at(1)).await);
        let theirs = create(store, NewPlanRun { thread: umbrella.clone(), ..new("main", spec()) }).await;
        change(store, &theirs, done("a")).await;
        assert_eq!(store.active_plan(&umbrella).await.unwrap(), None);
        for row in [main, other] {
            assert_eq!(store.active_plan(row.id.thread()).await.unwrap(), Some(row));
        }
    }

    // The runs of an erased conversation or user are removed, and no number is given twice.
    #[test]
    async fn erased_conversations_and_users_lose_their_runs(store: impl PlanStore + Maintenance) {
        let store = &store;
        let spec = || spec(&[json!("a")], &[]);
        let main = create(store, new("main", spec())).await;
        let kept = create(store, new("other", spec())).await;
        let of_bob = NewPlanRun { principal: Some("bob".to_owned()), ..new("third", spec()) };
        let of_bob = create(store, of_bob).await;
        store.erase_contents(Erasure::Thread(&thread("main"))).await.unwrap();
        let workspace = Workspace::new("acme");
        store.erase_contents(Erasure::Principal { workspace: &workspace, principal: "bob" }).await.unwrap();
        for gone in [&main, &of_bob] {
            assert_eq!(store.plan(&gone.id).await.unwrap(), None);
            assert_eq!(store.plan_events(&gone.id, 0, 9).await.unwrap(), []);
        }
        assert_eq!(store.plan(&kept.id).await.unwrap().as_ref(), Some(&kept));
        assert_eq!(create(store, new("main", spec())).await.id.number(), 2);
    }
}
