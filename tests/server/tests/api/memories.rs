//! Tests of the routes `/v1/memories`: lists, corrections, deletion and erasure.

use serde_json::{Value, json};
use server_tests::{Answer, Site, StoreKind, remember};
use tool_core::store::{MemoryVector, Workspace};

use crate::administration::{done, note};

const VIEWER: &str = "viewer-of-acme";
const OPERATOR: &str = "operator-of-acme";
const ADMIN: &str = "admin-of-acme";

/// Stores three memories of `acme` and one of `globex`, and returns their ids.
async fn memories(site: &Site) -> [String; 4] {
    let store = &*site.store;
    [
        remember(
            store,
            "acme",
            (Some("sales"), "ann"),
            "Ann drinks green tea.",
        )
        .await,
        remember(
            store,
            "acme",
            (Some("support"), "bob"),
            "Bob drinks coffee.",
        )
        .await,
        remember(store, "acme", (None, "ann"), "The office is closed.").await,
        remember(store, "globex", (Some("sales"), "ann"), "Ann drinks water.").await,
    ]
}

async fn contents(site: &Site, query: &str) -> Vec<String> {
    let page = site.get(&format!("/v1/memories{query}"), VIEWER).await;
    let items = page["items"].as_array().unwrap().iter();
    let mut contents: Vec<String> = items
        .map(|item| item["content"].as_str().unwrap().to_owned())
        .collect();
    contents.sort();
    contents
}

/// Sends a correction of a memory.
async fn correct(site: &Site, id: &str, token: &str, body: &Value) -> Answer {
    let path = format!("/v1/memories/{id}");
    site.ask("patch", &path, token, body).await
}

// S2-47: the list is narrowed by user, agent and text, and contains no memory of a different workspace. Faulty filters are refused.
pub(crate) async fn memories_are_listed_by_their_filters_case(kind: StoreKind) {
    let site = Site::start(kind).await;
    memories(&site).await;
    let [tea, coffee, office] = [
        "Ann drinks green tea.",
        "Bob drinks coffee.",
        "The office is closed.",
    ];
    for (query, expected) in [
        ("", &[tea, coffee, office][..]),
        ("?principal=ann", &[tea, office]),
        ("?principal=eve", &[]),
        ("?agent=sales", &[tea]),
        ("?shared=true", &[office]),
        ("?shared=false&text=drinks", &[tea, coffee]),
        ("?text=green%20tea&principal=ann", &[tea]),
        ("?text=%25", &[]),
    ] {
        assert_eq!(contents(&site, query).await, expected, "{query}");
    }
    for query in [
        "agent=sales&shared=true",
        "agent=",
        "shared=maybe",
        "importance=1",
    ] {
        let path = format!("/v1/memories?{query}");
        let answer = site.send("get", &path, Some(VIEWER), &[], None).await;
        assert_eq!(answer.status, 400, "{query}: {}", answer.text);
    }
}

// Pages skip and repeat nothing that was stored before the first page, although memories are stored between two pages.
pub(crate) async fn pages_of_memories_are_complete(kind: StoreKind) {
    let site = Site::start(kind).await;
    let mut stored = Vec::new();
    for n in 0..5 {
        let content = format!("Fact {n}.");
        stored.push(remember(&*site.store, "acme", (None, "ann"), &content).await);
    }
    let (mut read, mut cursor) = (Vec::new(), String::new());
    for n in 0.. {
        let page = site
            .get(&format!("/v1/memories?limit=2{cursor}"), VIEWER)
            .await;
        let items = page["items"].as_array().unwrap().iter();
        read.extend(items.map(|item| item["id"].as_str().unwrap().to_owned()));
        let Some(next) = page["next"].as_str() else {
            break;
        };
        cursor = format!("&cursor={next}");
        let later = format!("Later fact {n}.");
        remember(&*site.store, "acme", (None, "ann"), &later).await;
    }
    assert!(read.is_sorted_by(|one, next| one < next), "{read:?}");
    stored.retain(|id| !read.contains(id));
    assert_eq!(stored, [""; 0]);
}

// A correction changes the content and the attributes of a memory, keeps its user and conversation, and removes its embedding. The audit contains the
// length of the content instead of the content.
pub(crate) async fn memory_is_corrected_by_an_operator(kind: StoreKind) {
    let site = Site::start(kind).await;
    let [tea, ..] = memories(&site).await;
    let acme = Workspace::new("acme");
    let row = site.store.memory(&acme, &tea).await.unwrap();
    let vector = MemoryVector::new("model", vec![1.0, 2.0]).unwrap();
    let hash = row.unwrap().hash;
    let embedded = site.store.embed_memory(&acme, &tea, &hash, &vector);
    assert!(embedded.await.unwrap());
    let path = format!("/v1/memories/{tea}");
    let read = done(&site, VIEWER, "get", &path, &Value::Null).await;
    assert_eq!(
        (&read.json()["embedding_model"], &read.json()["source"]),
        (&json!("model"), &json!("tool"))
    );
    let body =
        json!({ "content": "Ann drinks black tea.", "durability": "core", "importance": 0.75 });
    assert_eq!(correct(&site, &tea, VIEWER, &body).await.status, 403);
    let corrected = correct(&site, &tea, OPERATOR, &body).await;
    assert_eq!(corrected.status, 200, "{}", corrected.text);
    let again = done(&site, VIEWER, "get", &path, &Value::Null).await;
    assert_eq!(
        (corrected.text.as_str(), corrected.header("etag")),
        (again.text.as_str(), again.header("etag"))
    );
    let memory = corrected.json();
    for (key, value) in [
        ("content", json!("Ann drinks black tea.")),
        ("durability", json!("core")),
        ("importance", json!(0.75)),
        ("memory_type", json!("fact")),
        ("source", json!("user")),
        ("principal", json!("ann")),
        ("conversation", json!("chat-of-acme")),
        ("embedding_model", Value::Null),
    ] {
        assert_eq!(memory[key], value, "{key}");
    }
    let waiting = site.store.memories_to_embed(&acme, "model", 9);
    assert!(waiting.await.unwrap().iter().any(|row| row.id == tea));
    let (operator, details) = note(&site, "memory.correct").await;
    assert_eq!(
        (&*operator, &details["content_chars"], &details["memory"]),
        (OPERATOR, &json!(21), &json!(tea))
    );
    assert!(!details.to_string().contains("black"), "{details}");
}

