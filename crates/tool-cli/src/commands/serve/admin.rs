//! The store of `serve --store`, and the admin API of `serve --admin`.

use std::fs;

use tokio::net::TcpListener;
use tool_core::store::Catalogue as _;
use tool_core::{Approvals, Audit, Gate, KeyRing, Registry, Switches};
use tool_server::{AdminServer, StaticTokens};
use tool_store::SqliteStore;

use crate::args::Serve;
use crate::host::{Cli, Offer};
use crate::outcome::{Exit, Failure};
use crate::screen::{BOLD, Screen, paint};

/// The store of the calls, and the gate and switches on it.
pub(super) struct State {
    store: SqliteStore,
    switches: Switches,
}

/// An admin API that is ready to serve.
pub(super) struct Admin {
    server: AdminServer,
    listener: TcpListener,
}

fn failed(error: impl std::fmt::Display) -> Failure {
    Failure::of(Exit::Failed, error.to_string())
}

impl State {
    /// Opens the store, and writes the tools of the program into its catalogue.
    pub(super) async fn open(url: &str, registry: &Registry) -> Result<Self, Failure> {
        if url.contains("://") && !url.starts_with("sqlite:") {
            return Err(Failure::usage(format!(
                "`{url}` is not a store that this program supports"
            ))
            .hint("give the path of a SQLite file, or a URL such as `sqlite:state.db`"));
        }
        let store = SqliteStore::open(url).await;
        let store = store.map_err(|error| Failure::usage(error.to_string()))?;
        let entries = registry.catalogue_entries();
        store.sync(entries).await.map_err(failed)?;
        let switches = Switches::open(store.clone()).await.map_err(failed)?;
        Ok(Self { store, switches })
    }

    /// The gate of the calls: the host's own, or one on this store.
    pub(super) fn gate(&self, cli: &Cli) -> Result<Gate, Failure> {
        if let Some(gate) = cli.own_gate() {
            return Ok(gate.clone());
        }
        // Tokens of approvals are valid until the process ends. The admin API answers approvals by their id.
        let mut key = [0; 32];
        tool_core::env::random(&mut key).map_err(failed)?;
        let keys = KeyRing::new("process", key).map_err(failed)?;
        let approvals = Approvals::builder(self.store.clone()).keys(keys).build();
        Ok(Gate::builder()
            .approvals(approvals.map_err(failed)?)
            .ledger(self.store.clone())
            .audit(Audit::required(self.store.clone()))
            .build())
    }

    /// The same tools, which respect the switches of the store.
    pub(super) fn switched(&self, offer: Offer) -> Offer {
        offer.switched(&self.switches)
    }

    /// The admin API, if `--admin` is given.
    pub(super) async fn admin(
        &self,
        words: &Serve,
        registry: &Registry,
        screen: Screen,
    ) -> Result<Option<Admin>, Failure> {
        let Some(address) = &words.admin else {
            return Ok(None);
        };
        let mut server = AdminServer::builder(self.store.clone()).registry(registry);
        if let Some(path) = &words.admin_tokens {
            let unread = |error: String| {
                Failure::usage(format!("`{}` cannot be used: {error}", path.display()))
            };
            let text = fs::read_to_string(path).map_err(|error| unread(error.to_string()))?;
            let tokens = StaticTokens::from_json(&text);
            server = server.authenticator(tokens.map_err(|error| unread(error.to_string()))?);
        }
        for host in &words.hosts {
            server = server.host(host);
        }
        for origin in &words.origins {
            server = server.origin(origin);
        }
        let cannot = |error: std::io::Error| {
            Failure::usage(format!("`{address}` cannot be served: {error}"))
                .hint("give an address and a free port, such as `127.0.0.1:8081`")
        };
        let listener = TcpListener::bind(&**address).await.map_err(cannot)?;
        let place = listener.local_addr().map_err(cannot)?;
        let server = server.build().map_err(failed)?;
        screen.note(format_args!(
            "admin API at {}",
            paint(BOLD, format_args!("http://{place}/openapi.json"))
        ));
        Ok(Some(Admin { server, listener }))
    }
}

impl Admin {
    /// Serves until `stop` completes.
    pub(super) async fn serve(self, stop: impl Future<Output = ()> + Send) -> Result<(), Failure> {
        let served = self.server.serve_until(self.listener, stop).await;
        served.map_err(failed)
    }
}
