//! The contracts of the HTTP tools: schemas, effects, requests, errors and timeouts.

use std::time::Duration;

use futures::FutureExt as _;
use serde_json::{Value, json};
use tool_core::prelude::*;
use tool_core::testing::{assert_kept, violations};
use tool_core::{Dialects, ErrorKind, Hints, ToolDef};
use tool_std::http::{Guard, Http, HttpRead, Method, Request, http_get, http_request};

use super::support::{PUBLIC, Server, call, client, get, output, response, text};

// S1-30, the contracts of httpRequest and curl: the schemas are strict in all dialects, and each tool has at least two examples.
#[test]
fn http_tools_pass_the_test_kit() {
    let tools = [http_get::DEF, http_request::DEF];
    assert_kept(&tools, &violations);
    for tool in &tools {
        assert!(tool.examples().len() >= 2);
        assert_eq!(tool.providers(), Dialects::ALL);
        let schema: Value = serde_json::from_str(&tool.output_schema().unwrap()).unwrap();
        let required = [
            "status",
            "url",
            "headers",
            "body",
            "truncated",
            "duration_ms",
        ];
        assert_eq!(schema["required"], json!(required));
        let properties = schema["properties"].as_object().unwrap();
        assert_eq!(properties.len(), required.len() + 3);
        for (name, property) in properties {
            assert!(property["description"].is_string(), "{name}");
            assert!(!property["type"].is_array(), "{name}"); // some clients refuse a list of types here
        }
    }
}

// The contracts of httpRequest and curl: the hints of the tools distinguish reading from changing.
#[tokio::test]
async fn hints_distinguish_reading_from_changing() {
    let hints = |def: ToolDef| def.hints();
    assert_eq!(
        hints(http_get::DEF),
        Hints {
            read_only: true,
            destructive: false,
            idempotent: true,
            open_world: true
        }
    );
    assert_eq!(
        hints(http_request::DEF),
        Hints {
            read_only: false,
            destructive: true,
            idempotent: false,
            open_world: true
        }
    );
    // The handle of a read-only tool can send only read-only methods.
    let server = Server::start(PUBLIC, |_| text("ok")).await;
    let cx = ToolContext::builder().with(client()).build();
    let read = cx.get::<HttpRead>().unwrap();
    let url = server.url("public.example", "/");
    assert!(read.send(Request::new(Method::Get, &url)).await.is_ok());
    assert!(read.send(Request::new(Method::Head, &url)).await.is_ok());
    for method in [Method::Post, Method::Put, Method::Patch, Method::Delete] {
        let error = read.send(Request::new(method, &url)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Denied);
    }
    assert_eq!(server.seen().len(), 2);
}

// The contract of httpRequest: the server receives the request that the arguments describe.
#[tokio::test]
async fn request_arrives_as_the_arguments_describe() {
    let server = Server::start(PUBLIC, |_| {
        response(
            201,
            &[
                ("content-type", "application/json"),
                ("x-request-id", "r-1"),
                ("x-ratelimit-remaining", "9"),
                ("set-cookie", "a=1"),
                ("server", "x"),
            ],
            r#"{"id":17}"#,
        )
    })
    .await;
    for method in ["POST", "PUT", "PATCH", "DELETE"] {
        let arguments = json!({
            "url": server.url("public.example", "/items?a=1#part"),
            "method": method,
            "body": r#"{"name": "Lamp"}"#,
            "headers": [{"name": "Prefer", "value": "return=representation"}],
            "query": [{"name": "dry run", "value": "yes & no"}]
        });
        let result = output(&call(client(), "http_request", arguments).await);
        let took = result["duration_ms"].clone();
        assert!(took.is_u64());
        assert_eq!(
            result,
            json!({
                "status": 201,
                "url": server.url("public.example", "/items?a=1&dry+run=yes+%26+no"),
                "headers": [
                    {"name": "content-length", "value": "9"},
                    {"name": "content-type", "value": "application/json"},
                    {"name": "x-request-id", "value": "r-1"},
                    {"name": "x-ratelimit-remaining", "value": "9"}
                ],
                "body": {"id": 17},
                "truncated": false,
                "duration_ms": took
            })
        );
        let seen = server.seen().pop().unwrap();
        assert_eq!(
            seen.line,
            format!("{method} /items?a=1&dry+run=yes+%26+no HTTP/1.1")
        );
        assert_eq!(seen.body, r#"{"name": "Lamp"}"#);
        assert_eq!(seen.header("content-type"), Some("application/json"));
        assert_eq!(seen.header("prefer"), Some("return=representation"));
        assert_eq!(
            seen.header("user-agent"),
            Some(&*format!("tool-std/{}", env!("CARGO_PKG_VERSION")))
        );
    }
}

// The contract of curl: GET sends no body, and HEAD receives none.
#[tokio::test]
async fn a_get_sends_no_body_and_a_head_gets_none() {
    let server = Server::start(PUBLIC, |seen| match seen.method() {
        "HEAD" => {
            b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\ncontent-type: text/plain\r\n\r\n".to_vec()
        }
        _ => text("hello"),
    })
    .await;
    let url = server.url("public.example", "/");
    assert_eq!(output(&get(client(), &url).await)["body"], "hello");
    let result = output(
        &call(
            client(),
            "http_request",
            json!({"url": url, "method": "HEAD"}),
        )
        .await,
    );
    assert_eq!(
        (&result["body"], &result["truncated"]),
        (&Value::Null, &json!(false))
    );
    let result = call(
        client(),
        "http_request",
        json!({"url": url, "method": "GET", "body": "{}"}),
    )
    .await;
    assert_eq!(result.error().unwrap().issues()[0].pointer, "/body");
    assert_eq!(server.seen().len(), 2);
}

// The contract of httpRequest: a body must be valid for its content type. S1-31: the error explains how to correct the call.
#[tokio::test]
async fn body_must_match_its_content_type() {
    let server = Server::start(PUBLIC, |_| text("ok")).await;
    let url = server.url("public.example", "/");
    let result = call(
        client(),
        "http_request",
        json!({"url": url, "method": "POST", "body": "{name: 1}"}),
    )
    .await;
    let error = result.error().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidArguments);
    assert_eq!(
        error.issues()[0].expected,
        "JSON text, or another `content-type` among the headers"
    );
    assert_eq!(server.seen().len(), 0);
    let form = json!([{"name": "Content-Type", "value": "application/x-www-form-urlencoded"}]);
    let arguments = json!({"url": url, "method": "POST", "body": "name=1", "headers": form});
    assert!(!call(client(), "http_request", arguments).await.is_error());
    assert_eq!(server.seen()[0].body, "name=1");
}

