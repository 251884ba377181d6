//! Malformed replies of providers. The errors contain the position of the fault.

use tool_wire::{Provider, StopReason, WireError};

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
            r#"{"status":"completed","output":[{"type":"function_call","call_id":"a","arguments":"{}"}]}"#,
            "OpenAI Responses sent an unexpected shape at `/output/0/name`: expected a value, found none",
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
            r#"{"output":{"message":{"content":[{"toolUse":{"toolUseId":"a","input":{}}}]}}}"#,
            "Bedrock sent an unexpected shape at `/output/message/content/0/toolUse/name`: expected a value, found none",
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

/// A provider's error: body or event, kind, code and message.
type Reported = (
    Provider,
    &'static str,
    &'static str,
    Option<&'static str>,
    &'static str,
);

fn reported((provider, _, kind, code, message): Reported) -> WireError {
    WireError::Reported {
        provider,
        kind: kind.to_owned(),
        code: code.map(str::to_owned),
        message: message.to_owned(),
    }
}

// An error in the body of a response is reported with its kind, code and message.
#[test]
fn provider_error_is_reported() {
    let cases: &[Reported] = &[
        (
            Provider::Chat,
            r#"{"error":{"message":"too many","type":"requests","code":"rate_limit_exceeded"}}"#,
            "requests",
            Some("rate_limit_exceeded"),
            "too many",
        ),
        (
            Provider::Chat,
            r#"{"error":{"message":"no money","type":"insufficient_quota","code":"insufficient_quota","param":null}}"#,
            "insufficient_quota",
            None,
            "no money",
        ),
        (
            Provider::Chat,
            r#"{"error":{"message":"m","type":"","code":null}}"#,
            "error",
            None,
            "m",
        ),
        (
            Provider::Chat,
            r#"{"error":{"message":"bad gateway","code":502}}"#,
            "error",
            Some("502"),
            "bad gateway",
        ),
        (
            Provider::Chat,
            r#"{"error":"overloaded"}"#,
            "error",
            None,
            "overloaded",
        ),
        // Routers to several providers report an error of the chosen provider in the choice.
        (
            Provider::Chat,
            r#"{"choices":[{"message":{"content":"a"},"finish_reason":"error","error":{"code":429,"message":"m"}}]}"#,
            "error",
            Some("429"),
            "m",
        ),
        (
            Provider::Responses,
            r#"{"status":"failed","error":{"code":"server_error","message":"sorry"},"output":[]}"#,
            "server_error",
            None,
            "sorry",
        ),
        (
            Provider::Responses,
            r#"{"status":"failed","error":null,"output":[]}"#,
            "failed",
            None,
            "",
        ),
        (
            Provider::Anthropic,
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_1"}"#,
            "overloaded_error",
            None,
            "Overloaded",
        ),
        (
            Provider::Gemini,
            r#"{"error":{"code":400,"message":"bad","status":"INVALID_ARGUMENT"}}"#,
            "INVALID_ARGUMENT",
            Some("400"),
            "bad",
        ),
        (
            Provider::Gemini,
            r#"[{"error":{"code":503,"message":"busy","status":"UNAVAILABLE"}}]"#,
            "UNAVAILABLE",
            Some("503"),
            "busy",
        ),
        (
            Provider::Gemini,
            r#"{"promptFeedback":{"blockReason":"SAFETY"}}"#,
            "SAFETY",
            None,
            "the prompt was blocked",
        ),
        (
            Provider::Bedrock,
            r#"{"message":"Too many tokens","__type":"ThrottlingException"}"#,
            "ThrottlingException",
            None,
            "Too many tokens",
        ),
    ];
    for case in cases {
        let (provider, body, ..) = *case;
        let error = provider.reply(body).unwrap_err();
        assert_eq!(error, reported(*case), "{body}");
    }
}

/// The errors in streams, in each shape that a provider sends.
const IN_STREAMS: &[Reported] = &[
    (
        Provider::Chat,
        r#"{"error":{"message":"m","type":"k","code":"c"}}"#,
        "k",
        Some("c"),
        "m",
    ),
    (
        Provider::Chat,
        r#"{"error":"out of memory"}"#,
        "error",
        None,
        "out of memory",
    ),
    // The chunk of an error may have choices as well.
    (
        Provider::Chat,
        r#"{"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}],"error":{"code":502,"message":"m"}}"#,
        "error",
        Some("502"),
        "m",
    ),
    (
        Provider::Chat,
        r#"{"choices":[{"index":0,"delta":{},"error":{"code":"c","message":"m"}}]}"#,
        "c",
        None,
        "m",
    ),
    // As documented: the fields are at the top level.
    (
        Provider::Responses,
        r#"{"type":"error","code":"k","message":"m","param":null,"sequence_number":3}"#,
        "k",
        None,
        "m",
    ),
    (
        Provider::Responses,
        r#"{"type":"error","code":500,"message":"m"}"#,
        "error",
        Some("500"),
        "m",
    ),
    (
        Provider::Responses,
        r#"{"type":"error"}"#,
        "error",
        None,
        "",
    ),
    // As captured: the fields are in `error`.
    (
        Provider::Responses,
        r#"{"type":"error","sequence_number":2,"error":{"type":"insufficient_quota","code":"insufficient_quota","message":"m","param":null}}"#,
        "insufficient_quota",
        None,
        "m",
    ),
    (
        Provider::Responses,
        r#"{"type":"error","error":{"type":"tokens","code":"rate_limit_exceeded","message":"m"}}"#,
        "tokens",
        Some("rate_limit_exceeded"),
        "m",
    ),
    (
        Provider::Responses,
        r#"{"error":{"type":"server_error","message":"m"}}"#,
        "server_error",
        None,
        "m",
    ),
    (
        Provider::Responses,
        r#"{"type":"response.failed","response":{"status":"failed","error":{"code":"k","message":"m"}}}"#,
        "k",
        None,
        "m",
    ),
    (
        Provider::Responses,
        r#"{"type":"response.failed","response":{"status":"failed","error":null}}"#,
        "failed",
        None,
        "",
    ),
    (
        Provider::Anthropic,
        r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
        "overloaded_error",
        None,
        "Overloaded",
    ),
    (
        Provider::Anthropic,
        r#"{"type":"error"}"#,
        "error",
        None,
        "",
    ),
    (
        Provider::Anthropic,
        r#"{"error":{"type":"api_error","message":"m"}}"#,
        "api_error",
        None,
        "m",
    ),
    (
        Provider::Gemini,
        r#"{"error":{"code":503,"status":"k","message":"m"}}"#,
        "k",
        Some("503"),
        "m",
    ),
    (
        Provider::Gemini,
        r#"[{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"m"}}]"#,
        "RESOURCE_EXHAUSTED",
        Some("429"),
        "m",
    ),
];

