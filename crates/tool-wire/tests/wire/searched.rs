//! Deferred tools that the provider or `search_tools` finds, in each provider's format.

use serde_json::{Value, json};
use tool_core::prelude::*;
use tool_core::search::ToolSearch;
use tool_core::{DynamicTool, RegistryBuilder, Rules};
use tool_wire::{Offer, Provider};

use crate::support::{fetch, forecast, search};

fn some() -> Registry {
    Registry::builder()
        .tool::<forecast>()
        .tool::<search>()
        .tool::<fetch>()
        .build()
        .unwrap()
}

fn many(count: usize) -> Registry {
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let tool = |at: usize| {
        let text = format!("Does thing {at}.");
        DynamicTool::new(format!("thing_{at}"), text, &schema, |_: Value, _| async {
            1
        })
    };
    (0..count)
        .map(tool)
        .fold(Registry::builder(), RegistryBuilder::dynamic)
        .build()
        .unwrap()
}

fn searched(registry: &Registry) -> Toolset {
    let all = registry.open();
    let search = ToolSearch::new(&all).keep(["forecast"]);
    all.searched(&search).unwrap()
}

fn list(offer: &Offer) -> Vec<Value> {
    serde_json::from_str(offer.tools()).unwrap()
}

fn named(tool: &Value) -> &str {
    let inner = [
        &tool["name"],
        &tool["function"]["name"],
        &tool["toolSpec"]["name"],
        &tool["type"],
    ];
    inner.into_iter().find_map(Value::as_str).unwrap()
}

