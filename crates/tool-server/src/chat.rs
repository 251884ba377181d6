//! A chat endpoint for user interfaces on the AI SDK (`useChat`): a host's own model, with its tools, approvals and client tools, or the agents of an
//! [`AgentRuntime`] ([`ChatServer::agents`]).
//!
//! | request | response |
//! |---|---|
//! | `POST /chat/{thread}` | stores the new message, the answers to approval requests or the results of client tools, and streams the reply |
//! | `GET /chat/{thread}/stream` | the stream of the active run, from its beginning; 204 if no run is active or its lease has expired |
//! | `POST /chat/{thread}/stop` | stops the run, even if a different process drives it; 204 |
//!
//! The streams are UI message streams of the AI SDK, version 1. Only the last message of a request is read, and only its new parts. Everything else comes
//! from the store of the [`Turns`], so a client cannot change the history of a conversation. The run continues if the client disconnects.
//!
//! ```
//! use futures::FutureExt as _;
//! use futures::future::BoxFuture;
//! use tool_core::store::MemoryStore;
//! use tool_core::turn::{ModelMessage, ModelRequest, Turns};
//! use tool_core::{Registry, ToolError};
//! use tool_server::chat::{ChatModel, ChatServer, ReplySink};
//! use tool_server::{Caller, Role, StaticTokens, token_hash};
//! use tool_wire::Delta;
//!
//! struct Echo;
//!
//! impl ChatModel for Echo {
//!     fn reply<'a>(&'a self, request: ModelRequest<'a>, sink: &'a ReplySink) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
//!         let text = request.messages.last().map_or("", |message| &message.content).to_owned();
//!         async move {
//!             sink.send(&Delta::Text(text.clone()));
//!             Ok(ModelMessage::text(text))
//!         }
//!         .boxed()
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let tokens = StaticTokens::default()
//!     .add(token_hash("a long random text"), Caller::new("ann", "acme", Role::Viewer))?;
//! let tools = Registry::builder().build()?.open();
//! let chat = ChatServer::builder(Turns::new(MemoryStore::default()), Echo)
//!     .authenticator(tokens)
//!     .tools(move |_| tools.clone())
//!     .build()?;
//! let routes: axum::Router = chat.routes();
//! # let _ = routes;
//! # Ok(())
//! # }
//! ```

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use futures::future::BoxFuture;
use http::{HeaderValue, StatusCode};
use tool_agent::runtime::{AgentRuntime, RuntimeError};
use tool_core::store::{RunFilter, RunRow, RunState, StoreError, ThreadId, Timestamp};
use tool_core::turn::{TurnError, Turns};
use tool_core::{ToolContext, ToolContextBuilder};
use tool_wire::ui::HEADERS;

use crate::access::{Access, Role};
use crate::auth::Caller;
use crate::entry::Entry;
use crate::extract::read_json;
use crate::problem::{Kind, Problem};

mod driver;
mod model;
mod reply;
mod request;
mod run;
mod settings;
mod stored;

use driver::Driver;
pub use driver::{AgentDriver, ModelDriver};
pub use model::{ChatModel, ReplySink};
use reply::Reply;
use request::Posted;
pub use settings::ChatServerBuilder;

/// The name of the resource in error texts.
const WHAT: &str = "thread";

type Contexts = dyn Fn(
        Caller,
        ThreadId,
        ToolContextBuilder,
    ) -> BoxFuture<'static, Result<Option<ToolContext>, StoreError>>
    + Send
    + Sync;

/// A chat endpoint of a host. Clones are cheap and share one state. [The module](crate::chat) describes its requests.
#[derive(Clone)]
pub struct ChatServer {
    inner: Arc<Inner>,
    token: Option<Arc<str>>,
}

struct Inner {
    driver: Driver,
    contexts: Arc<Contexts>,
    role: Role,
    entry: Entry,
    /// The streams of the runs that this server drives.
    live: Mutex<HashMap<ThreadId, Arc<Reply>>>,
}

type Shared = Arc<Inner>;
type Answer = Result<Response, Problem>;

impl ChatServer {
    /// Creates a builder for a server that drives conversations with a model. The conversations are in the store of the turns.
    pub fn builder(turns: Turns, model: impl ChatModel) -> ChatServerBuilder {
        ChatServerBuilder::new(ModelDriver::new(turns, model))
    }

