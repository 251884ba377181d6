//! Tests of plans: the transition tables, without a store, and runs on one SQLite file while processes are killed. This program starts itself as its
//! child processes.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]
#![allow(
    clippy::disallowed_methods,
    reason = "tests read the real clock and spawn their own tasks"
)]

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::json;
use tool_store::*;

const FILE: &str = "TOOL_STORE_PLAN_FILE";

/// The number of processes that are killed.
const KILLS: u32 = 100;

// S2-49: the code allows every transition of the two tables, and no other transition.
#[test]
fn statuses_change_only_as_the_table_allows() {
    use PlanNodeStatus::{Blocked, Completed, Failed, Pending, Ready, Running, Skipped};
    let nodes = |from| match from {
        Pending | Blocked => vec![Ready, Skipped],
        Ready => vec![Running, Skipped],
        Running => vec![Ready, Completed, Blocked, Skipped, Failed],
        Completed | Skipped | Failed => Vec::new(),
    };
    for from in PlanNodeStatus::ALL {
        let allowed = PlanNodeStatus::ALL
            .iter()
            .copied()
            .filter(|to| from.may_become(*to));
        let (mut allowed, mut wanted) = (allowed.collect::<Vec<_>>(), nodes(*from));
        allowed.sort_unstable();
        wanted.sort_unstable();
        assert_eq!(allowed, wanted, "from {from}");
        assert_eq!(from.is_final(), wanted.is_empty());
        assert_eq!(PlanNodeStatus::from_word(from.as_str()), Some(*from));
    }
    let runs = |from| match from {
        PlanStatus::Running => vec![
            PlanStatus::AwaitingHuman,
            PlanStatus::Blocked,
            PlanStatus::Completed,
            PlanStatus::Aborted,
            PlanStatus::Failed,
        ],
        PlanStatus::AwaitingHuman => vec![
            PlanStatus::Running,
            PlanStatus::Blocked,
            PlanStatus::Completed,
            PlanStatus::Aborted,
            PlanStatus::Failed,
        ],
        PlanStatus::Blocked => vec![
            PlanStatus::Running,
            PlanStatus::AwaitingHuman,
            PlanStatus::Aborted,
        ],
        PlanStatus::Completed | PlanStatus::Aborted | PlanStatus::Failed => Vec::new(),
    };
    for from in PlanStatus::ALL {
        let allowed = PlanStatus::ALL
            .iter()
            .copied()
            .filter(|to| from.may_become(*to));
        assert_eq!(allowed.collect::<Vec<_>>(), runs(*from), "from {from}");
        assert_eq!(from.is_active(), !runs(*from).is_empty());
        assert_eq!(PlanStatus::from_word(from.as_str()), Some(*from));
    }
}

/// Returns a plan of 12 nodes: a fork, three branches of three tasks that meet in a join, and a task after the join.
fn spec() -> PlanSpec {
    let mut nodes = vec![
        json!({"id": "fork", "type": "deliberation_fork"}),
        json!({"id": "join", "type": "join"}),
    ];
    let mut edges = Vec::new();
    let task = |id: &str| json!({"id": id, "objective": "o", "owner": {"executor": "agent"}, "success_criteria": ["c"]});
    for branch in ["a", "b", "c"] {
        for step in 1..=3 {
            let id = format!("{branch}{step}");
            nodes.push(task(&id));
            let before = if step == 1 {
                "fork".to_owned()
            } else {
                format!("{branch}{}", step - 1)
            };
            edges.push(json!({"from": before, "to": id}));
        }
        edges.push(json!({"from": format!("{branch}3"), "to": "join"}));
    }
    nodes.push(task("end"));
    edges.push(json!({"from": "join", "to": "end"}));
    let draft = json!({"title": "t", "objective": "o", "nodes": nodes, "edges": edges, "entry_nodes": ["fork"]});
    PlanSpec::compile(
        serde_json::from_value(draft).unwrap(),
        &PlanRules::default(),
        |_| Ok(()),
    )
    .unwrap()
}

fn new(conversation: &str) -> NewPlanRun {
    NewPlanRun {
        thread: thread(conversation),
        principal: None,
        spec: spec(),
        at: Timestamp::now(),
    }
}

fn thread(conversation: &str) -> ThreadId {
    ThreadId::new("acme", conversation).unwrap()
}

