//! Test issuer: a key endpoint whose responses the test controls.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::signer::Signer;

/// The response to a request.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// A response with this status, these additional header lines, and this body.
    Response(u16, String, Vec<u8>),
    /// A body that never ends.
    Endless,
    /// A byte of the body every 50 milliseconds.
    Drip,
    /// Closes the connection without a response.
    Nothing,
    /// Keeps the connection open without a response.
    Silence,
}

pub(crate) struct Issuer {
    pub(crate) address: SocketAddr,
    fetches: Arc<AtomicUsize>,
    reply: Arc<Mutex<(Reply, Duration)>>,
}

impl Issuer {
    /// Starts an issuer that publishes the keys of these signers, without a maximum age.
    pub(crate) async fn of(signers: &[&Signer]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let issuer = Self {
            address: listener.local_addr().unwrap(),
            fetches: Arc::default(),
            reply: Arc::new(Mutex::new((Reply::Nothing, Duration::ZERO))),
        };
        issuer.publish(signers, None);
        let (fetches, reply) = (Arc::clone(&issuer.fetches), Arc::clone(&issuer.reply));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                fetches.fetch_add(1, Ordering::SeqCst);
                let (reply, delay) = reply.lock().unwrap().clone();
                tokio::spawn(answer(stream, reply, delay));
            }
        });
        issuer
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/jwks.json", self.address)
    }

    /// Returns the number of requests for the keys so far.
    pub(crate) fn fetches(&self) -> usize {
        self.fetches.load(Ordering::SeqCst)
    }

    pub(crate) fn reply(&self, reply: Reply) {
        *self.reply.lock().unwrap() = (reply, Duration::ZERO);
    }

    /// Delays all further responses.
    pub(crate) fn delay(&self, delay: Duration) {
        self.reply.lock().unwrap().1 = delay;
    }

    /// Publishes the keys of these signers, with a maximum age in seconds.
    pub(crate) fn publish(&self, signers: &[&Signer], max_age: Option<u64>) {
        let keys: Vec<_> = signers.iter().map(|signer| signer.jwk()).collect();
        self.publish_keys(&keys, max_age);
    }

    pub(crate) fn publish_keys(&self, keys: &[Value], max_age: Option<u64>) {
        let header = max_age.map(|age| format!("cache-control: public, max-age={age}\r\n"));
        let body = json!({ "keys": keys }).to_string();
        self.reply(Reply::Response(
            200,
            header.unwrap_or_default(),
            body.into(),
        ));
    }
}

async fn answer(mut stream: TcpStream, reply: Reply, delay: Duration) {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        let Ok(byte) = stream.read_u8().await else {
            return;
        };
        request.push(byte);
    }
    tokio::time::sleep(delay).await;
    let endless = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    // The client may have closed the connection.
    let _ = match reply {
        Reply::Response(status, header, body) => {
            let length = body.len();
            let head = format!("HTTP/1.1 {status} x\r\n{header}content-length: {length}\r\n\r\n");
            stream.write_all(&[head.as_bytes(), &body].concat()).await
        }
        Reply::Endless => {
            let part = format!("1000\r\n{}\r\n", " ".repeat(0x1000));
            let mut sent = stream.write_all(endless.as_bytes()).await;
            while sent.is_ok() {
                sent = stream.write_all(part.as_bytes()).await;
            }
            sent
        }
        Reply::Drip => {
            let mut sent = stream.write_all(endless.as_bytes()).await;
            while sent.is_ok() {
                tokio::time::sleep(Duration::from_millis(50)).await;
                sent = stream.write_all(b"1\r\n \r\n").await;
            }
            sent
        }
        Reply::Nothing => Ok(()),
        Reply::Silence => std::future::pending().await,
    };
}
