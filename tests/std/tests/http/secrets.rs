//! Secrets and headers in requests: the servers that receive the secret, and the headers that are removed.

use serde_json::{Value, json};
use tool_core::ErrorKind;
use tool_core::prelude::*;
use tool_std::http::{Credential, HeaderName, Http, Method, Request, http_get, http_request};

use super::support::{OTHER, PUBLIC, Seen, Server, client, output, response, text};

const SECRET: &str = "key-4711-of-the-host";

async fn call(http: Http, tool: &str, arguments: Value) -> CallResult {
    let cx = ToolContext::builder()
        .with(http)
        .secret("http_api_key", SECRET)
        .build();
    let call = ToolCall::new("c-1", tool, arguments.to_string());
    toolset![http_get, http_request].call(call, &cx).await
}

fn with_secret() -> Http {
    client().credential(
        Credential::for_hosts(["public.example"])
            .unwrap()
            .over_plain_http(),
    )
}

fn holds_secret(seen: &Seen) -> bool {
    format!("{seen:?}").contains(SECRET)
}

// The contract of httpRequest: the host injects the secret in the style that the call requests.
#[tokio::test]
async fn secret_is_sent_in_the_requested_style() {
    let server = Server::start(PUBLIC, |_| text("ok")).await;
    for (style, header, value) in [
        (
            json!("bearer"),
            "authorization",
            Some(format!("Bearer {SECRET}")),
        ),
        (json!("api-key"), "x-api-key", Some(SECRET.to_owned())),
        (json!("none"), "authorization", None),
        (json!(null), "authorization", None),
    ] {
        for tool in ["http_get", "http_request"] {
            let mut arguments =
                json!({"url": server.url("api.public.example", "/"), "auth_style": style});
            if tool == "http_request" {
                arguments["method"] = "POST".into();
            }
            let result = call(with_secret(), tool, arguments).await;
            assert!(!result.is_error(), "{}", result.model_text());
            let seen = server.seen().pop().unwrap();
            assert_eq!(seen.header(header), value.as_deref());
            assert_eq!(holds_secret(&seen), value.is_some());
        }
    }
    let header = HeaderName::from_static("x-key");
    let http = client().credential(
        Credential::for_hosts(["public.example"])
            .unwrap()
            .over_plain_http()
            .header(header),
    );
    let arguments = json!({"url": server.url("public.example", "/"), "auth_style": "api-key"});
    call(http, "http_get", arguments).await;
    assert_eq!(server.seen().pop().unwrap().header("x-key"), Some(SECRET));
}

// The contract of httpRequest: the host decides which servers get the secret.
#[tokio::test]
async fn secret_is_sent_only_to_allowed_hosts() {
    let server = Server::start(PUBLIC, |_| text("ok")).await;
    let encrypted_only = || client().credential(Credential::for_hosts(["public.example"]).unwrap());
    for (http, host) in [
        (client(), "public.example"),          // the host has no credential
        (encrypted_only(), "public.example"),  // the connection is not encrypted
        (with_secret(), "evilpublic.example"), // only a suffix of the name matches
        (with_secret(), "other.example"),
        (with_secret(), "127.0.0.2"),
    ] {
        let arguments = json!({"url": server.url(host, "/"), "auth_style": "bearer"});
        let result = call(http, "http_get", arguments).await;
        assert_eq!(result.error().unwrap().kind(), ErrorKind::Denied, "{host}");
    }
    // The context has no secret.
    let cx = ToolContext::builder().with(with_secret()).build();
    let arguments = json!({"url": server.url("public.example", "/"), "auth_style": "bearer"});
    let asked = ToolCall::new("c-1", "http_get", arguments.to_string());
    let result = toolset![http_get].call(asked, &cx).await;
    assert_eq!(result.error().unwrap().kind(), ErrorKind::Unavailable);
    assert_eq!(server.seen().len(), 0);
}

// The contract of httpRequest: the secret is redacted in every result.
#[tokio::test]
async fn secret_is_redacted_in_every_result() {
    let server = Server::start(PUBLIC, |seen| {
        let said = seen.header("authorization").unwrap();
        response(200, &[("content-type", "text/plain"), ("etag", said)], said)
    })
    .await;
    let arguments = json!({"url": server.url("public.example", "/"), "auth_style": "bearer"});
    let result = call(with_secret(), "http_get", arguments).await;
    assert!(holds_secret(&server.seen()[0]));
    assert!(!result.output().unwrap().get().contains(SECRET));
    assert!(!result.model_text().contains(SECRET));
}

