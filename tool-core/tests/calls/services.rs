//! The caller's identity, and the services that a host offers to tools.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use futures::future::BoxFuture;
use serde_json::{Value, json};
use tool_core::prelude::*;
use tool_core::{
    ApiKeys, Attachment, AttachmentBody, AttachmentKind, Attachments, CancellationToken,
    ConversationState, ErrorKind, ExposeSecret, History, HistoryMessage, HistoryRole, InstanceSlug,
    Instances, OAuth, OAuthToken, ResolveInstance, SlugError, StatePlace, StateStore, TokenSource,
};

/// Returns the caller.
#[tool]
fn who(cx: &ToolContext) -> Result<Value, ToolError> {
    Ok(json!({
        "agent": cx.agent(), "user": cx.user(), "runtime_user": cx.runtime_user(), "workspace": cx.workspace(),
        "session": cx.session(), "conversation": cx.conversation(), "call": cx.call_id(),
        "model_provider": cx.model_provider(),
    }))
}

async fn caller_values(cx: &ToolContext) -> Value {
    let result = toolset![who]
        .call(ToolCall::new("call_7", "who", "{}"), cx)
        .await;
    serde_json::from_str(result.output().expect("an output").get()).expect("JSON")
}

// S0-09, S0-10, S0-12, S1-16, S1-19, S3-19: a tool reads the agent, user, session, conversation and AI provider of its own caller.
#[tokio::test]
async fn context_reports_the_ids_of_its_caller() {
    let of = |agent: &str, user: &str| {
        ToolContext::builder()
            .agent(agent)
            .user(user)
            .workspace("acme")
            .session("s-1")
            .conversation("c-1")
            .model_provider("anthropic")
            .service_user("svc-acme")
    };
    let (first, second) = (
        of("scout", "ann").build(),
        of("clerk", "bob").runtime_user("run-bob").build(),
    );
    let (first, second) =
        futures::future::join(caller_values(&first), caller_values(&second)).await;
    assert_eq!(
        first,
        json!({
            "agent": "scout", "user": "ann", "runtime_user": "svc-acme", "workspace": "acme", "session": "s-1",
            "conversation": "c-1", "call": "call_7", "model_provider": "anthropic",
        })
    );
    assert_eq!(
        (&second["agent"], &second["user"], &second["runtime_user"]),
        (&json!("clerk"), &json!("bob"), &json!("run-bob"))
    );
}

// S1-20: services that the host does not have are `None`.
#[tokio::test]
async fn absent_services_are_none() {
    /// Requests every service that a host may lack.
    #[tool]
    fn greedy(
        #[context] state: Option<ConversationState>,
        #[context] history: Option<History>,
        #[context] oauth: Option<OAuth>,
        #[context] keys: Option<ApiKeys>,
        #[context] instances: Option<Instances>,
        files: &Attachments,
    ) -> usize {
        usize::from(state.is_some())
            + usize::from(history.is_some())
            + usize::from(oauth.is_some())
            + usize::from(keys.is_some())
            + usize::from(instances.is_some())
            + files.len()
    }
    let result = toolset![greedy]
        .call(ToolCall::new("1", "greedy", ""), &ToolContext::anonymous())
        .await;
    assert_eq!(result.model_text(), "0");
    let values = caller_values(&ToolContext::anonymous()).await;
    assert_eq!(values["user"], Value::Null);
}

struct Rows(Mutex<HashMap<(StatePlace, String), Value>>);

impl StateStore for Rows {
    fn get<'a>(
        &'a self,
        place: &'a StatePlace,
        key: &'a str,
    ) -> BoxFuture<'a, Result<Option<Value>, ToolError>> {
        let rows = self.0.lock().unwrap();
        Box::pin(std::future::ready(Ok(rows
            .get(&(place.clone(), key.to_owned()))
            .cloned())))
    }

    fn set<'a>(
        &'a self,
        place: &'a StatePlace,
        key: &'a str,
        value: Option<Value>,
    ) -> BoxFuture<'a, Result<(), ToolError>> {
        let mut rows = self.0.lock().unwrap();
        match value {
            Some(value) => rows.insert((place.clone(), key.to_owned()), value),
            None => rows.remove(&(place.clone(), key.to_owned())),
        };
        Box::pin(std::future::ready(Ok(())))
    }
}

