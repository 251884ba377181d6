//! Variables of sub-agents: scoped names, requests to the user, and instances for groups of variables.

use futures::FutureExt as _;
use serde_json::{Value, json};
use tool_agent::runtime::{AgentEntry, AgentRuntime, Immediate, Resumable, Subagent};
use tool_core::prelude::*;
use tool_core::store::seal::{NewValue, SealKey, SealKeys, Vault};
use tool_core::store::{
    ChildFilter, ChildState, ChildStore as _, Role, Scope, ThreadId, VariableFilter, VariableScope,
    VariableType, Workspace,
};
use tool_core::{ExposeSecret as _, VariableKind, VariableNeed};

use crate::support::{
    Host, Log, agent, calls, context, entry, in_conversation, only_child, payload, results, text,
    thinking, worker,
};

const SENTINEL: &str = "sentinel-value-4711";

async fn vault(host: &Host) -> Vault {
    let keys = SealKeys::new("k1", SealKey::new(&[1; 32])).unwrap();
    Vault::open(host.store.clone(), keys).await.unwrap()
}

fn scoped(name: &'static str, kind: VariableKind) -> VariableNeed {
    VariableNeed {
        kind,
        scoped: true,
        description: Some("The key of the shop.".into()),
        ..VariableNeed::new(name)
    }
}

/// Uses the key of the shop.
#[tool(read_only)]
fn use_key(#[variable("SHOP_KEY", secret)] key: SecretString) -> String {
    format!(
        "{} characters, {}",
        key.expose_secret().len(),
        key.expose_secret()
    )
}

fn shop(log: &Log) -> AgentEntry {
    let shop = thinking("shop", log, |request| {
        Ok(if request.step() == 0 {
            calls([("use_key", json!({}))])
        } else {
            text(&format!(
                "used: {}",
                request.messages.last().unwrap().content
            ))
        })
    });
    worker(shop.tools(|_| toolset![use_key])).variable(scoped("SHOP_KEY", VariableKind::Secret))
}

fn chief(log: &Log) -> tool_agent::agent::AgentBuilder {
    thinking("chief", log, |request| {
        let first = request.texts(Role::User).len() == 1 && request.step() == 0;
        let arguments =
            json!({"agent": "shop", "name": "The shop", "message": "Open it.", "attachments": []});
        Ok(if first {
            calls([("subagent_create", arguments)])
        } else {
            text("Noted.")
        })
    })
}

async fn answer(vault: &Vault, request: &str, values: &[(&str, &str)]) -> Vec<String> {
    let main = ThreadId::new("acme", "main").unwrap();
    let values = values
        .iter()
        .map(|(name, value)| ((*name).to_owned(), SecretString::from(*value)));
    let values: Vec<_> = values.collect();
    vault
        .answer_variables(&main, request, values, "ann")
        .await
        .unwrap()
}

