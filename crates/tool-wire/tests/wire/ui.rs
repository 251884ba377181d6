//! The AI SDK's UI message stream, and reading the answers of an interface.

use futures::StreamExt as _;
use serde_json::{Value, json};
use tool_core::prelude::*;
use tool_core::store::{MemoryStore, ThreadId};
use tool_core::turn::{
    ClientResult, GuardrailKind, ModelMessage, Outcome, StopReason, StoredMessage, Tripped, Turn,
    Turns,
};
use tool_core::{
    ApprovalError, Approvals, DynamicTool, ErrorKind, Gate, KeyRing, Part, Registry, Route,
};
use tool_wire::ui::{ApprovalResponses, Chunk, UiError, Writer, client_results, user_message};
use tool_wire::{Delta, Provider};

use crate::support::recorded;

/// Sends a mail.
#[tool(approval, title = "Send a mail")]
async fn send_mail(
    /// The recipient of the mail.
    to: String,
    /// The size of the mail.
    #[arg(default = 1)]
    size: u32,
) -> String {
    format!("sent to {to}, {size}")
}

/// Counts to three.
#[tool(read_only)]
fn count() -> ToolStream<u8, String> {
    tool_stream! {
        yield 1;
        yield 2;
        "three".to_owned()
    }
}

/// Always fails.
#[tool(read_only)]
async fn fail() -> Result<u8, ToolError> {
    Err(ToolError::new("the disk is full"))
}

/// Looks a number up.
#[tool(read_only)]
async fn look_up(cx: &ToolContext) -> Result<u8, ToolError> {
    cx.cite(Citation::new("handbook", "a.md").retrieved_at("2026-03-01T09:30:00Z")?);
    Ok(7)
}

fn values(chunks: &[Chunk]) -> Vec<Value> {
    let value = |chunk: &Chunk| serde_json::to_value(chunk).unwrap();
    chunks.iter().map(value).collect()
}

fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall::new(id, name, arguments)
}

fn open() -> Toolset {
    let schema =
        json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false});
    let dynamic = DynamicTool::new("made", "Made.", schema, |_: Value, _| async {
        Ok::<_, ToolError>(1)
    });
    let registry = Registry::builder()
        .tool::<send_mail>()
        .tool::<count>()
        .tool::<fail>()
        .tool::<look_up>()
        .dynamic(dynamic);
    registry.build().unwrap().open()
}

