//! Checks of a runtime's configuration, made by `build`.

use std::collections::HashSet;

use serde_json::Value;

use super::AgentRuntimeBuilder;
use super::entry::{AgentEntry, AgentKind, Properties};
use super::error::RuntimeConfigError as Fault;
use super::resumable;
use super::spawn::MOST_DEPTH;
use super::tools::schema_of;

/// Checks the agents and their settings. Returns the first fault.
pub(super) fn check(builder: &AgentRuntimeBuilder) -> Result<(), Fault> {
    let entries = &builder.entries;
    if entries.is_empty() {
        return Err(Fault::Empty);
    }
    let mut names = HashSet::new();
    for entry in entries {
        if !names.insert(entry.name()) {
            return Err(Fault::Twice(entry.name().to_owned()));
        }
    }
    for entry in entries {
        let description = entry.description.as_deref();
        if description.is_some_and(|text| text.trim().is_empty()) {
            return Err(Fault::NoDescription(entry.name().to_owned()));
        }
        if entry.spawn.most_depth > MOST_DEPTH {
            return Err(Fault::Depth {
                agent: entry.name().to_owned(),
                depth: entry.spawn.most_depth,
            });
        }
        if let Some(target) = entry.spawn.unknown(&entry.subagents) {
            return Err(Fault::Target {
                agent: entry.name().to_owned(),
                target: target.to_owned(),
                known: listed(entry.subagents.iter().map(|tool| &*tool.agent)),
            });
        }
        if entry.spawn.most_depth == 0 && !entry.subagents.is_empty() {
            return Err(setting(
                entry,
                "has sub-agents, but its `most_depth` is 0: set it to at least 1, or use `SpawnGate::disabled`",
            ));
        }
        check_session(entry)?;
        check_targets(entry, entries)?;
        check_tool_names(entry)?;
        check_parts(entry, builder)?;
    }
    Ok(())
}

fn setting(entry: &AgentEntry, fault: &'static str) -> Fault {
    Fault::Setting {
        agent: entry.name().to_owned(),
        fault,
    }
}

fn check_session(entry: &AgentEntry) -> Result<(), Fault> {
    let session = &entry.session;
    let ends = session.stop.is_some() || session.fail.is_some() || session.turns.is_some();
    if session.partner.is_some() && !ends {
        return Err(setting(
            entry,
            "has a partner, but its sessions never end: set `stop_tool` or `most_turns`",
        ));
    }
    if session.turns == Some(0) {
        return Err(setting(
            entry,
            "has sessions of 0 turns: set `most_turns` to at least 1",
        ));
    }
    if session.stop.is_some() && session.stop == session.fail {
        return Err(setting(
            entry,
            "uses one tool as `stop_tool` and as `fail_tool`: use two tools",
        ));
    }
    if ends && entry.kind == AgentKind::Conversational {
        return Err(setting(
            entry,
            "has a session, but only autonomous agents run in sessions: call `autonomous`, or remove `session`",
        ));
    }
    Ok(())
}

fn find<'e>(
    entry: &AgentEntry,
    target: &str,
    entries: &'e [AgentEntry],
) -> Result<&'e AgentEntry, Fault> {
    let found = entries.iter().find(|other| other.name() == target);
    found.ok_or_else(|| Fault::Unknown {
        agent: entry.name().to_owned(),
        target: target.to_owned(),
        known: listed(entries.iter().map(AgentEntry::name)),
    })
}

pub(super) fn listed<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

fn is_exposed(entry: &AgentEntry, target: &AgentEntry) -> Result<(), Fault> {
    if target.description.is_some() {
        return Ok(());
    }
    Err(Fault::NotExposed {
        agent: entry.name().to_owned(),
        target: target.name().to_owned(),
    })
}

fn is_of_kind(
    entry: &AgentEntry,
    target: &AgentEntry,
    kind: AgentKind,
    wanted: &'static str,
) -> Result<(), Fault> {
    if target.kind == kind {
        return Ok(());
    }
    Err(Fault::Kind {
        agent: entry.name().to_owned(),
        target: target.name().to_owned(),
        kind: target.kind,
        wanted,
    })
}

