//! The schemas of contracts and of tools.

use std::collections::BTreeSet;

use serde_json::Value;
use tool_contracts::{ContractSchema, NAMES, schemas};
use tool_core::schema::Schema;
use tool_core::schema::dialect::{Dialect, output_schema_text, schema_text};
use tool_core::{Registry, ToolDef};
use tool_std as _;

/// The contracts of tools that this program does not link: those of teams are created by `tool-agent`, whose tests compare them.
const NOT_LINKED: [&str; 10] = [
    "ask_user",
    "create_execution_plan",
    "replace_execution_plan",
    "submit_execution_node_result",
    "get_active_execution_plan",
    "resume_execution_plan_run",
    "consult_team",
    "consult_specialist",
    "research_topic",
    "spawn_task",
];

/// Removes texts and defaults, which only the tool has.
fn bare(value: &mut Value) {
    match value {
        Value::Object(map) => {
            // A key of `properties` is the name of a field.
            for key in ["description", "title", "default", "examples", "$schema"] {
                if !map.get(key).is_some_and(Value::is_object) {
                    map.remove(key);
                }
            }
            for value in map.values_mut() {
                bare(value);
            }
        }
        Value::Array(list) => list.iter_mut().for_each(bare),
        _ => {}
    }
}

/// Returns the schema of arguments without texts. In the dialect of OpenAI, an argument with a default may be null, as an option may.
fn input(schema: &'static Schema) -> Value {
    let mut value = serde_json::from_str(&schema_text(schema, Dialect::OpenAi)).unwrap();
    bare(&mut value);
    value
}

fn output(text: &str) -> Value {
    let mut value = serde_json::from_str(text).unwrap();
    bare(&mut value);
    value
}

fn compare(tool: &ToolDef, contract: &ContractSchema) {
    let name = tool.name();
    assert_eq!(
        input(contract.input),
        input(tool.input()),
        "the arguments of `{name}`: the contract is left, the tool right"
    );
    let Some(schema) = contract.output else {
        return;
    };
    assert_eq!(
        output(&output_schema_text(schema)),
        output(&tool.output_schema().unwrap()),
        "the result of `{name}`: the contract is left, the tool right"
    );
}

// S2-24, S2-25: each tool has a contract with the same name, arguments and result.
#[test]
fn each_linked_tool_equals_its_contract() {
    let registry = Registry::linked().unwrap();
    let all = schemas();
    let mut compared = BTreeSet::new();
    for tool in registry.tools() {
        let contract = all.iter().find(|contract| contract.name == tool.name());
        let contract = contract.unwrap_or_else(|| {
            panic!(
                "`{}` has no contract: add one to `tool-contracts`",
                tool.name()
            )
        });
        compare(tool, contract);
        compared.insert(tool.name().to_owned());
    }
    let missing: Vec<_> = NAMES
        .iter()
        .filter(|name| !compared.contains(**name) && !NOT_LINKED.contains(name))
        .collect();
    assert!(missing.is_empty(), "no tool has the names {missing:?}");
}
