//! Runs of plans: results of tasks, replacement, resumption and approval.

use std::time::Duration;

use serde_json::{Value, json};
use tool_core::ErrorKind;
use tool_core::store::{
    PlanAnswer, PlanChange, PlanChanged, PlanExecutor, PlanOutcome, PlanOwner, PlanRunId,
    PlanStore as _, PlanSubmission, ThreadId, Timestamp,
};

use crate::support::{Host, done, draft, statuses, task};

fn main_run(number: u64) -> PlanRunId {
    PlanRunId::new(ThreadId::new("acme", "main").unwrap(), number)
}

async fn create(host: &Host, draft: Value) -> Value {
    host.call("create_execution_plan", json!({"draft": draft}))
        .await["plan"]
        .clone()
}

async fn submit(host: &Host, arguments: Value) -> Value {
    host.call("submit_execution_node_result", arguments).await
}

// S2-40, S2-48: a second plan is refused; a replacement aborts the old run and links the two.
#[tokio::test]
async fn active_plan_is_replaced_and_not_doubled() {
    let host = Host::new();
    let plan = || draft(&[task("a"), task("b")], &["a b"]);
    let replace = |draft: Value| json!({"draft": draft, "reason": "the goal changed"});
    let error = host.error("replace_execution_plan", replace(plan())).await;
    assert!(error.contains("no active plan"), "{error}");
    create(&host, plan()).await;
    let error = host
        .error("create_execution_plan", json!({"draft": plan()}))
        .await;
    assert!(
        error.contains("run 1 (`Release`)") && error.contains("replace_execution_plan"),
        "{error}"
    );
    // A faulty draft does not end the active run.
    let faulty = host
        .call("replace_execution_plan", replace(draft(&[], &[])))
        .await;
    assert_eq!(
        (&faulty["plan"], &host.active().await["run_id"]),
        (&Value::Null, &json!(1))
    );
    let next = host.call("replace_execution_plan", replace(plan())).await;
    assert_eq!(
        (&next["plan"]["run_id"], &next["plan"]["replaces"]),
        (&json!(2), &json!(1))
    );
    assert_eq!(host.active().await, next["plan"]);
    let old = host.store.plan(&main_run(1)).await.unwrap().unwrap();
    assert_eq!((old.status.as_str(), old.replaced_by), ("aborted", Some(2)));
}