// S4-39, S4-55, S4-57: a sub-agent without its scoped variables is not started, and the result contains the request and no values. The answer to the request starts
// the sub-agent with its first message.
#[tokio::test]
async fn sub_agent_waits_for_its_scoped_variables() {
    let (host, log) = (Host::new(), Log::default());
    let vault = vault(&host).await;
    let tool = Subagent::new("shop")
        .blocking(false)
        .resumable(Resumable::new());
    let runtime = host
        .runtime()
        .vault(&vault)
        .agent(entry(chief(&log)).subagent(tool))
        .agent(shop(&log))
        .build()
        .unwrap();
    // The parent has a value of the same name, which the child does not inherit.
    let cx = context()
        .secret_variable("SHOP_KEY", "the-key-of-the-parent")
        .build();
    runtime.respond("chief", "Go.", &cx).await.unwrap();
    runtime.idle().await;

    let row = only_child(&runtime, &cx).await;
    assert_eq!(row.state, ChildState::Deferred);
    assert!(log.of("shop").is_empty());
    let result = payload(&results(&host, &cx).await[0]);
    let request = row.request.clone().unwrap();
    assert_eq!(result.error_code.as_deref(), Some("subagent_env_required"));
    assert_eq!(
        result.error_data.unwrap(),
        json!({
            "request_id": request,
            "endpoint": format!("/v1/threads/main/variables/{request}"),
            "required": [{"name": "SHOP_KEY", "kind": "secret", "description": "The key of the shop.", "choices": []}],
            "missing": ["SHOP_KEY"],
            "agent": "shop",
        })
    );
    // The sub-agent does not start before the answer.
    assert!(
        runtime
            .start_deferred("chief", &cx)
            .await
            .unwrap()
            .is_empty()
    );

    assert!(
        answer(&vault, &request, &[("SHOP_KEY", SENTINEL)])
            .await
            .is_empty()
    );
    let started = runtime.start_deferred("chief", &cx).await.unwrap();
    assert_eq!(started[0].thread, row.thread);
    runtime.idle().await;
    assert_eq!(log.of("shop")[0].texts(Role::User), ["Open it."]);
    let row = only_child(&runtime, &cx).await;
    assert_eq!(
        (row.state, row.tag().as_deref()),
        (ChildState::Idle, Some("name:The shop"))
    );
    let child = in_conversation(row.thread.conversation());
    let used = results(&host, &child).await.remove(0);
    assert_eq!(used.text, "19 characters, [secret:SHOP_KEY]");
    assert!(
        runtime
            .start_deferred("chief", &cx)
            .await
            .unwrap()
            .is_empty()
    );
    // No message and no request contains the value.
    for thread in [&cx, &child] {
        let messages = host.turns().messages(thread, None).await.unwrap();
        assert!(!format!("{messages:?}").contains(SENTINEL));
    }
    for request in log.all() {
        assert!(!format!("{request:?}").contains(SENTINEL));
    }
}

/// Returns the region.
#[tool(read_only)]
fn region(#[variable("REGION", optional)] region: Option<String>) -> String {
    region.unwrap_or_else(|| "no region".to_owned())
}

// S4-15: a sub-agent does not inherit a variable that it declares as scoped. An optional variable then has no value.
#[tokio::test]
async fn scoped_variable_is_not_inherited() {
    for (scoped, expected) in [(false, "south"), (true, "no region")] {
        let (host, log) = (Host::new(), Log::default());
        let vault = vault(&host).await;
        let call = calls([("shop", json!({"message": "Open it."}))]);
        let shop = agent(
            "shop",
            &log,
            [calls([("region", json!({}))]), text("Open.")],
        );
        let need = VariableNeed {
            scoped,
            required: false,
            ..VariableNeed::new("REGION")
        };
        let runtime = host
            .runtime()
            .vault(&vault)
            .agent(
                entry(agent("chief", &log, [call, text("Noted.")])).subagent(Subagent::new("shop")),
            )
            .agent(worker(shop.tools(|_| toolset![region])).variable(need))
            .build()
            .unwrap();
        let cx = context().variable("REGION", "south").build();
        runtime.respond("chief", "Go.", &cx).await.unwrap();
        let row = only_child(&runtime, &cx).await;
        let child = in_conversation(row.thread.conversation());
        assert_eq!(results(&host, &child).await[0].text, expected);
    }
}

fn once(log: &Log, host: &Host, tool: Subagent) -> AgentRuntime {
    host.runtime()
        .agent(entry(agent("chief", log, [text("Hello.")])).subagent(tool))
        .agent(worker(agent("watcher", log, [text("Watching.")])))
        .build()
        .unwrap()
}

