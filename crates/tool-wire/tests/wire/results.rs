//! Tests of writing results for requests.

use serde_json::{Value, json};
use tool_core::prelude::*;
use tool_core::turn::ModelMessage;
use tool_core::{ErrorKind, Part};
use tool_wire::{Provider, RequestMessages, WireError};

/// Returns a text.
#[tool]
async fn text() -> &'static str {
    "plain \"text\""
}

/// Returns an object.
#[tool]
async fn object() -> Sum {
    Sum {
        sum: 9_007_199_254_740_993,
    }
}

/// The sum of some numbers.
#[derive(Debug, Serialize, StrictSchema)]
pub(crate) struct Sum {
    /// The sum as a whole number.
    pub(crate) sum: u64,
}

/// Returns a list.
#[tool]
async fn list() -> Vec<u8> {
    vec![1, 2]
}

/// Always fails.
#[tool]
async fn broken() -> Result<u8, ToolError> {
    Err(ToolError::new("the index is being rebuilt"))
}

/// Is always denied.
#[tool]
async fn denied() -> Result<u8, ToolError> {
    Err(ToolError::of(
        ErrorKind::Denied,
        "Ann has said no: too dear",
    ))
}

/// An output with files.
#[derive(Debug, Serialize, StrictSchema)]
pub(crate) struct Shown {
    /// The name of the output.
    pub(crate) name: String,
}

fn parts(_: &Shown) -> ModelOutput {
    let Part::File {
        media_type, source, ..
    } = Part::base64("application/pdf", "JVBERi0=")
    else {
        unreachable!()
    };
    ModelOutput::parts([
        Part::text("two files"),
        Part::base64("image/png", "iVBORw0="),
        Part::File {
            media_type,
            source,
            name: Some("a b/c.pdf".to_owned()),
        },
        Part::url("image/jpeg", "https://example.com/a.jpg"),
        Part::base64("audio/ogg", "T2dn"),
    ])
}

/// Returns files.
#[tool(to_model_output = parts)]
async fn files() -> Shown {
    Shown {
        name: String::new(),
    }
}

fn tools() -> Toolset {
    toolset![text, object, list, broken, denied, files]
}

async fn run(names: &[&str]) -> (ModelMessage, Vec<CallResult>) {
    let calls: Vec<ToolCall> = names
        .iter()
        .enumerate()
        .map(|(at, name)| ToolCall::new(format!("c-{at}"), *name, "{}"))
        .collect();
    let (tools, cx) = (tools(), ToolContext::anonymous());
    let mut results = Vec::new();
    for call in &calls {
        results.push(tools.call(call.clone(), &cx).await);
    }
    (ModelMessage::calls(calls), results)
}

fn values(results: &RequestMessages) -> Vec<Value> {
    results
        .messages
        .iter()
        .map(|raw| serde_json::from_str(raw.get()).unwrap())
        .collect()
}

