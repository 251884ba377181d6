//! Outputs that are too long for a model, cut and stored with a handle.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::sync::LazyLock;
use std::time::Duration;

use futures::StreamExt as _;
use proptest::prelude::*;
use serde_json::{Value, json};
use tool_core::bounded::{Bounded, Spills, read_more};
use tool_core::prelude::*;
use tool_core::store::{
    MemoryStore, Scope, Spill, SpillPart, SpillStore, StoreError, StoreFuture, Timestamp, Workspace,
};
use tool_core::{Effect, ErrorKind};

/// The text that the tools of this file return.
#[derive(Clone)]
struct Page(String);
tool_core::host_value!(Page, Effect::READ);

#[derive(Debug, Serialize, StrictSchema)]
struct Hit {
    /// The text of the hit.
    text: String,
}

/// Returns all of the hits.
#[tool(read_only)]
fn hits(page: &Page) -> Bounded<Vec<Hit>, 64> {
    vec![Hit {
        text: page.0.clone(),
    }]
    .into()
}

/// Returns a page as text.
#[tool(read_only)]
async fn page(page: &Page) -> Result<Bounded<String, 16>, ToolError> {
    Ok(page.0.clone().into())
}

/// Returns a page. The caller limits the number of bytes that the model sees.
#[tool(read_only)]
fn some_page(
    page: &Page,
    /// The number of bytes that the model sees.
    shown: u32,
) -> Bounded<String> {
    Bounded::at_most(page.0.clone(), shown as usize)
}

/// Returns a page after its progress.
#[tool(read_only)]
fn slow_page(#[context] page: Page) -> ToolStream<u32, Bounded<String, 16>> {
    tool_stream! {
        yield 1;
        Bounded::from(page.0)
    }
}

static REGISTRY: LazyLock<Registry> = LazyLock::new(|| {
    Registry::builder()
        .tool::<hits>()
        .tool::<page>()
        .tool::<some_page>()
        .tool::<slow_page>()
        .dynamic(read_more())
        .build()
        .unwrap()
});

fn tools() -> Toolset {
    REGISTRY.open()
}

fn cx(page: &str, spills: Option<Spills>, workspace: &str, user: &str) -> ToolContext {
    let mut builder = ToolContext::builder()
        .workspace(workspace)
        .user(user)
        .with(Page(page.to_owned()));
    if let Some(spills) = spills {
        builder = builder.with(spills);
    }
    builder.build()
}

async fn call(cx: &ToolContext, name: &str, arguments: &Value) -> CallResult {
    let call = ToolCall::new("c1", name, arguments.to_string());
    tools().call(call, cx).await
}

/// Returns the handle in a text for the model.
fn handle(text: &str) -> String {
    let (_, after) = text
        .rsplit_once("handle `")
        .expect("the text has no handle");
    after.split_once('`').unwrap().0.to_owned()
}

/// Calls `read_more` until the end, as a model would, and joins the parts.
async fn rest(cx: &ToolContext, handle: &str, mut from: u64, most: u64) -> String {
    let mut text = String::new();
    loop {
        let result = call(
            cx,
            "read_more",
            &json!({"handle": handle, "from": from, "most": most}),
        )
        .await;
        assert!(!result.is_error(), "{}", result.model_text());
        let part: Value = serde_json::from_str(result.output().unwrap().get()).unwrap();
        text.push_str(part["text"].as_str().unwrap());
        match part["next"].as_u64() {
            Some(next) => {
                assert!(next > from, "each part is longer than 0 bytes");
                from = next;
            }
            None => return text,
        }
    }
}

// M17: an output within the limit is shown unchanged, and nothing is stored.
#[tokio::test]
async fn short_output_is_shown_unchanged() {
    let cx = cx("short", Some(Spills::new(Broken)), "acme", "ann");
    assert_eq!(call(&cx, "page", &json!({})).await.model_text(), "short");
    assert_eq!(
        call(&cx, "hits", &json!({})).await.model_text(),
        r#"[{"text":"short"}]"#
    );
    // This output is exactly as long as the limit.
    let cx = self::cx("0123456789abcdef", Some(Spills::new(Broken)), "acme", "ann");
    assert_eq!(
        call(&cx, "page", &json!({})).await.model_text(),
        "0123456789abcdef"
    );
}

