//! The sources of a tool's parameters, and the attributes of parameters.

use tool_core::{Effect, prelude::*};

use crate::{answer, call, schema};

/// An index that the host provides.
#[derive(Clone)]
pub struct Index(pub u32);
tool_core::host_value!(Index, Effect::READ);

/// Searches the index.
#[tool]
async fn look(
    borrowed: &Index,
    #[context] owned: Index,
    #[context] missing: Option<Missing>,
    cx: &ToolContext,
    /// The text to search for.
    what: String,
) -> String {
    format!(
        "{what} {} {} {} {}",
        borrowed.0,
        owned.0,
        missing.is_none(),
        cx.user().unwrap_or("nobody")
    )
}

/// A host value that no host provides.
#[derive(Clone)]
pub struct Missing;
tool_core::host_value!(Missing, Effect::NONE);

// S2-06, S0-08: host values come from the context, and the schema does not contain them.
#[test]
fn host_values_come_from_the_context_and_stay_out_of_the_schema() {
    let cx = ToolContext::builder().with(Index(7)).user("ada").build();
    assert_eq!(
        call("look", r#"{"what":"x"}"#, &cx).model_text(),
        "x 7 7 true ada"
    );
    let schema = schema::<look>();
    assert_eq!(
        schema["properties"].as_object().map(serde_json::Map::len),
        Some(1)
    );
    // If the host does not provide a host value, the result is an error, and the tool does not panic.
    assert!(call("look", r#"{"what":"x"}"#, &ToolContext::anonymous()).is_error());
}

/// Searches the index in a sync fn.
#[tool]
fn look_blocking(
    index: &Index,
    /// The argument `times` of the tool.
    times: u32,
) -> u32 {
    index.0 * times
}

// S2-02: a sync function can be a tool.
#[test]
fn sync_fns_are_tools() {
    let cx = ToolContext::builder().with(Index(7)).build();
    assert_eq!(
        call("look_blocking", r#"{"times":3}"#, &cx).model_text(),
        "21"
    );
}

/// All arguments of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, StrictSchema)]
pub struct SearchArgs {
    /// The text to search for.
    pub query: String,
    /// The field `limit` of `SearchArgs`.
    pub limit: Option<u32>,
}

/// Searches with one struct of arguments.
#[tool(example({ "query": "x" }))]
fn search_by_struct(#[args] args: SearchArgs, index: &Index) -> String {
    format!("{} {:?} {}", args.query, args.limit, index.0)
}

#[test]
fn arguments_may_be_one_struct() {
    let cx = ToolContext::builder().with(Index(7)).build();
    assert_eq!(
        call("search_by_struct", r#"{"query":"x","limit":2}"#, &cx).model_text(),
        "x Some(2) 7"
    );
    assert_eq!(
        schema::<search_by_struct>()["required"],
        serde_json::json!(["query"])
    );
    let input = search_by_struct {
        args: SearchArgs {
            query: "x".to_owned(),
            limit: None,
        },
    };
    let text = serde_json::to_string(&input).expect("the struct can be serialised");
    assert_eq!(text, r#"{"query":"x","limit":null}"#);
    assert_eq!(
        serde_json::from_str::<search_by_struct>(&text).expect("the struct reads its own JSON"),
        input
    );
}

/// Counts up, in a mutable parameter.
#[tool]
fn count_up(
    /// The starting point.
    mut from: u32,
    /// A word with bounds of many kinds.
    #[arg(length = 2..=3, pattern = "^[a-z]+$")]
    word: String,
    /// A multiple of five.
    #[arg(multiple_of = 5)]
    #[arg(range = 0..100)]
    fives: u32,
    /// A list of numbers.
    #[arg(min_items = 1, max_items = 3, unique)]
    numbers: Vec<u32>,
    /// The argument `day` of the tool.
    #[arg(format = "date")]
    day: String,
    /// The argument `level` of the tool.
    #[arg(as = String)]
    level: Level,
) -> String {
    from += 1;
    format!("{from} {word} {fives} {} {day} {:?}", numbers.len(), level)
}

/// A type without its own schema.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub struct Level(String);

impl TryFrom<String> for Level {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        if text.is_empty() {
            Err("a level has a name")
        } else {
            Ok(Self(text))
        }
    }
}

#[test]
fn bounds_are_checked_before_the_body_runs() {
    let good =
        r#"{"from":1,"word":"ab","fives":10,"numbers":[1,2],"day":"2026-02-28","level":"x"}"#;
    assert_eq!(
        answer("count_up", good),
        r#"2 ab 10 2 2026-02-28 Level("x")"#
    );
    for (from, to) in [
        (r#""ab""#, r#""abcd""#),
        (r#""ab""#, r#""AB""#),
        (":10", ":11"),
        (":10", ":100"),
        ("[1,2]", "[]"),
        ("[1,2]", "[1,2,3,4]"),
        ("2026-02-28", "2026-02-30"),
    ] {
        let bad = good.replace(from, to);
        let result = call("count_up", &bad, &ToolContext::anonymous());
        assert!(result.is_error(), "{bad}");
    }
}

/// Has parameters that only some builds have.
#[tool]
fn conditional(
    /// An argument that exists in every build.
    always: u32,
    /// An argument that exists in no build.
    #[cfg(any())]
    never: Nonexistent,
    /// The argument `there` of the tool.
    #[cfg(not(any()))]
    there: u32,
    /// A number whose attribute has a condition.
    #[cfg_attr(all(), arg(default = 4))]
    with_default: u32,
    /// An argument without a default.
    #[cfg_attr(any(), arg(default = "nonsense"))]
    without_default: Option<u32>,
) -> String {
    format!("{always} {there} {with_default} {without_default:?}")
}

#[test]
fn cfg_applies_to_parameters() {
    assert_eq!(
        answer("conditional", r#"{"always":1,"there":2}"#),
        "1 2 4 None"
    );
    let input = conditional {
        always: 1,
        there: 2,
        with_default: 3,
        without_default: None,
    };
    assert_eq!(input.there, 2);
}

/// Takes arguments that lints would warn about.
#[tool]
fn lints_on_parameters(
    /// The argument `unused` of the tool.
    #[allow(unused_variables, reason = "the test is about this warning")]
    unused: u32,
) {
}

#[test]
fn lint_attributes_stay_on_the_parameter() {
    assert_eq!(answer("lints_on_parameters", r#"{"unused":1}"#), "null");
}

mod own {
    use tool_core::StrictSchema;
    use tool_core::schema::Schema;

    /// A text that is read by its own `Deserialize`.
    pub(super) struct String(pub(super) std::string::String);

    impl StrictSchema for String {
        const SCHEMA: &'static Schema = <std::string::String as StrictSchema>::SCHEMA;
    }

    impl<'de> serde::Deserialize<'de> for String {
        fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
            let text = std::string::String::deserialize(from)?;
            if text.is_empty() {
                return Err(serde::de::Error::custom("an empty text"));
            }
            Ok(Self(text))
        }
    }

    /// Returns a text, for this test.
    #[tool_core::tool]
    pub(super) fn say(
        /// The text to return.
        text: String,
    ) -> std::string::String {
        text.0
    }
}

// S0-07: a user's type may have the name of a standard type.
#[tokio::test]
async fn user_type_may_have_the_name_of_a_standard_type() {
    let tools = toolset![own::say];
    let say = async |arguments: &str| {
        let call = ToolCall::new("c-1", "say", arguments);
        tools
            .call(call, &ToolContext::anonymous())
            .await
            .model_text()
    };
    assert_eq!(say(r#"{"text":"a"}"#).await, "a");
    let refused = say(r#"{"text":""}"#).await;
    assert!(
        refused.contains("`/text`") && refused.contains("an empty text"),
        "{refused}"
    );
}

/// A limit whose `Default` is 1,000. An absent limit is `None` nevertheless.
#[derive(Debug, StrictSchema)]
struct Most(Option<u32>);

impl Default for Most {
    fn default() -> Self {
        Self(Some(1000))
    }
}

/// The load to send.
#[derive(Debug, StrictSchema)]
struct Load {
    /// The maximum amount.
    #[serde(default)]
    most: Most,
    /// The field `times` of `Load`.
    #[schema(default = 1)]
    times: u32,
}

/// Sends an amount, and asks for an approval of large amounts.
#[tool(approval = |call: &send_load, _: &ToolContext| call.load.most.0.is_some_and(|most| most > 100))]
fn send_load(
    /// The argument `load` of the tool.
    load: Load,
) -> String {
    format!("{:?} {}", load.most.0, load.load_times())
}

impl Load {
    fn load_times(&self) -> u32 {
        self.times
    }
}

// S2-12: the approval predicate receives exactly the same values as the body.
#[tokio::test]
async fn approval_predicate_receives_the_values_of_the_body() {
    let tools = toolset![send_load];
    for (load, expected) in [
        ("{}", "None 1"),
        (r#"{"times":1.0}"#, "None 1"),
        (r#"{"times":2,"most":null}"#, "None 2"),
    ] {
        let call = ToolCall::new("c-1", "send_load", format!(r#"{{"load":{load}}}"#));
        let result = tools.call(call, &ToolContext::anonymous()).await;
        assert_eq!(result.model_text(), expected, "{load}");
    }
    let call = ToolCall::new("c-1", "send_load", r#"{"load":{"most":101}}"#);
    let result = tools.call(call, &ToolContext::anonymous()).await;
    assert!(result.is_error(), "{result:?}");
}

/// A number that is not 7. The conversion of 8 panics.
#[derive(Debug, StrictSchema)]
#[serde(try_from = "u32")]
#[schema(as = u32)]
struct NotSeven(u32);

impl TryFrom<u32> for NotSeven {
    type Error = &'static str;

    fn try_from(number: u32) -> Result<Self, &'static str> {
        assert_ne!(number, 8, "the conversion panics for 8");
        if number == 7 {
            Err("seven")
        } else {
            Ok(Self(number))
        }
    }
}

/// Returns the sum of the arguments.
#[tool]
fn add_up(
    /// The argument `one` of the tool.
    one: NotSeven,
    /// The argument `two` of the tool.
    two: u32,
) -> u32 {
    one.0 + two
}

// S0-07: faults of the arguments are reported before errors of a conversion.
#[tokio::test]
async fn argument_faults_are_reported_before_conversion_errors() {
    let tools = toolset![add_up];
    let call = async |arguments: &str| {
        let call = ToolCall::new("c-1", "add_up", arguments);
        tools.call(call, &ToolContext::anonymous()).await
    };
    for order in [
        r#"{"one":8,"two":"x"}"#,
        r#"{"two":"x","one":8}"#,
        r#"{"one":7,"two":"x"}"#,
    ] {
        let issues = call(order)
            .await
            .error()
            .map(|error| error.issues().to_vec());
        let pointers: Vec<_> = issues
            .iter()
            .flatten()
            .map(|issue| &*issue.pointer)
            .collect();
        assert_eq!(pointers, ["/two"], "{order}");
    }
    let refused = call(r#"{"one":7,"two":1}"#).await;
    assert!(
        refused.model_text().contains("`/one`") && refused.model_text().contains("seven"),
        "{refused:?}"
    );
    assert!(refused.duration() > std::time::Duration::ZERO);
    let panicked = call(r#"{"one":8,"two":1}"#).await;
    assert_eq!(
        panicked.error().map(ToolError::kind),
        Some(tool_core::ErrorKind::Panicked)
    );
}

// S0-07: blank arguments of any length are read as no arguments.
#[tokio::test]
async fn blank_arguments_count_as_no_arguments() {
    /// Returns a greeting, for this test.
    #[tool]
    fn greet_all() -> &'static str {
        "hello"
    }
    let tools = toolset![greet_all];
    for blank in ["", " ", "  ", "\r\n", "\n\t ", "    "] {
        let call = ToolCall::new("c-1", "greet_all", blank);
        let result = tools.call(call, &ToolContext::anonymous()).await;
        assert_eq!(result.model_text(), "hello", "{blank:?}");
    }
}
