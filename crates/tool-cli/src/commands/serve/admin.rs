//! The store of `serve --store`, and the admin API of `serve --admin`.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

use tokio::net::TcpListener;
use tool_core::policy::SharedPolicy;
use tool_core::store::seal::Vault;
use tool_core::store::{Retention, StoredToolStore, Workspace};
use tool_core::stored::StoredTools;
use tool_core::{Approvals, Audit, CancellationToken, Gate, KeyRing, Registry, Sweeper, Switches};
use tool_mcp::Tools;
use tool_mcp::client::{McpClient, McpRunner};
use tool_mcp::rmcp::transport::TokioChildProcess;
use tool_server::{AdminServer, AdminServerBuilder, AdminStore, StaticTokens};
#[cfg(feature = "postgres")]
use tool_store::PostgresStore;
use tool_store::SqliteStore;

use super::stored::AgentOffer;
use super::{StoredSecrets, secrets};
use crate::args::Serve;
#[cfg(not(feature = "typescript"))]
use crate::commands::missing;
use crate::commands::store::{OpenStore, sealing, vault};
use crate::host::{Cli, Offer};
use crate::outcome::{Exit, Failure};
use crate::screen::{BOLD, Screen, WARN, paint};

/// The gate of the calls, and the store of `--store`.
pub(super) struct Backend {
    gate: Gate,
    state: Option<State>,
}

/// The parts of the server that use the store: the switches of the calls, the secrets, the stored tools and the admin API.
struct State {
    switches: Switches,
    admin: AdminServerBuilder,
    stored: Arc<dyn StoredToolStore>,
    vault: Option<Vault>,
    secrets: Option<Arc<secrets::StoredSecrets>>,
}

/// The tasks that run in addition to the server: the admin API, and the tasks that read the stored tools and secrets.
#[derive(Default)]
pub(super) struct Running {
    admin: Option<Admin>,
    agent: Option<Arc<AgentOffer>>,
    secrets: Option<Arc<secrets::StoredSecrets>>,
}

/// An admin API that is ready to serve.
struct Admin {
    server: AdminServer,
    listener: TcpListener,
}

/// Returns the host's own gate, or a gate that stores approvals, effects and audit rows in the store.
fn gate<S: AdminStore + StoredToolStore + Clone>(store: &S, cli: &Cli) -> Result<Gate, Failure> {
    if let Some(gate) = cli.own_gate() {
        return Ok(gate.clone());
    }
    // The tokens of approvals are valid until the process ends. The admin API answers approvals by their id, so it needs no tokens.
    let mut key = [0; 32];
    tool_core::env::random(&mut key).map_err(failed)?;
    let keys = KeyRing::new("process", key).map_err(failed)?;
    let approvals = Approvals::builder(store.clone()).keys(keys).build();
    Ok(Gate::builder()
        .approvals(approvals.map_err(failed)?)
        .ledger(store.clone())
        .audit(Audit::required(store.clone()))
        // Once per hour, the sweeper removes expired rows (events, long outputs, idempotency keys, memories and shared limits) and deleted stored
        // tools. All other rows are kept.
        .sweeper(
            Sweeper::default()
                .purge(store.clone(), Retention::default())
                .stored_tools(store.clone()),
        )
        .build())
}

impl Backend {
    /// Opens the store of `--store`, if it is given.
    pub(super) async fn open(
        words: &Serve,
        cli: &Cli,
        registry: &Registry,
        screen: Screen,
    ) -> Result<Self, Failure> {
        let Some(url) = &words.store else {
            let (gate, state) = (cli.gate_of()?, None);
            return Ok(Self { gate, state });
        };
        if words.seal_contents && cli.own_gate().is_some() {
            return Err(Failure::usage(
                "`--seal-contents` applies only to the default gate of `serve`, and this program has its own gate",
            )
            .hint("leave the option out, and give the gate of the program a store that `sealing` returns"));
        }
        let (gate, mut state) =
            State::open(url, words.seal_contents, cli, registry, screen).await?;
        state.secrets = state.secrets(words, registry).await?.map(Arc::new);
        let state = Some(state);
        Ok(Self { gate, state })
    }

    /// Returns the host's own gate, or a gate that uses the store of `--store`. Without `--store`, this gate keeps approvals and effects in memory.
    pub(super) fn gate(&self) -> &Gate {
        &self.gate
    }

