//! Tests of Firecrawl as a search engine and as a reader of pages, with a local server that checks requests as
//! <https://docs.firecrawl.dev/api-reference/endpoint/search> and <https://docs.firecrawl.dev/api-reference/endpoint/scrape> describe them.

use serde_json::{Value, json};
use tool_core::prelude::*;
use tool_core::{ErrorKind, ToolContextBuilder};
use tool_std::http::{Guard, Http};
use tool_std::web::{Firecrawl, Pages, Search, fetch_webpage};

use super::search::search_by;
use crate::support::{OTHER, PRIVATE, Seen, Server, client, output, response};

const KEY: &str = "fc-4711-of-the-first-host";
const JSON: &[(&str, &str)] = &[("content-type", "application/json")];

/// Answers as Firecrawl does.
fn firecrawl(seen: &Seen) -> Vec<u8> {
    let answer = |status: u16, body: Value| response(status, JSON, body.to_string());
    if seen.header("authorization") != Some(&*format!("Bearer {KEY}")) {
        return answer(
            401,
            json!({"success": false, "error": "Unauthorized: Invalid token"}),
        );
    }
    assert_eq!(seen.header("content-type"), Some("application/json"));
    let body: Value = serde_json::from_str(&seen.body).unwrap();
    let keys: Vec<_> = body
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    match seen.line.as_str() {
        "POST /v2/search HTTP/1.1" => {
            assert_eq!(keys, ["limit", "query", "sources"]);
            let all = (1..=body["limit"].as_u64().unwrap()).map(|number| {
                json!({"title": format!("Title {number}"), "description": "A <b>lamp</b>", "url": format!("https://example.com/{number}")})
            });
            answer(
                200,
                json!({"success": true, "data": {"web": all.collect::<Vec<_>>()}}),
            )
        }
        "POST /v2/scrape HTTP/1.1" => {
            assert_eq!(keys, ["formats", "onlyMainContent", "timeout", "url"]);
            scraped(body["url"].as_str().unwrap(), answer)
        }
        other => panic!("no operation for {other}"),
    }
}

fn scraped(url: &str, answer: impl Fn(u16, Value) -> Vec<u8>) -> Vec<u8> {
    if url.ends_with("/blocked") {
        return answer(
            403,
            json!({"success": false, "error": "This website is no longer supported"}),
        );
    }
    if url.ends_with("/failing") {
        return answer(200, json!({"success": false, "error": "SCRAPE_TIMEOUT"}));
    }
    let status = if url.ends_with("/missing") { 404 } else { 200 };
    answer(
        200,
        json!({"success": true, "data": {
            "markdown": "# Lamps\n\nThey burn. ".to_owned() + &"x".repeat(500),
            "links": ["https://example.com/a", "https://example.com/a", "mailto:ann@example.com", "javascript:alert(1)", "/relative"],
            "metadata": {"title": " Lamps\nand wires ", "sourceURL": url, "url": "https://example.com/final", "statusCode": status}
        }}),
    )
}

fn context(server: &Server, key: &str) -> ToolContextBuilder {
    let service = Firecrawl::at(server.url("127.0.0.1", ""));
    ToolContext::builder()
        .with(Search::only(service.clone()))
        .with(Pages::from(service))
        .with(client())
        .secret("firecrawl_api_key", SecretString::from(key.to_owned()))
}

async fn fetch(cx: &ToolContext, arguments: Value) -> CallResult {
    let call = ToolCall::new("c-1", "fetch_webpage", arguments.to_string());
    toolset![fetch_webpage].call(call, cx).await
}

// The contract of searchWeb via Firecrawl: a search with a query and a limit returns ranked results with citations.
#[tokio::test]
async fn firecrawl_searches_the_web() {
    let server = Server::start(PRIVATE, firecrawl).await;
    let cx = context(&server, KEY)
        .variable("SEARCH_PROVIDER", "firecrawl")
        .build();
    let result = search_by(&cx, json!({"query": "lamps", "limit": 2})).await;
    let found = output(&result);
    assert_eq!(found["provider"], "firecrawl");
    assert_eq!(
        found["results"][1],
        json!({"rank": 2, "title": "Title 2", "url": "https://example.com/2", "snippet": "A lamp", "score": null})
    );
    assert_eq!(result.citations().len(), 2);
    let body: Value = serde_json::from_str(&server.seen()[0].body).unwrap();
    assert_eq!(
        body,
        json!({"query": "lamps", "limit": 2, "sources": ["web"]})
    );
}

