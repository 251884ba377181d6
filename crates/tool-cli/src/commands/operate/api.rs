//! Requests to the admin API over HTTP, or in this process on a store.

use std::env;
use std::io::Write as _;

use axum::body::Body;
use base64::Engine as _;
use futures::StreamExt as _;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use http::{HeaderName, Method, StatusCode};
use serde_json::Value;
use tool_core::store::Workspace;
use tool_core::store::seal::SealKeys;
use tool_core::{Registry, SecretString, env as tool_env};
use tool_server::{AdminServer, AdminStore, Caller, Role, StaticTokens, token_hash};
#[cfg(feature = "postgres")]
use tool_store::PostgresStore;
use tool_store::SqliteStore;
use tower::ServiceExt as _;
use url::Url;

use super::{Query, printable};
use crate::args::operate::Target;
use crate::commands::store::{self, OpenStore};
use crate::commands::supply::secret_from;
use crate::host::Cli;
use crate::outcome::{Exit, Failure};
use crate::screen::Screen;

/// The environment variable with the access token of the admin API.
const TOKEN: &str = "TOOL_ADMIN_TOKEN";
/// The header with the workspace in which an operator of the host acts.
const WORKSPACE: HeaderName = HeaderName::from_static("tool-workspace");
/// The maximum length of a response in bytes. The rows of an export have no maximum.
const MAX_RESPONSE: usize = 64 << 20;

/// A request to the admin API.
pub(super) struct Request<'a> {
    method: Method,
    path: Vec<&'a str>,
    query: Query,
    body: Option<Value>,
}

