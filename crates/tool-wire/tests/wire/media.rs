//! Files in provider requests, in an interface's stream, and in replayed threads.

use serde_json::{Value, json};
use tool_core::prelude::*;
use tool_core::store::{MemoryStore, ThreadId, ThreadStore};
use tool_core::turn::{ModelMessage, Turn, Turns};
use tool_core::{Audio, File, Image, Part};
use tool_wire::ui::Writer;
use tool_wire::{Provider, RequestMessages};

/// A PNG image of one red pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8/5+hHgAHggJ/PchI7wAAAABJRU5ErkJggg==";
/// A GIF image of one pixel.
const GIF: &str = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
/// A WAV file without samples.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";
/// The beginning of a PDF file.
const PDF: &str = "JVBERi0xLjQKJeLjz9MKMSAwIG9iago8PC9UeXBlL0NhdGFsb2c+PgplbmRvYmoK";

fn png() -> Image {
    Image::base64("image/png", PNG).unwrap()
}

fn gif() -> Image {
    Image::base64("image/gif", GIF).unwrap()
}

fn wav() -> Audio {
    Audio::base64("audio/wav", WAV).unwrap()
}

fn pdf() -> File {
    File::base64("application/pdf", PDF)
        .unwrap()
        .named("report.pdf")
}

/// Draws an image.
#[tool(read_only)]
fn draw() -> Result<Image, ToolError> {
    Ok(png())
}

/// Returns a file of every kind.
#[tool(read_only)]
fn all_kinds() -> Result<Vec<Part>, ToolError> {
    Ok(vec![
        "All:".into(),
        png().into(),
        gif().into(),
        wav().into(),
        pdf().into(),
        File::new("application/json", r#"{"a":1}"#)?
            .named("a.json")
            .into(),
        File::new("application/zip", b"PK")?.named("a.zip").into(),
    ])
}

/// A report with an image.
#[derive(Serialize)]
struct Report {
    title: String,
    chart: Image,
}

/// Returns a report.
#[tool(read_only)]
fn report() -> Result<Report, ToolError> {
    Ok(Report {
        title: "Sales".to_owned(),
        chart: png(),
    })
}

/// Returns an image as a URL.
#[tool(read_only)]
fn far() -> Result<Image, ToolError> {
    Image::url("image/png", "https://example.com/a.png")
}

/// Draws images that few providers accept.
#[tool(read_only)]
fn rare() -> Result<Vec<Image>, ToolError> {
    let svg = "<svg xmlns=\"http://www.w3.org/2000/svg\"/>";
    Ok(vec![
        Image::new("image/tiff", b"II*\0")?,
        Image::new("image/svg+xml", svg)?.named("a.svg"),
    ])
}

/// Draws an image that is too large for two providers.
#[tool(read_only)]
fn large() -> Result<Image, ToolError> {
    Image::new("image/png", vec![0; 5_000_000])
}

fn tools() -> Toolset {
    toolset![draw, all_kinds, report, far, rare, large]
}

async fn results(provider: Provider, name: &str) -> (Vec<Value>, RequestMessages) {
    let call = ToolCall::new("c-0", name, "{}");
    let result = tools().call(call.clone(), &ToolContext::anonymous()).await;
    assert!(!result.is_error(), "{:?}", result.error());
    let written = provider
        .results(&ModelMessage::calls([call]), &[result])
        .unwrap();
    let messages = written.messages.iter();
    let values = messages
        .map(|raw| serde_json::from_str(raw.get()).unwrap())
        .collect();
    (values, written)
}

fn left_out(results: &RequestMessages) -> Vec<&str> {
    results
        .left_out
        .iter()
        .map(|file| &*file.media_type)
        .collect()
}

/// Collects every string of a JSON value.
fn strings<'v>(value: &'v Value, out: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => out.push(text),
        Value::Array(items) => items.iter().for_each(|item| strings(item, out)),
        Value::Object(entries) => entries.values().for_each(|item| strings(item, out)),
        _ => {}
    }
}

/// Asserts that base64 occurs only where a provider expects bytes, and not in texts.
fn no_text_has_base64(provider: Provider, messages: &[Value]) {
    let mut all = Vec::new();
    for message in messages {
        strings(message, &mut all);
    }
    for data in [PNG, GIF, WAV, PDF] {
        for text in all.iter().filter(|text| text.contains(data)) {
            let rest = text.strip_suffix(data).unwrap_or("not a suffix");
            let is_url = rest.starts_with("data:") && rest.ends_with(";base64,") && rest.len() < 40;
            assert!(rest.is_empty() || is_url, "{provider}: {text}");
        }
    }
}