// S2-22, S2-17: text, JSON, failure and denial, in the form that each provider accepts
#[tokio::test]
async fn each_provider_gets_its_results() {
    let (message, results) = run(&["text", "object", "list", "broken", "denied"]).await;
    let written = |provider: Provider| values(&provider.results(&message, &results).unwrap());
    let big = r#"{"sum":9007199254740993}"#;
    let no = "Ann has said no: too dear";

    let chat = |at: usize, text: &str| json!({"role": "tool", "tool_call_id": format!("c-{at}"), "content": text});
    assert_eq!(
        written(Provider::Chat),
        [
            chat(0, "plain \"text\""),
            chat(1, big),
            chat(2, "[1,2]"),
            chat(3, "the index is being rebuilt"),
            chat(4, no)
        ]
    );
    let item = |at: usize, text: &str| json!({"type": "function_call_output", "call_id": format!("c-{at}"), "output": text});
    assert_eq!(
        written(Provider::Responses),
        [
            item(0, "plain \"text\""),
            item(1, big),
            item(2, "[1,2]"),
            item(3, "the index is being rebuilt"),
            item(4, no)
        ]
    );
    assert_eq!(
        written(Provider::Anthropic),
        [json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "c-0", "content": "plain \"text\""},
            {"type": "tool_result", "tool_use_id": "c-1", "content": big},
            {"type": "tool_result", "tool_use_id": "c-2", "content": "[1,2]"},
            {"type": "tool_result", "tool_use_id": "c-3", "content": "the index is being rebuilt", "is_error": true},
            {"type": "tool_result", "tool_use_id": "c-4", "content": no, "is_error": true},
        ]})]
    );
    let part = |at: usize, name: &str, response: Value| json!({"functionResponse": {"id": format!("c-{at}"), "name": name, "response": response}});
    assert_eq!(
        written(Provider::Gemini),
        [json!({"role": "user", "parts": [
            part(0, "text", json!({"output": "plain \"text\""})),
            part(1, "object", json!({"output": {"sum": 9_007_199_254_740_993_u64}})),
            part(2, "list", json!({"output": [1, 2]})),
            part(3, "broken", json!({"error": "the index is being rebuilt"})),
            part(4, "denied", json!({"error": no})),
        ]})]
    );
    let block = |at: usize, content: Value, status: &str| json!({"toolResult": {"toolUseId": format!("c-{at}"), "content": [content], "status": status}});
    assert_eq!(
        written(Provider::Bedrock),
        [json!({"role": "user", "content": [
            block(0, json!({"text": "plain \"text\""}), "success"),
            block(1, json!({"json": {"sum": 9_007_199_254_740_993_u64}}), "success"),
            block(2, json!({"text": "[1,2]"}), "success"),
            block(3, json!({"text": "the index is being rebuilt"}), "error"),
            block(4, json!({"text": no}), "error"),
        ]})]
    );
}

