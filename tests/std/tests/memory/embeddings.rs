//! Tests of `HttpEmbedder` with a local server that checks each request against the documentation of OpenAI's API.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tool_core::SecretString;
use tool_core::store::MemoryStore;
use tool_std::memory::{Embedder, HttpEmbedder, Memory};

use super::http_support::{PRIVATE, Seen, Server, client, response};
use super::support::{Subjects, context, found, remembered};

/// Starts a server whose vectors come from [`Subjects`], in reverse order. It returns the status that `status` contains.
async fn server(status: Arc<AtomicU16>) -> Server {
    Server::start(PRIVATE, move |seen: &Seen| {
        let body: Value = serde_json::from_str(&seen.body).unwrap();
        let texts = body["input"].as_array().unwrap().iter();
        let texts: Vec<String> = texts.map(|text| text.as_str().unwrap().to_owned()).collect();
        let vectors = futures::executor::block_on(Subjects.embed(&texts)).unwrap();
        let data = vectors.iter().enumerate().rev();
        let data: Vec<Value> = data
            .map(|(index, vector)| json!({ "object": "embedding", "index": index, "embedding": vector }))
            .collect();
        let reply = json!({ "object": "list", "data": data, "model": body["model"] });
        let kind = ("content-type", "application/json");
        response(status.load(Ordering::Relaxed), &[kind], reply.to_string())
    })
    .await
}

fn embedder(server: &Server) -> HttpEmbedder {
    HttpEmbedder::at(&server.url("127.0.0.1", "/v1/"), "small").http(client())
}

// The request has the form of OpenAI's API, and the vectors have the order of the texts.
#[tokio::test]
async fn request_matches_the_api() {
    let server = server(Arc::new(AtomicU16::new(200))).await;
    let embedder = embedder(&server)
        .key(SecretString::from("sk-1"))
        .dimensions(4);
    assert_eq!(embedder.model(), "small/4");
    let texts = ["tea".to_owned(), "berlin".to_owned()];
    let vectors = embedder.embed(&texts).await.unwrap();
    assert_eq!(vectors, Subjects.embed(&texts).await.unwrap());
    let seen = server.seen();
    assert_eq!(
        (seen[0].method(), seen[0].path()),
        ("POST", "/v1/embeddings")
    );
    assert_eq!(seen[0].header("authorization"), Some("Bearer sk-1"));
    let body: Value = serde_json::from_str(&seen[0].body).unwrap();
    let expected =
        json!({ "model": "small", "input": texts, "encoding_format": "float", "dimensions": 4 });
    assert_eq!(body, expected);
    assert!(!format!("{embedder:?}").contains("sk-1"));
    // Many texts are sent in several requests.
    let many: Vec<String> = (0..130).map(|number| format!("tea {number}")).collect();
    assert_eq!(embedder.embed(&many).await.unwrap().len(), 130);
    assert_eq!(server.seen().len(), 4);
}

// Memories are found by meaning with the vectors of the server; if the server fails, they are found by their words.
#[tokio::test]
async fn memories_are_found_with_vectors_of_a_server() {
    let status = Arc::new(AtomicU16::new(200));
    let server = server(Arc::clone(&status)).await;
    let memory = Memory::new(MemoryStore::default()).embedder(embedder(&server));
    let cx = context(&memory, "a");
    remembered(&cx, "Ada likes green tea", "org").await;
    assert_eq!(
        found(&cx, "favourite beverage").await,
        ["Ada likes green tea"]
    );
    for failing in [401, 429, 500] {
        status.store(failing, Ordering::Relaxed);
        assert_eq!(found(&cx, "favourite beverage").await, [""; 0]);
        assert_eq!(found(&cx, "green").await, ["Ada likes green tea"]);
    }
}

// Responses that do not contain a vector for each text, and servers that do not respond, are errors.
#[tokio::test]
async fn faulty_responses_are_errors() {
    for body in [
        "{}",
        "[]",
        "not json",
        r#"{"data":[]}"#,
        r#"{"data":[{"index":7,"embedding":[1.0]}]}"#,
        r#"{"data":[{"index":0,"embedding":[]}]}"#,
    ] {
        let server = Server::start(PRIVATE, move |_| response(200, &[], body)).await;
        let error = embedder(&server)
            .embed(&["x".to_owned()])
            .await
            .unwrap_err();
        assert!(
            error.operator_text().contains("server of embeddings"),
            "{body}"
        );
    }
    let server = Server::start(PRIVATE, |_| {
        std::thread::sleep(Duration::from_millis(400));
        response(200, &[], "{}")
    })
    .await;
    let slow = embedder(&server).timeout(Duration::from_millis(50));
    assert!(slow.embed(&["x".to_owned()]).await.is_err());
}
