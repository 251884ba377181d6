//! Response bodies: size limits, decompression and charsets.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use futures::FutureExt as _;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tool_core::ErrorKind;

use super::support::{PUBLIC, Server, call, client, get, output, response, text};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

async fn body_of(headers: &'static [(&'static str, &'static str)], body: Vec<u8>) -> Value {
    let server = Server::start(PUBLIC, move |_| response(200, headers, &body)).await;
    output(&get(client(), &server.url("public.example", "/")).await)
}

// The contracts of httpRequest and curl: the content type decides whether a body is returned as JSON or as text.
#[tokio::test]
async fn body_is_json_or_text_by_its_content_type() {
    const JSON: &[(&str, &str)] = &[("content-type", "application/json")];
    const PROBLEM: &[(&str, &str)] = &[("content-type", "application/problem+json; charset=utf-8")];
    const TEXT: &[(&str, &str)] = &[("content-type", "text/plain")];
    // JSON keeps the digits of numbers and the order of keys.
    let server = Server::start(PUBLIC, |_| {
        response(200, JSON, r#"{"b": 1.10, "a": 12345678901234567890123}"#)
    })
    .await;
    let result = get(client(), &server.url("public.example", "/")).await;
    let written = result.output().unwrap().get();
    assert!(
        written.contains(r#""body":{"b": 1.10, "a": 12345678901234567890123}"#),
        "{written}"
    );

    assert_eq!(
        body_of(PROBLEM, b"[1,null]".to_vec()).await["body"],
        json!([1, null])
    );
    // Invalid JSON with a JSON content type is returned as text, and so is JSON that is too deep for a client to parse.
    assert_eq!(body_of(JSON, b"{oops".to_vec()).await["body"], "{oops");
    let deep = "[".repeat(5_000) + &"]".repeat(5_000);
    assert_eq!(body_of(JSON, deep.clone().into()).await["body"], deep);
    assert_eq!(body_of(TEXT, b"{}".to_vec()).await["body"], "{}");
    assert_eq!(body_of(&[], b"plain".to_vec()).await["body"], "plain");
    assert_eq!(body_of(TEXT, Vec::new()).await["body"], Value::Null);
}

// The contracts of httpRequest and curl: a binary body is left out and reported.
#[tokio::test]
async fn binary_bodies_are_left_out_and_reported() {
    const PNG: &[(&str, &str)] = &[("content-type", "image/png")];
    for (headers, bytes) in [
        (PNG, b"plain".to_vec()),
        (&[][..], b"\x89PNG\r\n\x1a\n\0\0\0".to_vec()),
        (
            &[("content-type", "application/octet-stream")][..],
            vec![0; 100],
        ),
    ] {
        let result = body_of(headers, bytes).await;
        assert_eq!(result["body"], Value::Null);
        assert_eq!(result["status"], 200);
        assert!(
            result["note"]
                .as_str()
                .unwrap()
                .starts_with("the body is not text")
        );
    }
}

// The contracts of httpRequest and curl: text is decoded with its charset.
#[tokio::test]
async fn texts_are_read_in_their_charset() {
    const UTF8: &[(&str, &str)] = &[("content-type", "text/plain; charset=utf-8")];
    const LATIN: &[(&str, &str)] = &[("content-type", "text/plain; charset=ISO-8859-1")];
    const JAPANESE: &[(&str, &str)] = &[("content-type", "text/plain; charset=\"Shift_JIS\"")];
    const NONE: &[(&str, &str)] = &[("content-type", "text/plain")];
    const UNKNOWN: &[(&str, &str)] = &[("content-type", "text/plain; charset=klingon")];
    for (headers, bytes, text) in [
        (UTF8, "Grüße, 世界".as_bytes().to_vec(), "Grüße, 世界"),
        (LATIN, b"Gr\xfc\xdfe".to_vec(), "Grüße"),
        (JAPANESE, b"\x90\xa2\x8aE".to_vec(), "世界"),
        (NONE, "Grüße".as_bytes().to_vec(), "Grüße"),
        (NONE, b"Gr\xfc\xdfe".to_vec(), "Grüße"),
        (UNKNOWN, "Grüße".as_bytes().to_vec(), "Grüße"),
        (LATIN, b"\xff\xfeG\0r\0\xfc\0".to_vec(), "Grü"), // a byte order mark has priority over the header
        (NONE, b"\xfe\xff\0G\0r\0\xfc".to_vec(), "Grü"),
    ] {
        assert_eq!(body_of(headers, bytes).await["body"], text, "{headers:?}");
    }
}

// The contracts of httpRequest and curl: a body is cut after `max_body_size` characters, or after the host's limit, 16,384 by default, if it is
// lower.
#[tokio::test]
async fn a_long_body_is_cut_at_a_character() {
    let long = "é€𝄞x".repeat(10_000);
    let sent = long.clone();
    let server = Server::start(PUBLIC, move |_| text(&sent)).await;
    let url = server.url("public.example", "/");
    for (http, wanted, chars) in [
        (client(), None, 16_384),
        (client(), Some(10), 10),
        (client(), Some(0), 0),
        (client(), Some(10_000_000), 16_384), // the host's limit is lower
        (client().max_chars(100), None, 100),
        (client().max_chars(1_000_000), None, 40_000),
    ] {
        let result = call(
            http,
            "http_get",
            json!({"url": url, "max_body_size": wanted}),
        )
        .await;
        let result = output(&result);
        let body = result["body"].as_str().unwrap_or("");
        assert_eq!(body.chars().count(), chars);
        assert!(long.starts_with(body));
        assert_eq!(result["truncated"], chars < 40_000);
    }
}

// The contracts of httpRequest and curl: a compressed body is decompressed, and a body that cannot be decompressed is left out and reported.
#[tokio::test]
async fn compressed_bodies_are_decompressed() {
    const PLAIN: &[u8] = b"the quick brown fox";
    const GZIP: &[(&str, &str)] = &[("content-encoding", "gzip")];
    const DEFLATE: &[(&str, &str)] = &[("content-encoding", "Deflate")];
    let (mut zlib, mut raw) = (
        ZlibEncoder::new(Vec::new(), Compression::best()),
        DeflateEncoder::new(Vec::new(), Compression::best()),
    );
    zlib.write_all(PLAIN).unwrap();
    raw.write_all(PLAIN).unwrap();
    let twice = [gzip(&PLAIN[..9]), gzip(&PLAIN[9..])].concat();
    for (headers, packed) in [
        (GZIP, gzip(PLAIN)),
        (GZIP, twice),
        (DEFLATE, zlib.finish().unwrap()),
        (DEFLATE, raw.finish().unwrap()),
        (&[("content-encoding", "identity")][..], PLAIN.to_vec()),
    ] {
        assert_eq!(
            body_of(headers, packed).await["body"],
            "the quick brown fox",
            "{headers:?}"
        );
    }
    // The status is returned even if the body cannot be decompressed.
    let mut broken = gzip(PLAIN);
    broken.truncate(20);
    for (headers, packed, note) in [
        (GZIP, broken, "the body could not be decompressed"),
        (GZIP, PLAIN.to_vec(), "the body could not be decompressed"),
        (
            &[("content-encoding", "br")][..],
            PLAIN.to_vec(),
            "the body is encoded as `br`",
        ),
        (
            &[("content-encoding", "gzip, gzip")][..],
            gzip(&gzip(PLAIN)),
            "the body is encoded as `gzip, gzip`",
        ),
        (
            &[("content-encoding", "gzip"), ("content-encoding", "gzip")][..],
            gzip(&gzip(PLAIN)),
            "the body is encoded as `gzip, gzip`, which was not requested",
        ),
        (
            &[("content-encoding", "gzip"), ("content-encoding", "br")][..],
            gzip(PLAIN),
            "the body is encoded as `gzip, br`, which was not requested",
        ),
    ] {
        let result = body_of(headers, packed).await;
        assert_eq!(
            (&result["status"], &result["body"]),
            (&json!(200), &Value::Null)
        );
        assert!(
            result["note"].as_str().unwrap().starts_with(note),
            "{}",
            result["note"]
        );
    }
}

/// Sends `head`, then `chunk` until the client disconnects, and counts the chunks.
async fn endless(head: &'static str, chunk: Vec<u8>) -> (Server, Arc<AtomicUsize>) {
    let sent = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&sent);
    let server = Server::serve((PUBLIC, 0).into(), move |mut socket, _| {
        let (chunk, counted) = (chunk.clone(), Arc::clone(&counted));
        async move {
            if socket.write_all(head.as_bytes()).await.is_ok() {
                while socket.write_all(&chunk).await.is_ok() {
                    counted.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
        .boxed()
    })
    .await;
    (server, sent)
}

// The contracts of httpRequest and curl: an endless body and a decompression bomb are cut off.
#[tokio::test]
async fn endless_bodies_and_decompression_bombs_are_cut_off() {
    const MB: usize = 1 << 20;
    let plain = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n";
    let packed = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-encoding: gzip\r\n\r\n";
    // Each chunk decompresses to 64 MB. The chunks in a full socket buffer would decompress to gigabytes.
    let bomb = gzip(&vec![b'0'; 64 * MB]);
    assert!(bomb.len() < MB);
    // Empty gzip members have a size in the response, but add no bytes to the body.
    let nothing = gzip(b"").repeat(1_000);
    for (head, chunk, chars) in [
        (plain, vec![b'a'; 64 * 1024], 16_384),
        (packed, bomb.clone(), 16_384),
        (packed, nothing.clone(), 0),
    ] {
        let size = chunk.len();
        let (server, sent) = endless(head, chunk).await;
        let result = output(&get(client(), &server.url("public.example", "/")).await);
        assert_eq!(result["truncated"], true);
        assert_eq!(result["body"].as_str().unwrap_or("").len(), chars);
        // The server could send only as much as the buffers of both sockets hold.
        assert!(sent.load(Ordering::Relaxed) * size < 64 * MB);
    }
}

// The contracts of httpRequest and curl: the number and the size of headers, and the number of interim responses, are limited.
#[tokio::test]
async fn floods_of_headers_are_refused() {
    let many: Vec<_> = (0..200)
        .map(|i| {
            format!(
                "x-{i}: 1
"
            )
        })
        .collect();
    let long = format!("x-long: {}\r\n", "a".repeat(1 << 20));
    for flood in [many.concat(), long] {
        let bytes = format!("HTTP/1.1 200 OK\r\n{flood}content-length: 0\r\n\r\n").into_bytes();
        let server = Server::start(PUBLIC, move |_| bytes.clone()).await;
        let result = get(client(), &server.url("public.example", "/")).await;
        assert!(
            result
                .model_text()
                .contains("did not answer with valid HTTP"),
            "{}",
            result.model_text()
        );
    }
    let (server, _) = endless("HTTP/1.1 200 OK\r\n", b"x-more: 1\r\n".repeat(1_000)).await;
    let result = get(client(), &server.url("public.example", "/")).await;
    assert!(
        result
            .model_text()
            .contains("did not answer with valid HTTP"),
        "{}",
        result.model_text()
    );
    // The number of interim responses is limited, not only the size of each one.
    for interim in [
        "HTTP/1.1 100 Continue\r\n\r\n",
        "HTTP/1.1 103 Early Hints\r\nlink: <a>\r\n\r\n",
    ] {
        let (server, sent) = endless("", interim.repeat(1_000).into_bytes()).await;
        let result = get(client(), &server.url("public.example", "/")).await;
        let text = result.model_text();
        assert!(text.contains("did not answer with valid HTTP"), "{text}");
        assert!(sent.load(Ordering::Relaxed) < 1_000);
        // A few interim responses are accepted.
        let answer = interim.repeat(3) + "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
        let server = Server::start(PUBLIC, move |_| answer.clone().into_bytes()).await;
        let result = output(&get(client(), &server.url("public.example", "/")).await);
        assert_eq!(result["body"], "ok");
    }
    // A long header value is truncated in the result.
    let server = Server::start(PUBLIC, |_| {
        response(200, &[("etag", &"e".repeat(30_000))], "")
    })
    .await;
    let result = output(&get(client(), &server.url("public.example", "/")).await);
    assert_eq!(
        result["headers"][1]["value"]
            .as_str()
            .unwrap()
            .chars()
            .count(),
        1024
    );
}

// The contracts of httpRequest and curl: the error states that a response is not valid HTTP or ended early.
#[tokio::test]
async fn response_that_is_not_http_is_reported() {
    for bytes in [
        &b"SSH-2.0-OpenSSH_9.9\r\n"[..],
        b"",
        b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort",
        b"\x15\x03\x01",
    ] {
        let server = Server::start(PUBLIC, move |_| bytes.to_vec()).await;
        let result = get(client(), &server.url("public.example", "/")).await;
        let error = result.error().unwrap();
        assert_eq!(error.kind(), ErrorKind::Failed);
        let said = error.model_text();
        assert!(
            said.contains("did not answer with valid HTTP")
                || said.starts_with("the response ended early"),
            "{said}"
        );
        assert!(said.contains("try again later"), "{said}");
    }
}
