//! Questions of tools to the user: during the call in the legacy protocol, in rounds in the 2026-07-28 protocol.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::support::{Client, soon};
use serde_json::{Value, json};
use tool_core::prelude::*;
use tool_core::store::{EffectLedger as _, EffectState, MemoryStore, Scope};
use tool_core::{Effect, Gate, host_value};
use tool_mcp::{McpServer, StateKey, Waiting};

/// The place of a table.
#[derive(Debug, Deserialize, StrictSchema)]
struct Place {
    /// The name of the city.
    city: String,
    /// The number of people.
    #[schema(range = 1..=8)]
    people: Option<u32>,
}

/// The answer to a request for confirmation.
#[derive(Debug, Deserialize, StrictSchema)]
struct Sure {
    /// Whether the user agrees.
    sure: bool,
}

/// Counts effects on the outside world.
#[derive(Clone, Default)]
struct World(std::sync::Arc<AtomicUsize>);
host_value!(World, Effect::EXTERNAL);

/// Counts the read accesses of tools.
#[derive(Clone, Default)]
struct Looks(std::sync::Arc<AtomicUsize>);
host_value!(Looks, Effect::READ);

/// Finds a table for a day.
#[tool(read_only)]
async fn find(
    cx: &ToolContext,
    looks: &Looks,
    /// The day of the booking.
    day: String,
) -> Result<String, ToolError> {
    looks.0.fetch_add(1, Ordering::SeqCst);
    let Some(place) = cx.ask::<Place>(format!("Where on {day}?")).await?.given() else {
        return Ok("nowhere".to_owned());
    };
    let sure = cx.ask::<Sure>("Are you sure?").await?.given();
    Ok(format!(
        "{} for {:?}, {:?}",
        place.city,
        place.people,
        sure.map(|sure| sure.sure)
    ))
}

/// Books a table, and then asks for a confirmation.
#[tool(open_world)]
async fn book(cx: &ToolContext, world: &World) -> Result<String, ToolError> {
    world.0.fetch_add(1, Ordering::SeqCst);
    let sure = cx.ask::<Sure>("Really?").await?.given();
    Ok(format!("{:?}", sure.map(|sure| sure.sure)))
}

struct Fixture {
    looks: Looks,
    world: World,
    store: MemoryStore,
}

impl Fixture {
    fn new() -> Self {
        Self {
            looks: Looks::default(),
            world: World::default(),
            store: MemoryStore::default(),
        }
    }

    fn server(&self, waiting: Waiting) -> McpServer {
        self.server_of("alice", waiting)
    }

    #[expect(clippy::unwrap_used, reason = "a test fails here")]
    fn server_of(&self, user: &'static str, waiting: Waiting) -> McpServer {
        let registry = Registry::builder()
            .tool::<find>()
            .tool::<book>()
            .build()
            .unwrap();
        let (looks, world) = (self.looks.clone(), self.world.clone());
        let gate = Gate::builder().ledger(self.store.clone()).build();
        McpServer::builder(registry)
            .gate(&gate)
            .context(move |_| {
                ToolContext::builder()
                    .user(user)
                    .with(looks.clone())
                    .with(world.clone())
                    .build()
            })
            .waiting(waiting)
            .state_key(StateKey::new([7; 32]).unwrap())
            .build()
    }
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "its argument is a JSON literal at every call"
)]
fn accept(content: Value) -> Value {
    json!({ "action": "accept", "content": content })
}

/// Sends one request of the 2026-07-28 protocol.
async fn round(client: &mut Client, mut params: Value, before: Option<(&Value, Value)>) -> Value {
    params["_meta"] =
        json!({ "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} } });
    if let Some((asked, answer)) = before {
        params["requestState"] = asked["result"]["requestState"].clone();
        params["inputResponses"] = json!({ "answer": answer });
    }
    client.ask("tools/call", params).await
}

fn monday() -> Value {
    json!({ "name": "find", "arguments": { "day": "monday" } })
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"]
        .as_str()
        .unwrap_or_default()
}

// M15: the legacy protocol asks while the tool runs. If an answer does not match the form, the call fails.
#[tokio::test]
async fn legacy_protocol_asks_while_the_tool_runs() {
    let fixture = Fixture::new();
    let server = fixture.server(Waiting::new());
    let mut client = Client::legacy_that_can(&server, json!({ "elicitation": {} })).await;
    let id = client.begin("tools/call", monday()).await;
    let asked = client.next().await;
    assert_eq!(asked["method"], "elicitation/create");
    assert_eq!(asked["params"]["message"], "Where on monday?");
    let schema = &asked["params"]["requestedSchema"];
    assert_eq!(schema["required"], json!(["city"]));
    assert_eq!(schema["properties"]["people"]["type"], "integer");
    client.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": accept(json!({ "city": "Ulm", "people": 2 })) })).await;
    let asked = client.next().await;
    client
        .send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "action": "decline" } }))
        .await;
    assert_eq!(text(&client.answer(id).await), "Ulm for Some(2), None");

    let id = client.begin("tools/call", monday()).await;
    let asked = client.next().await;
    client.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": accept(json!({ "people": 9 })) })).await;
    let wrong = client.answer(id).await;
    assert_eq!(wrong["result"]["isError"], true);
    assert!(
        text(&wrong).contains("the answer does not fit the form")
            && text(&wrong).contains("/people"),
        "{wrong}"
    );
}

