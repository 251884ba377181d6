//! Turns that are driven by a provider's replies.

use std::sync::{Arc, Mutex};

use futures::future::{BoxFuture, ready};
use serde_json::{Value, json};
use tool_core::prelude::*;
use tool_core::store::{MemoryStore, NewMessage, Role, ThreadId, ThreadStore, Timestamp};
use tool_core::turn::{Model, ModelMessage, ModelRequest, Outcome, Turn, Turns};
use tool_wire::{Provider, WireError};

use crate::support::{forecast, recorded, search};

pub(crate) fn cx() -> ToolContext {
    ToolContext::builder().conversation("th").build()
}

/// A provider with scripted HTTP bodies that records its requests.
pub(crate) struct Served {
    pub(crate) provider: Provider,
    pub(crate) bodies: Vec<String>,
    pub(crate) requests: Arc<Mutex<Vec<Vec<Value>>>>,
}

impl Model for Served {
    fn next<'a>(
        &'a mut self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        let mut answer = || -> Result<ModelMessage, WireError> {
            let history = self.provider.history(request.messages)?;
            let history = history
                .messages
                .iter()
                .map(|raw| serde_json::from_str(raw.get()).unwrap());
            self.requests.lock().unwrap().push(history.collect());
            let reply = self.provider.reply(&self.bodies.remove(0))?;
            Ok(reply.into_message())
        };
        let answered = answer().map_err(ToolError::foreign);
        Box::pin(ready(answered))
    }
}

fn final_answer(provider: Provider) -> &'static str {
    match provider {
        Provider::Chat => r#"{"choices":[{"message":{"content":"Rain."},"finish_reason":"stop"}]}"#,
        Provider::Responses => {
            r#"{"status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Rain."}]}]}"#
        }
        Provider::Anthropic => {
            r#"{"content":[{"type":"text","text":"Rain."}],"stop_reason":"end_turn"}"#
        }
        Provider::Gemini => {
            r#"{"candidates":[{"content":{"parts":[{"text":"Rain."}]},"finishReason":"STOP"}]}"#
        }
        Provider::Bedrock => {
            r#"{"output":{"message":{"role":"assistant","content":[{"text":"Rain."}]}},"stopReason":"end_turn"}"#
        }
    }
}

// One loop serves all providers, with the same model, turns and tools.
#[tokio::test]
async fn one_loop_serves_every_provider() {
    for provider in Provider::ALL {
        let store = MemoryStore::default();
        let requests = Arc::default();
        let bodies = vec![
            recorded(provider).0.to_owned(),
            final_answer(provider).to_owned(),
        ];
        let mut model = Served {
            provider,
            bodies,
            requests: Arc::clone(&requests),
        };
        let turns = Turns::new(store);
        turns.say("How is the weather?", &cx()).await.unwrap();
        let outcome = turns
            .drive(&mut model, |_| toolset![forecast, search], &cx())
            .await
            .unwrap();
        assert!(
            matches!(outcome, Outcome::Answered(text) if text == "Rain."),
            "{provider}"
        );

        let requests = requests.lock().unwrap().clone();
        let user =
            serde_json::from_str::<Value>(provider.user("How is the weather?").get()).unwrap();
        assert_eq!(requests[0], [user]);
        // The second request contains the model's message unchanged, followed by both results.
        let (first, second) = (&requests[0], &requests[1]);
        assert_eq!(&second[..1], &first[..]);
        let reply = provider.reply(recorded(provider).0).unwrap();
        let mut expected: Vec<Value> = provider
            .assistant(reply.message())
            .iter()
            .map(|raw| serde_json::from_str(raw.get()).unwrap())
            .collect();
        let mut results = Vec::new();
        for call in reply.calls() {
            results.push(
                toolset![forecast, search]
                    .call(call.clone(), &ToolContext::anonymous())
                    .await,
            );
        }
        let results = provider.results(reply.message(), &results).unwrap();
        expected.extend(
            results
                .messages
                .iter()
                .map(|raw| serde_json::from_str::<Value>(raw.get()).unwrap()),
        );
        assert_eq!(&second[1..], &expected[..], "{provider}");
    }
}