/// Counts its calls.
#[tool]
async fn count(state: &ConversationState) -> Result<u64, ToolError> {
    let before = state
        .get("count")
        .await?
        .and_then(|value| value.as_u64())
        .unwrap_or(0);
    state.set("count", before + 1).await?;
    Ok(before + 1)
}

// S0-11, S1-20: each conversation of each workspace has its own state.
#[tokio::test]
async fn state_belongs_to_one_conversation_of_one_workspace() {
    let store: Arc<dyn StateStore> = Arc::new(Rows(Mutex::default()));
    let tools = toolset![count];
    let call = async |workspace: &str, conversation: &str| {
        let cx = ToolContext::builder()
            .workspace(workspace)
            .conversation(conversation)
            .state(Arc::clone(&store))
            .build();
        tools
            .call(ToolCall::new("1", "count", "{}"), &cx)
            .await
            .model_text()
    };
    assert_eq!(call("acme", "c-1").await, "1");
    assert_eq!(call("acme", "c-1").await, "2");
    assert_eq!(call("acme", "c-2").await, "1");
    assert_eq!(
        call("globex", "c-1").await,
        "1",
        "a different workspace has its own state"
    );
}

/// Polls a future once.
fn once<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(Waker::noop()))
}

// S0-13: cancelling ends a waiting tool with a `cancelled` result.
#[tokio::test]
async fn cancelling_ends_a_waiting_tool() {
    /// Waits until it is cancelled.
    #[tool]
    async fn wait() -> Result<u32, ToolError> {
        std::future::pending().await
    }
    let token = CancellationToken::new();
    let cx = ToolContext::builder().cancellation(token.clone()).build();
    let tools = toolset![wait];
    let mut call = Box::pin(tools.call(ToolCall::new("1", "wait", "{}"), &cx));
    assert!(once(&mut call).is_pending());
    token.cancel();
    let Poll::Ready(result) = once(&mut call) else {
        panic!("the call did not end at the next poll");
    };
    assert_eq!(
        result.error().map(ToolError::kind),
        Some(ErrorKind::Cancelled)
    );
}

struct Table;

impl ResolveInstance for Table {
    fn resolve<'a>(&'a self, slug: &'a InstanceSlug) -> BoxFuture<'a, Result<String, ToolError>> {
        Box::pin(async move {
            match slug.as_str() {
                "acme" => Ok("67e55044-10b1-426f-9247-bb680e5fe0c8".to_owned()),
                other => Err(ToolError::new(format!("there is no instance `{other}`"))),
            }
        })
    }
}

// S1-13, S1-71: an instance is named by its slug of lower-case letters, digits and `-`; its UUID is resolved on demand.
#[tokio::test]
async fn an_instance_is_named_by_its_slug_and_resolved_on_demand() {
    for wrong in [
        "",
        "Acme",
        "a b",
        "-a",
        "a_b",
        "_a",
        "ä",
        "a.b",
        &"a".repeat(64),
    ] {
        assert_eq!(
            wrong.parse::<InstanceSlug>(),
            Err(SlugError::Malformed),
            "{wrong}"
        );
    }
    for uuid in [
        "67e55044-10b1-426f-9247-bb680e5fe0c8",
        "67e5504410b1426f9247bb680e5fe0c8",
    ] {
        assert_eq!(uuid.parse::<InstanceSlug>(), Err(SlugError::Uuid));
    }
    let slug: InstanceSlug = "acme".parse().unwrap();
    let cx = ToolContext::builder()
        .instance(&slug)
        .instances(Table)
        .build();
    assert_eq!(cx.workspace(), Some("acme"));
    let uuid = cx.get::<Instances>().unwrap().resolve().await.unwrap();
    assert_eq!(uuid, "67e55044-10b1-426f-9247-bb680e5fe0c8");
}

fn picture(name: &str) -> Attachment {
    Attachment {
        kind: AttachmentKind::Image,
        mime: "image/png".to_owned(),
        filename: Some(name.to_owned()),
        body: AttachmentBody::Data(Arc::from(*b"png")),
    }
}

