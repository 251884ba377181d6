//! Replies that were cut off: none of their calls run.

use serde_json::Value;
use tool_wire::{Provider, StopReason};

use crate::calls::SECOND;
use crate::support::{recorded, streamed};

/// Returns the stop reasons with which a provider reports an incomplete reply, and their meaning.
fn words(provider: Provider) -> Vec<(&'static str, StopReason)> {
    let other = |word: &str| StopReason::Other(word.to_owned());
    match provider {
        Provider::Chat => vec![
            ("length", StopReason::Length),
            ("content_filter", StopReason::Filtered),
            (
                "insufficient_system_resource",
                other("insufficient_system_resource"),
            ),
        ],
        Provider::Responses => vec![
            ("max_output_tokens", StopReason::Length),
            ("content_filter", StopReason::Filtered),
            ("something", other("something")),
        ],
        Provider::Anthropic => vec![
            ("max_tokens", StopReason::Length),
            ("model_context_window_exceeded", StopReason::Length),
            ("refusal", StopReason::Filtered),
            ("something", other("something")),
        ],
        Provider::Gemini => vec![
            ("MAX_TOKENS", StopReason::Length),
            ("SAFETY", StopReason::Filtered),
            ("RECITATION", StopReason::Filtered),
            ("MALFORMED_FUNCTION_CALL", other("MALFORMED_FUNCTION_CALL")),
        ],
        Provider::Bedrock => vec![
            ("max_tokens", StopReason::Length),
            ("guardrail_intervened", StopReason::Filtered),
            ("content_filtered", StopReason::Filtered),
            ("malformed_tool_use", other("malformed_tool_use")),
        ],
    }
}

