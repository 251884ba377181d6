//! Starting a program, and the tool list that a model gets.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tool_core::prelude::*;
use tool_core::store::{Catalogue, MemoryStore};
use tool_core::{DynamicTool, ErrorKind, Rules, ToolsetDelta};
use tracing::field::{Field, Visit};

use crate::support::{count, kind, pay, send_mail};

/// Collects the names of the stages that are logged.
#[derive(Clone, Default)]
struct Stages(Arc<Mutex<Vec<String>>>);

impl tracing::Subscriber for Stages {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }
    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn event(&self, event: &tracing::Event<'_>) {
        struct Stage(String);
        impl Visit for Stage {
            fn record_str(&mut self, field: &Field, value: &str) {
                if matches!(field.name(), "stage" | "tool") {
                    let _ = write!(self.0, "{value} ");
                }
            }
            fn record_debug(&mut self, _: &Field, _: &dyn std::fmt::Debug) {}
        }
        let mut stage = Stage(String::new());
        event.record(&mut stage);
        self.0.lock().unwrap().push(stage.0.trim().to_owned());
    }
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}

// S1-99: scan, import, prune and sync happen in this order.
#[test]
fn boot_steps_run_in_a_fixed_order() {
    let stages = Stages::default();
    let store = MemoryStore::default();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    // With a single subscriber, tracing decides whether a callsite is enabled on the thread that reaches the callsite first, which may be the thread
    // of a different test.
    let _second = tracing::Dispatch::new(tracing::subscriber::NoSubscriber::default());
    tracing::subscriber::with_default(stages.clone(), || {
        let builder = Registry::builder()
            .tool::<send_mail>()
            .tool::<pay>()
            .tool::<count>()
            .required_env("pay", "TOOL_CORE_TEST_IS_NOT_SET");
        let registry = runtime.block_on(builder.boot(&store)).unwrap();
        assert!(registry.get("pay").is_none() && registry.get("count").is_some());
    });
    let names: Vec<_> = stages
        .0
        .lock()
        .unwrap()
        .iter()
        .filter(|stage| !stage.is_empty())
        .cloned()
        .collect();
    assert_eq!(
        names,
        ["scan", "import", "pay", "prune", "sync"],
        "a tool without its environment variable causes one warning"
    );
    let entries = runtime.block_on(Catalogue::entries(&store)).unwrap();
    let names: Vec<_> = entries.iter().map(|entry| entry.name.as_str()).collect();
    assert!(
        names.contains(&"send_mail") && !names.contains(&"pay"),
        "{names:?}"
    );
}

// M11, S1-62: a list has the same bytes until a tool changes, and a delta names the changed tools.
#[test]
fn tool_list_is_stable_and_deltas_name_the_change() {
    let registry = Registry::builder()
        .tool::<send_mail>()
        .tool::<pay>()
        .tool::<count>()
        .build()
        .unwrap();
    let cx = ToolContext::anonymous();
    let of = |rules: &Rules| registry.toolset(&cx, rules);
    let (all, again) = (of(&Rules::default()), of(&Rules::default()));
    assert_eq!(
        all.definitions(Dialect::Anthropic),
        again.definitions(Dialect::Anthropic)
    );
    assert_eq!(
        all.delta(&again, Dialect::Anthropic),
        ToolsetDelta::default()
    );

    let fewer = of(&Rules::default().deny(["pay"]));
    let delta = fewer.delta(&all, Dialect::OpenAi);
    assert_eq!(
        (delta.removed.as_slice(), delta.added.len()),
        (&["pay".to_owned()][..], 0)
    );
    assert_eq!(all.delta(&fewer, Dialect::OpenAi).added, ["pay"]);
    // A different tool under the same name is a change.
    let other = Registry::builder()
        .dynamic(noted("count", |_| json!("7")))
        .build()
        .unwrap()
        .open();
    let delta = other.delta(&all, Dialect::Mcp);
    assert_eq!(
        (delta.changed.as_slice(), delta.removed.len()),
        (&["count".to_owned()][..], 2)
    );
}

fn noted(name: &str, answer: fn(Value) -> Value) -> DynamicTool {
    DynamicTool::new(
        name,
        "Answers.",
        json!({
            "type": "object",
            "properties": {"n": {"type": "integer", "minimum": 1, "description": "A number."}},
            "required": ["n"],
            "additionalProperties": false
        }),
        move |arguments: Value, _| async move { Ok::<_, ToolError>(answer(arguments)) },
    )
}

