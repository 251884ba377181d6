//! System messages in threads and requests.

use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use serde_json::{Value, json};
use tool_core::prelude::*;
use tool_core::store::{MemoryStore, Message, RunFilter, ThreadId, ThreadStore, Workspace};
use tool_core::turn::{MessageError, Model, ModelMessage, ModelRequest, Outcome, TurnError, Turns};
use tool_wire::{Offer, Provider, RequestMessages, SystemPrompt};

fn cx(conversation: &str) -> ToolContext {
    ToolContext::builder()
        .workspace("acme")
        .conversation(conversation)
        .build()
}

async fn stored(store: &MemoryStore, conversation: &str) -> Vec<Message> {
    let thread = ThreadId::new("acme", conversation).unwrap();
    ThreadStore::read(store, &thread, None).await.unwrap()
}

/// Looks a number up.
#[tool(read_only)]
async fn look_up() -> u32 {
    7
}

/// The request body of a host, the same for every provider.
#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    #[serde(flatten)]
    system: &'a SystemPrompt,
    #[serde(flatten)]
    offer: &'a Offer,
}

/// Returns the fields of a request other than its messages, and the messages.
fn request(provider: Provider, history: &RequestMessages) -> (Value, Vec<Value>) {
    let offer = provider.offer(&toolset![look_up]).unwrap();
    let body = Body {
        model: "a-model",
        system: &history.system,
        offer: &offer,
    };
    let messages = history.messages.iter();
    (
        serde_json::from_str(&serde_json::to_string(&body).unwrap()).unwrap(),
        messages
            .map(|raw| serde_json::from_str(raw.get()).unwrap())
            .collect(),
    )
}

/// Stores a system message, a user message, a call, a second system message before the call's result, and a user message.
async fn conversation(store: &MemoryStore, name: &str) {
    let turns = Turns::new(store.clone());
    let cx = cx(name);
    turns
        .instruct(&format!("You are {name}."), &cx)
        .await
        .unwrap();
    turns.say("Look it up.", &cx).await.unwrap();
    let message = ModelMessage::calls([ToolCall::new("c-0", "look_up", "{}")]);
    let message = turns.record(message, &cx).await.unwrap();
    turns.instruct("Be brief.", &cx).await.unwrap();
    turns.run(&toolset![look_up], &message, &cx).await.unwrap();
    turns.say("Well?", &cx).await.unwrap();
}

// A system message is among the messages or in the provider's own field, in order.
#[tokio::test]
async fn system_messages_are_placed_as_each_provider_expects() {
    let store = MemoryStore::default();
    conversation(&store, "ada").await;
    conversation(&store, "bob").await;
    for name in ["ada", "bob"] {
        let thread = stored(&store, name).await;
        let first = format!("You are {name}.");
        for provider in Provider::ALL {
            let (body, messages) = request(provider, &provider.history(&thread).unwrap());
            let field = match provider {
                Provider::Chat | Provider::Responses => {
                    let system = |text| json!({"role": "system", "content": text});
                    assert_eq!(messages.len(), 6, "{provider}");
                    assert_eq!(messages[0], system(&*first), "{provider}");
                    // The system message comes after the result of the call.
                    assert!(messages[3].to_string().contains("c-0"), "{provider}");
                    assert_eq!(messages[4], system("Be brief."), "{provider}");
                    assert_eq!(body.get("system"), None);
                    continue;
                }
                Provider::Anthropic => (
                    "system",
                    json!([{"type": "text", "text": first}, {"type": "text", "text": "Be brief."}]),
                ),
                Provider::Bedrock => ("system", json!([{"text": first}, {"text": "Be brief."}])),
                Provider::Gemini => (
                    "systemInstruction",
                    json!({"parts": [{"text": first}, {"text": "Be brief."}]}),
                ),
            };
            assert_eq!(body[field.0], field.1, "{provider}");
            assert_eq!(body["model"], "a-model");
            // Two messages of the user, a call and its result.
            assert_eq!(messages.len(), 4, "{provider}: {messages:?}");
            assert!(!format!("{messages:?}").contains("Be brief."), "{provider}");
        }
    }
}

