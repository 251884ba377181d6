//! Prompt tools: agents that run within a call.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Deserialize;
use serde_json::{Value, json};
use tool_agent::runtime::{AgentArguments, AgentEntry, AgentRuntime, PromptTool, RuntimeError};
use tool_core::Reply;
use tool_core::prelude::*;
use tool_core::store::{
    ChildChange, ChildFilter, ChildKind, ChildMessage, ChildOpened, ChildRow, ChildSender,
    ChildState, ChildStore, EndedSession, MemoryStore, NewMessage, Role, Scope, SessionEnd,
    StoreError, StoreFuture, ThreadId,
};
use tool_core::turn::{ModelMessage, Outcome};

use crate::support::{Host, Log, agent, calls, context, in_conversation, results, text, thinking};

const SENTINEL: &str = "sentinel-0815";

/// Looks up a word.
#[tool(read_only)]
fn look_up(
    /// The word.
    word: String,
) -> Result<String, ToolError> {
    if word == "broken" {
        return Err(ToolError::new(format!("no entry {SENTINEL}")));
    }
    Ok(format!("{word} is a word"))
}

/// The arguments of the prompt.
#[derive(Deserialize, StrictSchema)]
#[expect(dead_code, reason = "only the schema is used")]
struct Topic {
    /// The topic: a text.
    topic: String,
    /// The details.
    details: Details,
}

/// Details of a topic.
#[derive(Deserialize, StrictSchema)]
#[expect(dead_code, reason = "only the schema is used")]
struct Details {
    /// The depth.
    depth: i32,
}

fn arguments() -> Value {
    json!({"topic": "fjords", "details": {"depth": 2}})
}

/// Returns a runtime in which `chief` calls the prompt `summary` once.
fn runtime(host: &Host, log: &Log, tool: PromptTool, replies: Vec<ModelMessage>) -> AgentRuntime {
    let chief = agent(
        "chief",
        log,
        [calls([("summary", arguments())]), text("Done.")],
    );
    let summary = agent("summary", log, replies).tools(|_| toolset![look_up]);
    host.runtime()
        .agent(AgentEntry::new(chief.build().unwrap()).prompt(tool))
        .agent(
            AgentEntry::new(summary.build().unwrap())
                .expose("Summarizes a topic.")
                .arguments::<Topic>(),
        )
        .build()
        .unwrap()
}

fn look_ups(words: &[&str]) -> ModelMessage {
    let calls = words.iter().zip(0..).map(|(word, at)| {
        ToolCall::new(
            format!("call_{at}"),
            "look_up",
            json!({"word": word}).to_string(),
        )
    });
    ModelMessage::calls(calls)
}

// S4-22, S4-23, S4-24: each of the eight combinations of the flags decides which parts of the nested run the model and the client read.
#[tokio::test]
async fn flags_decide_what_the_result_contains() {
    let mut golden = String::new();
    for flags in 0..8 {
        let [with_text, with_calls, with_errors] = [4, 2, 1].map(|bit| flags & bit != 0);
        for words in [["fjord", "sea"], ["fjord", "broken"]] {
            let (host, log) = (Host::new(), Log::default());
            let tool = PromptTool::new("summary")
                .include_text_response(with_text)
                .include_tool_calls(with_calls)
                .include_errors(with_errors);
            let runtime = runtime(
                &host,
                &log,
                tool,
                vec![look_ups(&words), text("Deep water.")],
            );
            let cx = context().build();
            runtime.respond("chief", "Go.", &cx).await.unwrap();
            let result = results(&host, &cx).await.remove(0);
            let payload = result.output.as_ref().unwrap().get();
            assert_eq!(payload.contains("Deep water"), with_text);
            assert_eq!(
                payload.contains("look_up"),
                with_calls || with_errors && words[1] == "broken"
            );
            assert_eq!(
                payload.contains(SENTINEL),
                with_errors && words[1] == "broken"
            );
            assert_eq!(
                result.text.contains(SENTINEL),
                with_errors && words[1] == "broken"
            );
            let _ = writeln!(
                golden,
                "text {with_text}, calls {with_calls}, errors {with_errors}\n{payload}\n{}\n",
                result.text
            );
        }
    }
    assert_eq!(golden, include_str!("flags.txt"), "{golden}");
}

