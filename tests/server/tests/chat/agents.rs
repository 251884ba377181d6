//! Tests of a chat whose conversations belong to agents.

use std::time::{Duration, Instant};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use test_support::Ran;
use tool_agent::agent::Agent;
use tool_agent::model::{ModelEvent, ModelObserver};
use tool_agent::runtime::{AgentEntry, AgentRuntime, Subagent};
use tool_core::ToolError;
use tool_core::turn::{Model, ModelMessage, ModelRequest, StopReason, Turns};
use tool_store::SqliteStore;
use tool_wire::Delta;

use crate::host::{Host, Kind, Settings, Tools, World};

/// The model of the agents.
#[derive(Clone)]
struct AgentModel {
    world: World,
    /// The pieces of the running step.
    said: std::sync::Arc<std::sync::Mutex<String>>,
}

impl Model for AgentModel {
    fn next<'a>(
        &'a mut self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        self.said.lock().unwrap().clear();
        let observer = request.cx.get::<ModelObserver>();
        let emit = move |event: &ModelEvent<'_>| {
            if let Ok(observer) = &observer {
                observer.call(event);
            }
        };
        async move {
            let say = |piece: &str| {
                self.said.lock().unwrap().push_str(piece);
                emit(&ModelEvent::Delta(&Delta::Text(piece.to_owned())));
            };
            let wish = request.messages.last();
            if wish.is_some_and(|wish| wish.content.contains("flaky")) {
                say("wrong ");
                emit(&ModelEvent::StepRestarted);
                say("right");
                return Ok(ModelMessage::text("right"));
            }
            self.world.reply(&request, &say).await
        }
        .boxed()
    }

    fn interrupted(&mut self) -> Option<ModelMessage> {
        let text = std::mem::take(&mut *self.said.lock().unwrap());
        (!text.is_empty()).then(|| ModelMessage {
            truncated: true,
            stop: Some(StopReason::Cut),
            ..ModelMessage::text(text)
        })
    }
}

/// Returns the agents of a process: a clerk with a sub-agent, both with the same tools.
pub(crate) fn runtime(
    store: &SqliteStore,
    world: &World,
    tools: &Tools,
    turns: Turns,
) -> AgentRuntime {
    let agent = |name: &str| {
        let model = AgentModel {
            world: world.clone(),
            said: std::sync::Arc::default(),
        };
        let (registry, rules) = (tools.registry.clone(), tools.rules.clone());
        let tools = move |cx: &tool_core::ToolContext| registry.toolset(cx, &rules);
        AgentEntry::new(Agent::builder(name, model).tools(tools).build().unwrap())
    };
    let helper = agent("helper").autonomous().expose("Sends mails.");
    AgentRuntime::builder(turns, &tools.gate)
        .children(store.clone())
        .events(store.clone())
        .agent(agent("clerk").subagent(Subagent::new("helper")))
        .agent(helper)
        .build()
        .unwrap()
}

/// Returns the chunks of a type.
fn of_type<'a>(chunks: &'a [Value], kind: &str) -> Vec<&'a Value> {
    let chunks = chunks.iter();
    chunks.filter(|chunk| chunk["type"] == kind).collect()
}

/// Returns the request of an interface that approves the calls of the last step.
fn approving(asked: &[&Value], chunks: &[Value]) -> Value {
    let parts = asked.iter().map(|ask| {
        let call = &ask["toolCallId"];
        let inputs = of_type(chunks, "tool-input-available");
        let input = inputs.iter().find(|input| input["toolCallId"] == *call);
        json!({
            "type": "tool-send_mail", "toolCallId": call, "state": "approval-responded",
            "input": input.unwrap()["input"], "approval": {"id": ask["approvalId"], "approved": true},
        })
    });
    let parts: Vec<Value> = [json!({"type": "step-start"})]
        .into_iter()
        .chain(parts)
        .collect();
    json!({"messages": [{"id": "answer-1", "role": "assistant", "parts": parts}]})
}