// S2-18, S2-21: texts, inputs, progress, outputs, citations and errors are streamed in the form that the protocol defines
#[tokio::test]
async fn calls_are_streamed_to_the_interface() {
    let (tools, cx) = (open(), ToolContext::anonymous());
    let mut ui = Writer::new(&tools);
    let mut all = ui.start(Some("a-1"));
    for delta in [
        Delta::Text("I ".to_owned()),
        Delta::Text("look.".to_owned()),
        Delta::Call {
            id: "c-1".to_owned(),
            name: "count".to_owned(),
        },
        Delta::Arguments {
            id: "c-1".to_owned(),
            text: "{".to_owned(),
        },
        Delta::Arguments {
            id: "c-1".to_owned(),
            text: "}".to_owned(),
        },
    ] {
        all.extend(ui.delta(&delta).unwrap());
    }
    let message = ModelMessage {
        text: "I look.".to_owned(),
        ..ModelMessage::calls([
            call("c-1", "count", "{}"),
            call("c-2", "fail", "{}"),
            call("c-3", "look_up", "{}"),
            call("c-4", "made", "{}"),
            call("c-5", "nothing", "{}"),
            call("c-6", "count", "{"),
        ])
    };
    all.extend(ui.message(&message).unwrap());
    for call in &message.calls {
        let events: Vec<ToolEvent> = tools.stream(call.clone(), &cx).collect().await;
        for event in &events {
            all.extend(ui.event(&call.id, event).unwrap());
        }
    }
    all.extend(ui.step());
    all.extend(ui.message(&ModelMessage::text("All done.")).unwrap());
    all.extend(ui.finish());
    let mut all = values(&all);
    // The protocol does not define the texts of this crate's errors.
    for chunk in &mut all {
        let ours = chunk["toolCallId"] == "c-5" || chunk["toolCallId"] == "c-6";
        if ours && let Some(text) = chunk.get_mut("errorText") {
            assert!(!text.as_str().unwrap().is_empty());
            *text = json!("…");
        }
    }
    assert_eq!(
        all,
        [
            json!({"type": "start", "messageId": "a-1"}),
            json!({"type": "start-step"}),
            json!({"type": "text-start", "id": "text-1"}),
            json!({"type": "text-delta", "id": "text-1", "delta": "I "}),
            json!({"type": "text-delta", "id": "text-1", "delta": "look."}),
            json!({"type": "text-end", "id": "text-1"}),
            json!({"type": "tool-input-start", "toolCallId": "c-1", "toolName": "count"}),
            json!({"type": "tool-input-delta", "toolCallId": "c-1", "inputTextDelta": "{"}),
            json!({"type": "tool-input-delta", "toolCallId": "c-1", "inputTextDelta": "}"}),
            json!({"type": "tool-input-available", "toolCallId": "c-1", "toolName": "count", "input": {}}),
            json!({"type": "tool-input-available", "toolCallId": "c-2", "toolName": "fail", "input": {}}),
            json!({"type": "tool-input-available", "toolCallId": "c-3", "toolName": "look_up", "input": {}}),
            json!({"type": "tool-input-available", "toolCallId": "c-4", "toolName": "made", "input": {}, "dynamic": true}),
            json!({"type": "tool-input-available", "toolCallId": "c-5", "toolName": "nothing", "input": {}, "dynamic": true}),
            json!({"type": "tool-input-error", "toolCallId": "c-6", "toolName": "count", "input": "{", "errorText": "…"}),
            json!({"type": "tool-output-available", "toolCallId": "c-1", "output": 1, "preliminary": true}),
            json!({"type": "tool-output-available", "toolCallId": "c-1", "output": 2, "preliminary": true}),
            json!({"type": "tool-output-available", "toolCallId": "c-1", "output": "three"}),
            json!({"type": "tool-output-error", "toolCallId": "c-2", "errorText": "the disk is full"}),
            json!({"type": "tool-output-available", "toolCallId": "c-3", "output": 7}),
            json!({"type": "data-citations", "id": "c-3", "data": [
                {"source": "handbook", "sourceId": "a.md", "retrievedAt": "2026-03-01T09:30:00Z"}]}),
            json!({"type": "tool-output-available", "toolCallId": "c-4", "output": 1, "dynamic": true}),
            json!({"type": "tool-output-error", "toolCallId": "c-5", "errorText": "…", "dynamic": true}),
            json!({"type": "tool-output-error", "toolCallId": "c-6", "errorText": "…"}),
            json!({"type": "finish-step"}),
            json!({"type": "start-step"}),
            json!({"type": "text-start", "id": "text-2"}),
            json!({"type": "text-delta", "id": "text-2", "delta": "All done."}),
            json!({"type": "text-end", "id": "text-2"}),
            json!({"type": "finish-step"}),
            json!({"type": "finish", "finishReason": "stop"}),
        ]
    );
}

// A complete reply from any provider is shown in the same way. The calls of a reply that was cut off are shown as failed.
#[test]
fn replies_of_every_provider_are_shown() {
    for provider in Provider::ALL {
        let reply = provider.reply(recorded(provider).0).unwrap();
        let mut ui = Writer::new(&toolset![]);
        let chunks = values(&ui.reply(&reply).unwrap());
        let calls: Vec<&Value> = chunks
            .iter()
            .filter(|chunk| chunk["type"] == "tool-input-available")
            .collect();
        assert_eq!(calls.len(), 2, "{provider}");
        assert_eq!(calls[0]["input"], json!({"city": "Zürich", "days": 3}));
        let text = chunks.iter().find(|chunk| chunk["type"] == "text-delta");
        assert_eq!(text.unwrap()["delta"], "Ich sehe nach: ☕");
    }
    let body = recorded(Provider::Bedrock).0.replace(
        "\"stopReason\":\"tool_use\"",
        "\"stopReason\":\"max_tokens\"",
    );
    let mut ui = Writer::new(&toolset![]);
    let chunks = values(&ui.reply(&Provider::Bedrock.reply(&body).unwrap()).unwrap());
    assert_eq!(
        chunks
            .iter()
            .filter(|chunk| chunk["type"] == "tool-input-error")
            .count(),
        2
    );
    assert_eq!(
        values(&ui.finish())[1],
        json!({"type": "finish", "finishReason": "length"})
    );
}

