//! Tests of hidden text in tools and results, which models read but people do not see.

use serde_json::{Value, json};
use tool_core::hidden;
use tool_core::prelude::*;
use tool_mcp::client::{McpLock, Refusal, mcp_tools};

use crate::support::{Listed, call, none, open, payload, steps};

/// "HI" in tag characters, a zero-width space, a direction override and a terminal colour.
const HIDDEN: &str = "\u{e0048}\u{e0049}\u{200b}\u{202e}\u{1b}[31m";
const SHOWN: &str = r"\u{e0048}\u{e0049}\u{200b}\u{202e}\u{1b}[31m";

fn tool(name: &str, description: &str) -> Value {
    json!({"name": name, "description": description, "inputSchema": {"type": "object", "properties": {"p": {"type": "string"}}}})
}

fn served() -> Value {
    let mut tools = vec![
        tool("plain", "Reads ⚠️ a note 👩‍⚕️.\r\nOne line more."),
        tool("described", &format!("Reads{HIDDEN} a note.")),
        tool("long", &"Reads a note. ".repeat(120_000 / 14)),
    ];
    let places = [
        ("parameter", "/inputSchema/properties/p/description"),
        ("choice", "/inputSchema/properties/p/enum/0"),
        ("titled", "/title"),
        ("annotated", "/annotations/title"),
        ("returned", "/outputSchema/description"),
    ];
    for (name, place) in places {
        let mut tool = tool(name, "Reads a note.");
        tool["inputSchema"]["properties"]["p"] =
            json!({"type": "string", "description": "d", "enum": ["x"]});
        tool["title"] = json!("t");
        tool["annotations"] = json!({"title": "t"});
        tool["outputSchema"] = json!({"type": "object", "description": "d"});
        *tool.pointer_mut(place).unwrap() = json!(format!("x{HIDDEN}"));
        tools.push(tool);
    }
    tools.push(tool(&format!("named{HIDDEN}"), "Reads a note."));
    json!({"tools": tools, "info": {"name": format!("evil{HIDDEN}"), "version": "1"}})
}

// Tools with hidden text are refused by default, and the report shows the text escaped.
#[tokio::test]
async fn tools_with_hidden_text_are_refused_and_reported() {
    let listed = Listed::start(&served()).await;
    let tools = mcp_tools(&listed.client).await.unwrap();
    let offered: Vec<_> = tools.report().offered().map(|tool| &*tool.remote).collect();
    assert_eq!(offered, ["plain"]);
    for tool in tools.report().refused() {
        let why = &tool.refusals;
        let expected = |refusal: &Refusal| match &*tool.remote {
            "long" => matches!(refusal, Refusal::TooLong(_)),
            _ => matches!(refusal, Refusal::HiddenText(_)),
        };
        assert!(why.iter().any(expected), "{tool}");
    }
    let said = tools.report().to_string();
    for says in [
        "`described`: refused\n  its texts contain hidden characters: `/description`: [hidden-text] the text contains characters that are not displayed: U+E0048, U+E0049, U+200B, U+202E, 1 more",
        "`/inputSchema/properties/p/enum/0`: [hidden-text]",
        "`long`: refused\n  it is too long: `/description`: [text-length] the text has 119994 bytes, and at most 16384 are allowed",
        &format!("`named{SHOWN}`: refused"),
    ] {
        assert!(said.contains(says), "{says}\n{said}");
    }
    // Neither the report nor the lock contains hidden characters.
    let lock = serde_json::to_string_pretty(tools.lock()).unwrap();
    for text in [
        &said,
        &lock,
        &tools.server().to_owned(),
        &format!("{tools:?}"),
    ] {
        assert!(!hidden::is_found(text), "{}", hidden::escape(text));
    }
    assert_eq!(tools.server(), format!("evil{SHOWN}"));
    let described = tools.lock().get("described").unwrap();
    assert_eq!(
        described.description.as_deref(),
        Some(&*format!("Reads{SHOWN} a note."))
    );
    let long = tools
        .lock()
        .get("long")
        .unwrap()
        .description
        .as_deref()
        .unwrap();
    assert!(long.len() <= 16_384, "{}", long.len());
}

