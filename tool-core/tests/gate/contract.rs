//! The contract that an approval is bound to.

use std::collections::HashSet;

use serde_json::{Value, json};
use tool_core::prelude::*;
use tool_core::store::*;
use tool_core::{DynamicTool, Effect, ErrorKind, Reply, policy};

use crate::support::{Host, kind, placed, ticket};

/// Returns a tool without hints and effects.
fn tool() -> DynamicTool {
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    DynamicTool::new("move_data", "Moves data.", schema, |_: Value, _| async {
        Ok::<_, ToolError>("moved")
    })
}

fn toolset(tool: DynamicTool) -> Toolset {
    Registry::builder().dynamic(tool).build().unwrap().open()
}

/// Returns variants of [`tool`]: one without changes, and others with effects or with one hint.
fn declared() -> Vec<(&'static str, DynamicTool)> {
    vec![
        ("nothing", tool()),
        ("writing", tool().effect(Effect::WRITE)),
        (
            "writing beyond the host",
            tool().effect(Effect::WRITE.union(Effect::EXTERNAL)),
        ),
        ("read only", tool().read_only()),
        ("destructive", tool().destructive()),
        ("idempotent", tool().idempotent()),
        ("open world", tool().open_world()),
    ]
}

// M3: the contract covers effects and hints
#[test]
fn each_hint_and_effect_is_part_of_the_contract() {
    let contracts = declared().into_iter().map(|(_, tool)| {
        let tools = toolset(tool);
        tools.get("move_data").unwrap().contract()
    });
    let different: HashSet<_> = contracts.collect();
    assert_eq!(different.len(), declared().len());
}

// M3: an approval becomes invalid when a hint or an effect of its tool changes
#[tokio::test]
async fn an_approval_ends_when_a_hint_of_its_tool_changes() {
    use policy::{Policy, Rule};
    let rule = Rule::ask("moves").tools(["move_data"]);
    let asks = Policy::builder().rules([rule]).share().unwrap();
    let host = Host::new();
    let offered = |tool: DynamicTool| {
        let registry = Registry::builder().dynamic(tool).build().unwrap();
        let rules = tool_core::Rules::default().policy(&asks);
        registry.toolset(&host.ann(), &rules).through(&host.gate)
    };
    let before = offered(tool());
    for (position, (what, changed)) in (0..).zip(declared()) {
        let cx = placed(&host.ann(), position);
        let call = ToolCall::new("c", "move_data", "{}");
        let asked = ticket(&before.call(call.clone(), &cx).await);
        let (approvals, acme) = (host.approvals(), Workspace::new("acme"));
        approvals
            .answer(&acme, &before, &asked.token, Reply::Approve, "boss", None)
            .await
            .unwrap();
        let after = offered(changed);
        if what == "nothing" {
            assert_eq!(kind(&after.resume(&asked.token, &cx).await), None);
            continue;
        }
        // A second dispatch of the call requests a new approval. The old token is refused, and the model must make the call again.
        let anew = ticket(&after.call(call, &cx).await);
        assert_ne!(anew.id, asked.id, "{what}");
        let result = after.resume(&asked.token, &cx).await;
        assert_eq!(kind(&result), Some(ErrorKind::Denied), "{what}");
        assert!(result.model_text().contains("has changed"), "{what}");
        let row = approvals.get(&acme, &asked.id).await.unwrap().unwrap();
        assert_eq!(row.status, ApprovalStatus::Withdrawn, "{what}");
    }
}
