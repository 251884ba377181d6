//! Users' messages with images and files.

use serde_json::{Value, json};
use tool_core::Part;
use tool_core::prelude::*;
use tool_core::store::{MemoryStore, Message, NewMessage, Role, ThreadId, ThreadStore, Timestamp};
use tool_core::turn::{MessageError, ModelMessage, Turn, TurnError, Turns, UserMessage};
use tool_wire::{Provider, RequestMessages};

const PNG: &str = "iVBORw0KGgo=";
const PDF: &str = "JVBERi0xLjQ=";
/// The text `a,b` in base64.
const CSV: &str = "YSxi";

fn cx(conversation: &str) -> ToolContext {
    ToolContext::builder()
        .workspace("acme")
        .conversation(conversation)
        .build()
}

async fn stored(store: &MemoryStore, conversation: &str) -> Vec<Message> {
    let thread = ThreadId::new("acme", conversation).unwrap();
    ThreadStore::read(store, &thread, None).await.unwrap()
}

fn values(results: &RequestMessages) -> Vec<Value> {
    let messages = results.messages.iter();
    messages
        .map(|raw| serde_json::from_str(raw.get()).unwrap())
        .collect()
}

/// Returns the only message of a history, and the media types that were left out of it.
fn sent(provider: Provider, thread: &[Message]) -> (Value, Vec<String>) {
    let history = provider.history(thread).unwrap();
    let [message] = &values(&history)[..] else {
        panic!("{provider}: {history:?}")
    };
    let left_out = history.left_out.iter();
    (
        message.clone(),
        left_out.map(|file| file.media_type.clone()).collect(),
    )
}

// Text, image and file, as base64 and by address, in the form that each provider documents.
#[tokio::test]
async fn user_files_are_sent_in_the_form_of_each_provider() {
    let store = MemoryStore::default();
    let turns = Turns::new(store.clone());
    let parts = [
        Part::text("Compare these."),
        Part::base64("image/png", PNG).named("cat.png"),
        Part::url("image/jpeg", "https://example.com/dog.jpg"),
        Part::base64("application/pdf", PDF).named("report.pdf"),
        Part::base64("text/csv; charset=utf-8", CSV).named("rows.csv"),
    ];
    turns.say(parts, &cx("t")).await.unwrap();
    let thread = stored(&store, "t").await;

    let (chat, left_out) = sent(Provider::Chat, &thread);
    assert_eq!(
        chat,
        json!({"role": "user", "content": [
            {"type": "text", "text": "Compare these."},
            {"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{PNG}")}},
            {"type": "image_url", "image_url": {"url": "https://example.com/dog.jpg"}},
            {"type": "file", "file": {"filename": "report.pdf", "file_data": format!("data:application/pdf;base64,{PDF}")}},
            {"type": "text", "text": "rows.csv:\na,b"},
        ]})
    );
    assert_eq!(left_out, [""; 0]);

    let (responses, left_out) = sent(Provider::Responses, &thread);
    assert_eq!(
        responses,
        json!({"role": "user", "content": [
            {"type": "input_text", "text": "Compare these."},
            {"type": "input_image", "image_url": format!("data:image/png;base64,{PNG}"), "detail": "auto"},
            {"type": "input_image", "image_url": "https://example.com/dog.jpg", "detail": "auto"},
            {"type": "input_file", "filename": "report.pdf", "file_data": format!("data:application/pdf;base64,{PDF}")},
            {"type": "input_file", "filename": "rows.csv", "file_data": format!("data:text/csv;base64,{CSV}")},
        ]})
    );
    assert_eq!(left_out, [""; 0]);

    let (anthropic, left_out) = sent(Provider::Anthropic, &thread);
    assert_eq!(
        anthropic,
        json!({"role": "user", "content": [
            {"type": "text", "text": "Compare these."},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
            {"type": "image", "source": {"type": "url", "url": "https://example.com/dog.jpg"}},
            {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": PDF}, "title": "report.pdf"},
            {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "a,b"}, "title": "rows.csv"},
        ]})
    );
    assert_eq!(left_out, [""; 0]);

    let (gemini, left_out) = sent(Provider::Gemini, &thread);
    assert_eq!(
        gemini,
        json!({"role": "user", "parts": [
            {"text": "Compare these."},
            {"inlineData": {"mimeType": "image/png", "data": PNG}},
            {"fileData": {"mimeType": "image/jpeg", "fileUri": "https://example.com/dog.jpg"}},
            {"inlineData": {"mimeType": "application/pdf", "data": PDF}},
            {"inlineData": {"mimeType": "text/csv", "data": CSV}},
        ]})
    );
    assert_eq!(left_out, [""; 0]);

    let (bedrock, left_out) = sent(Provider::Bedrock, &thread);
    assert_eq!(
        bedrock,
        json!({"role": "user", "content": [
            {"text": "Compare these."},
            {"image": {"format": "png", "source": {"bytes": PNG}}},
            {"text": "[image/jpeg left out, https://example.com/dog.jpg: Bedrock accepts the bytes of a file, but not an address]"},
            {"document": {"format": "pdf", "name": "report pdf (1)", "source": {"bytes": PDF}}},
            {"document": {"format": "csv", "name": "rows csv (2)", "source": {"bytes": CSV}}},
        ]})
    );
    assert_eq!(left_out, ["image/jpeg"]);
}