// M17: the model gets the head, the size and a handle; the client gets the whole output.
#[tokio::test]
async fn long_output_is_truncated_and_stored() {
    let whole = "grün und blau ".repeat(20);
    let cx = cx(
        &whole,
        Some(Spills::new(MemoryStore::default())),
        "acme",
        "ann",
    );
    let result = call(&cx, "page", &json!({})).await;
    let text = result.model_text();
    assert!(text.starts_with("grün und blau g\n"), "{text}");
    assert!(text.contains("the first 16 of 300 bytes"), "{text}");
    assert_eq!(result.output().unwrap().get(), json!(whole).to_string());
    let handle = handle(&text);
    assert_eq!(rest(&cx, &handle, 16, 7).await, whole[16..]);
    assert_eq!(rest(&cx, &handle, 0, 65_536).await, whole);

    // The head of an output that is not text is the beginning of its JSON.
    let result = call(&cx, "hits", &json!({})).await;
    let text = result.model_text();
    let json = result.output().unwrap().get().to_owned();
    let head = &json[..json.floor_char_boundary(64)];
    assert!(text.starts_with(head), "{text}");
    assert_eq!(rest(&cx, &self::handle(&text), 0, 100).await, json);

    // The caller chooses the limit at run time.
    let result = call(&cx, "some_page", &json!({"shown": 5})).await;
    assert!(
        result.model_text().starts_with("grün\n"),
        "{}",
        result.model_text()
    );
    assert_eq!(
        call(&cx, "some_page", &json!({"shown": 300}))
            .await
            .model_text(),
        whole
    );
}

// M17: truncation never splits a character, at any limit.
#[tokio::test]
async fn truncation_keeps_characters_whole() {
    let whole = "🔑ü".repeat(30);
    let cx = cx(
        &whole,
        Some(Spills::new(MemoryStore::default())),
        "acme",
        "ann",
    );
    for shown in 0..14 {
        let text = call(&cx, "some_page", &json!({"shown": shown}))
            .await
            .model_text();
        let head = whole.floor_char_boundary(shown);
        assert!(text.starts_with(&format!("{}\n", &whole[..head])), "{text}");
        assert!(text.contains(&format!("from {head}")), "{text}");
        for most in 1..9 {
            assert_eq!(
                rest(&cx, &handle(&text), head as u64, most).await,
                whole[head..]
            );
        }
    }
}

// M17: the final value of a streaming tool is bounded too.
#[tokio::test]
async fn the_last_value_of_a_stream_is_bounded() {
    let whole = "0123456789".repeat(10);
    let cx = cx(
        &whole,
        Some(Spills::new(MemoryStore::default())),
        "acme",
        "ann",
    );
    let call = ToolCall::new("c1", "slow_page", "{}");
    let events: Vec<ToolEvent> = tools().stream(call, &cx).collect().await;
    let Some(ToolEvent::Done(result)) = events.last() else {
        panic!("the last event is not `Done`")
    };
    let text = result.model_text();
    assert!(text.starts_with("0123456789012345\n"), "{text}");
    assert_eq!(rest(&cx, &handle(&text), 16, 50).await, whole[16..]);
}

// M17: a different principal cannot find out whether a handle exists.
#[tokio::test]
async fn handle_is_valid_for_its_principal_only() {
    let spills = Spills::new(MemoryStore::default());
    let whole = "secret plans ".repeat(10);
    let ann = cx(&whole, Some(spills.clone()), "acme", "ann");
    let handle = handle(&call(&ann, "page", &json!({})).await.model_text());
    let ask = json!({"handle": handle, "from": 0, "most": 100});
    let unknown = json!({"handle": "no-such-handle", "from": 0, "most": 100});
    let not_found = call(&ann, "read_more", &unknown).await.model_text();
    assert!(
        not_found.contains("no output is stored under this handle"),
        "{not_found}"
    );
    for (workspace, user) in [("acme", "bob"), ("other", "ann"), ("", ""), ("acme", "")] {
        let cx = cx("", Some(spills.clone()), workspace, user);
        let result = call(&cx, "read_more", &ask).await;
        assert_eq!(result.error().unwrap().kind(), ErrorKind::Failed);
        assert_eq!(result.model_text(), not_found, "{workspace} {user}");
    }
    assert_eq!(rest(&ann, &handle, 0, 100).await, whole);
}

// M17, M8: a stored output contains no secret, even if the head ends in the middle of a secret.
#[tokio::test]
async fn stored_output_contains_no_secret() {
    let secret = "tok-1234-abcdefgh";
    let whole = format!("key: {secret}, and much more, and again {secret}");
    let cx = ToolContext::builder()
        .workspace("acme")
        .user("ann")
        .with(Page(whole))
        .with(Spills::new(MemoryStore::default()))
        .secret("token", secret)
        .build();
    let result = call(&cx, "page", &json!({})).await;
    let text = result.model_text();
    assert!(text.starts_with("key: [secret:tok\n"), "{text}");
    assert_eq!(
        rest(&cx, &handle(&text), 0, 9).await,
        "key: [secret:token], and much more, and again [secret:token]"
    );
}