    /// Returns the stored secrets of the workspace of `--workspace`.
    pub(super) fn secrets(&self) -> StoredSecrets {
        match self.state.as_ref().and_then(|state| state.secrets.clone()) {
            Some(secrets) => Arc::new(move || secrets.current()),
            None => Arc::new(BTreeMap::new),
        }
    }

    /// Returns the tools of the calls, and the tasks that run in addition to the server.
    pub(super) async fn start(
        self,
        words: &Serve,
        cli: &Cli,
        offer: Offer,
        screen: Screen,
    ) -> Result<(Tools, Running), Failure> {
        let Some(state) = self.state else {
            return Ok((Tools::each(move |cx| offer.toolset(cx)), Running::default()));
        };
        let offer = offer.switched(&state.switches);
        let policy = offer.policy().cloned();
        let stored = state.stored(cli, words, &offer)?;
        let agent = state.agent(words, &stored).await?.map(Arc::new);
        if let (Some(agent), Some(secrets)) = (&agent, &state.secrets)
            && let Err(error) = secrets.read(Some(agent)).await
        {
            let mark = paint(WARN, "warning:");
            screen.note(format_args!(
                "{mark} the secrets of the stored tools cannot be read: {error}"
            ));
        }
        let own = agent.clone();
        let tools = Tools::each(move |cx| match &own {
            Some(own) => own.added(&offer, cx),
            None => offer.toolset(cx),
        });
        let secrets = state.secrets.clone();
        let admin = state.admin(words, &stored, policy.as_ref(), screen).await?;
        let running = Running {
            admin,
            agent,
            secrets,
        };
        Ok((tools, running))
    }
}

impl Running {
    /// Serves the admin API, and reads the stored tools and secrets repeatedly, until `serving` has cancelled `stopped`.
    pub(super) async fn beside(
        self,
        serving: impl Future<Output = Result<Exit, Failure>>,
        stopped: &CancellationToken,
        screen: Screen,
    ) -> Result<Exit, Failure> {
        let agent = async {
            if let Some(agent) = &self.agent {
                agent.refresh(stopped, screen).await;
            }
        };
        let secrets = async {
            if let Some(secrets) = &self.secrets {
                let agent = self.agent.as_deref();
                secrets.refresh(agent, stopped, screen).await;
            }
        };
        let admin = async {
            match self.admin {
                Some(admin) => admin.serve(stopped.cancelled()).await,
                None => Ok(()),
            }
        };
        let (ended, admin, (), ()) = tokio::join!(serving, admin, agent, secrets);
        admin.and(ended)
    }
}

fn failed(error: impl std::fmt::Display) -> Failure {
    Failure::of(Exit::Failed, error.to_string())
}

/// Adds the runner that calls the tools of the MCP servers in `--mcp-server`.
fn with_servers(tools: StoredTools, servers: &[String]) -> Result<StoredTools, Failure> {
    if servers.is_empty() {
        return Ok(tools);
    }
    let mut runner = McpRunner::default();
    for said in servers {
        let command = said
            .split_once('=')
            .filter(|(name, command)| !name.trim().is_empty() && !command.trim().is_empty());
        let Some((name, command)) = command else {
            return Err(Failure::usage(format!("`--mcp-server {said}` has no command"))
                .hint("write `--mcp-server NAME=COMMAND`, such as `--mcp-server notes='notes-server --stdio'`"));
        };
        let command = command.to_owned();
        runner = runner.connecting(name.trim(), move || {
            let mut words = command.split_whitespace();
            let mut process = tokio::process::Command::new(words.next().unwrap_or_default());
            process.args(words);
            async move {
                let transport = TokioChildProcess::new(process);
                let transport = transport.map_err(|error| error.to_string())?;
                let client = McpClient::connect(transport).await;
                client.map_err(|error| error.to_string())
            }
        });
    }
    Ok(tools.runner(runner))
}

/// Adds the runner of TypeScript functions.
#[cfg(feature = "typescript")]
fn with_typescript(tools: StoredTools, offer: &Offer) -> Result<StoredTools, Failure> {
    let code = tool_code::Code::builder().build().map_err(failed)?;
    Ok(tools.runner(offer.code_runner(code)))
}