// S4-25: a failed call of the prompt makes the result an error that lists each failure, and a result without any part has a neutral text.
#[tokio::test]
async fn failures_are_listed_and_an_empty_result_has_a_text() {
    let (host, log) = (Host::new(), Log::default());
    let replies = vec![look_ups(&["broken", "fjord", "broken"]), text("Sorry.")];
    let runtime_of = runtime(
        &host,
        &log,
        PromptTool::new("summary").include_tool_calls(false),
        replies,
    );
    let cx = context().build();
    runtime_of.respond("chief", "Go.", &cx).await.unwrap();
    let result = results(&host, &cx).await.remove(0);
    let payload: Value = serde_json::from_str(result.output.as_ref().unwrap().get()).unwrap();
    assert_eq!(payload["status"], "error");
    assert_eq!(
        payload["error"],
        format!("look_up: no entry {SENTINEL}\nlook_up: no entry {SENTINEL}")
    );

    let (host, log) = (Host::new(), Log::default());
    let tool = PromptTool::new("summary")
        .include_text_response(false)
        .include_tool_calls(false);
    let runtime = runtime(&host, &log, tool, vec![text("Deep water.")]);
    runtime.respond("chief", "Go.", &cx).await.unwrap();
    let result = results(&host, &cx).await.remove(0);
    assert_eq!(result.text, "The agent finished without a text.");
    assert!(!result.is_error());
}

// S4-26: the first message is the value of the property: a string unchanged, any other value as JSON. Without a property, all arguments are the message.
#[tokio::test]
async fn first_message_is_a_property_of_the_arguments() {
    for (tool, first) in [
        (
            PromptTool::new("summary").init_user_message("topic"),
            "fjords",
        ),
        (
            PromptTool::new("summary").init_user_message("details"),
            r#"{"depth":2}"#,
        ),
        (
            PromptTool::new("summary"),
            r#"{"details":{"depth":2},"topic":"fjords"}"#,
        ),
    ] {
        let (host, log) = (Host::new(), Log::default());
        let runtime = runtime(&host, &log, tool, vec![text("Deep water.")]);
        runtime
            .respond("chief", "Go.", &context().build())
            .await
            .unwrap();
        let message = log.of("summary")[0].last(Role::User);
        let read = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_else(|_| text.into());
        assert_eq!(read(&message), read(first));
    }
}

// S4-28: the arguments are checked before the agent runs, and the messages of the prompt belong to the call in the parent's thread.
#[tokio::test]
async fn messages_of_a_prompt_belong_to_its_call() {
    let (host, log) = (Host::new(), Log::default());
    let chief = agent(
        "chief",
        &log,
        [
            calls([("summary", json!({"topic": 7}))]),
            calls([("summary", arguments())]),
            text("Done."),
        ],
    );
    let summary = agent("summary", &log, [text("Deep water.")]);
    let runtime = host
        .runtime()
        .agent(AgentEntry::new(chief.build().unwrap()).prompt(PromptTool::new("summary")))
        .agent(
            AgentEntry::new(summary.build().unwrap())
                .expose("Summarizes.")
                .arguments::<Topic>(),
        )
        .build()
        .unwrap();
    let cx = context().build();
    runtime.respond("chief", "Go.", &cx).await.unwrap();
    let answers = results(&host, &cx).await;
    assert!(
        answers[0].is_error() && answers[0].text.contains("/topic"),
        "{}",
        answers[0].text
    );
    assert!(!answers[1].is_error());
    assert_eq!(log.of("summary").len(), 1);

    let rows = runtime.children(&cx).await.unwrap();
    assert_eq!(rows.len(), 1);
    let messages = host.turns().messages(&cx, None).await.unwrap();
    let place = messages.iter().filter_map(|message| message.answers).nth(1);
    assert_eq!(rows[0].call, place);
    assert_eq!((rows[0].kind, rows[0].depth), (ChildKind::Prompt, 1));
    assert_eq!(
        (rows[0].state, rows[0].delivered),
        (ChildState::Terminated, 1)
    );
    assert_eq!(rows[0].parent, cx.thread().unwrap());
    let inner = in_conversation(rows[0].thread.conversation());
    let inner = host.turns().messages(&inner, None).await.unwrap();
    let roles: Vec<Role> = inner.iter().map(|message| message.role).collect();
    assert_eq!(roles, [Role::User, Role::Assistant]);
    // A prompt ends with its call, so the host cannot terminate it.
    let reference = rows[0].thread.conversation();
    let refused = runtime.terminate(reference, &cx).await;
    assert!(matches!(refused, Err(RuntimeError::UnknownChild(_))));
    // No request of the parent contains the messages of the prompt.
    let last = log.of("chief").pop().unwrap();
    assert_eq!(last.texts(Role::User), ["Go."]);
}

