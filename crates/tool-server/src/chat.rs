//! A chat endpoint for user interfaces on the AI SDK (`useChat`): a host's own model, with its tools, approvals and client tools.
//!
//! | request | response |
//! |---|---|
//! | `POST /chat/{thread}` | stores the new message, the answers to approval requests or the results of client tools, and streams the answer |
//! | `GET /chat/{thread}/stream` | the stream of the active run, from its beginning; 204 if no run is active |
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
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use http::{HeaderValue, StatusCode};
use tool_core::store::{RunFilter, RunRow, RunState, StoreError, ThreadId, Timestamp, Workspace};
use tool_core::turn::{Begun, BegunRun, ClientResult, ModelMessage, TurnError, Turns};
use tool_core::{ToolCall, ToolContext, ToolContextBuilder, ToolDef, Toolset};
use tool_wire::ui::{Chunk, HEADERS, Writer};

use crate::access::{Access, Role};
use crate::auth::{Authenticator, Caller};
use crate::entry::Entry;
use crate::extract::read_json;
use crate::problem::{Kind, Problem};

mod model;
mod reply;
mod request;
mod stored;

use model::Streaming;
pub use model::{ChatModel, ReplySink};
use reply::Reply;
use request::Posted;

/// The name of the resource in error texts.
const WHAT: &str = "thread";

type Tools = dyn Fn(&ToolContext) -> Toolset + Send + Sync;
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

/// The settings of a [`ChatServer`].
#[must_use]
pub struct ChatServerBuilder {
    turns: Turns,
    model: Arc<dyn ChatModel>,
    tools: Arc<Tools>,
    contexts: Arc<Contexts>,
    role: Role,
    entry: Entry,
}

struct Inner {
    turns: Turns,
    model: Arc<dyn ChatModel>,
    tools: Arc<Tools>,
    contexts: Arc<Contexts>,
    role: Role,
    entry: Entry,
    /// The streams of the runs that this server drives.
    live: Mutex<HashMap<ThreadId, Arc<Reply>>>,
}

type Shared = Arc<Inner>;
type Answer = Result<Response, Problem>;

impl ChatServerBuilder {
    /// Sets the tools of a run; none by default. The function is called before each step. Approvals are those of the toolset's
    /// [gate](tool_core::Gate).
    pub fn tools(
        mut self,
        tools: impl Fn(&ToolContext) -> Toolset + Send + Sync + 'static,
    ) -> Self {
        self.tools = Arc::new(tools);
        self
    }

    /// Sets a function that decides whether a caller may use a conversation, and that builds the context of its runs. `None` is answered like a
    /// conversation that does not exist.
    ///
    /// The builder that is passed has the workspace and the user of the caller and the conversation; add host values, secrets and a deadline. By default,
    /// each caller may use every conversation of its workspace.
    ///
    /// ```
    /// # use tool_core::store::MemoryStore;
    /// # use tool_core::turn::Turns;
    /// # use tool_server::chat::{ChatModel, ChatServer};
    /// # fn server(turns: Turns, model: impl ChatModel) -> Result<(), tool_core::store::StoreError> {
    /// // A conversation has the name of its user and a number, such as `ann-7`. A comparison of prefixes would give `ann` the conversation `ann-lee-7`.
    /// let chat = ChatServer::builder(turns, model).context(|caller, thread, cx| async move {
    ///     let owner = thread.conversation().rsplit_once('-').map(|(owner, _)| owner);
    ///     let own = owner == Some(&*caller.subject);
    ///     Ok(own.then(|| cx.build()))
    /// });
    /// # let _ = chat.build()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn context<F>(
        mut self,
        context: impl Fn(Caller, ThreadId, ToolContextBuilder) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<Option<ToolContext>, StoreError>> + Send + 'static,
    {
        self.contexts = Arc::new(move |caller, thread, cx| context(caller, thread, cx).boxed());
        self
    }

    /// Adds an authenticator of callers. The server tries authenticators in the order in which they were added.
    ///
    /// Without an authenticator, the server creates a random token of a caller with the required role, and prints it to standard error.
    pub fn authenticator(mut self, authenticator: impl Authenticator) -> Self {
        self.entry.authenticators.push(Arc::new(authenticator));
        self
    }

    /// Sets the role that every request requires; [`Role::Viewer`] by default, which every role includes.
    ///
    /// A caller can answer only the approval requests of its own calls. An approver answers the requests of other callers with the admin API.
    pub fn role(mut self, role: Role) -> Self {
        self.role = role;
        self
    }

    /// Allows requests for a host: a name with any port, or a name with a port. Loopback names are always allowed.
    pub fn host(mut self, host: &str) -> Self {
        self.entry.guard.host(host);
        self
    }

