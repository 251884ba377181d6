//! The visibility of tools in a turn, layer by layer, and the explanation for hidden tools.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::too_many_lines,
    clippy::items_after_statements,
    clippy::struct_excessive_bools,
    clippy::semicolon_if_nothing_returned,
    reason = "a test fails by panicking, and a table is defined where it is used"
)]

mod agents;
mod calls;
mod layers;
mod lists;
mod order;
mod plugins;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use serde_json::{Value, json};
use tool_core::policy::{Policy, Rule, SharedPolicy};
use tool_core::prelude::*;
use tool_core::{
    AgentTool, Disables, DynamicTool, Enablement, ErrorKind, Layer, RegistryBuilder, Rules,
    Runtime, SecretNeed, Step, ToolDef, ToolLists,
};

fn schema() -> Value {
    json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false})
}

fn tool(name: &str) -> DynamicTool {
    DynamicTool::new(
        name,
        "Does something.",
        schema(),
        |_: Value, _: ToolContext| async { Ok::<_, ToolError>("done") },
    )
}

/// Returns the builder of a registry with tools of every kind.
fn builder() -> RegistryBuilder {
    let knowledge = |name: &str| {
        tool(name)
            .category("knowledge")
            .secret(SecretNeed::new("openai_api_key"))
    };
    let memory = |name: &str| {
        tool(name)
            .category("memory")
            .secret(SecretNeed::new("openai_api_key"))
    };
    let harness = |name: &str, category: &str| tool(name).category(category).harness();
    Registry::builder()
        .dynamic(tool("read_page").category("web"))
        .dynamic(
            tool("hub_contacts")
                .category("crm")
                .secret(SecretNeed::new("hubspot_api_key")),
        )
        .dynamic(memory("search_memory"))
        .dynamic(memory("save_memory"))
        .dynamic(knowledge("search_knowledge"))
        .dynamic(knowledge("get_knowledge"))
        .dynamic(knowledge("write_knowledge"))
        .dynamic(harness("send_message_to_human", "room"))
        .dynamic(harness("mark_room_event_completed", "room"))
        .dynamic(harness("compact_room_history", "room"))
        .dynamic(harness("send_outbound_message", "conversation-trigger"))
        .dynamic(harness("send_whatsapp_template", "whatsapp"))
        .dynamic(DynamicTool::meta("spawn_task", "Starts a sub-agent.", schema()).category("agent"))
}

fn registry() -> Registry {
    builder().build().unwrap()
}

fn names(registry: &Registry, rules: &Rules) -> Vec<String> {
    let tools = registry.toolset(&ToolContext::anonymous(), rules);
    tools.names().map(str::to_owned).collect()
}

fn ask(slug: &str) -> AgentTool {
    AgentTool::new(slug, tool(&AgentTool::name_of(slug))).unwrap()
}

const STANDARD: [&str; 8] = [
    "get_knowledge",
    "hub_contacts",
    "read_page",
    "save_memory",
    "search_knowledge",
    "search_memory",
    "spawn_task",
    "write_knowledge",
];

fn everything() -> Rules {
    let rows = STANDARD
        .into_iter()
        .fold(Enablement::default(), Enablement::manual);
    Rules::default()
        .enablement(rows.skill("agent:tax-law"))
        .secrets(["openai_api_key", "hubspot_api_key"])
        .agent_tool(ask("tax-law"))
}

/// Returns the names in `STANDARD` and in `more`, sorted.
fn with(more: &[&str]) -> Vec<String> {
    let all: BTreeSet<&str> = STANDARD.into_iter().chain(more.iter().copied()).collect();
    all.into_iter().map(str::to_owned).collect()
}