// Corrections that change nothing, have a wrong value or repeat the content of a different memory of the agent are refused, and so is an old `ETag`.
pub(crate) async fn faulty_corrections_are_refused(kind: StoreKind) {
    let site = Site::start(kind).await;
    let [tea, coffee, ..] = memories(&site).await;
    let long = "x".repeat(16 * 1024 + 1);
    for (body, pointer) in [
        (json!({}), ""),
        (json!({ "content": " " }), "/content"),
        (json!({ "content": long }), "/content"),
        (json!({ "importance": 1.5 }), "/importance"),
        (json!({ "durability": "forever" }), "/durability"),
        (json!({ "source": "user" }), "/source"),
    ] {
        let refused = correct(&site, &tea, OPERATOR, &body).await;
        assert_eq!(
            (refused.status, &refused.json()["errors"][0]["pointer"]),
            (422, &json!(pointer)),
            "{}",
            refused.text
        );
    }
    // A different memory of the same agent has the content already.
    let other = remember(
        &*site.store,
        "acme",
        (Some("sales"), "eve"),
        "Eve drinks milk.",
    )
    .await;
    let same = json!({ "content": "Ann drinks green tea." });
    let duplicate = correct(&site, &other, OPERATOR, &same).await;
    assert_eq!(duplicate.status, 409, "{}", duplicate.text);
    assert_eq!(correct(&site, &coffee, OPERATOR, &same).await.status, 200);

    let path = format!("/v1/memories/{tea}");
    let read = done(&site, VIEWER, "get", &path, &Value::Null).await;
    let tag = [("if-match", read.header("etag").unwrap())];
    let send = async |method: &str, body: Option<&Value>| {
        let sent = site.send(method, &path, Some(ADMIN), &tag, body).await;
        sent.status
    };
    let body = json!({ "importance": 1.0 });
    assert_eq!(send("patch", Some(&body)).await, 200);
    assert_eq!(send("patch", Some(&body)).await, 412);
    assert_eq!(send("delete", None).await, 412);
}

// An admin deletes a memory, and erases the memories of one user. All other memories are kept, including the memories of a different workspace.
pub(crate) async fn memories_are_deleted_and_erased(kind: StoreKind) {
    let site = Site::start(kind).await;
    let [tea, .., water] = memories(&site).await;
    let why = json!({ "reason": "ann asked for it" });
    let erase = "/v1/users/ann/memories/erase";
    let path = format!("/v1/memories/{tea}");
    let send = async |method: &str, path: &str, token: &str| {
        let sent = site.send(method, path, Some(token), &[], None).await;
        sent.status
    };
    assert_eq!(send("delete", &path, OPERATOR).await, 403);
    assert_eq!(site.ask("post", erase, OPERATOR, &why).await.status, 403);
    // The response for a memory of a different workspace is the same as for an unknown memory, and that memory is kept.
    let mut answers = Vec::new();
    for id in [water.as_str(), "nothing"] {
        for method in ["get", "delete"] {
            let foreign = format!("/v1/memories/{id}");
            let answer = site.send(method, &foreign, Some(ADMIN), &[], None).await;
            answers.push((answer.status, answer.text));
        }
    }
    assert_eq!(answers[0].0, 404);
    assert!(answers.iter().all(|answer| *answer == answers[0]));
    done(&site, ADMIN, "delete", &path, &Value::Null).await;
    assert_eq!(send("delete", &path, ADMIN).await, 404);
    let key = [("idempotency-key", "m-1")];
    for _ in 0..2 {
        let erased = site
            .send("post", erase, Some(ADMIN), &key, Some(&why))
            .await;
        assert_eq!(
            (erased.status, erased.json()),
            (200, json!({ "memories": 1 })),
            "{}",
            erased.text
        );
    }
    let empty = site
        .ask("post", erase, ADMIN, &json!({ "reason": "" }))
        .await;
    assert_eq!(empty.status, 422, "{}", empty.text);
    assert_eq!(contents(&site, "").await, ["Bob drinks coffee."]);
    let kept = site.get("/v1/memories", "viewer-of-globex").await;
    assert_eq!(kept["items"].as_array().unwrap().len(), 1);
    let (operator, details) = note(&site, "user.erase_memories").await;
    assert_eq!(
        (&*operator, &details["reason"]),
        (ADMIN, &json!("ann asked for it"))
    );
    assert_eq!(note(&site, "memory.delete").await.1["memory"], json!(tea));
}