/// Sends the summary.
#[tool(destructive, approval)]
fn publish() -> &'static str {
    "published"
}

// If a call of the prompt waits for an approval, the turn of the parent waits, and the approved call runs once.
#[tokio::test]
async fn prompt_waits_for_an_approval_of_its_call() {
    let (host, log) = (Host::new(), Log::default());
    let chief = agent(
        "chief",
        &log,
        [
            calls([("summary", json!({"message": "Publish."}))]),
            text("Done."),
        ],
    );
    let summary = agent(
        "summary",
        &log,
        [calls([("publish", json!({}))]), text("It is published.")],
    );
    let summary = summary.tools(|_| toolset![publish]).build().unwrap();
    let runtime = host
        .runtime()
        .agent(AgentEntry::new(chief.build().unwrap()).prompt(PromptTool::new("summary")))
        .agent(AgentEntry::new(summary).expose("Summarizes."))
        .build()
        .unwrap();
    let cx = context().build();
    let outcome = runtime.respond("chief", "Go.", &cx).await.unwrap();
    let Outcome::Waiting(tickets) = outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!(tickets.len(), 1);
    assert_eq!(tickets[0].tool, "publish");
    // The run waits until a person has answered.
    let again = runtime.drive("chief", &cx).await.unwrap();
    assert!(matches!(again, Outcome::Waiting(_)));

    let approvals = host.gate.approvals().unwrap();
    let tools = toolset![publish].through(&host.gate);
    let (workspace, token) = (cx.own_workspace(), &tickets[0].token);
    let answer = approvals.answer(&workspace, &tools, token, Reply::Approve, "olga", None);
    answer.await.unwrap();
    let outcome = runtime.drive("chief", &cx).await.unwrap();
    assert!(matches!(outcome, Outcome::Answered(text) if text == "Done."));
    let result = results(&host, &cx).await.remove(0);
    assert!(
        result.text.contains("publish({}) -> published"),
        "{}",
        result.text
    );
    // The model of the prompt got one request for each of its two steps.
    assert_eq!(log.of("summary").len(), 2);
}

// The arguments of the call are a host value for the instructions and the tools of the prompt.
#[tokio::test]
async fn prompt_reads_its_arguments() {
    let (host, log) = (Host::new(), Log::default());
    let chief = agent(
        "chief",
        &log,
        [calls([("summary", arguments())]), text("Done.")],
    );
    let summary = thinking("summary", &log, |request| {
        Ok(text(&request.texts(Role::System)[0]))
    });
    let summary = summary.instructions_of(|cx| {
        let arguments: AgentArguments = cx.get()?;
        Ok(format!("Depth {}.", arguments.get()["details"]["depth"]))
    });
    let runtime = host
        .runtime()
        .agent(AgentEntry::new(chief.build().unwrap()).prompt(PromptTool::new("summary")))
        .agent(
            AgentEntry::new(summary.build().unwrap())
                .expose("Summarizes.")
                .arguments::<Topic>(),
        )
        .build()
        .unwrap();
    let cx = context().build();
    runtime.respond("chief", "Go.", &cx).await.unwrap();
    assert_eq!(results(&host, &cx).await[0].text, "Depth 2.");
}