// Files are sent in the form that each provider accepts; a file that the provider does not accept is reported to the model and to the host.
#[tokio::test]
async fn files_are_sent_in_the_form_of_each_provider() {
    let (message, results) = run(&["files"]).await;
    let written = |provider: Provider| {
        let results = provider.results(&message, &results).unwrap();
        let out: Vec<String> = results
            .left_out
            .iter()
            .map(|out| out.media_type.clone())
            .collect();
        (values(&results), out)
    };
    let (chat, out) = written(Provider::Chat);
    assert_eq!(out, ["audio/ogg"]);
    assert_eq!(
        chat,
        [
            json!({"role": "tool", "tool_call_id": "c-0", "content":
                "two files\n[file.png, see below]\n[a b/c.pdf, see below]\n[file.jpeg, see below]\n[audio/ogg left out: Chat Completions accepts images, PDF, WAV, MP3 and texts]"}),
            json!({"role": "user", "content": [
                {"type": "text", "text": "file.png of the result of `c-0`:"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0="}},
                {"type": "text", "text": "a b/c.pdf of the result of `c-0`:"},
                {"type": "file", "file": {"filename": "a b/c.pdf", "file_data": "data:application/pdf;base64,JVBERi0="}},
                {"type": "text", "text": "file.jpeg of the result of `c-0`:"},
                {"type": "image_url", "image_url": {"url": "https://example.com/a.jpg"}},
            ]}),
        ]
    );
    let (responses, out) = written(Provider::Responses);
    assert_eq!(out, ["audio/ogg"]);
    assert_eq!(
        responses[0]["output"],
        json!([
            {"type": "input_text", "text": "two files"},
            {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0="},
            {"type": "input_file", "filename": "a b/c.pdf", "file_data": "data:application/pdf;base64,JVBERi0="},
            {"type": "input_image", "image_url": "https://example.com/a.jpg"},
            {"type": "input_text", "text": "[audio/ogg left out: Responses accepts images and documents]"},
        ])
    );
    let (anthropic, out) = written(Provider::Anthropic);
    assert_eq!(out, ["audio/ogg"]);
    assert_eq!(
        anthropic[0]["content"][0]["content"],
        json!([
            {"type": "text", "text": "two files"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0="}},
            {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}, "title": "a b/c.pdf"},
            {"type": "image", "source": {"type": "url", "url": "https://example.com/a.jpg"}},
            {"type": "text", "text": "[audio/ogg left out: Anthropic accepts JPEG, PNG, GIF, WebP, PDF and texts]"},
        ])
    );
    let (gemini, out) = written(Provider::Gemini);
    assert_eq!(out, [""; 0]);
    assert_eq!(
        gemini[0]["parts"][0]["functionResponse"],
        json!({
            "id": "c-0", "name": "files",
            "response": {"output": "two files\n[file.png]\n[a b/c.pdf]\n[file.jpeg, see below]\n[file.ogg, see below]"},
            "parts": [
                {"inlineData": {"mimeType": "image/png", "data": "iVBORw0="}},
                {"inlineData": {"mimeType": "application/pdf", "data": "JVBERi0="}},
            ],
        })
    );
    let (bedrock, out) = written(Provider::Bedrock);
    assert_eq!(out, ["image/jpeg", "audio/ogg"]);
    assert_eq!(
        bedrock[0]["content"][0]["toolResult"]["content"],
        json!([
            {"text": "two files"},
            {"image": {"format": "png", "source": {"bytes": "iVBORw0="}}},
            {"document": {"format": "pdf", "name": "a b c pdf (1)", "source": {"bytes": "JVBERi0="}}},
            {"text": "[image/jpeg left out, https://example.com/a.jpg: Bedrock accepts the bytes of a file, but not an address]"},
            {"text": "[audio/ogg left out: Bedrock accepts images, videos, PDF, office documents and texts]"},
        ])
    );
}

#[tokio::test]
async fn results_are_in_the_order_of_the_calls() {
    let (message, mut results) = run(&["text", "list", "object"]).await;
    results.rotate_left(1);
    for provider in Provider::ALL {
        let written = provider.results(&message, &results).unwrap();
        let text: String = written.messages.iter().map(|raw| raw.get()).collect();
        let at = |id: &str| text.find(id).unwrap();
        assert!(
            at("c-0") < at("c-1") && at("c-1") < at("c-2"),
            "{provider}: {text}"
        );
    }
    // Two calls with the same id have two results.
    let calls = ["text", "list"].map(|name| ToolCall::new("same", name, "{}"));
    let cx = ToolContext::anonymous();
    let both = [
        tools().call(calls[0].clone(), &cx).await,
        tools().call(calls[1].clone(), &cx).await,
    ];
    let written = Provider::Anthropic
        .results(&ModelMessage::calls(calls), &both)
        .unwrap();
    let content = &values(&written)[0]["content"];
    assert_eq!(
        (&content[0]["content"], &content[1]["content"]),
        (&json!("plain \"text\""), &json!("[1,2]"))
    );
}

#[tokio::test]
async fn every_call_has_one_result() {
    let (message, mut results) = run(&["text", "list"]).await;
    for provider in Provider::ALL {
        let missing = provider.results(&message, &results[..1]).unwrap_err();
        assert_eq!(
            missing,
            WireError::MissingResult {
                call: "c-1".to_owned()
            }
        );
    }
    results.extend(run(&["text"]).await.1);
    let twice = Provider::Chat.results(&message, &results).unwrap_err();
    assert_eq!(
        twice,
        WireError::UnknownCall {
            call: "c-0".to_owned()
        }
    );
}

// Generated ids are not sent back.
#[tokio::test]
async fn generated_ids_are_not_sent_back() {
    let calls = [ToolCall::new("gemini_call_x_0", "text", "{}")];
    let result = tools()
        .call(calls[0].clone(), &ToolContext::anonymous())
        .await;
    let written = Provider::Gemini
        .results(&ModelMessage::calls(calls), &[result])
        .unwrap();
    assert_eq!(
        values(&written)[0]["parts"],
        json!([{"functionResponse": {"name": "text", "response": {"output": "plain \"text\""}}}])
    );
}