fn check_targets(entry: &AgentEntry, entries: &[AgentEntry]) -> Result<(), Fault> {
    for tool in &entry.prompts {
        let target = find(entry, &tool.agent, entries)?;
        is_exposed(entry, target)?;
        check_properties(entry, target, &tool.properties)?;
        if starts_in_background(target) {
            return Err(setting(
                entry,
                "runs an agent as a prompt, and that agent starts sub-agents in the background, so no agent would read their results: set `blocking(true)` in the entry of that agent",
            ));
        }
    }
    for handoff in &entry.handoffs {
        let target = find(entry, &handoff.agent, entries)?;
        is_of_kind(entry, target, AgentKind::Conversational, "a conversational")?;
        if entry.kind != AgentKind::Conversational {
            return Err(setting(
                entry,
                "is autonomous and cannot pass a conversation on: remove `handoff`",
            ));
        }
        if target.name() == entry.name() {
            return Err(setting(
                entry,
                "passes the conversation to itself: remove that `handoff`",
            ));
        }
    }
    for tool in &entry.subagents {
        let target = find(entry, &tool.agent, entries)?;
        is_exposed(entry, target)?;
        is_of_kind(entry, target, AgentKind::Autonomous, "an autonomous")?;
        check_properties(entry, target, &tool.properties)?;
        let properties = &tool.properties;
        let reads = [
            &properties.message,
            &properties.attachments,
            &properties.name,
        ];
        if tool.resumable.is_some() && reads.into_iter().any(Option::is_some) {
            return Err(setting(
                entry,
                "sets `init_user_message`, `init_attachments` or `init_agent_name` for a resumable sub-agent, but `subagent_create` has its own fields for these values: remove these settings",
            ));
        }
        if tool.resumable.is_none() && starts_in_background(target) {
            return Err(setting(
                entry,
                "starts a sub-agent that is not resumable, and that sub-agent starts others in the background, so no agent would read their results: call `resumable`, or set `blocking(true)` in the entry of that sub-agent",
            ));
        }
        if let Some(resumable) = &tool.resumable {
            if resumable.most == Some(0) {
                return Err(setting(
                    entry,
                    "allows 0 instances of a sub-agent: set `most_instances` to at least 1",
                ));
            }
            if resumable.side == super::Side::B && target.session.partner.is_none() {
                return Err(setting(
                    entry,
                    "sends messages to side B of a sub-agent without a partner: set `Session::partner`, or use `Side::A`",
                ));
            }
        }
        if let Some(immediate) = &tool.immediate {
            if immediate.per_instance && immediate.names().is_empty() {
                return Err(setting(
                    entry,
                    "starts an instance for each group of variables, but names no variable: set `scoped_env`",
                ));
            }
            if !entry.spawn.admits(target.name()) {
                return Err(setting(
                    entry,
                    "immediately starts a sub-agent that its spawn gate refuses: change `spawn`, or remove `immediate`",
                ));
            }
            if tool.blocking {
                return Err(setting(
                    entry,
                    "starts a sub-agent immediately and waits for it: set `blocking(false)`",
                ));
            }
        }
    }
    Ok(())
}

/// Returns whether an agent starts sub-agents without waiting for them.
fn starts_in_background(entry: &AgentEntry) -> bool {
    entry.subagents.iter().any(|tool| !tool.blocking)
}

fn check_properties(
    entry: &AgentEntry,
    target: &AgentEntry,
    properties: &Properties,
) -> Result<(), Fault> {
    let schema = schema_of(target);
    let schema: Value = serde_json::from_str(&schema).unwrap_or_default();
    let known = schema["properties"].as_object();
    let used = [
        &properties.message,
        &properties.attachments,
        &properties.name,
    ];
    for property in used.into_iter().flatten() {
        if known.is_none_or(|known| !known.contains_key(property)) {
            let known = known.into_iter().flat_map(|known| known.keys());
            return Err(Fault::Property {
                agent: entry.name().to_owned(),
                target: target.name().to_owned(),
                property: property.clone(),
                known: listed(known.map(String::as_str)),
            });
        }
    }
    Ok(())
}

fn check_tool_names(entry: &AgentEntry) -> Result<(), Fault> {
    let prompts = entry.prompts.iter().map(|tool| tool.agent.clone());
    let handoffs = entry.handoffs.iter().map(super::Handoff::tool);
    let agents = entry.subagents.iter().map(|tool| tool.agent.clone());
    let mut seen: HashSet<String> = HashSet::new();
    if entry.subagents.iter().any(|tool| tool.resumable.is_some()) {
        seen.extend(resumable::NAMES.map(str::to_owned));
    }
    for tool in prompts.chain(handoffs).chain(agents) {
        if !seen.insert(tool.clone()) {
            return Err(Fault::ToolTwice {
                agent: entry.name().to_owned(),
                tool,
            });
        }
    }
    Ok(())
}

fn check_parts(entry: &AgentEntry, builder: &AgentRuntimeBuilder) -> Result<(), Fault> {
    let needs = |what, method| {
        Err(Fault::Needs {
            agent: entry.name().to_owned(),
            what,
            method,
        })
    };
    let runs = !entry.prompts.is_empty() || !entry.subagents.is_empty();
    if runs && builder.children.is_none() {
        return needs("runs other agents", "children");
    }
    let mut properties = entry.prompts.iter().map(|tool| &tool.properties);
    let mut of_agents = entry.subagents.iter().map(|tool| &tool.properties);
    let passes = |properties: &Properties| properties.attachments.is_some();
    if builder.files.is_none() && (properties.any(passes) || of_agents.any(passes)) {
        return needs("passes files on", "files");
    }
    let scopes = entry.variables.iter().any(|need| need.scoped);
    let mut immediate = entry
        .subagents
        .iter()
        .filter_map(|tool| tool.immediate.as_ref());
    let moves = immediate.any(|immediate| immediate.per_instance);
    if builder.vault.is_none() && (scopes || moves) {
        return needs("has scoped variables", "vault");
    }
    Ok(())
}