/// Returns a recorded body with a different stop reason.
fn stopped(provider: Provider, body: &str, word: &str) -> String {
    match provider {
        Provider::Chat => body
            .replace(
                r#""finish_reason": "tool_calls""#,
                &format!(r#""finish_reason": "{word}""#),
            )
            .replace(
                r#""finish_reason":"tool_calls""#,
                &format!(r#""finish_reason":"{word}""#),
            ),
        Provider::Responses => {
            // The fields of the response object: the complete body, or the object in the last event.
            let at = body.rfind(r#""object""#).unwrap();
            let (before, after) = body.split_at(at);
            let after = after
                .replacen(r#""status": "completed""#, r#""status": "incomplete""#, 1)
                .replacen(r#""status":"completed""#, r#""status":"incomplete""#, 1)
                .replacen(
                    r#""incomplete_details": null"#,
                    &format!(r#""incomplete_details": {{"reason":"{word}"}}"#),
                    1,
                )
                .replacen(
                    r#""incomplete_details":null"#,
                    &format!(r#""incomplete_details":{{"reason":"{word}"}}"#),
                    1,
                );
            format!("{before}{after}").replace("response.completed", "response.incomplete")
        }
        Provider::Anthropic => body
            .replace(
                r#""stop_reason": "tool_use""#,
                &format!(r#""stop_reason": "{word}""#),
            )
            .replace(
                r#""stop_reason":"tool_use""#,
                &format!(r#""stop_reason":"{word}""#),
            ),
        Provider::Gemini => body.replace(r#""STOP""#, &format!("\"{word}\"")),
        Provider::Bedrock => body.replace(
            r#""stopReason":"tool_use""#,
            &format!(r#""stopReason":"{word}""#),
        ),
    }
}

#[test]
fn calls_of_a_truncated_reply_never_run() {
    for provider in Provider::ALL {
        let (whole, stream) = recorded(provider);
        for (word, stop) in words(provider) {
            let replies = [
                provider.reply(&stopped(provider, whole, word)).unwrap(),
                streamed(provider, &stopped(provider, stream, word)).unwrap(),
            ];
            for reply in replies {
                assert_eq!(reply.stop(), &stop, "{provider} {word}");
                assert!(reply.is_truncated() && reply.message().truncated);
                assert!(reply.calls().is_empty());
                assert_eq!(
                    reply.message().calls.len(),
                    2,
                    "a call is missing, so it cannot be refused"
                );
            }
        }
    }
}

// Wherever a stream ends, its calls do not run unless the provider has announced the end.
#[test]
fn stream_that_ends_early_is_truncated() {
    for provider in Provider::ALL {
        let (_, body) = recorded(provider);
        let end = match provider {
            Provider::Chat => "\"finish_reason\":\"tool_calls\"",
            Provider::Responses => "\"type\":\"response.completed\"",
            Provider::Anthropic => "\"stop_reason\":\"tool_use\"",
            Provider::Gemini => "\"finishReason\":\"STOP\"",
            Provider::Bedrock => "\"stopReason\":\"tool_use\"",
        };
        let end = body.find(end).unwrap();
        for (at, _) in body.char_indices().filter(|(at, _)| *at < end).step_by(5) {
            let piece = &body[..at];
            if provider == Provider::Bedrock && !piece.ends_with('\n') {
                continue;
            }
            let reply = streamed(provider, piece).unwrap();
            assert_eq!(reply.stop(), &StopReason::Cut, "{provider} at {at}");
            assert!(reply.calls().is_empty());
        }
    }
}

// A cut may leave an incomplete call. The provider must accept the message that is sent back.
#[test]
fn truncated_call_is_sent_back_as_a_valid_message() {
    for provider in Provider::ALL {
        let (_, body) = recorded(provider);
        // The stream is cut within the second call's arguments.
        let at = match provider {
            Provider::Gemini => continue, // its calls never arrive in pieces
            Provider::Chat => body
                .find("900719")
                .or(body.find("9007"))
                .or(body.find("\"index\":1,\"function\"")),
            Provider::Responses => body.rfind("response.function_call_arguments.delta"),
            Provider::Anthropic => body.rfind("input_json_delta"),
            Provider::Bedrock => body.rfind("contentBlockDelta"),
        };
        let at = body[..at.unwrap()].rfind('\n').unwrap() + 1;
        let reply = streamed(provider, &body[..at]).unwrap();
        assert!(reply.is_truncated());
        let half = &reply.message().calls[1].arguments;
        assert!(SECOND.starts_with(half), "{provider}: {half}");
        assert!(
            serde_json::from_str::<Value>(half).is_err(),
            "{provider}: {half}"
        );
        let messages = provider.assistant(reply.message());
        let messages = messages.iter().map(|raw| raw.get()).collect::<String>();
        assert!(
            serde_json::from_str::<Value>(&messages).is_ok() || provider == Provider::Responses
        );
        match provider {
            Provider::Anthropic | Provider::Bedrock => {
                assert!(
                    messages.contains(r#""name":"search","input":{}"#),
                    "{messages}"
                );
            }
            _ => assert!(
                messages.contains(&Value::from(half.as_str()).to_string()),
                "{messages}"
            ),
        }
    }
}

// One incomplete item makes the reply incomplete.
#[test]
fn incomplete_call_in_a_complete_reply_does_not_run() {
    let body = r#"{"status":"completed","output":[
        {"type":"function_call","status":"completed","call_id":"a","name":"t","arguments":"{}"},
        {"type":"function_call","status":"incomplete","call_id":"b","name":"t","arguments":"{"}]}"#;
    let reply = Provider::Responses.reply(body).unwrap();
    assert!(reply.is_truncated() && reply.calls().is_empty());

    // The block begins and never ends.
    let events = r#"data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c","name":"t","input":{}}}

data: {"type":"message_delta","delta":{"stop_reason":"tool_use"}}

"#;
    assert!(
        streamed(Provider::Anthropic, events)
            .unwrap()
            .is_truncated()
    );
    let events = r#"{"contentBlockStart":{"contentBlockIndex":0,"start":{"toolUse":{"toolUseId":"c","name":"t"}}}}
{"messageStop":{"stopReason":"tool_use"}}"#;
    assert!(streamed(Provider::Bedrock, events).unwrap().is_truncated());
}
