//! Tests of plans: concurrent changes, and random plans.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::*;

use super::plan::{Plans, agent, change_at, create, new, result, spec, start};
use super::records::{at, thread};
use super::{at_once, tests};

/// A random draft: nodes of random kinds and owners, and edges between random nodes.
#[derive(Clone, Debug)]
struct Draft {
    nodes: Vec<(u8, bool)>,
    edges: Vec<(usize, usize)>,
    /// Whether all edges lead to later nodes, so that there is no cycle.
    forward: bool,
}

fn drafts() -> impl Strategy<Value = Draft> {
    let nodes = vec((0..8_u8, prop::bool::weighted(0.95)), 1..7);
    let edges = vec((0..7_usize, 0..7_usize), 0..10);
    (nodes, edges, prop::bool::weighted(0.85)).prop_map(|(nodes, edges, forward)| Draft {
        nodes,
        edges,
        forward,
    })
}

impl Draft {
    fn json(&self) -> Value {
        let count = self.nodes.len();
        let mut edges: Vec<(usize, usize)> = self.edges.clone();
        if self.forward {
            // Only drafts that are not `forward` have edges to nodes that do not exist.
            edges.retain(|(from, to)| from < to && *to < count);
            edges.sort_unstable();
            edges.dedup();
        }
        let leads_to = |node: usize| edges.iter().any(|(_, to)| *to == node);
        let entries: Vec<String> = (0..count)
            .filter(|at| !leads_to(*at))
            .map(|at| format!("n{at}"))
            .collect();
        let nodes: Vec<Value> = self
            .nodes
            .iter()
            .enumerate()
            .map(|(at, (kind, has_owner))| {
                let id = format!("n{at}");
                match kind {
                    0 => json!({"id": id, "type": "join"}),
                    1 => json!({"id": id, "type": "deliberation_fork"}),
                    2 => json!({"id": id, "type": "switch"}),
                    _ if !has_owner => json!({"id": id, "objective": "o"}),
                    _ => json!({"id": id, "objective": "o", "owner": {"executor": "agent"}}),
                }
            })
            .collect();
        let edges: Vec<Value> = edges.iter().map(|(from, to)| match self.nodes.get(*from) {
            // An edge from a switch to a node with an odd number has a condition that depends on the number.
            Some((2, _)) if to % 2 == 1 => json!({"from": format!("n{from}"), "to": format!("n{to}"), "when": {"pointer": "/odd", "equals": to % 3 == 0}}),
            _ => json!({"from": format!("n{from}"), "to": format!("n{to}")}),
        }).collect();
        json!({"title": "t", "objective": "o", "nodes": nodes, "edges": edges, "entry_nodes": entries})
    }
}

/// Completes all ready nodes, one after the other, until none is ready. For each `true` in `kills`, a process begins a node and dies.
async fn run(store: &impl PlanStore, mut row: PlanRow, kills: &[bool]) -> PlanRow {
    let (mut now, mut kills) = (1_000, kills.iter());
    loop {
        let Some(node) = row
            .nodes_with(PlanNodeStatus::Ready)
            .next()
            .map(str::to_owned)
        else {
            return row;
        };
        now += 10;
        if kills.next() == Some(&true) {
            let done = |row: &PlanRow| {
                row.nodes_with(PlanNodeStatus::Completed)
                    .map(str::to_owned)
                    .collect::<Vec<_>>()
            };
            let before = done(&row);
            change_at(store, &row, start(&node, now + 5), now).await;
            let resume = PlanChange::Resume {
                unresolved: Vec::new(),
            };
            row = change_at(store, &row, resume, now + 5).await;
            assert_eq!(done(&row), before, "completed nodes stay completed");
        }
        let number: u64 = node[1..].parse().unwrap();
        let submission = PlanSubmission {
            output: Some(json!({"odd": number % 2 == 1})),
            ..result(&node, PlanOutcome::Completed)
        };
        row = change_at(store, &row, PlanChange::Submit(submission), now + 6).await;
    }
}

/// The state of a node, its output, and the branch that it chose.
type NodeOutcome = (PlanNodeStatus, Option<Value>, Option<usize>);

fn outcome(row: &PlanRow) -> (PlanStatus, Vec<NodeOutcome>) {
    let nodes = row
        .nodes
        .iter()
        .map(|node| (node.status, node.output.clone(), node.chosen));
    (row.status, nodes.collect())
}

