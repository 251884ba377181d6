use super::*;

fn code(message: &str) -> (i32, Option<String>) {
    let read = read(message.as_bytes()).and_then(|incoming| match incoming {
        Incoming::Call(call) => call.into_message(true),
        Incoming::Other(other) => other.into_message(),
    });
    let error = read.map(|_| ()).unwrap_err().into_message();
    (error.error.code.0, error.id.map(|id| id.to_string()))
}

#[test]
fn malformed_message_has_an_error_code_and_its_id() {
    let none = None;
    let id = |id: &str| Some(id.to_owned());
    let cases = [
        ("{\"jsonrpc\":\"2.0\",", -32700, none.clone()),
        ("nonsense", -32700, none.clone()),
        ("[]", -32600, none.clone()),
        (
            r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
            -32600,
            none.clone(),
        ),
        ("7", -32600, none.clone()),
        (
            r#"{"jsonrpc":"1.0","id":4,"method":"ping"}"#,
            -32600,
            id("4"),
        ),
        (r#"{"id":4,"method":"ping"}"#, -32600, id("4")),
        (r#"{"jsonrpc":"2.0","id":"a"}"#, -32600, id("a")),
        (
            r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
            -32600,
            none.clone(),
        ),
        (
            r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
            -32600,
            none.clone(),
        ),
        (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, -32600, id("1")),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}"#,
            -32602,
            id("1"),
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":5}}"#,
            -32602,
            id("1"),
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#,
            -32602,
            id("1"),
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#,
            -32602,
            id("1"),
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":5}}"#,
            -32602,
            id("1"),
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":[]}}"#,
            -32602,
            id("1"),
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{}}"#,
            -32602,
            id("1"),
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":7,"error":5}"#,
            -32600,
            id("1"),
        ),
    ];
    for (message, expected, id) in cases {
        assert_eq!(code(message), (expected, id), "{message}");
    }
    assert_eq!(
        read(b"\xff")
            .map(|_| ())
            .unwrap_err()
            .into_message()
            .error
            .code
            .0,
        -32700
    );
}

// JSON-RPC 2.0, section 4.1: a notification gets no response, even if its parameters are invalid
#[cfg(feature = "stdio")]
#[test]
fn invalid_notifications_get_no_response() {
    for params in ["[]", r#"{"cursor":5}"#] {
        for (id, is_quiet) in [("", true), (r#""id":1,"#, false)] {
            let message =
                format!(r#"{{"jsonrpc":"2.0",{id}"method":"tools/list","params":{params}}}"#);
            let reject = read(message.as_bytes()).map(|_| ()).unwrap_err();
            assert_eq!(reject.is_quiet(), is_quiet, "{message}");
        }
    }
}

// The error for a duplicate key names the key. An earlier version reported the error for batches instead.
#[test]
fn duplicate_key_is_named() {
    let text = |message: &str| {
        let reject = read(message.as_bytes()).map(|_| ()).unwrap_err();
        reject.into_message().error.message.into_owned()
    };
    let twice = text(r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#);
    assert!(twice.contains("duplicate field `id`"), "{twice}");
    assert!(!twice.contains("batches"), "{twice}");
    assert!(text("[]").contains("batches"));
}

#[test]
fn text_of_arguments_is_kept_verbatim() {
    let text = r#"{"a":1, "a":2, "big":340282366920938463463374607431768211456}"#;
    let message = format!(
        r#"{{"params":{{"arguments": {text} ,"name":"x\u0041","_meta":{{"progressToken":7}}}},"method":"tools/call","id":"q","jsonrpc":"2.0"}}"#
    );
    let Ok(Incoming::Call(call)) = read(message.as_bytes()) else {
        panic!("the message was not read as a call");
    };
    assert_eq!((call.name.as_str(), call.arguments), ("xA", Some(text)));
    let (request, id) = call.into_message(false).unwrap().into_request().unwrap();
    assert_eq!(id.to_string(), "q");
    let ClientRequest::CallToolRequest(request) = request else {
        panic!("the message was not read as a call");
    };
    assert!(request.params.arguments.is_none());
    let RawArguments(raw) = request.extensions.get().unwrap();
    assert_eq!(&**raw, text);
    let meta: &RequestMetaObject = request.extensions.get().unwrap();
    assert!(meta.get_progress_token().is_some());
}

#[test]
fn absent_arguments_and_null_are_none() {
    for params in [r#"{"name":"a"}"#, r#"{"name":"a","arguments":null}"#] {
        let message =
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
        let Ok(Incoming::Call(call)) = read(message.as_bytes()) else {
            panic!("the message was not read as a call");
        };
        assert_eq!(call.arguments, None);
    }
}

#[test]
fn unknown_methods_are_passed_on() {
    let message = br#"{"jsonrpc":"2.0","id":1,"method":"acme/thing","params":{"a":1}}"#;
    let Ok(Incoming::Other(other)) = read(message) else {
        panic!("the message was not passed on");
    };
    assert!(other.into_message().is_ok());
}

#[test]
fn one_pass_parse_of_a_call_equals_the_general_parse() {
    let params = [
        r#"{"name":"a"}"#,
        r#"{"name":"a","arguments":null,"_meta":null,"requestState":null}"#,
        r#"{"name":"\u0061","arguments": {"a":1, "a":2,"big":1e999} ,"more":[1]}"#,
        r#"{"_meta":{"progressToken":"t","x":{"y":[1.5]}},"name":"a"}"#,
        r#"{"name":"a","requestState":"s","inputResponses":{"q":{"action":"accept"}}}"#,
    ];
    let wrong = [
        "{}",
        "null",
        "[]",
        r#"{"name":null}"#,
        r#"{"name":"a","name":"b"}"#,
        r#"{"name":"a","arguments":[]}"#,
        r#"{"name":"a","_meta":7}"#,
        r#"{"name":"a","_meta":{"x":1e999}}"#,
        r#"{"name":"a","requestState":7}"#,
        r#"{"name":"a","inputResponses":[]}"#,
    ];
    let around = [
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":PARAMS}"#,
        r#" {"params":PARAMS,"method":"tools/call","id":"\u0031","jsonrpc":"2.0","result":null,"x":1} "#,
        r#"{"jsonrpc":"2.0","id":1e2,"method":"tools/call","error":5,"params":PARAMS}"#,
    ];
    let outside = [
        r#"{"jsonrpc":"2.0","method":"tools/call","params":PARAMS}"#,
        r#"{"jsonrpc":"2.0","id":null,"method":"tools/call","params":PARAMS}"#,
        r#"{"jsonrpc":"2.0","id":1.5,"method":"tools/call","params":PARAMS}"#,
        r#"{"jsonrpc":"2\u002e0","id":1,"method":"tools/call","params":PARAMS}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","method":"tools/call","params":PARAMS}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":PARAMS,"x":"tools/call"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":PARAMS} x"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":PARAMS"#,
    ];
    for around in around.iter().chain(&outside) {
        for params in params.iter().chain(&wrong) {
            let text = around.replace("PARAMS", params);
            if let Some(call) = quick::call(&text) {
                let Ok(Incoming::Call(same)) = piecemeal(&text) else {
                    panic!("{text}");
                };
                assert_eq!(call, same, "{text}");
            }
        }
    }
    for around in around {
        for params in params {
            assert!(quick::call(&around.replace("PARAMS", params)).is_some());
        }
        for params in wrong {
            assert!(quick::call(&around.replace("PARAMS", params)).is_none());
        }
    }
}
