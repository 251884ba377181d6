//! Malformed replies of providers. The errors contain the position of the fault.

use tool_wire::{Provider, WireError};

fn fault(provider: Provider, body: &str) -> String {
    provider.reply(body).unwrap_err().to_string()
}

#[test]
fn unexpected_shape_is_reported_with_its_position() {
    let cases = [
        (
            Provider::Chat,
            "nothing",
            "OpenAI Chat Completions sent invalid JSON: expected ident at line 1 column 2",
        ),
        (
            Provider::Chat,
            "[]",
            "OpenAI Chat Completions sent an unexpected shape at ``: expected an object, found an array",
        ),
        (
            Provider::Chat,
            "{}",
            "OpenAI Chat Completions sent an unexpected shape at `/choices`: expected a value, found none",
        ),
        (
            Provider::Chat,
            r#"{"choices":[{"message":{"content":7}}]}"#,
            "OpenAI Chat Completions sent an unexpected shape at `/choices/0/message/content`: expected text, found `7`",
        ),
        (
            Provider::Chat,
            r#"{"choices":[{"message":{"tool_calls":[{"id":"a","function":{"arguments":"{}"}}]}}]}"#,
            "OpenAI Chat Completions sent an unexpected shape at `/choices/0/message/tool_calls/0`: expected a call that begins with the name of its function, found none",
        ),
        (
            Provider::Chat,
            r#"{"choices":[{"message":{"tool_calls":[{"id":"a","type":"custom","custom":{"name":"x","input":"y"}}]}}]}"#,
            "OpenAI Chat Completions sent an unexpected shape at `/choices/0/message/tool_calls/0/type`: expected `function`, as no other kind of tool was offered, found `\"custom\"`",
        ),
        (
            Provider::Chat,
            r#"{"choices":[{},{}]}"#,
            "OpenAI Chat Completions sent an unexpected shape at `/choices`: expected one choice, so send the request without `n`, found an array",
        ),
        (
            Provider::Chat,
            r#"{"choices":[{"message":{"function_call":{"name":"x","arguments":"{}"}}}]}"#,
            "OpenAI Chat Completions sent an unexpected shape at `/choices/0/message/function_call`: expected `tool_calls`, so send the request with `tools` and not with `functions`, found an object",
        ),
        (
            Provider::Chat,
            r#"{"choices":[{"message":{"content":"a","content":"b"}}]}"#,
            "OpenAI Chat Completions sent an unexpected shape at `/choices/0/message/content`: expected a unique key, found a duplicate key",
        ),
        (
            Provider::Responses,
            r#"{"status":"completed","output":[{"type":"function_call","name":"x","arguments":"{}"}]}"#,
            "OpenAI Responses sent an unexpected shape at `/output/0/call_id`: expected a value, found none",
        ),
        (
            Provider::Anthropic,
            r#"{"content":[{"type":"text","text":"a"},{"type":"tool_use","id":"a","input":{}}]}"#,
            "Anthropic sent an unexpected shape at `/content/1/name`: expected a value, found none",
        ),
        (
            Provider::Gemini,
            r#"{"candidates":[{"content":{"parts":[{"functionCall":{"args":{}}}]}}]}"#,
            "Gemini sent an unexpected shape at `/candidates/0/content/parts/0/functionCall/name`: expected a value, found none",
        ),
        (
            Provider::Gemini,
            r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"x","willContinue":true}}]}}]}"#,
            "Gemini sent an unexpected shape at `/candidates/0/content/parts/0/functionCall/willContinue`: expected a complete call, so send the request without `streamFunctionCallArguments`, found `true`",
        ),
        (
            Provider::Bedrock,
            r#"{"output":{"message":{"content":[{"toolUse":{"name":"x","input":{}}}]}}}"#,
            "Bedrock sent an unexpected shape at `/output/message/content/0/toolUse/toolUseId`: expected a value, found none",
        ),
        (
            Provider::Bedrock,
            r#"{"output":"text"}"#,
            "Bedrock sent an unexpected shape at `/output`: expected an object, found `\"text\"`",
        ),
    ];
    for (provider, body, expected) in cases {
        assert_eq!(fault(provider, body), expected, "{body}");
    }
}