// S4-34: an immediate sub-agent starts before the first request, once for a conversation, and not again after a restart.
#[tokio::test]
async fn immediate_sub_agent_starts_once() {
    let (host, log) = (Host::new(), Log::default());
    let tool = || {
        let immediate = Immediate::once("Watch the shop.");
        Subagent::new("watcher")
            .blocking(false)
            .immediate(immediate)
    };
    let store = host.store.clone();
    let seen = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let (at_request, of_store) = (seen.clone(), store.clone());
    let chief = thinking("chief", &log, move |_| {
        // The child exists before the first request to the model.
        let filter = ChildFilter::default();
        let rows = of_store.children(Scope::All, &filter);
        // The future is ready at once, because the store is in memory.
        let rows = rows.now_or_never().unwrap().unwrap();
        at_request.lock().unwrap().push(rows.len());
        Ok(text("Hello."))
    });
    let runtime = host
        .runtime()
        .agent(entry(chief).subagent(tool()))
        .agent(worker(agent("watcher", &log, [text("Watching.")])))
        .build()
        .unwrap();
    let cx = context().build();
    runtime.respond("chief", "Hello.", &cx).await.unwrap();
    runtime.idle().await;
    assert_eq!(seen.lock().unwrap()[0], 1);
    assert_eq!(log.of("watcher")[0].texts(Role::User), ["Watch the shop."]);
    for _ in 0..2 {
        let restarted = once(&log, &Host::with(store.clone()), tool());
        restarted.respond("chief", "Again.", &cx).await.unwrap();
        restarted.idle().await;
        assert_eq!(only_child(&restarted, &cx).await.session, 1);
    }
    // If a process died between the start and the first request, the next process starts no second instance.
    let other = in_conversation("other");
    let first = once(&log, &Host::with(store.clone()), tool());
    host.turns().say("Hello.", &other).await.unwrap();
    for _ in 0..2 {
        let again = first.clone();
        again.drive("chief", &other).await.unwrap();
    }
    first.idle().await;
    assert_eq!(first.children(&other).await.unwrap().len(), 1);
}

// S4-34: a handoff starts the immediate sub-agents of the agent that takes over.
#[tokio::test]
async fn handoff_starts_the_immediate_sub_agents() {
    let (host, log) = (Host::new(), Log::default());
    let chief = agent("chief", &log, [calls([("transfer_to_clerk", json!({}))])]);
    let tool = Subagent::new("watcher")
        .blocking(false)
        .immediate(Immediate::once("Watch."));
    let runtime = host
        .runtime()
        .agent(entry(chief).handoff(tool_agent::runtime::Handoff::to("clerk")))
        .agent(entry(agent("clerk", &log, [text("Here.")])).subagent(tool))
        .agent(worker(agent("watcher", &log, [text("Watching.")])))
        .build()
        .unwrap();
    let cx = context().build();
    runtime.respond("chief", "Hello.", &cx).await.unwrap();
    runtime.idle().await;
    assert_eq!(runtime.children(&cx).await.unwrap().len(), 1);
}

async fn set(vault: &Vault, name: &str, kind: VariableType, value: &str) {
    let scope = VariableScope::thread(&ThreadId::new("acme", "main").unwrap());
    let value = NewValue::declared(name, kind, SecretString::from(value));
    vault
        .set_variables(&scope, vec![value], "ann")
        .await
        .unwrap();
}

