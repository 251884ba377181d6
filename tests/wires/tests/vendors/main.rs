//! Requests that each vendor's own client sends to a local test server. The server receives the intended request, and the client parses the recorded
//! response to the same values as this project.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[path = "../support.rs"]
mod support;

mod examples;
mod frames;
mod stand_in;

use std::process::ExitCode;

use serde_json::{Map, Value, json};
use test_support::{Ran, suite};
use tool_agent::model::{ApiKey, CacheTime, Endpoint, HttpModel, OutputFormat};
use tool_core::prelude::*;
use tool_core::store::MemoryStore;
use tool_core::turn::{ModelMessage, Outcome, Turns, UserMessage};
use tool_core::{Part, Rules};
use tool_wire::{Offer, Provider, SystemPrompt};

use stand_in::{TestServer, recorded};

fn main() -> ExitCode {
    suite![
        openai_chat_client_sends_tools_and_reads_calls_case,
        openai_responses_client_sends_tools_and_reads_calls_case,
        anthropic_client_sends_tools_and_reads_calls_case,
        gemini_client_sends_tools_and_reads_calls_case,
        bedrock_client_sends_tools_and_reads_calls_case,
        changed_offer_is_accepted_by_the_vendor_client_case,
        requests_of_http_models_are_accepted_by_the_vendor_clients_case,
    ]
    .run()
}

/// A request, and the tool definitions in it as they were written.
struct Request {
    body: Value,
    text: String,
    tools: String,
}

/// The body that a host sends: its own fields, and the flattened fields about tools.
#[derive(Serialize)]
struct Body<'a> {
    #[serde(flatten)]
    offer: &'a Offer,
    #[serde(flatten)]
    system: &'a SystemPrompt,
    #[serde(flatten)]
    own: Map<String, Value>,
}

fn request(
    provider: Provider,
    offer: &Offer,
    system: &SystemPrompt,
    messages: Vec<Value>,
) -> Request {
    let (key, own) = match provider {
        Provider::Chat => ("messages", json!({"model": "gpt-5.6"})),
        Provider::Responses => ("input", json!({"model": "gpt-5.6", "store": false})),
        Provider::Anthropic => (
            "messages",
            json!({"model": "claude-opus-5", "max_tokens": 4096}),
        ),
        Provider::Gemini => ("contents", json!({})),
        Provider::Bedrock => ("messages", json!({})),
    };
    let Value::Object(mut own) = own else {
        panic!()
    };
    own.insert(key.to_owned(), Value::Array(messages));
    if !offer.betas().is_empty() {
        own.insert("betas".to_owned(), json!(offer.betas()));
    }
    let text = serde_json::to_string(&Body { offer, system, own }).unwrap();
    Request {
        body: serde_json::from_str(&text).unwrap(),
        text,
        tools: offer.tools().to_owned(),
    }
}

/// Removes white space between JSON tokens, and decodes the escape sequences that begin with `\u`.
fn bare(text: &str) -> String {
    let (mut bare, mut chars, mut inside) = (String::new(), text.chars(), false);
    while let Some(c) = chars.next() {
        match c {
            '"' => inside = !inside,
            '\\' => {
                let escaped = chars.next().unwrap();
                if escaped == 'u' {
                    let code: String = chars.by_ref().take(4).collect();
                    let code = u32::from_str_radix(&code, 16).unwrap();
                    bare.push(char::from_u32(code).unwrap());
                } else {
                    bare.extend(['\\', escaped]);
                }
                continue;
            }
            c if !inside && c.is_whitespace() => continue,
            _ => {}
        }
        bare.push(c);
    }
    bare
}

fn values(messages: &[Box<serde_json::value::RawValue>]) -> Vec<Value> {
    let value = |raw: &serde_json::value::RawValue| serde_json::from_str(raw.get()).unwrap();
    messages.iter().map(|raw| value(raw)).collect()
}

/// Normalises a received body. Google's client writes some keys in snake case, which the API accepts too, and adds an empty field.
fn spelled(provider: Provider, body: Value) -> Value {
    if provider != Provider::Gemini {
        return body;
    }
    let mut text = body.to_string();
    for (theirs, ours) in [
        ("parameters_json_schema", "parametersJsonSchema"),
        ("inline_data", "inlineData"),
        ("mime_type", "mimeType"),
        ("system_instruction", "systemInstruction"),
        ("file_data", "fileData"),
        ("file_uri", "fileUri"),
    ] {
        text = text.replace(&format!("\"{theirs}\":"), &format!("\"{ours}\":"));
    }
    let mut body: Value = serde_json::from_str(&text).unwrap();
    let empty = body.as_object_mut().unwrap().remove("generationConfig");
    assert_eq!(empty, Some(json!({})));
    body
}

