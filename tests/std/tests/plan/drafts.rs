//! Compilation of valid drafts of plans, and the issues of invalid drafts.

use serde_json::{Value, json};

use crate::support::{Host, draft, statuses, task};

/// Sends a draft that is rejected, and returns its blocking issues as `pointer: message`. Nothing is stored.
async fn rejected(draft: Value) -> Vec<String> {
    let host = Host::new();
    let result = host
        .call("create_execution_plan", json!({"draft": draft}))
        .await;
    assert_eq!(result["plan"], Value::Null);
    assert_eq!(host.active().await, Value::Null);
    let issues = result["issues"].as_array().unwrap().iter();
    let issues = issues.filter(|issue| issue["severity"] == "blocking");
    let text = |issue: &Value, key: &str| issue[key].as_str().unwrap().to_owned();
    issues
        .map(|issue| format!("{}: {}", text(issue, "pointer"), text(issue, "message")))
        .collect()
}

/// Sends a draft that is rejected with one blocking issue.
async fn rejected_for(draft: Value, pointer: &str, words: &str) {
    let issues = rejected(draft).await;
    assert_eq!(issues.len(), 1, "{issues:#?}");
    assert!(
        issues[0].starts_with(&format!("{pointer}: ")) && issues[0].contains(words),
        "{issues:?}"
    );
}

fn with(mut value: Value, pointer: &str, new: Value) -> Value {
    *value.pointer_mut(pointer).unwrap() = new;
    value
}

fn structural(id: &str, kind: &str) -> Value {
    let node = with(task(id), "/type", json!(kind));
    with(node, "/owner", Value::Null)
}

