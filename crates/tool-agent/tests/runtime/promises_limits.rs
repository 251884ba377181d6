//! Variables of sub-agents, immediate starts, the arguments of `subagent_create`, and the limit on runs that begin because of reports.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use futures::future::{BoxFuture, join};
use serde::Deserialize;
use serde_json::{Value, json};
use tool_agent::agent::Agent;
use tool_agent::runtime::{
    Handoff, Immediate, PromptTool, Resumable, Session, SpawnGate, Subagent,
};
use tool_core::prelude::*;
use tool_core::store::seal::{NewValue, SealKey, SealKeys, Vault};
use tool_core::store::{
    ChildState, Role, ThreadId, VariableFilter, VariableScope, VariableType, Workspace,
};
use tool_core::turn::{Model, ModelMessage, ModelRequest, Outcome};
use tool_core::{Effect, ExposeSecret as _, VariableKind, VariableNeed};

use crate::promises::{Held, Hold, approve, commander, payment, stored, tool};
use crate::support::{
    Host, Log, agent, calls, context, entry, in_conversation, only_child, results, text, thinking,
    worker,
};

const SENTINEL: &str = "sentinel-77";

const REGION: &str = "region-sentinel-88";

async fn vault(host: &Host) -> Vault {
    let keys = SealKeys::new("k1", SealKey::new(&[1; 32])).unwrap();
    Vault::open(host.store.clone(), keys).await.unwrap()
}

fn scoped(name: &'static str) -> VariableNeed {
    VariableNeed {
        kind: VariableKind::Secret,
        scoped: true,
        ..VariableNeed::new(name)
    }
}

fn main_thread() -> ThreadId {
    ThreadId::new("acme", "main").unwrap()
}

/// Stores a variable of the conversation.
async fn set(vault: &Vault, name: &str, kind: VariableType, value: &str) {
    let value = NewValue::declared(name, kind, SecretString::from(value));
    let scope = VariableScope::thread(&main_thread());
    let set = vault.set_variables(&scope, vec![value], "ann").await;
    set.unwrap();
}

/// Supplies one variable of a request. Returns the variables that are still missing.
async fn supply(vault: &Vault, request: &str, name: &str) -> Vec<String> {
    let values = vec![(name.to_owned(), SecretString::from(SENTINEL))];
    let thread = main_thread();
    let missing = vault.answer_variables(&thread, request, values, "ann");
    missing.await.unwrap()
}

/// Uses the key.
#[tool(read_only)]
fn key(#[variable("KEY", secret)] key: SecretString) -> String {
    let key = key.expose_secret();
    format!("{} characters, {key}", key.len())
}

/// Uses the region.
#[tool(read_only)]
fn region(#[variable("REGION")] region: String) -> String {
    format!("{} characters, {region}", region.len())
}

/// Returns the sub-agent `shop`, which starts one instance for each group of these variables of the conversation.
fn instance<const N: usize>(names: [&str; N]) -> Subagent {
    Subagent::new("shop")
        .blocking(false)
        .resumable(Resumable::new())
        .immediate(Immediate::per_instance().scoped_env(names))
}

/// Returns an agent that calls the two tools.
fn user_of_values(name: &str, log: &Log) -> tool_agent::agent::AgentBuilder {
    let both = calls([("key", json!({})), ("region", json!({}))]);
    agent(name, log, [both, text("Done.")]).tools(|_| toolset![key, region])
}

/// Returns whether a text contains one of the values.
fn shows_a_value(text: &str) -> bool {
    [SENTINEL, REGION].iter().any(|value| text.contains(value))
}

fn no_request_has_a_value(log: &Log) {
    for request in log.all() {
        assert!(!shows_a_value(&format!("{request:?}")), "{request:?}");
    }
}

// The tools of an instance can use a text that was moved to it as a scoped value. No request and no message contains the text.
#[tokio::test]
async fn scoped_text_of_an_instance_is_hidden() {
    let (host, log) = (Host::new(), Log::default());
    let vault = vault(&host).await;
    set(&vault, "KEY", VariableType::Secret, SENTINEL).await;
    set(&vault, "REGION", VariableType::Text, REGION).await;
    let runtime = host
        .runtime()
        .vault(&vault)
        .agent(entry(commander(&log, "shop")).subagent(instance(["KEY", "REGION"])))
        .agent(worker(user_of_values("shop", &log)))
        .build()
        .unwrap();
    let cx = context().build();
    runtime.respond("chief", "Hello.", &cx).await.unwrap();
    runtime.idle().await;
    let row = only_child(&runtime, &cx).await;
    let child = in_conversation(row.thread.conversation());
    let used = results(&host, &child).await;
    assert_eq!(used[0].text, "11 characters, [secret:KEY]");
    assert_eq!(used[1].text, "18 characters, [secret:REGION]");
    no_request_has_a_value(&log);
    assert!(!shows_a_value(&stored(&host, &child).await));
}

