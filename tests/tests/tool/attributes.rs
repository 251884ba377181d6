//! The options of `#[tool(…)]`.

use std::time::Duration;

use tool_core::{Approval, prelude::*};

use crate::{answer, call, schema};

/// Searches the docs.
#[tool(
    name = "find-docs",
    alias = "search",
    alias = "search-docs",
    title = "Find \"docs\"",
    category = "search",
    tags = ["docs", "read"],
    timeout = "250ms",
    output_limit = 4 * 1024,
    sequential,
    harness,
    example("A plain lookup", { "query": "serde rename" }),
    example({ "query": "derive", "top": 3 }),
    example("With its result", { "query": "x" } => ["x"]),
)]
fn search(
    /// The text to search for.
    query: String,
    /// The argument `top` of the tool.
    #[arg(default = 10, range = 1..=50)]
    top: u32,
) -> Result<Vec<String>, ToolError> {
    Ok(vec![query, top.to_string()])
}

// S1-05: the definition of a tool has its name, title, category and other options.
#[test]
fn options_are_readable_from_the_definition() {
    let def = <search as Tool>::DEF;
    assert_eq!(def.name(), "find-docs");
    assert_eq!(def.title().as_deref(), Some("Find \"docs\""));
    assert_eq!(def.category(), "search");
    assert_eq!(def.tags().collect::<Vec<_>>(), ["docs", "read"]);
    assert_eq!(def.aliases().collect::<Vec<_>>(), ["search", "search-docs"]);
    assert_eq!(def.timeout(), Some(Duration::from_millis(250)));
    assert_eq!(def.output_limit(), Some(4096));
    assert!(def.is_sequential() && def.is_harness());
    let plain = <crate::greet as Tool>::DEF;
    assert_eq!(plain.category(), "general");
    assert_eq!(plain.title(), None);
    assert_eq!((plain.tags().count(), plain.aliases().count()), (0, 0));
    assert_eq!((plain.timeout(), plain.output_limit()), (None, None));
    assert!(!plain.is_sequential() && !plain.is_harness());
}

// S0-06, S2-04: the schema has the default, and the function receives it if the argument is absent or null.
#[test]
fn default_is_in_the_schema_and_passed_to_the_function() {
    let schema = schema::<search>();
    assert_eq!(schema["properties"]["top"]["default"], 10);
    assert_eq!(schema["required"], serde_json::json!(["query"]));
    for arguments in [
        r#"{"query":"x"}"#,
        r#"{"query":"x","top":null}"#,
        r#"{"query":"x","top":10}"#,
    ] {
        assert_eq!(
            answer("find-docs", arguments),
            r#"["x","10"]"#,
            "{arguments}"
        );
    }
    assert!(
        call(
            "find-docs",
            r#"{"query":"x","top":51}"#,
            &ToolContext::anonymous()
        )
        .is_error()
    );
}

// M1: the definition that is sent to the model has the examples.
#[test]
fn examples_reach_the_model() {
    let def = <search as Tool>::DEF;
    let anthropic: serde_json::Value =
        serde_json::from_str(def.definition(Dialect::Anthropic)).expect("the definition is JSON");
    assert_eq!(
        anthropic["input_examples"].as_array().map(Vec::len),
        Some(3)
    );
    assert!(def.definition(Dialect::OpenAi).contains("A plain lookup"));
}

#[test]
fn a_timeout_is_text_seconds_or_a_constant() {
    const LIMIT: Duration = Duration::from_secs(7);
    /// Has a timeout in whole seconds.
    #[tool(timeout = 5)]
    fn in_seconds() {}
    /// Has a constant as its timeout.
    #[tool(timeout = LIMIT)]
    fn as_constant() {}
    /// Has an expression as its timeout.
    #[tool(timeout = Duration::from_millis(3))]
    fn as_expression() {}
    /// Has a timeout in minutes.
    #[tool(timeout = "2m")]
    fn in_minutes() {}
    let times = [
        <in_seconds as Tool>::DEF,
        <as_constant as Tool>::DEF,
        <as_expression as Tool>::DEF,
        <in_minutes as Tool>::DEF,
    ]
    .map(|def| def.timeout().map(|time| time.as_millis()));
    assert_eq!(times, [Some(5_000), Some(7_000), Some(3), Some(120_000)]);
}

/// Deletes a file, for this test.
#[tool(destructive, approval)]
fn delete(
    /// The path of the file.
    path: String,
) {
    drop(path);
}

/// Sends money, for this test.
#[tool(open_world, approval = is_much)]
fn pay(
    /// The argument `amount` of the tool.
    amount: u32,
) -> u32 {
    amount
}