    /// Creates a builder for a server whose conversations belong to agents. `agent` is the agent of a new conversation.
    ///
    /// ```
    /// use tool_agent::agent::Agent;
    /// use tool_agent::model::{Script, ScriptedModel};
    /// use tool_agent::runtime::{AgentEntry, AgentRuntime, StoredEvents};
    /// use tool_core::Gate;
    /// use tool_core::store::MemoryStore;
    /// use tool_core::turn::Turns;
    /// use tool_server::chat::ChatServer;
    /// use tool_server::{Caller, Role, StaticTokens, token_hash};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let tokens = StaticTokens::default()
    ///     .add(token_hash("a long random text"), Caller::new("ann", "acme", Role::Viewer))?;
    /// let store = MemoryStore::default();
    /// let support = Agent::builder("support", ScriptedModel::new([Script::text("Hello.")])).build()?;
    /// let runtime = AgentRuntime::builder(Turns::new(store.clone()), &Gate::builder().build())
    ///     .events(store.clone())
    ///     .agent(AgentEntry::new(support))
    ///     .build()?;
    /// let chat = ChatServer::agents(&runtime, "support")?
    ///     .events(StoredEvents::new(store))
    ///     .authenticator(tokens)
    ///     .build()?;
    /// let routes: axum::Router = chat.routes();
    /// # let _ = routes;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if the runtime has no such agent.
    pub fn agents(
        runtime: &AgentRuntime,
        agent: &str,
    ) -> Result<ChatServerBuilder<AgentDriver>, RuntimeError> {
        Ok(ChatServerBuilder::new(AgentDriver::new(runtime, agent)?))
    }

    /// Returns the random token; `None` if an authenticator was configured.
    pub fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// Returns the routes, for a host with its own HTTP server: `/chat/{thread}` and the routes below it. Mount them separately from the routes
    /// of the admin API, because their callers are the users of the host and not its operators.
    ///
    /// Every request is authenticated, also for paths that do not exist.
    pub fn routes(&self) -> Router {
        let enter = middleware::from_fn_with_state(Arc::clone(&self.inner), enter);
        Router::new()
            .route("/chat/{thread}", post(chat))
            .route("/chat/{thread}/stream", get(resume))
            .route("/chat/{thread}/stop", post(stop))
            .method_not_allowed_fallback(async || {
                Problem::new(
                    Kind::MethodNotAllowed,
                    "the header `Allow` names the methods of this resource",
                )
            })
            .fallback(async || {
                Problem::new(
                    Kind::NotFound,
                    "the path does not exist, send messages to `/chat/{thread}`",
                )
            })
            .layer(enter)
            .with_state(Arc::clone(&self.inner))
    }
}

/// Middleware that checks every request.
async fn enter(State(chat): State<Shared>, request: Request, next: Next) -> Response {
    let late = "the request took too long; a run may have begun, so read its stream before you repeat the request";
    let access = Access::role(chat.role);
    chat.entry.enter(request, next, access, late).await
}

/// A conversation that the caller may use.
struct Room {
    caller: Caller,
    thread: ThreadId,
    cx: ToolContext,
}

impl Inner {
    fn live(&self) -> MutexGuard<'_, HashMap<ThreadId, Arc<Reply>>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn room(&self, caller: Caller, conversation: String) -> Result<Room, Problem> {
        let thread = ThreadId::new(&caller.workspace, conversation);
        let thread = thread.map_err(|_| Problem::missing(WHAT))?;
        let cx = ToolContext::builder()
            .workspace(thread.workspace().as_str())
            .user(&caller.subject)
            .conversation(thread.conversation());
        let cx = (self.contexts)(caller.clone(), thread.clone(), cx).await;
        let cx = cx.map_err(|error| Problem::of_store(&error, WHAT))?;
        let cx = cx.ok_or_else(|| Problem::missing(WHAT))?;
        if cx.thread().as_ref() != Some(&thread) {
            tracing::error!(%thread, "the host's context of a chat names a different workspace or conversation");
            return Err(failed());
        }
        Ok(Room { caller, thread, cx })
    }

    /// Returns the active run of a conversation, if there is one. Fails with 404 if the workspace does not have the conversation.
    async fn running(&self, room: &Room) -> Result<Option<RunRow>, Problem> {
        let filter = |state| RunFilter {
            conversation: Some(room.thread.conversation().to_owned()),
            state,
            limit: Some(1),
            ..RunFilter::default()
        };
        let workspace = room.thread.workspace();
        let running = filter(Some(RunState::Running));
        let rows = self.driver.turns().runs(workspace, &running).await;
        if let Some(row) = rows.map_err(of_turn)?.pop() {
            return Ok(Some(row));
        }
        let rows = self.driver.turns().runs(workspace, &filter(None)).await;
        // Runs are removed earlier than messages, so both are read.
        if rows.map_err(of_turn)?.is_empty()
            && self
                .driver
                .turns()
                .messages(&room.cx, None)
                .await
                .map_err(of_turn)?
                .is_empty()
        {
            return Err(Problem::missing(WHAT));
        }
        Ok(None)
    }

    /// Removes the stream of a run that has ended, unless a newer run has replaced it.
    fn remove(&self, thread: &ThreadId, reply: &Arc<Reply>) {
        let mut live = self.live();
        if live
            .get(thread)
            .is_some_and(|known| Arc::ptr_eq(known, reply))
        {
            live.remove(thread);
        }
    }
}