// S1-102, the contract of httpRequest: the secret is dropped if a redirect leads to a different origin.
#[tokio::test]
async fn redirect_to_a_different_origin_drops_the_secret() {
    // The test replaces OWN with the server's own port, SECOND with the port of another server at the same address, and OTHER with the port of a
    // server at a different address.
    let cases = [
        ("/there", true),
        ("there?again", true),
        ("http://public.example:OWN/there", true),
        ("http://PUBLIC.example:OWN/there", true),
        ("//public.example:OWN/there", true),
        ("http://api.public.example:OWN/there", false), // the credential covers the host, but the origin is different
        ("http://public.example.:OWN/there", false),
        ("http://evilpublic.example:OWN/there", false),
        ("http://127.0.0.2:OWN/there", false),
        ("http://public.example:SECOND/there", false),
        ("//127.0.0.2:SECOND/there", false),
        ("http://other.example:OTHER/there", false),
        ("http://127.0.0.3:OTHER/there", false),
    ];
    for (style, (template, keeps)) in ["bearer", "api-key"]
        .into_iter()
        .flat_map(|style| cases.map(|case| (style, case)))
    {
        let second = Server::start(PUBLIC, |_| text("second")).await;
        let other = Server::start(OTHER, |_| text("other")).await;
        let location = template
            .replace("SECOND", &second.port().to_string())
            .replace("OTHER", &other.port().to_string());
        let server = Server::start(PUBLIC, move |seen| {
            let own = seen.header("host").unwrap().rsplit(':').next().unwrap();
            match seen.path() {
                "/" => response(302, &[("location", &location.replace("OWN", own))], ""),
                _ => text("there"),
            }
        })
        .await;
        let arguments = json!({
            "url": server.url("public.example", "/"),
            "auth_style": style,
            "headers": [{"name": "X-Mine", "value": "mine"}, {"name": "Accept", "value": "text/html"}]
        });
        let result = call(with_secret(), "http_get", arguments).await;
        assert!(!result.is_error(), "{template}: {}", result.model_text());
        let seen = [server.seen(), second.seen(), other.seen()].concat();
        let [here, there] = &seen[..] else {
            panic!("{template}: {seen:?}")
        };
        assert!(holds_secret(here));
        assert_eq!(holds_secret(there), keeps, "{style} {template}");
        assert_eq!(
            there.header("x-mine").is_some(),
            keeps,
            "{style} {template}"
        );
        assert_eq!(
            there.header("accept"),
            Some("text/html"),
            "{style} {template}"
        );
    }
}

// S1-102, the contract of httpRequest: after a redirect has dropped the secret, a redirect back to the first origin does not add it again.
#[tokio::test]
async fn dropped_secret_is_not_added_again() {
    let server = Server::start(PUBLIC, |seen| {
        let host = seen.header("host").unwrap().to_owned();
        let port = host.rsplit(':').next().unwrap();
        match seen.path() {
            "/" => response(
                302,
                &[("location", &format!("http://127.0.0.2:{port}/hop"))],
                "",
            ),
            "/hop" => response(
                302,
                &[("location", &format!("http://public.example:{port}/back"))],
                "",
            ),
            _ => text("back"),
        }
    })
    .await;
    let arguments = json!({"url": server.url("public.example", "/"), "auth_style": "bearer"});
    let result = call(with_secret(), "http_get", arguments).await;
    assert_eq!(output(&result)["body"], "back");
    let held: Vec<_> = server.seen().iter().map(holds_secret).collect();
    assert_eq!(held, [true, false, false]);
}