// S2-18: a step that the protocol cannot show is refused
#[tokio::test]
async fn steps_out_of_order_are_refused() {
    let (tools, cx) = (open(), ToolContext::anonymous());
    let mut ui = Writer::new(&tools);
    let step = serde_json::value::to_raw_value(&1).unwrap();
    assert_eq!(
        ui.progress("c-1", &step).unwrap_err(),
        UiError::NoSuchCall {
            call: "c-1".to_owned()
        }
    );
    let begun = Delta::Call {
        id: "c-1".to_owned(),
        name: "count".to_owned(),
    };
    let _ = ui.delta(&begun).unwrap();
    let early = ui.progress("c-1", &step).unwrap_err();
    assert_eq!(
        early.to_string(),
        "call `c-1` is input-streaming, so it cannot have progress"
    );
    let _ = ui
        .message(&ModelMessage::calls([call("c-1", "count", "{}")]))
        .unwrap();
    let more = ui
        .delta(&Delta::Arguments {
            id: "c-1".to_owned(),
            text: "{".to_owned(),
        })
        .unwrap_err();
    assert_eq!(
        more.to_string(),
        "call `c-1` is input-available, so it cannot have more arguments"
    );
    let result = tools.call(call("c-1", "count", "{}"), &cx).await;
    let _ = ui.result(&result).unwrap();
    let again = ui.result(&result).unwrap_err();
    assert_eq!(
        again.to_string(),
        "call `c-1` is over, so it cannot have an output"
    );
    let late = ui.progress("c-1", &step).unwrap_err();
    assert_eq!(
        late.to_string(),
        "call `c-1` is over, so it cannot have progress"
    );
    let failed = tools.call(call("c-1", "fail", "{}"), &cx).await;
    assert!(ui.result(&failed).is_err());
    // A call with the same id in a later step is a different call, and gets a different id in the interface.
    let _ = ui.step();
    let chunks = values(
        &ui.message(&ModelMessage::calls([call("c-1", "count", "{}")]))
            .unwrap(),
    );
    assert_eq!(chunks[0]["toolCallId"], "c-1#2");
    assert_eq!(
        values(&ui.result(&result).unwrap())[0]["toolCallId"],
        "c-1#2"
    );
}

fn thread() -> ThreadId {
    ThreadId::new("acme", "th").unwrap()
}

/// The objects that a process creates when it starts.
struct Process {
    gate: Gate,
    turns: Turns,
    cx: ToolContext,
}

impl Process {
    fn start(store: &MemoryStore) -> Self {
        let keys = KeyRing::new("k", *b"thirty-two bytes of randomness!!").unwrap();
        let approvals = Approvals::builder(store.clone())
            .keys(keys)
            .build()
            .unwrap();
        Self {
            gate: Gate::builder()
                .approvals(approvals)
                .ledger(store.clone())
                .build(),
            turns: Turns::new(store.clone()),
            cx: ToolContext::builder()
                .workspace("acme")
                .user("ann")
                .conversation("th")
                .build(),
        }
    }

    fn tools(&self) -> Toolset {
        open().through(&self.gate)
    }

    fn approvals(&self) -> &Approvals {
        self.gate.approvals().unwrap()
    }
}