// S2-14, S2-15: the approval requests of a sub-agent are shown in the conversation of the user, in a separate step, and the answers continue both
// agents. Each agent makes a call with the id `call_1`.
pub(crate) async fn approvals_of_a_sub_agent_are_answered_in_the_conversation_case() -> Ran {
    let host = Host::start(Kind::Agents).await;
    let chunks = host.first.say("main", "delegate").await.chunks();
    let asked = of_type(&chunks, "tool-approval-request");
    assert_eq!(asked.len(), 2, "{chunks:?}");
    let ids: Vec<&str> = asked
        .iter()
        .map(|ask| ask["toolCallId"].as_str().unwrap())
        .collect();
    assert!(
        ids[0].ends_with("/call_1") && ids[1].ends_with("/call_2"),
        "{ids:?}"
    );
    let steps = of_type(&chunks, "start-step").len();
    assert_eq!(steps, 2, "the requests have their own step: {chunks:?}");

    // The requests cannot be answered in a different conversation, and no message is accepted before they are answered.
    let answers = approving(&asked, &chunks);
    let _ = host.first.say("other", "hello").await.chunks();
    let other = host.first.say("other", "mail").await.chunks();
    assert_eq!(of_type(&other, "tool-approval-request").len(), 2);
    let _ = host.first.post("other", &answers).await.refused(404);
    let _ = host.first.say("main", "hello").await.refused(409);
    assert_eq!(host.world.mails(), Vec::<String>::new());

    let answered = host.first.post("main", &answers).await;
    assert_eq!(answered.said(), "1 results");
    assert_eq!(host.world.mails(), ["bob", "eve"]);
    let chunks = answered.chunks();
    let outputs = of_type(&chunks, "tool-output-available");
    let outputs: Vec<&Value> = outputs.iter().map(|chunk| &chunk["toolCallId"]).collect();
    assert_eq!(outputs, [&json!(ids[0]), &json!(ids[1]), &json!("call_1")]);
    Ok(())
}

// A client of a different process gets the pieces of the running step before its message is stored.
pub(crate) async fn pieces_are_streamed_from_another_process() -> Ran {
    let host = Host::start(Kind::Agents).await;
    let other = host.process().await;
    let first = host.first.begin("main", "slow", "one ").await;
    let mut resumed = other.follow("main").await;
    resumed.until(r#""delta":"one ""#).await;
    assert_eq!(host.first.stored("acme", "main").await.len(), 1);
    host.world.release("main");
    let resumed = resumed.rest().await;
    assert!(resumed.contains(r#""delta":"two""#), "{resumed}");
    assert!(resumed.ends_with("data: [DONE]\n\n"), "{resumed}");
    assert!(resumed.contains(r#""messageId":"answer-1""#), "{resumed}");
    assert!(first.rest().await.contains("two"));
    // The second message does not contain the first one.
    let second = host.first.begin("main", "slow again", "one ").await;
    let mut resumed = other.follow("main").await;
    resumed.until(r#""delta":"one ""#).await;
    host.world.release("main");
    let resumed = resumed.rest().await;
    assert_eq!(resumed.matches("\"one \"").count(), 1, "{resumed}");
    assert!(resumed.contains(r#""messageId":"answer-3""#), "{resumed}");
    drop(second);
    Ok(())
}

// The stream of a different process ends before the next message of the user, even if that process reads the events after the next run has ended. The
// process reads the events at the interval that the host has set.
pub(crate) async fn stream_of_another_process_ends_before_the_next_message() -> Ran {
    let host = Host::start(Kind::Agents).await;
    let settings = Settings {
        poll: Some(Duration::from_secs(6)),
        ..Settings::default()
    };
    let other = host.process_with(settings).await;
    let first = host.first.begin("main", "slow", "one ").await;
    // The pieces are stored in batches.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let mut resumed = other.follow("main").await;
    resumed.until(r#""delta":"one ""#).await;
    host.world.release("main");
    assert!(first.rest().await.contains("two"));
    assert_eq!(host.first.say("main", "hello").await.said(), "Hello.");
    let began = Instant::now();
    let resumed = resumed.rest().await;
    assert!(resumed.contains(r#""delta":"two""#), "{resumed}");
    assert!(!resumed.contains("Hello."), "{resumed}");
    assert!(began.elapsed() > Duration::from_millis(500));
    Ok(())
}

// The thread of a sub-agent is driven by its parent, so requests for it get the same response as requests for an unknown conversation.
pub(crate) async fn threads_of_sub_agents_are_not_conversations() -> Ran {
    let host = Host::start(Kind::Agents).await;
    let chunks = host.first.say("main", "delegate").await.chunks();
    let asked = of_type(&chunks, "tool-approval-request");
    let id = asked[0]["toolCallId"].as_str().unwrap();
    let (child, _) = id.split_once('/').unwrap();
    let _ = host.first.say(child, "hello").await.refused(404);
    Ok(())
}

// Withdrawn pieces end the message with an error, unless the interface removes them.
pub(crate) async fn withdrawn_pieces_reset_the_step() -> Ran {
    let failed = Host::start(Kind::Agents).await;
    let failed = failed.first.say("main", "flaky").await;
    assert!(failed.types().contains(&"error".to_owned()));
    assert_eq!(failed.said(), "wrong ");
    let settings = Settings {
        resets: true,
        ..Settings::default()
    };
    let reset = Host::with(Kind::Agents, settings).await;
    let reset = reset.first.say("main", "flaky").await;
    assert_eq!(
        reset.types(),
        [
            "start",
            "start-step",
            "text-start",
            "text-delta",
            "reset-step",
            "text-start",
            "text-delta",
            "text-end",
            "finish-step",
            "finish"
        ]
    );
    Ok(())
}