#[test]
fn provider_error_is_reported() {
    let cases = [
        (
            Provider::Chat,
            r#"{"error":{"message":"too many","type":"rate_limit_error","code":"x"}}"#,
            "rate_limit_error",
            "too many",
        ),
        (
            Provider::Chat,
            r#"{"error":"overloaded"}"#,
            "error",
            "overloaded",
        ),
        (
            Provider::Responses,
            r#"{"status":"failed","error":{"code":"server_error","message":"sorry"},"output":[]}"#,
            "server_error",
            "sorry",
        ),
        (
            Provider::Anthropic,
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            "overloaded_error",
            "Overloaded",
        ),
        (
            Provider::Gemini,
            r#"{"error":{"code":400,"message":"bad","status":"INVALID_ARGUMENT"}}"#,
            "INVALID_ARGUMENT",
            "bad",
        ),
        (
            Provider::Gemini,
            r#"{"promptFeedback":{"blockReason":"SAFETY"}}"#,
            "SAFETY",
            "the prompt was blocked",
        ),
        (
            Provider::Bedrock,
            r#"{"message":"Too many tokens","__type":"ThrottlingException"}"#,
            "ThrottlingException",
            "Too many tokens",
        ),
    ];
    for (provider, body, kind, message) in cases {
        let expected = WireError::Reported {
            provider,
            kind: kind.to_owned(),
            message: message.to_owned(),
        };
        assert_eq!(provider.reply(body).unwrap_err(), expected);
    }
}

#[test]
fn errors_in_a_stream_are_reported() {
    let cases = [
        (Provider::Chat, r#"{"error":{"message":"m","type":"k"}}"#),
        (
            Provider::Responses,
            r#"{"type":"error","code":"k","message":"m","param":null}"#,
        ),
        (
            Provider::Responses,
            r#"{"type":"response.failed","response":{"status":"failed","error":{"code":"k","message":"m"}}}"#,
        ),
        (
            Provider::Anthropic,
            r#"{"type":"error","error":{"type":"k","message":"m"}}"#,
        ),
        (
            Provider::Gemini,
            r#"{"error":{"code":503,"status":"k","message":"m"}}"#,
        ),
    ];
    let expected = |provider| WireError::Reported {
        provider,
        kind: "k".to_owned(),
        message: "m".to_owned(),
    };
    for (provider, event) in cases {
        let mut stream = provider.stream();
        assert_eq!(stream.event(event).unwrap_err(), expected(provider));
        // The error is also reported if the connection ends right after the event.
        let mut stream = provider.stream();
        assert!(stream.feed(format!("data: {event}").as_bytes()).is_ok());
        assert_eq!(stream.finish().unwrap_err(), expected(provider));
    }
    let mut stream = Provider::Bedrock.stream();
    let event = r#"{"modelStreamErrorException":{"message":"m"}}"#;
    let expected = WireError::Reported {
        provider: Provider::Bedrock,
        kind: "modelStreamErrorException".to_owned(),
        message: "m".to_owned(),
    };
    assert_eq!(stream.event(event).unwrap_err(), expected);
}

#[test]
fn misplaced_events_are_reported() {
    let cases = [
        (
            Provider::Anthropic,
            r#"{"type":"content_block_delta","index":4,"delta":{"type":"text_delta","text":"a"}}"#,
            "Anthropic sent an unexpected shape at `/index`: expected the number of a block that is open, found `4`",
        ),
        (
            Provider::Responses,
            r#"{"type":"response.function_call_arguments.delta","output_index":0,"delta":"{"}"#,
            "OpenAI Responses sent an unexpected shape at `/output_index`: expected the number of an item that has begun, found `0`",
        ),
        (
            Provider::Chat,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}}]}"#,
            "OpenAI Chat Completions sent an unexpected shape at `/choices/0/delta/tool_calls/0`: expected a call that begins with the name of its function, found none",
        ),
        (
            Provider::Bedrock,
            r#"{"contentBlockIndex":0,"delta":{"text":"a"}}"#,
            "Bedrock sent an unexpected shape at ``: expected an event with its name, such as `contentBlockDelta`, found an object",
        ),
    ];
    for (provider, event, expected) in cases {
        assert_eq!(
            provider.stream().event(event).unwrap_err().to_string(),
            expected
        );
    }
    let framed = Provider::Bedrock.stream().feed(b"\0\0\0").unwrap_err();
    assert!(framed.to_string().contains("`ReplyStream::event`"));
    let bytes = Provider::Chat.stream().feed(b"data: \xff\n\n").unwrap_err();
    assert_eq!(
        bytes.to_string(),
        "the stream of OpenAI Chat Completions cannot be read: a line is not UTF-8"
    );
}

// Deeply nested arguments are plain text until the tool's own check reads them.
#[test]
fn deeply_nested_arguments_do_not_exhaust_the_stack() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let body = format!(
        r#"{{"content":[{{"type":"tool_use","id":"c","name":"t","input":{deep}}}],"stop_reason":"tool_use"}}"#
    );
    let reply = Provider::Anthropic.reply(&body).unwrap();
    assert_eq!(reply.calls()[0].arguments.len(), deep.len());
    assert_eq!(Provider::Anthropic.assistant(reply.message()).len(), 1);
}