// An error in a stream is reported, in each shape that a provider sends.
#[test]
fn errors_in_a_stream_are_reported() {
    for case in IN_STREAMS {
        let (provider, event, ..) = *case;
        let mut stream = provider.stream();
        assert_eq!(stream.event(event).unwrap_err(), reported(*case), "{event}");
        // The error is also reported if the connection ends right after the event.
        let mut stream = provider.stream();
        assert!(stream.feed(format!("data: {event}").as_bytes()).is_ok());
        assert_eq!(stream.finish().unwrap_err(), reported(*case), "{event}");
    }
}

// The exception frames of Bedrock are events whose name is the name of the exception.
#[test]
fn exceptions_in_a_bedrock_stream_are_reported() {
    for kind in [
        "internalServerException",
        "modelStreamErrorException",
        "throttlingException",
        "validationException",
        "serviceUnavailableException",
    ] {
        for (content, message) in [
            (r#"{"message":"m","originalStatusCode":424}"#, "m"),
            ("{}", ""),
            ("null", ""),
        ] {
            let mut stream = Provider::Bedrock.stream();
            let text = r#"{"contentBlockDelta":{"contentBlockIndex":0,"delta":{"text":"a"}}}"#;
            assert!(stream.event(text).is_ok());
            let event = format!(r#"{{"{kind}":{content}}}"#);
            let expected = WireError::Reported {
                provider: Provider::Bedrock,
                kind: kind.to_owned(),
                code: None,
                message: message.to_owned(),
            };
            assert_eq!(stream.event(&event).unwrap_err(), expected, "{event}");
        }
    }
}

// A server that fails before it streams may send JSON without server-sent events, in one line or in several, with the status 200.
#[test]
fn error_body_in_place_of_a_stream_is_reported() {
    let error = r#"{"error":{"type":"k","code":"c","message":"data: m"}}"#;
    for provider in Provider::ALL {
        if provider == Provider::Bedrock {
            continue;
        }
        let case: Reported = (provider, error, "k", Some("c"), "data: m");
        let value: serde_json::Value = serde_json::from_str(error).unwrap();
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        for body in [
            error.to_owned(),
            format!("{pretty}\r\n"),
            format!("[{pretty}\n]\n"),
        ] {
            let mut stream = provider.stream();
            for piece in body.as_bytes().chunks(7) {
                assert_eq!(stream.feed(piece), Ok(Vec::new()), "{body}");
            }
            assert_eq!(stream.finish().unwrap_err(), reported(case), "{body}");
        }
    }
    // Lines that are neither events nor an error do not change the reply.
    let mut stream = Provider::Chat.stream();
    let end = r#"{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}"#;
    let body = format!("{{\"note\": 1}}\n\ndata: {end}\n\n<p>\n");
    assert!(stream.feed(body.as_bytes()).is_ok());
    assert_eq!(stream.finish().unwrap().text(), "a");
}

// An incomplete response is a reply that was cut off, with the provider's reason. It is not an error.
#[test]
fn incomplete_response_in_a_stream_has_its_reason() {
    for (details, stop) in [
        (r#"{"reason":"max_output_tokens"}"#, StopReason::Length),
        (r#"{"reason":"content_filter"}"#, StopReason::Filtered),
        (r#"{"reason":"k"}"#, StopReason::Other("k".to_owned())),
        ("null", StopReason::Length),
    ] {
        let mut stream = Provider::Responses.stream();
        let event = format!(
            r#"{{"type":"response.incomplete","response":{{"status":"incomplete","error":null,"incomplete_details":{details},"output":[],
            "usage":{{"input_tokens":7,"output_tokens":3}}}}}}"#
        );
        assert_eq!(stream.event(&event), Ok(Vec::new()));
        let reply = stream.finish().unwrap();
        assert_eq!(reply.stop(), &stop, "{details}");
        let usage = reply.message().usage.unwrap();
        assert_eq!((usage.input_tokens, usage.output_tokens), (7, 3));
    }
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
