//! A host with the chat endpoint, on each store: a scripted model, a tool that needs an approval, and a tool that the client runs.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::Path;
use axum::routing::{get, post};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use reqwest::Client;
use serde_json::{Value, json};
use tempfile::TempDir;
use test_support::{Missing, Ran};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tool_agent::runtime::StoredEvents;
use tool_core::policy::{Policy, Rule, SharedPolicy};
use tool_core::prelude::*;
use tool_core::store::{MemoryStore, Message, Role as Author, Store};
use tool_core::turn::{ModelMessage, ModelRequest, Turns};
use tool_core::{Approvals, DynamicTool, Effect, Gate, KeyRing, Registry, Rules, ToolCall};
use tool_server::chat::{ChatModel, ChatServer, ReplySink};
use tool_server::{Caller, Role, StaticTokens, token_hash};
use tool_store::{PostgresStore, SqliteStore};
use tool_wire::Delta;

use crate::{agents, browser};

/// The kind of a host: the store of its conversations, with one model or with agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Memory,
    Sqlite,
    Postgres,
    /// Agents instead of a model, in a SQLite store with the events of their runs.
    Agents,
}

impl Kind {
    pub(crate) const ALL: [Self; 4] = [Self::Memory, Self::Sqlite, Self::Postgres, Self::Agents];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
            Self::Agents => "agents",
        }
    }

    /// Fails if this machine lacks a requirement of the store.
    pub(crate) fn check(self) -> Ran {
        match self {
            Self::Memory | Self::Sqlite | Self::Agents => Ok(()),
            #[cfg(unix)]
            Self::Postgres => test_support::postgres::server().map(|_| ()),
            #[cfg(not(unix))]
            Self::Postgres => Err(Missing::new("a PostgreSQL server is started only on Unix")),
        }
    }
}

#[cfg(unix)]
async fn database() -> Result<String, Missing> {
    let migrate = async |url: &str| PostgresStore::open(url).await.unwrap().close().await;
    test_support::postgres::migrated_database(migrate).await
}

#[cfg(not(unix))]
async fn database() -> Result<String, Missing> {
    Err(Missing::new("a PostgreSQL server is started only on Unix"))
}

#[derive(Clone, Default)]
pub(crate) struct Mailbox(Arc<Mutex<Vec<String>>>);
tool_core::host_value!(Mailbox, Effect::WRITE);

/// Sends a mail.
#[tool]
async fn send_mail(
    mailbox: &Mailbox,
    /// The recipient of the mail.
    to: String,
) -> String {
    mailbox.0.lock().unwrap().push(to.clone());
    format!("sent to {to}")
}

/// The state that the processes of a host share in addition to the store.
#[derive(Clone, Default)]
pub(crate) struct World {
    pub(crate) mailbox: Mailbox,
    releases: Arc<Mutex<HashMap<String, Arc<Semaphore>>>>,
    failures: Arc<Mutex<HashMap<String, u32>>>,
    /// The messages of each request to the model.
    requests: Arc<Mutex<Vec<Vec<Message>>>>,
}

impl World {
    fn gate(&self, conversation: &str) -> Arc<Semaphore> {
        let mut all = self.releases.lock().unwrap();
        let new = || Arc::new(Semaphore::new(0));
        Arc::clone(all.entry(conversation.to_owned()).or_insert_with(new))
    }

    /// Lets the model continue one `slow` response in a conversation.
    pub(crate) fn release(&self, conversation: &str) {
        self.gate(conversation).add_permits(1);
    }

    pub(crate) fn mails(&self) -> Vec<String> {
        self.mailbox.0.lock().unwrap().clone()
    }

    /// Returns the texts of the last request to the model.
    pub(crate) fn last_request(&self) -> String {
        let requests = self.requests.lock().unwrap();
        let last = requests.last().unwrap();
        last.iter()
            .map(|message| message.content.as_str())
            .collect::<Vec<_>>()
            .join("\n")
    }