/// Judges whether a picture shows a bill.
#[tool]
fn verify_document(
    files: &Attachments,
    keys: &ApiKeys,
    cx: &ToolContext,
    /// The index of the attachment, counted from 0.
    #[arg(default = 0)]
    attachment_index: u32,
) -> Result<String, ToolError> {
    let file = files.at(attachment_index as usize)?;
    let key = keys.get(cx.model_provider().unwrap_or("openai"))?;
    let name = file.filename.as_deref().unwrap_or("it");
    Ok(format!(
        "{name} was judged with a key of {} bytes",
        key.expose_secret().len()
    ))
}

// S1-17: a tool reads the attachments of the current message by position, never the attachments of an earlier message.
#[tokio::test]
async fn attachments_of_earlier_messages_are_hidden() {
    let tools = toolset![verify_document];
    let ask = async |cx: &ToolContext, arguments: &str| {
        tools
            .call(ToolCall::new("1", "verify_document", arguments), cx)
            .await
    };
    let turn = |files| {
        ToolContext::builder()
            .attachments(files)
            .api_key("openai", SecretString::from("sk-instance"))
            .build()
    };

    let first = turn(vec![picture("a.png"), picture("b.png")]);
    assert_eq!(
        ask(&first, r#"{"attachment_index":1}"#).await.model_text(),
        "b.png was judged with a key of 11 bytes"
    );
    assert_eq!(
        ask(&first, r#"{"attachment_index":2}"#).await.model_text(),
        "there is no attachment 2, the message has the attachments 0 to 1"
    );
    let second = turn(Vec::new());
    assert_eq!(
        ask(&second, "{}").await.model_text(),
        "the message has no attachments"
    );
}

/// A model behind HTTP on the loopback interface. It accepts the keys `key-of-acme` and `key-of-globex`, and records each request.
struct ModelServer {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
}

impl ModelServer {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&requests);
        // The thread ends with the test's process.
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut request = String::new();
                let mut lines = BufReader::new(stream.try_clone().unwrap());
                while lines.read_line(&mut request).unwrap() > 2 {}
                let knows =
                    |key: &str| request.contains(&format!("authorization: Bearer {key}\r\n"));
                let (status, body) = if knows("key-of-acme") {
                    ("200 OK", "a bill, paid for by acme")
                } else if knows("key-of-globex") {
                    ("200 OK", "a bill, paid for by globex")
                } else {
                    ("401 Unauthorized", "unknown key")
                };
                kept.lock().unwrap().push(request);
                let length = body.len();
                write!(
                    stream,
                    "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
                )
                .unwrap();
            }
        });
        Self { address, requests }
    }
}

/// The address of the model's server.
#[derive(Clone)]
struct ModelAddress(SocketAddr);
tool_core::host_value!(ModelAddress, tool_core::Effect::EXTERNAL);

/// Asks a model whether the first picture shows a bill.
#[tool]
fn judge_document(
    files: &Attachments,
    keys: &ApiKeys,
    model: &ModelAddress,
    cx: &ToolContext,
) -> Result<String, ToolError> {
    let file = files.at(0)?;
    let key = keys.get(cx.model_provider().unwrap_or("openai"))?;
    let mut stream = TcpStream::connect(model.0).map_err(ToolError::foreign)?;
    let name = file.filename.as_deref().unwrap_or("it");
    let key = key.expose_secret();
    write!(
        stream,
        "POST /judge/{name} HTTP/1.1\r\nhost: model\r\nauthorization: Bearer {key}\r\n\r\n"
    )
    .map_err(ToolError::foreign)?;
    let mut answer = String::new();
    stream
        .read_to_string(&mut answer)
        .map_err(ToolError::foreign)?;
    match answer.split_once("\r\n\r\n") {
        Some((head, body)) if head.starts_with("HTTP/1.1 200") => Ok(body.to_owned()),
        _ => Err(ToolError::new(answer)),
    }
}

const PROVIDERS: [&str; 2] = ["openai", "acme-ai"];