// If the host opts in, hidden text is removed and reported.
#[tokio::test]
async fn hidden_text_is_removed_if_the_host_opts_in() {
    let listed = Listed::start(&served()).await;
    let tools = mcp_tools(&listed.client)
        .remove_hidden_text()
        .map_names()
        .await
        .unwrap();
    let refused: Vec<_> = tools.report().refused().map(|tool| &*tool.remote).collect();
    // Tools with hidden text in an enum value or in a name are still refused, because these must reach the server unchanged.
    assert_eq!(refused, ["choice", &*format!("named{HIDDEN}")]);
    let report = tools.report().get("parameter").unwrap().to_string();
    assert!(
        report.contains("removed: `/inputSchema/properties/p/description`"),
        "{report}"
    );
    let toolset = open(&tools);
    assert_eq!(
        toolset.get("described").unwrap().description(),
        "Reads[31m a note."
    );
    for def in toolset.tools() {
        for dialect in Dialect::ALL {
            assert!(!hidden::is_found(def.definition(dialect)), "{}", def.name());
        }
        assert!(def.description().len() <= 16_384);
    }
    assert_eq!(
        payload(&call(&toolset, "described", json!({"p": "x"})).await),
        json!({"p": "x"})
    );
}

// The lock pins the visible text and the hidden text.
#[tokio::test]
async fn changed_hidden_text_counts_as_a_change() {
    let with = |description: &str| json!({"tools": [tool("a", description)]});
    let hidden = Listed::start(&with("Reads\u{e0041} a note.")).await;
    let first = mcp_tools(&hidden.client)
        .remove_hidden_text()
        .await
        .unwrap();
    assert!(first.report().get("a").unwrap().is_offered());
    let kept = serde_json::to_string(first.lock()).unwrap();
    let lock: McpLock = serde_json::from_str(&kept).unwrap();
    assert_eq!(&lock, first.lock());
    for (other, is_same) in [
        ("Reads\u{e0041} a note.", true),
        ("Reads\u{e0042} a note.", false),
        ("Reads a note.", false),
        // A description that contains the escape sequence as visible text is a different description.
        (r"Reads\u{e0041} a note.", false),
    ] {
        let listed = Listed::start(&with(other)).await;
        let load = mcp_tools(&listed.client)
            .remove_hidden_text()
            .lock(lock.clone());
        let mut tools = load.await.unwrap();
        assert_eq!(tools.drift().is_empty(), is_same, "{other:?}");
        assert_eq!(
            tools.report().get("a").unwrap().is_offered(),
            is_same,
            "{other:?}"
        );
        assert_eq!(tools.accept("a"), !is_same);
        assert!(tools.report().get("a").unwrap().is_offered());
    }
    // `accept` finds a name with hidden characters by the name itself, and the lock lists its escaped form.
    let listed = Listed::start(&json!({"tools": [tool("a\u{200b}", "Reads.")]})).await;
    let mut tools = mcp_tools(&listed.client)
        .lock(McpLock::default())
        .await
        .unwrap();
    assert_eq!(tools.drift().added, [r"a\u{200b}"]);
    assert!(tools.accept("a\u{200b}") && tools.lock().get(r"a\u{200b}").is_some());
}

// The model does not receive hidden text in results, failures and progress steps.
#[tokio::test]
async fn results_for_the_model_contain_no_hidden_text() {
    let text = |text: &str| json!([{"type": "text", "text": text}]);
    let said = format!("a{HIDDEN}b");
    let served = json!({
        "tools": [tool("fine", "Works."), tool("fails", "Fails."), tool("link", "Links.")],
        "answers": {
            "fine": {"content": text(&said)},
            "fails": {"content": text(&said), "isError": true},
            "link": {"content": [{"type": "resource_link", "uri": "file:///x", "name": said}]},
        },
    });
    let listed = Listed::start(&served).await;
    let shown = open(&mcp_tools(&listed.client).await.unwrap());
    let exact = open(&mcp_tools(&listed.client).exact_results().await.unwrap());
    for name in ["fine", "fails", "link"] {
        let read = call(&shown, name, none()).await.model_text();
        assert!(
            read.contains(&format!("a{SHOWN}b")) && !hidden::is_found(&read),
            "{read:?}"
        );
        let read = call(&exact, name, none()).await.model_text();
        assert!(read.contains(&said), "{read:?}");
    }
    assert_eq!(payload(&call(&shown, "fine", none()).await), json!(said));
    let (progress, _) = steps(&shown, "fine", none()).await;
    assert!(progress.is_empty());
}