    pub(crate) fn requests(&self) -> usize {
        self.requests.lock().unwrap().len()
    }
}

/// A model that responds to certain words in the user's last message.
struct Scripted(World);

impl ChatModel for Scripted {
    fn reply<'a>(
        &'a self,
        request: ModelRequest<'a>,
        sink: &'a ReplySink,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        let say = |piece: &str| sink.send(&Delta::Text(piece.to_owned()));
        async move { self.0.reply(&request, &say).await }.boxed()
    }
}

impl World {
    /// Returns the reply to a request, and passes its pieces to `say`.
    pub(crate) async fn reply(
        &self,
        request: &ModelRequest<'_>,
        say: &(dyn Fn(&str) + Sync),
    ) -> Result<ModelMessage, ToolError> {
        let messages = request.messages.to_vec();
        let conversation = request.cx.conversation().unwrap().to_owned();
        self.requests.lock().unwrap().push(messages.clone());
        let of = |author| messages.iter().rev().find(|message| message.role == author);
        let wish = of(Author::User).map_or("", |message| &message.content);
        let is_after_tools = messages
            .last()
            .is_some_and(|last| last.role == Author::Tool);
        assert!(!wish.contains("panic"), "the model panics");
        if wish.contains("fail") {
            let mut failures = self.failures.lock().unwrap();
            let count = failures.entry(conversation.clone()).or_default();
            *count += 1;
            if *count == 1 {
                return Err(ToolError::new("the key sk-secret was refused"));
            }
        }
        let call =
            |id: &str, tool: &str, arguments: Value| ToolCall::new(id, tool, arguments.to_string());
        if !is_after_tools && wish.contains("delegate") {
            let arguments = json!({"message": "mail"});
            return Ok(ModelMessage::calls([call("call_1", "helper", arguments)]));
        }
        if !is_after_tools && wish.contains("mail") {
            return Ok(ModelMessage::calls([
                call("call_1", "send_mail", json!({"to": "bob"})),
                call("call_2", "send_mail", json!({"to": "eve"})),
            ]));
        }
        if !is_after_tools && wish.contains("color") {
            return Ok(ModelMessage::calls([call(
                "call_1",
                "ask_color",
                json!({}),
            )]));
        }
        if wish.contains("slow") {
            say("one ");
            self.gate(&conversation).acquire().await.unwrap().forget();
            say("two");
            return Ok(ModelMessage::text("one two"));
        }
        if is_after_tools {
            let results = messages
                .iter()
                .filter(|message| message.role == Author::Tool);
            let text = format!("{} results", results.count());
            say(&text);
            return Ok(ModelMessage::text(text));
        }
        say("Hel");
        say("lo.");
        Ok(ModelMessage::text("Hello."))
    }
}

/// Sets the callers, the contexts and the settings of a server, with a model or with agents.
macro_rules! configured {
    ($chat:expr, $settings:expr, $world:expr) => {{
        let mailbox = $world.mailbox.clone();
        let mut chat = $chat.authenticator(tokens()).context(move |_, thread, cx| {
            let hidden = thread.conversation().starts_with("hidden");
            let cx = (!hidden).then(|| cx.with(mailbox.clone()).build());
            async move { Ok(cx) }
        });
        if let Some(role) = $settings.role {
            chat = chat.role(role);
        }
        if let Some(bytes) = $settings.max_body {
            chat = chat.max_body(bytes);
        }
        chat
    }};
}

enum Opened {
    Memory(MemoryStore),
    Sqlite(TempDir),
    Postgres(String),
    Agents(TempDir),
}

/// The settings of a process that differ between tests.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Settings {
    pub(crate) role: Option<Role>,
    pub(crate) max_body: Option<usize>,
    /// Whether a host with agents withdraws pieces with the chunk `reset-step`, for interfaces of version 7.
    pub(crate) resets: bool,
    /// The interval at which stored events are read; `None` for the default.
    pub(crate) poll: Option<Duration>,
}

