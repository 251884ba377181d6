//! The `serve` command: serves the tools over MCP (Model Context Protocol).

#[cfg(feature = "admin")]
mod admin;
#[cfg(feature = "admin")]
mod secrets;
#[cfg(feature = "admin")]
mod stored;

use std::sync::Arc;

use tokio::net::TcpListener;
use tool_core::redact::SharedRedactor;
use tool_core::{CancellationToken, Repair, ToolContextBuilder};
use tool_mcp::{Caller, HttpOptions, McpServer, Tools, shutdown_signal};

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
    #[cfg(feature = "admin")]
    let (state, secrets) = admin::open(words, cli, &registry, screen).await?;
    let caller = Callers {
        supplied,
        supply: words.supply.clone(),
        prepare: cli.preparation(),
        printed: cli.mask_panics().clone(),
        #[cfg(feature = "admin")]
        secrets: secrets.clone(),
    };
    #[cfg(feature = "admin")]
    let gate = match &state {
        Some(state) => state.gate(),
        None => cli.gate_of()?,
    };
    #[cfg(not(feature = "admin"))]
    let gate = {
        without_store(words)?;
        cli.gate_of()?
    };
    let offer = cli.offer(&registry, &gate);
    #[cfg(feature = "admin")]
    let offer = match &state {
        Some(state) => state.switched(offer),
        None => offer,
    };
    #[cfg(feature = "admin")]
    let (stored, agent) = match &state {
        Some(state) => {
            let stored = state.stored(cli, words, &offer)?;
            let agent = state.agent(words, &stored).await?.map(Arc::new);
            (Some(stored), agent)
        }
        None => (None, None),
    };
    #[cfg(feature = "admin")]
    let own = agent.clone();
    #[cfg(feature = "admin")]
    let tools = Tools::each(move |cx| match &own {
        Some(own) => own.added(&offer, cx),
        None => offer.toolset(cx),
    });
    #[cfg(not(feature = "admin"))]
    let tools = Tools::each(move |cx| offer.toolset(cx));
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
    #[cfg(feature = "admin")]
    let admin = match (state, &stored) {
        (Some(state), Some(stored)) => state.admin(words, stored, screen).await?,
        _ => None,
    };
    let stopped = CancellationToken::new();
    let serving = async {
        let ended = serve(&server, words, &count, screen).await;
        stopped.cancel();
        ended
    };
    #[cfg(feature = "admin")]
    let serving = Box::pin(admin::refreshing(
        serving,
        agent.as_deref(),
        secrets.as_deref(),
        &stopped,
        screen,
    ));
    #[cfg(feature = "admin")]
    if let Some(admin) = admin {
        let stop = stopped.cancelled();
        let (ended, admin) = tokio::join!(serving, admin.serve(stop));
        return admin.and(ended);
    }
    serving.await
}

/// Whether a secret may belong to a stored HTTP operation. Its key contains the host of the operation: `api.example.com/NAME`.
fn is_of_function(words: &Serve, key: &str) -> bool {
    words.store.is_some() && key.contains('/')
}

/// Refuses the options that need the feature `admin`.
#[cfg(not(feature = "admin"))]
fn without_store(words: &Serve) -> Result<(), Failure> {
    if words.store.is_none() {
        return Ok(());
    }
    Err(super::missing(
        "serve --store",
        "admin",
        "run `cargo tool serve --store URL`, which builds it",
    ))
}

/// Serves until the client or a signal ends the server.
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
            paint(WARN, "careful:")
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
    /// Masks secrets in the output of panics.
    printed: SharedRedactor,
    /// The secrets in the store.
    #[cfg(feature = "admin")]
    secrets: Option<Arc<secrets::StoredSecrets>>,
}

impl Callers {
    fn context(&self, caller: Caller<'_>) -> ToolContextBuilder {
        let mut cx = self.supplied.context(&self.supply);
        #[cfg(feature = "admin")]
        if let Some(stored) = &self.secrets {
            // A value of the command line or the environment replaces the stored one.
            for (key, value) in stored.current() {
                if !self.supplied.has_secret(&key) {
                    cx = cx.secret(key, value);
                }
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
