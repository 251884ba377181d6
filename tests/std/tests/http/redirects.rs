//! Targets, methods and limits of redirects.

use serde_json::json;
use tool_core::ErrorKind;

use super::support::{
    OTHER, PRIVATE, PUBLIC, Server, call, client, get, guard, output, response, text,
};

fn to(status: u16, location: &str) -> Vec<u8> {
    response(status, &[("location", location)], "moved")
}

// S1-102: a redirect to a private address is refused.
#[tokio::test]
async fn redirects_to_private_addresses_are_refused() {
    // The test replaces PORT with the port on which both the public and the private server listen.
    const LOCATIONS: &[&str] = &[
        "http://127.0.0.1:PORT/",
        "http://127.1:PORT/",
        "http://0x7f.1:PORT/",
        "http://2130706433:PORT/",
        "http://017700000001:PORT/",
        "http://0:PORT/",
        "http://127。0。0。1:PORT/",
        "http://%31%32%37.0.0.1:PORT/",
        "http://[::1]:PORT/",
        "http://[::ffff:127.0.0.1]:PORT/",
        "http://[::ffff:7f00:1]:PORT/",
        "http://[64:ff9b::7f00:1]:PORT/",
        "http://[2002:7f00:1::]:PORT/",
        "http://10.0.0.1/",
        "http://169.254.169.254/latest/meta-data/",
        "http://0xA9FEA9FE/latest/meta-data/",
        "http://[fd00:ec2::254]/latest/meta-data/",
        "http://localhost:PORT/",
        "http://LOCALHOST.:PORT/",
        "http://a.localhost:PORT/",
        "http://metadata.google.internal/",
        "http://metadata/",
        "http://private.example:PORT/",
        "http://PRIVATE.example.:PORT/",
        "//127.0.0.1:PORT/",
        "//private.example:PORT/",
        "\\\\127.0.0.1:PORT\\",
        "/\\127.0.0.1:PORT/",
        "http:\\\\127.0.0.1:PORT\\",
        "ht\ttp://127.0.0.1:PORT/",
        "http://user:password@127.0.0.1:PORT/",
        "http://user@public.example:PORT/",
        "http://public.example:PORT@127.0.0.1:PORT/",
        "http://unknown.example/",
        "file:///etc/passwd",
        "ftp://127.0.0.1:PORT/",
        "gopher://127.0.0.1:PORT/_x",
        "data:text/plain,hello",
        "javascript:alert(1)",
        "unix:/var/run/docker.sock",
        "ws://public.example:PORT/",
    ];
    for location in LOCATIONS {
        for status in [301, 302, 303, 307, 308] {
            let public = Server::start(PUBLIC, move |seen| {
                let port = seen
                    .header("host")
                    .unwrap()
                    .rsplit(':')
                    .next()
                    .unwrap()
                    .to_owned();
                to(status, &location.replace("PORT", &port))
            })
            .await;
            let private = Server::at((PRIVATE, public.port()).into(), |_| text("private")).await;
            let result = get(client(), &public.url("public.example", "/")).await;
            let error = result
                .error()
                .unwrap_or_else(|| panic!("{location}: {}", result.model_text()));
            assert_eq!(error.kind(), ErrorKind::Failed, "{location}");
            let said = error.model_text();
            let begin = "the server redirects to a URL that is refused: ";
            assert!(said.starts_with(begin), "{location}: {said}");
            assert_eq!(public.seen().len(), 1, "{location}");
            assert_eq!(private.seen().len(), 0, "{location}");
        }
    }
}

// S1-102: the guard checks the address of every hop, including the last one.
#[tokio::test]
async fn last_hop_is_checked_like_the_first() {
    let public = Server::start(PUBLIC, |seen| match seen.path() {
        "/4" => to(302, "http://private.example:1/"),
        path => to(302, &format!("/{}", path[1..].parse::<u8>().unwrap() + 1)),
    })
    .await;
    let result = get(client(), &public.url("public.example", "/1")).await;
    let error = result.error().unwrap();
    assert!(
        error
            .model_text()
            .ends_with("only hosts on the internet can be reached")
    );
    assert_eq!(public.seen().len(), 4);
}

// S1-102: the allowlist applies to every hop.
#[tokio::test]
async fn allowlist_applies_to_redirects() {
    let other = Server::start(OTHER, |_| text("other")).await;
    let location = other.url("other.example", "/");
    let public = Server::start(PUBLIC, move |_| to(302, &location)).await;
    let result = get(client(), &public.url("public.example", "/")).await;
    assert_eq!(output(&result)["body"], "other");

    let http = client().guard(guard().allow(["public.example"]).unwrap());
    let result = get(http, &public.url("public.example", "/")).await;
    assert!(
        result
            .model_text()
            .contains("`other.example` is not among the hosts")
    );
    let http = client().guard(guard().ports([public.port()]));
    let result = get(http, &public.url("public.example", "/")).await;
    assert!(
        result
            .model_text()
            .contains(&format!("port {} is not allowed", other.port()))
    );
    assert_eq!(other.seen().len(), 1);
}

// S1-102: each hop resolves its name again, and the new address is checked.
#[tokio::test]
async fn each_hop_resolves_its_name_again() {
    let public = Server::start(PUBLIC, |_| to(302, "/again")).await;
    let private = Server::at((PRIVATE, public.port()).into(), |_| text("private")).await;
    let names = super::support::Names::default()
        .with("rebind.example", [PUBLIC])
        .with("rebind.example", [PRIVATE]);
    let http = client().guard(guard().resolver(names.clone()));
    let result = get(http, &public.url("rebind.example", "/")).await;
    assert!(result.is_error(), "{}", result.model_text());
    assert_eq!(names.asked().len(), 2);
    assert_eq!((public.seen().len(), private.seen().len()), (1, 0));
}

