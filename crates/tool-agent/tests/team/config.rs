//! Errors in the configuration of a team.

use std::time::Duration;

use tool_agent::model::{Script, ScriptedModel};
use tool_agent::team::{LocalTeam, SpawnTask, Team};
use tool_core::toolset;

use crate::support::{agent, member, team, timed, turns};

// S2-33: a team without agents, with an empty id or with an id twice is refused with a text that names the correction
#[test]
fn faulty_teams_are_refused() {
    let local = |ids: &[&str]| {
        let model = || ScriptedModel::new([]);
        let team = ids.iter().fold(LocalTeam::builder(&turns()), |team, id| {
            team.member(member(id), agent("a", model()))
        });
        team.build().unwrap_err().to_string()
    };
    let none = "the team has no agents: add one with `LocalTeam::builder(…).member(…)`, or name one in `TeamBuilder::participants`";
    let twice = "two agents of the team have the id `law`: give each agent its own id";
    let empty = "the id of an agent is empty: write an id such as `tax-law`";
    assert_eq!(local(&[]), none);
    assert_eq!(local(&["law", "tax", "law"]), twice);
    assert_eq!(local(&["law", " "]), empty);
    let agents = ["law", "tax"].map(|id| (id, timed(0, Script::text(id))));
    let agents = team(&turns(), agents);
    let builder = || Team::builder(agents.clone());
    let chosen = |ids: &[&str]| {
        let team = builder().participants(ids.iter().copied()).build();
        team.unwrap_err().to_string()
    };
    assert_eq!(chosen(&[]), none);
    assert_eq!(chosen(&["law", "law"]), twice);
    assert_eq!(chosen(&[""]), empty);
    assert_eq!(
        chosen(&["law", "press"]),
        "the team has no agent `press`: write one of `law`, `tax`"
    );
    assert_eq!(builder().caller("").build().unwrap_err().to_string(), empty);
    let no_time = builder().timeout(Duration::ZERO).build().unwrap_err();
    assert_eq!(
        no_time.to_string(),
        "the time limit of an agent is 0: set `timeout` to the time that an agent may take, such as 90 seconds"
    );
}

// S2-45: a team whose only agent is the one that asks has no tools, and an agent gets no tool to ask itself
#[test]
fn team_of_the_caller_alone_is_refused() {
    let agents = ["law", "tax"].map(|id| (id, timed(0, Script::text(id))));
    let agents = team(&turns(), agents);
    let alone = Team::builder(agents.clone())
        .participants(["law"])
        .caller("law");
    let alone = alone.build().unwrap();
    let text = "`law` is the only agent of the team and cannot ask itself: add a second agent, or give the tool to a different agent";
    let errors = [
        alone.consult_team().map(drop),
        alone.consult_specialist().map(drop),
        alone.research_topic("law").map(drop),
        alone.ask("law").map(drop),
    ];
    for error in errors {
        assert_eq!(error.unwrap_err().to_string(), text);
    }
    let pair = Team::builder(agents).caller("law").build().unwrap();
    let text = "the team has no agent `law`: write one of `tax`";
    assert_eq!(pair.ask("law").unwrap_err().to_string(), text);
    let error = pair.research_topic("law").map(drop).unwrap_err();
    assert_eq!(error.to_string(), text);
}

// S1-54: the limit on the steps of a sub-agent is a number from 1 to 10
#[test]
fn step_limit_of_a_sub_agent_is_bounded() {
    let build = |steps| {
        let task = SpawnTask::new(&turns(), ScriptedModel::new([]), |_| toolset![]);
        task.most_steps(steps).build().map(drop)
    };
    assert!(build(1).is_ok() && build(10).is_ok());
    for steps in [0, 11] {
        assert_eq!(
            build(steps).unwrap_err().to_string(),
            format!(
                "a sub-agent cannot have {steps} steps: set `most_steps` to a number from 1 to 10"
            )
        );
    }
}
