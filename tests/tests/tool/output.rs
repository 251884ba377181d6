//! Return types of a tool.

use futures::{Stream, StreamExt as _, stream};
use tool_core::{StreamItem, prelude::*};

use crate::{answer, call};

#[derive(Debug, Serialize, StrictSchema)]
pub struct Report {
    /// The summary of the report.
    pub summary: String,
    /// The field `lines` of `Report`.
    pub lines: Vec<String>,
}

fn report() -> Report {
    Report {
        summary: "short".to_owned(),
        lines: vec!["long".to_owned()],
    }
}

fn brief(report: &Report) -> ModelOutput {
    ModelOutput::text(&report.summary)
}

/// Returns the report, with a short text for the model.
#[tool(to_model_output = brief)]
async fn report_brief() -> Result<Report, ToolError> {
    Ok(report())
}

/// Returns the complete report, for this test.
#[tool]
async fn report_whole() -> Report {
    report()
}

// S2-05: the model reads the short text, and the client receives the complete output.
#[test]
fn the_model_reads_the_short_text_and_the_client_gets_all() {
    let result = call("report_brief", "{}", &ToolContext::anonymous());
    assert_eq!(result.model_text(), "short");
    assert_eq!(
        result.output().map(serde_json::value::RawValue::get),
        Some(r#"{"summary":"short","lines":["long"]}"#)
    );
    assert_eq!(
        answer("report_whole", "{}"),
        r#"{"summary":"short","lines":["long"]}"#
    );
}

/// A type with its own output for the model.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct Brief {
    /// The complete text, which is hidden from the model.
    pub all: u32,
}

impl ToModelOutput for Brief {
    fn to_model_output(&self) -> ModelOutput {
        ModelOutput::text("told")
    }
}

/// Returns a type with its own output for the model.
#[tool]
async fn tell() -> Result<Brief, ToolError> {
    Ok(Brief { all: 3 })
}

/// A type without a schema.
#[derive(Debug, Serialize)]
pub struct Plain {
    /// The field `all` of `Plain`.
    pub all: u32,
}

/// Returns a type without a schema, and fails with an error of `std`.
#[tool]
async fn tell_plainly() -> Result<Plain, std::io::Error> {
    Ok(Plain { all: 3 })
}

#[test]
fn output_traits_decide_text_and_schema() {
    assert_eq!(answer("tell", "{}"), "told");
    assert_eq!(answer("tell_plainly", "{}"), r#"{"all":3}"#);
    let defs = [<report_whole as Tool>::DEF, <tell as Tool>::DEF];
    let strict = defs[0].output_schema().expect("from `StrictSchema`");
    assert!(strict.contains("The summary of the report."), "{strict}");
    let json = defs[1].output_schema().expect("from `JsonSchema`");
    assert!(
        json.contains("The complete text, which is hidden from the model."),
        "{json}"
    );
    assert_eq!(<tell_plainly as Tool>::DEF.output_schema(), None);
}

type Outcome<T> = std::result::Result<T, ToolError>;

/// Returns an alias of a result.
#[tool]
fn by_alias() -> Outcome<u32> {
    Err(ToolError::new("not today"))
}

#[test]
fn result_alias_is_recognized_as_a_result() {
    assert!(call("by_alias", "{}", &ToolContext::anonymous()).is_error());
}

/// Counts, and returns a type that implements `Stream`.
#[tool]
fn count_as_stream(
    /// The argument `to` of the tool.
    to: u32,
) -> impl Stream<Item = StreamItem<u32, String>> + Send {
    stream::iter((1..=to).map(StreamItem::Progress)).chain(stream::iter([StreamItem::Final(
        format!("counted to {to}"),
    )]))
}

/// Counts, and returns a `ToolStream` from an async fn.
#[tool]
async fn count_as_tool_stream(
    #[context] cx: ToolContext,
    /// The argument `to` of the tool.
    to: u32,
) -> Result<ToolStream<u32, String>, ToolError> {
    drop(cx);
    Ok(ToolStream::new(count_as_stream(to)))
}

// S2-02: a function that returns a stream is a tool with progress and one final value.
#[test]
fn streams_are_tools_with_progress_and_one_final_value() {
    let tools = Registry::linked()
        .expect("the tools of this program")
        .open();
    for name in ["count_as_stream", "count_as_tool_stream"] {
        let call = ToolCall::new("1", name, r#"{"to":2}"#);
        let events: Vec<_> = crate::block_on(
            tools
                .stream(call, &ToolContext::anonymous())
                .collect::<Vec<_>>(),
        );
        let steps: Vec<_> = events
            .iter()
            .filter_map(|event| match event {
                ToolEvent::Progress(json) => Some(json.get().to_owned()),
                _ => None,
            })
            .collect();
        assert_eq!(steps, ["1", "2"], "{name}");
        let Some(ToolEvent::Done(result)) = events.last() else {
            panic!("it ends");
        };
        assert_eq!(result.model_text(), "counted to 2", "{name}");
    }
}
