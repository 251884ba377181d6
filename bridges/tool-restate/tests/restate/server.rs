//! The Restate server of npm as a child process.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use bytes::Bytes;
use restate_sdk::ingress::{Client, RequestExecutor};
use serde_json::{Value, json};
use test_support::{Missing, Node};

/// Returns a port that was free a moment ago.
pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// A server with one folder and fixed ports, so that it can be restarted after it was killed.
pub(crate) struct Server {
    program: PathBuf,
    folder: PathBuf,
    node: u16,
    admin: u16,
    ingress: u16,
    child: Option<Child>,
    http: reqwest::Client,
}

impl Server {
    pub(crate) fn start(folder: &Path) -> Result<Self, Missing> {
        let package = match std::env::consts::ARCH {
            "aarch64" => "@restatedev/restate-server-linux-arm64",
            _ => "@restatedev/restate-server-linux-x64",
        };
        let program = format!("{package}/bin/restate-server");
        let mut server = Self {
            program: Node::with(package)?.package(&program),
            folder: folder.to_owned(),
            node: free_port(),
            admin: free_port(),
            ingress: free_port(),
            child: None,
            http: reqwest::Client::new(),
        };
        server.restart();
        Ok(server)
    }

    pub(crate) fn restart(&mut self) {
        let log = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .clone();
        let log = log.open(self.folder.join("server.log")).unwrap();
        let child = Command::new(&self.program)
            .args([
                "--no-logo",
                "--listen-mode",
                "tcp",
                "--bind-ip",
                "127.0.0.1",
            ])
            .args(["--node-name", "one", "--cluster-name", "test"])
            .args(["--bind-port", &self.node.to_string()])
            .arg("--base-dir")
            .arg(self.folder.join("server"))
            .env("RESTATE_DISABLE_TELEMETRY", "true")
            .env("DO_NOT_TRACK", "1")
            .env("RESTATE_DEFAULT_NUM_PARTITIONS", "1")
            .env("RESTATE_ROCKSDB_TOTAL_MEMORY_SIZE", "128MB")
            .env("RESTATE_ADMIN__BIND_PORT", self.admin.to_string())
            .env("RESTATE_ADMIN__DISABLE_WEB_UI", "true")
            .env("RESTATE_INGRESS__BIND_PORT", self.ingress.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn();
        self.child = Some(child.unwrap());
    }

    /// Kills the server without letting it write anything.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// Registers the deployment at a port as soon as the server and the deployment respond.
    pub(crate) async fn register(&self, port: u16) {
        let url = format!("http://127.0.0.1:{}/deployments", self.admin);
        let body = json!({"uri": format!("http://127.0.0.1:{port}")});
        let mut last = String::new();
        for _ in 0..600 {
            match self.http.post(&url).json(&body).send().await {
                Ok(response) if response.status().is_success() => return,
                Ok(response) => last = response.text().await.unwrap_or_default(),
                Err(error) => last = error.to_string(),
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        panic!("the deployment could not be registered: {last}")
    }

    /// Returns the rows of a query of the server's tables.
    pub(crate) async fn query(&self, query: &str) -> Vec<Value> {
        let url = format!("http://127.0.0.1:{}/query", self.admin);
        let request = self.http.post(url).header("accept", "application/json");
        let response = request.json(&json!({"query": query})).send().await.unwrap();
        let text = response.text().await.unwrap();
        let answer: Value = serde_json::from_str(&text).expect(&text);
        answer["rows"].as_array().expect(&text).clone()
    }

    /// Returns the status of a request to a handler.
    pub(crate) async fn status(&self, key: &str, handler: &str) -> u16 {
        let url = format!(
            "http://127.0.0.1:{}/AgentThread/{key}/{handler}",
            self.ingress
        );
        self.http.post(url).send().await.unwrap().status().as_u16()
    }

    pub(crate) fn client(&self) -> Client<Http> {
        let uri = format!("http://127.0.0.1:{}", self.ingress);
        Client::new(uri.parse().unwrap(), Http(self.http.clone())).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The HTTP client of the tests.
pub(crate) struct Http(reqwest::Client);

impl RequestExecutor for Http {
    type Error = reqwest::Error;

    async fn execute(
        &self,
        request: http::Request<Bytes>,
    ) -> Result<http::Response<Bytes>, reqwest::Error> {
        let response = self.0.execute(request.try_into()?).await?;
        let mut answer = http::Response::new(Bytes::new());
        *answer.status_mut() = response.status();
        *answer.headers_mut() = response.headers().clone();
        *answer.body_mut() = response.bytes().await?;
        Ok(answer)
    }
}