/// Lends money, for this test.
#[tool(open_world, approval = |input, cx| input.amount > 100 || cx.user().is_none(), title = "Lend")]
fn lend(
    /// The argument `amount` of the tool.
    amount: u32,
) -> u32 {
    amount
}

fn is_much(input: &pay, _cx: &ToolContext) -> bool {
    input.amount > 100
}

#[test]
fn approval_is_a_flag_or_a_predicate_on_typed_arguments() {
    assert!(matches!(<delete as Tool>::DEF.approval(), Approval::Always));
    assert!(matches!(
        <crate::greet as Tool>::DEF.approval(),
        Approval::ByEffect
    ));
    let Approval::When(asks) = <pay as Tool>::DEF.approval() else {
        panic!("the approval is not a predicate");
    };
    let cx = ToolContext::anonymous();
    assert!(asks(r#"{"amount":101}"#, &cx).expect("the predicate reads the arguments"));
    assert!(!asks(r#"{"amount":100}"#, &cx).expect("the predicate reads the arguments"));
    assert!(asks(r#"{"amount":"x"}"#, &cx).is_err());
}

// `approval` accepts a closure of the arguments and the context. Earlier, a closure was refused with "expected identifier".
#[test]
fn approval_may_be_a_closure_of_the_arguments_and_the_context() {
    let Approval::When(asks) = <lend as Tool>::DEF.approval() else {
        panic!("the approval is not a predicate");
    };
    let nobody = ToolContext::anonymous();
    assert!(asks(r#"{"amount":1}"#, &nobody).expect("the predicate reads the arguments"));
    let ada = ToolContext::builder().user("ada").build();
    assert!(!asks(r#"{"amount":100}"#, &ada).expect("the predicate reads the arguments"));
    assert!(asks(r#"{"amount":101}"#, &ada).expect("the predicate reads the arguments"));
    assert_eq!(<lend as Tool>::DEF.title().as_deref(), Some("Lend"));
}

/// Counts letters, for this test.
#[tool(providers(openai, json_schema))]
fn count_letters(
    /// The argument `text` of the tool.
    text: String,
) -> usize {
    text.len()
}

#[test]
fn providers_narrow_the_definitions() {
    let def = <count_letters as Tool>::DEF;
    let offered = Dialect::ALL.map(|dialect| !def.definition(dialect).is_empty());
    assert_eq!(offered, [true, false, false, false, true]);
}

/// Lists files, for this test.
#[tool(input = ListFiles, rename_all = "camelCase")]
fn list_files(
    /// The argument `in_folder` of the tool.
    in_folder: String,
    /// The maximum number of files.
    #[arg(rename = "max")]
    most_files: Option<u32>,
) -> String {
    format!("{in_folder} {most_files:?}")
}

#[test]
fn input_and_keys_may_have_other_names() {
    let keys: Vec<_> = schema::<ListFiles>()["properties"]
        .as_object()
        .expect("the value is an object")
        .keys()
        .cloned()
        .collect();
    assert_eq!(keys, ["inFolder", "max"]);
    assert_eq!(<ListFiles as Tool>::NAME, "list_files");
    assert_eq!(
        answer("list_files", r#"{"inFolder":"a","max":2}"#),
        "a Some(2)"
    );
    let input = ListFiles {
        in_folder: "b".to_owned(),
        most_files: None,
    };
    assert_eq!(
        serde_json::to_value(&input).expect("the struct can be serialised")["inFolder"],
        "b"
    );
}

/// A description that is longer than what some clients show: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
#[tool(allow(tool-name-client, tool-description-long, limit-optional, int-range))]
fn Allowed_To_Be_Odd(
    /// A large number.
    #[arg(allow("int-range"))]
    large: u128,
) -> String {
    large.to_string()
}

#[test]
fn warnings_can_be_silenced() {
    assert_eq!(answer("Allowed_To_Be_Odd", r#"{"large":3}"#), "3");
}

#[test]
fn definition_parts_are_readable_in_every_dialect() {
    let strict = [
        (Dialect::OpenAi, Some(true)),
        (Dialect::Anthropic, Some(true)),
        (Dialect::Gemini, None),
        (Dialect::Mcp, None),
        (Dialect::JsonSchema, None),
    ];
    let def = <search as Tool>::DEF;
    for (dialect, strict) in strict {
        let parts = def.parts(dialect).unwrap();
        assert_eq!(parts.name, "find-docs", "{dialect:?}");
        assert!(
            parts.description.starts_with("Searches the docs."),
            "{dialect:?}: {}",
            parts.description
        );
        assert_eq!(parts.parameters.get(), def.schema(dialect), "{dialect:?}");
        assert_eq!(parts.strict, strict, "{dialect:?}");
    }
}
