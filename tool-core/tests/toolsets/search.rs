//! Searching for tools: the toolset that offers `search_tools` and `call_tool`.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use futures::StreamExt as _;
use proptest::prelude::*;
use serde_json::{Value, json};
use tool_core::prelude::*;
use tool_core::search::{Found, ToolSearch};
use tool_core::{DynamicTool, ErrorKind, Layer, Rules, ToolsetError};

/// Sends a message to one person by electronic mail.
#[tool(category = "post")]
fn send_mail(
    /// The address of the recipient.
    to: String,
) -> String {
    format!("sent to {to}")
}

/// Lists the pull requests of a repository.
#[tool(read_only, tags = ["github"])]
fn list_pull_requests(
    /// The repository, as owner/name.
    repository: String,
) -> Vec<String> {
    vec![repository]
}

/// Deletes a branch for ever.
#[tool(destructive)]
fn delete_branch(
    /// The repository, as owner/name.
    repository: String,
    /// The name of the branch.
    branch: String,
) -> String {
    format!("{repository}/{branch} is gone")
}

/// Reads the calendar of this week.
#[tool(read_only)]
fn read_calendar() -> String {
    "nothing".to_owned()
}

/// Counts to two, and reports each number.
#[tool]
fn count() -> ToolStream<u32, String> {
    tool_stream! {
        yield 1;
        yield 2;
        "counted".to_owned()
    }
}

fn all() -> Toolset {
    toolset![
        send_mail,
        list_pull_requests,
        delete_branch,
        read_calendar,
        count
    ]
}

fn names<'a>(found: &[Found<'a>]) -> Vec<&'a str> {
    found.iter().map(|found| found.tool.wire_name()).collect()
}

fn via(name: &str, arguments: &str) -> ToolCall {
    let inside = json!({"name": name, "arguments": arguments});
    ToolCall::new("c-1", "call_tool", inside.to_string())
}

#[test]
fn search_finds_tools_by_description() {
    let tools = all();
    let search = ToolSearch::new(&tools);
    let first = |query: &str| names(&search.find(query, &tools)).first().copied();
    let cases = [
        // The queries match by name, singular of a plural, description, category, tag, parameter, and the beginning of a word.
        ("pull request", "list_pull_requests"),
        ("listPullRequests", "list_pull_requests"),
        ("electronic messages", "send_mail"),
        ("mail", "send_mail"),
        ("post", "send_mail"),
        ("github", "list_pull_requests"),
        ("branches", "delete_branch"),
        ("address", "send_mail"),
        ("calen", "read_calendar"),
        ("delete_branch", "delete_branch"),
        ("READ the CALENDAR", "read_calendar"),
    ];
    for (query, tool) in cases {
        assert_eq!(first(query), Some(tool), "{query}");
    }
    let loud = many(&["silent".to_owned(), "t0 ".repeat(9)]);
    let named = ToolSearch::new(&loud).find("t0", &loud)[0].tool.wire_name();
    assert_eq!(named, "t0", "an exact name finds its tool first");
    assert_eq!(first("quantum chromodynamics"), None);
    assert_eq!(first(""), None);
    let scores = search.find("repository", &tools);
    assert!(scores.len() >= 2 && scores.iter().all(|found| found.score > 0.0));
    assert!(scores.is_sorted_by(|a, b| a.score >= b.score));
    assert_eq!(search.most(1).find("repository", &tools).len(), 1);
}

