//! A chat server that sends the AI SDK's stream protocol. Its model is scripted and streams in a provider's format; its tools and its gate are real.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use axum::routing::post;
use futures::StreamExt as _;
use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};
use futures::future::{BoxFuture, ready};
use serde_json::json;
use tool_core::policy::{Policy, Rule, SharedPolicy};
use tool_core::prelude::*;
use tool_core::store::MemoryStore;
use tool_core::turn::{Model, ModelMessage, ModelRequest, Outcome, ToolMessage, Turns};
use tool_core::{Approvals, DynamicTool, Effect, Gate, KeyRing, Rules};
use tool_wire::ui::{ApprovalResponses, Chunk, DONE, HEADERS, Writer, user_message};
use tool_wire::{Delta, ModelReply, Provider};

#[derive(Debug, Serialize, StrictSchema)]
struct Step {
    /// The number of rows so far.
    rows: u32,
}

#[derive(Debug, Serialize, StrictSchema)]
struct Imported {
    /// The number of imported rows.
    imported: u32,
}

/// Imports a table.
#[tool]
fn import() -> ToolStream<Step, Imported> {
    tool_stream! {
        yield Step { rows: 1 };
        yield Step { rows: 2 };
        Imported { imported: 2 }
    }
}

/// Always fails.
#[tool(read_only)]
async fn fail() -> Result<u32, ToolError> {
    Err(ToolError::new("the disk is full"))
}

#[derive(Clone, Default)]
struct Mailbox(Arc<Mutex<Vec<String>>>);
tool_core::host_value!(Mailbox, Effect::WRITE);

/// Sends a mail.
#[tool(title = "Send a mail")]
async fn send_mail(
    mailbox: &Mailbox,
    /// The recipient of the mail.
    to: String,
    /// The number of copies.
    #[arg(default = 1)]
    copies: u32,
) -> String {
    assert!(copies > 0);
    mailbox.0.lock().unwrap().push(to.clone());
    format!("sent to {to}")
}

/// Returns a tool that is created at run time.
fn made(name: &str, fails: bool) -> DynamicTool {
    let schema =
        json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false});
    let handler = move |_: serde_json::Value, _| async move {
        if fails {
            return Err(ToolError::new("the tool is broken"));
        }
        Ok(1)
    };
    DynamicTool::new(name, "Is made at run time.", schema, handler)
}

/// The state that outlives a process.
#[derive(Clone, Default)]
struct Durable {
    store: MemoryStore,
    mailbox: Mailbox,
    requests: Arc<Mutex<usize>>,
}

pub(crate) struct Server {
    pub(crate) address: String,
    durable: Durable,
}

/// The calls that the model makes: the name of each tool, with the streamed parts of its arguments.
type Calls = &'static [(&'static str, &'static [&'static str])];