// S1-52, S1-53, S1-54, S1-55, S1-56, S1-57, S1-58, S1-62: each kind of turn has exactly the listed tools.
#[test]
fn each_kind_of_turn_has_its_list() {
    let registry = registry();
    let list = |runtime| names(&registry, &everything().runtime(runtime));
    let whatsapp = || Runtime::Webhook {
        channel: "whatsapp".to_owned(),
    };
    let chat = with(&["ask_tax_law"]);
    assert_eq!(list(Runtime::Chat), chat);
    assert_eq!(list(Runtime::Scheduled), chat);
    assert_eq!(
        list(Runtime::Room),
        with(&[
            "ask_tax_law",
            "compact_room_history",
            "mark_room_event_completed",
            "send_message_to_human"
        ])
    );
    assert_eq!(
        list(whatsapp()),
        with(&[
            "ask_tax_law",
            "send_outbound_message",
            "send_whatsapp_template"
        ])
    );
    let trigger_only = with(&["ask_tax_law", "send_outbound_message"]);
    assert_eq!(
        list(Runtime::Webhook {
            channel: "email".to_owned()
        }),
        trigger_only
    );
    // A channel that is named `room` does not get the tools of rooms.
    assert_eq!(
        list(Runtime::Webhook {
            channel: "room".to_owned()
        }),
        trigger_only
    );
    // A sub-agent has its parent's list in every kind of turn, without the tools that start or ask agents and without the harness tools.
    let mut below = with(&[]);
    below.retain(|name| name != "spawn_task");
    for runtime in [Runtime::Chat, Runtime::Scheduled, Runtime::Room, whatsapp()] {
        let parent = everything().runtime(runtime);
        assert_eq!(
            names(
                &registry,
                &Rules::default()
                    .secrets(["openai_api_key", "hubspot_api_key"])
                    .for_sub_agent(&parent)
            ),
            below
        );
        assert_eq!(
            names(&registry, &parent.clone().for_sub_agent(&parent)),
            below
        );
    }
    let harness = registry
        .tools()
        .iter()
        .filter(|def| def.is_harness())
        .map(ToolDef::name);
    let chat_tools = registry.toolset(&ToolContext::anonymous(), &everything());
    for name in harness {
        assert_eq!(chat_tools.explain(name).layer(), Some(Layer::Harness));
    }
}

// S1-45: the enabled tools are the union of the rows of users and skills. Rows of other sources enable nothing.
#[test]
fn enablement_is_the_union_of_its_rows() {
    let registry = registry();
    let rows = Enablement::default()
        .manual("read_page")
        .skill("search_memory")
        .row("hub_contacts", "mcp", true);
    let rules = everything().enablement(rows);
    assert_eq!(
        names(&registry, &rules),
        ["read_page", "search_memory", "spawn_task"]
    );
}

// S1-39: without enablement rows, only `spawn_task` is visible, unless the host sets `default_open`. A row that enables no tool counts as a row, too.
#[test]
fn missing_enablement_rows_enable_nothing() {
    let registry = builder().dynamic(tool("plain")).build().unwrap();
    let list = |rows: Enablement| names(&registry, &everything().enablement(rows));
    assert_eq!(list(Enablement::default()), ["spawn_task"]);
    assert_eq!(
        list(Enablement::default().default_open()),
        with(&["ask_tax_law", "plain"])
    );
    assert_eq!(
        list(Enablement::default().default_open().disabled("plain")),
        ["spawn_task"]
    );
    assert_eq!(
        list(
            Enablement::default()
                .default_open()
                .row("plain", "old", true)
        ),
        ["spawn_task"]
    );
}

// S1-03: a tool that is enabled between two turns is only in the list of the second turn.
#[test]
fn tool_list_of_a_turn_is_fixed() {
    let registry = registry();
    let turn = |rows: Enablement| {
        registry.toolset(
            &ToolContext::anonymous(),
            &Rules::default().enablement(rows),
        )
    };
    let first = turn(
        Enablement::default()
            .manual("read_page")
            .disabled("spawn_task"),
    );
    let second = turn(
        Enablement::default()
            .manual("read_page")
            .manual("spawn_task"),
    );
    assert!(first.names().eq(["read_page"]));
    assert!(second.names().eq(["read_page", "spawn_task"]));
    // The list of a turn depends on the policies and disables at the time when its rules were built.
    let (policy, disables) = (SharedPolicy::default(), Disables::default());
    policy.kill("read_page", None);
    disables.disable("spawn_task");
    let rules = Rules::default()
        .policy(&policy)
        .disables(&disables)
        .allow(["read_page", "spawn_task"]);
    let first = registry.toolset(&ToolContext::anonymous(), &rules);
    policy.revive("read_page", None);
    disables.enable("spawn_task");
    assert!(first.is_empty());
    assert!(
        registry
            .toolset(&ToolContext::anonymous(), &rules)
            .is_empty(),
        "the rules are a snapshot"
    );
    assert_eq!(first.explain("read_page").layer(), Some(Layer::Killed));
    let rules = Rules::default()
        .policy(&policy)
        .disables(&disables)
        .allow(["read_page", "spawn_task"]);
    assert_eq!(registry.toolset(&ToolContext::anonymous(), &rules).len(), 2);
}