// Nothing is dropped silently: the model reads a line in place of a file, and `left_out` lists the file for the host.
#[test]
fn unsupported_file_is_omitted_and_named() {
    let message = UserMessage::from([
        Part::text("Look."),
        Part::base64("application/zip", "UEsDBA==").named("a.zip"),
        Part::url("image/png", "ftp://example.com/cat.png"),
    ]);
    for provider in Provider::ALL {
        let sent = provider.user_message(&message);
        let left_out: Vec<_> = sent
            .left_out
            .iter()
            .map(|file| (file.call.as_deref(), &*file.media_type))
            .collect();
        let zip = (None, "application/zip");
        let text = sent.messages[0].get();
        if provider == Provider::Responses {
            // Responses accepts documents of any type.
            assert_eq!(left_out, [(None, "image/png")]);
        } else {
            assert_eq!(left_out, [zip, (None, "image/png")], "{provider}");
            assert!(
                text.contains("[application/zip left out, a.zip: "),
                "{text}"
            );
        }
        let image = "[image/png left out, ftp://example.com/cat.png: ";
        assert!(text.contains(image), "{text}");
    }
}

// Earlier versions can still read the store: a message with a single text is a JSON string; old messages are still read.
#[tokio::test]
async fn a_text_is_stored_as_a_json_string_and_parts_as_an_object() {
    let store = MemoryStore::default();
    let turns = Turns::new(store.clone());
    turns.say("Hello \"you\"", &cx("t")).await.unwrap();
    turns.say(String::from("Hi"), &cx("t")).await.unwrap();
    turns.say(Part::text("Hey"), &cx("t")).await.unwrap();
    let file = Part::base64("image/png", PNG);
    turns.say(vec![file.clone()], &cx("t")).await.unwrap();
    let thread = stored(&store, "t").await;
    let contents: Vec<&str> = thread.iter().map(|message| &*message.content).collect();
    assert_eq!(
        contents,
        [
            r#""Hello \"you\"""#,
            r#""Hi""#,
            r#""Hey""#,
            r#"{"parts":[{"type":"file","media_type":"image/png","source":{"base64":"iVBORw0KGgo="}}]}"#
        ]
    );
    let read = |content: &str| serde_json::from_str::<UserMessage>(content).unwrap();
    assert_eq!(read(contents[0]), UserMessage::from("Hello \"you\""));
    assert_eq!(read(contents[3]).parts(), [file]);
    for provider in Provider::ALL {
        let history = provider.history(&thread).unwrap();
        let hello = provider.user("Hello \"you\"");
        assert_eq!(history.messages[0].get(), hello.get(), "{provider}");
    }
    for (wrong, why) in [
        ("7", "a text or an object with `parts`"),
        (r#"{"parts":[]}"#, "it has no parts"),
        (r#"{"text":"Hello"}"#, "missing field `parts`"),
    ] {
        let error = serde_json::from_str::<UserMessage>(wrong).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
    }
}

// A part that every provider refuses is not stored, and the error states the fix.
#[tokio::test]
async fn invalid_part_is_refused_with_a_fix() {
    let store = MemoryStore::default();
    let turns = Turns::new(store.clone());
    let png = |data: &str| Part::base64("image/png", data);
    let at = |url: &str| Part::url("image/png", url);
    for (part, why) in [
        (Part::text(" \n"), "is an empty text: leave it out"),
        (
            Part::base64("png", PNG),
            "has the media type `png`: write type and subtype, such as `image/png`",
        ),
        (
            Part::base64("image/*", PNG),
            "has the media type `image/*`: write",
        ),
        (Part::base64("image/png\n", PNG), "has the media type"),
        (Part::base64("", PNG), "has the media type ``: write"),
        (png(""), "has no data: leave it out"),
        (png("iVBORw0KGgo"), "is not base64 ("),
        (
            png("iVBO-w0KGgo="),
            "encode the bytes with the standard alphabet and padding",
        ),
        (
            png(&format!("data:image/png;base64,{PNG}")),
            "without `data:` in front",
        ),
        (
            at("cat.png"),
            "has the URL `cat.png`: write an absolute URL, such as `https://example.com/cat.png`",
        ),
        (at("https://"), "write an absolute URL"),
        (at("https://example.com/a b"), "write an absolute URL"),
        (
            at(&format!("data:image/png;base64,{PNG}")),
            "pass the text after its comma to `Part::base64`",
        ),
    ] {
        let parts = [Part::text("Look."), part];
        let error = turns.say(parts.clone(), &cx("t")).await.unwrap_err();
        assert!(matches!(
            error,
            TurnError::Message(MessageError::Part { at: 1, .. })
        ));
        let error = error.to_string();
        assert!(
            error.starts_with("the message was not stored: `parts[1]` "),
            "{error}"
        );
        assert!(error.contains(why), "{error}");
        assert!(UserMessage::from(parts).check().is_err());
    }
    let none = turns.say(Vec::new(), &cx("t")).await.unwrap_err();
    assert_eq!(
        none.to_string(),
        "the message was not stored: it has no parts: add at least one text, image or file"
    );
    assert!(turns.say("", &cx("t")).await.is_err());
    assert!(stored(&store, "t").await.is_empty());
    // A large file is checked to its end.
    let long = format!("{}-AAA", "AAAA".repeat(5000));
    assert!(turns.say(png(&long), &cx("t")).await.is_err());
}

/// Draws an image.
#[tool(to_model_output = drawn)]
async fn draw() -> Vec<u8> {
    vec![1]
}

fn drawn(_: &Vec<u8>) -> ModelOutput {
    ModelOutput::parts([Part::base64("application/pdf", PDF)])
}

// Documents get distinct names and accompanying text, because Bedrock refuses duplicate names in a request and a document without text.
#[tokio::test]
async fn documents_of_a_request_have_different_names() {
    let store = MemoryStore::default();
    let turns = Turns::new(store.clone());
    let pdf = || Part::base64("application/pdf", PDF).named("a.pdf");
    turns.say(pdf(), &cx("t")).await.unwrap();
    for id in ["c-0", "c-1"] {
        let message = ModelMessage::calls([ToolCall::new(id, "draw", "{}")]);
        let message = turns.record(message, &cx("t")).await.unwrap();
        let turn = turns.run(&toolset![draw], &message, &cx("t")).await;
        assert!(matches!(turn.unwrap(), Turn::Complete(_)));
    }
    turns.say([pdf(), pdf()], &cx("t")).await.unwrap();
    let history = Provider::Bedrock
        .history(&stored(&store, "t").await)
        .unwrap();
    let text = format!("{:?}", history.messages);
    for name in [
        "a pdf (1)",
        "document (2)",
        "document (3)",
        "a pdf (4)",
        "a pdf (5)",
    ] {
        assert_eq!(text.matches(name).count(), 1, "{name}: {text}");
    }
    for message in [&values(&history)[0], &values(&history)[5]] {
        let content = message["content"].as_array().unwrap();
        assert!(
            content.iter().any(|block| block["text"].is_string()),
            "{message}"
        );
    }
}

// The parts of two conversations are separate.
#[tokio::test]
async fn files_of_two_conversations_are_separate() {
    let store = MemoryStore::default();
    let turns = Turns::new(store.clone());
    for (conversation, data) in [("a", "AAAA"), ("b", "BBBB"), ("a", "CCCC")] {
        let (file, cx) = (Part::base64("image/png", data), cx(conversation));
        turns.say(file, &cx).await.unwrap();
    }
    for provider in Provider::ALL {
        let text = async |conversation| {
            let thread = stored(&store, conversation).await;
            format!("{:?}", provider.history(&thread).unwrap().messages)
        };
        let (a, b) = (text("a").await, text("b").await);
        assert!(a.contains("AAAA") && a.contains("CCCC") && !a.contains("BBBB"));
        assert!(b.contains("BBBB") && !b.contains("AAAA") && !b.contains("CCCC"));
    }
}

// The error about an invalid message in a thread names the message.
#[tokio::test]
async fn a_stored_message_that_cannot_be_read_is_named() {
    let store = MemoryStore::default();
    let content = r#"{"parts":[{"type":"sound"}]}"#.to_owned();
    let message = NewMessage {
        thread: ThreadId::new("acme", "t").unwrap(),
        role: Role::User,
        follows: None,
        answers: None,
        content,
        at: Timestamp::now(),
    };
    store.append(message).await.unwrap();
    for provider in Provider::ALL {
        let error = provider.history(&stored(&store, "t").await).unwrap_err();
        let error = error.to_string();
        assert!(error.starts_with("message 1 of the thread cannot be written for"));
        assert!(error.contains("unknown variant `sound`"), "{error}");
    }
}