// S2-39: a valid draft is stored, and its entry nodes are ready. S2-50: a draft has all these fields.
#[tokio::test]
async fn valid_draft_starts_a_run() {
    let host = Host::new();
    let review = json!({
        "id": "review", "type": "task", "label": "Review", "owner": {"executor": "agent", "name": "writer"}, "objective": "Review the text",
        "instructions": "Read it twice.", "output_schema_ref": "verdict", "deliverables": [{"name": "report", "description": "Markdown", "required": true}],
        "success_criteria": ["every error is found"], "completion_checks": [{"pointer": "/verdict", "equals": "\"good\""}],
    });
    let mut plan = draft(&[task("write"), review], &["write review"]);
    plan["schemas"] =
        json!([{"id": "verdict", "schema": r#"{"type": "object", "required": ["verdict"]}"#}]);
    let result = host
        .call("create_execution_plan", json!({"draft": plan}))
        .await;
    let plan = &result["plan"];
    assert_eq!(
        (&plan["run_id"], &plan["status"], &plan["ready_nodes"]),
        (&json!(1), &json!("running"), &json!(["write"]))
    );
    assert_eq!(
        (statuses(plan).as_str(), &result["issues"]),
        ("ready pending", &json!([]))
    );
    assert_eq!(
        (
            &plan["nodes"][0]["work"]["instructions"],
            &plan["nodes"][1]["owner"]
        ),
        (&json!("well"), &json!("agent:writer"))
    );
    assert_eq!(host.active().await, *plan);
}

// S2-50: a cyclic or dangling draft is rejected with issues.
#[tokio::test]
async fn cyclic_and_dangling_drafts_are_rejected() {
    let nodes = [task("a"), task("b"), task("c"), task("d")];
    rejected_for(
        draft(&nodes, &["a b", "b c", "c d", "d b"]),
        "/edges/3",
        "the nodes `b`, `c`, `d` form a cycle",
    )
    .await;
    rejected_for(
        draft(&nodes, &["a b", "b x", "b c", "c d"]),
        "/edges/1/to",
        "there is no node `x`",
    )
    .await;
    rejected_for(draft(&nodes, &["a b", "a b"]), "/edges/1", "written twice").await;
    let cycle = draft(&nodes[..1], &["a a"]);
    let issues = rejected(cycle).await;
    assert!(
        issues
            .iter()
            .any(|issue| issue.starts_with("/edges/0: the nodes `a` form a cycle")),
        "{issues:?}"
    );
}

// S2-39, S2-50: entry nodes must exist, no edge may lead to them, and every node must be reachable from an entry node.
#[tokio::test]
async fn entry_nodes_lead_to_every_node() {
    let plan = || draft(&[task("a"), task("b")], &["a b"]);
    rejected_for(
        with(plan(), "/entry_nodes", json!(["a", "x"])),
        "/entry_nodes/1",
        "there is no node `x`",
    )
    .await;
    rejected_for(
        with(plan(), "/entry_nodes", json!(["a", "b"])),
        "/entry_nodes/1",
        "an edge leads to `b`",
    )
    .await;
    rejected_for(
        with(plan(), "/entry_nodes", json!(["a", "a"])),
        "/entry_nodes/1",
        "written twice",
    )
    .await;
    let apart = draft(&[task("a"), task("b")], &[]);
    rejected_for(
        with(apart, "/entry_nodes", json!(["a"])),
        "/nodes/1",
        "no entry node leads to `b`",
    )
    .await;
    let none = rejected(with(plan(), "/entry_nodes", json!([]))).await;
    assert!(
        none[0].starts_with("/entry_nodes: no node begins"),
        "{none:?}"
    );
    let empty = rejected(draft(&[], &[])).await;
    assert!(
        empty[0].starts_with("/nodes: the plan has no nodes"),
        "{empty:?}"
    );
}

// S2-39: owners must exist.
#[tokio::test]
async fn unknown_owners_are_rejected() {
    let owned = |owner: Value| draft(&[with(task("a"), "/owner", owner)], &[]);
    for (owner, pointer, words) in [
        (
            json!({"executor": "agent", "name": "boss"}),
            "/nodes/0/owner",
            "the owner `agent:boss` does not exist; the owners are `agent:clerk`, `agent:writer`",
        ),
        (
            json!({"executor": "plugin", "name": "sms"}),
            "/nodes/0/owner",
            "`plugin:sms` does not exist",
        ),
        (
            json!({"executor": "plugin", "name": null}),
            "/nodes/0/owner/name",
            "the owner `plugin` needs a name",
        ),
        (
            json!({"executor": "system", "name": null}),
            "/nodes/0/owner",
            "`system` does not exist",
        ),
        (Value::Null, "/nodes/0/owner", "a task needs an owner"),
    ] {
        rejected_for(owned(owner), pointer, words).await;
    }
    for owner in [
        json!({"executor": "user", "name": "bob"}),
        json!({"executor": "plugin", "name": "mail"}),
    ] {
        let result = Host::new()
            .call("create_execution_plan", json!({"draft": owned(owner)}))
            .await;
        assert_eq!(result["plan"]["ready_nodes"], json!(["a"]));
    }
}

// S2-50: schemas must be usable, and references to them must exist.
#[tokio::test]
async fn faulty_schemas_and_checks_are_rejected() {
    let of = |schema: &str| {
        let plan = draft(&[with(task("a"), "/output_schema_ref", json!("s"))], &[]);
        with(plan, "/schemas", json!([{"id": "s", "schema": schema}]))
    };
    let deep = format!("{}1{}", "{\"not\":".repeat(40), "}".repeat(40));
    for (schema, words) in [
        ("{", "this is not JSON text"),
        (r#"{"type": "text"}"#, "not a JSON Schema that can be used"),
        (r##"{"$ref": "#"}"##, "write the definition in its place"),
        (r#"{"pattern": "("}"#, "not a JSON Schema that can be used"),
        (&deep, "more than 32 levels"),
    ] {
        rejected_for(of(schema), "/schemas/0/schema", words).await;
    }
    let lost = draft(&[with(task("a"), "/output_schema_ref", json!("s"))], &[]);
    rejected_for(lost, "/nodes/0/output_schema_ref", "there is no schema `s`").await;
    let twice = with(
        of("{}"),
        "/schemas",
        json!([{"id": "s", "schema": "{}"}, {"id": "s", "schema": "{}"}]),
    );
    rejected_for(twice, "/schemas/1/id", "used twice").await;
    let check = |check: Value| {
        draft(
            &[with(task("a"), "/completion_checks", json!([check]))],
            &[],
        )
    };
    rejected_for(
        check(json!({"pointer": "verdict", "equals": null})),
        "/nodes/0/completion_checks/0/pointer",
        "not a JSON Pointer",
    )
    .await;
    rejected_for(
        check(json!({"pointer": "/v", "equals": "good"})),
        "/nodes/0/completion_checks/0/equals",
        "with quotes for a text",
    )
    .await;
    let same = json!([{"name": "n", "description": "", "required": true}, {"name": "n", "description": "", "required": true}]);
    rejected_for(
        draft(&[with(task("a"), "/deliverables", same)], &[]),
        "/nodes/0/deliverables/1/name",
        "used twice",
    )
    .await;
    rejected_for(draft(&[task("a b")], &[]), "/nodes/0/id", "ASCII letters").await;
}

// S2-49: structural nodes have the edges that they need, and no work of their own.
#[tokio::test]
async fn structural_nodes_are_checked() {
    let nodes = |kind| [task("a"), structural("s", kind), task("b"), task("c")];
    rejected_for(
        draft(&nodes("deliberation_fork"), &["a s", "s b", "a c"]),
        "/nodes/1",
        "1 edges lead from it",
    )
    .await;
    rejected_for(
        draft(&nodes("switch"), &["a s", "s b", "s c"]),
        "/nodes/1",
        "more than one edge of the switch has no condition",
    )
    .await;
    rejected_for(
        draft(&nodes("switch"), &["a s", "a b", "a c"]),
        "/nodes/1",
        "no edge leads from the switch",
    )
    .await;
    rejected_for(
        draft(&nodes("switch"), &["s b", "s c", "a b"]),
        "/nodes/1",
        "0 edges lead to it",
    )
    .await;
    let owned = with(
        structural("s", "join"),
        "/owner",
        json!({"executor": "agent", "name": null}),
    );
    rejected_for(
        draft(&[task("a"), owned, task("b")], &["a s", "b s"]),
        "/nodes/1/owner",
        "does no work of its own",
    )
    .await;
    let condition = with(
        draft(&nodes("join"), &["a s", "b s", "s c"]),
        "/edges/0/when",
        json!({"pointer": "", "equals": "1"}),
    );
    rejected_for(
        condition,
        "/edges/0/when",
        "only an edge from a switch has a condition",
    )
    .await;
}

// S2-48: an issue is a warning if the plan works in spite of it, and the plan then starts.
#[tokio::test]
async fn warnings_do_not_prevent_a_plan() {
    let nodes = [
        with(task("a"), "/success_criteria", json!([])),
        structural("s", "switch"),
        task("b"),
    ];
    let mut plan = draft(&nodes, &["a s", "s b"]);
    plan["edges"][1]["when"] = json!({"pointer": "/go", "equals": "true"});
    plan["schemas"] = json!([{"id": "unused", "schema": "{}"}]);
    let result = Host::new()
        .call("create_execution_plan", json!({"draft": plan}))
        .await;
    assert_eq!(result["plan"]["status"], "running");
    let issues = result["issues"].as_array().unwrap();
    let pointers: Vec<_> = issues
        .iter()
        .map(|issue| issue["pointer"].as_str().unwrap())
        .collect();
    assert_eq!(
        pointers,
        [
            "/schemas/0",
            "/nodes/0/success_criteria",
            "/nodes/1",
            "/nodes/1"
        ]
    );
    assert!(
        issues.iter().all(|issue| issue["severity"] == "warning"),
        "{issues:?}"
    );
}