// If a child of an instance declares the variables as unscoped, it inherits the scoped values as secrets. If it declares one as scoped, it waits for its own
// value.
#[tokio::test]
async fn scoped_values_of_an_instance_are_inherited_by_its_child() {
    for declares_scoped in [false, true] {
        let (host, log) = (Host::new(), Log::default());
        let vault = vault(&host).await;
        set(&vault, "KEY", VariableType::Secret, SENTINEL).await;
        set(&vault, "REGION", VariableType::Text, REGION).await;
        let shop = agent(
            "shop",
            &log,
            [calls([("leaf", json!({"message": "Go."}))]), text("Done.")],
        );
        let leaf = worker(user_of_values("leaf", &log));
        let leaf = if declares_scoped {
            leaf.variable(scoped("KEY"))
        } else {
            leaf
        };
        let runtime = host
            .runtime()
            .vault(&vault)
            .agent(entry(commander(&log, "shop")).subagent(instance(["KEY", "REGION"])))
            .agent(
                worker(shop)
                    .subagent(Subagent::new("leaf"))
                    .spawn(SpawnGate::default().most_depth(2)),
            )
            .agent(leaf)
            .build()
            .unwrap();
        let cx = context().build();
        runtime.respond("chief", "Hello.", &cx).await.unwrap();
        runtime.idle().await;
        let shop = only_child(&runtime, &cx).await;
        let shop = in_conversation(shop.thread.conversation());
        let leaf = only_child(&runtime, &shop).await;
        if declares_scoped {
            assert_eq!(leaf.state, ChildState::Deferred);
            assert!(log.of("leaf").is_empty());
            continue;
        }
        let leaf = in_conversation(leaf.thread.conversation());
        let used = results(&host, &leaf).await;
        assert_eq!(used[0].text, "11 characters, [secret:KEY]");
        assert_eq!(used[1].text, "18 characters, [secret:REGION]");
        no_request_has_a_value(&log);
        for thread in [&cx, &shop, &leaf] {
            assert!(!shows_a_value(&stored(&host, thread).await));
        }
    }
}

// Other sub-agents do not inherit a variable of the conversation that belongs to instances.
#[tokio::test]
async fn variable_of_instances_is_not_inherited_by_other_sub_agents() {
    let (host, log) = (Host::new(), Log::default());
    let vault = vault(&host).await;
    let other = agent("other", &log, [calls([("key", json!({}))]), text("Done.")]);
    let runtime = host
        .runtime()
        .vault(&vault)
        .agent(
            entry(commander(&log, "other"))
                .subagent(Subagent::new("other"))
                .subagent(instance(["KEY"])),
        )
        .agent(worker(agent("shop", &log, [text("Open.")])))
        .agent(worker(other.tools(|_| toolset![key])))
        .build()
        .unwrap();
    // The host has resolved the variables of the conversation, as it does for each turn.
    let cx = context().secret_variable("KEY", SENTINEL).build();
    runtime.respond("chief", "call Go.", &cx).await.unwrap();
    runtime.idle().await;
    assert!(!log.of("other").is_empty());
    let rows = runtime.children(&cx).await.unwrap();
    let row = rows.iter().find(|row| row.agent == "other").unwrap();
    let child = stored(&host, &in_conversation(row.thread.conversation())).await;
    assert!(!child.contains("11 characters"), "{child}");
}