// S4-27: the property contains one path or a list of paths of files of the thread, and a path that does not exist is reported.
#[tokio::test]
async fn files_are_passed_by_path() {
    /// The arguments of the prompt.
    #[derive(Deserialize, StrictSchema)]
    #[expect(dead_code, reason = "only the schema is used")]
    struct One {
        /// The task.
        task: String,
        /// The path of a file.
        file: String,
    }
    /// The arguments of the prompt.
    #[derive(Deserialize, StrictSchema)]
    #[expect(dead_code, reason = "only the schema is used")]
    struct Many {
        /// The task.
        task: String,
        /// The paths of files.
        file: Vec<String>,
    }

    let store = std::sync::Arc::new(object_store::memory::InMemory::new());
    let cx = context().build();
    let files = tool_agent::files::ThreadFiles::new(store.clone(), cx.thread().unwrap());
    let path = files.write("report.pdf", b"report".to_vec()).await.unwrap();
    for (many, value) in [
        (false, json!(path)),
        (true, json!([path, "/attachments/bogus.pdf"])),
    ] {
        let (host, log) = (Host::new(), Log::default());
        let call = calls([("summary", json!({"task": "Read it.", "file": value}))]);
        let chief = agent("chief", &log, [call, text("Done.")]);
        let summary = agent("summary", &log, [text("Read.")]).build().unwrap();
        let summary = AgentEntry::new(summary).expose("Summarizes.");
        let tool = PromptTool::new("summary")
            .init_user_message("task")
            .init_attachments("file");
        let runtime = host
            .runtime()
            .files(store.clone())
            .agent(AgentEntry::new(chief.build().unwrap()).prompt(tool))
            .agent(if many {
                summary.arguments::<Many>()
            } else {
                summary.arguments::<One>()
            })
            .build()
            .unwrap();
        runtime.respond("chief", "Go.", &cx).await.unwrap();
        let first = log.of("summary")[0].last(Role::User);
        assert_eq!(first, format!("Read it.\nattachment: {path}"));
        let result = results(&host, &cx).await.remove(0);
        assert_eq!(
            result
                .text
                .contains("skipped attachment, which was not passed on: /attachments/bogus.pdf"),
            many,
            "{}",
            result.text
        );
    }
}

/// A store of child threads in which the ends of sessions fail while a switch is on.
#[derive(Clone)]
struct Unending(MemoryStore, Arc<AtomicBool>);

impl ChildStore for Unending {
    fn open_child(
        &self,
        row: ChildRow,
        most: Option<u32>,
        messages: Vec<NewMessage>,
    ) -> StoreFuture<'_, ChildOpened> {
        self.0.open_child(row, most, messages)
    }

    fn child<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, Option<ChildRow>> {
        self.0.child(thread)
    }

    fn children<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a ChildFilter,
    ) -> StoreFuture<'a, Vec<ChildRow>> {
        self.0.children(scope, filter)
    }

    fn message_child(
        &self,
        message: NewMessage,
        sender: ChildSender,
    ) -> StoreFuture<'_, ChildMessage> {
        self.0.message_child(message, sender)
    }

    fn remove_child<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, bool> {
        self.0.remove_child(thread)
    }

    fn change_child<'a>(
        &'a self,
        thread: &'a ThreadId,
        change: ChildChange,
    ) -> StoreFuture<'a, Option<ChildRow>> {
        self.0.change_child(thread, change)
    }

    fn end_session<'a>(
        &'a self,
        thread: &'a ThreadId,
        end: EndedSession,
    ) -> StoreFuture<'a, SessionEnd> {
        if self.1.load(Ordering::SeqCst) {
            return Box::pin(async { Err(StoreError::Unavailable("the network is down".into())) });
        }
        self.0.end_session(thread, end)
    }
}

// If the end of a prompt cannot be stored, its answer is not lost, and the next drive of the conversation ends its row.
#[tokio::test]
async fn row_of_a_prompt_whose_end_was_not_stored_is_ended_by_the_next_drive() {
    let (host, log) = (Host::new(), Log::default());
    let fails = Arc::new(AtomicBool::new(true));
    let chief = agent(
        "chief",
        &log,
        [
            calls([("summary", json!({"message": "Go."}))]),
            text("Done."),
        ],
    );
    let runtime = host
        .runtime()
        .children(Unending(host.store.clone(), fails.clone()))
        .agent(AgentEntry::new(chief.build().unwrap()).prompt(PromptTool::new("summary")))
        .agent(
            AgentEntry::new(agent("summary", &log, [text("Short.")]).build().unwrap())
                .expose("Summarizes."),
        )
        .build()
        .unwrap();
    let cx = context().build();
    let outcome = runtime.respond("chief", "Go.", &cx).await.unwrap();
    assert!(matches!(outcome, Outcome::Answered(_)), "{outcome:?}");
    let result = results(&host, &cx).await.pop().unwrap();
    assert!(result.text.contains("Short."), "{result:?}");
    let state = async || runtime.children(&cx).await.unwrap()[0].state;
    assert_eq!(state().await, ChildState::Running);

    fails.store(false, Ordering::SeqCst);
    runtime.drive("chief", &cx).await.unwrap();
    assert_eq!(state().await, ChildState::Terminated);
    assert_eq!(log.of("summary").len(), 1);
}