/// Handles `POST /chat/{thread}`: stores the new contents of the request, begins a run, and streams it.
async fn chat(
    State(chat): State<Shared>,
    Extension(caller): Extension<Caller>,
    Path(conversation): Path<String>,
    request: Request,
) -> Answer {
    let room = chat.room(caller, conversation).await?;
    let body = read_json(request, &chat.entry).await?;
    let posted = Posted::read(&body)?;
    if posted.message.is_none() {
        // A request without a new message needs an existing conversation; `running` refuses any other conversation.
        chat.running(&room).await?;
    }
    // The run begins in a separate task, so that a client that disconnects now does not leave a message without a run.
    let again = posted.again;
    let begun = tokio::spawn(run::start(chat, room, posted)).await;
    let reply = begun.map_err(|error| {
        tracing::error!(%error, "a run of a chat could not begin");
        failed()
    })??;
    Ok(stream(&reply, again))
}

/// Handles `GET /chat/{thread}/stream`: streams the active run.
async fn resume(
    State(chat): State<Shared>,
    Extension(caller): Extension<Caller>,
    Path(conversation): Path<String>,
) -> Answer {
    let room = chat.room(caller, conversation).await?;
    let live = chat.live().get(&room.thread).cloned();
    if let Some(reply) = live {
        return Ok(stream(&reply, true));
    }
    let Some(row) = chat.running(&room).await? else {
        return Ok(StatusCode::NO_CONTENT.into_response());
    };
    if !row.is_held(Timestamp::now()) {
        // The lease of the run has expired, for example because its process has died. The next request continues the run.
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let reply = stored::follow(&chat, row.id, room).await?;
    Ok(stream(&reply, true))
}

/// Handles `POST /chat/{thread}/stop`: stops the run through the store.
async fn stop(
    State(chat): State<Shared>,
    Extension(caller): Extension<Caller>,
    Path(conversation): Path<String>,
) -> Answer {
    let room = chat.room(caller, conversation).await?;
    if let Some(row) = chat.running(&room).await? {
        chat.driver.turns().cancel(&row.id).await.map_err(of_turn)?;
    }
    Ok(StatusCode::NO_CONTENT.into_response())
}

fn stream(reply: &Arc<Reply>, complete: bool) -> Response {
    let mut response = Response::new(Body::from_stream(reply.read(complete)));
    for (name, value) in HEADERS {
        let headers = response.headers_mut();
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

fn failed() -> Problem {
    Problem::new(
        Kind::Internal,
        "the server failed, its log contains the reason",
    )
}

fn of_turn(error: TurnError) -> Problem {
    match error {
        TurnError::Store(error) => Problem::of_store(&error, WHAT),
        TurnError::Message(error) => Problem::input("/messages", error.to_string()),
        error => {
            tracing::error!(%error, "a request of a chat has failed");
            failed()
        }
    }
}

fn of_runtime(error: RuntimeError) -> Problem {
    match error {
        RuntimeError::Turn(error) => of_turn(error),
        RuntimeError::Store(error) => Problem::of_store(&error, WHAT),
        RuntimeError::ChildThread(_) => Problem::missing(WHAT),
        error => {
            tracing::error!(%error, "a request of a chat has failed");
            failed()
        }
    }
}

impl fmt::Debug for ChatServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChatServer")
            .field("guard", &self.inner.entry.guard)
            .finish_non_exhaustive()
    }
}
