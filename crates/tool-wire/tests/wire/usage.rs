//! Token usage: each provider's counts as the whole input and its cached parts, and the whole output and its reasoning.

use serde_json::{Value, json};
use tool_core::store::Usage;
use tool_wire::{Provider, ReplyStream, WireError};

/// Returns a usage whose provider reports only the input, the output, and tokens that were read from a cache.
fn usage(input: u64, output: u64, read: Option<u64>) -> Usage {
    Usage {
        input_tokens: input,
        cache_read_tokens: read,
        output_tokens: output,
        ..Usage::default()
    }
}

/// Returns a usage with tokens that were written to a cache for 5 minutes and for 1 hour.
fn written(usage: Usage, minutes: Option<u64>, hours: Option<u64>) -> Usage {
    Usage {
        cache_write_5m_tokens: minutes,
        cache_write_1h_tokens: hours,
        ..usage
    }
}

fn reasoned(usage: Usage, tokens: u64) -> Usage {
    Usage {
        reasoning_tokens: Some(tokens),
        ..usage
    }
}

/// Returns a whole body with this usage, and the events of a stream that reports it at the end.
fn bodies(provider: Provider, usage: &Value) -> (Value, Vec<Value>) {
    match provider {
        Provider::Chat => {
            let choice = json!({"index": 0, "message": {"content": "a"}, "delta": {"content": "a"}, "finish_reason": "stop"});
            (
                json!({"choices": [choice], "usage": usage}),
                vec![
                    json!({"choices": [choice], "usage": null}),
                    json!({"choices": [], "usage": usage}),
                ],
            )
        }
        Provider::Responses => {
            let whole = json!({"status": "completed", "output": [], "usage": usage});
            (
                whole.clone(),
                vec![
                    json!({"type": "response.created", "response": {"status": "in_progress", "usage": null}}),
                    json!({"type": "response.completed", "response": whole}),
                ],
            )
        }
        Provider::Anthropic => (
            json!({"content": [], "stop_reason": "end_turn", "usage": usage}),
            vec![
                json!({"type": "message_start", "message": {"usage": {"input_tokens": 1, "output_tokens": 1}}}),
                json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage}),
            ],
        ),
        Provider::Gemini => (
            json!({"candidates": [{"finishReason": "STOP"}], "usageMetadata": usage}),
            vec![
                json!({"candidates": [], "usageMetadata": {"promptTokenCount": 1}}),
                json!({"candidates": [{"finishReason": "STOP"}], "usageMetadata": usage}),
            ],
        ),
        Provider::Bedrock => (
            json!({"output": {"message": {"content": []}}, "stopReason": "end_turn", "usage": usage}),
            vec![
                json!({"messageStop": {"stopReason": "end_turn"}}),
                json!({"metadata": {"usage": usage}}),
            ],
        ),
    }
}

fn stream(provider: Provider, events: &[Value]) -> ReplyStream {
    let mut stream = provider.stream();
    for event in events {
        stream.event(&event.to_string()).unwrap();
    }
    stream
}

fn streamed(provider: Provider, events: &[Value]) -> Option<Usage> {
    let reply = stream(provider, events).finish().unwrap();
    reply.message().usage
}