// A call of a reply that was cut off gets a result without being run
#[tokio::test]
async fn turn_refuses_the_calls_of_a_truncated_reply() {
    let body = recorded(Provider::Anthropic).0.replace(
        "\"tool_use\",\n \"stop_sequence\"",
        "\"max_tokens\",\n \"stop_sequence\"",
    );
    let message = Provider::Anthropic.reply(&body).unwrap().into_message();
    assert!(message.truncated);
    let turns = Turns::new(MemoryStore::default());
    let stored = turns.record(message.clone(), &cx()).await.unwrap();
    let Turn::Complete(results) = turns
        .run(&toolset![forecast, search], &stored, &cx())
        .await
        .unwrap()
    else {
        panic!()
    };
    assert_eq!(results.len(), 2);
    assert!(
        results
            .iter()
            .all(|result| result.is_of(tool_core::ErrorKind::InvalidArguments))
    );
    // Both refusals are sent back, so that the model can repeat its calls.
    let written = Provider::Anthropic.results(&message, &results).unwrap();
    assert_eq!(written.messages[0].get().matches("was cut off").count(), 2);
}

/// The output of `draw` and `tally`.
#[derive(Debug, Serialize, StrictSchema)]
pub(crate) struct Shown {
    /// The name of the output.
    pub(crate) name: String,
}

fn chart(_: &Shown) -> ModelOutput {
    ModelOutput::parts([
        tool_core::Part::text("a chart"),
        tool_core::Part::base64("image/png", "iVBORw0="),
    ])
}

/// Draws an image.
#[tool(to_model_output = chart)]
async fn draw() -> Shown {
    Shown {
        name: "drawn".to_owned(),
    }
}

/// Returns the count.
#[tool(to_model_output = three)]
async fn tally() -> Shown {
    Shown {
        name: "told".to_owned(),
    }
}

fn three(_: &Shown) -> ModelOutput {
    ModelOutput::json(&json!({"three": 3}))
}

// S2-05: the parts that a tool shows the model are stored in the thread, including images and JSON
#[tokio::test]
async fn model_parts_are_stored_in_the_thread() {
    let calls = [
        ToolCall::new("a", "draw", "{}"),
        ToolCall::new("b", "tally", "{}"),
    ];
    let message = ModelMessage::calls(calls.clone());
    let store = MemoryStore::default();
    let turns = Turns::new(store.clone());
    let stored = turns.record(message.clone(), &cx()).await.unwrap();
    let Turn::Complete(kept) = turns
        .run(&toolset![draw, tally], &stored, &cx())
        .await
        .unwrap()
    else {
        panic!()
    };
    let mut direct = Vec::new();
    for call in calls {
        direct.push(
            toolset![draw, tally]
                .call(call, &ToolContext::anonymous())
                .await,
        );
    }
    for provider in Provider::ALL {
        let text = |results: tool_wire::RequestMessages| format!("{:?}", results.messages);
        let kept = text(provider.results(&message, &kept).unwrap());
        assert_eq!(
            kept,
            text(provider.results(&message, &direct).unwrap()),
            "{provider}"
        );
    }
}

// A call without a result gets a placeholder, because no provider accepts an unanswered call. An invalid stored message is an error.
#[tokio::test]
async fn a_call_without_a_result_is_sent_with_a_placeholder() {
    let thread = ThreadId::new("", "th").unwrap();
    let append = |role, content: Value| NewMessage {
        thread: thread.clone(),
        role,
        follows: None,
        answers: None,
        content: content.to_string(),
        at: Timestamp::now(),
    };
    let store = MemoryStore::default();
    let called = json!({"calls": [{"id": "a", "name": "search", "arguments": "{}"}], "step": 1});
    store.append(append(Role::Assistant, called)).await.unwrap();
    store
        .append(append(Role::User, json!("Hello?")))
        .await
        .unwrap();
    let messages = store.read(&thread, None).await.unwrap();
    for provider in Provider::ALL {
        let history = provider.history(&messages).unwrap();
        let [.., result, hello] = history.messages.as_slice() else {
            panic!("{provider}: {history:?}")
        };
        assert!(
            result.get().contains("there is no result"),
            "{provider}: {result}"
        );
        assert_eq!(hello.get(), provider.user("Hello?").get(), "{provider}");
    }
    let store = MemoryStore::default();
    store
        .append(append(Role::User, json!({"parts": []})))
        .await
        .unwrap();
    let messages = store.read(&thread, None).await.unwrap();
    let error = Provider::Chat.history(&messages).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("message 1 of the thread cannot be written for OpenAI Chat Completions"),
        "{error}"
    );
}