#[test]
fn anthropic_uses_its_own_tool_search() {
    let offer = Provider::Anthropic.offer(&searched(&some())).unwrap();
    let list = list(&offer);
    assert_eq!(
        list[0],
        json!({"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"})
    );
    assert_eq!(named(&list[1]), "forecast");
    assert_eq!(list[1].get("defer_loading"), None);
    assert_eq!(list[1]["strict"], true);
    assert_eq!(named(&list[2]), "search");
    assert_eq!(
        (&list[2]["defer_loading"], &list[2]["strict"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(list.len(), 3, "`search_tools` or `call_tool` is offered");
    assert_eq!(offer.left_out(), ["fetch"]);
    // The other definitions equal the definitions in a request without search.
    let plain = Provider::Anthropic.offer(&some().open()).unwrap();
    let plain: Vec<Value> = serde_json::from_str(plain.tools()).unwrap();
    assert_eq!(list[1], plain[0]);
    assert_eq!(list[2]["input_schema"], plain[1]["input_schema"]);
}

#[test]
fn responses_uses_its_own_tool_search() {
    let offer = Provider::Responses.offer(&searched(&some())).unwrap();
    let list = list(&offer);
    assert_eq!(list[0], json!({"type": "tool_search"}));
    let listed: Vec<(&str, bool, bool)> = list[1..]
        .iter()
        .map(|tool| {
            let late = tool["defer_loading"] == true;
            (named(tool), late, tool["strict"] == true)
        })
        .collect();
    assert_eq!(
        listed,
        [
            ("fetch", true, true),
            ("forecast", false, true),
            ("search", true, true)
        ]
    );
}

#[test]
fn other_providers_get_search_and_call_tools() {
    for provider in [Provider::Chat, Provider::Gemini, Provider::Bedrock] {
        let offer = provider.offer(&searched(&some())).unwrap();
        let list = list(&offer);
        let names: Vec<&str> = list.iter().map(named).collect();
        let expected = ["call_tool", "forecast", "search_tools"];
        assert_eq!(names, expected, "{}", provider.name());
        assert!(!offer.tools().contains("defer_loading"));
    }
}

#[test]
fn provider_with_too_many_tools_gets_search_and_call_tools() {
    let sizes = [
        (Provider::Anthropic, 9_999, true),
        (Provider::Anthropic, 10_000, false),
        (Provider::Responses, 127, true),
        (Provider::Responses, 128, false),
    ];
    for (provider, count, native) in sizes {
        let offer = provider.offer(&searched(&many(count))).unwrap();
        let list = list(&offer);
        let expected = if native { count + 1 } else { 2 };
        assert_eq!(list.len(), expected, "{} of {count}", provider.name());
    }
}

// M11: a deferred tool is added and removed without changing a byte of the cached request.
#[test]
fn deferred_tool_changes_leave_the_cached_request_unchanged() {
    let registry = some();
    let cx = ToolContext::anonymous();
    let all = ToolSearch::new(&registry.open()).keep(["forecast"]);
    let turn = |rules: Rules| registry.toolset(&cx, &rules).searched(&all).unwrap();
    let without = turn(Rules::default().deny(["search"]));
    let with = turn(Rules::default());

    let first = Provider::Anthropic.offer(&without).unwrap();
    let second = first.next(&with).unwrap();
    assert!(second.keeps_prefix(), "a deferred tool changes the cache");
    assert!(second.change().is_none() && second.betas().is_empty());
    let (before, after) = (list(&first), list(&second));
    assert_eq!(after[..before.len()], before, "an earlier tool has moved");
    assert_eq!(named(&after[before.len()]), "search");
    let third = second.next(&without).unwrap();
    assert_eq!(third.tools(), second.tools());
    assert!(third.withdrawn().eq(["search"]));

    let first = Provider::Responses.offer(&without).unwrap();
    let second = first.next(&with).unwrap();
    assert_eq!(second.tools(), first.tools());
    assert!(second.keeps_prefix());
    let change = second.change().unwrap().get();
    assert!(change.contains(r#""name":"search""#), "{change}");
    // If a conversation begins or stops searching, a new list begins.
    let plain = first
        .next(&registry.toolset(&cx, &Rules::default()))
        .unwrap();
    assert!(!plain.keeps_prefix());
    assert!(!plain.tools().contains("tool_search"));
    let kept = ToolSearch::new(&registry.open()).keep(["fetch", "forecast", "search"]);
    let sight = registry.open().searched(&kept).unwrap();
    let plain = Provider::Responses.offer(&sight).unwrap();
    let plain = plain.next(&registry.open()).unwrap();
    assert!(!plain.keeps_prefix() && !plain.tools().contains("tool_search"));
}

// The search that a provider ran and its results are sent back unchanged; the call after them is a call of the found tool.
#[tokio::test]
async fn call_of_a_tool_found_by_the_provider_runs() {
    let answers = [
        (
            Provider::Anthropic,
            r#"{"role":"assistant","stop_reason":"tool_use","content":[
                {"type":"server_tool_use","id":"srvtoolu_1","name":"tool_search_tool_bm25","input":{"query":"search"}},
                {"type":"tool_search_tool_result","tool_use_id":"srvtoolu_1","content":{"type":"tool_search_tool_search_result","tool_references":[{"type":"tool_reference","tool_name":"search"}]}},
                {"type":"tool_use","id":"c-1","name":"search","input":{"query":"rust","limits":[1.5],"exact":true}}]}"#,
            "tool_search_tool_search_result",
        ),
        (
            Provider::Responses,
            r#"{"status":"completed","output":[
                {"type":"tool_search_call","id":"ts_1","execution":"server","call_id":null,"status":"completed","arguments":{"paths":["search"]}},
                {"type":"tool_search_output","id":"to_1","execution":"server","call_id":null,"status":"completed","tools":[]},
                {"type":"function_call","id":"fc_1","call_id":"c-1","name":"search","arguments":"{\"query\":\"rust\",\"limits\":[1.5],\"exact\":true}","status":"completed"}]}"#,
            "tool_search_output",
        ),
    ];
    let tools = searched(&some());
    for (provider, body, kept) in answers {
        let reply = provider.reply(body).unwrap();
        assert_eq!(
            reply.calls().len(),
            1,
            "the search itself is returned as a call"
        );
        let result = tools
            .call(reply.calls()[0].clone(), &ToolContext::anonymous())
            .await;
        assert_eq!(result.model_text(), r#"["rust 1.5"]"#);
        let messages = provider.assistant(reply.message());
        let messages = serde_json::to_string(&messages).unwrap();
        assert!(messages.contains(kept), "{messages}");
    }
}