/// A host: one store, and any number of processes on it.
pub(crate) struct Host {
    opened: Opened,
    pub(crate) world: World,
    pub(crate) first: Process,
}

/// A process of the host: its own `Turns` and its own server.
pub(crate) struct Process {
    pub(crate) address: SocketAddr,
    pub(crate) turns: Turns,
    server: JoinHandle<()>,
    client: Client,
}

impl Drop for Process {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// The response to a request.
#[derive(Clone, Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) kind: String,
    pub(crate) text: String,
}

impl Response {
    /// Returns the chunks of a stream, without the end of the stream.
    pub(crate) fn chunks(&self) -> Vec<Value> {
        assert_eq!(self.status, 200, "{}", self.text);
        assert_eq!(self.kind, "text/event-stream");
        let events = self
            .text
            .split("\n\n")
            .filter_map(|event| event.strip_prefix("data: "));
        let mut chunks: Vec<&str> = events.collect();
        assert_eq!(chunks.pop(), Some("[DONE]"), "{}", self.text);
        let parse = |chunk: &&str| serde_json::from_str(chunk).unwrap();
        chunks.iter().map(parse).collect()
    }

    /// Returns the text of the stream.
    pub(crate) fn said(&self) -> String {
        let chunks = self.chunks();
        let deltas = chunks.iter().filter(|chunk| chunk["type"] == "text-delta");
        deltas
            .map(|chunk| chunk["delta"].as_str().unwrap().to_owned())
            .collect()
    }

    pub(crate) fn types(&self) -> Vec<String> {
        let chunks = self.chunks();
        chunks
            .iter()
            .map(|chunk| chunk["type"].as_str().unwrap().to_owned())
            .collect()
    }

    /// Asserts that the response is a problem with this status, and returns the problem.
    pub(crate) fn refused(&self, status: u16) -> Value {
        assert_eq!(
            (self.status, self.kind.as_str()),
            (status, "application/problem+json"),
            "{}",
            self.text
        );
        serde_json::from_str(&self.text).unwrap()
    }
}

/// Returns the body of a request with a message of the user.
pub(crate) fn message(text: &str) -> Value {
    json!({"messages": [{"id": "u-1", "role": "user", "parts": [{"type": "text", "text": text}]}]})
}

fn tokens() -> StaticTokens {
    let mut tokens = StaticTokens::default();
    for workspace in ["acme", "globex"] {
        for (user, role) in [
            ("ann", Role::Viewer),
            ("ben", Role::Viewer),
            ("olga", Role::Approver),
        ] {
            let token = token_hash(&format!("{user}-of-{workspace}"));
            tokens = tokens
                .add(token, Caller::new(user, workspace, role))
                .unwrap();
        }
    }
    tokens
}

impl Host {
    pub(crate) async fn start(kind: Kind) -> Self {
        Self::with(kind, Settings::default()).await
    }

    /// Starts a host whose first process has these settings.
    pub(crate) async fn with(kind: Kind, settings: Settings) -> Self {
        let opened = match kind {
            Kind::Memory => Opened::Memory(MemoryStore::default()),
            Kind::Sqlite => Opened::Sqlite(tempfile::tempdir().unwrap()),
            Kind::Postgres => Opened::Postgres(database().await.unwrap()),
            Kind::Agents => Opened::Agents(tempfile::tempdir().unwrap()),
        };
        let world = World::default();
        let first = opened.process(&world, settings).await;
        Self {
            opened,
            world,
            first,
        }
    }

    /// Starts one more process on the store.
    pub(crate) async fn process(&self) -> Process {
        self.process_with(Settings::default()).await
    }

    /// Starts one more process on the store, with these settings.
    pub(crate) async fn process_with(&self, settings: Settings) -> Process {
        self.opened.process(&self.world, settings).await
    }
}

