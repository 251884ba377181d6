//! The tool that `#[tool]` generates from a function.

#![forbid(unsafe_code)]
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::many_single_char_names,
    clippy::non_minimal_cfg,
    deprecated,
    non_snake_case,
    unreachable_pub,
    reason = "tests fail by panicking; tools are public like in a pack, and some have unusual names or deprecated items on purpose"
)]

mod attributes;
mod effects;
mod hygiene;
mod name_conflicts;
mod needs;
mod output;
mod parameters;
mod promises;
mod typed_input;

use std::future::Future;

use tool_core::prelude::*;

/// Runs a future to its end on a runtime with a timer.
fn block_on<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build();
    runtime.expect("the runtime starts").block_on(future)
}

/// Calls a linked tool of this program.
fn call(name: &str, arguments: &str, cx: &ToolContext) -> CallResult {
    let tools = Registry::linked()
        .expect("the tools of this program are valid")
        .open();
    block_on(tools.call(ToolCall::new("call_1", name, arguments), cx))
}

/// Calls a tool with an anonymous context, and returns the text that the model reads.
fn answer(name: &str, arguments: &str) -> String {
    call(name, arguments, &ToolContext::anonymous()).model_text()
}

/// Returns the schema of a tool's arguments as plain JSON Schema.
fn schema<T: Tool>() -> serde_json::Value {
    serde_json::from_str(T::DEF.schema(Dialect::JsonSchema)).expect("a schema is JSON")
}

/// Greets a person. Use it once per conversation.
#[tool]
fn greet(
    /// The name of the person.
    name: String,
) -> String {
    format!("hello {name}")
}

/// Returns the time of the tests.
#[tool]
async fn now() -> Result<u32, ToolError> {
    Ok(12)
}

// S0-01, S0-05, S2-01, S2-03: a tool has a name, a description, a typed schema and a body; doc comments are the descriptions in the schema.
#[test]
fn a_tool_has_a_name_a_description_a_schema_and_a_body() {
    let def = <greet as Tool>::DEF;
    assert_eq!(def.name(), "greet");
    assert_eq!(<greet as Tool>::NAME, "greet");
    assert_eq!(
        def.description(),
        "Greets a person. Use it once per conversation."
    );
    assert_eq!(
        schema::<greet>(),
        serde_json::json!({
            "type": "object",
            "properties": {"name": {"type": "string", "description": "The name of the person."}},
            "required": ["name"],
            "additionalProperties": false
        })
    );
    for dialect in Dialect::ALL {
        let definition: serde_json::Value =
            serde_json::from_str(def.definition(dialect)).expect("a definition is JSON");
        assert!(
            definition
                .to_string()
                .contains("Use it once per conversation.")
        );
    }
    assert_eq!(answer("greet", r#"{"name":"Ada"}"#), "hello Ada");
}

// S0-02, S2-07: a tool registers itself, and may also be registered explicitly.
#[test]
fn a_tool_registers_itself() {
    let linked = Registry::linked().expect("the tools of this program are valid");
    assert!(linked.get("greet").is_some() && linked.get("now").is_some());
    let explicit = Registry::builder()
        .tool::<greet>()
        .build()
        .expect("the registry accepts one tool");
    assert_eq!(explicit.open().names().collect::<Vec<_>>(), ["greet"]);
}

// S4-10: a tool without arguments has an empty closed object as its schema.
#[test]
fn a_tool_without_arguments_has_an_empty_closed_object() {
    assert_eq!(
        schema::<now>(),
        serde_json::json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false})
    );
    assert_eq!(answer("now", "{}"), "12");
}

// S0-08: the context parameter of a tool is optional.
#[test]
fn context_parameter_is_optional() {
    /// Returns the id of its call.
    #[tool]
    async fn which_call(cx: &ToolContext) -> String {
        cx.call_id().unwrap_or("none").to_owned()
    }
    assert_eq!(answer("which_call", "{}"), "call_1");
    assert_eq!(answer("now", "{}"), "12");
}

// S0-02: the origin of a tool is the place of its function.
#[test]
fn origin_is_the_place_of_the_function() {
    let origin = <greet as Tool>::DEF.origin().expect("the tool is linked");
    assert_eq!(origin.krate, "tool-tests");
    assert_eq!(origin.module, module_path!());
    assert!(origin.file.ends_with("tests/tool/main.rs"));
    let line = include_str!("main.rs")
        .lines()
        .position(|line| line.starts_with("fn greet("))
        .expect("the file has the function");
    assert_eq!(origin.line as usize, line + 1);
}

// S0-03: the registry has every linked tool before the first call. Neither calls nor later registries change it.
#[test]
fn registry_is_complete_before_the_first_call_and_never_changes() {
    const THREADS: usize = 4;
    let read = |registry: &Registry| {
        let names: Vec<_> = registry.tools().iter().map(ToolDef::name).collect();
        let names = names.join(" ");
        (
            names,
            Dialect::ALL.map(|dialect| registry.open().definitions(dialect)),
        )
    };
    let linked = || Registry::linked().expect("the tools of this program are valid");
    let registry = linked();
    let tools = registry.open();
    let before = read(&registry);
    for name in ["greet", "now", "find-docs"] {
        assert!(tools.get(name).is_some(), "{name}");
    }

    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (registry, tools, before) = (&registry, &tools, &before);
            scope.spawn(move || {
                for round in 0..10 {
                    let late = format!("late_{thread}_{round}");
                    let schema = serde_json::json!({"type": "object", "properties": {}, "additionalProperties": false});
                    let tool = tool_core::DynamicTool::new(
                        late.as_str(),
                        "Comes late.",
                        schema,
                        |_: serde_json::Value, _| async { "late" },
                    );
                    let more = Registry::builder().with_linked().dynamic(tool).build();
                    let more = more.expect("the registry accepts another tool").open();
                    let cx = ToolContext::anonymous();
                    let call = |tools: &Toolset, name: &str, arguments: &str| {
                        block_on(tools.call(ToolCall::new("call_1", name, arguments), &cx))
                    };
                    assert_eq!(call(&more, &late, "{}").model_text(), "late");
                    assert!(call(tools, &late, "{}").is_error(), "{late}");
                    let greeted = call(tools, "greet", r#"{"name":"Ada"}"#);
                    assert_eq!(greeted.model_text(), "hello Ada");
                    assert_eq!(&read(registry), before);
                }
            });
        }
    });
    assert_eq!(read(&registry), before);
    assert_eq!(read(&linked()), before);
}

// S1-09: name, description and schema are fixed at compile time.
#[test]
fn definition_is_fixed_at_compile_time() {
    const DEF: ToolDef = <greet as Tool>::DEF;
    let first = DEF.definition(Dialect::OpenAi).as_ptr();
    assert_eq!(
        first,
        <greet as Tool>::DEF.definition(Dialect::OpenAi).as_ptr()
    );
}

use tool_core::ToolDef;