    /// Allows requests from web pages of an origin, such as `https://app.example.com`. Loopback origins are always allowed, and so are requests
    /// without `Origin`: browsers send this header with each cross-origin request that changes something or whose response a page can read.
    pub fn origin(mut self, origin: &str) -> Self {
        self.entry.guard.origin(origin);
        self
    }

    /// Sets the maximum length of a request body in bytes; 4 MiB by default, because an interface sends files as base64 text.
    pub fn max_body(mut self, bytes: usize) -> Self {
        self.entry.max_body = bytes;
        self
    }

    /// Sets how long a request may take until its response begins; 30 seconds by default. The stream may take longer.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.entry.timeout = timeout;
        self
    }

    /// Builds the server. Fails if no authenticator was added and the system provides no random bytes.
    pub fn build(mut self) -> Result<ChatServer, StoreError> {
        let caller = Caller::new("user", Workspace::single(), self.role);
        let token = self.entry.complete("The chat", caller)?;
        let inner = Arc::new(Inner {
            turns: self.turns,
            model: self.model,
            tools: self.tools,
            contexts: self.contexts,
            role: self.role,
            entry: self.entry,
            live: Mutex::default(),
        });
        Ok(ChatServer { inner, token })
    }
}

impl ChatServer {
    /// Creates a builder for a server that drives conversations with a model. The conversations are in the store of the turns.
    pub fn builder(turns: Turns, model: impl ChatModel) -> ChatServerBuilder {
        ChatServerBuilder {
            turns,
            model: Arc::new(model),
            tools: Arc::new(|_| tool_core::toolset![]),
            contexts: Arc::new(|_, _, cx| futures::future::ready(Ok(Some(cx.build()))).boxed()),
            role: Role::Viewer,
            entry: Entry::new(4 * 1024 * 1024),
        }
    }

    /// Returns the random token; `None` if an authenticator was configured.
    pub fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// Returns the routes, for a host with its own HTTP server: `/chat/{thread}` and the routes below it. Mount them separately from those of the
    /// admin API, because their callers are the users of the host and not its operators.
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

    /// Returns the run of a conversation that has not ended. Fails with 404 if the workspace does not have the conversation.
    async fn running(&self, room: &Room) -> Result<Option<RunRow>, Problem> {
        let filter = |state| RunFilter {
            conversation: Some(room.thread.conversation().to_owned()),
            state,
            limit: Some(1),
            ..RunFilter::default()
        };
        let workspace = room.thread.workspace();
        let running = filter(Some(RunState::Running));
        let rows = self.turns.runs(workspace, &running).await;
        if let Some(row) = rows.map_err(of_turn)?.pop() {
            return Ok(Some(row));
        }
        let rows = self.turns.runs(workspace, &filter(None)).await;
        // Runs are removed earlier than messages, so both are read.
        if rows.map_err(of_turn)?.is_empty()
            && self
                .turns
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
        // A request without a new message concerns a conversation that exists; any other conversation is refused here.
        chat.running(&room).await?;
    }
    // The run begins in a separate task, so that a client that disconnects now does not leave a message without a run.
    let again = posted.again;
    let begun = tokio::spawn(start(chat, room, posted)).await;
    let reply = begun.map_err(|error| {
        tracing::error!(%error, "a run of a chat could not begin");
        failed()
    })??;
    Ok(stream(&reply, again))
}

/// Begins a run, or refuses the request if a different run of the conversation continues.
async fn start(chat: Shared, room: Room, posted: Posted) -> Result<Arc<Reply>, Problem> {
    let run = match chat.turns.begin(&room.cx).await.map_err(of_turn)? {
        Begun::Run(run) => run,
        Begun::Busy(_) => {
            return Err(Problem::new(
                Kind::Conflict,
                "a run of this conversation continues: read it with `GET …/stream`, stop it with `POST …/stop`, or repeat the request when it has ended",
            ));
        }
    };
    match begin(&chat, &room, &posted, &run).await {
        Ok(begun) => Ok(spawn(chat, room, *run, begun.reply, begun.supplied)),
        Err(problem) => {
            run.cancel().await;
            Err(problem)
        }
    }
}

/// The stream of a run that begins, and the results of client tools for its open calls.
struct Beginning {
    reply: Arc<Reply>,
    supplied: Vec<ClientResult>,
}