impl Opened {
    async fn process(&self, world: &World, settings: Settings) -> Process {
        match self {
            Self::Memory(store) => Process::start(store.clone(), world, settings).await,
            Self::Sqlite(folder) => Process::start(sqlite(folder).await, world, settings).await,
            Self::Postgres(url) => {
                let store = PostgresStore::open(url).await.unwrap();
                Process::start(store, world, settings).await
            }
            Self::Agents(folder) => {
                let store = sqlite(folder).await;
                let tools = Tools::new(&store);
                let turns = turns(store.clone());
                let runtime = agents::runtime(&store, world, &tools, turns.clone());
                let chat = ChatServer::agents(&runtime, "clerk").unwrap();
                let mut events = StoredEvents::new(store);
                if let Some(poll) = settings.poll {
                    events = events.poll_every(poll);
                }
                let mut chat = chat.events(events);
                if settings.resets {
                    chat = chat.resetting();
                }
                let chat = configured!(chat, settings, world);
                Process::serve(chat.build().unwrap(), turns, world).await
            }
        }
    }
}

async fn sqlite(folder: &TempDir) -> SqliteStore {
    let path = folder.path().join("state.db");
    SqliteStore::open(path).await.unwrap()
}

fn turns(store: impl Store + Clone) -> Turns {
    Turns::new(store).lease(Duration::from_millis(900))
}

/// The tools of a conversation, and their gate.
pub(crate) struct Tools {
    pub(crate) gate: Gate,
    pub(crate) registry: Registry,
    pub(crate) rules: Rules,
}

impl Tools {
    fn new(store: &(impl Store + Clone)) -> Self {
        let keys = KeyRing::new("k", *b"thirty-two bytes of randomness!!").unwrap();
        let approvals = Approvals::builder(store.clone())
            .keys(keys)
            .build()
            .unwrap();
        let gate = Gate::builder()
            .approvals(approvals)
            .ledger(store.clone())
            .build();
        let rule = Rule::ask("mail-leaves").tools(["send_*"]);
        let allow = Rule::allow("rest").tools(["*"]);
        let policy = Policy::builder().rule(rule).rule(allow).build().unwrap();
        let rules = Rules::default().policy(&SharedPolicy::new(policy));
        let empty = json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false});
        let color = json!({"type": "object", "properties": {"color": {"type": "string"}}, "required": ["color"], "additionalProperties": false});
        let ask = DynamicTool::client("ask_color", "Asks the user for a color.", empty, &color);
        let registry = Registry::builder()
            .tool::<send_mail>()
            .dynamic(ask)
            .build()
            .unwrap();
        Self {
            gate,
            registry,
            rules,
        }
    }
}

impl Process {
    async fn start(store: impl Store + Clone, world: &World, settings: Settings) -> Self {
        let Tools {
            gate,
            registry,
            rules,
        } = Tools::new(&store);
        let turns = turns(store);
        let chat = ChatServer::builder(turns.clone(), Scripted(world.clone()))
            .tools(move |cx| registry.toolset(cx, &rules).through(&gate));
        let chat = configured!(chat, settings, world);
        Self::serve(chat.build().unwrap(), turns, world).await
    }

    async fn serve(chat: ChatServer, turns: Turns, world: &World) -> Self {
        let release = world.clone();
        let release =
            post(async move |Path(conversation): Path<String>| release.release(&conversation));
        let page = get(async |Path(page): Path<String>| browser::page(&page));
        let routes = Router::new()
            .route("/release/{conversation}", release)
            .route("/page/{page}", page)
            .merge(chat.routes());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = tokio::spawn(async move {
            let timeout = Duration::from_secs(30);
            tool_http::serve(
                listener,
                routes,
                timeout,
                tokio_util::sync::CancellationToken::new(),
            )
            .await;
        });
        Self {
            address,
            turns,
            server,
            client: Client::builder().no_proxy().build().unwrap(),
        }
    }

