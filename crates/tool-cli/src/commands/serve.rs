//! The `serve` command: serves the tools over MCP (Model Context Protocol).

#[cfg(feature = "admin")]
mod admin;
#[cfg(not(feature = "admin"))]
mod plain;
#[cfg(feature = "admin")]
mod secrets;
#[cfg(feature = "admin")]
mod stored;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use tokio::net::TcpListener;
use tool_core::policy::SharedPolicy;
use tool_core::redact::SharedRedactor;
use tool_core::{CancellationToken, Registry, Repair, SecretString, ToolContextBuilder};
use tool_mcp::{Caller, HttpOptions, McpServer, shutdown_signal};

#[cfg(feature = "admin")]
use admin::Backend;
#[cfg(not(feature = "admin"))]
use plain::Backend;

use super::supply::Supplied;
use super::{declaring, offered};
use crate::args::{Serve, Supply};
use crate::host::{Cli, Prepare};
use crate::outcome::{Exit, Failure};
use crate::screen::{BOLD, DIM, Screen, WARN, count, paint};

pub(super) async fn run(cli: &Cli, words: &Serve, screen: Screen) -> Result<Exit, Failure> {
    let registry = cli.tools()?;
    let count = count(registry.len(), "tool");
    let made = offered(cli, &registry)?;
    let known = declaring(&registry, &made);
    let supplied = Supplied::gather_with(&words.supply, registry.tools(), known, |key| {
        is_of_function(words, key)
    })?;
    let backend = Backend::open(words, cli, &registry, screen).await?;
    let caller = Callers {
        supplied,
        supply: words.supply.clone(),
        prepare: cli.preparation(),
        printed: cli.mask_panics().clone(),
        stored: backend.secrets(),
    };
    let gate = backend.gate().clone();
    let mut offer = cli.offer(&registry, &gate);
    if let Some(path) = &words.policy {
        offer = offer.with_policy(&policy(path, &registry, screen)?);
    }
    let (tools, running) = backend.start(words, cli, offer, screen).await?;
    let mut server = McpServer::builder(tools)
        .name(cli.program())
        .version(env!("CARGO_PKG_VERSION"))
        .gate(&gate)
        .context(move |one| caller.context(*one).build());
    if words.approve_by_client {
        server = server.approve_by_client();
    }
    if words.no_repair {
        server = server.repair(Repair::Off);
    }
    let server = server.build();
    let stopped = CancellationToken::new();
    let serving = async {
        let ended = serve(&server, words, &count, screen).await;
        stopped.cancel();
        ended
    };
    Box::pin(running.beside(serving, &stopped, screen)).await
}

/// Reads the policy of `--policy`.
fn policy(path: &Path, registry: &Registry, screen: Screen) -> Result<SharedPolicy, Failure> {
    let shared = SharedPolicy::default();
    let read = shared.reload_file(path, registry).map_err(|error| {
        let path = path.display();
        Failure::usage(format!("the policy `{path}` cannot be used: {error}"))
    })?;
    for unknown in read.unknown {
        let mark = paint(WARN, "warning:");
        screen.note(format_args!(
            "{mark} the policy names an unknown tool: {unknown}"
        ));
    }
    Ok(shared)
}

/// The secrets in the store, as they were last read.
type StoredSecrets = Arc<dyn Fn() -> BTreeMap<String, SecretString> + Send + Sync>;

/// Returns whether a secret may belong to a stored HTTP operation. The key of such a secret contains the host of the operation:
/// `api.example.com/NAME`.
fn is_of_function(words: &Serve, key: &str) -> bool {
    words.store.is_some() && key.contains('/')
}

/// Serves standard input and output until the client ends the session, or HTTP until a signal ends the server.
async fn serve(
    server: &McpServer,
    words: &Serve,
    count: &str,
    screen: Screen,
) -> Result<Exit, Failure> {
    let Some(address) = &words.http else {
        // The protocol uses standard output, so this message is written to standard error.
        screen.note(paint(
            DIM,
            format_args!("{count} over standard input and output, one message per line"),
        ));
        return match server.stdio().await {
            Ok(()) => Ok(Exit::Ok),
            Err(error) => Err(Failure::of(Exit::Failed, error.to_string())),
        };
    };
    let cannot = |error: std::io::Error| {
        Failure::usage(format!("`{address}` cannot be served: {error}"))
            .hint("write an address with a free port, such as `127.0.0.1:8080`")
    };
    let listener = TcpListener::bind(&**address).await.map_err(cannot)?;
    let place = listener.local_addr().map_err(cannot)?;
    let mut options = HttpOptions::new();
    for host in &words.hosts {
        options = options.host(host);
    }
    for origin in &words.origins {
        options = options.origin(origin);
    }
    screen.note(format_args!(
        "{count} at {}",
        paint(BOLD, format_args!("http://{place}/mcp"))
    ));
    if !place.ip().is_loopback() {
        screen.note(format_args!(
            "{} no token is required here, so every client that reaches this address can call every tool",
            paint(WARN, "warning:")
        ));
    }
    server
        .serve_http_until(listener, options, shutdown_signal())
        .await
        .map_err(cannot)?;
    Ok(Exit::Ok)
}

/// Creates the context of each call.
struct Callers {
    supplied: Supplied,
    supply: Supply,
    prepare: Option<Arc<Prepare>>,
    /// The redactor of secrets in the output of panics.
    printed: SharedRedactor,
    stored: StoredSecrets,
}

impl Callers {
    fn context(&self, caller: Caller<'_>) -> ToolContextBuilder {
        let mut cx = self.supplied.context(&self.supply);
        // A value of the command line or the environment takes precedence over the stored value.
        for (key, value) in (self.stored)() {
            if !self.supplied.has_secret(&key) {
                cx = cx.secret(key, value);
            }
        }
        if let Some(subject) = caller.subject() {
            cx = cx.user(subject);
        }
        if let Some(session) = caller.session() {
            cx = cx.session(session);
        }
        let cx = match &self.prepare {
            Some(prepare) => prepare(cx),
            None => cx,
        };
        cx.redact_in(&self.printed)
    }
}