// The providers differ in which counts include cached tokens and reasoning. The counters of `Usage` have the same meaning for all providers, and a
// counter that a provider does not report is `None`.
#[test]
fn counts_of_every_provider_have_one_meaning() {
    let huge = u64::MAX;
    let all = |read| usage(100, 20, read);
    let cases = [
        // The input includes cached tokens and tokens that are written to the cache, and the output includes reasoning.
        (
            Provider::Responses,
            json!({"input_tokens": 100, "input_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 30},
                "output_tokens": 20, "output_tokens_details": {"reasoning_tokens": 15}}),
            reasoned(written(all(Some(60)), Some(30), None), 15),
        ),
        (
            Provider::Responses,
            json!({"input_tokens": 100, "output_tokens": 20}),
            all(None),
        ),
        (
            Provider::Chat,
            json!({"prompt_tokens": 100, "prompt_tokens_details": {"cached_tokens": 60},
                "completion_tokens": 20, "completion_tokens_details": {"reasoning_tokens": 15}, "total_tokens": 120}),
            reasoned(all(Some(60)), 15),
        ),
        (
            Provider::Chat,
            json!({"prompt_tokens": 100, "prompt_tokens_details": null, "completion_tokens": 20}),
            all(None),
        ),
        // The provider's total shows that the output excludes reasoning.
        (
            Provider::Chat,
            json!({"prompt_tokens": 100, "completion_tokens": 5, "completion_tokens_details": {"reasoning_tokens": 15}, "total_tokens": 120}),
            reasoned(all(None), 15),
        ),
        // The input excludes cached tokens and tokens that are written to the cache, and the output includes thinking.
        (
            Provider::Anthropic,
            json!({"input_tokens": 10, "cache_read_input_tokens": 60, "cache_creation_input_tokens": 30,
                "cache_creation": {"ephemeral_5m_input_tokens": 20, "ephemeral_1h_input_tokens": 10},
                "output_tokens": 20, "output_tokens_details": {"thinking_tokens": 15}}),
            reasoned(written(all(Some(60)), Some(20), Some(10)), 15),
        ),
        // If the provider does not split the tokens by their time to live, the default time applies.
        (
            Provider::Anthropic,
            json!({"input_tokens": 10, "cache_read_input_tokens": 60, "cache_creation_input_tokens": 30, "output_tokens": 20}),
            written(all(Some(60)), Some(30), None),
        ),
        (
            Provider::Bedrock,
            json!({"inputTokens": 10, "cacheReadInputTokens": 60, "cacheWriteInputTokens": 30, "outputTokens": 20, "totalTokens": 120,
                "cacheDetails": [{"ttl": "5m", "inputTokens": 12}, {"ttl": "1h", "inputTokens": 18}]}),
            written(all(Some(60)), Some(12), Some(18)),
        ),
        (
            Provider::Bedrock,
            json!({"inputTokens": 100, "outputTokens": 20}),
            all(None),
        ),
        // The input includes cached tokens and excludes prompts of tools, and the output excludes thoughts.
        (
            Provider::Gemini,
            json!({"promptTokenCount": 90, "cachedContentTokenCount": 60, "toolUsePromptTokenCount": 10,
                "candidatesTokenCount": 5, "thoughtsTokenCount": 15, "totalTokenCount": 120}),
            reasoned(all(Some(60)), 15),
        ),
        // Invalid counts do not make a reply fail.
        (
            Provider::Anthropic,
            json!({"input_tokens": huge, "cache_read_input_tokens": huge, "output_tokens": "many",
                "iterations": [{"type": "compaction", "input_tokens": huge}, 7]}),
            usage(huge, 0, Some(huge)),
        ),
        (
            Provider::Anthropic,
            json!({"input_tokens": 70, "cache_creation_input_tokens": 30, "output_tokens": 20, "cache_creation": {"ephemeral_1h_input_tokens": 99}}),
            written(all(None), Some(0), Some(30)),
        ),
        (
            Provider::Gemini,
            json!({"promptTokenCount": huge, "toolUsePromptTokenCount": huge, "candidatesTokenCount": huge, "thoughtsTokenCount": huge}),
            reasoned(usage(huge, huge, None), huge),
        ),
        (
            Provider::Bedrock,
            json!({"inputTokens": huge, "cacheReadInputTokens": huge, "outputTokens": -1, "cacheDetails": 7}),
            usage(huge, 0, Some(huge)),
        ),
    ];
    for (provider, counts, expected) in cases {
        let (whole, events) = bodies(provider, &counts);
        let reply = provider.reply(&whole.to_string()).unwrap();
        assert_eq!(reply.message().usage, Some(expected), "{provider} {counts}");
        if counts["output_tokens"] != "many" {
            let streamed = streamed(provider, &events);
            assert_eq!(streamed, Some(expected), "{provider} {counts}");
        }
    }
}