const ALL: Calls = &[
    ("import", &["{}"]),
    ("fail", &["{}"]),
    ("send_mail", &[r#"{"to":"#, r#""bob""#, "}"]),
    ("send_mail", &[r#"{"to":"eve","copies":2}"#]),
    ("paint", &["{}"]),
];

/// Calls that do not need an approval. Some of the tools are unknown to the interface.
const UNASKED: Calls = &[
    ("import", &["{}"]),
    ("made", &["{}"]),
    ("made_and_fails", &["{}"]),
    ("paint", &["{}"]),
];

impl Server {
    pub(crate) async fn start() -> Self {
        let durable = Durable::default();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}/api/chat", listener.local_addr().unwrap());
        let router = Router::new()
            .route("/api/chat", post(|durable, body| chat(durable, body, ALL)))
            .route(
                "/api/chat/unasked",
                post(|durable, body| chat(durable, body, UNASKED)),
            );
        let router = router.with_state(durable.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { address, durable }
    }

    pub(crate) fn mails(&self) -> Vec<String> {
        self.durable.mailbox.0.lock().unwrap().clone()
    }

    pub(crate) fn requests(&self) -> usize {
        *self.durable.requests.lock().unwrap()
    }
}

/// An event of a run.
enum RunEvent {
    Delta(Delta),
    Reply(Box<ModelReply>),
    Progress(String, Box<serde_json::value::RawValue>),
    Result(Box<ToolMessage>),
    Ended(Box<Outcome>),
}

/// A model that returns scripted answers, parsed event by event from a provider's format.
struct Scripted(UnboundedSender<RunEvent>, Calls);

impl Model for Scripted {
    fn next<'a>(
        &'a mut self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        let chunk = |delta: serde_json::Value| {
            json!({"choices": [{"index": 0, "delta": delta}]}).to_string()
        };
        let history = Provider::Chat.history(request.messages).unwrap();
        let picture = history.messages[0].get();
        assert!(
            picture.contains("data:image/png;base64,iVBORw0KGgo="),
            "{picture}"
        );
        let mut events = Vec::new();
        let mut finish = "stop";
        if request.step == 1 {
            events.push(chunk(json!({"reasoning_content": "Five calls."})));
            events.extend(["I ", "will."].map(|text| chunk(json!({"content": text}))));
            for (at, (name, arguments)) in self.1.iter().enumerate() {
                let id = format!("call_{}", at + 1);
                events.push(chunk(json!({"tool_calls": [{"index": at, "id": id, "type": "function", "function": {"name": name, "arguments": ""}}]})));
                events.extend(arguments.iter().map(|piece| {
                    chunk(json!({"tool_calls": [{"index": at, "function": {"arguments": piece}}]}))
                }));
            }
            finish = "tool_calls";
        } else {
            events.push(chunk(json!({"content": "All is done."})));
        }
        events.push(
            json!({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}).to_string(),
        );
        let answer = || {
            let mut stream = Provider::Chat.stream();
            for event in &events {
                for delta in stream.feed(format!("data: {event}\n\n").as_bytes())? {
                    let _ = self.0.unbounded_send(RunEvent::Delta(delta));
                }
            }
            let reply = stream.finish()?;
            let _ = self
                .0
                .unbounded_send(RunEvent::Reply(Box::new(reply.clone())));
            Ok::<_, ToolError>(reply.into_message())
        };
        Box::pin(ready(answer()))
    }
}

/// Handles one request of the interface. Everything except the [`Durable`] state is created again, as in a new process.
async fn chat(State(durable): State<Durable>, body: String, calls: Calls) -> Response {
    *durable.requests.lock().unwrap() += 1;
    let keys = KeyRing::new("k", *b"thirty-two bytes of randomness!!").unwrap();
    let approvals = Approvals::builder(durable.store.clone())
        .keys(keys)
        .build()
        .unwrap();
    let gate = Gate::builder()
        .approvals(approvals)
        .ledger(durable.store.clone())
        .build();
    let rule = Rule::ask("mail-leaves")
        .tools(["send_*"])
        .reason("a mail cannot be called back");
    let allow = Rule::allow("rest").tools(["*"]);
    let policy = Policy::builder().rule(rule).rule(allow).build().unwrap();
    let rules = Rules::default().policy(&SharedPolicy::new(policy));
    let registry = Registry::builder()
        .tool::<import>()
        .tool::<fail>()
        .tool::<send_mail>()
        .dynamic(made("made", false))
        .dynamic(made("made_and_fails", true))
        .build()
        .unwrap();
    // A host takes the user from the session, never from the body of the request.
    let cx = ToolContext::builder()
        .workspace("acme")
        .user("ann")
        .conversation("chat");
    let cx = cx.with(durable.mailbox.clone()).build();
    let tools = registry.toolset(&cx, &rules).through(&gate);

    let answers = ApprovalResponses::read(&body).unwrap();
    for response in answers.responses() {
        let approvals = gate.approvals().unwrap();
        response
            .submit(&cx.own_workspace(), approvals, &tools, "ann")
            .await
            .unwrap();
    }

    let (sender, news) = unbounded();
    let turns = Turns::new(durable.store);
    if let Some(message) = user_message(&body).unwrap() {
        turns.say(message, &cx).await.unwrap();
    }
    let turns = turns.progress({
        let sender = sender.clone();
        move |call, step| {
            let _ = sender.unbounded_send(RunEvent::Progress(call.id.clone(), step.to_owned()));
        }
    });
    let turns = turns.observe({
        let sender = sender.clone();
        move |result| {
            let _ = sender.unbounded_send(RunEvent::Result(Box::new(result.clone())));
        }
    });
    let mut writer = Writer::resume(&tools, &answers);
    let start = writer.start(answers.message());
    tokio::spawn(async move {
        let outcome = turns
            .drive(&mut Scripted(sender.clone(), calls), |_| tools.clone(), &cx)
            .await;
        let _ = sender.unbounded_send(RunEvent::Ended(Box::new(outcome.unwrap())));
    });
    let mut response = Response::builder();
    for (name, value) in HEADERS {
        response = response.header(name, value);
    }
    response
        .body(Body::from_stream(shown(writer, start, news)))
        .unwrap()
}

/// Converts the events to the body of the response.
fn shown(
    mut writer: Writer,
    start: Vec<Chunk>,
    news: UnboundedReceiver<RunEvent>,
) -> impl futures::Stream<Item = Result<String, std::convert::Infallible>> {
    let text = |chunks: Vec<Chunk>| chunks.iter().map(Chunk::to_string).collect::<String>();
    let start = text(start);
    let news = news.map(move |news| {
        Ok(match news {
            RunEvent::Delta(delta) => text(writer.delta(&delta).unwrap()),
            RunEvent::Reply(reply) => text(writer.reply(&reply).unwrap()),
            RunEvent::Progress(call, step) => text(writer.progress(&call, &step).unwrap()),
            RunEvent::Result(result) => text(writer.stored(&result).unwrap()),
            RunEvent::Ended(outcome) => {
                let mut chunks = writer.outcome(&outcome).unwrap();
                chunks.extend(writer.finish());
                text(chunks) + DONE
            }
        })
    });
    futures::stream::once(ready(Ok(start))).chain(news)
}