/// Stores what is new in a request, and creates the stream.
async fn begin(
    chat: &Inner,
    room: &Room,
    posted: &Posted,
    run: &BegunRun,
) -> Result<Beginning, Problem> {
    let tools = (chat.tools)(&room.cx);
    let mut writer = Writer::new(&tools);
    let open = run.open_calls().await.map_err(of_turn)?;
    if let Some(message) = &posted.message {
        if waits(&open, &room.thread, &tools).await? {
            return Err(Problem::new(
                Kind::Conflict,
                "calls of this conversation wait for approvals or for results of the client, answer them before you send a message",
            ));
        }
        let user = run.say(message.clone()).await.map_err(of_turn)?;
        let mut start = writer.start(Some(&stored::message_id(user)));
        if !open.is_empty() {
            // A process died during these calls. They continue in this message, so the client needs their arguments.
            start.extend(shown(&mut writer, open));
        }
        let reply = Reply::new(writer, &start, &[]);
        return Ok(Beginning {
            reply,
            supplied: Vec::new(),
        });
    }
    if run.is_answered().await.map_err(of_turn)? {
        return Err(Problem::new(
            Kind::Conflict,
            "the last message of the user is answered already, read the messages of the conversation",
        ));
    }
    let messages = chat.turns.messages(&room.cx, None).await.map_err(of_turn)?;
    let user = stored::last_of_user(&messages);
    let mut earlier = stored::show(&mut writer, &messages, user);
    let answered = posted
        .submit(&room.caller, &room.thread, &room.cx, &tools)
        .await?;
    for answer in &answered {
        // If the client has only the user's message, it gets the approval request before the result.
        earlier.extend(writer.answered(&answer.call, &answer.approval, answer.approved));
    }
    let supplied = writer.own_ids(posted.results.clone());
    let own = stored::message_id(user);
    let id = posted
        .continues
        .as_deref()
        .filter(|_| posted.is_continued());
    let start = writer.start(Some(id.unwrap_or(&own)));
    let reply = Reply::new(writer, &start, &earlier);
    Ok(Beginning { reply, supplied })
}

/// Returns whether calls wait for a person or for the client.
async fn waits(open: &[ToolCall], thread: &ThreadId, tools: &Toolset) -> Result<bool, Problem> {
    let is_client = |name: &str| tools.get(name).is_some_and(ToolDef::is_client);
    if open.iter().any(|call| is_client(&call.name)) {
        return Ok(true);
    }
    match tools.gate().and_then(|gate| gate.approvals()) {
        Some(approvals) if !open.is_empty() => {
            let waiting = approvals.waiting(thread).await.map_err(|error| {
                tracing::error!(%error, "the approval requests of a chat cannot be read");
                failed()
            })?;
            Ok(!waiting.is_empty())
        }
        _ => Ok(false),
    }
}

/// Returns the chunks of calls that the client has not seen.
fn shown(writer: &mut Writer, calls: Vec<ToolCall>) -> Vec<Chunk> {
    let mut chunks = writer.step();
    match writer.message(&ModelMessage::calls(calls)) {
        Ok(calls) => chunks.extend(calls),
        Err(error) => tracing::warn!(%error, "open calls cannot be shown to the client"),
    }
    chunks
}

/// Drives a run in a separate task, so that the run does not end with the request.
fn spawn(
    chat: Shared,
    room: Room,
    run: BegunRun,
    reply: Arc<Reply>,
    supplied: Vec<ClientResult>,
) -> Arc<Reply> {
    let thread = room.thread;
    chat.live().insert(thread.clone(), Arc::clone(&reply));
    let returned = Arc::clone(&reply);
    let results = Arc::clone(&reply);
    let progress = Arc::clone(&reply);
    let run = run
        .observe(move |result| results.result(result))
        .progress(move |call, step| progress.progress(&call.id, step));
    tokio::spawn(async move {
        let mut model = Streaming::new(Arc::clone(&chat.model), Arc::clone(&reply));
        let tools = Arc::clone(&chat.tools);
        let drive = run.drive(&mut model, move |cx| tools(cx), &supplied);
        if let Ok(outcome) = AssertUnwindSafe(drive).catch_unwind().await {
            reply.end(outcome);
        } else {
            tracing::error!(%thread, "a run of a chat has panicked");
            reply.fail();
        }
        chat.remove(&thread, &reply);
    });
    returned
}

/// Handles `GET /chat/{thread}/stream`: streams the run that continues.
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
        // The lease of the run has expired, so its process has died. The next request continues the run.
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let tools = (chat.tools)(&room.cx);
    let messages = chat.turns.messages(&room.cx, None).await.map_err(of_turn)?;
    let reply = stored::follow(chat.turns.clone(), row.id, room.cx, tools, &messages);
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
        chat.turns.cancel(&row.id).await.map_err(of_turn)?;
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

impl fmt::Debug for ChatServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChatServer")
            .field("guard", &self.inner.entry.guard)
            .finish_non_exhaustive()
    }
}
