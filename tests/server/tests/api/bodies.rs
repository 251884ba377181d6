//! Tests of bodies, limits, failures of the store, and responses to requests that no handler receives.

use std::time::Duration;

use serde_json::json;
use server_tests::{Site, StoreKind, document, operations, seed, tokens};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

const OPERATOR: &str = "operator-of-acme";
const SWITCH: &str = "/v1/switches/kill/send_mail";

/// Sends the head of a request and a part of its body, and returns the response.
async fn raw(site: &Site, head: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(site.address).await.unwrap();
    let request = format!(
        "{head}\r\nhost: localhost\r\nauthorization: Bearer {OPERATOR}\r\nconnection: close\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).await.unwrap();
    response
}

// Bodies that are too long, late, of a different media type, not JSON or invalid each get a different status.
pub(crate) async fn unusable_bodies_are_refused(kind: StoreKind) {
    let site = Site::with(kind, |server| {
        server
            .authenticator(tokens(&["acme"]))
            .max_body(1_000)
            .timeout(Duration::from_millis(400))
    })
    .await;
    let long = json!({ "on": true, "reason": "x".repeat(2_000) });
    assert_eq!(site.ask("put", SWITCH, OPERATOR, &long).await.status, 413);
    let put = format!("PUT {SWITCH} HTTP/1.1\r\ncontent-type: ");
    for (head, body, status) in [
        (format!("{put}text/plain\r\ncontent-length: 2"), "{}", "415"),
        (
            format!("{put}application/json\r\ncontent-length: 2"),
            "{]",
            "400",
        ),
        (
            format!("{put}application/json\r\ncontent-length: 2"),
            "{}",
            "422",
        ),
        (
            format!("{put}application/json\r\ntransfer-encoding: chunked"),
            "not a length\r\n",
            "400",
        ),
        (
            format!("{put}application/json; charset=utf-8\r\ncontent-length: 11"),
            r#"{"on":true}"#,
            "200",
        ),
    ] {
        let response = raw(&site, &head, body).await;
        assert!(
            response.starts_with(&format!("HTTP/1.1 {status}")),
            "{head}: {response}"
        );
    }
    let late = raw(
        &site,
        &format!("{put}application/json\r\ncontent-length: 20"),
        "{",
    )
    .await;
    assert!(
        late.starts_with("HTTP/1.1 408") || late.starts_with("HTTP/1.1 503"),
        "{late}"
    );
}

// The responses to unknown paths and methods are problems, and the response to an unknown method lists the allowed methods.
pub(crate) async fn unknown_paths_and_methods_return_problem_responses(kind: StoreKind) {
    let site = Site::start(kind).await;
    let path = site
        .send("get", "/v1/nowhere", Some(OPERATOR), &[], None)
        .await;
    assert_eq!((path.status, &path.json()["status"]), (404, &json!(404)));
    let method = site
        .send("post", "/v1/approvals", Some(OPERATOR), &[], None)
        .await;
    assert_eq!(method.status, 405);
    assert_eq!(
        method.header("content-type"),
        Some("application/problem+json")
    );
    assert!(
        method.header("allow").unwrap().contains("GET"),
        "{method:?}"
    );
}

// If the store cannot be used, the response is a problem that contains no error text of the store.
pub(crate) async fn store_failure_is_a_problem_without_details(kind: StoreKind) {
    let site = Site::start(kind).await;
    let acme = seed(&*site.store, "acme").await;
    site.close_store().await;
    for (method, path) in [
        ("get", "/v1/approvals".to_owned()),
        ("get", "/v1/audit/export".to_owned()),
        ("get", format!("/v1/threads/{}/messages", acme.conversation)),
        ("post", format!("/v1/approvals/{}/revoke", acme.approval)),
        ("get", "/v1/memories".to_owned()),
        ("get", format!("/v1/memories/{}", acme.memory)),
        ("get", "/v1/documents".to_owned()),
        ("get", format!("/v1/documents/{}/content", acme.file)),
        ("get", "/v1/plans".to_owned()),
        ("get", format!("/v1/plans/{}/1/events", acme.conversation)),
        ("post", format!("/v1/plans/{}/1/cancel", acme.conversation)),
        ("get", "/v1/scheduled-tasks".to_owned()),
        ("get", format!("/v1/scheduled-tasks/{}/runs", acme.task)),
        ("get", "/v1/rooms".to_owned()),
        ("get", format!("/v1/rooms/{}/events", acme.conversation)),
        ("get", format!("/v1/rooms/{}/messages", acme.conversation)),
    ] {
        let answer = site.send(method, &path, Some(OPERATOR), &[], None).await;
        assert_eq!(answer.status, 503, "{path}: {}", answer.text);
        assert_eq!(answer.header("retry-after"), Some("5"));
        assert!(
            !answer.text.contains("sql") && !answer.text.contains("state.db"),
            "{}",
            answer.text
        );
    }
}

// Each operation of the document has a unique id, a role, a summary and the common responses, and the server serves this document.
pub(crate) async fn document_describes_every_operation(kind: StoreKind) {
    let document = document();
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
    let mut names = Vec::new();
    for (method, path, operation) in operations(&document) {
        let id = operation["operationId"].as_str().unwrap().to_owned();
        assert!(!names.contains(&id), "{id} occurs twice");
        names.push(id);
        assert!(operation["x-required-role"].is_string(), "{method} {path}");
        let responses = operation["responses"].as_object().unwrap();
        for status in ["200", "400", "401", "403", "500", "503"] {
            assert!(responses.contains_key(status), "{method} {path}: {status}");
        }
        let summary = operation["summary"].as_str().unwrap_or_default();
        assert!(
            summary.ends_with('.') || summary.contains(' '),
            "{method} {path} has no summary"
        );
    }
    let site = Site::start(kind).await;
    let served = site.get("/openapi.json", "viewer-of-acme").await;
    assert_eq!(served, document);
}