// S1-18: a tool that calls a model uses the API key of its context; keys in the environment are neither used nor needed.
#[test]
fn model_is_called_only_with_the_key_of_the_context() {
    let child = |environment: &[(&str, &str)]| {
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "services::child_calls_a_model", "--ignored"])
            .env_clear()
            .envs(environment.iter().copied())
            .output()
            .unwrap();
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            output.status.success() && stdout.contains("1 passed"),
            "{stdout}"
        );
    };
    child(&[]);
    child(&[
        ("OPENAI_API_KEY", "key-of-globex"),
        ("ACME_AI_API_KEY", "key-of-globex"),
        ("TOOL_SECRET_OPENAI", "key-of-globex"),
    ]);
}

#[tokio::test]
#[ignore = "other tests start it as a child process"]
async fn child_calls_a_model() {
    let server = ModelServer::start();
    let tools = toolset![judge_document];
    let call = || ToolCall::new("1", "judge_document", "{}");
    let instance = |provider: &str| {
        ToolContext::builder()
            .model_provider(provider)
            .attachments(vec![picture("bill.png")])
            .with(ModelAddress(server.address))
    };
    for provider in PROVIDERS {
        for owner in ["acme", "globex"] {
            let key = SecretString::from(format!("key-of-{owner}"));
            let cx = instance(provider).api_key(provider, key).build();
            let result = tools.call(call(), &cx).await;
            assert_eq!(
                result.model_text(),
                format!("a bill, paid for by {owner}"),
                "{provider}"
            );
            let seen = server.requests.lock().unwrap().pop().unwrap();
            assert!(seen.starts_with("POST /judge/bill.png "), "{seen}");
        }
        // Without a key for the provider, no model is called, even if the environment or another provider has keys.
        let others = SecretString::from("key-of-globex");
        for cx in [
            instance(provider).build(),
            instance(provider).api_key("another", others).build(),
        ] {
            let result = tools.call(call(), &cx).await;
            let error = result.error().expect("a call without a key fails");
            assert_eq!(error.kind(), ErrorKind::Unavailable);
            let text = error.operator_text();
            assert!(text.contains("API key"), "{text}");
        }
    }
    assert!(server.requests.lock().unwrap().is_empty());
}

// S1-20: the history is first filtered by role, and then cut to the newest messages.
#[test]
fn history_is_filtered_by_role_before_it_is_truncated() {
    let message = |speaker, text: &str| HistoryMessage {
        speaker,
        text: text.to_owned(),
    };
    let cx = ToolContext::builder()
        .history(vec![
            message(HistoryRole::User, "1"),
            message(HistoryRole::Assistant, "2"),
            message(HistoryRole::User, "3"),
            message(HistoryRole::Tool, "4"),
            message(HistoryRole::User, "now"),
        ])
        .build();
    let history = cx.get::<History>().unwrap();
    let texts = |speaker, count| {
        history
            .recent(speaker, count)
            .map(|message| message.text.as_str())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        texts(Some(HistoryRole::User), 2),
        ["3", "now"],
        "the message of this turn is included"
    );
    assert_eq!(texts(None, 0), ["1", "2", "3", "4", "now"]);
    assert_eq!(texts(Some(HistoryRole::Tool), 9), ["4"]);
}

struct Consents;

impl TokenSource for Consents {
    fn token<'a>(
        &'a self,
        cx: &'a ToolContext,
        service: &'a str,
    ) -> BoxFuture<'a, Result<OAuthToken, ToolError>> {
        Box::pin(async move {
            Ok(if cx.user() == Some("ann") {
                OAuthToken::Ready(SecretString::from("token-of-ann"))
            } else {
                OAuthToken::ActionRequired {
                    url: format!("https://consent.invalid/{service}"),
                    message: "the user has to connect the calendar".to_owned(),
                }
            })
        })
    }
}

// S1-20: a tool gets a token, or the action that the user has to take first.
#[tokio::test]
async fn oauth_returns_a_token_or_the_required_user_action() {
    let of = |user: &str| {
        ToolContext::builder()
            .user(user)
            .oauth(Arc::new(Consents))
            .build()
            .get::<OAuth>()
            .unwrap()
    };
    assert_eq!(
        of("ann").token("calendar").await.unwrap().expose_secret(),
        "token-of-ann"
    );
    let error = of("bob").token("calendar").await.unwrap_err();
    assert_eq!(
        error.model_text(),
        "action_required: the user has to connect the calendar (https://consent.invalid/calendar)"
    );
}
