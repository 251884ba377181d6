//! Tests of `run_code` and `describe_api` as tools of one turn.

use std::time::Duration;

use serde_json::{Value, json};
use tool_code::Limits;
use tool_core::prelude::*;
use tool_core::{Dialects, DynamicTool, Effect};

use crate::support::{Diary, builder, limits};

/// The kind of a place.
#[derive(Debug, Serialize, Deserialize, StrictSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// A town.
    Town,
    /// A river */ with an end of a comment.
    River,
}

/// A filter for places.
#[derive(Debug, Serialize, Deserialize, StrictSchema)]
pub(crate) struct Filter {
    /// The kinds of places to find.
    kinds: Vec<Kind>,
    /// The minimum size.
    #[schema(range = 0..=5000)]
    size: Option<u32>,
}

/// A shape on the map.
#[derive(Debug, Serialize, Deserialize, StrictSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Shape {
    /// A circle around a point.
    Circle {
        /// The radius in metres.
        radius: f64,
    },
    /// A path between points.
    Path {
        /// The points of the path.
        points: Vec<Vec<f64>>,
    },
}

/// A place on the map.
#[derive(Debug, Serialize, Deserialize, StrictSchema)]
pub(crate) struct Place {
    /// The name of the place.
    name: String,
    /// The kind of the place.
    kind: Kind,
    /// The shape of the place.
    shape: Shape,
    /// The place that contains this place.
    within: Option<Box<Place>>,
}

/// Finds places on the map. Use it before you name a place.
#[tool(read_only, providers(mcp, json_schema), example("Towns", { "query": "on sea" }))]
fn find_places(
    /// The words to search for in names.
    #[arg(length = 1..=80)]
    query: String,
    /// The maximum number of places.
    #[arg(default = 10, range = 1..=50)]
    limit: u32,
    /// A filter for the search.
    filter: Option<Filter>,
) -> Vec<Place> {
    let _ = (limit, filter);
    let place = |name: &str, within| Place {
        name: name.to_owned(),
        kind: Kind::Town,
        shape: Shape::Circle { radius: 2.5 },
        within,
    };
    vec![place(&query, Some(Box::new(place("all", None))))]
}

/// Returns the time of day.
#[tool(read_only)]
fn now() -> String {
    "noon".to_owned()
}

/// Writes a text to the diary.
#[tool]
fn note(
    diary: &Diary,
    /// The text to write.
    text: String,
) -> bool {
    diary.write(text);
    true
}

fn call(name: &str, arguments: &Value) -> ToolCall {
    ToolCall::new("c-1", name, arguments.to_string())
}

fn cx() -> ToolContext {
    ToolContext::anonymous()
}

#[tokio::test]
async fn a_model_calls_run_code_like_any_tool() {
    let tools = builder()
        .build()
        .unwrap()
        .instead_of(&toolset![find_places, now], &cx())
        .unwrap();
    assert!(tools.names().eq(["describe_api", "run_code"]));
    let code = "const places = await tools.find_places({ query: 'Wells' }); return places.map(place => [place.name, place.within?.name]);";
    let result = tools
        .call(call("run_code", &json!({"code": code})), &cx())
        .await;
    let output: Value = serde_json::from_str(&result.model_text()).unwrap();
    assert_eq!(
        (&output["status"], &output["result"]),
        (&json!("success"), &json!([["Wells", "all"]])),
        "{output}"
    );
    assert!(output["duration_ms"].is_u64());
    // The model cannot call a hidden tool directly.
    let hidden = tools.call(call("now", &json!({})), &cx()).await;
    assert_eq!(
        hidden.error().map(ToolError::kind),
        Some(tool_core::ErrorKind::UnknownTool)
    );
}

