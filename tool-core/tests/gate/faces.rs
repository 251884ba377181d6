//! Secrets in everything that leaves a call, one face after the other.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::StreamExt;
use futures::future::BoxFuture;
use serde_json::json;
use tool_core::bounded::{Bounded, Spills};
use tool_core::prelude::*;
use tool_core::store::{AuditFilter, AuditRow, AuditSink, EffectLedger, MemoryStore, ThreadStore};
use tool_core::turn::{ModelMessage, Turn, Turns};
use tool_core::{
    ApiKeys, Approvals, Audit, Citation, DynamicTool, Effect, ErrorKind, ExposeSecret, Gate, OAuth,
    OAuthToken, TokenSource, Uses, VariableNeed,
};

const KEY: &str = "tok-4711-abcdefghijklmnopqrstuvwxyz";

struct Host {
    store: MemoryStore,
    gate: Gate,
}

impl Host {
    fn new() -> Self {
        let store = MemoryStore::default();
        let gate = Gate::builder()
            .approvals(Approvals::builder(store.clone()).build().unwrap())
            .ledger(store.clone())
            .audit(Audit::required(store.clone()))
            .build();
        Self { store, gate }
    }

    async fn rows(&self) -> Vec<AuditRow> {
        AuditSink::export(&self.store, &AuditFilter::default())
            .await
            .unwrap()
    }
}

fn cx() -> tool_core::ToolContextBuilder {
    ToolContext::builder()
        .workspace("acme")
        .user("ann")
        .conversation("th-1")
        .turn("t-1")
}

fn with_key() -> ToolContext {
    cx().secret("key", SecretString::from(KEY)).build()
}

fn call(tool: &str) -> ToolCall {
    ToolCall::new("c-1", tool, "{}")
}

/// Fails where as much as a quarter of the key is in a text.
#[track_caller]
fn clean(text: &str, what: &str) {
    for at in 0..KEY.len() - 9 {
        assert!(!text.contains(&KEY[at..at + 9]), "{what}: {text}");
    }
}

/// Every text of a result.
fn texts(result: &CallResult) -> String {
    format!(
        "{} {} {} {result:?} {} {}",
        result.model_text(),
        result.envelope(),
        result.output().map_or("", |output| output.get()),
        result.error().map_or_else(String::new, |error| format!(
            "{} {error:?}",
            error.operator_text()
        )),
        serde_json::to_string(result.citations()).unwrap(),
    )
}

/// Cites a page whose address holds the key.
#[tool]
async fn cite(cx: &ToolContext, #[secret("key")] key: SecretString) -> u32 {
    let key = key.expose_secret();
    cx.cite(
        Citation::new(
            format!("search {key}"),
            format!("https://example.com/?k={key}"),
        )
        .version(format!("v-{key}")),
    );
    7
}

// C1: citations were masked in no place that they reach.
#[tokio::test]
async fn citations_are_masked_in_result_ledger_and_thread() {
    let host = Host::new();
    let tools = toolset![cite].through(&host.gate);
    let message = ModelMessage::calls([call("cite")]);
    let turn = Turns::new(host.store.clone())
        .run(&tools, &message, &with_key())
        .await
        .unwrap();
    let Turn::Complete(results) = turn else {
        panic!("{turn:?}")
    };
    let citation = &results[0].citations[0];
    assert_eq!(citation.source(), "search [secret:key]");
    assert_eq!(citation.source_id(), "https://example.com/?k=[secret:key]");
    assert_eq!(citation.version_text(), Some("v-[secret:key]"));
    let thread = ThreadStore::read(&host.store, "th-1", None).await.unwrap();
    clean(&format!("{thread:?}"), "thread");
    let effects = EffectLedger::list(&host.store, None, None).await.unwrap();
    clean(&format!("{effects:?}"), "ledger");
    // The same call again is answered by the ledger.
    let again = tools.call(call("cite"), &with_key()).await;
    assert!(again.is_replayed());
    assert_eq!(again.citations().len(), 1);
    clean(&texts(&again), "replay");
    // Without a gate, too.
    let plain = toolset![cite].call(call("cite"), &with_key()).await;
    assert_eq!(plain.citations().len(), 1);
    clean(&texts(&plain), "without a gate");
}

/// Shows the key of a model's provider.
#[tool]
async fn ask_model(keys: &ApiKeys) -> Result<String, ToolError> {
    Ok(format!(
        "asked with {}",
        keys.get("openai")?.expose_secret()
    ))
}

// C1: keys of `api_key` were unknown to the redactor.
#[tokio::test]
async fn api_keys_are_masked() {
    let cx = cx().api_key("openai", KEY).build();
    let result = toolset![ask_model].call(call("ask_model"), &cx).await;
    assert_eq!(result.model_text(), "asked with [secret:api_key:openai]");
}