// S4-35, S4-36, S4-37, S4-38, S4-39: each group of variables starts an instance with its own values, up to the limit, and the values are removed from the parent. A model reads only the two
// hints.
#[tokio::test]
#[expect(clippy::too_many_lines, reason = "one test of one flow")]
async fn groups_of_variables_start_instances() {
    for model_fails in [false, true] {
        let (host, log) = (Host::new(), Log::default());
        let vault = vault(&host).await;
        for (suffix, number) in [("", 1), ("__2", 2), ("__3", 3)] {
            set(
                &vault,
                &format!("TITLE{suffix}"),
                VariableType::Text,
                &format!("Shop {number}"),
            )
            .await;
            set(
                &vault,
                &format!("BRIEF{suffix}"),
                VariableType::Text,
                &format!("Brief {number}"),
            )
            .await;
            set(
                &vault,
                &format!("SHOP_KEY{suffix}"),
                VariableType::Secret,
                &format!("{SENTINEL}-{number}"),
            )
            .await;
        }
        // An incomplete group and a similar name stay unchanged.
        set(&vault, "TITLE__4", VariableType::Text, "Shop 4").await;
        set(&vault, "TITLE__x", VariableType::Text, "Shop x").await;
        let chief = thinking("chief", &log, move |request| {
            if request.tools != ["describe_instance"] {
                return Ok(text("Hello."));
            }
            if model_fails {
                return Err(ToolError::new("no network"));
            }
            let hint = request.last(Role::User);
            let number = hint.split("Shop ").nth(1).unwrap().chars().next().unwrap();
            let arguments =
                json!({"name": format!("Named {number}"), "message": format!("Open {number}.")});
            Ok(calls([("describe_instance", arguments)]))
        });
        let immediate = Immediate::per_instance()
            .name_env("TITLE")
            .description_env("BRIEF")
            .scoped_env(["SHOP_KEY"]);
        let tool = Subagent::new("shop")
            .blocking(false)
            .resumable(Resumable::new().most_instances(2))
            .immediate(immediate);
        let runtime = host
            .runtime()
            .vault(&vault)
            .agent(entry(chief).subagent(tool))
            .agent(shop(&log))
            .build()
            .unwrap();
        let cx = context().build();
        runtime.respond("chief", "Hello.", &cx).await.unwrap();
        runtime.idle().await;

        let rows = runtime.children(&cx).await.unwrap();
        let mut names: Vec<String> = rows.iter().map(|row| row.name.clone().unwrap()).collect();
        names.sort_unstable();
        let prefix = if model_fails { "Shop" } else { "Named" };
        assert_eq!(names, [format!("{prefix} 1"), format!("{prefix} 2")]);
        for row in &rows {
            let child = in_conversation(row.thread.conversation());
            // The child resolved the value of its own key.
            let used = results(&host, &child).await.remove(0);
            assert_eq!(used.text, "21 characters, [secret:SHOP_KEY]");
            let first = host.turns().messages(&child, None).await.unwrap().remove(0);
            let number = row.name.as_ref().unwrap().chars().last().unwrap();
            let expected = if model_fails {
                format!("Brief {number}")
            } else {
                format!("Open {number}.")
            };
            assert_eq!(
                serde_json::from_str::<Value>(&first.content).unwrap(),
                expected
            );
        }
        // The values of the two groups are removed from the parent, and the third group waits for a free instance.
        let filter = VariableFilter {
            owner: Some("main".to_owned()),
            ..Default::default()
        };
        let acme = Workspace::new("acme");
        let left = vault.list_variables(&acme, &filter).await.unwrap();
        let left: Vec<&str> = left.iter().map(|info| &*info.name).collect();
        assert_eq!(
            left,
            [
                "BRIEF__3",
                "SHOP_KEY__3",
                "TITLE__3",
                "TITLE__4",
                "TITLE__x"
            ]
        );
        // The request for a description contains the two hints of its group.
        let described = log.of("chief");
        let described: Vec<_> = described
            .iter()
            .filter(|request| request.tools == ["describe_instance"])
            .collect();
        assert_eq!(described.len(), 2);
        assert!(
            described[0]
                .last(Role::User)
                .contains("name hint: Shop 1\ndescription hint: Brief 1")
        );
        assert_eq!(described[0].messages.len(), 1);
        // No request and no message contains a scoped value.
        for request in log.all() {
            assert!(!format!("{request:?}").contains(SENTINEL));
        }
        for thread in rows
            .iter()
            .map(|row| in_conversation(row.thread.conversation()))
            .chain([cx])
        {
            let messages = host.turns().messages(&thread, None).await.unwrap();
            assert!(!format!("{messages:?}").contains(SENTINEL));
        }
    }
}
