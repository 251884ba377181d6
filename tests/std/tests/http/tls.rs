//! Requests over HTTPS: certificates, and secrets over encrypted connections.

use std::sync::Arc;

use futures::FutureExt as _;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use tool_core::prelude::*;
use tool_std::http::{Credential, Http, http_get};

use super::support::{PUBLIC, Server, call, client, get, output, response};

/// Starts a server with a certificate for these names that echoes the `Authorization` header. Returns its port and certificate.
async fn secure(names: &[&str]) -> (u16, Vec<u8>) {
    let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
    let own = rcgen::generate_simple_self_signed(names).unwrap();
    let certificate = own.cert.der().clone();
    let key = PrivateKeyDer::Pkcs8(own.signing_key.serialize_der().into());
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind((PUBLIC, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(
                async move {
                    let mut socket = acceptor.accept(socket).await.ok()?;
                    let mut bytes = [0; 8192];
                    let count = socket.read(&mut bytes).await.ok()?;
                    let head = String::from_utf8_lossy(&bytes[..count]).into_owned();
                    let line = head.lines().find(|line| line.starts_with("authorization"));
                    let answer = response(
                        200,
                        &[("content-type", "text/plain")],
                        line.unwrap_or("no secret"),
                    );
                    socket.write_all(&answer).await.ok()?;
                    socket.shutdown().await.ok()
                }
                .boxed(),
            );
        }
    });
    (port, certificate.to_vec())
}

// S1-102: the certificate must match the name in the URL, although the connection goes to the checked address.
#[tokio::test]
async fn certificate_must_match_the_url_host() {
    let (port, certificate) = secure(&["public.example"]).await;
    let http = client().root_certificate(certificate);
    let result = get(http.clone(), &format!("https://public.example:{port}/")).await;
    assert_eq!(output(&result)["body"], "no secret");
    for host in ["api.public.example", "evilpublic.example", "127.0.0.2"] {
        let result = get(http.clone(), &format!("https://{host}:{port}/")).await;
        let said = result.error().unwrap().model_text();
        assert!(
            said.starts_with(&format!("no secure connection to `{host}` could be made")),
            "{said}"
        );
    }
    // A client without the root certificate does not trust the server.
    let result = get(client(), &format!("https://public.example:{port}/")).await;
    assert!(result.is_error());
}

// The contract of httpRequest: a secret is sent over HTTPS, and is dropped if a redirect changes the scheme.
#[tokio::test]
async fn secret_is_sent_over_https_but_not_after_a_scheme_change() {
    let (port, certificate) = secure(&["public.example"]).await;
    let with = |credential: Credential| {
        client()
            .root_certificate(certificate.clone())
            .credential(credential)
    };
    let ask = async |http: Http, url: String| {
        let cx = ToolContext::builder()
            .with(http)
            .secret("http_api_key", "key-4711-of-the-host")
            .build();
        let arguments = json!({"url": url, "auth_style": "bearer"}).to_string();
        toolset![http_get]
            .call(ToolCall::new("c-1", "http_get", arguments), &cx)
            .await
    };
    let result = ask(
        with(Credential::for_hosts(["public.example"]).unwrap()),
        format!("https://public.example:{port}/"),
    )
    .await;
    let said = output(&result)["body"].as_str().unwrap().to_owned();
    assert!(
        said.starts_with("authorization: Bearer ") && !said.contains("key-4711"),
        "{said}"
    );

    let moved = Server::start(PUBLIC, move |_| {
        response(
            301,
            &[("location", &format!("https://public.example:{port}/"))],
            "",
        )
    })
    .await;
    let credential = Credential::for_hosts(["public.example"])
        .unwrap()
        .over_plain_http();
    let result = ask(with(credential), moved.url("public.example", "/")).await;
    assert_eq!(output(&result)["body"], "no secret");
    assert!(moved.seen()[0].header("authorization").is_some());
}

// The contract of httpRequest: an unencrypted response to an HTTPS request is an error.
#[tokio::test]
async fn unencrypted_response_to_https_is_an_error() {
    let listener = TcpListener::bind((PUBLIC, 0)).await.unwrap();
    let url = format!(
        "https://public.example:{}/",
        listener.local_addr().unwrap().port()
    );
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        socket
            .write_all(&response(200, &[], "plain"))
            .await
            .unwrap();
        std::future::pending::<()>().await;
    });
    let result = call(client(), "http_get", json!({"url": url})).await;
    assert!(
        result
            .model_text()
            .starts_with("no secure connection to `public.example`")
    );
}