// The contract of fetchWebpage via Firecrawl: a page is returned with its URL, title, Markdown, the flag `truncated` and a citation.
#[tokio::test]
async fn firecrawl_reads_a_page() {
    let server = Server::start(PRIVATE, firecrawl).await;
    let cx = context(&server, KEY).build();
    let result = fetch(
        &cx,
        json!({"url": "https://public.example/lamps", "max_chars": 100}),
    )
    .await;
    let page = output(&result);
    assert_eq!(
        (&page["url"], &page["title"]),
        (
            &json!("https://example.com/final"),
            &json!("Lamps and wires")
        )
    );
    assert_eq!(
        (&page["truncated"], page["markdown"].as_str().unwrap().len()),
        (&json!(true), 100)
    );
    assert_eq!(
        page["links"],
        json!([{"text": "https://example.com/a", "url": "https://example.com/a"}])
    );
    assert_eq!(
        result.citations()[0].source_id(),
        "https://example.com/final"
    );
    let body: Value = serde_json::from_str(&server.seen()[0].body).unwrap();
    assert_eq!(body["url"], "https://public.example/lamps");
    // A URL that the guard refuses is not sent to the service.
    for url in [
        "http://127.0.0.1/",
        "http://metadata.google.internal/",
        "file:///etc/passwd",
    ] {
        let result = fetch(&cx, json!({ "url": url })).await;
        assert!(result.is_error(), "{url}");
    }
    assert_eq!(server.seen().len(), 1);
}

// The contract of fetchWebpage via Firecrawl: errors of the service and error statuses of the page are reported.
#[tokio::test]
async fn errors_of_firecrawl_are_reported() {
    let server = Server::start(PRIVATE, firecrawl).await;
    let cx = context(&server, KEY).build();
    for (path, kind, says) in [
        ("missing", ErrorKind::Failed, "returned the status 404"),
        (
            "blocked",
            ErrorKind::Unavailable,
            "the service that reads pages refuses",
        ),
        (
            "failing",
            ErrorKind::Failed,
            "the service that reads pages cannot answer now",
        ),
    ] {
        let result = fetch(
            &cx,
            json!({"url": format!("https://public.example/{path}")}),
        )
        .await;
        let error = result.error().unwrap();
        assert_eq!(error.kind(), kind, "{path}");
        assert!(error.model_text().contains(says), "{}", error.model_text());
    }
    // Calls without a key, or with the key of a different host, fail without showing a key.
    let service = Firecrawl::at(server.url("127.0.0.1", ""));
    let no_key = ToolContext::builder()
        .with(Pages::from(service))
        .with(client())
        .build();
    for cx in [
        no_key,
        context(&server, "fc-4711-of-the-second-host").build(),
    ] {
        let error = fetch(&cx, json!({"url": "https://public.example/"}))
            .await
            .error()
            .unwrap()
            .model_text();
        assert!(!error.contains("fc-4711"), "{error}");
        let result = search_by(
            &context(&server, "fc-4711-of-the-second-host").build(),
            json!({"query": "x"}),
        )
        .await;
        assert_eq!(result.error().unwrap().kind(), ErrorKind::Unavailable);
    }
    for bytes in [
        response(429, &[("retry-after", "7")], "{}"),
        response(500, &[], "x"),
        response(
            402,
            JSON,
            r#"{"success": false, "error": "Payment required"}"#,
        ),
        response(200, JSON, r#"{"succ"#),
    ] {
        let server = Server::start(PRIVATE, move |_| bytes.clone()).await;
        let result = fetch(
            &context(&server, KEY).build(),
            json!({"url": "https://public.example/"}),
        )
        .await;
        assert!(
            result.model_text().contains("the service that reads pages"),
            "{}",
            result.model_text()
        );
    }
}

// The key is sent to the service only, and the guard applies to the service.
#[tokio::test]
async fn key_of_firecrawl_stays_at_its_origin() {
    let other = Server::start(OTHER, |_| response(200, JSON, "{}")).await;
    let location = other.url("other.example", "/v2/scrape");
    let server = Server::start(PRIVATE, move |_| {
        response(302, &[("location", &location)], "")
    })
    .await;
    let result = fetch(
        &context(&server, KEY).build(),
        json!({"url": "https://public.example/"}),
    )
    .await;
    assert!(!format!("{:?}", other.seen()).contains(KEY));
    drop(result);
    let guard = Guard::default().block(["127.0.0.1"]).unwrap();
    let cx = context(&server, KEY)
        .with(Http::default().guard(guard))
        .build();
    let result = fetch(&cx, json!({"url": "https://example.com/"})).await;
    let error = result.error().unwrap();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(
        error.operator_text().contains("`firecrawl`"),
        "{}",
        error.operator_text()
    );
}