// One image, in the form that each provider documents for tool results.
#[tokio::test]
async fn image_is_sent_to_every_provider() {
    let url = format!("data:image/png;base64,{PNG}");
    for (provider, expected) in [
        (
            Provider::Chat,
            vec![
                json!({"role": "tool", "tool_call_id": "c-0", "content": "[file.png, see below]"}),
                json!({"role": "user", "content": [
                    {"type": "text", "text": "file.png of the result of `c-0`:"},
                    {"type": "image_url", "image_url": {"url": url}},
                ]}),
            ],
        ),
        (
            Provider::Responses,
            vec![
                json!({"type": "function_call_output", "call_id": "c-0", "output": [
                    {"type": "input_image", "image_url": url},
                ]}),
            ],
        ),
        (
            Provider::Anthropic,
            vec![
                json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c-0", "content": [
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
                ]}]}),
            ],
        ),
        (
            Provider::Gemini,
            vec![json!({"role": "user", "parts": [{"functionResponse": {
                "id": "c-0", "name": "draw", "response": {"output": "[file.png]"},
                "parts": [{"inlineData": {"mimeType": "image/png", "data": PNG}}],
            }}]})],
        ),
        (
            Provider::Bedrock,
            vec![json!({"role": "user", "content": [{"toolResult": {
                "toolUseId": "c-0", "status": "success",
                "content": [{"image": {"format": "png", "source": {"bytes": PNG}}}],
            }}]})],
        ),
    ] {
        let (written, results) = results(provider, "draw").await;
        assert_eq!(written, expected, "{provider}");
        assert!(results.left_out.is_empty(), "{provider}");
    }
}

