//! Tests of sub-agents that wait for an answer over the admin API.

use std::sync::Arc;

use serde_json::{Value, json};
use server_tests::{Site, SiteStore, StoreKind, tokens};
use tokio::sync::mpsc;
use tool_agent::agent::Agent;
use tool_agent::model::{Script, ScriptedModel};
use tool_agent::runtime::{AgentEntry, AgentResult, AgentRuntime, Resumable, Subagent};
use tool_core::prelude::*;
use tool_core::store::{ChildState, Role, RunStore, ThreadStore, VariableRequest};
use tool_core::turn::{ToolMessage, Turns};
use tool_core::{ExposeSecret as _, Gate, VariableKind, VariableNeed};

const OPERATOR: &str = "operator-of-acme";
const VIEWER: &str = "viewer-of-acme";
const SECRET: &str = "sk-4711-abcdef";

/// Uses the key of the shop.
#[tool(read_only)]
fn use_key(#[variable("SHOP_KEY", secret)] key: SecretString) -> usize {
    key.expose_secret().len()
}

fn runtime(site: &Site) -> AgentRuntime {
    let store: Arc<dyn SiteStore> = Arc::clone(&site.store);
    let threads: Arc<dyn ThreadStore> = store.clone();
    let runs: Arc<dyn RunStore> = store.clone();
    let arguments =
        json!({"agent": "shop", "name": "Shop 7", "message": "Open it.", "attachments": []});
    let chief = ScriptedModel::new([
        Script::calls([ToolCall::new(
            "c-1",
            "subagent_create",
            arguments.to_string(),
        )]),
        Script::text("I wait for the key."),
    ]);
    let shop = ScriptedModel::new([
        Script::calls([ToolCall::new("c-1", "use_key", "{}")]),
        Script::text("It is open."),
    ]);
    let key = VariableNeed {
        kind: VariableKind::Secret,
        scoped: true,
        description: Some("The key of the shop.".into()),
        ..VariableNeed::new("SHOP_KEY")
    };
    let shop = Agent::builder("shop", shop).tools(|_| toolset![use_key]);
    let shop = AgentEntry::new(shop.build().unwrap());
    let tool = Subagent::new("shop")
        .blocking(false)
        .resumable(Resumable::new());
    AgentRuntime::builder(Turns::shared(threads, runs), &Gate::builder().build())
        .children_shared(store)
        .vault(&site.vault)
        .agent(AgentEntry::new(Agent::builder("chief", chief).build().unwrap()).subagent(tool))
        .agent(shop.autonomous().expose("Opens a shop.").variable(key))
        .build()
        .unwrap()
}

// S4-55, S4-56, S4-57: the endpoint in the result returns the request without values. After the answer, the host starts the sub-agent with its first
// message and name. A second answer gets the status 404.
pub(crate) async fn answered_request_starts_its_sub_agent_case(kind: StoreKind) {
    let (sender, mut supplied) = mpsc::unbounded_channel::<VariableRequest>();
    let site = Site::with(kind, |server| {
        let server = server.authenticator(tokens(&["acme", "globex"]));
        server.on_variables_supplied(move |request| {
            let _ = sender.send(request.clone());
        })
    })
    .await;
    let runtime = runtime(&site);
    let cx = ToolContext::builder()
        .workspace("acme")
        .conversation("main")
        .user("ann")
        .build();
    runtime
        .respond("chief", "Open the shop.", &cx)
        .await
        .unwrap();
    let row = runtime.children(&cx).await.unwrap().remove(0);
    assert_eq!(row.state, ChildState::Deferred);
    let main = cx.thread().unwrap();
    let messages = ThreadStore::read(&*site.store, &main, None).await.unwrap();
    let result = messages
        .iter()
        .find(|message| message.role == Role::Tool)
        .unwrap();
    let result: ToolMessage = serde_json::from_str(&result.content).unwrap();
    let result: AgentResult = serde_json::from_str(result.output.unwrap().get()).unwrap();
    let data = result.error_data.unwrap();
    let endpoint = data["endpoint"].as_str().unwrap().to_owned();

    let read = site.get(&endpoint, VIEWER).await;
    assert_eq!(
        (&read["agent"], &read["missing"]),
        (&json!("shop"), &json!(["SHOP_KEY"]))
    );
    let empty = json!({"env": {"SHOP_KEY": ""}});
    let open = site.ask("post", &endpoint, OPERATOR, &empty).await;
    assert_eq!(open.status, 400, "{}", open.text);
    assert!(supplied.try_recv().is_err());
    assert!(
        runtime
            .start_deferred("chief", &cx)
            .await
            .unwrap()
            .is_empty()
    );

    let values = json!({"env": {"SHOP_KEY": SECRET}});
    let done = site.ask("post", &endpoint, OPERATOR, &values).await;
    assert_eq!(done.status, 200, "{}", done.text);
    // The host starts the sub-agent of the thread that the callback received.
    let request = supplied.try_recv().unwrap();
    assert_eq!((request.agent.as_str(), &request.thread), ("shop", &main));
    let started = runtime.start_deferred("chief", &cx).await.unwrap();
    assert_eq!(started.len(), 1);
    runtime.idle().await;
    let row = runtime.children(&cx).await.unwrap().remove(0);
    assert_eq!(
        (row.state, row.tag().as_deref()),
        (ChildState::Idle, Some("name:Shop 7"))
    );
    let child = ThreadStore::read(&*site.store, &row.thread, None)
        .await
        .unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(&child[0].content).unwrap(),
        "Open it."
    );
    assert!(format!("{child:?}").contains("14"), "{child:?}");
    assert!(!format!("{child:?}{messages:?}").contains(SECRET));
    let again = site.ask("post", &endpoint, OPERATOR, &values).await;
    assert_eq!(again.status, 404, "{}", again.text);
}
