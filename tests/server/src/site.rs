//! A server on a loopback port, and its client.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Method};
use serde_json::Value;
use tempfile::TempDir;
use test_support::{Missing, Ran};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tool_core::prelude::*;
use tool_core::store::seal::{SealKey, SealKeys, Vault};
use tool_core::store::{ChildStore, StoredToolStore};
use tool_core::stored::{LinkedRunner, StoredTools};
use tool_core::{Registry, Rules};
use tool_server::{
    AdminServer, AdminServerBuilder, AdminStore, Caller, Role, StaticTokens, token_hash,
};
use tool_store::{PostgresStore, SqliteStore};

/// Picks a color for a thing.
#[tool(read_only)]
pub fn pick_color(
    /// The thing to pick a color for.
    thing: String,
) -> String {
    format!("{thing} is red")
}

/// The roles for which [`tokens`] creates tokens.
const ROLES: [Role; 5] = Role::ALL;

/// The id of the key with which the vault of a site seals values.
pub const KEY: &str = "2026-11";

/// Creates the token `ROLE-of-WORKSPACE` for each role in each workspace, and the token `host` for an operator of the host in the first workspace.
pub fn tokens(workspaces: &[&str]) -> StaticTokens {
    let mut tokens = StaticTokens::default();
    for workspace in workspaces {
        for role in ROLES {
            let token = format!("{role}-of-{workspace}");
            let caller = Caller::new(token.as_str(), *workspace, role);
            tokens = tokens.add(token_hash(&token), caller).unwrap();
        }
    }
    let host = Caller::new("host", workspaces[0], Role::Admin).of_host();
    tokens.add(token_hash("host"), host).unwrap()
}

/// The kind of the store of a [`Site`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreKind {
    /// A SQLite file in a temporary folder.
    Sqlite,
    /// A database on a PostgreSQL server, which this program starts.
    Postgres,
}

impl StoreKind {
    /// Every kind of store.
    pub const ALL: [Self; 2] = [Self::Sqlite, Self::Postgres];

    /// Returns the name of the kind, which is part of the test names.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
        }
    }

    /// Fails if the machine lacks a requirement of the store.
    pub fn check(self) -> Ran {
        match self {
            Self::Sqlite => Ok(()),
            #[cfg(unix)]
            Self::Postgres => test_support::postgres::server().map(|_| ()),
            #[cfg(not(unix))]
            Self::Postgres => Err(Missing::new("a PostgreSQL server is started only on Unix")),
        }
    }

    async fn open(self, folder: &Path) -> Opened {
        match self {
            Self::Sqlite => {
                let store = SqliteStore::open(folder.join("state.db")).await.unwrap();
                Opened::Sqlite(store)
            }
            Self::Postgres => Opened::Postgres(postgres().await.unwrap()),
        }
    }
}

#[cfg(unix)]
async fn postgres() -> Result<PostgresStore, Missing> {
    let migrate = async |url: &str| PostgresStore::open(url).await.unwrap().close().await;
    let url = test_support::postgres::migrated_database(migrate).await?;
    Ok(PostgresStore::open(&url).await.unwrap())
}

#[cfg(not(unix))]
async fn postgres() -> Result<PostgresStore, Missing> {
    StoreKind::Postgres.check()?;
    unreachable!("`check` fails without a server")
}

enum Opened {
    Sqlite(SqliteStore),
    Postgres(PostgresStore),
}

impl Opened {
    /// Opens a vault on the store with some keys; the first key is the current key.
    async fn vault(&self, ids: &[&str]) -> Vault {
        let key = |id: &str| SealKey::new(&[id.as_bytes()[id.len() - 1]; 32]);
        let mut keys = SealKeys::new(ids[0], key(ids[0])).unwrap();
        for id in &ids[1..] {
            keys = keys.and(id, key(id)).unwrap();
        }
        match self {
            Self::Sqlite(store) => Vault::open(store.clone(), keys).await,
            Self::Postgres(store) => Vault::open(store.clone(), keys).await,
        }
        .unwrap()
    }

    fn shared(&self) -> Arc<dyn SiteStore> {
        match self {
            Self::Sqlite(store) => Arc::new(store.clone()),
            Self::Postgres(store) => Arc::new(store.clone()),
        }
    }
}

/// The store traits that the tests of a site use, combined in one trait.
pub trait SiteStore: AdminStore + StoredToolStore + ChildStore {}

impl<T: AdminStore + StoredToolStore + ChildStore> SiteStore for T {}

/// A running server with its store and its HTTP client.
pub struct Site {
    /// The address of the server.
    pub address: SocketAddr,
    /// The store of the server.
    pub store: Arc<dyn SiteStore>,
    /// The vault of the server.
    pub vault: Vault,
    opened: Opened,
    /// The HTTP client of the tests.
    pub client: Client,
    _folder: TempDir,
    server: JoinHandle<()>,
}