// S4-06: unknown options, timeouts out of range and a missing `code` are refused. A run ends at `timeout_ms`.
#[tokio::test]
async fn unknown_options_are_refused() {
    let tools = builder()
        .build()
        .unwrap()
        .instead_of(&toolset![now], &cx())
        .unwrap();
    for arguments in [
        json!({"code": "1", "network": true}),
        json!({"code": "1", "timeout_ms": 0}),
        json!({"code": "1", "timeout_ms": 60_001}),
        json!({}),
        json!({"source": "1"}),
    ] {
        let result = tools.call(call("run_code", &arguments), &cx()).await;
        assert_eq!(
            result.error().map(ToolError::kind),
            Some(tool_core::ErrorKind::InvalidArguments),
            "{arguments}"
        );
    }
    let result = tools
        .call(
            call("run_code", &json!({"code": "for (;;);", "timeout_ms": 300})),
            &cx(),
        )
        .await;
    assert!(
        result.model_text().contains("terminated"),
        "{}",
        result.model_text()
    );
}

#[tokio::test]
async fn the_deadline_of_the_turn_applies_to_the_run() {
    let cx = ToolContext::builder()
        .deadline(Duration::from_millis(1500))
        .build();
    let setup = builder().build().unwrap();
    let result = setup
        .start("for (;;);", &toolset![], &cx)
        .finish()
        .await
        .unwrap();
    assert_eq!(result.status, tool_code::Status::Terminated);
}

#[test]
fn every_provider_accepts_both_tools() {
    let tools = builder()
        .build()
        .unwrap()
        .instead_of(&toolset![now], &cx())
        .unwrap();
    for def in tools.tools() {
        assert_eq!(def.providers(), Dialects::ALL, "{}", def.name());
    }
    assert!(tools.faults().is_empty());
    for (tool, examples) in [("run_code", 2), ("describe_api", 2)] {
        let description = tools.get(tool).unwrap().description().to_owned();
        let (_, told) = description.split_once("\n\nExamples:\n").unwrap();
        let told: Vec<Value> = told
            .lines()
            .map(|line| serde_json::from_str(line.split_once(": ").unwrap().1).unwrap())
            .collect();
        assert_eq!(told.len(), examples, "{tool}");
    }
}

const DECLARED: &str =
    "type FindPlacesOutputPlace = {\n  /** The name of the place. */\n  name: string;\n";

#[tokio::test]
async fn describe_api_returns_typed_declarations() {
    let tools = builder()
        .build()
        .unwrap()
        .beside(&toolset![find_places, now, note], &cx())
        .unwrap();
    let told = tools
        .call(call("describe_api", &json!({})), &cx())
        .await
        .model_text();
    println!("{told}");
    for part in [
        DECLARED,
        "  /** Finds places on the map. Use it before you name a place. */\n  find_places(args: {\n",
        "    /**\n     * The maximum number of places.\n",
        "     * @minimum 1\n     * @maximum 50\n",
        "    limit?: number;\n",
        "\"town\" | \"river\"",
        "    filter?: {\n",
        "  now(args?: {}): Promise<string>;\n",
        "  }): Promise<boolean>;\n",
        "type: \"circle\";\n",
        "radius: number;\n",
    ] {
        assert!(told.contains(part), "{part}");
    }
    assert_eq!(
        told.matches("*/").count(),
        told.matches("/**").count(),
        "a comment ends early"
    );
    let one = tools
        .call(call("describe_api", &json!({"tools": ["now"]})), &cx())
        .await
        .model_text();
    assert_eq!(
        one,
        "declare const tools: {\n  /** Returns the time of day. */\n  now(args?: {}): Promise<string>;\n};\n"
    );
    let none = tools
        .call(call("describe_api", &json!({"tools": ["later"]})), &cx())
        .await;
    assert_eq!(
        none.model_text(),
        "code cannot call `later`, only find_places, note, now"
    );
    let alone = builder()
        .build()
        .unwrap()
        .beside(&toolset![], &cx())
        .unwrap();
    let none = alone
        .call(call("describe_api", &json!({"tools": ["later"]})), &cx())
        .await;
    assert_eq!(
        none.model_text(),
        "code cannot call `later`: no tools are available to code here"
    );
}