// The contracts of httpRequest and curl: the method after each redirect status follows RFC 9110, 15.4.
#[tokio::test]
async fn redirect_method_follows_rfc_9110() {
    // Each case has the method of the request, the status, and the method of the next request on the same origin.
    let cases = [
        ("GET", 301, "GET"),
        ("GET", 302, "GET"),
        ("GET", 303, "GET"),
        ("GET", 307, "GET"),
        ("GET", 308, "GET"),
        ("HEAD", 301, "HEAD"),
        ("HEAD", 303, "HEAD"),
        ("HEAD", 307, "HEAD"),
        ("POST", 301, "GET"),
        ("POST", 302, "GET"),
        ("POST", 303, "GET"),
        ("POST", 307, "POST"),
        ("POST", 308, "POST"),
        ("PUT", 301, "PUT"),
        ("PUT", 302, "PUT"),
        ("PUT", 303, "GET"),
        ("PUT", 307, "PUT"),
        ("PATCH", 308, "PATCH"),
        ("PATCH", 303, "GET"),
        ("DELETE", 302, "DELETE"),
        ("DELETE", 303, "GET"),
        ("DELETE", 307, "DELETE"),
    ];
    for (method, status, then) in cases {
        let server = Server::start(PUBLIC, move |seen| match seen.path() {
            "/there" => text("done"),
            _ => to(status, "/there"),
        })
        .await;
        let body = (!matches!(method, "GET" | "HEAD")).then_some("{\"a\":1}");
        let arguments =
            json!({"url": server.url("public.example", "/here"), "method": method, "body": body});
        let result = call(client(), "http_request", arguments).await;
        assert_eq!(output(&result)["status"], 200, "{method} {status}");
        let seen = server.seen();
        assert_eq!(seen[0].method(), method);
        assert_eq!(
            seen[1].line,
            format!("{then} /there HTTP/1.1"),
            "{method} {status}"
        );
        let (sent, kind) = if method == then {
            (body.unwrap_or(""), body.map(|_| "application/json"))
        } else {
            ("", None)
        };
        assert_eq!(seen[1].body, sent, "{method} {status}");
        assert_eq!(seen[1].header("content-type"), kind, "{method} {status}");
    }
}

// The contract of httpRequest: a request that changes data at one origin is not repeated at a different origin.
#[tokio::test]
async fn change_is_not_repeated_at_a_different_origin() {
    let other = Server::start(OTHER, |_| text("other")).await;
    for (method, status, follows) in [
        ("POST", 307, false),
        ("POST", 308, false),
        ("PUT", 302, false),
        ("DELETE", 301, false),
        ("PATCH", 307, false),
        ("POST", 302, true), // the next request is a GET
        ("DELETE", 303, true),
        ("GET", 307, true),
    ] {
        let before = other.seen().len();
        let location = other.url("other.example", "/");
        let target = location.clone();
        let server = Server::start(PUBLIC, move |_| to(status, &location)).await;
        let arguments = json!({"url": server.url("public.example", "/"), "method": method});
        let result = call(client(), "http_request", arguments).await;
        let result = output(&result);
        let seen = other.seen();
        assert_eq!(
            seen.len() - before,
            usize::from(follows),
            "{method} {status}"
        );
        if follows {
            assert_eq!(seen.last().unwrap().method(), "GET");
            assert_eq!(result["url"], target);
        } else {
            assert_eq!(result["status"], status);
            assert_eq!(
                result["headers"],
                json!([
                    {"name": "content-length", "value": "5"}, {"name": "location", "value": target}
                ])
            );
            assert!(
                result["note"]
                    .as_str()
                    .unwrap()
                    .contains("is not repeated there")
            );
        }
    }
}

// The contracts of httpRequest and curl: the number of redirects is limited.
#[tokio::test]
async fn number_of_redirects_is_limited() {
    let server = Server::start(PUBLIC, |seen| to(302, &format!("{}x", seen.path()))).await;
    let url = server.url("public.example", "/");
    let result = output(&get(client(), &url).await);
    assert_eq!(result["status"], 302);
    assert_eq!(result["url"], server.url("public.example", "/xxxxx"));
    assert_eq!(
        result["note"],
        "the server redirects to `location`, no more than 5 redirects are followed"
    );
    assert_eq!(server.seen().len(), 6);

    let result = output(&get(client().redirects(0), &url).await);
    assert_eq!(result["status"], 302);
    assert_eq!(server.seen().len(), 7);
}

// The contracts of httpRequest and curl: a response is returned if its status is not followed as a redirect, or if it has no single usable location.
#[tokio::test]
async fn redirect_without_a_usable_location_is_the_response() {
    let cases: [Vec<u8>; 8] = [
        to(302, "///127.0.0.1/"),
        to(302, "http://[::1/"),
        to(300, "/there"),
        to(304, "/there"),
        to(305, "/there"),
        to(201, "/there"),
        response(302, &[], "nowhere"),
        response(302, &[("location", "/a"), ("location", "/b")], "two"),
    ];
    for bytes in cases {
        let server = Server::start(PUBLIC, move |_| bytes.clone()).await;
        let result = output(&get(client(), &server.url("public.example", "/")).await);
        assert!(result["status"].as_u64().unwrap() < 400);
        assert_eq!(server.seen().len(), 1);
    }
}