// M15: the 2026-07-28 protocol asks in rounds, and the body runs once.
#[tokio::test]
async fn modern_protocol_asks_in_rounds_and_the_body_runs_once() {
    let fixture = Fixture::new();
    let mut client = Client::modern(&fixture.server(Waiting::new()));
    let first = round(&mut client, monday(), None).await;
    assert_eq!(first["result"]["resultType"], "input_required", "{first}");
    let asked = &first["result"]["inputRequests"]["answer"];
    assert_eq!(asked["method"], "elicitation/create");
    assert_eq!(asked["params"]["message"], "Where on monday?");
    let second = round(
        &mut client,
        monday(),
        Some((&first, accept(json!({ "city": "Ulm" })))),
    )
    .await;
    assert_eq!(
        second["result"]["inputRequests"]["answer"]["params"]["message"],
        "Are you sure?"
    );
    // Without a valid answer the same question is asked again.
    let again = round(&mut client, monday(), Some((&second, json!(7)))).await;
    assert_eq!(
        again["result"]["inputRequests"]["answer"]["params"]["message"],
        "Are you sure?"
    );
    let third = round(
        &mut client,
        monday(),
        Some((&again, accept(json!({ "sure": true })))),
    )
    .await;
    assert_eq!(text(&third), "Ulm for None, Some(true)");
    assert_eq!(fixture.looks.0.load(Ordering::SeqCst), 1);
}

// M15: a state is valid only for one call of one user.
#[tokio::test]
async fn request_state_is_valid_for_one_call_of_one_user() {
    let fixture = Fixture::new();
    let server = fixture.server(Waiting::new());
    let mut client = Client::modern(&server);
    let asked = round(&mut client, monday(), None).await;
    let yes = || accept(json!({ "city": "Ulm" }));
    let mut tampered = asked.clone();
    let state = asked["result"]["requestState"].as_str().unwrap_or_default();
    tampered["result"]["requestState"] = json!(format!("{}x", &state[..state.len() - 1]));
    let refused = round(&mut client, monday(), Some((&tampered, yes()))).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    let tuesday = json!({ "name": "find", "arguments": { "day": "tuesday" } });
    let refused = round(&mut client, tuesday, Some((&asked, yes()))).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    let mut other = Client::modern(&fixture.server_of("mallory", Waiting::new()));
    let refused = round(&mut other, monday(), Some((&asked, yes()))).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    let going_on = round(&mut client, monday(), Some((&asked, yes()))).await;
    assert_eq!(
        going_on["result"]["resultType"], "input_required",
        "{going_on}"
    );
}

// M15: a read-only tool whose parked run is lost runs again with the earlier answers.
#[tokio::test]
async fn lost_read_only_call_runs_again_with_its_answers() {
    let fixture = Fixture::new();
    let mut client = Client::modern(&fixture.server(Waiting::new()));
    let first = round(&mut client, monday(), None).await;
    let second = round(
        &mut client,
        monday(),
        Some((&first, accept(json!({ "city": "Ulm" })))),
    )
    .await;
    // The second server represents a different process with the same key.
    let mut other = Client::modern(&fixture.server(Waiting::new()));
    let third = round(
        &mut other,
        monday(),
        Some((&second, accept(json!({ "sure": false })))),
    )
    .await;
    assert_eq!(text(&third), "Ulm for None, Some(false)");
    assert_eq!(fixture.looks.0.load(Ordering::SeqCst), 2);
}

// M15, M6: a tool with effects whose parked run is lost is not run again; the call is reported as interrupted and ambiguous.
#[tokio::test]
async fn lost_call_with_effects_is_interrupted_and_ambiguous() {
    let fixture = Fixture::new();
    let server = fixture.server(Waiting::new().patience(Duration::from_millis(50)));
    let mut client = Client::modern(&server);
    let call = || json!({ "name": "book", "arguments": {} });
    let asked = round(&mut client, call(), None).await;
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    let states = || async {
        let rows = fixture
            .store
            .list(Scope::All, None)
            .await
            .unwrap_or_default();
        rows.iter().map(|row| row.state).collect::<Vec<_>>()
    };
    soon(async {
        while states().await != [EffectState::Ambiguous] {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    let late = round(
        &mut client,
        call(),
        Some((&asked, accept(json!({ "sure": true })))),
    )
    .await;
    assert_eq!(late["result"]["isError"], true, "{late}");
    assert_eq!(late["result"]["_meta"]["tool-core/error"], "interrupted");
    assert_eq!(fixture.world.0.load(Ordering::SeqCst), 1);
    assert_eq!(states().await, [EffectState::Ambiguous]);
}

// M15: a client without elicitation is not asked, and questions beyond the limit fail.
#[tokio::test]
async fn questions_without_elicitation_or_above_the_limit_fail() {
    let fixture = Fixture::new();
    let server = fixture.server(Waiting::new().most(1));
    for modern in [false, true] {
        let mut client = Client::of(&server, modern).await;
        let answer = client.ask("tools/call", monday()).await;
        assert_eq!(
            answer["result"]["_meta"]["tool-core/error"], "unavailable",
            "{answer}"
        );
    }
    let mut client = Client::modern(&server);
    let first = round(&mut client, monday(), None).await;
    assert_eq!(first["result"]["resultType"], "input_required");
    let second = round(&mut client, monday(), None).await;
    assert_eq!(
        second["result"]["_meta"]["tool-core/error"], "rate_limited",
        "{second}"
    );
    let going_on = round(
        &mut client,
        monday(),
        Some((&first, json!({ "action": "cancel" }))),
    )
    .await;
    assert_eq!(text(&going_on), "nowhere");
}