// If the call of a sub-agent returned a request for variables, the sub-agent runs in the background after the answer. Its approved call and its outcome are not
// lost.
#[tokio::test]
async fn deferred_sub_agent_continues_after_an_approval() {
    let (host, log) = (Host::new(), Log::default());
    let vault = vault(&host).await;
    let payer = agent("worker", &log, [calls([("pay", json!({}))]), text("Paid.")]);
    let runtime = host
        .runtime()
        .vault(&vault)
        .agent(entry(commander(&log, "worker")).subagent(Subagent::new("worker")))
        .agent(worker(payer.tools(|_| payment())).variable(scoped("KEY")))
        .build()
        .unwrap();
    let cx = context().build();
    runtime.respond("chief", "call Go.", &cx).await.unwrap();
    let row = only_child(&runtime, &cx).await;
    assert_eq!(row.state, ChildState::Deferred);
    supply(&vault, row.request.as_deref().unwrap(), "KEY").await;
    runtime.start_deferred("chief", &cx).await.unwrap();
    runtime.idle().await;
    let waiting = only_child(&runtime, &cx).await;
    assert_eq!(waiting.state, ChildState::AwaitingHuman);
    assert_eq!(approve(&host, &row.thread).await, 1);
    runtime.drive("chief", &cx).await.unwrap();
    runtime.idle().await;
    let row = only_child(&runtime, &cx).await;
    assert_eq!((row.state, row.delivered), (ChildState::Terminated, 1));
    let messages = stored(&host, &cx).await;
    assert_eq!(messages.matches("subagent_result").count(), 1);
}

// A sub-agent that is terminated before it starts has no open request for variables.
#[tokio::test]
async fn request_of_a_terminated_sub_agent_is_withdrawn() {
    let (host, log) = (Host::new(), Log::default());
    let vault = vault(&host).await;
    let runtime = host
        .runtime()
        .vault(&vault)
        .agent(entry(commander(&log, "worker")).subagent(Subagent::new("worker")))
        .agent(worker(agent("worker", &log, [text("Done.")])).variable(scoped("KEY")))
        .build()
        .unwrap();
    let cx = context().build();
    runtime.respond("chief", "call Go.", &cx).await.unwrap();
    let row = only_child(&runtime, &cx).await;
    let id = row.request.as_deref().unwrap();
    let open = vault.store().request(row.workspace(), id).await.unwrap();
    assert!(open.is_some());
    let reference = row.thread.conversation();
    runtime.terminate(reference, &cx).await.unwrap();
    let open = vault.store().request(row.workspace(), id).await.unwrap();
    assert!(open.is_none(), "{open:?}");
}

// If a conversation is cancelled, a sub-agent that waits for variables is terminated, and its request is withdrawn.
#[tokio::test]
async fn request_of_a_cancelled_conversation_is_withdrawn() {
    let (host, log) = (Host::new(), Log::default());
    let vault = vault(&host).await;
    let runtime = host
        .runtime()
        .vault(&vault)
        .agent(entry(commander(&log, "worker")).subagent(Subagent::new("worker")))
        .agent(worker(agent("worker", &log, [text("Done.")])).variable(scoped("KEY")))
        .build()
        .unwrap();
    let cx = context().build();
    runtime.respond("chief", "call Go.", &cx).await.unwrap();
    let row = only_child(&runtime, &cx).await;
    assert_eq!(row.state, ChildState::Deferred);
    let id = row.request.as_deref().unwrap();
    runtime.cancel("chief", &cx).await.unwrap();
    let state = only_child(&runtime, &cx).await.state;
    assert_eq!(state, ChildState::Terminated);
    let open = vault.store().request(row.workspace(), id).await.unwrap();
    assert!(open.is_none(), "{open:?}");
}

// S4-57: an answer that lacks a value leaves the request open and starts nothing.
#[tokio::test]
async fn partial_answer_starts_nothing() {
    let (host, log) = (Host::new(), Log::default());
    let vault = vault(&host).await;
    let shop = worker(agent("worker", &log, [text("Open.")]));
    let runtime = host
        .runtime()
        .vault(&vault)
        .agent(entry(commander(&log, "worker")).subagent(Subagent::new("worker")))
        .agent(shop.variable(scoped("KEY")).variable(scoped("TOKEN")))
        .build()
        .unwrap();
    let cx = context().build();
    runtime.respond("chief", "call Go.", &cx).await.unwrap();
    let row = only_child(&runtime, &cx).await;
    let id = row.request.clone().unwrap();
    assert_eq!(supply(&vault, &id, "KEY").await, ["TOKEN"]);
    let started = runtime.start_deferred("chief", &cx).await.unwrap();
    assert!(started.is_empty());
    runtime.respond("chief", "Hello.", &cx).await.unwrap();
    runtime.idle().await;
    let row = only_child(&runtime, &cx).await;
    assert_eq!(row.state, ChildState::Deferred);
    assert!(log.of("worker").is_empty());
    let open = vault.store().request(row.workspace(), &id).await.unwrap();
    assert_eq!(open.unwrap().missing, ["TOKEN"]);

    assert!(supply(&vault, &id, "TOKEN").await.is_empty());
    runtime.start_deferred("chief", &cx).await.unwrap();
    runtime.idle().await;
    assert_eq!(log.of("worker").len(), 1);
}