// S1-31: the error for an invalid URL explains how to correct the call.
#[tokio::test]
async fn error_for_an_invalid_url_contains_the_correction() {
    for (url, said) in [
        (
            "example.com/a",
            "`url` is not a valid URL: it is not an absolute URL, write `https://host/path`",
        ),
        (
            "ftp://example.com",
            "`url` has the scheme `ftp`, only `https` and `http` are possible",
        ),
        (
            "http://u:p@example.com",
            "`url` has a user or a password before its host, remove it",
        ),
        (
            "http://example.com:99999",
            "`url` is not a valid URL: its port is not a number from 0 to 65535",
        ),
        (
            "http://example.com:22",
            "port 22 is not allowed here, use a URL without a port",
        ),
        (
            "http://intranet/",
            "`intranet` is blocked here or is not a public host, use a different host",
        ),
        (
            "http://10.0.0.1/",
            "`10.0.0.1` is not at a public address, only hosts on the internet can be reached",
        ),
    ] {
        assert_eq!(
            get(Http::default(), url)
                .await
                .error()
                .unwrap()
                .model_text(),
            said
        );
    }
}

// S1-31: the error for a port states which ports are allowed.
#[tokio::test]
async fn error_for_a_port_contains_the_allowed_ports() {
    let only = |ports: &[u16]| Http::default().guard(Guard::default().ports(ports.to_vec()));
    for (ports, url, said) in [
        (
            &[443, 8443][..],
            "https://example.com:22",
            "port 22 is not allowed here, use a URL without a port",
        ),
        (
            &[8080, 8443],
            "https://example.com",
            "port 443 is not allowed here, use one of the ports 8080, 8443",
        ),
        (
            &[8443],
            "https://example.com:22",
            "port 22 is not allowed here, use port 8443",
        ),
        (
            &[443],
            "http://example.com",
            "port 80 is not allowed here, use port 443",
        ),
        (
            &[],
            "https://example.com",
            "port 443 is not allowed here, and no other port is allowed",
        ),
    ] {
        let result = get(only(ports), url).await;
        assert_eq!(result.error().unwrap().model_text(), said, "{ports:?}");
    }
}

