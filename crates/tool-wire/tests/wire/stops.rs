//! Stop reasons and token usage: read from each provider and stored in the thread.

use std::sync::Arc;

use serde_json::Value;
use tool_core::prelude::*;
use tool_core::store::{MemoryStore, RunCause, RunFilter, Usage, Workspace};
use tool_core::turn::{ModelMessage, Outcome, StopReason, Turns};
use tool_wire::Provider;

use crate::support::{forecast, recorded, search, streamed};
use crate::turns::{Served, cx};

/// Returns a text reply with this stop reason, in each provider's format.
fn body(provider: Provider, text: &str, stop: &str) -> String {
    match provider {
        Provider::Chat => format!(
            r#"{{"choices":[{{"message":{{"content":"{text}"}},"finish_reason":"{stop}"}}],
            "usage":{{"prompt_tokens":10,"completion_tokens":3,"total_tokens":13,"prompt_tokens_details":{{"cached_tokens":4}}}}}}"#
        ),
        Provider::Responses => format!(
            r#"{{"status":"incomplete","incomplete_details":{{"reason":"{stop}"}},
            "output":[{{"type":"message","role":"assistant","content":[{{"type":"output_text","text":"{text}"}}]}}],
            "usage":{{"input_tokens":10,"input_tokens_details":{{"cached_tokens":4}},"output_tokens":3,"total_tokens":13}}}}"#
        ),
        Provider::Anthropic => format!(
            r#"{{"content":[{{"type":"text","text":"{text}"}}],"stop_reason":"{stop}",
            "usage":{{"input_tokens":5,"cache_read_input_tokens":4,"cache_creation_input_tokens":1,"output_tokens":3}}}}"#
        ),
        Provider::Gemini => format!(
            r#"{{"candidates":[{{"content":{{"parts":[{{"text":"{text}"}}]}},"finishReason":"{stop}"}}],
            "usageMetadata":{{"promptTokenCount":10,"cachedContentTokenCount":4,"candidatesTokenCount":1,"thoughtsTokenCount":2}}}}"#
        ),
        Provider::Bedrock => format!(
            r#"{{"output":{{"message":{{"role":"assistant","content":[{{"text":"{text}"}}]}}}},"stopReason":"{stop}",
            "usage":{{"inputTokens":5,"cacheReadInputTokens":4,"cacheWriteInputTokens":1,"outputTokens":3}}}}"#
        ),
    }
}

async fn drive(
    provider: Provider,
    bodies: Vec<String>,
    turns: &Turns,
) -> (Outcome, Vec<Vec<Value>>) {
    let requests = Arc::default();
    let mut model = Served {
        provider,
        bodies,
        requests: Arc::clone(&requests),
    };
    turns.say("How is the weather?", &cx()).await.unwrap();
    let outcome = turns
        .drive(&mut model, |_| toolset![forecast, search], &cx())
        .await
        .unwrap();
    let requests = requests.lock().unwrap().clone();
    (outcome, requests)
}

// A reply that the length limit or a filter cut off, or that ended for an unknown reason, has its own outcome. The run has the cause and the usage.
#[tokio::test]
async fn length_limit_and_content_filter_are_outcomes() {
    for provider in Provider::ALL {
        let (length, filtered) = match provider {
            Provider::Chat => ("length", "content_filter"),
            Provider::Responses => ("max_output_tokens", "content_filter"),
            Provider::Anthropic => ("max_tokens", "refusal"),
            Provider::Gemini => ("MAX_TOKENS", "SAFETY"),
            Provider::Bedrock => ("max_tokens", "content_filtered"),
        };
        for (word, cause) in [
            (length, RunCause::Length),
            (filtered, RunCause::Filtered),
            ("a_later_word", RunCause::Failed),
        ] {
            let turns = Turns::new(MemoryStore::default());
            let (outcome, _) =
                drive(provider, vec![body(provider, "half a sen", word)], &turns).await;
            // The thread also records the outcome, for a client that requests it later.
            let mut nobody = Served {
                provider,
                bodies: Vec::new(),
                requests: Arc::default(),
            };
            let tools = |_: &ToolContext| toolset![forecast, search];
            let again = turns.drive(&mut nobody, tools, &cx()).await.unwrap();
            for outcome in [outcome, again] {
                let (text, is_own) = match &outcome {
                    Outcome::Length(text) => (text, cause == RunCause::Length),
                    Outcome::Filtered(text) => (text, cause == RunCause::Filtered),
                    Outcome::Cut(text) => (text, cause == RunCause::Failed),
                    _ => panic!("{provider} {word}: {outcome:?}"),
                };
                assert!(is_own, "{provider} {word}: {outcome:?}");
                assert_eq!(text, "half a sen");
                assert_eq!(outcome.cause(), Some(cause));
            }
            let rows = turns
                .runs(&Workspace::single(), &RunFilter::default())
                .await;
            let row = rows.unwrap().remove(0);
            let used = Usage {
                input_tokens: 10,
                output_tokens: 3,
                cache_read_tokens: Some(4),
                ..Usage::default()
            };
            // Only some of the providers report these counters.
            let usage = Usage {
                cache_write_5m_tokens: None,
                reasoning_tokens: None,
                ..row.progress.usage
            };
            assert_eq!((row.cause, usage), (Some(cause), used), "{provider}");
        }
    }
}