// A request without a system message does not contain the field for system messages.
#[tokio::test]
async fn thread_without_system_message_sends_no_system_field() {
    let store = MemoryStore::default();
    Turns::new(store.clone())
        .say("Hello", &cx("t"))
        .await
        .unwrap();
    for provider in Provider::ALL {
        let history = provider.history(&stored(&store, "t").await).unwrap();
        assert!(history.system.is_empty() && history.system.field().is_none());
        let (body, _) = request(provider, &history);
        let keys: Vec<_> = body.as_object().unwrap().keys().collect();
        assert!(
            keys.iter().all(|key| !key.starts_with("system")),
            "{keys:?}"
        );
    }
}

// An empty system message is not stored, because providers refuse it. A system message needs a conversation.
#[tokio::test]
async fn an_empty_system_message_is_refused() {
    let store = MemoryStore::default();
    let turns = Turns::new(store.clone());
    for text in ["", " \n"] {
        let error = turns.instruct(text, &cx("t")).await.unwrap_err();
        assert!(matches!(error, TurnError::Message(MessageError::Blank)));
        assert_eq!(
            error.to_string(),
            "the message was not stored: its text is empty: write what the model has to know"
        );
    }
    let nowhere = turns.instruct("Be brief.", &ToolContext::anonymous()).await;
    assert!(matches!(nowhere, Err(TurnError::Unnamed)));
    assert!(stored(&store, "t").await.is_empty());
}

/// Answers every request with its number, and stores a system message while it writes the first answer.
#[derive(Clone)]
struct Counting {
    turns: Turns,
    seen: Arc<Mutex<Vec<Vec<String>>>>,
}

impl Model for Counting {
    fn next<'a>(
        &'a mut self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        let history = Provider::Chat.history(request.messages).unwrap();
        let seen = history.messages.iter().map(ToString::to_string).collect();
        let number = {
            let mut all = self.seen.lock().unwrap();
            all.push(seen);
            all.len()
        };
        Box::pin(async move {
            if number == 1 {
                let stored = self.turns.instruct("Be brief.", request.cx).await;
                stored.map_err(ToolError::foreign)?;
            }
            Ok(ModelMessage::text(format!("answer {number}")))
        })
    }
}

// A system message does not begin a run; a system message that is stored while the model writes comes after the model's message.
#[tokio::test]
async fn system_message_starts_no_run_and_joins_the_next_request() {
    let store = MemoryStore::default();
    let turns = Turns::new(store.clone());
    let mut model = Counting {
        turns: turns.clone(),
        seen: Arc::default(),
    };
    let seen = Arc::clone(&model.seen);
    let cx = cx("t");
    let drive = async |model: &mut Counting| {
        let outcome = turns
            .drive(model, |_| toolset![look_up], &cx)
            .await
            .unwrap();
        let Outcome::Answered(text) = outcome else {
            panic!("{outcome:?}")
        };
        text
    };
    turns.say("Hello", &cx).await.unwrap();
    assert_eq!(drive(&mut model).await, "answer 1");
    turns.instruct("Be kind.", &cx).await.unwrap();
    assert_eq!(drive(&mut model).await, "answer 1");
    let runs = turns
        .runs(&Workspace::new("acme"), &RunFilter::default())
        .await;
    assert_eq!(runs.unwrap().len(), 1);

    turns.say("And now?", &cx).await.unwrap();
    assert_eq!(drive(&mut model).await, "answer 2");
    let seen = seen.lock().unwrap();
    let roles: Vec<Value> = seen[1]
        .iter()
        .map(|message| serde_json::from_str::<Value>(message).unwrap())
        .map(|message| json!([message["role"], message["content"]]))
        .collect();
    assert_eq!(
        roles,
        [
            json!(["user", "Hello"]),
            json!(["assistant", "answer 1"]),
            json!(["system", "Be brief."]),
            json!(["system", "Be kind."]),
            json!(["user", "And now?"]),
        ]
    );
}
