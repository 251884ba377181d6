//! Context windows in runs of an agent and of the agent loop.

use futures::future::{BoxFuture, FutureExt as _, pending};
use tool_agent::agent::Agent;
use tool_agent::window::{Compaction, MemorySummaryStore, Windowed};
use tool_core::ErrorKind;
use tool_core::prelude::*;
use tool_core::store::{
    MemoryStore, Role, RunFilter, RunStore, Scope, ThreadId, ThreadStore, Usage,
};
use tool_core::turn::{Model, ModelMessage, ModelRequest, Outcome, TurnError, Turns};

use super::support::{Recorder, Unreported, compaction, usage, window};

/// Repeats a text.
#[tool(read_only)]
fn repeat(
    /// The number of times.
    times: u32,
) -> String {
    "word ".repeat(times as usize)
}

fn context(conversation: &str) -> ToolContext {
    ToolContext::builder()
        .workspace("acme")
        .conversation(conversation)
        .build()
}

// An agent with a window answers many messages. The instructions are in every request, and the stored thread equals the thread of an agent without a
// window, except for its times.
#[tokio::test]
async fn thread_of_an_agent_is_unchanged() {
    let model = Recorder::with(|request| {
        let last = request.messages.last().unwrap();
        Ok(match last.role {
            Role::User => ModelMessage::calls([ToolCall::new("c", "repeat", r#"{"times":40}"#)]),
            _ => ModelMessage::text("done"),
        })
    });
    let summariser = Recorder::text("They repeated.");
    let store = MemorySummaryStore::default();
    let window = window(2_800)
        .compact(compaction(&summariser).store(store))
        .build()
        .unwrap();
    let windowed = Agent::builder("clerk", Windowed::new(model.clone(), window));
    let plain = Agent::builder("clerk", model.clone());
    let mut threads = Vec::new();
    for builder in [windowed, plain] {
        let agent = builder
            .instructions("Be brief.")
            .tools(|_| toolset![repeat])
            .build()
            .unwrap();
        let store = MemoryStore::default();
        let (turns, cx) = (Turns::new(store.clone()), context("main"));
        for at in 0..20 {
            let outcome = agent
                .respond(format!("Message {at}."), &turns, &cx)
                .await
                .unwrap();
            assert!(matches!(outcome, Outcome::Answered(text) if text == "done"));
        }
        let thread = ThreadStore::read(&store, &ThreadId::new("acme", "main").unwrap(), None).await;
        let contents = thread
            .unwrap()
            .into_iter()
            .map(|it| (it.seq, it.role, it.answers, it.content));
        threads.push(contents.collect::<Vec<_>>());
    }
    assert_eq!(threads[0], threads[1]);
    assert_eq!(threads[0].len(), 80);
    assert!(
        (1..20).contains(&summariser.count()),
        "{}",
        summariser.count()
    );
    for seen in &model.seen()[..40] {
        assert_eq!(seen.contents()[0], "\"Be brief.\"");
        let size: usize = seen.contents().iter().map(|it| it.len()).sum();
        assert!(size <= 2_800, "{size}");
    }
}

// The tokens of the summariser count towards the run, and the stored usage of a message is the usage of its own request.
#[tokio::test]
async fn tokens_of_the_summariser_count_towards_the_run() {
    let model = Recorder::with(|request| {
        let size: usize = request.messages.iter().map(|it| it.content.len()).sum();
        let mut message = ModelMessage::text("done");
        message.usage = Some(usage(size as u64, 1));
        Ok(message)
    });
    let summariser = Recorder::with(|_| {
        let mut message = ModelMessage::text("They repeated.");
        message.usage = Some(usage(5_000, 50));
        Ok(message)
    });
    let window = window(2_000)
        .keep_rounds(1)
        .trigger_percent(60)
        .target_percent(40);
    let compaction = compaction(&summariser);
    let window = window.compact(compaction).build().unwrap();
    let store = MemoryStore::default();
    let (turns, cx) = (Turns::new(store.clone()), context("main"));
    let mut windowed = Windowed::new(model, window);
    for _ in 0..3 {
        let text = "x".repeat(490);
        turns
            .respond(text, &mut windowed, |_| toolset![], &cx)
            .await
            .unwrap();
    }
    assert_eq!(summariser.count(), 1);
    let runs = RunStore::list_runs(&store, Scope::All, &RunFilter::default())
        .await
        .unwrap();
    let spent: u64 = runs
        .iter()
        .map(|run| run.progress.usage.total_tokens())
        .sum();
    let messages = turns.messages(&cx, None).await.unwrap();
    let said = messages.iter().filter(|it| it.role == Role::Assistant);
    let said = said.map(|it| serde_json::from_str::<ModelMessage>(&it.content).unwrap());
    let reported: u64 = said.map(|it| it.usage.unwrap().total_tokens()).sum();
    assert_eq!(spent, reported + 5_050);
}

// If a thread cannot be shortened enough, the run ends with both sizes in the error, and the message of the user stays stored.
#[tokio::test]
async fn too_large_message_ends_the_run_before_the_request() {
    let model = Recorder::text("never");
    let window = window(500).build().unwrap();
    let (turns, cx) = (Turns::new(MemoryStore::default()), context("main"));
    let mut windowed = Windowed::new(model.clone(), window);
    let outcome = turns
        .respond("x".repeat(600), &mut windowed, |_| toolset![], &cx)
        .await;
    let Err(TurnError::Model(error)) = outcome else {
        panic!("{outcome:?}");
    };
    assert!(
        error
            .operator_text()
            .contains("about 602 tokens, and a request may have 500")
    );
    assert_eq!(model.count(), 0);
    assert_eq!(turns.messages(&cx, None).await.unwrap().len(), 1);
}

// A request that the provider refuses as too long is sent again once, with a shorter view. A second refusal ends the run.
#[tokio::test]
async fn refused_request_is_shortened_once() {
    let summariser = Recorder::text("They repeated.");
    for (limit, requests) in [(2_000, 2), (100, 2)] {
        for compacts in [false, true] {
            let model = Recorder::with(move |request| {
                let size: usize = request.messages.iter().map(|it| it.content.len()).sum();
                if size > limit {
                    // The error text of `HttpModel`.
                    let text =
                        "m: the conversation is longer than the model's context window (400)";
                    let error =
                        ToolError::of(ErrorKind::Unavailable, "the request to the model failed");
                    return Err(error.operator(text));
                }
                Ok(ModelMessage::text("done"))
            });
            let mut window = window(100_000).keep_rounds(1);
            if compacts {
                window = window.compact(compaction(&summariser));
            }
            let unreported = Unreported::new(&model);
            let mut windowed = Windowed::new(unreported, window.build().unwrap());
            let mut thread = super::support::Thread::new("main");
            for _ in 0..6 {
                thread.turn(120);
            }
            thread.user("last");
            let answer = super::support::ask(&mut windowed, &thread).await;
            assert_eq!(answer.is_ok(), limit == 2_000, "{answer:?}");
            assert_eq!(model.count(), requests);
            // The tokens of the refused request count, too.
            let tokens = windowed.unsettled_usage().map(|it| it.input_tokens);
            assert_eq!(tokens, Some(2 * Unreported::TOKENS));
            let seen = model.seen();
            assert_eq!(seen[0].messages, thread.messages);
            assert!(seen[1].messages.len() < seen[0].messages.len());
            assert_eq!(seen[1].contents()[0].contains("They repeated."), compacts);
        }
    }
    // An error of a different class is returned at once.
    let model = Recorder::with(|_| Err(ToolError::new("overloaded")));
    let mut windowed = Windowed::new(model.clone(), window(100_000).build().unwrap());
    let mut thread = super::support::Thread::new("main");
    thread.user("Hello.");
    assert!(super::support::ask(&mut windowed, &thread).await.is_err());
    assert_eq!(model.count(), 1);
}

/// A model that uses tokens and does not answer.
#[derive(Clone)]
struct Silent;

impl Model for Silent {
    fn next<'a>(
        &'a mut self,
        _: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        pending().boxed()
    }

    fn interrupted(&mut self) -> Option<ModelMessage> {
        Some(ModelMessage::text("The text so far."))
    }

    fn unsettled_usage(&mut self) -> Option<Usage> {
        Some(usage(70, 7))
    }
}

// A run that is stopped while a summary is written stores no text of the model, and counts the tokens of the summariser.
#[tokio::test]
async fn stop_during_a_summary_stores_no_text() {
    let mut thread = super::support::Thread::new("main");
    for _ in 0..5 {
        thread.turn(100);
    }
    thread.user("last");
    let (roomy, tight) = (window(100_000), window(2_600));
    let compaction = || Compaction::new(Silent).most_summary_tokens(300);
    for (window, is_asked) in [(roomy, true), (tight, false)] {
        let window = window.keep_rounds(1).compact(compaction()).build().unwrap();
        let mut windowed = Windowed::new(Silent, window);
        let stopped = super::support::ask(&mut windowed, &thread).now_or_never();
        assert!(stopped.is_none());
        assert_eq!(windowed.interrupted().is_some(), is_asked);
        let tokens = windowed.unsettled_usage().map(|it| it.input_tokens);
        assert_eq!(tokens, Some(if is_asked { 70 } else { 140 }));
    }
}