// A refusal of the model is reported as filtered.
#[test]
fn refusal_of_the_model_is_reported_as_filtered() {
    let chat =
        r#"{"choices":[{"message":{"content":null,"refusal":"No."},"finish_reason":"stop"}]}"#;
    let responses = r#"{"status":"completed","output":[{"type":"message","role":"assistant",
        "content":[{"type":"refusal","refusal":"No."}]}]}"#;
    for (provider, body) in [(Provider::Chat, chat), (Provider::Responses, responses)] {
        let reply = provider.reply(body).unwrap();
        assert_eq!((reply.stop(), reply.text()), (&StopReason::Filtered, "No."));
    }
}

// `pause_turn` does not end a run.
#[tokio::test]
async fn paused_turn_continues_automatically() {
    let paused = || {
        r#"{"content":[{"type":"text","text":"Looking."},
        {"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"x"}}],"stop_reason":"pause_turn"}"#
            .to_owned()
    };
    let anthropic = Provider::Anthropic;
    let turns = Turns::new(MemoryStore::default());
    let bodies = vec![paused(), body(anthropic, "Rain.", "end_turn")];
    let (outcome, requests) = drive(anthropic, bodies, &turns).await;
    assert!(
        matches!(&outcome, Outcome::Answered(text) if text == "Rain."),
        "{outcome:?}"
    );
    // The paused message is sent back unchanged.
    let last = requests[1].last().unwrap();
    assert_eq!(last["role"], "assistant");
    assert_eq!(last["content"][1]["id"], "srvtoolu_1");

    // Continuations have their own limit, and are not steps.
    let turns = Turns::new(MemoryStore::default()).most_steps(1);
    let bodies = (0..10).map(|_| paused());
    let bodies = bodies.chain([body(anthropic, "Rain.", "end_turn")]);
    let (outcome, requests) = drive(anthropic, bodies.collect(), &turns).await;
    assert!(matches!(outcome, Outcome::Answered(_)), "{outcome:?}");
    assert_eq!(requests.len(), 11);
}

// Streamed and complete replies have the same reason and the same tokens.
#[test]
fn streamed_reply_has_the_stop_reason_and_usage_of_the_whole_reply() {
    for provider in Provider::ALL {
        let (whole, stream) = recorded(provider);
        for reply in [
            provider.reply(whole).unwrap(),
            streamed(provider, stream).unwrap(),
        ] {
            let message = reply.message();
            assert_eq!(message.stop, Some(StopReason::Calls), "{provider}");
            assert_eq!(message.stop.as_ref(), Some(reply.stop()));
            let usage = message.usage.unwrap_or_default();
            assert!(
                usage.input_tokens > 0 && usage.output_tokens > 0,
                "{provider}: {usage:?}"
            );
        }
    }
}

// Messages that version 0.1 stored are read; they have no stop reason. Stop reasons can be written and read again.
#[test]
fn messages_of_older_versions_are_read() {
    let message: ModelMessage = serde_json::from_str(r#"{"text":"Rain."}"#).unwrap();
    assert_eq!((&message.stop, message.usage), (&None, None));
    assert_eq!(
        serde_json::to_string(&message).unwrap(),
        r#"{"text":"Rain."}"#
    );
    for stop in [
        StopReason::End,
        StopReason::Calls,
        StopReason::Paused,
        StopReason::Length,
        StopReason::Filtered,
        StopReason::Cut,
    ] {
        let text = serde_json::to_string(&stop).unwrap();
        assert_eq!(serde_json::from_str::<StopReason>(&text).unwrap(), stop);
    }
}
