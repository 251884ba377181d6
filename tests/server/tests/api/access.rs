//! Tests of authentication, roles, hosts and origins.

use futures::FutureExt as _;
use futures::future::BoxFuture;
use server_tests::{Site, StoreKind, document, operations, seed};
use tool_http::{AuthError, Principal, TokenVerifier};
use tool_server::{Role, VerifiedTokens};

use crate::samples::path;

// Every route, and every path that does not exist, requires an access token.
pub(crate) async fn every_route_requires_a_token(kind: StoreKind) {
    let site = Site::start(kind).await;
    let acme = seed(&*site.store, "acme").await;
    let mut paths = vec![
        ("get".to_owned(), "/openapi.json".to_owned()),
        ("get".to_owned(), "/nowhere".to_owned()),
        ("patch".to_owned(), "/v1/approvals".to_owned()),
    ];
    for (method, template, operation) in operations(&document()) {
        paths.push((method, path(&template, &operation, &acme)));
    }
    for (method, path) in paths {
        for token in [None, Some("wrong"), Some("two words")] {
            let answer = site.send(&method, &path, token, &[], None).await;
            assert_eq!(answer.status, 401, "{method} {path}");
            assert_eq!(
                answer.header("content-type"),
                Some("application/problem+json")
            );
            assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
        }
    }
}

// Each route refuses callers whose role does not include the role that its operation requires. Routes for operators of the host refuse all others.
pub(crate) async fn every_route_requires_its_role(kind: StoreKind) {
    let site = Site::start(kind).await;
    let acme = seed(&*site.store, "acme").await;
    for (method, template, operation) in operations(&document()) {
        let needed = Role::from_word(operation["x-required-role"].as_str().unwrap()).unwrap();
        let host = operation["x-host"] == true;
        let path = path(&template, &operation, &acme);
        for role in Role::ALL {
            let token = format!("{role}-of-acme");
            // A request without a body and with a wrong `If-Match` either fails later or only reads, if the role is sufficient.
            let answer = site
                .send(
                    &method,
                    &path,
                    Some(&token),
                    &[("if-match", "\"none\"")],
                    None,
                )
                .await;
            let refused = host || !role.includes(needed);
            assert_eq!(
                answer.status == 403,
                refused,
                "{role}: {method} {path}: {answer:?}"
            );
        }
    }
}

// Requests for foreign hosts and from untrusted web pages are refused, although the token is valid.
pub(crate) async fn foreign_hosts_and_origins_are_refused(kind: StoreKind) {
    let site = Site::start(kind).await;
    for header in [("host", "evil.example"), ("origin", "https://evil.example")] {
        let answer = site
            .send("get", "/v1/tools", Some("host"), &[header], None)
            .await;
        assert_eq!(answer.status, 403, "{header:?}");
        assert_eq!(answer.json()["type"], "urn:tool-server:forbidden");
    }
    let own = [("origin", "http://localhost:5173")];
    assert_eq!(
        site.send("get", "/v1/tools", Some("host"), &own, None)
            .await
            .status,
        200
    );
}

// Without configured callers, each server creates its own random token for an operator of the host.
pub(crate) async fn server_without_callers_requires_a_random_token(_: StoreKind) {
    let store = tool_core::store::MemoryStore::default();
    let servers = [(); 2].map(|()| {
        tool_server::AdminServer::builder(store.clone())
            .build()
            .unwrap()
    });
    let [one, other] = servers.each_ref().map(|server| server.token().unwrap());
    assert!(one.len() == 64 && one != other);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1/policy", listener.local_addr().unwrap());
    let server = servers[0].clone();
    let task =
        tokio::spawn(async move { server.serve_until(listener, std::future::pending()).await });
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    for (token, status) in [(one, 404), (other, 401)] {
        let answer = client
            .get(&url)
            .header("authorization", format!("Bearer {token}"));
        // The server has no policy, so the status is 404 for an operator of the host.
        assert_eq!(answer.send().await.unwrap().status(), status);
    }
    task.abort();
}

/// Verifies tokens that consist of their scopes, separated by `+`.
struct Scopes;

impl TokenVerifier for Scopes {
    fn verify<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Result<Principal, AuthError>> {
        let mut principal = Principal::new("ann")
            .scopes(token.split('+'))
            .audience(["https://admin.example.com"])
            .workspace("acme");
        if token.contains("elsewhere") {
            principal = principal.audience(["https://other.example.com"]);
        }
        let answer = match token {
            "unavailable" => Err(AuthError::Unavailable),
            _ => Ok(principal),
        };
        futures::future::ready(answer).boxed()
    }
}

// A token of an issuer is accepted only if its scopes name a role that includes all other named roles, and its audience is this server.
pub(crate) async fn verified_tokens_have_a_role_and_an_audience(kind: StoreKind) {
    let site = Site::with(kind, |server| {
        server
            .authenticator(server_tests::tokens(&["acme"]))
            .authenticator(VerifiedTokens::new("https://admin.example.com/", Scopes))
    })
    .await;
    let acme = seed(&*site.store, "acme").await;
    let read = format!("/v1/approvals/{}", acme.approval);
    for (token, path, status) in [
        ("tools:viewer", read.as_str(), 200),
        ("tools:operator+tools:approver", &read, 200),
        ("tools:viewer+elsewhere", &read, 401),
        ("tools:author+tools:approver", &read, 401),
        ("openid", &read, 401),
        ("unavailable", &read, 503),
        ("tools:viewer", "/v1/policy", 403),
        ("tools:viewer+tools:host", "/v1/policy", 404),
        ("viewer-of-acme", &read, 200),
    ] {
        let answer = site.send("get", path, Some(token), &[], None).await;
        assert_eq!(answer.status, status, "{token} {path}: {}", answer.text);
    }
}
