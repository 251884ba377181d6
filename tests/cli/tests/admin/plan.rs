//! The command `plan`, on each kind of store.

use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use tool_store::{
    NewPlanRun, PlanChange, PlanExecutor, PlanOutcome, PlanOwner, PlanRules, PlanSpec, PlanStore,
    PlanSubmission, PostgresStore, SqliteStore, ThreadId, Timestamp,
};

use super::DESK;

/// Runs the command on a store. Returns the exit code, standard output and standard error.
fn plan(words: &[&str], options: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(DESK);
    let output = command
        .arg("plan")
        .args(words)
        .args(options)
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

/// Returns a plan with a switch, whose first task has a label that a terminal and Mermaid would interpret.
fn spec() -> PlanSpec {
    let task = |id: &str, label: &str| {
        json!({
            "id": id, "label": label, "owner": {"executor": "agent", "name": "clerk"}, "objective": "o", "success_criteria": ["c"]
        })
    };
    let draft = json!({
        "title": "Release\u{1b}[31m", "objective": "Publish version 2", "entry_nodes": ["test"],
        "nodes": [task("test", "Test\"]; click \u{1b}"), {"id": "passed", "type": "switch"}, task("publish", "Publish"), task("repair", "")],
        "edges": [{"from": "test", "to": "passed"}, {"from": "passed", "to": "publish", "when": {"pointer": "/ok", "equals": true}},
                  {"from": "passed", "to": "repair"}],
    });
    let draft = serde_json::from_value(draft).unwrap();
    PlanSpec::compile(draft, &PlanRules::default(), |_| Ok(())).unwrap()
}

/// Stores a run that was replaced and a run whose first task is completed.
async fn seed(store: &impl PlanStore, workspace: &str) {
    let at = Timestamp::now();
    let new = || NewPlanRun {
        thread: ThreadId::new(workspace, "main").unwrap(),
        principal: None,
        spec: spec(),
        at,
    };
    store.create_plan(new()).await.unwrap();
    let run = store
        .replace_plan(new(), "again".to_owned())
        .await
        .unwrap()
        .unwrap();
    let done = PlanSubmission {
        node: "test".to_owned(),
        attempt: None,
        by: PlanOwner::new(PlanExecutor::Agent, "clerk"),
        outcome: PlanOutcome::Completed,
        output: Some(json!({"ok": true})),
        schema_issues: Vec::new(),
        artifacts: Vec::new(),
        notes: None,
    };
    store
        .change_plan(&run.id, PlanChange::Submit(done), at)
        .await
        .unwrap();
}

/// The last run of a conversation is drawn, and is printed as a flowchart and as JSON; an earlier run is printed by its number.
pub(super) fn runs_are_printed(url: &str) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let workspace = format!("acme{}", now.as_nanos());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        if url.starts_with("postgres:") {
            seed(&PostgresStore::open(url).await.unwrap(), &workspace).await;
        } else {
            seed(&SqliteStore::open(url).await.unwrap(), &workspace).await;
        }
    });
    let target = ["--store", url, "--workspace", &workspace];
    let (code, drawing, errors) = plan(&["show", "main"], &target);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    let lines: Vec<_> = drawing.lines().map(str::trim).collect();
    assert_eq!(
        lines[1..],
        [
            "Publish version 2",
            "",
            "stage 1",
            "✓ test     completed  agent:clerk  → passed",
            "",
            "stage 2",
            "✓ passed   completed  switch  → publish (chosen), repair",
            "",
            "stage 3",
            "○ publish  ready      agent:clerk",
            "– repair   skipped    agent:clerk",
        ]
    );
    assert!(
        lines[0].starts_with("Release")
            && lines[0].ends_with("(run 2, running)")
            && !drawing.contains('\u{1b}'),
        "{drawing}"
    );

    let (code, chart, _) = plan(&["show", "main", "--mermaid"], &target);
    assert_eq!(code, Some(0));
    let lines: Vec<_> = chart.lines().map(str::trim).collect();
    assert_eq!(
        lines[..8],
        [
            "flowchart TD",
            r#"n0["Test#34;#93;#59; click #27;<br/>completed"]:::completed"#,
            r#"n1{"passed<br/>completed"}:::completed"#,
            r#"n2["Publish<br/>ready"]:::ready"#,
            r#"n3["repair<br/>skipped"]:::skipped"#,
            "n0 --> n1",
            r#"n1 -->|"/ok = true"| n2"#,
            "n1 --> n3",
        ]
    );
    assert!(
        lines[8..].iter().all(|line| line.starts_with("classDef ")),
        "{chart}"
    );

    let (_, text, _) = plan(&["show", "main", "--format", "json"], &target);
    let document: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&document["run"], &document["replaces"], &document["status"]),
        (&json!(2), &json!(1), &json!("running"))
    );
    assert_eq!(
        (
            &document["nodes"][2]["stage"],
            &document["nodes"][2]["after"]
        ),
        (&json!(3), &json!(["passed"]))
    );
    let (_, first, _) = plan(&["show", "main", "1"], &target);
    assert!(first.contains("(run 1, aborted)"), "{first}");

    for (words, expected) in [
        (["show", "main", "3"], "does not have a run 3 of a plan"),
        (["show", "other", "1"], "does not have a run 1"),
    ] {
        let (code, _, errors) = plan(&words, &target);
        assert!(code == Some(2) && errors.contains(expected), "{errors}");
    }
    // A different workspace does not have the plan, and the command reads no plans over an admin API.
    let (code, _, errors) = plan(
        &["show", "main"],
        &["--store", url, "--workspace", "umbrella"],
    );
    assert!(
        code == Some(2) && errors.contains("does not have a plan"),
        "{errors}"
    );
    let (code, _, errors) = plan(&["show", "main"], &["--admin", "http://127.0.0.1:9"]);
    assert!(
        code == Some(2) && errors.contains("--store sqlite:state.db"),
        "{errors}"
    );
}
