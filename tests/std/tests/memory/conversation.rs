//! The `search_conversation` tool.

use futures::future::BoxFuture;
use serde_json::{Value, json};
use tool_core::Gate;
use tool_core::prelude::*;
use tool_core::store::{MemoryStore, NewMessage, Role, ThreadId, ThreadStore, Timestamp};
use tool_core::turn::{Model, ModelMessage, ModelRequest, Outcome, Turns, UserMessage};
use tool_std::memory::{Memory, search_conversation};
use tool_store::SqliteStore;

use super::support::{Stores, call, contents, context_in};

async fn say(store: &impl ThreadStore, thread: &ThreadId, role: Role, text: &str) -> u64 {
    let content = match role {
        Role::User => serde_json::to_string(&UserMessage::from(text)),
        Role::Assistant => serde_json::to_string(&ModelMessage::text(text)),
        _ => serde_json::to_string(text),
    };
    let message = NewMessage {
        thread: thread.clone(),
        role,
        answers: None,
        follows: None,
        content: content.unwrap(),
        at: Timestamp::now(),
    };
    store.append(message).await.unwrap()
}

async fn search(cx: &ToolContext, arguments: Value) -> Value {
    call(cx, "search_conversation", arguments).await.unwrap()
}

async fn snippets(cx: &ToolContext, arguments: Value) -> Vec<String> {
    contents(&search(cx, arguments).await, "snippet")
}

fn threads() -> [ThreadId; 3] {
    [("acme", "main"), ("acme", "side"), ("umbrella", "main")]
        .map(|(workspace, conversation)| ThreadId::new(workspace, conversation).unwrap())
}

async fn roles_and_conversations_are_separate(store: impl Stores) {
    for thread in &threads() {
        let place = format!("{} {}", thread.workspace(), thread.conversation());
        say(&store, thread, Role::System, "tea of the system").await;
        say(
            &store,
            thread,
            Role::User,
            &format!("tea of the user in {place}"),
        )
        .await;
        say(
            &store,
            thread,
            Role::Assistant,
            &format!("tea of the model in {place}"),
        )
        .await;
        say(&store, thread, Role::User, "something else").await;
    }
    let memory = Memory::new(store);
    for thread in &threads() {
        let (workspace, conversation) = (thread.workspace().as_str(), thread.conversation());
        let cx = context_in(&memory, workspace, "a", conversation);
        let user = format!("tea of the user in {workspace} {conversation}");
        let model = format!("tea of the model in {workspace} {conversation}");
        let mut both = snippets(&cx, json!({ "query": "tea" })).await;
        both.sort();
        assert_eq!(both, [model.clone(), user.clone()]);
        for (role, expected) in [("user", &user), ("assistant", &model)] {
            let found = search(&cx, json!({ "query": "tea", "roles": [role] })).await;
            assert_eq!(contents(&found, "snippet"), std::slice::from_ref(expected));
            assert_eq!(found["results"][0]["role"], json!(role));
        }
        let all = json!({ "query": "tea", "roles": ["user", "assistant"], "limit": 1 });
        assert_eq!(search(&cx, all).await["count"], 1);
    }
    let empty = context_in(&memory, "acme", "a", "unknown");
    assert_eq!(search(&empty, json!({ "query": "tea" })).await["count"], 0);
}

// S2-30: the filter of roles excludes the other role, and only the current conversation is searched.
#[tokio::test]
async fn roles_and_conversations_are_separate_in_memory() {
    roles_and_conversations_are_separate(MemoryStore::default()).await;
}

// S2-30: on SQLite, the filter of roles excludes the other role, and only the current conversation is searched.
#[tokio::test]
async fn roles_and_conversations_are_separate_on_sqlite() {
    roles_and_conversations_are_separate(SqliteStore::in_memory().await.unwrap()).await;
}

// S2-30: the best message of a long conversation comes first, with the part around the word, its number and its time.
#[tokio::test]
async fn best_message_of_a_long_conversation_is_found() {
    let store = MemoryStore::default();
    let [thread, ..] = threads();
    let mut number = 0;
    for place in 0..1_300 {
        let text = match place {
            40 => format!(
                "{} the delivery address is Baker Street {}",
                "tea ".repeat(200),
                "milk ".repeat(200)
            ),
            700 => "我的地址在上海市中心".to_owned(),
            _ => format!("tea {place} and the weather"),
        };
        let said = say(&store, &thread, Role::User, &text).await;
        number = if place == 40 { said } else { number };
    }
    let cx = context_in(&Memory::new(store), "acme", "a", "main");
    let found = search(&cx, json!({ "query": "where is the delivery address?" })).await;
    let best = &found["results"][0];
    assert_eq!(
        (
            &best["message_id"],
            found["results"].as_array().unwrap().len()
        ),
        (&json!(number), 10)
    );
    let snippet = best["snippet"].as_str().unwrap();
    assert!(
        snippet.contains("the delivery address is Baker Street"),
        "{snippet}"
    );
    assert!(snippet.starts_with('…') && snippet.ends_with('…') && snippet.chars().count() == 300);
    assert!(best["created_at"].as_str().unwrap().ends_with('Z'));
    assert_eq!(
        snippets(&cx, json!({ "query": "上海" })).await,
        ["我的地址在上海市中心"]
    );
    for nothing in ["*", "\"", "unknown words"] {
        assert_eq!(search(&cx, json!({ "query": nothing })).await["count"], 0);
    }
}

/// A model that searches its conversation for "delivery address" once, and repeats the result.
struct Searcher;

impl Model for Searcher {
    fn next<'a>(
        &'a mut self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        let last = request.messages.last().unwrap();
        let message = if last.role == Role::Tool {
            let result: Value = serde_json::from_str(&last.content).unwrap();
            ModelMessage::text(result["text"].as_str().unwrap())
        } else {
            let arguments = json!({ "query": "delivery address" }).to_string();
            let call = ToolCall::new("call_0", "search_conversation", arguments);
            let text = "I search for the delivery address.".to_owned();
            ModelMessage {
                text,
                ..ModelMessage::calls([call])
            }
        };
        Box::pin(async { Ok(message) })
    }
}

// S2-30: within a turn, the search finds earlier messages, and not the question that the model answers or its own call. Two conversations do not mix.
#[tokio::test]
async fn current_turn_is_not_searched() {
    let store = SqliteStore::in_memory().await.unwrap();
    let gate = Gate::builder().ledger(store.clone()).build();
    let memory = Memory::new(store.clone());
    let [main, side, _] = threads();
    say(
        &store,
        &main,
        Role::User,
        "My delivery address is Baker Street",
    )
    .await;
    say(
        &store,
        &side,
        Role::User,
        "My delivery address is Elm Street",
    )
    .await;
    for (thread, street) in [(main, "Baker"), (side, "Elm")] {
        say(&store, &thread, Role::Assistant, "Noted.").await;
        let cx = context_in(&memory, "acme", "a", thread.conversation());
        let turns = Turns::new(store.clone());
        turns
            .say("What is my delivery address?", &cx)
            .await
            .unwrap();
        let tools = |_: &ToolContext| toolset![search_conversation].through(&gate);
        let outcome = turns.drive(&mut Searcher, tools, &cx).await.unwrap();
        let Outcome::Answered(text) = outcome else {
            panic!("{outcome:?}")
        };
        let found: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            contents(&found, "snippet"),
            [format!("My delivery address is {street} Street")]
        );
    }
}