/// Returns a chief and a clerk that pass the conversation to each other when the user writes `transfer`.
fn passing(log: &Log, name: &str, other: &str) -> tool_agent::agent::AgentBuilder {
    let transfer = format!("transfer_to_{other}");
    thinking(name, log, move |request| {
        if request.tools == ["describe_instance"] {
            return Err(ToolError::new("no network"));
        }
        let is_asked = request.last(Role::User) == "transfer" && request.step() == 0;
        Ok(if is_asked {
            calls([(transfer.as_str(), json!({}))])
        } else {
            text("Hello.")
        })
    })
}

// S4-34: while an instance is live, a handoff back to its agent starts no second one. After the instance has ended, the next handoff starts one.
#[tokio::test]
async fn handoff_back_starts_no_second_instance() {
    let (host, log) = (Host::new(), Log::default());
    let tool = Subagent::new("watcher")
        .blocking(false)
        .resumable(Resumable::new())
        .immediate(Immediate::once("Watch."));
    let runtime = host
        .runtime()
        .agent(
            entry(passing(&log, "chief", "clerk"))
                .handoff(Handoff::to("clerk"))
                .subagent(tool),
        )
        .agent(entry(passing(&log, "clerk", "chief")).handoff(Handoff::to("chief")))
        .agent(worker(agent("watcher", &log, [text("Watching.")])))
        .build()
        .unwrap();
    let cx = context().build();
    let ask = async |message: &str| {
        runtime.respond("chief", message, &cx).await.unwrap();
        runtime.idle().await;
    };
    ask("Hello.").await;
    let row = only_child(&runtime, &cx).await;
    assert_eq!(row.state, ChildState::Idle);
    ask("transfer").await;
    ask("transfer").await;
    let active = runtime.active_agent("chief", &cx).await.unwrap();
    assert_eq!(active, "chief");
    assert_eq!(only_child(&runtime, &cx).await.session, 1);

    let reference = row.thread.conversation();
    runtime.terminate(reference, &cx).await.unwrap();
    ask("transfer").await;
    ask("transfer").await;
    assert_eq!(runtime.children(&cx).await.unwrap().len(), 2);
}

// S4-35: with one live instance and a limit of three, two of three groups start, in the order of their numbers.
#[tokio::test]
async fn groups_start_in_numerical_order_up_to_the_limit() {
    let (host, log) = (Host::new(), Log::default());
    let vault = vault(&host).await;
    let tool = Subagent::new("shop")
        .blocking(false)
        .resumable(Resumable::new().most_instances(3))
        .immediate(Immediate::per_instance().name_env("TITLE"));
    let runtime = host
        .runtime()
        .vault(&vault)
        .agent(
            entry(passing(&log, "chief", "clerk"))
                .handoff(Handoff::to("clerk"))
                .subagent(tool),
        )
        .agent(entry(passing(&log, "clerk", "chief")).handoff(Handoff::to("chief")))
        .agent(worker(agent("shop", &log, [text("Open.")])))
        .build()
        .unwrap();
    let cx = context().build();
    let ask = async |message: &str| {
        runtime.respond("chief", message, &cx).await.unwrap();
        runtime.idle().await;
    };
    set(&vault, "TITLE", VariableType::Text, "Shop 1").await;
    ask("Hello.").await;
    assert_eq!(only_child(&runtime, &cx).await.state, ChildState::Idle);
    for number in [11, 10, 2] {
        let (name, title) = (format!("TITLE__{number}"), format!("Shop {number}"));
        set(&vault, &name, VariableType::Text, &title).await;
    }
    // The groups of an agent start when the conversation is passed to it.
    ask("transfer").await;
    ask("transfer").await;

    let described = log.of("chief").into_iter();
    let described = described.filter(|request| request.tools == ["describe_instance"]);
    let titles: Vec<String> = described
        .map(|request| {
            let hint = request.last(Role::User);
            let hint = hint.split("name hint: ").nth(1).unwrap();
            hint.lines().next().unwrap().to_owned()
        })
        .collect();
    assert_eq!(titles, ["Shop 1", "Shop 2", "Shop 10"]);
    let rows = runtime.children(&cx).await.unwrap();
    let mut names: Vec<String> = rows.into_iter().filter_map(|row| row.name).collect();
    names.sort_unstable();
    assert_eq!(names, ["Shop 1", "Shop 10", "Shop 2"]);
    let filter = VariableFilter {
        owner: Some("main".to_owned()),
        ..VariableFilter::default()
    };
    let acme = Workspace::new("acme");
    let left = vault.list_variables(&acme, &filter).await.unwrap();
    let left: Vec<&str> = left.iter().map(|info| &*info.name).collect();
    assert_eq!(left, ["TITLE__11"]);
}