// S2-41: a pending node is refused; an output that does not match the schema is recorded as a failed attempt.
// S2-42: the snapshot shows what to do next.
#[tokio::test]
async fn results_are_validated_and_recorded() {
    let host = Host::new();
    let mut first = task("a");
    first["output_schema_ref"] = json!("s");
    first["completion_checks"] = json!([{"pointer": "/sources/0", "equals": null}]);
    first["deliverables"] = json!([{"name": "list", "description": "", "required": true}]);
    let mut plan = draft(&[first, task("b")], &["a b"]);
    let schema = r#"{"type": "object", "required": ["n"], "properties": {"n": {"type": "integer", "minimum": 1}}}"#;
    plan["schemas"] = json!([{"id": "s", "schema": schema}]);
    create(&host, plan).await;
    let error = host.error("submit_execution_node_result", done("b")).await;
    assert!(
        error.contains("the node `b` is pending: it waits for `a`"),
        "{error}"
    );
    let error = host.error("submit_execution_node_result", done("x")).await;
    assert!(error.contains("no node `x`"), "{error}");

    let mut result = done("a");
    result["structured_output"] = json!(r#"{"n": 0}"#);
    let refused = submit(&host, result.clone()).await;
    let pointers: Vec<_> = refused["issues"]
        .as_array()
        .unwrap()
        .iter()
        .map(|issue| issue["pointer"].as_str().unwrap())
        .collect();
    assert_eq!(
        pointers,
        [
            "/structured_output/n",
            "/artifacts",
            "/structured_output/sources/0"
        ]
    );
    assert_eq!(
        (
            statuses(&refused["plan"]).as_str(),
            &refused["plan"]["nodes"][0]["attempts"]
        ),
        ("ready pending", &json!(1))
    );
    result["structured_output"] = json!("{n}");
    let refused = submit(&host, result.clone()).await;
    assert!(
        refused["issues"][0]["message"]
            .as_str()
            .unwrap()
            .contains("not JSON text"),
        "{refused}"
    );
    let stored = host.store.plan(&main_run(1)).await.unwrap().unwrap();
    let attempts: Vec<_> = stored.nodes[0]
        .attempts
        .iter()
        .map(|attempt| attempt.status.as_str())
        .collect();
    assert_eq!(attempts, ["failed", "failed"]);

    result["structured_output"] = json!(r#"{"n": 2, "sources": ["x"]}"#);
    result["artifacts"] = json!([{"name": "list", "uri": "list.md", "content": null}]);
    result["notes"] = json!("two vendors");
    let accepted = submit(&host, result).await;
    assert_eq!(
        (statuses(&accepted["plan"]).as_str(), &accepted["issues"]),
        ("completed ready", &json!([]))
    );
    let nodes = &accepted["plan"]["nodes"];
    assert_eq!(
        (&nodes[0]["notes"], &nodes[0]["work"]),
        (&json!("two vendors"), &Value::Null)
    );
    assert_eq!(nodes[1]["work"]["input"], r#"{"n":2,"sources":["x"]}"#);
    let ended = submit(&host, done("b")).await;
    assert_eq!(
        (&ended["plan"]["status"], host.active().await),
        (&json!("completed"), Value::Null)
    );
    let error = host.error("submit_execution_node_result", done("b")).await;
    assert!(error.contains("no active plan"), "{error}");
}

// S2-41: the third faulty result fails the node and the run; a result may also report a failure or a block.
#[tokio::test]
async fn failures_and_blocks_are_reported() {
    let host = Host::new();
    let mut first = task("a");
    first["deliverables"] = json!([{"name": "list", "description": "", "required": true}]);
    create(&host, draft(&[first, task("b")], &["a b"])).await;
    for attempt in 1..=3 {
        let result = submit(&host, done("a")).await;
        let failed = attempt == 3;
        assert_eq!(
            result["plan"]["status"],
            if failed { "failed" } else { "running" }
        );
    }
    create(&host, draft(&[task("a"), task("b")], &[])).await;
    let outcome = |node: &str, status: &str| {
        let mut result = done(node);
        result["status"] = json!(status);
        result
    };
    let blocked = submit(&host, outcome("a", "blocked")).await;
    assert_eq!(
        (
            &blocked["plan"]["status"],
            statuses(&blocked["plan"]).as_str()
        ),
        (&json!("running"), "blocked ready")
    );
    let failed = submit(&host, outcome("b", "failed")).await;
    assert_eq!(
        (
            &failed["plan"]["status"],
            statuses(&failed["plan"]).as_str()
        ),
        (&json!("failed"), "skipped failed")
    );
}

// S2-41: an agent submits results of its own tasks. Tasks of other agents, of people and of plugins are refused.
#[tokio::test]
async fn agents_work_on_their_own_tasks() {
    let host = Host::new();
    let owned = |id: &str, executor: &str, name: &str| {
        let mut node = task(id);
        node["owner"] = json!({"executor": executor, "name": name});
        node
    };
    let nodes = [
        owned("mine", "agent", "clerk"),
        owned("theirs", "agent", "writer"),
        owned("person", "user", "bob"),
        owned("plugin", "plugin", "mail"),
    ];
    create(&host, draft(&nodes, &[])).await;
    for (node, owner) in [
        ("theirs", "agent:writer"),
        ("person", "user:bob"),
        ("plugin", "plugin:mail"),
    ] {
        let result = host
            .call_in(
                &host.cx("main", "clerk"),
                "submit_execution_node_result",
                done(node),
            )
            .await;
        assert_eq!(result.error().unwrap().kind(), ErrorKind::Denied);
        let text = result.model_text();
        assert!(text.contains(&format!("belongs to `{owner}`")), "{text}");
    }
    submit(&host, done("mine")).await;
    let result = host
        .call_in(
            &host.cx("main", "writer"),
            "submit_execution_node_result",
            done("theirs"),
        )
        .await;
    assert!(result.error().is_none(), "{}", result.model_text());
    // The host completes the tasks of plugins and of people.
    for (node, by) in [
        ("plugin", PlanOwner::new(PlanExecutor::Plugin, "mail")),
        ("person", PlanOwner::new(PlanExecutor::User, "bob")),
    ] {
        let submission = PlanSubmission {
            node: node.to_owned(),
            attempt: None,
            by,
            outcome: PlanOutcome::Completed,
            output: None,
            schema_issues: Vec::new(),
            artifacts: Vec::new(),
            notes: None,
        };
        host.store
            .change_plan(
                &main_run(1),
                PlanChange::Submit(submission),
                Timestamp::now(),
            )
            .await
            .unwrap();
        let left = host.active().await;
        assert_eq!(
            left["status"],
            if node == "plugin" {
                json!("awaiting_human")
            } else {
                Value::Null
            }
        );
    }
}

// S2-43: a task that a dead process began is ready again after resumption; completed tasks are not run again; a second resumption changes nothing.
#[tokio::test]
async fn interrupted_run_is_resumed() {
    let host = Host::new();
    create(
        &host,
        draft(&[task("a"), task("b"), task("c")], &["a b", "a c"]),
    )
    .await;
    let error = host
        .error("resume_execution_plan_run", json!({"run_id": 7}))
        .await;
    assert!(error.contains("no run 7"), "{error}");
    submit(&host, done("a")).await;
    let before = host.active().await;
    assert_eq!(
        host.call("resume_execution_plan_run", json!({"run_id": null}))
            .await["plan"],
        before
    );
    let start = |node: &str, lease_until| PlanChange::Start {
        node: node.to_owned(),
        by: PlanOwner::new(PlanExecutor::Agent, "clerk"),
        lease_until,
    };
    let now = Timestamp::now();
    for (node, lease_until) in [
        ("b", now),
        ("c", now.plus(std::time::Duration::from_mins(10))),
    ] {
        let changed = host
            .store
            .change_plan(&main_run(1), start(node, lease_until), now)
            .await
            .unwrap();
        assert!(matches!(changed, PlanChanged::Changed(_)), "{changed:?}");
    }
    assert_eq!(statuses(&host.active().await), "completed running running");
    let resumed = host
        .call("resume_execution_plan_run", json!({"run_id": 1}))
        .await["plan"]
        .clone();
    assert_eq!(
        (statuses(&resumed).as_str(), &resumed["ready_nodes"]),
        ("completed ready running", &json!(["b"]))
    );
    assert_eq!(
        host.call("resume_execution_plan_run", json!({"run_id": null}))
            .await["plan"],
        resumed
    );
    submit(&host, done("b")).await;
    let ended = submit(&host, done("c")).await;
    assert_eq!(ended["plan"]["status"], "completed");
    let error = host
        .error("resume_execution_plan_run", json!({"run_id": 1}))
        .await;
    assert!(
        error.contains("has ended with the status `completed`"),
        "{error}"
    );
    let error = host
        .error("resume_execution_plan_run", json!({"run_id": null}))
        .await;
    assert!(error.contains("no active plan"), "{error}");
}

// S2-43: a task whose effect has an unknown outcome is blocked after a resumption, until the host unblocks the task. Effects
// of another agent, of another conversation, before the attempt and of the tools of plans do not block it.
#[tokio::test]
async fn task_with_an_unresolved_effect_is_blocked() {
    let host = Host::new().ledger();
    let nodes = ["a", "b", "c", "d", "e"].map(task);
    create(&host, draft(&nodes, &[])).await;
    // The leases of the attempts have expired now.
    let began = Timestamp::from_millis(Timestamp::now().as_millis() - 600_000);
    let after = |seconds| began.plus(Duration::from_secs(seconds));
    // The executors and their effects: the conversation, the agent, the tool, and when the call began.
    for (node, by, thread, agent, tool, at) in [
        ("a", "clerk", "main", "clerk", "send_mail", 2),
        (
            "b",
            "writer",
            "main",
            "writer",
            "submit_execution_node_result",
            3,
        ),
        ("c", "editor", "other", "editor", "send_mail", 4),
        ("d", "reader", "main", "reader", "send_mail", 0),
    ] {
        let start = PlanChange::Start {
            node: node.to_owned(),
            by: PlanOwner::new(PlanExecutor::Agent, by),
            lease_until: after(60),
        };
        let changed = host.store.change_plan(&main_run(1), start, after(1)).await;
        assert!(matches!(changed.unwrap(), PlanChanged::Changed(_)));
        let thread = ThreadId::new("acme", thread).unwrap();
        host.effect(&thread, agent, tool, after(at)).await;
    }
    let resumed = host
        .call("resume_execution_plan_run", json!({"run_id": null}))
        .await;
    assert_eq!(
        statuses(&resumed["plan"]),
        "blocked ready ready ready ready"
    );
    let issues = resumed["issues"].as_array().unwrap();
    let text = issues[0]["message"].as_str().unwrap();
    assert_eq!(
        (issues.len(), &issues[0]["severity"], &issues[0]["pointer"]),
        (1, &json!("warning"), &json!("/nodes/0"))
    );
    assert!(
        text.contains("the task `a` is blocked") && text.contains("`send_mail`"),
        "{text}"
    );
    let unblock = PlanChange::Unblock {
        node: "a".to_owned(),
    };
    host.store
        .change_plan(&main_run(1), unblock, after(301))
        .await
        .unwrap();
    assert_eq!(
        statuses(&host.active().await),
        "ready ready ready ready ready"
    );
}

// S2-19: the approval of a plan is separate from approvals of calls: its tasks are pending until a person approves the plan.
#[tokio::test]
async fn plan_waits_for_its_approval() {
    let host = Host::new().approval();
    let plan = create(&host, draft(&[task("a")], &[])).await;
    assert_eq!(
        (&plan["status"], statuses(&plan).as_str()),
        (&json!("awaiting_human"), "pending")
    );
    let error = host.error("submit_execution_node_result", done("a")).await;
    assert!(
        error.contains("the plan waits for the approval of a person"),
        "{error}"
    );
    let at = Timestamp::now();
    let answer = PlanAnswer {
        approved: true,
        by: "olga".to_owned(),
        reason: None,
        at,
    };
    host.store
        .change_plan(&main_run(1), PlanChange::Answer(answer), at)
        .await
        .unwrap();
    assert_eq!(statuses(&host.active().await), "ready");
    assert_eq!(
        submit(&host, done("a")).await["plan"]["status"],
        "completed"
    );
}

// S2-48: each conversation has its own active plan, and a call without a conversation has none.
#[tokio::test]
async fn plans_belong_to_conversations() {
    let host = Host::new();
    create(&host, draft(&[task("a")], &[])).await;
    let other = host.cx("other", "clerk");
    let active = host
        .call_in(&other, "get_active_execution_plan", json!({}))
        .await;
    assert_eq!(active.model_text(), r#"{"plan":null,"issues":[]}"#);
    let created = host
        .call_in(
            &other,
            "create_execution_plan",
            json!({"draft": draft(&[task("z")], &[])}),
        )
        .await;
    assert!(created.error().is_none(), "{}", created.model_text());
    assert_eq!(host.active().await["nodes"][0]["id"], "a");
    let foreign = other.derive().workspace("umbrella").build();
    let active = host
        .call_in(&foreign, "get_active_execution_plan", json!({}))
        .await;
    assert_eq!(active.model_text(), r#"{"plan":null,"issues":[]}"#);
    let nowhere = tool_core::ToolContext::anonymous();
    let error = host
        .call_in(&nowhere, "get_active_execution_plan", json!({}))
        .await;
    assert_eq!(error.error().unwrap().kind(), ErrorKind::Unavailable);
}

// S2-42: only the tool that reads the plan is read-only.
#[test]
fn only_the_reading_tool_is_read_only() {
    let registry = tool_core::Registry::linked().unwrap();
    let tools = registry
        .tools()
        .iter()
        .filter(|tool| tool.name().contains("execution_"));
    let read_only: Vec<_> = tools
        .filter(|tool| tool.hints().read_only)
        .map(|tool| tool.name().to_owned())
        .collect();
    assert_eq!(read_only, ["get_active_execution_plan"]);
}