/// Works on the active run of the conversation `main`: resumes it, and completes its nodes one after the other. Each node is written to the file of work
/// between its beginning and its result.
async fn work(store: &SqliteStore, done: &Path) {
    loop {
        let Some(mut run) = store.active_plan(&thread("main")).await.unwrap() else {
            let created = store.create_plan(new("main")).await.unwrap();
            assert!(matches!(created, PlanCreated::Created(_)));
            continue;
        };
        let resume = PlanChange::Resume {
            unresolved: Vec::new(),
        };
        let changed = store
            .change_plan(
                &run.id,
                resume,
                Timestamp::now().plus(Duration::from_secs(1)),
            )
            .await
            .unwrap();
        let PlanChanged::Changed(resumed) = changed else {
            panic!("{changed:?}")
        };
        run = *resumed;
        while let Some(node) = first_ready(&run) {
            let by = PlanOwner::new(PlanExecutor::Agent, std::process::id().to_string());
            let start = PlanChange::Start {
                node: node.clone(),
                by: by.clone(),
                lease_until: Timestamp::now(),
            };
            store
                .change_plan(&run.id, start, Timestamp::now())
                .await
                .unwrap();
            let mut file = std::fs::OpenOptions::new()
                .append(true)
                .create(true)
                .open(done)
                .unwrap();
            writeln!(file, "{} {node}", run.id.number()).unwrap();
            let submission = PlanSubmission {
                node: node.clone(),
                attempt: None,
                by,
                outcome: PlanOutcome::Completed,
                output: Some(json!({"node": node})),
                schema_issues: Vec::new(),
                artifacts: Vec::new(),
                notes: None,
            };
            let changed = store
                .change_plan(&run.id, PlanChange::Submit(submission), Timestamp::now())
                .await
                .unwrap();
            let PlanChanged::Changed(changed) = changed else {
                panic!("{changed:?}")
            };
            run = *changed;
        }
    }
}

fn first_ready(run: &PlanRow) -> Option<String> {
    let mut ready = run.nodes_with(PlanNodeStatus::Ready);
    ready.next().map(str::to_owned)
}

/// Replaces the run of the conversation `other` repeatedly, until the process is killed.
async fn replace(store: &SqliteStore) {
    let _ = store.create_plan(new("other")).await.unwrap();
    for number in 0.. {
        store
            .replace_plan(new("other"), format!("reason {number}"))
            .await
            .unwrap()
            .unwrap();
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Entry point of the child process: prints a line when it begins to work, and works until it is killed.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "the other test starts it as a child process"]
async fn child() {
    let Ok(file) = std::env::var(FILE) else {
        return;
    };
    let store = SqliteStore::open(&file).await.unwrap();
    let other = store.clone();
    tokio::spawn(async move { replace(&other).await });
    println!("ready");
    work(&store, Path::new(&format!("{file}.work"))).await;
}

fn start_child(file: &Path) -> Child {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--ignored", "--nocapture"])
        .env(FILE, file)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.by_ref().any(|line| line.unwrap() == "ready"));
    child
}

/// Returns how often each node of each run was worked on.
fn worked(file: &Path) -> BTreeMap<String, u32> {
    let text = std::fs::read_to_string(format!("{}.work", file.display())).unwrap_or_default();
    let mut worked = BTreeMap::new();
    for line in text.lines() {
        *worked.entry(line.to_owned()).or_default() += 1;
    }
    worked
}

// S2-43, S2-40: 100 processes are killed at random points of a run, and of replacements in a different conversation. A node that is completed stays
// completed and is not run again, a run ends in the same state as without interruptions, and no conversation has more than one active run.
#[tokio::test(flavor = "multi_thread")]
async fn killed_processes_lose_no_completed_node() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state.db");
    let store = SqliteStore::open(&file).await.unwrap();
    let (mut settled, mut ended) = (BTreeMap::new(), BTreeMap::new());
    let (mut random, mut middle) = (7_u64, 0);
    for _ in 0..KILLS {
        let mut child = start_child(&file);
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        std::thread::sleep(Duration::from_micros((random >> 40) % 100_000));
        child.kill().unwrap();
        child.wait().unwrap();

        let work = worked(&file);
        for run in store
            .list_plans(&thread("main"), None, 1_000)
            .await
            .unwrap()
        {
            for (node, state) in run.spec.draft().nodes.iter().zip(&run.nodes) {
                let key = format!("{} {}", run.id.number(), node.id);
                if state.status == PlanNodeStatus::Completed {
                    // The state of the node and the number of times that it was worked on never change again.
                    let now = (state.clone(), work.get(&key).copied());
                    let before = settled.entry(key).or_insert_with(|| now.clone());
                    assert_eq!(*before, now);
                }
                middle += u32::from(state.status == PlanNodeStatus::Running);
            }
            let outputs: Vec<_> = run
                .nodes
                .iter()
                .map(|node| (node.status, node.output.clone()))
                .collect();
            if !run.status.is_active() {
                assert_eq!(run.status, PlanStatus::Completed);
                ended.insert(run.id.number(), outputs);
            }
        }
        let main = store
            .list_plans(&thread("main"), None, 1_000)
            .await
            .unwrap();
        assert!(main.iter().filter(|run| run.status.is_active()).count() <= 1);
        let other = store
            .list_plans(&thread("other"), None, 10_000)
            .await
            .unwrap();
        assert!(other.is_empty() || other[0].status.is_active());
        assert_eq!(
            other.iter().filter(|run| run.status.is_active()).count(),
            usize::from(!other.is_empty())
        );
        for pair in other.windows(2) {
            assert_eq!(pair[1].replaced_by, Some(pair[0].id.number()));
        }
    }
    // Some processes were killed while they worked on a node, and some runs ended.
    assert!(
        middle > 0 && ended.len() > 1,
        "{middle} nodes were interrupted, {} runs ended",
        ended.len()
    );
    let first = ended.values().next().unwrap();
    assert!(ended.values().all(|outputs| outputs == first));
    store.close().await;
}