impl Drop for Site {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// The response to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The status code of the response.
    pub status: u16,
    /// The headers of the response.
    pub headers: HeaderMap,
    /// The body of the response.
    pub text: String,
}

impl Answer {
    /// Returns the body as JSON; a text that is not JSON becomes a string.
    pub fn json(&self) -> Value {
        let json = serde_json::from_str(&self.text);
        json.unwrap_or_else(|_| Value::String(self.text.clone()))
    }

    /// Returns the value of a header, if it is a string.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// Serves a store on a new port. Returns the address and the task of the server.
async fn serve(
    store: &Arc<dyn SiteStore>,
    vault: &Vault,
    settings: impl FnOnce(AdminServerBuilder) -> AdminServerBuilder,
) -> (SocketAddr, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let linked = Registry::builder().tool::<pick_color>().build().unwrap();
    let tools =
        StoredTools::shared(store.clone()).runner(LinkedRunner::new(&linked, Rules::default()));
    let builder = AdminServer::shared(store.clone())
        .stored_tools(tools)
        .vault(vault);
    let server = settings(builder).build().unwrap();
    let server = tokio::spawn(async move {
        let _ = server.serve_until(listener, std::future::pending()).await;
    });
    (address, server)
}

impl Site {
    /// Starts a server with the tokens of `acme` and `globex`.
    pub async fn start(kind: StoreKind) -> Self {
        Self::with(kind, |server| {
            server.authenticator(tokens(&["acme", "globex"]))
        })
        .await
    }

    /// Starts a server with these settings.
    pub async fn with(
        kind: StoreKind,
        settings: impl FnOnce(AdminServerBuilder) -> AdminServerBuilder,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let opened = kind.open(folder.path()).await;
        let store = opened.shared();
        let vault = opened.vault(&[KEY]).await;
        let (address, server) = serve(&store, &vault, settings).await;
        Self {
            address,
            store,
            vault,
            opened,
            client: Client::builder().no_proxy().build().unwrap(),
            _folder: folder,
            server,
        }
    }

    /// Starts the server again with a different vault of its store, and the tokens of `acme` and `globex`.
    pub async fn restart(&mut self, vault: &Vault) {
        self.server.abort();
        self.vault = vault.clone();
        let settings =
            |server: AdminServerBuilder| server.authenticator(tokens(&["acme", "globex"]));
        (self.address, self.server) = serve(&self.store, vault, settings).await;
    }

    /// Opens a vault on the store as a process with these keys would; the first key is the current key.
    pub async fn vault_with(&self, ids: &[&str]) -> Vault {
        self.opened.vault(ids).await
    }

    /// Closes the store, so that the server can no longer use it.
    pub async fn close_store(&self) {
        match &self.opened {
            Opened::Sqlite(store) => store.clone().close().await,
            Opened::Postgres(store) => store.clone().close().await,
        }
    }

    /// Sends a request: its method and path, the token, headers, and a JSON body.
    pub async fn send(
        &self,
        method: &str,
        path: &str,
        token: Option<&str>,
        headers: &[(&str, &str)],
        body: Option<&Value>,
    ) -> Answer {
        let method = Method::from_bytes(method.to_ascii_uppercase().as_bytes()).unwrap();
        let mut request = self
            .client
            .request(method, format!("http://{}{path}", self.address));
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        for (name, value) in headers {
            let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
            request = request.header(name, HeaderValue::from_str(value).unwrap());
        }
        if let Some(body) = body {
            request = request
                .header("content-type", "application/json")
                .body(body.to_string());
        }
        let response = request.send().await.unwrap();
        Answer {
            status: response.status().as_u16(),
            headers: response.headers().clone(),
            text: response.text().await.unwrap(),
        }
    }

    /// Sends `GET` and returns the JSON of a response with the status 200.
    pub async fn get(&self, path: &str, token: &str) -> Value {
        let answer = self.send("get", path, Some(token), &[], None).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text);
        answer.json()
    }

    /// Sends a request with a JSON body.
    pub async fn ask(&self, method: &str, path: &str, token: &str, body: &Value) -> Answer {
        self.send(method, path, Some(token), &[], Some(body)).await
    }
}

/// Returns the OpenAPI document.
pub fn document() -> Value {
    serde_json::from_str(&tool_server::openapi_json()).unwrap()
}

/// Returns each operation of the document, except event streams, as its method, its path and its object. Event streams have separate tests.
pub fn operations(document: &Value) -> Vec<(String, String, Value)> {
    let mut all = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let content = &operation["responses"]["200"]["content"];
            if content["text/event-stream"].is_null() {
                all.push((method.clone(), path.clone(), operation.clone()));
            }
        }
    }
    all
}
