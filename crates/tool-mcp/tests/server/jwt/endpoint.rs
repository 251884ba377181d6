//! Key endpoints that are down or slow, or that return huge or invalid responses.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tool_mcp::rmcp::ServerHandler;
use tool_mcp::{
    Auth, Composed, FetchedJwks, HttpJwks, HttpOptions, JwksError, JwksFetcher, JwtVerifier,
};

use super::issuer::{Issuer, Reply};
use super::signer::RSA;
use super::{ISSUER, RESOURCE, Setup, claims, server};
use crate::support::web::Web;

fn response(status: u16, header: &str, body: impl Into<Vec<u8>>) -> Reply {
    Reply::Response(status, header.to_owned(), body.into())
}

// If the endpoint is down, slow, or returns a huge or malformed response, no token is accepted and the cached keys do not change.
#[tokio::test]
async fn bad_key_responses_admit_no_token_and_change_no_keys() {
    let elsewhere = Issuer::of(&[&RSA]).await;
    let good = json!({ "keys": [RSA.jwk()] }).to_string();
    let many = json!({ "keys": vec![RSA.jwk(); 101] }).to_string();
    let long = format!("{}{good}", " ".repeat(600 * 1024));
    let redirect = format!("location: {}\r\n", elsewhere.url());
    let replies = [
        Reply::Nothing,
        Reply::Silence,
        Reply::Drip,
        Reply::Endless,
        response(500, "", good.clone()),
        response(404, "", good.clone()),
        response(204, "", ""),
        response(301, &redirect, ""),
        response(302, &redirect, ""),
        response(307, &redirect, good.clone()),
        response(200, "", ""),
        response(200, "", "<html>not found</html>"),
        response(200, "", "{}"),
        response(200, "", "[]"),
        response(200, "", "null"),
        response(200, "", r#"{"keys":{}}"#),
        response(200, "", r#"{"keys":null}"#),
        response(200, "", b"\xff\xfe\x00".as_slice()),
        response(200, "", &good.as_bytes()[..good.len() - 10]),
        response(200, "", "[".repeat(100_000)),
        response(200, "", many),
        response(200, "", long),
    ];
    let token = RSA.token(&claims());
    for reply in replies {
        // First case: no keys were fetched before.
        let setup = Setup::of(&[]).await;
        setup.issuer.reply(reply.clone());
        let refused = setup.call(&token).await;
        let shown: String = format!("{reply:?}").chars().take(80).collect();
        assert_eq!(refused.status, 503, "{shown}");
        assert_eq!(refused.header("retry-after"), "5", "{shown}");
        // Second case: keys were fetched before.
        setup.issuer.publish(&[&RSA], Some(600));
        setup.clock.advance(Duration::from_secs(31));
        assert_eq!(setup.status(&token).await, 200, "{shown}");
        setup.issuer.reply(reply);
        setup.clock.advance(Duration::from_secs(31));
        let unknown = RSA.with_header(&json!({ "alg": "RS256", "kid": "other" }), &claims());
        assert_eq!(setup.status(&unknown).await, 401, "{shown}");
        assert_eq!(setup.status(&token).await, 200, "{shown}");
    }
    assert_eq!(elsewhere.fetches(), 0, "redirects are not followed");
}

#[tokio::test]
async fn malformed_keys_do_not_affect_other_keys() {
    let odd = [
        json!(null),
        json!(7),
        json!("key"),
        json!([]),
        json!({}),
        json!({ "kty": "AKP", "alg": "ML-DSA-65", "pub": "AAAA", "kid": "pq" }),
        json!({ "kty": "EC", "crv": "secp256k1", "x": "AA", "y": "AA", "kid": "k1" }),
        json!({ "kty": "OKP", "crv": "X25519", "x": "AA", "kid": "x" }),
        json!({ "kty": "RSA", "kid": "short", "n": "AQAB", "e": "AQAB" }),
        json!({ "kty": "RSA", "kid": "empty", "n": "", "e": "" }),
        json!({ "kty": "RSA", "n": [1, 2], "kid": "list" }),
    ];
    let setup = Setup::of(&[]).await;
    let keys: Vec<_> = odd.into_iter().chain([RSA.jwk()]).collect();
    setup.issuer.publish_keys(&keys, None);
    assert_eq!(setup.status(&RSA.token(&claims())).await, 200);
}

/// Returns a server whose keys come from the host's own fetcher.
async fn served<H: ServerHandler>(server: &Composed<H>, keys: impl JwksFetcher) -> Web {
    let verifier = JwtVerifier::builder(ISSUER, keys).build().unwrap();
    let auth = Auth::new(RESOURCE, verifier).scope("tools:call");
    Web::of(server, HttpOptions::new().auth(auth)).await
}

async fn listed(web: &Web) -> u16 {
    let authorization = format!("Bearer {}", RSA.token(&claims()));
    let headers = [("authorization", authorization.as_str())];
    web.modern(&headers, "tools/list", json!({}))
        .await
        .status
        .as_u16()
}

#[tokio::test]
async fn keys_come_from_a_fetcher_of_the_host() {
    struct Given;
    impl JwksFetcher for Given {
        fn fetch(&self) -> BoxFuture<'_, Result<FetchedJwks, JwksError>> {
            let set = json!({ "keys": [RSA.jwk()] }).to_string();
            futures::future::ok(FetchedJwks::new(set).max_age(Duration::from_mins(5))).boxed()
        }
    }
    struct Panics;
    impl JwksFetcher for Panics {
        fn fetch(&self) -> BoxFuture<'_, Result<FetchedJwks, JwksError>> {
            async { unreachable!("a bug of the host") }.boxed()
        }
    }

    assert_eq!(listed(&served(&server(), Given).await).await, 200);
    assert_eq!(listed(&served(&server(), Panics).await).await, 503);
}

#[tokio::test]
async fn unreachable_key_endpoint_admits_no_token() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/jwks.json", listener.local_addr().unwrap());
    drop(listener);
    assert_eq!(
        listed(&served(&server(), HttpJwks::new(&url).unwrap()).await).await,
        503
    );
}

// Keys are fetched over HTTPS only if the certificate is valid for the host.
#[tokio::test]
async fn certificates_of_the_endpoint_are_verified() {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let certificate = made.cert.der().clone();
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key)
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(mut stream) = acceptor.accept(stream).await else {
                continue;
            };
            let mut head = [0; 4096];
            let _ = stream.read(&mut head).await;
            let set = json!({ "keys": [RSA.jwk()] }).to_string();
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", set.len());
            let _ = stream.write_all(format!("{head}{set}").as_bytes()).await;
            let _ = stream.shutdown().await;
        }
    });
    let of = |host: &str| HttpJwks::new(&format!("https://{host}:{port}/jwks.json")).unwrap();
    let trusted = of("localhost").root_certificate(&certificate).unwrap();
    assert_eq!(listed(&served(&server(), trusted).await).await, 200);
    assert_eq!(listed(&served(&server(), of("localhost")).await).await, 503);
    let other = of("127.0.0.1").root_certificate(&certificate).unwrap();
    assert_eq!(
        listed(&served(&server(), other).await).await,
        503,
        "the certificate names a different host"
    );
}