// The contracts of httpRequest and curl: `Retry-After` is returned, and an error status is not an error of the call.
#[tokio::test]
async fn retry_after_is_returned() {
    for (value, wait) in [
        ("120", json!(120)),
        ("Wed, 21 Oct 2015 07:28:00 GMT", json!(0)),
        ("soon", Value::Null),
        ("-1", Value::Null),
    ] {
        let server = Server::start(PUBLIC, move |_| {
            response(429, &[("retry-after", value)], "slow down")
        })
        .await;
        let result = output(&get(client(), &server.url("public.example", "/")).await);
        assert_eq!(result["status"], 429);
        assert_eq!(result["body"], "slow down");
        assert_eq!(result["retry_after_seconds"], wait, "{value}");
    }
    let far = "Fri, 31 Dec 9999 23:59:59 GMT";
    let server = Server::start(PUBLIC, move |_| response(503, &[("retry-after", far)], "")).await;
    let result = output(&get(client(), &server.url("public.example", "/")).await);
    assert!(result["retry_after_seconds"].as_u64().unwrap() > 1_000_000_000);
}

// The contracts of httpRequest and curl: `timeout_ms` ends a request to a server that does not answer.
#[tokio::test]
async fn request_to_a_silent_server_times_out() {
    let silent = Server::silent(PUBLIC).await;
    let url = silent.url("public.example", "/");
    let result = call(client(), "http_get", json!({"url": url, "timeout_ms": 50})).await;
    let error = result.error().unwrap();
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    assert_eq!(
        error.model_text(),
        "there was no complete response within 50 ms, try again later or ask for less"
    );
    // The model's timeout cannot exceed the host's timeout.
    let http = client().timeout(Duration::from_millis(60));
    let result = call(http, "http_get", json!({"url": url, "timeout_ms": 600_000})).await;
    assert!(
        result
            .error()
            .unwrap()
            .model_text()
            .starts_with("there was no complete response within 60 ms,")
    );
    // The timeout that a user's own tool sets cannot exceed it either.
    let request = |wait| Request::new(Method::Get, url.clone()).timeout(wait);
    let http = client().timeout(Duration::from_millis(70));
    for (wait, message) in [
        (Duration::from_secs(2), "within 70 ms"),
        (Duration::from_millis(40), "within 40 ms"),
    ] {
        let error = http.send(request(wait)).await.unwrap_err();
        assert!(
            error.model_text().contains(message),
            "{}",
            error.model_text()
        );
    }
}

// The contracts of httpRequest and curl: the default timeout is 15 s.
#[tokio::test(start_paused = true)]
async fn default_timeout_is_fifteen_seconds() {
    let silent = Server::silent(PUBLIC).await;
    let url = silent.url("public.example", "/");
    for (tool, arguments) in [
        ("http_get", json!({"url": url})),
        ("http_request", json!({"url": url, "method": "DELETE"})),
    ] {
        let began = tokio::time::Instant::now();
        let result = call(client(), tool, arguments).await;
        let message = result.error().unwrap().model_text();
        assert!(message.contains("within 15000 ms,"), "{message}");
        assert!(began.elapsed() >= Duration::from_secs(15), "{tool}");
    }
    assert_eq!(
        silent.seen().len(),
        2,
        "the server did not receive both requests"
    );
}

// S1-102: a byte limit of `usize::MAX` does not overflow.
#[tokio::test]
async fn maximal_byte_limit_does_not_overflow() {
    let server = Server::start(PUBLIC, |_| text("whole")).await;
    let request = Request::new(Method::Get, server.url("public.example", "/"));
    let response = client().send(request.most_bytes(usize::MAX)).await.unwrap();
    assert_eq!(
        (response.text().as_str(), response.is_cut()),
        ("whole", false)
    );
}

// The contracts of httpRequest and curl: the timeout ends the reading of a slow, endless body.
#[tokio::test]
async fn slow_endless_body_times_out() {
    use tokio::io::AsyncWriteExt as _;
    let server = Server::serve((PUBLIC, 0).into(), |mut socket, _| {
        async move {
            let _ = socket
                .write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n")
                .await;
            while socket.write_all(b".").await.is_ok() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
        .boxed()
    })
    .await;
    let arguments = json!({"url": server.url("public.example", "/"), "timeout_ms": 100});
    let result = call(client(), "http_get", arguments).await;
    assert_eq!(result.error().unwrap().kind(), ErrorKind::TimedOut);
}

// The contract of httpRequest: with null or `none` as `auth_style`, no secret is needed. The error for a different text lists the possible values.
#[tokio::test]
async fn null_auth_style_means_no_authentication() {
    let server = Server::start(PUBLIC, |_| text("ok")).await;
    let url = server.url("public.example", "/");
    for style in [json!(null), json!("none")] {
        let result = call(
            client(),
            "http_get",
            json!({"url": url, "auth_style": style}),
        )
        .await;
        assert!(!result.is_error(), "{style}: {}", result.model_text());
    }
    let result = call(client(), "http_get", json!({"url": url, "auth_style": ""})).await;
    assert_eq!(
        result.error().unwrap().issues()[0].expected,
        "one of `bearer`, `api-key` or `none`"
    );
}