// C1: a key that cannot be masked is not given out.
#[tokio::test]
async fn api_key_too_short_to_mask_is_not_given_out() {
    let cx = cx().api_key("openai", "abc \n\n\n").build();
    let result = toolset![ask_model].call(call("ask_model"), &cx).await;
    let error = result.error().unwrap();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(
        error.operator_text().contains("at least 6 bytes"),
        "{error:?}"
    );
}

/// Gives another token each time.
#[derive(Default)]
struct Rotating(AtomicUsize);

impl TokenSource for Rotating {
    fn token<'a>(
        &'a self,
        _: &'a ToolContext,
        service: &'a str,
    ) -> BoxFuture<'a, Result<OAuthToken, ToolError>> {
        let count = self.0.fetch_add(1, Ordering::Relaxed);
        let token = if service == "short" {
            "abc".to_owned()
        } else {
            format!("oauth-{count}-0123456789")
        };
        Box::pin(std::future::ready(Ok(OAuthToken::Ready(token.into()))))
    }
}

/// Shows a token.
#[tool]
async fn show_token(
    oauth: &OAuth,
    /// Of which service.
    service: String,
) -> Result<String, ToolError> {
    let token = oauth.token(&service).await?;
    Ok(format!("got {}", token.expose_secret()))
}

/// Has another tool get a token, and shows what it remembers.
#[tool]
async fn outer(
    #[context] uses: Uses<(show_token,)>,
    cx: &ToolContext,
) -> Result<String, ToolError> {
    let inner = uses
        .invoke(show_token {
            service: "drive".to_owned(),
        })
        .await?;
    cx.progress(&json!({ "got": "oauth-0-0123456789" }));
    Ok(format!("{inner} which is oauth-0-0123456789"))
}

/// Says a text that an earlier call has learned.
#[tool]
async fn repeat(
    cx: &ToolContext,
    /// The text.
    text: String,
) -> String {
    cx.progress(&text);
    text
}