#[tokio::test]
async fn model_searches_and_calls_a_tool() {
    let all = all();
    let search = ToolSearch::new(&all).keep(["read_calendar"]);
    let tools = all.searched(&search).unwrap();
    let offered = ["call_tool", "read_calendar", "search_tools"];
    assert!(
        tools
            .offered()
            .map(tool_core::ToolDef::wire_name)
            .eq(offered)
    );
    assert!(
        tools.get("send_mail").is_some(),
        "a tool that is not offered can still be called"
    );
    for dialect in Dialect::ALL {
        let sent = tools.definitions(dialect);
        for name in offered {
            assert!(sent.contains(&format!("\"name\":\"{name}\"")), "{sent}");
        }
        assert!(!sent.contains("send_mail"), "{sent}");
        let sent: Vec<Value> = serde_json::from_str(&sent).unwrap();
        assert_eq!(sent.len(), 3);
    }
    assert!(tools.faults().is_empty());
    let cx = ToolContext::builder().provider(Dialect::Anthropic).build();
    let ask =
        |query: &str| ToolCall::new("c-1", "search_tools", json!({"query": query}).to_string());
    let found = tools.call(ask("delete a branch"), &cx).await;
    let found: Value = serde_json::from_str(&found.model_text()).unwrap();
    assert_eq!(found["tools"][0]["name"], "delete_branch");
    let schema: Value = serde_json::from_str(
        tools
            .get("delete_branch")
            .unwrap()
            .schema(Dialect::Anthropic),
    )
    .unwrap();
    assert_eq!(found["tools"][0]["parameters"], schema);
    let nothing = tools.call(ask("chromodynamics"), &cx).await;
    assert!(nothing.is_error() && nothing.model_text().contains("try others"));

    let called = tools.call(via("send_mail", r#"{"to":"ann"}"#), &cx).await;
    assert_eq!((called.name(), called.id()), ("call_tool", "c-1"));
    assert_eq!(called.model_text(), "sent to ann");
    let by_name = ToolCall::new("c-2", "send_mail", r#"{"to":"ann"}"#);
    let called = tools.call(by_name, &cx).await;
    assert_eq!(
        (called.name(), called.model_text().as_str()),
        ("send_mail", "sent to ann")
    );
    let events: Vec<ToolEvent> = tools.stream(via("count", "{}"), &cx).collect().await;
    let steps = events
        .iter()
        .filter(|event| matches!(event, ToolEvent::Progress(_)));
    assert_eq!(steps.count(), 2);
    let Some(ToolEvent::Done(result)) = events.last() else {
        panic!("{events:?}")
    };
    assert_eq!(
        (result.name(), result.model_text().as_str()),
        ("call_tool", "counted")
    );
}

#[tokio::test]
async fn invalid_call_of_a_found_tool_explains_the_fix() {
    let all = all();
    let tools = all.clone().searched(&ToolSearch::new(&all)).unwrap();
    let cx = ToolContext::anonymous();
    let cases = [
        // The arguments of the inner tool do not match its schema.
        (via("send_mail", "{}"), ErrorKind::InvalidArguments, "/to"),
        (
            via("send_mial", r#"{"to":"ann"}"#),
            ErrorKind::UnknownTool,
            "send_mail",
        ),
        // The arguments of `call_tool` itself do not match its schema.
        (
            ToolCall::new("1", "call_tool", r#"{"name":"send_mail"}"#),
            ErrorKind::InvalidArguments,
            "/arguments",
        ),
        (
            ToolCall::new("1", "call_tool", "not json"),
            ErrorKind::InvalidArguments,
            "",
        ),
        // `call_tool` cannot call itself.
        (
            via("call_tool", r#"{"name":"send_mail","arguments":"{}"}"#),
            ErrorKind::Unavailable,
            "",
        ),
    ];
    for (call, kind, text) in cases {
        let result = tools.call(call.clone(), &cx).await;
        let error = result.error().unwrap();
        assert_eq!(error.kind(), kind, "{call:?}: {error}");
        assert!(
            result.model_text().contains(text),
            "{}",
            result.model_text()
        );
        assert_eq!(result.name(), "call_tool");
    }
    // An object in place of the JSON text is accepted, unless the host turns repair off.
    let object = || {
        let inside = r#"{"name":"send_mail","arguments":{"to":"ann"}}"#;
        ToolCall::new("1", "call_tool", inside)
    };
    let result = tools.call(object(), &cx).await;
    assert_eq!(result.model_text(), "sent to ann");
    let strict = tools.repair(Repair::Off);
    let result = strict.call(object(), &cx).await;
    assert_eq!(result.error().unwrap().kind(), ErrorKind::InvalidArguments);
}

#[tokio::test]
async fn search_never_shows_hidden_tools() {
    let registry = Registry::builder()
        .tool::<send_mail>()
        .tool::<delete_branch>()
        .build()
        .unwrap();
    let search = ToolSearch::new(&registry.open());
    let cx = ToolContext::anonymous();
    let rules = Rules::default().deny(["delete_branch"]);
    let tools = registry.toolset(&cx, &rules).searched(&search).unwrap();
    assert!(search.find("delete branch", &tools).is_empty());
    assert_eq!(
        tools.explain("delete_branch").layer(),
        Some(Layer::Deny),
        "the layers are unchanged"
    );
    let hidden = tools
        .call(
            via("delete_branch", r#"{"repository":"a/b","branch":"c"}"#),
            &cx,
        )
        .await;
    let unknown = tools.call(via("delete_brunch", "{}"), &cx).await;
    assert_eq!(hidden.error().unwrap().kind(), ErrorKind::UnknownTool);
    assert_eq!(
        hidden.model_text().replace("delete_branch", "?"),
        unknown.model_text().replace("delete_brunch", "?"),
        "a hidden tool is reported like an unknown tool"
    );
    let asked = ToolCall::new("1", "search_tools", r#"{"query":"delete branch mail"}"#);
    let text = tools.call(asked, &cx).await.model_text();
    assert!(text.contains("send_mail") && !text.contains("delete_branch"));

    // A tool that is disabled while the turn runs is not found either.
    let disables = tool_core::Disables::default();
    let rules = Rules::default().disables(&disables);
    let tools = registry.toolset(&cx, &rules).searched(&search).unwrap();
    assert_eq!(names(&search.find("mail", &tools)), ["send_mail"]);
    disables.disable("send_mail");
    assert!(search.find("mail", &tools).is_empty());
}

#[test]
fn filtering_a_searched_toolset_drops_the_search() {
    let all = all();
    let search = ToolSearch::new(&all);
    let tools = all.clone().searched(&search).unwrap();
    // A second call of `searched` changes nothing.
    let twice = tools.clone().filter(|_| true).searched(&search).unwrap();
    assert!(twice.names().eq(tools.names()));
    let filtered = tools.filter(|tool| tool.wire_name() != "count");
    assert!(filtered.search().is_none());
    assert!(filtered.offered().map(tool_core::ToolDef::wire_name).eq([
        "delete_branch",
        "list_pull_requests",
        "read_calendar",
        "send_mail"
    ]));
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let other = DynamicTool::new(
        "search_tools",
        "A different tool.",
        schema,
        |_: Value, _| async { 1 },
    );
    let taken = Registry::builder().dynamic(other).build().unwrap().open();
    let error = taken.named("mine").searched(&search).unwrap_err();
    assert!(matches!(error, ToolsetError::Collision { .. }));
    assert!(error.to_string().contains("toolset `mine`"), "{error}");
}

/// Returns a toolset with a tool for each description; the names are `t0`, `t1`, …
fn many(words: &[String]) -> Toolset {
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let tools = words.iter().enumerate().map(|(at, word)| {
        DynamicTool::new(
            format!("t{at}"),
            word.clone(),
            schema.clone(),
            |_: Value, _| async { 1 },
        )
    });
    tools
        .fold(Registry::builder(), tool_core::RegistryBuilder::dynamic)
        .build()
        .unwrap()
        .open()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A query always finds the same tools in the same order, and no query panics. A description with a word of two or more
    /// letters finds its tool.
    #[test]
    fn search_is_deterministic(words in prop::collection::vec("[a-z]{1,3}( [a-z]{1,3}){0,4}", 1..20), query in "\\PC{0,40}") {
        let tools = many(&words);
        let (first, second) = (ToolSearch::new(&tools).most(100), ToolSearch::new(&tools).most(100));
        let found = |search: &ToolSearch, query: &str| {
            let found = search.find(query, &tools);
            found.iter().map(|found| (found.tool.wire_name().to_owned(), found.score.to_bits())).collect::<Vec<_>>()
        };
        prop_assert_eq!(found(&first, &query), found(&second, &query));
        for (at, text) in words.iter().enumerate() {
            let long = text.split(' ').any(|word| word.len() > 1);
            let mine = first.find(text, &tools).iter().any(|found| found.tool.wire_name() == format!("t{at}"));
            prop_assert!(mine || !long, "{}", text);
        }
    }
}