// S3-11: arguments are validated by the schema that the model sees.
#[tokio::test]
async fn arguments_are_validated_by_the_schema_the_model_sees() {
    let registry = Registry::builder()
        .dynamic(noted("answer", |arguments| arguments))
        .build()
        .unwrap();
    let def = registry.get("answer").unwrap();
    for dialect in Dialect::ALL {
        assert!(
            registry
                .open()
                .definitions(dialect)
                .contains(def.schema(dialect)),
            "the definitions contain the schema unchanged"
        );
    }
    let cx = ToolContext::anonymous();
    let refused = registry
        .open()
        .call(ToolCall::new("c-1", "answer", r#"{"n":0}"#), &cx)
        .await;
    assert_eq!(kind(&refused), Some(ErrorKind::InvalidArguments));
    let fine = registry
        .open()
        .call(ToolCall::new("c-2", "answer", r#"{"n":1}"#), &cx)
        .await;
    assert_eq!(fine.model_text(), r#"{"n":1}"#);
}

type Answer = fn(Value) -> Value;

// S3-12: an output that breaks the tool's output schema is an error.
#[tokio::test]
async fn output_that_violates_its_schema_is_an_error() {
    let schema = json!({
        "type": "object",
        "properties": {"n": {"type": "integer"}, "tags": {"type": "array", "items": {"type": "string"}}},
        "required": ["n"]
    });
    let cases: [(Answer, bool); 5] = [
        (|_| json!({"n": 1}), true),
        (
            |_| json!({"n": 1, "tags": ["a"], "more": {"than": "promised"}}),
            true,
        ),
        (|_| json!({"n": "one"}), false),
        (|_| json!({"tags": []}), false),
        (|_| json!({"n": 1, "tags": ["a", 2]}), false),
    ];
    for (at, (answer, fits)) in cases.into_iter().enumerate() {
        let tool = noted("answer", answer).output_schema(&schema);
        let tools = Registry::builder().dynamic(tool).build().unwrap().open();
        let result = tools
            .call(
                ToolCall::new("c-1", "answer", r#"{"n":1}"#),
                &ToolContext::anonymous(),
            )
            .await;
        assert_eq!(!result.is_error(), fits, "{at}: {result:?}");
        if let Some(error) = result.error() {
            assert_eq!(
                error.model_text(),
                "the tool returned an output that does not match its own schema"
            );
            assert!(
                error
                    .operator_text()
                    .contains("does not fit the tool's output schema"),
                "{}",
                error.operator_text()
            );
        }
    }
    // An output schema may forbid additional properties.
    let closed = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": false});
    let tool = noted("answer", |_| json!({"n": 1, "more": 2})).output_schema(&closed);
    let tools = Registry::builder().dynamic(tool).build().unwrap().open();
    let result = tools
        .call(
            ToolCall::new("c-1", "answer", r#"{"n":1}"#),
            &ToolContext::anonymous(),
        )
        .await;
    assert!(result.is_error());
    // An invalid output schema is refused.
    let error = Registry::builder()
        .dynamic(noted("answer", |_| json!(1)).output_schema(&json!({"type": "wrong"})))
        .build();
    assert!(
        error
            .unwrap_err()
            .to_string()
            .contains("outputs cannot be validated against the output schema")
    );
}

// S3-12: an output that is not an object is validated as well.
#[tokio::test]
async fn non_object_output_is_validated() {
    let hits = json!({
        "type": "array",
        "items": {"$ref": "#/$defs/Hit"},
        "$defs": {"Hit": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}}
    });
    // The outer object is closed, and the objects in its lists are open.
    let closed = json!({
        "type": "object",
        "properties": {
            "hits": {"type": "array", "items": {"$ref": "#/$defs/Hit"}},
            "own": {"anyOf": [{"$ref": "#/$defs/Own"}, {"type": "null"}]},
            "all": {"description": "…", "allOf": [{"$ref": "#/$defs/Own"}]},
            "first": {"allOf": [{"$ref": "#/$defs/Hit"}]},
            "beside": {
                "allOf": [{"$ref": "#/$defs/Hit"}],
                "properties": {"m": {"type": "integer"}},
                "additionalProperties": false
            }
        },
        "required": ["hits", "own"],
        "additionalProperties": false,
        "$defs": {
            "Hit": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
            "Own": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": false}
        }
    });
    let deep: Answer = |_| {
        let nested = (0..200).fold(json!(1), |inner, _| json!([inner]));
        json!([{"n": 1, "more": nested}])
    };
    let cases: [(Value, Answer, Option<&str>); 11] = [
        (
            closed.clone(),
            |_| json!({"hits": [], "own": null, "all": {"n": 1, "more": 2}}),
            Some("/all/more"),
        ),
        (
            closed.clone(),
            |_| json!({"hits": [], "own": null, "all": {"n": 1}, "first": {"n": 1, "more": 2}, "beside": {"n": 1, "m": 2}}),
            None,
        ),
        (
            closed.clone(),
            |_| json!({"hits": [], "own": null, "beside": {"n": 1, "more": 2}}),
            Some("/beside/more"),
        ),
        (
            closed.clone(),
            |_| json!({"hits": [{"n": 1, "more": 2}], "own": {"n": 1}}),
            None,
        ),
        (
            closed.clone(),
            |_| json!({"hits": [], "own": null, "more": 2}),
            Some("more"),
        ),
        (
            closed,
            |_| json!({"hits": [], "own": {"n": 1, "more": 2}}),
            Some("more"),
        ),
        (hits.clone(), deep, Some("JSON that can be checked")),
        (hits.clone(), |_| json!([{"n": 1, "more": 2}]), None),
        (hits, |_| json!([{"n": 1}, {"n": "two"}]), Some("`/1/n`")),
        (json!({"type": "integer"}), |_| json!(7), None),
        (
            json!({"type": "integer"}),
            |_| json!({"result": 7}),
            Some("expected"),
        ),
    ];
    for (at, (schema, answer, wrong)) in cases.into_iter().enumerate() {
        let tool = noted("answer", answer).output_schema(&schema);
        let tools = Registry::builder().dynamic(tool).build().unwrap().open();
        let call = ToolCall::new("c-1", "answer", r#"{"n":1}"#);
        let result = tools.call(call, &ToolContext::anonymous()).await;
        let why = result
            .error()
            .map(ToolError::operator_text)
            .unwrap_or_default();
        assert_eq!(result.is_error(), wrong.is_some(), "{at}: {why}");
        assert!(why.contains(wrong.unwrap_or_default()), "{at}: {why}");
    }
    // `#` would refer to the envelope, in which the schema is embedded, so the reference is refused.
    let itself = json!({"type": "array", "items": {"$ref": "#"}});
    let tool = noted("answer", |_| json!([])).output_schema(&itself);
    assert!(Registry::builder().dynamic(tool).build().is_err());
}