// Every kind of file is shown, follows in a user's message, is sent as text, or is named in a line of text.
#[tokio::test]
async fn every_kind_of_file_is_sent_or_named() {
    for (provider, expected) in [
        (Provider::Chat, &["application/zip"][..]),
        // Responses accepts documents of any type.
        (Provider::Responses, &["audio/wav"]),
        (Provider::Anthropic, &["audio/wav", "application/zip"]),
        (Provider::Gemini, &["application/zip"]),
        (Provider::Bedrock, &["audio/wav", "application/zip"]),
    ] {
        let (written, results) = results(provider, "all_kinds").await;
        assert_eq!(left_out(&results), expected, "{provider}");
        no_text_has_base64(provider, &written);
        let text = written.iter().map(Value::to_string).collect::<String>();
        for media_type in expected {
            assert!(
                text.contains(&format!("[{media_type} left out")),
                "{provider}: {text}"
            );
        }
        for data in [PNG, GIF, PDF] {
            assert!(
                text.contains(data),
                "{provider} does not get all files: {text}"
            );
        }
        let json = text.contains(r#"a.json:\n{\"a\":1}"#) || text.contains("application/json");
        assert!(json, "{provider}: {text}");
    }
}

// Gemini accepts audio and GIFs only in a user's message.
#[tokio::test]
async fn files_gemini_refuses_in_results_follow_in_a_user_message() {
    let (written, _) = results(Provider::Gemini, "all_kinds").await;
    assert_eq!(written.len(), 2);
    assert_eq!(
        written[1],
        json!({"role": "user", "parts": [
            {"text": "file.gif of the result of `all_kinds`:"},
            {"inlineData": {"mimeType": "image/gif", "data": GIF}},
            {"text": "file.wav of the result of `all_kinds`:"},
            {"inlineData": {"mimeType": "audio/wav", "data": WAV}},
        ]})
    );
    let output = written[0]["parts"][0]["functionResponse"]["response"]["output"]
        .as_str()
        .unwrap();
    assert_eq!(
        output,
        "All:\n[file.png]\n[file.gif, see below]\n[file.wav, see below]\n[report.pdf]\na.json:\n{\"a\":1}\n[application/zip left out, a.zip: Gemini accepts images, audio, video, texts, JSON and PDF]"
    );
}

// A struct with an image is sent as two parts: a text that names the image, and the image.
#[tokio::test]
async fn a_struct_with_an_image_is_a_text_and_the_image() {
    for provider in Provider::ALL {
        let (written, results) = results(provider, "report").await;
        no_text_has_base64(provider, &written);
        assert!(results.left_out.is_empty(), "{provider}");
        let text = written.iter().map(Value::to_string).collect::<String>();
        assert!(
            text.contains(r#"\"title\":\"Sales\""#),
            "{provider}: {text}"
        );
        assert!(
            text.contains(r#"\"url\":\"[file 1]\""#),
            "{provider}: {text}"
        );
        assert_eq!(text.matches(PNG).count(), 1, "{provider}: {text}");
    }
}

// An address is sent as an address to providers that fetch it, and as text to the other providers.
#[tokio::test]
async fn file_address_is_sent_or_described() {
    for provider in Provider::ALL {
        let (written, results) = results(provider, "far").await;
        let expected = usize::from(provider == Provider::Bedrock);
        assert_eq!(results.left_out.len(), expected, "{provider}");
        let text = written.iter().map(Value::to_string).collect::<String>();
        assert!(
            text.contains("https://example.com/a.png"),
            "{provider}: {text}"
        );
    }
}

// An image of a type that a provider does not accept is left out; an SVG is sent as text.
#[tokio::test]
async fn unsupported_image_is_omitted_and_svg_is_sent_as_text() {
    for provider in Provider::ALL {
        let (written, results) = results(provider, "rare").await;
        let text = written.iter().map(Value::to_string).collect::<String>();
        assert!(
            text.contains(r#"a.svg:\n<svg xmlns=\""#),
            "{provider}: {text}"
        );
        // Gemini accepts images of any type in a user's message.
        let expected = if provider == Provider::Gemini {
            &[][..]
        } else {
            &["image/tiff"]
        };
        assert_eq!(left_out(&results), expected, "{provider}");
    }
}

// An image that is too large for a provider is left out, because the thread could never be sent again.
#[tokio::test]
async fn image_too_large_for_a_provider_is_omitted() {
    for provider in Provider::ALL {
        let (_, results) = results(provider, "large").await;
        let refuses = [Provider::Anthropic, Provider::Bedrock].contains(&provider);
        assert_eq!(!results.left_out.is_empty(), refuses, "{provider}");
    }
    let (written, _) = results(Provider::Anthropic, "large").await;
    assert_eq!(
        written[0]["content"][0]["content"],
        json!([{"type": "text", "text": "[image/png left out: Anthropic accepts images of at most 5 MB as base64 text]"}])
    );
}

// Every later request of a thread contains the thread's images, from results and from users.
#[tokio::test]
async fn a_replayed_thread_shows_its_files_again() {
    let store = MemoryStore::default();
    let turns = Turns::new(store.clone());
    let cx = ToolContext::builder()
        .workspace("acme")
        .conversation("main")
        .build();
    turns.say("Draw.", &cx).await.unwrap();
    let calls = [
        ToolCall::new("c-0", "draw", "{}"),
        ToolCall::new("c-1", "all_kinds", "{}"),
    ];
    let message = turns.record(ModelMessage::calls(calls), &cx).await.unwrap();
    let turn = turns.run(&tools(), &message, &cx).await.unwrap();
    assert!(matches!(turn, Turn::Complete(_)));
    turns
        .say([Part::text("And this?"), gif().into()], &cx)
        .await
        .unwrap();
    let thread = ThreadId::new("acme", "main").unwrap();
    let stored = ThreadStore::read(&store, &thread, None).await.unwrap();
    for provider in Provider::ALL {
        let history = provider.history(&stored).unwrap();
        let messages = history.messages.iter();
        let values: Vec<Value> = messages
            .map(|raw| serde_json::from_str(raw.get()).unwrap())
            .collect();
        no_text_has_base64(provider, &values);
        let text = values.iter().map(Value::to_string).collect::<String>();
        assert_eq!(text.matches(PNG).count(), 2, "{provider}");
        assert_eq!(text.matches(GIF).count(), 2, "{provider}");
        // Writing the same thread again gives the same messages.
        let again = provider.history(&stored).unwrap();
        let same = history
            .messages
            .iter()
            .zip(&again.messages)
            .all(|(a, b)| a.get() == b.get());
        assert!(same, "{provider}");
    }
}

// An interface gets the image of a result as a part of the type `file`, with the bytes.
#[tokio::test]
async fn an_interface_gets_the_file() {
    let call = ToolCall::new("c-0", "draw", "{}");
    let result = tools().call(call.clone(), &ToolContext::anonymous()).await;
    let mut writer = Writer::new(&tools());
    let _ = writer.message(&ModelMessage::calls([call])).unwrap();
    let chunks = writer.result(&result).unwrap();
    assert_eq!(
        serde_json::to_value(&chunks).unwrap(),
        json!([{"type": "tool-output-available", "toolCallId": "c-0", "output": {
            "type": "file", "mediaType": "image/png", "url": format!("data:image/png;base64,{PNG}"),
        }}])
    );
}
