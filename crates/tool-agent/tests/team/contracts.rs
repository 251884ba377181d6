//! The tools of a team compared with their contracts.

use tool_agent::model::{Script, ScriptedModel};
use tool_agent::team::{SpawnTask, Team};
use tool_contracts::team::Research;
use tool_core::{Registry, toolset};

use crate::support::{team, timed, turns};

// S2-25, S2-45: the tools of a team have the names, arguments and results of their contracts
#[test]
fn tools_of_a_team_equal_their_contracts() {
    let turns = turns();
    let agents = ["law", "tax"].map(|id| (id, timed(0, Script::text(id))));
    let of = Team::builder(team(&turns, agents)).caller("law").build();
    let of = of.unwrap();
    let spawn = SpawnTask::new(&turns, ScriptedModel::new([]), |_| toolset![]);
    let registry = Registry::builder()
        .dynamic(of.consult_team().unwrap())
        .dynamic(of.consult_specialist().unwrap())
        .dynamic(of.research_topic("tax").unwrap())
        .dynamic(spawn.build().unwrap())
        .build()
        .unwrap();
    let contracts = tool_contracts::schemas();
    for tool in registry.tools() {
        let contract = contracts
            .iter()
            .find(|contract| contract.name == tool.name());
        contract
            .unwrap()
            .check(tool)
            .unwrap_or_else(|error| panic!("{error}"));
    }
    assert_eq!(registry.len(), 4);
}

// S2-24: the result of a research, whose citations may lack a version, is read and written without loss
#[test]
fn research_is_read_without_loss() {
    let text = r#"{"summary":"yes","citations":[{"source":"web","sourceId":"u","version":"2","retrievedAt":"2026-03-01T09:30:00Z"},{"source":"web","sourceId":"v","retrievedAt":"2026-03-01T09:30:00Z"}]}"#;
    let research: Research = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::to_string(&research).unwrap(), text);
}