/// Sends a request through the vendor's client, and compares the received body and the parsed response with the expected values.
async fn through(provider: Provider, request: &Request) -> Ran {
    let stand_in = TestServer::start(provider).await;
    let arguments = [provider.name(), stand_in.address.as_str()];
    let said = support::python("vendors.py", &arguments, &request.text).await?;
    let said: Value = serde_json::from_str(&said).unwrap();

    let arrived = stand_in.arrived();
    assert_eq!(
        arrived.len(),
        2,
        "{provider}: the client did not send exactly one request for a whole answer and one for a streamed answer"
    );
    for body in arrived {
        let mut body = spelled(provider, body);
        let mut meant = request.body.clone();
        for one in [&mut body, &mut meant] {
            // The client adds streaming options, and accepts some headers as arguments.
            for key in ["stream", "stream_options", "betas"] {
                one.as_object_mut().unwrap().remove(key);
            }
        }
        assert_eq!(body, meant, "{provider}");
    }
    // A model writes keys in the order of the schema, so the server must receive each schema unchanged.
    for text in stand_in.texts() {
        let text = bare(&text);
        for def in Registry::linked().unwrap().open().tools() {
            let schema = bare(def.schema(provider.dialect()));
            let offered = request.tools.contains(&format!("\"{}\"", def.name()));
            assert!(!offered || text.contains(&schema), "{provider}: {text}");
        }
    }

    let (whole, stream) = recorded(provider);
    let mut streamed = provider.stream();
    match provider {
        Provider::Bedrock => stream.lines().for_each(|line| {
            streamed.event(line).unwrap();
        }),
        _ => {
            streamed.feed(stream.as_bytes()).unwrap();
        }
    }
    for (key, reply) in [
        ("whole", provider.reply(whole).unwrap()),
        ("streamed", streamed.finish().unwrap()),
    ] {
        assert_eq!(said[key]["text"], reply.text(), "{provider} {key}");
        let reasoning = &said[key]["reasoning"];
        assert_eq!(reasoning, reply.reasoning(), "{provider} {key}");
        let read = said[key]["calls"].as_array().unwrap();
        assert_eq!(read.len(), reply.calls().len(), "{provider} {key}");
        for (read, call) in read.iter().zip(reply.calls()) {
            assert!(read["id"].is_null() || read["id"] == call.id, "{read}");
            assert_eq!(read["name"], call.name);
            let arguments: Value = serde_json::from_str(&call.arguments).unwrap();
            assert_eq!(read["arguments"], arguments, "{provider} {key}");
        }
    }
    Ok(())
}

/// Offers as many of the examples' tools as one request can contain.
fn offer(provider: Provider) -> Offer {
    let tools = Registry::linked().unwrap().open();
    assert!(tools.len() >= 12, "{tools:?}");
    provider.offer(&tools).unwrap()
}

/// Returns a conversation with every kind of tool result.
async fn conversation(provider: Provider) -> Vec<Value> {
    let mut messages = vec![provider.user("How is the weather?")];
    let reply = provider.reply(recorded(provider).0).unwrap();
    let cx = ToolContext::anonymous();
    let said = |message: &ModelMessage, results: &[CallResult]| {
        let mut messages = provider.assistant(message);
        messages.extend(provider.results(message, results).unwrap().messages);
        messages
    };
    // Neither tool is linked, so both results are errors.
    let tools = Registry::linked().unwrap().open();
    let mut results = Vec::new();
    for call in reply.calls() {
        results.push(tools.call(call.clone(), &cx).await);
    }
    messages.extend(said(reply.message(), &results));

    let ways = toolset![as_text, as_json, as_files];
    let calls = ways
        .names()
        .enumerate()
        .map(|(at, name)| ToolCall::new(format!("call_{at}"), name, "{}"));
    let message = ModelMessage::calls(calls);
    let mut results = Vec::new();
    for call in &message.calls {
        results.push(ways.call(call.clone(), &cx).await);
    }
    messages.extend(said(&message, &results));

    // A user's message contains files.
    let files = UserMessage::from([
        Part::text("And these?"),
        Part::base64("image/png", "iVBORw0KGgo="),
        Part::url("image/jpeg", "https://example.com/dog.jpg"),
        Part::base64("application/pdf", "JVBERi0xLjQ=").named("report.pdf"),
        Part::base64("text/plain", "SGVsbG8="),
        Part::base64("audio/wav", "UklGRg=="),
        Part::base64("video/mp4", "AAAAGA=="),
    ]);
    messages.extend(provider.user_message(&files).messages);
    values(&messages)
}

/// Returns a text.
#[tool(harness)]
async fn as_text() -> &'static str {
    "a text"
}

/// Returns JSON.
#[tool(harness)]
async fn as_json() -> Found {
    Found { rows: vec![1, 2] }
}

/// The rows that were found.
#[derive(Debug, Serialize, StrictSchema)]
struct Found {
    /// The numbers of the rows.
    rows: Vec<u32>,
}

fn files(_: &Found) -> ModelOutput {
    ModelOutput::parts([
        Part::text("two files"),
        Part::base64("image/png", "iVBORw0KGgo="),
        Part::base64("application/pdf", "JVBERi0xLjQ="),
    ])
}

/// Returns files.
#[tool(harness, to_model_output = files)]
async fn as_files() -> Found {
    Found { rows: Vec::new() }
}