/// The arguments of the worker.
#[derive(Deserialize, StrictSchema)]
#[expect(dead_code, reason = "only the schema is used")]
struct Plan {
    /// The depth.
    depth: i32,
}

/// Returns a chief that calls `subagent_create` with the arguments that the user writes.
pub(crate) fn creator(log: &Log) -> tool_agent::agent::AgentBuilder {
    thinking("chief", log, |request| {
        let last = request.last(Role::User);
        Ok(if request.step() == 0 {
            calls([("subagent_create", serde_json::from_str(&last).unwrap())])
        } else {
            text("Done.")
        })
    })
}

// S4-51: for agents with different schemas, `arguments` is a text that is checked against the schema of the agent, and an agent without arguments accepts only null.
#[tokio::test]
async fn arguments_of_agents_with_different_schemas_are_a_text() {
    let (host, log) = (Host::new(), Log::default());
    let tool = |name: &str| Subagent::new(name).resumable(Resumable::new());
    let runtime = host
        .runtime()
        .agent(
            entry(creator(&log))
                .subagent(tool("worker"))
                .subagent(tool("writer")),
        )
        .agent(worker(agent("worker", &log, [text("Done.")])).arguments::<Plan>())
        .agent(worker(agent("writer", &log, [text("Written.")])))
        .build()
        .unwrap();
    let cx = context().build();
    let create = async |agent: &str, arguments: Value| {
        let call = json!({
            "agent": agent, "name": "one", "message": "Begin.", "attachments": [], "arguments": arguments,
        });
        let call = call.to_string();
        runtime.respond("chief", call, &cx).await.unwrap();
        results(&host, &cx).await.pop().unwrap()
    };
    let taken = create("worker", json!(r#"{"depth":2}"#)).await;
    assert!(!taken.is_error(), "{}", taken.text);
    assert_eq!(
        log.of("worker")[0].last(Role::User),
        "Begin.\narguments: {\"depth\":2}"
    );
    let taken = create("writer", Value::Null).await;
    assert!(!taken.is_error(), "{}", taken.text);
    assert_eq!(log.of("writer")[0].last(Role::User), "Begin.");

    for (agent, arguments, part) in [
        ("worker", json!(r#"{"depth":"two"}"#), "/depth"),
        ("worker", json!("two"), "arguments"),
        ("worker", Value::Null, "arguments"),
        ("worker", json!({"depth": 2}), "/arguments"),
        ("writer", json!(r#"{"depth":2}"#), "takes no `arguments`"),
    ] {
        let refused = create(agent, arguments).await;
        assert!(
            refused.is_error() && refused.text.contains(part),
            "{}",
            refused.text
        );
    }
    assert_eq!(runtime.children(&cx).await.unwrap().len(), 2);
    let definitions: Value = serde_json::from_str(&log.of("chief")[0].definitions).unwrap();
    let mut definitions = definitions.as_array().unwrap().iter();
    let create = definitions.find(|tool| tool["name"] == "subagent_create");
    let create = create.unwrap().to_string();
    assert!(create.contains("the text of a JSON object"), "{create}");
    assert!(!create.contains("\"depth\""), "{create}");
}

// After one message of the user, the runtime begins at most 25 runs for answers of background agents, so an agent that starts another one for each answer stops.
#[tokio::test]
async fn runs_for_reports_are_limited() {
    let (host, log) = (Host::new(), Log::default());
    let chief = agent(
        "chief",
        &log,
        [
            calls([("worker", json!({"message": "Go."}))]),
            text("Done."),
        ],
    );
    let runtime = host
        .runtime()
        .agent(entry(chief).subagent(Subagent::new("worker").blocking(false)))
        .agent(worker(agent("worker", &log, [text("Answer.")])))
        .build()
        .unwrap();
    let cx = context().build();
    let ask = async |message: &str| {
        runtime.respond("chief", message, &cx).await.unwrap();
        let idle = tokio::time::timeout(Duration::from_secs(15), runtime.idle());
        assert!(idle.await.is_ok(), "{} requests", log.all().len());
    };
    ask("Go.").await;
    // The message of the user and each of the 25 answers began a run with two requests.
    assert_eq!(log.of("chief").len(), 2 * 26);
    assert_eq!(log.of("worker").len(), 26);
    // All answers are stored, and the next message of the user begins 25 runs again.
    let messages = stored(&host, &cx).await;
    assert_eq!(messages.matches("subagent_result").count(), 26);
    // A message that resembles an answer is a message of the user.
    ask(r#"{"type":"ticket","text":"Go."}"#).await;
    assert_eq!(log.of("worker").len(), 2 * 26);
}

// After one message of its parent, at most 25 sessions of a sub-agent begin for answers of its own sub-agents. The replies of a partner are not messages of
// the parent: with a partner, the limit applies after one message of the user. Slow answers arrive when the session has ended, and the others before.
#[tokio::test]
async fn sessions_for_reports_are_limited() {
    for (has_partner, is_slow) in [(false, false), (false, true), (true, false), (true, true)] {
        let (host, log) = (Host::new(), Log::default());
        let resumable = Subagent::new("middle").resumable(Resumable::new());
        let middle = thinking("middle", &log, |request| {
            let last = request.messages.last().unwrap();
            Ok(if last.role == Role::User {
                calls([("worker", json!({"message": "Go."}))])
            } else {
                text("Done.")
            })
        });
        let mut middle = worker(middle)
            .subagent(Subagent::new("worker").blocking(false))
            .spawn(SpawnGate::default().most_depth(2));
        if has_partner {
            let partner = agent("partner", &log, [text("More.")]).build().unwrap();
            middle = middle.session(Session::new().partner(partner).most_turns(2));
        }
        let answering = if is_slow {
            let pause = tool("pause", Effect::READ, || async {
                tokio::time::sleep(Duration::from_millis(10)).await;
                String::new()
            });
            let pausing = [calls([("pause", json!({}))]), text("Answer.")];
            agent("worker", &log, pausing).tools(move |_| pause.clone())
        } else {
            agent("worker", &log, [text("Answer.")])
        };
        let runtime = host
            .runtime()
            .agent(entry(commander(&log, "middle")).subagent(resumable))
            .agent(middle)
            .agent(worker(answering))
            .build()
            .unwrap();
        let cx = context().build();
        let reports = async |message: &str| {
            let idle = async {
                runtime.respond("chief", message, &cx).await.unwrap();
                runtime.idle().await;
            };
            let idle = tokio::time::timeout(Duration::from_secs(15), idle);
            assert!(idle.await.is_ok(), "{} requests", log.all().len());
            let row = only_child(&runtime, &cx).await;
            assert_eq!(row.state, ChildState::Idle);
            let child = in_conversation(row.thread.conversation());
            let messages = stored(&host, &child).await;
            messages.matches("subagent_result").count()
        };
        let first = reports("create Go.").await;
        // With a partner, a session may start two workers, whose answers may arrive together.
        let expected = if has_partner { 26..80 } else { 26..27 };
        assert!(
            expected.contains(&first),
            "{has_partner} {is_slow}: {first}"
        );
        let second = reports("send Go.").await;
        assert!(second >= first + 25, "{has_partner} {is_slow}: {second}");
    }
}

/// A model that starts 30 workers with its first request, and blocks in each later request until the test releases it.
#[derive(Clone)]
struct FanOut {
    hold: Arc<Hold>,
    has_begun: Arc<AtomicBool>,
    /// The number of messages of users and sub-agents in the last request.
    read: Arc<AtomicUsize>,
}

impl Model for FanOut {
    fn next<'a>(
        &'a mut self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        let users = request.messages.iter();
        let users = users.filter(|message| message.role == Role::User).count();
        self.read.store(users, Ordering::SeqCst);
        Box::pin(async move {
            if self.has_begun.swap(true, Ordering::SeqCst) {
                return Ok(text(&format!("held {}", self.hold.wait().await)));
            }
            let go = |_| ("worker", json!({"message": "Go."}));
            Ok(calls::<30>(std::array::from_fn(go)))
        })
    }
}

// The limit on sessions counts answers that the model has read: 29 answers that arrive during the last request of a session are read by one more
// request.
#[tokio::test]
async fn answers_that_arrive_together_are_all_read() {
    let (host, log) = (Host::new(), Log::default());
    let (hold, workers) = (Hold::new(), Hold::new());
    let fan_out = FanOut {
        hold: hold.clone(),
        has_begun: Arc::default(),
        read: Arc::default(),
    };
    let middle = worker(Agent::builder("middle", fan_out.clone()))
        .subagent(Subagent::new("worker").blocking(false))
        .spawn(SpawnGate::default().most_depth(2));
    let resumable = Subagent::new("middle").resumable(Resumable::new());
    let runtime = host
        .runtime()
        .agent(entry(commander(&log, "middle")).subagent(resumable))
        .agent(middle)
        .agent(worker(Agent::builder("worker", Held(workers.clone()))))
        .build()
        .unwrap();
    let cx = context().build();
    let all = async {
        let started = async {
            hold.begun(1).await;
            workers.begun(30).await;
            hold.release(1);
        };
        let (outcome, ()) = join(runtime.respond("chief", "create Go.", &cx), started).await;
        outcome.unwrap();
        workers.release(1);
        hold.begun(2).await;
        workers.release(29);
        let child = only_child(&runtime, &cx).await;
        let child = in_conversation(child.thread.conversation());
        while stored(&host, &child)
            .await
            .matches("subagent_result")
            .count()
            < 30
        {
            tokio::task::yield_now().await;
        }
        hold.release(1);
        hold.begun(3).await;
        hold.release(1);
        runtime.idle().await;
    };
    let all = tokio::time::timeout(Duration::from_secs(15), all);
    assert!(all.await.is_ok(), "the answers were not read");
    assert_eq!(fan_out.read.load(Ordering::SeqCst), 31);
    assert_eq!(only_child(&runtime, &cx).await.state, ChildState::Idle);
}

// A hint that is a secret is sent to no model and stays a secret of the instance.
#[tokio::test]
async fn secret_hint_is_not_sent_to_a_model() {
    let (host, log) = (Host::new(), Log::default());
    let vault = vault(&host).await;
    set(&vault, "TITLE", VariableType::Secret, SENTINEL).await;
    set(&vault, "BRIEF", VariableType::Text, "Open the shop.").await;
    let immediate = Immediate::per_instance()
        .name_env("TITLE")
        .description_env("BRIEF");
    let tool = Subagent::new("shop")
        .blocking(false)
        .resumable(Resumable::new())
        .immediate(immediate);
    let runtime = host
        .runtime()
        .vault(&vault)
        .agent(entry(passing(&log, "chief", "nobody")).subagent(tool))
        .agent(worker(agent("shop", &log, [text("Open.")])))
        .build()
        .unwrap();
    let cx = context().build();
    runtime.respond("chief", "Hello.", &cx).await.unwrap();
    runtime.idle().await;
    let described = log.of("chief").into_iter();
    let described = described.filter(|request| request.tools == ["describe_instance"]);
    assert_eq!(described.count(), 1);
    no_request_has_a_value(&log);
    let row = only_child(&runtime, &cx).await;
    assert_eq!(row.name.as_deref(), Some("shop"));
    let filter = VariableFilter {
        owner: Some(row.thread.conversation().to_owned()),
        ..VariableFilter::default()
    };
    let moved = vault.list_variables(row.workspace(), &filter).await;
    let moved = moved.unwrap().into_iter();
    let moved: Vec<_> = moved.map(|info| (info.name, info.kind)).collect();
    assert_eq!(
        moved,
        [
            ("BRIEF".to_owned(), VariableType::Text),
            ("TITLE".to_owned(), VariableType::Secret)
        ]
    );
}

// If a prompt starts a sub-agent with scoped variables, the request for them belongs to the thread of the user.
#[tokio::test]
async fn request_of_a_prompt_belongs_to_the_thread_of_the_user() {
    let (host, log) = (Host::new(), Log::default());
    let vault = vault(&host).await;
    let helper = agent(
        "helper",
        &log,
        [
            calls([("worker", json!({"message": "Go."}))]),
            text("Done."),
        ],
    );
    let runtime = host
        .runtime()
        .vault(&vault)
        .agent(entry(commander(&log, "helper")).prompt(PromptTool::new("helper")))
        .agent(
            entry(helper)
                .expose("Helps.")
                .subagent(Subagent::new("worker")),
        )
        .agent(worker(agent("worker", &log, [text("Done.")])).variable(scoped("KEY")))
        .build()
        .unwrap();
    let cx = context().build();
    runtime.respond("chief", "call Go.", &cx).await.unwrap();
    let row = only_child(&runtime, &cx).await;
    let helper = in_conversation(row.thread.conversation());
    let row = only_child(&runtime, &helper).await;
    let id = row.request.clone().unwrap();
    let waiting = results(&host, &helper).await.remove(0);
    let endpoint = format!("/v1/threads/main/variables/{id}");
    assert!(waiting.text.contains(&endpoint), "{}", waiting.text);
    // The user of the conversation answers the request.
    assert!(supply(&vault, &id, "KEY").await.is_empty());
    let started = runtime.start_deferred("chief", &cx).await.unwrap();
    assert_eq!(started.len(), 1);
    runtime.idle().await;
    assert_eq!(log.of("worker").len(), 1);
}

// A creation that the limit on instances refuses leaves no request for variables.
#[tokio::test]
async fn refused_creation_leaves_no_request() {
    let (host, log) = (Host::new(), Log::default());
    let vault = vault(&host).await;
    let tool = Subagent::new("worker")
        .blocking(false)
        .resumable(Resumable::new().most_instances(1));
    let runtime = host
        .runtime()
        .vault(&vault)
        .agent(entry(commander(&log, "worker")).subagent(tool))
        .agent(worker(agent("worker", &log, [text("Done.")])).variable(scoped("KEY")))
        .build()
        .unwrap();
    let cx = context().build();
    for _ in 0..2 {
        runtime.respond("chief", "create Go.", &cx).await.unwrap();
    }
    let refused = results(&host, &cx).await.pop().unwrap();
    assert!(refused.is_error(), "{}", refused.text);
    let row = only_child(&runtime, &cx).await;
    let open = vault.store().requests(&main_thread()).await.unwrap();
    let open: Vec<_> = open.into_iter().map(|request| request.id).collect();
    assert_eq!(open, [row.request.unwrap()]);
}

// An immediate sub-agent whose variable switches it off does not start.
#[tokio::test]
async fn switched_off_immediate_sub_agent_does_not_start() {
    for (flag, started) in [("no", 0), ("yes", 1)] {
        let (host, log) = (Host::new(), Log::default());
        let tool = Subagent::new("watcher")
            .blocking(false)
            .optional("WATCH")
            .immediate(Immediate::once("Watch."));
        let runtime = host
            .runtime()
            .agent(entry(passing(&log, "chief", "nobody")).subagent(tool))
            .agent(worker(agent("watcher", &log, [text("Watching.")])))
            .build()
            .unwrap();
        let cx = context().variable("WATCH", flag).build();
        runtime.respond("chief", "Hello.", &cx).await.unwrap();
        runtime.idle().await;
        assert_eq!(log.of("watcher").len(), started, "{flag}");
    }
}

// If a call of a sub-agent lacks a variable, the turn of the parent waits for it, and the next drive continues the call.
#[tokio::test]
async fn missing_variable_of_a_sub_agent_is_waited_for() {
    let (host, log) = (Host::new(), Log::default());
    let using = agent(
        "worker",
        &log,
        [calls([("region", json!({}))]), text("Done.")],
    );
    let runtime = host
        .runtime()
        .agent(entry(commander(&log, "worker")).subagent(Subagent::new("worker")))
        .agent(worker(using.tools(|_| toolset![region])))
        .build()
        .unwrap();
    let cx = context().build();
    let outcome = runtime.respond("chief", "call Go.", &cx).await.unwrap();
    let Outcome::Lacking(needs) = outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!(&*needs[0].name, "REGION");
    let cx = context().variable("REGION", "north").build();
    let outcome = runtime.drive("chief", &cx).await.unwrap();
    assert!(matches!(outcome, Outcome::Answered(_)), "{outcome:?}");
    let row = only_child(&runtime, &cx).await;
    let child = in_conversation(row.thread.conversation());
    let used = results(&host, &child).await.remove(0);
    assert_eq!(used.text, "5 characters, north");
}