// M17: a stored output expires.
#[tokio::test]
async fn stored_output_expires() {
    let spills = Spills::new(MemoryStore::default()).keep(Duration::ZERO);
    let cx = cx(&"x".repeat(100), Some(spills), "acme", "ann");
    let handle = handle(&call(&cx, "page", &json!({})).await.model_text());
    let ask = json!({"handle": handle, "from": 0, "most": 100});
    let result = call(&cx, "read_more", &ask).await;
    assert!(result.model_text().contains("no output is stored"));
}

// M17: without a store, or with a failing store, the model reads the head and a note that the rest was not stored.
#[tokio::test]
async fn without_a_store_the_head_is_shown() {
    for spills in [None, Some(Spills::new(Broken))] {
        let cx = cx(&"x".repeat(100), spills, "acme", "ann");
        let result = call(&cx, "page", &json!({})).await;
        assert!(!result.is_error());
        assert_eq!(
            result.model_text(),
            "xxxxxxxxxxxxxxxx\n[these are the first 16 of 100 bytes, the rest is not stored: ask for less]"
        );
    }
    let cx = cx("", None, "acme", "ann");
    let ask = json!({"handle": "h", "from": 0, "most": 1});
    let result = call(&cx, "read_more", &ask).await;
    assert_eq!(result.error().unwrap().kind(), ErrorKind::Unavailable);
}

// M17: a store that never answers delays a call without a deadline by 30 seconds. The call returns its result, and only the rest of the output
// is not stored.
#[tokio::test(start_paused = true)]
async fn hanging_spill_store_does_not_block_the_result() {
    let cx = cx(&"x".repeat(100), Some(Spills::new(Silent)), "acme", "ann");
    let begun = tokio::time::Instant::now();
    let result = call(&cx, "page", &json!({})).await;
    assert!(result.model_text().contains("the rest is not stored"));
    assert_eq!(begun.elapsed().as_secs(), 30);
}

// M17: a typed call returns the whole value.
#[tokio::test]
async fn typed_call_returns_the_whole_value() {
    let cx = cx(&"x".repeat(100), None, "acme", "ann");
    let page = tools().invoke(page {}, &cx).await.unwrap();
    assert_eq!(page.get().len(), 100);
    assert_eq!(page.into_inner(), "x".repeat(100));
    let def = <hits as Tool>::DEF;
    assert!(
        def.output_schema()
            .unwrap()
            .contains("The text of the hit.")
    );
}

// M17, M2: `read_more` has a schema in every dialect, and is read-only.
#[test]
fn read_more_is_offered_everywhere() {
    let tools = tools();
    let def = tools.get("read_more").unwrap();
    for dialect in Dialect::ALL {
        assert!(def.schema(dialect).contains("handle"), "{dialect:?}");
    }
    assert!(def.hints().read_only);
}

proptest! {
    // M17: the joined parts are the whole output, for every length of the head.
    #[test]
    fn read_parts_join_to_the_whole_output(whole in "\\PC{0,200}", shown in 0_u32..50, most in 1_u64..40) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let cx = cx(&whole, Some(Spills::new(MemoryStore::default())), "acme", "ann");
            let text = call(&cx, "some_page", &json!({"shown": shown})).await.model_text();
            let head = whole.floor_char_boundary(shown as usize);
            if head == whole.len() {
                assert_eq!(text, whole);
            } else {
                assert!(text.starts_with(&whole[..head]));
                assert_eq!(rest(&cx, &handle(&text), head as u64, most).await, whole[head..]);
            }
        });
    }
}

/// A store that never answers.
struct Silent;

impl SpillStore for Silent {
    fn put(&self, _: Spill) -> StoreFuture<'_, ()> {
        Box::pin(std::future::pending())
    }

    fn read<'a>(
        &'a self,
        _: &'a Workspace,
        _: &'a str,
        _: &'a str,
        _: u64,
        _: u64,
        _: Timestamp,
    ) -> StoreFuture<'a, Option<SpillPart>> {
        Box::pin(std::future::pending())
    }

    fn expire<'a>(&'a self, _: Scope<'a>, _: Timestamp) -> StoreFuture<'a, u64> {
        Box::pin(std::future::pending())
    }
}

/// A store that is unavailable.
struct Broken;

impl SpillStore for Broken {
    fn put(&self, _: Spill) -> StoreFuture<'_, ()> {
        Box::pin(async { Err(StoreError::Unavailable("away".into())) })
    }

    fn read<'a>(
        &'a self,
        _: &'a Workspace,
        _: &'a str,
        _: &'a str,
        _: u64,
        _: u64,
        _: Timestamp,
    ) -> StoreFuture<'a, Option<SpillPart>> {
        Box::pin(async { Err(StoreError::Unavailable("away".into())) })
    }

    fn expire<'a>(&'a self, _: Scope<'a>, _: Timestamp) -> StoreFuture<'a, u64> {
        Box::pin(async { Err(StoreError::Unavailable("away".into())) })
    }
}