// The engine's compiler accepts the declarations as TypeScript. It does not check types.
#[tokio::test]
async fn declarations_are_typescript() {
    let setup = builder().build().unwrap();
    let tools = toolset![find_places, now, note];
    let told = setup
        .instead_of(&tools, &cx())
        .unwrap()
        .call(call("describe_api", &json!({})), &cx())
        .await
        .model_text();
    let result = setup
        .start(format!("{told}\nreturn await tools.now()"), &tools, &cx())
        .finish()
        .await
        .unwrap();
    assert_eq!(result.result.get(), "\"noon\"", "{:?}", result.error);
}

#[test]
fn the_contract_covers_the_tools_that_code_finds() {
    let contract = |tools: &Toolset, setup: tool_code::CodeBuilder| {
        setup
            .build()
            .unwrap()
            .instead_of(tools, &cx())
            .unwrap()
            .get("run_code")
            .unwrap()
            .contract()
    };
    let tools = toolset![find_places, now];
    let same = contract(&tools, builder());
    assert_eq!(same, contract(&tools, builder()));
    assert_ne!(same, contract(&toolset![now], builder()));
    assert_ne!(
        same,
        contract(
            &tools,
            builder().limits(Limits {
                calls: 7,
                ..limits()
            })
        )
    );
    assert_ne!(same, contract(&tools, builder().module("dates", "")));
    // The contract also covers declarations that are too long for the description.
    let long = contract(&tools, builder().inline(0));
    let other = tools.prepare(|mut list| {
        list[0].description.push_str(" Not at night.");
        list
    });
    assert_ne!(long, contract(&other.unwrap(), builder().inline(0)));
    let tools = toolset![find_places, now];
    assert_eq!(long, contract(&tools, builder().inline(0)));
    let short = builder()
        .inline(0)
        .build()
        .unwrap()
        .instead_of(&tools, &cx())
        .unwrap();
    assert!(
        short
            .get("run_code")
            .unwrap()
            .description()
            .contains("Tools: find_places, now. Call `describe_api`")
    );
}

#[test]
fn effect_of_run_code_follows_from_its_tools() {
    let setup = builder().build().unwrap();
    let effect = |tools: &Toolset| {
        let def = setup
            .instead_of(tools, &cx())
            .unwrap()
            .get("run_code")
            .unwrap()
            .clone();
        (def.effect(), def.hints().read_only)
    };
    assert_eq!(effect(&toolset![now]), (Effect::READ, true));
    assert_eq!(effect(&toolset![now, note]), (Effect::NONE, false));
    let send = DynamicTool::new(
        "send",
        "Sends a mail.",
        json!({"type": "object", "properties": {}, "additionalProperties": false}),
        |_: Value, _| async { 1 },
    )
    .effect(Effect::WRITE.union(Effect::EXTERNAL));
    let tools = Registry::builder().dynamic(send).build().unwrap().open();
    assert_eq!(
        effect(&tools),
        (Effect::WRITE.union(Effect::EXTERNAL), false)
    );
    assert!(
        setup
            .beside(&setup.beside(&toolset![now], &cx()).unwrap(), &cx())
            .is_err()
    );
}

#[tokio::test]
async fn missing_engine_process_is_an_error() {
    let isolation = tool_isolate::Isolation::new().helper("/no/such/binary");
    let setup = tool_code::Code::builder()
        .isolation(isolation)
        .build()
        .unwrap();
    let error = setup
        .start("return 1", &toolset![], &cx())
        .finish()
        .await
        .unwrap_err();
    assert_eq!(error.kind(), tool_core::ErrorKind::Unavailable);
    // The configured helper binary does not implement the helper.
    let isolation = tool_isolate::Isolation::new().helper("/bin/true");
    let setup = tool_code::Code::builder()
        .isolation(isolation)
        .build()
        .unwrap();
    assert!(
        setup
            .start("return 1", &toolset![], &cx())
            .finish()
            .await
            .is_err()
    );
}