#[cfg(not(feature = "typescript"))]
fn with_typescript(_: StoredTools, _: &Offer) -> Result<StoredTools, Failure> {
    Err(missing(
        "serve --typescript",
        "typescript",
        "run `cargo tool serve --typescript`, which builds it",
    ))
}

impl State {
    /// Opens the store, and writes the tools of the program into its catalogue.
    async fn open(
        url: &str,
        seals: bool,
        cli: &Cli,
        registry: &Registry,
        screen: Screen,
    ) -> Result<(Gate, Self), Failure> {
        match OpenStore::open(url).await? {
            OpenStore::Sqlite(plain) => {
                let vault = vault(&plain, screen).await?;
                let store = sealing(plain, vault.as_ref(), seals, SqliteStore::sealing).await?;
                Self::on(store, vault, cli, registry).await
            }
            #[cfg(feature = "postgres")]
            OpenStore::Postgres(plain) => {
                let vault = vault(&plain, screen).await?;
                let store = sealing(plain, vault.as_ref(), seals, PostgresStore::sealing).await?;
                Self::on(store, vault, cli, registry).await
            }
        }
    }

    async fn on<S: AdminStore + StoredToolStore + Clone>(
        store: S,
        vault: Option<Vault>,
        cli: &Cli,
        registry: &Registry,
    ) -> Result<(Gate, Self), Failure> {
        let entries = registry.catalogue_entries();
        store.sync(entries).await.map_err(failed)?;
        let gate = gate(&store, cli)?;
        let state = Self {
            switches: Switches::open(store.clone()).await.map_err(failed)?,
            stored: Arc::new(store.clone()),
            vault,
            secrets: None,
            admin: AdminServer::builder(store).registry(registry),
        };
        Ok((gate, state))
    }

    /// Returns the stored tools. Their functions run with the rules of the program.
    fn stored(&self, cli: &Cli, words: &Serve, offer: &Offer) -> Result<StoredTools, Failure> {
        let tools = cli.with_runners(StoredTools::shared(self.stored.clone()));
        let tools = tools.runner(offer.runner());
        let tools = with_servers(tools, &words.mcp_servers)?;
        if words.typescript {
            return with_typescript(tools, offer);
        }
        Ok(tools)
    }

    /// Returns the stored tools of the agent, if `--agent` is given.
    async fn agent(
        &self,
        words: &Serve,
        stored: &StoredTools,
    ) -> Result<Option<AgentOffer>, Failure> {
        let Some(agent) = &words.agent else {
            return Ok(None);
        };
        let workspace = words.supply.workspace.as_deref().map(Workspace::new);
        let offer = AgentOffer::open(stored.clone(), workspace.unwrap_or_default(), agent.clone());
        offer.await.map(Some).map_err(failed)
    }

    /// Returns the stored secrets of the workspace of `--workspace`, or `None` if the store has sealed values and there are no keys to open them.
    async fn secrets(
        &self,
        words: &Serve,
        registry: &Registry,
    ) -> Result<Option<secrets::StoredSecrets>, Failure> {
        let Some(vault) = &self.vault else {
            return Ok(None);
        };
        let workspace = words.supply.workspace.as_deref().map(Workspace::new);
        let secrets =
            secrets::StoredSecrets::open(vault.clone(), workspace.unwrap_or_default(), registry);
        secrets.await.map(Some).map_err(failed)
    }

    /// Returns the admin API, if `--admin` is given.
    async fn admin(
        self,
        words: &Serve,
        stored: &StoredTools,
        policy: Option<&SharedPolicy>,
        screen: Screen,
    ) -> Result<Option<Admin>, Failure> {
        let Some(address) = &words.admin else {
            return Ok(None);
        };
        let mut server = self.admin.stored_tools(stored.clone());
        if let Some(vault) = &self.vault {
            server = server.vault(vault);
        }
        if let Some(policy) = policy {
            server = server.policy(policy);
        }
        if let Some(workspace) = &words.supply.workspace {
            server = server.workspace(workspace.as_str());
        }
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
                .hint("write an address with a free port, such as `127.0.0.1:8081`")
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
    async fn serve(self, stop: impl Future<Output = ()> + Send) -> Result<(), Failure> {
        let served = self.server.serve_until(self.listener, stop).await;
        served.map_err(failed)
    }
}