/// Stores two calls of `send_mail` and a failing call, and shows them. Returns the message, the chunks and the approval tokens.
async fn asked(store: &MemoryStore) -> (StoredMessage, Vec<Value>, Vec<String>) {
    let process = Process::start(store);
    let tools = process.tools();
    let message = ModelMessage::calls([
        // Repair writes the default; the second call needs no repair.
        call("c-1", "send_mail", r#"{"to":"bob","size":null}"#),
        call("c-2", "send_mail", r#"{"to":"eve","size":2}"#),
        call("c-3", "fail", "{}"),
    ]);
    let mut ui = Writer::new(&tools);
    let mut all = ui.start(None);
    all.extend(ui.message(&message).unwrap());
    let message = process.turns.record(message, &process.cx).await.unwrap();
    let turn = process
        .turns
        .run(&tools, &message, &process.cx)
        .await
        .unwrap();
    assert!(matches!(turn, Turn::Waiting(_)));
    all.extend(ui.turn(&turn).unwrap());
    all.extend(ui.finish());
    let all = values(&all);
    let tokens = all
        .iter()
        .filter(|chunk| chunk["type"] == "tool-approval-request");
    let tokens = tokens
        .map(|chunk| chunk["approvalId"].as_str().unwrap().to_owned())
        .collect();
    (message, all, tokens)
}

// S3-08: a call for the client is shown with the arguments that the client receives, and the stream ends with the reason `tool-calls`.
#[tokio::test]
async fn call_of_a_client_tool_is_shown_with_its_arguments() {
    let schema = json!({
        "type": "object", "properties": {"question": {"type": "string"}, "hint": {"type": ["string", "null"]}},
        "required": ["question", "hint"], "additionalProperties": false,
    });
    let color = json!({"type": "object", "properties": {"color": {"type": "string"}}, "required": ["color"]});
    let ask = DynamicTool::client("ask", "Asks the user.", schema, &color);
    let tools = Registry::builder().dynamic(ask).build().unwrap().open();
    let process = Process::start(&MemoryStore::default());
    for (arguments, is_repeated) in [
        (r#"{"question":"which?","hint":null}"#, false),
        // Repair removes the text around the object.
        (
            "```json\n{\"question\":\"which?\",\"hint\":null}\n```",
            true,
        ),
    ] {
        let message = ModelMessage::calls([call("c-1", "ask", arguments)]);
        let mut ui = Writer::new(&tools);
        let _ = ui.start(None);
        ui.message(&message).unwrap();
        let message = process.turns.record(message, &process.cx).await.unwrap();
        let turn = process
            .turns
            .run(&tools, &message, &process.cx)
            .await
            .unwrap();
        assert!(matches!(turn, Turn::Client(_)), "{turn:?}");
        let chunks = values(&ui.turn(&turn).unwrap());
        let shown = json!({
            "type": "tool-input-available", "toolCallId": "c-1", "toolName": "ask", "dynamic": true,
            "input": {"question": "which?", "hint": null},
        });
        assert_eq!(chunks, if is_repeated { vec![shown] } else { Vec::new() });
        let end = values(&ui.finish());
        assert_eq!(end.last().unwrap()["finishReason"], "tool-calls");
    }
}

/// Returns the body that an interface posts when both approvals are answered.
fn posted(tokens: &[String], yes: [bool; 2]) -> Value {
    let part = |at: usize, to: &str, size: u32| {
        json!({"type": "tool-send_mail", "toolCallId": format!("c-{}", at + 1), "state": "approval-responded",
            "input": {"size": size, "to": to}, "approval": {"id": tokens[at], "approved": yes[at], "reason": "so be it"}})
    };
    json!({"id": "chat", "trigger": "submit-message", "messages": [
        {"id": "u-1", "role": "user", "parts": [{"type": "text", "text": "Mail them."}]},
        {"id": "a-1", "role": "assistant", "parts": [{"type": "step-start"}, part(0, "bob", 1), part(1, "eve", 2),
            {"type": "tool-fail", "toolCallId": "c-3", "state": "output-error", "input": {}, "errorText": "the disk is full"}]},
    ]})
}

// S2-12, S2-13, S2-15, S2-17: approvals are requested and answered in the interface, and the same turn continues in a different process
#[tokio::test]
async fn turn_continues_with_the_answers_of_the_interface() {
    let store = MemoryStore::default();
    let (message, chunks, tokens) = asked(&store).await;
    let about = |id: &str| -> Vec<&Value> {
        chunks
            .iter()
            .filter(|chunk| chunk["toolCallId"] == id)
            .collect()
    };
    // The approver sees the repaired arguments, including the default.
    assert_eq!(about("c-1")[1]["input"], json!({"to": "bob", "size": 1}));
    assert_eq!(about("c-1")[1]["title"], "Send a mail");
    assert_eq!(about("c-1")[2]["type"], "tool-approval-request");
    assert_eq!(
        about("c-2").len(),
        2,
        "arguments without repairs are shown once"
    );
    assert_eq!(
        chunks.last().unwrap(),
        &json!({"type": "finish", "finishReason": "tool-calls"})
    );

    let process = Process::start(&store);
    let tools = process.tools();
    let answers = ApprovalResponses::read(&posted(&tokens, [true, false]).to_string()).unwrap();
    assert!(answers.is_ready());
    for response in answers.responses() {
        let route = response
            .submit(&"acme".into(), process.approvals(), &tools, "ann")
            .await
            .unwrap();
        assert_eq!(
            route,
            Route::Call {
                thread: Some(thread())
            }
        );
        // Each answer is accepted once.
        assert!(
            response
                .submit(&"acme".into(), process.approvals(), &tools, "ann")
                .await
                .is_err()
        );
    }
    let mut ui = Writer::resume(&tools, &answers);
    let mut all = ui.start(answers.message());
    let turn = process
        .turns
        .run(&tools, &message, &process.cx)
        .await
        .unwrap();
    let Turn::Complete(results) = &turn else {
        panic!("{turn:?}")
    };
    // A result that was shown before is not shown again.
    all.extend(ui.stored(&results[0]).unwrap());
    all.extend(ui.stored(&results[1]).unwrap());
    all.extend(ui.outcome(&Outcome::Answered("Done.".to_owned())).unwrap());
    all.extend(ui.finish());
    assert_eq!(
        values(&all),
        [
            json!({"type": "start", "messageId": "a-1"}),
            json!({"type": "tool-output-available", "toolCallId": "c-1", "output": "sent to bob, 1"}),
            json!({"type": "tool-output-denied", "toolCallId": "c-2"}),
            json!({"type": "start-step"}),
            json!({"type": "text-start", "id": "text-1"}),
            json!({"type": "text-delta", "id": "text-1", "delta": "Done."}),
            json!({"type": "text-end", "id": "text-1"}),
            json!({"type": "finish-step"}),
            json!({"type": "finish", "finishReason": "stop"}),
        ]
    );
    // The model reads the denial with its reason.
    assert!(
        results[1].is_of(ErrorKind::Denied) && results[1].text.contains("so be it"),
        "{}",
        results[1].text
    );
}

// S2-16: an answer from an interface that showed different arguments is refused, and so is an answer with a forged token
#[tokio::test]
async fn tampered_arguments_are_refused() {
    let store = MemoryStore::default();
    let (_, _, tokens) = asked(&store).await;
    let process = Process::start(&store);
    let tools = process.tools();
    let mut body = posted(&tokens, [true, true]);
    body["messages"][1]["parts"][1]["input"]["to"] = json!("mallory");
    body["messages"][1]["parts"][2]["approval"]["id"] = json!(tokens[1].replace("ta2.", "ta2.x"));
    let answers = ApprovalResponses::read(&body.to_string()).unwrap();
    let [tampered, forged] = answers.responses() else {
        panic!()
    };
    let error = tampered
        .submit(&"acme".into(), process.approvals(), &tools, "ann")
        .await
        .unwrap_err();
    assert!(matches!(error, ApprovalError::Tampered), "{error}");
    let error = forged
        .submit(&"acme".into(), process.approvals(), &tools, "ann")
        .await
        .unwrap_err();
    assert!(matches!(error, ApprovalError::Invalid), "{error}");
    // No answer was stored: both calls still wait.
    assert_eq!(
        process.approvals().waiting(&thread()).await.unwrap().len(),
        2
    );
    // Numbers that an interface formats differently are equal.
    let mut body = posted(&tokens, [true, true]);
    body["messages"][1]["parts"][1]["input"]["size"] = json!(1.0);
    let answers = ApprovalResponses::read(&body.to_string()).unwrap();
    answers.responses()[0]
        .submit(&"acme".into(), process.approvals(), &tools, "ann")
        .await
        .unwrap();
}

// S2-14: the turn continues only if every call of the last step has an answer or a final output, and at least one approval is answered
#[test]
fn turn_continues_when_every_call_is_answered() {
    let tokens = ["a".to_owned(), "b".to_owned()];
    let ready = |change: &dyn Fn(&mut Value)| {
        let mut body = posted(&tokens, [true, false]);
        change(&mut body["messages"][1]["parts"]);
        ApprovalResponses::read(&body.to_string())
            .unwrap()
            .is_ready()
    };
    let other = |parts: &mut Value, part: Value| parts[2] = part;
    let call = |state: &str| json!({"type": "dynamic-tool", "toolName": "x", "toolCallId": "c-2", "state": state, "input": {}});
    assert!(ready(&|_| {}));
    for state in ["approval-requested", "input-available", "input-streaming"] {
        assert!(!ready(&|parts| other(parts, call(state))), "{state}");
    }
    for state in ["output-available", "output-error", "output-denied"] {
        assert!(ready(&|parts| other(parts, call(state))), "{state}");
    }
    // A preliminary output is progress, and does not count as an output.
    assert!(!ready(&|parts| {
        let mut part = call("output-available");
        part["preliminary"] = json!(true);
        other(parts, part);
    }));
    // Only the last step counts, and without an answer the interface does not send a request.
    assert!(!ready(&|parts| parts
        .as_array_mut()
        .unwrap()
        .push(json!({"type": "step-start"}))));
    assert!(!ready(
        &|parts| *parts = json!([{"type": "step-start"}, call("output-available")])
    ));
    let user = json!([{"id": "u", "role": "user", "parts": []}]);
    assert!(
        !ApprovalResponses::read(&user.to_string())
            .unwrap()
            .is_ready()
    );
}

#[test]
fn approval_answers_in_model_message_form_are_accepted() {
    let messages = json!([{"role": "user", "content": "x"}, {"role": "tool", "content": [
        {"type": "tool-approval-response", "approvalId": "tok", "approved": true},
        {"type": "tool-approval-response", "approvalId": "theirs", "approved": true, "providerExecuted": true},
        {"type": "tool-result", "toolCallId": "c", "toolName": "x", "output": {"type": "text", "value": "y"}},
    ]}]);
    let answers = ApprovalResponses::read(&messages.to_string()).unwrap();
    assert!(answers.is_ready());
    let [response] = answers.responses() else {
        panic!()
    };
    assert_eq!(
        (
            response.approval.as_str(),
            response.approved,
            &response.input
        ),
        ("tok", true, &None)
    );
}

#[test]
fn invalid_interface_messages_are_reported_with_position() {
    let cases = [
        (
            "{",
            "the interface's messages are wrong at ``: expected JSON (EOF while parsing an object at line 1 column 1)",
        ),
        (
            "{}",
            "the interface's messages are wrong at `/messages`: expected a list of messages",
        ),
        (
            "[{}]",
            "the interface's messages are wrong at `/0/role`: expected text",
        ),
        (
            r#"{"messages":[{"role":"assistant"}]}"#,
            "the interface's messages are wrong at `/messages/0/parts`: expected a list of parts",
        ),
        (
            r#"[{"role":"assistant","parts":[{"type":"tool-x","toolCallId":"c","state":"approval-responded"}]}]"#,
            "the interface's messages are wrong at `/0/parts/0/approval`: expected an answer",
        ),
        (
            r#"[{"role":"assistant","parts":[{"type":"tool-x","toolCallId":"c","state":"approval-responded","approval":{"id":"a","approved":"yes"}}]}]"#,
            "the interface's messages are wrong at `/0/parts/0/approval/approved`: expected true or false",
        ),
    ];
    for (body, expected) in cases {
        assert_eq!(
            ApprovalResponses::read(body).unwrap_err().to_string(),
            expected
        );
    }
}

// A user's message from an interface, with its files, is stored in the thread and sent to every provider.
#[tokio::test]
async fn interface_message_with_files_is_sent_to_every_provider() {
    let body = json!({"id": "chat", "trigger": "submit-message", "messages": [
        {"id": "a-1", "role": "assistant", "parts": []},
        {"id": "u-1", "role": "user", "parts": [
            {"type": "file", "mediaType": "image/png", "filename": "cat.png", "url": "data:image/png;base64,iVBORw0KGgo="},
            {"type": "file", "mediaType": "image/jpeg", "url": "https://example.com/dog.jpg"},
            {"type": "data-place", "data": {"at": "Oslo"}},
            {"type": "text", "text": ""},
            {"type": "text", "text": "Which is larger?", "state": "done"},
        ]},
    ]});
    let message = user_message(&body.to_string()).unwrap().unwrap();
    let parts = [
        Part::base64("image/png", "iVBORw0KGgo=").named("cat.png"),
        Part::url("image/jpeg", "https://example.com/dog.jpg"),
        Part::text("Which is larger?"),
    ];
    assert_eq!(message.parts(), parts);
    let store = MemoryStore::default();
    let process = Process::start(&store);
    process.turns.say(message, &process.cx).await.unwrap();
    let thread_now = tool_core::store::ThreadStore::read(&store, &thread(), None)
        .await
        .unwrap();
    for provider in Provider::ALL {
        let history = provider.history(&thread_now).unwrap();
        let text = history.messages[0].get();
        assert!(
            text.contains("iVBORw0KGgo=") && text.contains("dog.jpg"),
            "{provider}: {text}"
        );
    }

    // Answers to approvals are not a user message; a bare list of messages is accepted too.
    let answered = json!([{"role": "assistant", "parts": []}]).to_string();
    assert_eq!(user_message(&answered).unwrap(), None);
    assert_eq!(user_message("[]").unwrap(), None);
    let only_text = json!([{"role": "user", "parts": [{"type": "text", "text": "Hello"}]}]);
    assert_eq!(
        user_message(&only_text.to_string()).unwrap(),
        Some("Hello".into())
    );
}

// The error about an unreadable message names the place.
#[test]
fn unreadable_interface_message_is_reported_with_position() {
    for (message, error) in [
        (
            json!({"role": "user"}),
            "wrong at `/0/parts`: expected a list of parts",
        ),
        (
            json!({"role": "user", "parts": [{"type": "text"}]}),
            "wrong at `/0/parts/0/text`: expected text",
        ),
        (
            json!({"role": "user", "parts": [{"type": "file", "url": "x"}]}),
            "wrong at `/0/parts/0/mediaType`: expected text",
        ),
        (
            json!({"role": "user", "parts": [{"type": "file", "mediaType": "text/plain", "url": "data:text/plain,a%20b"}]}),
            "wrong at `/0/parts/0/url`: expected an address, or a `data:` URL with `;base64`",
        ),
    ] {
        let refusal = user_message(&json!([message]).to_string()).unwrap_err();
        assert!(refusal.to_string().ends_with(error), "{refusal}");
    }
}

// The results of client tools are read from the last step, without progress and without tools of the provider.
#[test]
fn client_results_are_read_from_the_last_step() {
    let part = |call: &str, state: &str| json!({"type": "tool-ask", "toolCallId": call, "state": state, "output": {"n": 1}, "errorText": "closed"});
    let with = |mut part: Value, key: &str| {
        part[key] = json!(true);
        part
    };
    let body = json!({"messages": [{"id": "a", "role": "assistant", "parts": [
        {"type": "step-start"},
        part("old", "output-available"),
        {"type": "step-start"},
        {"type": "text", "text": "Wait."},
        part("c1", "output-available"),
        part("c2", "output-error"),
        part("c3", "input-available"),
        with(part("c4", "output-available"), "preliminary"),
        with(part("c5", "output-available"), "providerExecuted"),
    ]}]});
    let results = client_results(&body.to_string()).unwrap();
    let calls: Vec<&str> = results.iter().map(ClientResult::call).collect();
    assert_eq!(calls, ["c1", "c2"]);
    let user = json!([{"role": "user", "parts": [part("c1", "output-available")]}]);
    assert!(client_results(&user.to_string()).unwrap().is_empty());
    let error = client_results(r#"[{"role": "assistant", "parts": [{"type": "tool-x"}]}]"#);
    let error = error.unwrap_err().to_string();
    assert!(
        error.ends_with("wrong at `/0/parts/0/toolCallId`: expected text"),
        "{error}"
    );
}

// S2-14: a host that takes calls from the thread continues them, even if the provider gave two calls the same id.
#[test]
fn answered_calls_of_a_thread_continue_with_the_ids_of_the_interface() {
    let tools = open();
    let mut ui = Writer::new(&tools);
    for _ in 0..2 {
        let _ = ui.step();
        let call = call("c1", "send_mail", r#"{"to":"bob","size":1}"#);
        ui.message(&ModelMessage::calls([call])).unwrap();
        let result = r#"{"id": "c1", "name": "send_mail", "text": "sent", "output": "sent"}"#;
        if ui.own_ids(vec![ClientResult::failed("c1#2", "")])[0].call() == "c1#2" {
            ui.stored(&serde_json::from_str(result).unwrap()).unwrap();
        }
    }
    let results = ui.own_ids(vec![
        ClientResult::failed("c1#2", "closed"),
        ClientResult::failed("c9", "closed"),
    ]);
    assert_eq!((results[0].call(), results[1].call()), ("c1", "c9"));
    // The interface knows the call, and gets the arguments only if the turn has changed them.
    let known = ui.answered(
        &call("c1", "send_mail", r#"{"to":"bob","size":1}"#),
        "t1",
        false,
    );
    assert_eq!(
        values(&known),
        [json!({"type": "tool-approval-request", "approvalId": "t1", "toolCallId": "c1#2"})]
    );
    let nested = ui.answered(&call("c1:0", "send_mail", r#"{"to":"eve"}"#), "t2", true);
    assert_eq!(
        values(&nested),
        [
            json!({"type": "tool-input-available", "toolCallId": "c1:0", "toolName": "send_mail", "input": {"to": "eve"}, "title": "Send a mail"}),
            json!({"type": "tool-approval-request", "approvalId": "t2", "toolCallId": "c1:0"}),
        ]
    );
    let denied = r#"{"id": "c1", "name": "send_mail", "text": "denied", "error": "denied"}"#;
    let denied = ui.stored(&serde_json::from_str(denied).unwrap()).unwrap();
    assert_eq!(
        values(&denied)[0],
        json!({"type": "tool-output-denied", "toolCallId": "c1#2"})
    );
}

// A stopped message ends its open parts, and has no reason, which version 5 of the AI SDK refuses.
#[test]
fn stopped_message_is_aborted() {
    let mut ui = Writer::new(&open());
    let _ = ui.delta(&Delta::Text("one".to_owned())).unwrap();
    let ends: Vec<Value> = values(&ui.abort());
    assert_eq!(
        ends,
        [
            json!({"type": "text-end", "id": "text-1"}),
            json!({"type": "finish-step"}),
            json!({"type": "abort"})
        ]
    );
}

// The text of a guardrail is shown once, in a separate part, even after pieces that were shown without a
// check.
#[test]
fn text_of_a_guardrail_is_shown_once() {
    let message = ModelMessage {
        stop: Some(StopReason::Guardrail(GuardrailKind::Output)),
        ..ModelMessage::text("Not here.")
    };
    let outcome = Outcome::Guardrail(Tripped {
        kind: GuardrailKind::Output,
        text: message.text.clone(),
    });
    for streamed in [false, true] {
        for has_message in [false, true] {
            let mut ui = Writer::new(&toolset![]);
            let mut chunks = ui.step();
            if streamed {
                chunks.extend(ui.delta(&Delta::Text("unchecked".to_owned())).unwrap());
            }
            if has_message {
                chunks.extend(ui.message(&message).unwrap());
            }
            chunks.extend(ui.outcome(&outcome).unwrap());
            chunks.extend(ui.finish());
            let values = values(&chunks);
            let texts = values.iter().filter_map(|chunk| chunk["delta"].as_str());
            let expected: &[&str] = if streamed {
                &["unchecked", "Not here."]
            } else {
                &["Not here."]
            };
            assert_eq!(texts.collect::<Vec<_>>(), expected);
            let of = |kind: &str| values.iter().filter(|chunk| chunk["type"] == kind).count();
            assert_eq!(of("text-start"), expected.len());
            assert_eq!(of("text-end"), expected.len());
            assert_eq!(values.last().unwrap()["finishReason"], "content-filter");
        }
    }
}