tests! {
    ($) __suite_plan_concurrency in plan_concurrency for Plans;

    // S2-40, S2-48: of 32 tasks of two processes that create a run, one succeeds.
    #[test]
    fn concurrent_creations_make_one_run(opener) {
        opener.test(async |place| {
            let stores = [place.open().await, place.open().await];
            let created = at_once(|task| {
                let store = stores[usize::from(task % 2 == 1)].clone();
                async move {
                    let created = store.create_plan(new("main", spec(&[json!("a")], &[]))).await.unwrap();
                    matches!(created, PlanCreated::Created(_))
                }
            }).await;
            assert_eq!(created.iter().filter(|created| **created).count(), 1);
            assert_eq!(stores[1].list_plans(&thread("main"), None, 99).await.unwrap().len(), 1);
        });
    }

    // S2-40: while 32 tasks of two processes replace the run, a reader sees exactly one active run at every instant, and its number never decreases.
    #[test]
    fn reader_sees_one_active_run_during_replacements(opener) {
        opener.test(async |place| {
            let stores = [place.open().await, place.open().await];
            create(&stores[0], new("main", spec(&[json!("a")], &[]))).await;
            let ended = Arc::new(AtomicBool::new(false));
            let (reader, end) = (stores[1].clone(), Arc::clone(&ended));
            let reader = tokio::spawn(async move {
                let (mut last, mut reads) = (0, 0);
                while !end.load(Ordering::SeqCst) {
                    let active = reader.active_plan(&thread("main")).await.unwrap().unwrap();
                    assert!(active.id.number() >= last, "{} after {last}", active.id.number());
                    (last, reads) = (active.id.number(), reads + 1);
                    let rows = reader.list_plans(&thread("main"), None, 99).await.unwrap();
                    assert_eq!(rows.iter().filter(|row| row.status.is_active()).count(), 1);
                    tokio::task::yield_now().await;
                }
                reads
            });
            at_once(|task| {
                let store = stores[usize::from(task % 2 == 1)].clone();
                async move {
                    let next = new("main", spec(&[json!("a")], &[]));
                    store.replace_plan(next, format!("by {task}")).await.unwrap().unwrap();
                }
            }).await;
            ended.store(true, Ordering::SeqCst);
            assert!(reader.await.unwrap() > 0);
            // The runs form one chain.
            let rows = stores[0].list_plans(&thread("main"), None, 99).await.unwrap();
            assert_eq!(rows.len(), 33);
            for pair in rows.windows(2) {
                assert_eq!((pair[0].replaces, pair[1].replaced_by), (Some(pair[1].id.number()), Some(pair[0].id.number())));
            }
        });
    }

    // S2-41: of 32 tasks of two processes that begin a node, one succeeds. Of 32 results for this node, one is accepted.
    #[test]
    fn concurrent_executors_share_no_node(opener) {
        opener.test(async |place| {
            let stores = [place.open().await, place.open().await];
            let row = create(&stores[0], new("main", spec(&[json!("a"), json!("b")], &["a b"]))).await;
            let begun = at_once(|task| {
                let (store, id) = (stores[usize::from(task % 2 == 1)].clone(), row.id.clone());
                async move {
                    let begun = store.change_plan(&id, start("a", 900), at(200)).await.unwrap();
                    matches!(begun, PlanChanged::Changed(_))
                }
            }).await;
            assert_eq!(begun.iter().filter(|begun| **begun).count(), 1);
            let done = at_once(|task| {
                let (store, id) = (stores[usize::from(task % 2 == 1)].clone(), row.id.clone());
                async move {
                    let submission = PlanSubmission { by: agent(), ..result("a", PlanOutcome::Completed) };
                    let done = store.change_plan(&id, PlanChange::Submit(submission), at(300)).await.unwrap();
                    matches!(done, PlanChanged::Changed(_))
                }
            }).await;
            assert_eq!(done.iter().filter(|done| **done).count(), 1);
            let row = stores[1].plan(&row.id).await.unwrap().unwrap();
            assert_eq!((row.nodes[0].attempts.len(), row.nodes[1].status), (1, PlanNodeStatus::Ready));
        });
    }

    // S2-39, S2-43, S2-50: a random draft is compiled, or rejected with a blocking issue at a place of the draft. A run of a compiled plan ends or
    // is blocked, two runs of a conversation are never active at the same time, and a run that is interrupted and resumed at random ends in the same
    // state as a run without interruptions.
    #[test]
    fn random_plans_end_in_the_same_state_after_interruptions(opener) {
        opener.hold(&(drafts(), vec(any::<bool>(), 0..8)), async |store, (draft, kills)| {
            let json = draft.json();
            let compiled = PlanSpec::compile(serde_json::from_value(json.clone()).unwrap(), &PlanRules::default(), |_| Ok(()));
            let spec = match compiled {
                Ok(spec) => spec,
                Err(issues) => {
                    prop_assert!(issues.iter().any(|issue| issue.severity == PlanSeverity::Blocking));
                    for issue in &issues {
                        // The pointer names a value, or a field that is missing in an existing node or edge.
                        let parent = issue.pointer.rsplit_once('/').map_or("", |(parent, _)| parent);
                        let exists = json.pointer(&issue.pointer).is_some() || json.pointer(parent).is_some();
                        prop_assert!(exists, "{issue:?} in {json}");
                    }
                    return Ok(());
                }
            };
            let plain = create(store, new("plain", spec.clone())).await;
            let killed = create(store, new("killed", spec.clone())).await;
            let second = store.create_plan(new("plain", spec)).await.unwrap();
            let is_active = matches!(second, PlanCreated::Active(_));
            prop_assert_eq!(is_active, plain.status.is_active());
            let plain = run(store, plain, &[]).await;
            let killed = run(store, killed, &kills).await;
            prop_assert_eq!(outcome(&plain), outcome(&killed));
            let left = plain.nodes.iter().filter(|node| !node.status.is_final()).count();
            let blocked = plain.nodes.iter().any(|node| node.status == PlanNodeStatus::Blocked);
            prop_assert!(left == 0 || blocked, "{plain:?}");
            Ok(())
        });
    }
}