// Iterations that compact the context or ask a different model for advice are billed, and the counts at the top level do not include them.
#[test]
fn iterations_outside_of_the_top_level_are_added() {
    let compaction = json!({"type": "compaction", "input_tokens": 180_000, "output_tokens": 3_500});
    let message = json!({"type": "message", "input_tokens": 23_000, "output_tokens": 1_000});
    let fallback = json!({"type": "fallback_message", "model": "m", "input_tokens": 23_000, "output_tokens": 1_000});
    let advisor = json!({"type": "advisor_message", "model": "m", "input_tokens": 100, "cache_read_input_tokens": 40,
        "cache_creation_input_tokens": 7, "output_tokens": 50});
    for (iterations, expected) in [
        (json!(null), usage(23_000, 1_000, None)),
        (json!([message]), usage(23_000, 1_000, None)),
        (json!([fallback]), usage(23_000, 1_000, None)),
        (json!([compaction, message]), usage(203_000, 4_500, None)),
        (
            json!([message, advisor]),
            written(usage(23_147, 1_050, Some(40)), Some(7), None),
        ),
        (
            json!([compaction, message, advisor, advisor]),
            written(usage(203_294, 4_600, Some(80)), Some(14), None),
        ),
    ] {
        let counts =
            json!({"input_tokens": 23_000, "output_tokens": 1_000, "iterations": iterations});
        let (whole, events) = bodies(Provider::Anthropic, &counts);
        let reply = Provider::Anthropic.reply(&whole.to_string()).unwrap();
        assert_eq!(reply.message().usage, Some(expected), "{iterations}");
        let streamed = streamed(Provider::Anthropic, &events);
        assert_eq!(streamed, Some(expected), "{iterations}");
    }
}