// C1: tokens of a `TokenSource` were unknown to the redactor.
#[tokio::test]
async fn oauth_tokens_are_masked_from_the_moment_they_are_returned() {
    let host = Host::new();
    let tools = toolset![outer, show_token, repeat].through(&host.gate);
    let cx = cx()
        .oauth(Arc::new(Rotating::default()))
        .tools(&tools)
        .build();
    let mut events = Box::pin(tools.stream(call("outer"), &cx));
    while let Some(event) = events.next().await {
        let text = format!("{event:?}");
        assert!(!text.contains("oauth-0-"), "{text}");
    }
    // Of every context of the turn: the next message of the model, and one that was made before.
    for (at, cx) in [cx.with_turn("t-2"), cx.clone(), cx.without_asker()]
        .iter()
        .enumerate()
    {
        let again = ToolCall::new("c-2", "repeat", r#"{"text":"it was oauth-0-0123456789"}"#);
        let result = tools.call(again, &cx.with_turn(format!("t-2-{at}"))).await;
        assert_eq!(result.model_text(), "it was [secret:oauth:drive]");
    }
    // A token of a child of the context is known to its parent.
    let child = cx.with_turn("t-3");
    let shown = ToolCall::new("c-3", "show_token", r#"{"service":"mail"}"#);
    let result = tools.call(shown, &child).await;
    assert_eq!(result.model_text(), "got [secret:oauth:mail]");
    let again = ToolCall::new("c-4", "repeat", r#"{"text":"it was oauth-1-0123456789"}"#);
    let result = tools.call(again, &cx).await;
    assert_eq!(result.model_text(), "it was [secret:oauth:mail]");
    let rows = format!("{:?}", host.rows().await);
    assert!(
        !rows.contains("oauth-0-") && !rows.contains("oauth-1-"),
        "{rows}"
    );
}

// C1
#[tokio::test]
async fn oauth_token_too_short_to_mask_is_not_given_out() {
    let tools = toolset![show_token];
    let cx = cx().oauth(Arc::new(Rotating::default())).build();
    let result = tools
        .call(
            ToolCall::new("c-1", "show_token", r#"{"service":"short"}"#),
            &cx,
        )
        .await;
    assert_eq!(result.error().unwrap().kind(), ErrorKind::Unavailable);
}

/// Shows the key as most tools send it.
#[tool]
async fn trimmed(#[secret("key")] key: SecretString) -> String {
    format!("key={}", key.expose_secret().trim())
}

// C1: a secret with white space around it was shown whole by a tool that trims it.
#[tokio::test]
async fn trimmed_secret_is_masked() {
    for written in [
        format!("{KEY}\n"),
        format!("\r\n\t {KEY} \u{a0}\n"),
        format!(" {KEY}"),
    ] {
        let cx = cx().secret("key", SecretString::from(written)).build();
        let result = toolset![trimmed].call(call("trimmed"), &cx).await;
        assert_eq!(result.model_text(), "key=[secret:key]");
    }
    let cx = cx().secret("key", SecretString::from("abc     \n")).build();
    let result = toolset![trimmed].call(call("trimmed"), &cx).await;
    assert_eq!(result.error().unwrap().kind(), ErrorKind::Unavailable);
}

/// Leaves a note whose name holds the key.
#[tool]
async fn note(cx: &ToolContext, #[secret("key")] key: SecretString) -> u32 {
    let key = key.expose_secret();
    cx.audit(&format!("said {key}"), &json!({ key: [key] }));
    7
}

// C1: the action of a note was written as it is.
#[tokio::test]
async fn action_of_a_note_is_masked() {
    let host = Host::new();
    let tools = toolset![note].through(&host.gate);
    tools.call(call("note"), &with_key()).await;
    let rows = host.rows().await;
    assert_eq!(rows[0].notes[0].action, "said [secret:key]");
    clean(&format!("{rows:?}"), "audit");
}

fn unfit(name: &'static str, output: serde_json::Value) -> DynamicTool {
    let schema =
        json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false});
    let output_schema = json!({
        "type": "object",
        "properties": {"n": {"type": "integer"}, "s": {"type": "string", "enum": ["a", "b"]}},
        "additionalProperties": false
    });
    DynamicTool::new(
        name,
        "Gives what it has not promised.",
        schema,
        move |_: serde_json::Value, _: ToolContext| {
            let output = output.clone();
            async move { Ok::<_, ToolError>(output) }
        },
    )
    .effect(Effect::NONE)
    .output_schema(&output_schema)
}

// C1: the fault of an output schema showed the value, and a cut one where it was long.
#[tokio::test]
async fn fault_of_an_output_schema_shows_no_part_of_a_secret() {
    let before = "x".repeat(25);
    let outputs = [
        json!({ "n": KEY }),
        json!({ "n": format!("{before}{KEY}") }),
        json!({ "s": format!("{before}{KEY}") }),
        json!({ format!("{}{KEY}", "y".repeat(50)): 1 }),
        json!({ "n": [{ KEY: 1 }], KEY: { "deep": KEY } }),
    ];
    for (at, output) in outputs.into_iter().enumerate() {
        let host = Host::new();
        let tools = Registry::builder()
            .dynamic(unfit("unfit", output))
            .build()
            .unwrap()
            .open();
        let ungated = tools.call(call("unfit"), &with_key()).await;
        assert!(ungated.is_error());
        clean(&texts(&ungated), &format!("{at} without a gate"));
        let result = tools
            .through(&host.gate)
            .call(call("unfit"), &with_key())
            .await;
        assert!(
            result
                .error()
                .unwrap()
                .operator_text()
                .contains("output schema")
        );
        clean(&texts(&result), &at.to_string());
        clean(&format!("{:?}", host.rows().await), &format!("{at} audit"));
    }
}

/// Takes a number.
#[tool]
async fn number(
    /// The number.
    n: u32,
    /// Something.
    #[arg(audit = preview)]
    text: String,
) -> u32 {
    let _ = text;
    n
}

// C1: what is cut is masked before.
#[tokio::test]
async fn nothing_is_cut_before_it_is_masked() {
    let host = Host::new();
    let gated = toolset![number].through(&host.gate);
    let long = "x".repeat(20);
    let wide = "w".repeat(90);
    let calls = [
        ("number", json!({ "n": format!("{long}{KEY}"), "text": "" })),
        ("number", json!({ "n": 1, format!("{long}{long}{KEY}"): 2 })),
        ("number", json!({ "n": 1, "text": format!("{wide}{KEY}") })),
        (&*format!("tool_{long}{long}{long}{KEY}"), json!({})),
        (KEY, json!({})),
    ];
    for (at, (tool, arguments)) in calls.iter().enumerate() {
        let call = ToolCall::new(format!("c-{at}"), *tool, arguments.to_string());
        let result = gated.call(call.clone(), &with_key()).await;
        let told = format!("{} {:?}", result.model_text(), result.error());
        clean(&told, &at.to_string());
        clean(&format!("{result:?}"), &at.to_string());
        let result = toolset![number].call(call, &with_key()).await;
        let told = format!("{} {:?}", result.model_text(), result.error());
        clean(&told, &format!("{at} without a gate"));
    }
    let rows = host.rows().await;
    assert_eq!(rows.len(), calls.len());
    clean(&format!("{rows:?}"), "audit");
}

/// Fails at length.
#[tool]
async fn fail_at_length(#[secret("key")] key: SecretString) -> Result<u32, ToolError> {
    let text = format!("{}{}", "z".repeat(985), key.expose_secret());
    Err(ToolError::new(text))
}

// C1: an audit row keeps the beginning of an error.
#[tokio::test]
async fn cut_error_in_the_audit_shows_no_part_of_a_secret() {
    let host = Host::new();
    let tools = toolset![fail_at_length].through(&host.gate);
    tools.call(call("fail_at_length"), &with_key()).await;
    let rows = host.rows().await;
    assert!(rows[0].error.as_ref().unwrap().len() <= 1_000);
    clean(&format!("{rows:?}"), "audit");
}

// C1: ids and names of calls are a model's text as well.
#[tokio::test]
async fn id_of_a_call_is_masked_in_the_audit_and_in_debug() {
    let host = Host::new();
    let tools = toolset![cite].through(&host.gate);
    let call = ToolCall::new(format!("call-{KEY}"), "cite", "{}");
    let result = tools.call(call.clone(), &with_key()).await;
    // The provider pairs the result with its call by this.
    assert_eq!(result.id(), call.id);
    clean(&format!("{result:?}"), "Debug");
    let rows = host.rows().await;
    assert_eq!(rows[0].call, "call-[secret:key]");
    clean(&format!("{rows:?}"), "audit");
}

/// Wants a variable, and names the key.
#[tool]
async fn want(#[secret("key")] key: SecretString) -> Result<u32, ToolError> {
    let key = key.expose_secret();
    let mut need = VariableNeed::new("REGION");
    need.name = format!("REGION_{key}").into();
    need.description = Some(format!("Where {key} works.").into());
    Err(ToolError::variables_required(vec![need]))
}

// C1: fields of an error beside its texts.
#[tokio::test]
async fn missing_variables_are_masked() {
    let result = toolset![want].call(call("want"), &with_key()).await;
    assert_eq!(
        result.error().unwrap().missing_variables()[0].name,
        "REGION_[secret:key]"
    );
    clean(&texts(&result), "variables");
    clean(
        &format!("{:?}", result.error().unwrap().missing_variables()),
        "variables",
    );
}

/// Asks a person.
#[tool(approval)]
async fn send(
    /// To whom.
    to: String,
) -> String {
    to
}

// C1: `Debug` printed the token of an approval.
#[tokio::test]
async fn debug_prints_no_approval_token() {
    let host = Host::new();
    let tools = toolset![send].through(&host.gate);
    let result = tools
        .call(ToolCall::new("c-1", "send", r#"{"to":"bob"}"#), &with_key())
        .await;
    let ticket = &result.tickets()[0];
    assert!(ticket.token.len() > 40);
    let (claims, code) = ticket.token.rsplit_once('.').unwrap();
    let claims = claims.rsplit_once('.').unwrap().1;
    for text in [
        format!("{result:?}"),
        format!("{ticket:?}"),
        format!("{:#?}", result.tickets()),
    ] {
        assert!(!text.contains(claims) && !text.contains(code), "{text}");
        assert!(text.contains(&ticket.id), "{text}");
    }
}

/// Gives much.
#[tool]
async fn much(#[secret("key")] key: SecretString) -> Bounded<String, 100> {
    format!(
        "{}{} {}",
        "a".repeat(90),
        key.expose_secret(),
        "b".repeat(100)
    )
    .into()
}

// C1: what is kept beside a cut output, and where the cut is.
#[tokio::test]
async fn spilled_output_and_its_head_are_masked() {
    let cx = cx()
        .secret("key", SecretString::from(KEY))
        .with(Spills::new(MemoryStore::default()))
        .build();
    let tools = Registry::builder()
        .tool::<much>()
        .dynamic(tool_core::bounded::read_more())
        .build()
        .unwrap()
        .open();
    let result = tools.call(call("much"), &cx).await;
    let text = result.model_text();
    clean(&texts(&result), "head");
    let handle = text
        .split("handle `")
        .nth(1)
        .unwrap()
        .split('`')
        .next()
        .unwrap();
    let more = json!({ "handle": handle, "from": 0, "most": 60_000 }).to_string();
    let rest = tools
        .call(ToolCall::new("c-2", "read_more", more), &cx)
        .await;
    assert!(
        rest.model_text().contains("[secret:key]"),
        "{}",
        rest.model_text()
    );
    clean(&texts(&rest), "rest");
}