    pub(crate) fn request(&self, method: &str, path: &str, token: &str) -> reqwest::RequestBuilder {
        let method = reqwest::Method::from_bytes(method.as_bytes()).unwrap();
        let request = self
            .client
            .request(method, format!("http://{}{path}", self.address));
        request.header("authorization", format!("Bearer {token}"))
    }

    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        token: &str,
        body: Option<&Value>,
    ) -> Response {
        let mut request = self.request(method, path, token);
        if let Some(body) = body {
            request = request
                .header("content-type", "application/json")
                .body(body.to_string());
        }
        received(request).await
    }

    /// Posts to a conversation as Ann of acme, and reads the whole stream.
    pub(crate) async fn post(&self, conversation: &str, body: &Value) -> Response {
        self.send(
            "POST",
            &format!("/chat/{conversation}"),
            "ann-of-acme",
            Some(body),
        )
        .await
    }

    pub(crate) async fn say(&self, conversation: &str, text: &str) -> Response {
        self.post(conversation, &message(text)).await
    }

    pub(crate) async fn resume(&self, conversation: &str) -> Response {
        self.send(
            "GET",
            &format!("/chat/{conversation}/stream"),
            "ann-of-acme",
            None,
        )
        .await
    }

    /// Opens the stream of a run that continues.
    pub(crate) async fn follow(&self, conversation: &str) -> Begun {
        let path = format!("/chat/{conversation}/stream");
        let request = self.request("GET", &path, "ann-of-acme");
        let response = request.send().await.unwrap();
        assert_eq!(response.status().as_u16(), 200);
        let text = String::new();
        Begun { response, text }
    }

    pub(crate) async fn stop(&self, conversation: &str) -> Response {
        self.send(
            "POST",
            &format!("/chat/{conversation}/stop"),
            "ann-of-acme",
            None,
        )
        .await
    }

    /// Posts a message, and reads the stream until it contains a text. Dropping the stream closes the connection.
    pub(crate) async fn begin(&self, conversation: &str, text: &str, until: &str) -> Begun {
        let request = self.request("POST", &format!("/chat/{conversation}"), "ann-of-acme");
        let request = request.header("content-type", "application/json");
        let response = request
            .body(message(text).to_string())
            .send()
            .await
            .unwrap();
        assert_eq!(response.status().as_u16(), 200);
        let mut begun = Begun {
            response,
            text: String::new(),
        };
        begun.until(until).await;
        begun
    }

    /// Returns the texts of a conversation of a workspace, each with its author.
    pub(crate) async fn stored(&self, workspace: &str, conversation: &str) -> Vec<String> {
        let cx = ToolContext::builder()
            .workspace(workspace)
            .conversation(conversation)
            .build();
        let messages = self.turns.messages(&cx, None).await.unwrap();
        let line = |message: &Message| format!("{}: {}", message.role, message.content);
        messages.iter().map(line).collect()
    }
}

/// Sends a request and reads the response.
pub(crate) async fn received(request: reqwest::RequestBuilder) -> Response {
    let response = request.send().await.unwrap();
    let kind = response.headers().get("content-type");
    Response {
        status: response.status().as_u16(),
        kind: kind
            .map(|kind| kind.to_str().unwrap().to_owned())
            .unwrap_or_default(),
        text: response.text().await.unwrap(),
    }
}

/// A stream that a client reads.
pub(crate) struct Begun {
    response: reqwest::Response,
    text: String,
}

impl Begun {
    pub(crate) async fn until(&mut self, text: &str) {
        while !self.text.contains(text) {
            let more = self.response.chunk().await.unwrap();
            let more =
                more.unwrap_or_else(|| panic!("the stream ended without `{text}`: {}", self.text));
            self.text.push_str(std::str::from_utf8(&more).unwrap());
        }
    }

    /// Reads the stream to its end.
    pub(crate) async fn rest(mut self) -> String {
        while let Some(more) = self.response.chunk().await.unwrap() {
            self.text.push_str(std::str::from_utf8(&more).unwrap());
        }
        self.text
    }
}