// M2: OpenAI's client for chat completions sends the definitions of the examples' tools, and reads and sends calls and results.
async fn openai_chat_client_sends_tools_and_reads_calls_case() -> Ran {
    whole_conversation(Provider::Chat).await
}

// M2: OpenAI's client for the Responses API sends the definitions, and reads and sends calls and results.
async fn openai_responses_client_sends_tools_and_reads_calls_case() -> Ran {
    whole_conversation(Provider::Responses).await
}

// M2: Anthropic's client sends the definitions, and reads and sends calls and results.
async fn anthropic_client_sends_tools_and_reads_calls_case() -> Ran {
    whole_conversation(Provider::Anthropic).await
}

// M2: Gemini's client sends the definitions, and reads and sends calls and results.
async fn gemini_client_sends_tools_and_reads_calls_case() -> Ran {
    whole_conversation(Provider::Gemini).await
}

// M2: the Bedrock client sends the definitions, and reads and sends calls and results.
async fn bedrock_client_sends_tools_and_reads_calls_case() -> Ran {
    whole_conversation(Provider::Bedrock).await
}

async fn whole_conversation(provider: Provider) -> Ran {
    // A system message precedes the other messages.
    let system = provider.system_message("Answer in one sentence.");
    let mut messages = values(&system.messages);
    messages.extend(conversation(provider).await);
    let request = request(provider, &offer(provider), &system.system, messages);
    through(provider, &request).await
}

// M11: after one tool is disabled and another tool is enabled, the client accepts the new request, which begins with the first request's bytes.
async fn changed_offer_is_accepted_by_the_vendor_client_case() -> Ran {
    let registry = Registry::linked().unwrap();
    let cx = ToolContext::anonymous();
    let rules = |hidden: &'static str| registry.toolset(&cx, &Rules::default().deny([hidden]));
    for provider in Provider::ALL {
        let first = provider.offer(&rules("as_text")).unwrap();
        let second = first.next(&rules("as_json")).unwrap();
        assert!(
            second
                .tools()
                .starts_with(first.tools().trim_end_matches(']')),
            "{provider}"
        );
        let mut messages = vec![provider.user("Hello")];
        messages.extend(second.change().map(ToOwned::to_owned));
        messages.push(provider.user("And now?"));
        let none = SystemPrompt::default();
        let request = request(provider, &second, &none, values(&messages));
        through(provider, &request).await?;
    }
    Ok(())
}

/// A typed output.
#[derive(StrictSchema)]
#[expect(dead_code, reason = "only the schema is used")]
struct Weather {
    /// The wind in metres per second.
    wind: f64,
    /// The quality of the air, or null if it is unknown.
    air: Option<String>,
}

// The vendors' clients accept the second request of a conversation as `HttpModel` sends it: instructions, tools, a call and its result, the markers
// of the prompt cache, and the format of a typed output.
async fn requests_of_http_models_are_accepted_by_the_vendor_clients_case() -> Ran {
    let key = || ApiKey::new("a key of the test");
    for endpoint in [
        Endpoint::openai_chat(key()),
        Endpoint::openai(key()),
        Endpoint::anthropic(key()),
        Endpoint::gemini(key()),
        Endpoint::bedrock_with_key("eu-central-1", key()),
    ] {
        let provider = endpoint.provider();
        let server = TestServer::start(provider).await;
        let (path, name) = match provider {
            Provider::Bedrock => ("", "claude"),
            _ => ("/v1", "gemini-3-pro"),
        };
        let endpoint = endpoint.base_url(format!("{}{path}", server.address));
        let model = HttpModel::builder(endpoint, name).cache_prompt(CacheTime::OneHour);
        let model = match provider {
            // Google's client takes these parameters as arguments, and not as a body.
            Provider::Gemini => model,
            // The types of the client have no temperature.
            Provider::Anthropic => model.max_tokens(500),
            _ => model.max_tokens(500).temperature(0.5),
        };
        let mut model = model.build().unwrap();
        let mut cx = ToolContext::builder()
            .workspace("acme")
            .conversation("main");
        // Google's client also takes the format as an argument.
        if provider != Provider::Gemini {
            cx = cx.with(OutputFormat::new::<Weather>().unwrap());
        }
        let cx = cx.build();
        let turns = Turns::new(MemoryStore::default()).most_steps(2);
        turns
            .instruct("Answer in one sentence.", &cx)
            .await
            .unwrap();
        turns.say("How is the weather?", &cx).await.unwrap();
        let tools = Registry::linked().unwrap().open();
        let outcome = turns.drive(&mut model, |_| tools.clone(), &cx).await;
        // The server answers every request with the same calls.
        assert!(matches!(outcome, Ok(Outcome::StepLimit)), "{outcome:?}");
        let mut text = server.texts()[1].clone();
        for streaming in [
            r#""stream":true,"#,
            r#""stream_options":{"include_usage":true},"#,
        ] {
            text = text.replacen(streaming, "", 1);
        }
        let request = Request {
            body: serde_json::from_str(&text).unwrap(),
            text,
            tools: offer(provider).tools().to_owned(),
        };
        through(provider, &request).await?;
    }
    Ok(())
}