impl<'a> Request<'a> {
    pub(super) fn get(path: &[&'a str]) -> Self {
        Self::new(Method::GET, path)
    }

    pub(super) fn post(path: &[&'a str]) -> Self {
        Self::new(Method::POST, path)
    }

    pub(super) fn delete(path: &[&'a str]) -> Self {
        Self::new(Method::DELETE, path)
    }

    pub(super) fn put(path: &[&'a str]) -> Self {
        Self::new(Method::PUT, path)
    }

    fn new(method: Method, path: &[&'a str]) -> Self {
        Self {
            method,
            path: path.to_vec(),
            query: Vec::new(),
            body: None,
        }
    }

    pub(super) fn query(mut self, query: Query) -> Self {
        self.query = query;
        self
    }

    pub(super) fn body(mut self, body: Value) -> Self {
        self.body = Some(body);
        self
    }

    /// Returns the URL of the request below the URL of the API.
    fn url(&self, base: &Url) -> Url {
        let mut url = base.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().push("v1").extend(&self.path);
        }
        if !self.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&self.query);
        }
        url
    }
}

/// The admin API of a host.
pub(super) struct Api {
    base: Url,
    token: SecretString,
    workspace: Option<String>,
    server: Server,
}

/// The server of the API.
enum Server {
    /// A running host, over HTTP.
    Remote(reqwest::Client),
    /// The routes in this process.
    Local(Box<AdminServer>),
}

impl Api {
    /// Connects to the target of a command.
    pub(super) async fn open(cli: &Cli, target: &Target) -> Result<Self, Failure> {
        Self::connect(cli, target, None).await
    }

    /// Connects to the target of a command for secrets, and opens the vault of a store.
    pub(super) async fn with_vault(
        cli: &Cli,
        target: &Target,
        screen: Screen,
    ) -> Result<Self, Failure> {
        Self::connect(cli, target, Some(screen)).await
    }

    /// Connects to the target. If there is a screen, the vault of a store is opened, and warnings about the vault are printed.
    async fn connect(cli: &Cli, target: &Target, vault: Option<Screen>) -> Result<Self, Failure> {
        match (&target.store, &target.admin) {
            (Some(url), None) => Self::local(cli, url, target, vault).await,
            (None, Some(address)) => Self::remote(address, target),
            (Some(_), Some(_)) => Err(Failure::usage("`--store` and `--admin` name two hosts")
                .hint("give one of them")),
            (None, None) => Err(Failure::usage("the command has no target").hint(
                "name the store of the host with `--store sqlite:state.db`, or its admin API with `--admin http://127.0.0.1:8081`",
            )),
        }
    }

    async fn local(
        cli: &Cli,
        url: &str,
        target: &Target,
        vault: Option<Screen>,
    ) -> Result<Self, Failure> {
        let tools = cli.tools().ok();
        let user = target.user.clone().or_else(|| env::var("USER").ok());
        let user = user.filter(|user| !user.trim().is_empty());
        let user = user.ok_or_else(|| {
            Failure::usage("the name of the operator is missing, and audit rows must contain it")
                .hint("write `--user NAME`")
        })?;
        let workspace = target.workspace.as_deref().map(Workspace::new);
        let caller = Caller::new(user, workspace.unwrap_or_default(), Role::Admin).of_host();
        let mut random = [0; 32];
        tool_env::random(&mut random).map_err(failed)?;
        let token = base64::engine::general_purpose::STANDARD_NO_PAD.encode(random);
        let tokens = StaticTokens::default().add(token_hash(&token), caller);
        let tokens = tokens.map_err(failed)?;
        let server = match OpenStore::open_existing(url).await? {
            OpenStore::Sqlite(plain) => {
                let store = store::sealing_as_before(plain, SqliteStore::sealing).await?;
                server(store, tokens, tools.as_ref(), vault).await?
            }
            #[cfg(feature = "postgres")]
            OpenStore::Postgres(plain) => {
                let store = store::sealing_as_before(plain, PostgresStore::sealing).await?;
                server(store, tokens, tools.as_ref(), vault).await?
            }
        };
        Ok(Self {
            // The routes check the header `Host`.
            base: Url::parse("http://localhost/").map_err(failed)?,
            token: token.into(),
            workspace: None,
            server: Server::Local(Box::new(server)),
        })
    }

    fn remote(address: &str, target: &Target) -> Result<Self, Failure> {
        let form = "write an address such as `http://127.0.0.1:8081`";
        let base = Url::parse(address).map_err(|error| {
            Failure::usage(format!("`{address}` is not a URL: {error}")).hint(form)
        })?;
        if !matches!(base.scheme(), "http" | "https") || base.cannot_be_a_base() {
            return Err(Failure::usage(format!("`{address}` is not an HTTP address")).hint(form));
        }
        let is_loopback = match base.host() {
            Some(url::Host::Domain(name)) => name == "localhost",
            Some(url::Host::Ipv4(ip)) => ip.is_loopback(),
            Some(url::Host::Ipv6(ip)) => ip.is_loopback(),
            None => false,
        };
        if base.scheme() == "http" && !is_loopback {
            return Err(Failure::usage(format!(
                "`{address}` would send the access token without encryption"
            ))
            .hint("write `https://`, or forward a port of this machine to the host, such as with `ssh -L`"));
        }
        let token = match &target.token {
            Some(source) => secret_from(
                "`--token`",
                source,
                "write `--token env:VARIABLE` or `--token file:PATH`",
            )?,
            None => env::var(TOKEN).map(SecretString::from).map_err(|_| {
                Failure::usage("the admin API requires an access token").hint(format!(
                    "set the environment variable `{TOKEN}`, or write `--token file:PATH`"
                ))
            })?,
        };
        let client = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(std::time::Duration::from_secs(10));
        Ok(Self {
            base,
            token,
            workspace: target.workspace.clone(),
            server: Server::Remote(client.build().map_err(failed)?),
        })
    }

    /// Sends a request, and returns the JSON of the response.
    pub(super) async fn send(&self, request: Request<'_>) -> Result<Value, Failure> {
        let (status, mut body) = self.respond(request).await?;
        let mut bytes = Vec::new();
        while let Some(chunk) = body.next().await {
            bytes.extend_from_slice(&chunk?);
            if bytes.len() > MAX_RESPONSE {
                return Err(failed(
                    "the response of the admin API is longer than 64 MiB",
                ));
            }
        }
        if !status.is_success() {
            return Err(self.failure(status, &bytes));
        }
        serde_json::from_slice(&bytes).map_err(|error| {
            failed(format!(
                "the response of the admin API is not JSON: {error}"
            ))
        })
    }

    /// Sends a request, and writes the body of the response to standard output.
    pub(super) async fn export(&self, request: Request<'_>) -> Result<(), Failure> {
        let (status, mut body) = self.respond(request).await?;
        let mut refused = Vec::new();
        while let Some(chunk) = body.next().await {
            let chunk = chunk?;
            if status.is_success() {
                std::io::stdout().write_all(&chunk)?;
            } else if refused.len() < MAX_RESPONSE {
                refused.extend_from_slice(&chunk);
            }
        }
        if !status.is_success() {
            return Err(self.failure(status, &refused));
        }
        Ok(std::io::stdout().flush()?)
    }

    /// Converts an error response to a failure.
    fn failure(&self, status: StatusCode, body: &[u8]) -> Failure {
        let failure = problem(status, body);
        let is_local = matches!(self.server, Server::Local(_));
        let has_keys = env::var_os(SealKeys::VARIABLE).is_some();
        if is_local && !has_keys && status == StatusCode::INTERNAL_SERVER_ERROR {
            return failure.hint(format!(
                "if the host seals contents, set the environment variable `{}` to its keys",
                SealKeys::VARIABLE
            ));
        }
        failure
    }

    async fn respond(&self, request: Request<'_>) -> Result<(StatusCode, Chunks), Failure> {
        use tool_core::ExposeSecret as _;

        let url = request.url(&self.base);
        let bearer = format!("Bearer {}", self.token.expose_secret());
        let body = request.body.map(|body| body.to_string());
        match &self.server {
            Server::Remote(client) => {
                let mut sent = client
                    .request(request.method, url)
                    .header(AUTHORIZATION, bearer);
                if let Some(workspace) = &self.workspace {
                    sent = sent.header(WORKSPACE, workspace);
                }
                if let Some(body) = body {
                    sent = sent.header(CONTENT_TYPE, "application/json").body(body);
                }
                let response = sent.send().await.map_err(|error| {
                    // The error text of `reqwest` does not contain the cause.
                    let cause = std::error::Error::source(&error);
                    let cause = cause.map_or_else(String::new, |cause| format!(": {cause}"));
                    failed(format!("the admin API does not respond: {error}{cause}"))
                })?;
                let status = response.status();
                let chunks = response.bytes_stream().map(|chunk| {
                    chunk.map(|chunk| chunk.to_vec()).map_err(|error| {
                        failed(format!(
                            "the response of the admin API ended early: {error}"
                        ))
                    })
                });
                Ok((status, chunks.boxed()))
            }
            Server::Local(server) => {
                let mut sent = http::Request::builder()
                    .method(request.method)
                    .uri(url.as_str())
                    .header(HOST, "localhost")
                    .header(AUTHORIZATION, bearer);
                if body.is_some() {
                    sent = sent.header(CONTENT_TYPE, "application/json");
                }
                let sent = sent.body(body.map_or_else(Body::empty, Body::from));
                let response = server.routes().oneshot(sent.map_err(failed)?).await;
                let response = response.unwrap_or_else(|never| match never {});
                let status = response.status();
                let chunks = response
                    .into_body()
                    .into_data_stream()
                    .map(|chunk| chunk.map(|chunk| chunk.to_vec()).map_err(failed));
                Ok((status, chunks.boxed()))
            }
        }
    }
}

/// The body of a response.
type Chunks = futures::stream::BoxStream<'static, Result<Vec<u8>, Failure>>;

/// Returns the admin API of a store in this process.
async fn server<S: AdminStore + Clone>(
    store: S,
    tokens: StaticTokens,
    tools: Option<&Registry>,
    vault: Option<Screen>,
) -> Result<AdminServer, Failure> {
    let vault = match vault {
        Some(screen) => store::vault(&store, screen).await?,
        None => None,
    };
    let mut server = AdminServer::builder(store).authenticator(tokens);
    if let Some(vault) = &vault {
        server = server.vault(vault);
    }
    if let Some(tools) = tools {
        server = server.registry(tools);
    }
    server.build().map_err(failed)
}

/// Converts a response with problem details (RFC 9457) to a failure.
fn problem(status: StatusCode, body: &[u8]) -> Failure {
    let exit = match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Exit::Refused,
        status if status.is_client_error() && status != StatusCode::CONFLICT => Exit::Usage,
        _ => Exit::Failed,
    };
    let problem: Value = serde_json::from_slice(body).unwrap_or_default();
    let text = |key: &str| problem[key].as_str().map(printable);
    let detail = text("detail").or_else(|| text("title")).unwrap_or_else(|| {
        let reason = status.canonical_reason().unwrap_or("an unknown status");
        format!(
            "the server answered {} ({reason}); is `--admin` the address of an admin API?",
            status.as_u16()
        )
    });
    let errors = problem["errors"].as_array().map_or(&[][..], Vec::as_slice);
    let errors = errors.iter().map(|error| {
        let part = |key: &str| printable(error[key].as_str().unwrap_or_default());
        format!("\n  {}: {}", part("pointer"), part("detail"))
    });
    Failure::of(exit, detail + &errors.collect::<String>())
}

fn failed(error: impl std::fmt::Display) -> Failure {
    Failure::of(Exit::Failed, error.to_string())
}