// S1-49, S1-50: a missing or empty secret hides the tool from the model; the operator's list marks it as misconfigured.
#[test]
fn missing_secret_is_shown_to_the_operator_only() {
    let registry = builder()
        .dynamic(tool("optional_key").secret(SecretNeed {
            optional: true,
            ..SecretNeed::new("tavily_api_key")
        }))
        .build()
        .unwrap();
    let cx = ToolContext::builder()
        .secret("openai_api_key", "sk-1")
        .secret("hubspot_api_key", "")
        .build();
    let tools = registry.toolset(&cx, &Rules::default());
    assert!(tools.get("search_memory").is_some() && tools.get("optional_key").is_some());
    let explanation = tools.explain("hub_contacts");
    assert_eq!(explanation.layer(), Some(Layer::Secrets));
    assert!(
        explanation.to_string().ends_with("(`hubspot_api_key`)"),
        "{explanation}"
    );
    let listed: Vec<_> = tools
        .available()
        .map(|tool| (tool.tool.name().to_owned(), tool.missing))
        .collect();
    assert!(listed.contains(&(
        "hub_contacts".to_owned(),
        vec!["hubspot_api_key".to_owned()]
    )));
    assert!(listed.contains(&("search_memory".to_owned(), vec![])));
    // The secrets that are set on the rules override the secrets of the context.
    let stated = registry.toolset(&cx, &Rules::default().secrets(["hubspot_api_key"]));
    assert!(stated.get("hub_contacts").is_some() && stated.get("search_memory").is_none());
}

// S1-51, S1-60: harness tools and tools that ask agents are not on the operator's list; tools that ask agents are not in the registry either.
#[test]
fn operator_list_has_the_switchable_tools() {
    let registry = registry();
    let tools = registry.toolset(
        &ToolContext::anonymous(),
        &everything().runtime(Runtime::Room),
    );
    assert!(tools.available().map(|tool| tool.tool.name()).eq(STANDARD));
    // In a toolset that was changed, the tools that ask agents are still not on the list.
    let changed = tools.clone().filter(|_| true);
    assert!(changed.get("ask_tax_law").is_some());
    assert!(
        changed
            .available()
            .map(|tool| tool.tool.name())
            .eq(STANDARD)
    );
    assert!(registry.get("ask_tax_law").is_none());
    assert!(tools.get("ask_tax_law").is_some());
    assert_eq!(
        format!("{:?}", tools.get("ask_tax_law").unwrap()),
        r#"ToolDef { name: "ask_tax_law", origin: "agent:tax-law", .. }"#
    );
}

// S1-59, S1-60: an agent whose channel is off cannot be asked, and the depth of nested agents is limited.
#[tokio::test]
async fn agents_are_called_only_if_the_channel_and_depth_allow() {
    let registry = registry();
    let cx = ToolContext::anonymous();
    let base = || Rules::default().enablement(Enablement::default().manual("agent:law"));
    let off = registry.toolset(&cx, &base().agent_tool(ask("law").channel(false)));
    assert_eq!(off.explain("ask_law").layer(), Some(Layer::AgentChannel));
    let on = |depth| {
        registry.toolset(
            &cx,
            &base().agent_tool(ask("law")).depth(depth).most_depth(2),
        )
    };
    assert_eq!(
        [0, 1, 2].map(|depth| on(depth).get("ask_law").is_some()),
        [true, true, false]
    );
    let call = || ToolCall::new("1", "ask_law", "{}");
    assert_eq!(on(0).call(call(), &cx).await.model_text(), "done");
    assert_eq!(
        on(2).call(call(), &cx).await.error().unwrap().kind(),
        ErrorKind::UnknownTool
    );
    // The agent's own tool overrides a registry tool of the same name, and the override is reported.
    let named = || base().enablement(Enablement::default().manual("agent:law").manual("ask_law"));
    let taken = builder()
        .dynamic(tool("ask_law").origin("pack"))
        .build()
        .unwrap();
    let tools = taken.toolset(&cx, &named().agent_tool(ask("law")));
    assert_eq!(tools.overridden()[0].kept, "agent:law");
    assert_eq!(tools.overridden()[0].dropped, "pack");
    assert!(tools.names().eq(["ask_law", "spawn_task"]));
    // If the agent's own tool is hidden, no override is reported.
    let tools = taken.toolset(&cx, &named().agent_tool(ask("law").channel(false)));
    assert!(tools.overridden().is_empty());
    assert!(
        AgentTool::new("x", tool("no name"))
            .unwrap_err()
            .to_string()
            .contains("[tool-name]")
    );
}