// The counts of `message_delta` are cumulative: they replace the counts of `message_start` and of an earlier `message_delta`, and may lack some of
// them. Counts without input tokens do not replace the input.
#[test]
fn counts_of_later_anthropic_events_replace_earlier_ones() {
    let start = |usage: Value| json!({"type": "message_start", "message": {"usage": usage}});
    let delta = |usage: Value| json!({"type": "message_delta", "delta": {}, "usage": usage});
    let first = json!({"input_tokens": 10, "cache_read_input_tokens": 60, "cache_creation_input_tokens": 30, "output_tokens": 1});
    let compaction =
        |input: u64| json!([{"type": "compaction", "input_tokens": input, "output_tokens": 2}]);
    let of = |input, output, read| written(usage(input, output, Some(read)), Some(30), None);
    for (events, expected) in [
        // The input of a stream that broke is known from its first event.
        (vec![start(first.clone())], of(100, 1, 60)),
        (
            vec![start(first.clone()), delta(json!({"output_tokens": 20}))],
            of(100, 20, 60),
        ),
        (
            vec![
                start(first.clone()),
                delta(json!({"output_tokens": 7})),
                delta(json!({"output_tokens": 20})),
            ],
            of(100, 20, 60),
        ),
        (
            vec![
                start(first.clone()),
                delta(json!({"input_tokens": 15, "output_tokens": 20})),
            ],
            of(105, 20, 60),
        ),
        (
            vec![
                start(first.clone()),
                delta(
                    json!({"input_tokens": 15, "cache_read_input_tokens": 0, "output_tokens": 20}),
                ),
            ],
            of(45, 20, 0),
        ),
        (
            vec![
                start(first.clone()),
                delta(
                    json!({"input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 20}),
                ),
            ],
            of(100, 20, 60),
        ),
        (
            vec![
                start(first.clone()),
                delta(json!({"output_tokens": 7, "iterations": compaction(500)})),
                delta(json!({"output_tokens": 20, "iterations": compaction(900)})),
                delta(json!({"output_tokens": 20})),
            ],
            of(1000, 22, 60),
        ),
    ] {
        let streamed = streamed(Provider::Anthropic, &events);
        assert_eq!(streamed, Some(expected), "{events:?}");
    }
}

// Each response of a Gemini stream has the counts up to then, and a later response may lack a count.
#[test]
fn counts_that_a_later_gemini_response_lacks_remain() {
    let events = [
        json!({"usageMetadata": {"promptTokenCount": 100, "cachedContentTokenCount": 60, "thoughtsTokenCount": 9}}),
        json!({"usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 2, "thoughtsTokenCount": 15}}),
        json!({"usageMetadata": {"candidatesTokenCount": 5}, "candidates": [{"finishReason": "STOP"}]}),
    ];
    let streamed = streamed(Provider::Gemini, &events);
    assert_eq!(streamed, Some(reasoned(usage(100, 20, Some(60)), 15)));
}

// A server that streams may report the usage in a chunk without choices, or not at all.
#[test]
fn chat_usage_is_read_from_a_chunk_without_choices() {
    let end = json!({"choices": [{"delta": {"content": "a"}, "finish_reason": "stop"}]});
    assert_eq!(streamed(Provider::Chat, std::slice::from_ref(&end)), None);
    let counts = json!({"prompt_tokens": 100, "completion_tokens": 20});
    for last in [
        json!({"choices": [], "usage": counts}),
        json!({"usage": counts}),
    ] {
        let streamed = streamed(Provider::Chat, &[end.clone(), last]);
        assert_eq!(streamed, Some(usage(100, 20, None)));
    }
    let empty = Provider::Chat.stream().event("{}");
    assert!(matches!(empty, Err(WireError::Shape { .. })), "{empty:?}");
}

// A failed attempt has used tokens: after an error of the stream, the reply that `finish` returns contains the counts that have arrived.
#[test]
fn usage_of_a_failed_stream_is_known() {
    let failed = json!({"type": "response.failed", "response": {"status": "failed", "error": {"code": "server_error", "message": "m"},
        "usage": {"input_tokens": 100, "output_tokens": 20}}});
    let start = json!({"type": "message_start", "message": {"usage": {"input_tokens": 100, "output_tokens": 20}}});
    let error = json!({"type": "error", "error": {"type": "overloaded_error", "message": "m"}});
    for (provider, first, last) in [
        (
            Provider::Responses,
            json!({"type": "response.created"}),
            failed,
        ),
        (Provider::Anthropic, start, error),
    ] {
        let mut stream = stream(provider, &[first]);
        assert!(stream.event(&last.to_string()).is_err());
        let reply = stream.finish().unwrap();
        assert!(reply.is_truncated());
        assert_eq!(
            reply.message().usage,
            Some(usage(100, 20, None)),
            "{provider}"
        );
    }
}

// A report without tokens is not a measurement, because each request has an input.
#[test]
fn responses_without_tokens_are_unmeasured() {
    for (provider, counts) in [
        (Provider::Chat, json!({})),
        (
            Provider::Chat,
            json!({"prompt_tokens": 0, "completion_tokens": 0}),
        ),
        (Provider::Responses, json!({"input_tokens": null})),
        (
            Provider::Gemini,
            json!({"promptTokensDetails": [], "promptTokenCount": 0}),
        ),
        (
            Provider::Bedrock,
            json!({"inputTokens": 0, "outputTokens": 0}),
        ),
        (Provider::Anthropic, json!({"output_tokens": 0})),
    ] {
        let (whole, events) = bodies(provider, &counts);
        let reply = provider.reply(&whole.to_string()).unwrap();
        assert_eq!(reply.message().usage, None, "{provider} {counts}");
        // The bodies of the other two providers report tokens in an earlier event.
        if !matches!(provider, Provider::Anthropic | Provider::Gemini) {
            let stream = stream(provider, &events);
            assert_eq!(stream.usage(), None, "{provider} {counts}");
            let reply = stream.finish().unwrap();
            assert_eq!(reply.message().usage, None, "{provider} {counts}");
        }
    }
}