// The contracts of httpRequest and curl: headers such as `host` and `x-forwarded-*` are removed from the model's request.
#[tokio::test]
async fn headers_reserved_for_the_host_are_removed() {
    let server = Server::start(PUBLIC, |_| text("ok")).await;
    let left_out = [
        "host",
        "connection",
        "keep-alive",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "content-length",
        "accept-encoding",
        "expect",
        "forwarded",
        "via",
        "x-forwarded-for",
        "x-forwarded-host",
        "x-forwarded-proto",
        "x-forwarded-anything",
        "x-real-ip",
        "x-http-method-override",
        "x-method-override",
        "x-original-url",
        "metadata-flavor",
        "metadata",
        "x-aws-ec2-metadata-token",
        "x-aws-ec2-metadata-token-ttl-seconds",
        "authorization",
        "cookie",
        "x-api-key",
    ];
    let field = |name: &str| json!({"name": name, "value": "evil"});
    let mut headers: Vec<_> = left_out.iter().map(|name| field(name)).collect();
    headers.extend([
        field("X-Forwarded-For"),
        field("HOST"),
        field("X-Own"),
        field("Range"),
    ]);
    let arguments = json!({"url": server.url("public.example", "/"), "headers": headers, "auth_style": "api-key"});
    let result = output(&call(with_secret(), "http_get", arguments).await);
    let seen = server.seen().pop().unwrap();
    let evil: Vec<_> = seen
        .headers
        .iter()
        .filter(|(_, value)| value.contains("evil"))
        .map(|(name, _)| &**name)
        .collect();
    assert_eq!(evil, ["x-own", "range"]);
    assert_eq!(
        seen.header("host"),
        Some(&*format!("public.example:{}", server.port()))
    );
    assert_eq!(seen.header("x-api-key"), Some(SECRET));
    assert_eq!(
        result["headers_not_sent"].as_array().unwrap().len(),
        left_out.len() + 2
    );

    // If the host injects no secret, the model may send its own token, which is also not sent to a different origin.
    let other = Server::start(OTHER, |_| text("other")).await;
    let location = other.url("other.example", "/");
    let moved = Server::start(PUBLIC, move |_| {
        response(302, &[("location", &location)], "")
    })
    .await;
    let headers = json!([{"name": "Authorization", "value": "Bearer demo"}, {"name": "Cookie", "value": "a=1"}]);
    let arguments = json!({"url": moved.url("public.example", "/"), "headers": headers});
    call(with_secret(), "http_get", arguments).await;
    assert_eq!(moved.seen()[0].header("authorization"), Some("Bearer demo"));
    assert_eq!(moved.seen()[0].header("cookie"), Some("a=1"));
    assert_eq!(
        (
            other.seen()[0].header("authorization"),
            other.seen()[0].header("cookie")
        ),
        (None, None)
    );
}

// The contracts of httpRequest and curl: a header name or value with a line break is refused, so it cannot add a header.
#[tokio::test]
async fn header_value_cannot_add_a_header() {
    let server = Server::start(PUBLIC, |_| text("ok")).await;
    for (name, value) in [
        ("x-a", "1\r\nhost: 127.0.0.1"),
        ("x-a", "1\nx-b: 2"),
        ("x-a", "1\u{0}"),
        ("x a", "1"),
        ("x-a: 1\r\nx-b", "2"),
        ("x-ä", "1"),
    ] {
        let arguments = json!({"url": server.url("public.example", "/"), "headers": [{"name": name, "value": value}]});
        let result = call(client(), "http_get", arguments).await;
        assert!(result.is_error(), "{name:?}: {value:?}");
    }
    // A path or a query cannot add a header either.
    let arguments = json!({
        "url": server.url("public.example", "/a%0d%0ab"),
        "query": [{"name": "c\r\nd", "value": "e f&g=h#i"}]
    });
    call(client(), "http_get", arguments).await;
    let seen = server.seen();
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0].path(), "/a%0d%0ab?c%0D%0Ad=e+f%26g%3Dh%23i");
}

// The contract of searchWeb: if a query contains a secret, the debug output of the request and of the response does not contain the secret.
#[tokio::test]
async fn secret_in_a_query_is_absent_from_debug_output() {
    let other = Server::start(OTHER, |_| text("other")).await;
    let location = other.url("other.example", "/?b=2");
    let server = Server::start(PUBLIC, move |seen| {
        match seen.path().split('?').next().unwrap() {
            "/" => text("here"),
            _ => response(302, &[("location", &location)], ""),
        }
    })
    .await;
    let key = SecretString::from(SECRET);
    for path in ["/?a=1", "/moved?a=1"] {
        let request = Request::new(Method::Get, server.url("public.example", path))
            .secret_query("api_key", &key);
        assert!(!format!("{request:?}").contains(SECRET));
        let response = client().send(request).await.unwrap();
        assert_eq!(
            server.seen().pop().unwrap().path(),
            format!("{path}&api_key={SECRET}")
        );
        assert!(!format!("{response:?}").contains(SECRET));
    }
    assert_eq!(other.seen()[0].path(), "/?b=2");
}
