//! A local mock server in place of a provider, which returns scripted responses and records the requests.
#![forbid(unsafe_code)]

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// The mock server. It listens until the runtime ends.
#[derive(Debug)]
pub struct MockServer {
    url: String,
    asked: Arc<Mutex<Vec<Value>>>,
}

impl MockServer {
    /// Starts a server that returns these responses in order. The last response is repeated for all further requests.
    pub async fn answering(answers: impl IntoIterator<Item = Value>) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let url = format!("http://{}", listener.local_addr()?);
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (seen, answers) = (Arc::clone(&asked), answers.into_iter().collect::<Vec<_>>());
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let Ok(body) = read(&mut stream).await else {
                    continue;
                };
                let at = {
                    let mut asked = seen.lock().unwrap_or_else(PoisonError::into_inner);
                    asked.push(body);
                    asked.len() - 1
                };
                let answer = answers.get(at).or(answers.last()).unwrap_or(&Value::Null);
                let _ = write(&mut stream, &answer.to_string()).await;
            }
        });
        Ok(Self { url, asked })
    }

    /// Returns the URL of the server, without a trailing slash.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the bodies of the requests so far.
    pub fn asked(&self) -> Vec<Value> {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.clone()
    }
}

async fn read(stream: &mut TcpStream) -> io::Result<Value> {
    let (mut bytes, mut part) = (Vec::new(), [0; 4096]);
    loop {
        let count = stream.read(&mut part).await?;
        bytes.extend_from_slice(&part[..count]);
        let head = bytes.windows(4).position(|at| at == b"\r\n\r\n");
        if let Some(head) = head {
            let text = String::from_utf8_lossy(&bytes[..head]).to_lowercase();
            let length = text
                .lines()
                .find_map(|line| line.strip_prefix("content-length:"));
            let length = length
                .and_then(|length| length.trim().parse().ok())
                .unwrap_or(0);
            if bytes.len() >= head + 4 + length {
                return Ok(serde_json::from_slice(&bytes[head + 4..])?);
            }
        }
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

async fn write(stream: &mut TcpStream, body: &str) -> io::Result<()> {
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await?;
    stream.shutdown().await
}
