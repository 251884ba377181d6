//! The contract that an approval is bound to.

use std::collections::HashSet;

use serde_json::{Value, json};
use tool_core::prelude::*;
use tool_core::store::*;
use tool_core::{DynamicTool, Effect, ErrorKind, Reply, policy};

use crate::support::{Host, kind, placed, ticket};

/// A tool without hints or effect, to which the tests add them.
fn tool() -> DynamicTool {
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    DynamicTool::new("move_data", "Moves data.", schema, |_: Value, _| async {
        Ok::<_, ToolError>("moved")
    })
}

fn toolset(tool: DynamicTool) -> Toolset {
    Registry::builder().dynamic(tool).build().unwrap().open()
}

/// The same tool with each hint and effect that a declaration can have.
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

// M3: the contract covers effect and hints (F4: a mutant that dropped them survived)
#[test]
fn each_hint_and_effect_is_part_of_the_contract() {
    let contracts = declared().into_iter().map(|(_, tool)| {
        let tools = toolset(tool);
        tools.get("move_data").unwrap().contract()
    });
    let different: HashSet<_> = contracts.collect();
    assert_eq!(different.len(), declared().len());
}

// M3: a pending approval is bound to the contract of its tool. F4: it becomes invalid when a hint or an effect of the tool changes
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
        // If the call is dispatched again, it requests a new approval. If it is resumed, it is refused and has to be made again.
        let anew = ticket(&after.call(call, &cx).await);
        assert_ne!(anew.id, asked.id, "{what}");
        let result = after.resume(&asked.token, &cx).await;
        assert_eq!(kind(&result), Some(ErrorKind::Denied), "{what}");
        assert!(result.model_text().contains("has changed"), "{what}");
        let row = approvals.get(&acme, &asked.id).await.unwrap().unwrap();
        assert_eq!(row.status, ApprovalStatus::Withdrawn, "{what}");
    }
}
