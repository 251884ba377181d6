//! The schema of a typed output, which a provider enforces.

use std::fmt;

use serde_json::json;
use serde_json::value::RawValue;
use tool_core::schema::StrictSchema;
use tool_core::schema::dialect::schema_text;
use tool_core::{
    Dialect, DynamicTool, Effect, FromContext, Registry, RegistryError, ToolCall, ToolContext,
    ToolError, Toolset,
};
use tool_wire::Provider;

const DESCRIPTION: &str = "Returns the final answer. Call this tool once, when the answer is complete; the arguments are the answer.";

/// The schema of the text of a reply, as a host value of the request: an [`HttpModel`](super::HttpModel) sends it in the field with which its
/// provider enables structured output. An [`Agent`](crate::agent::Agent) with [`OutputMode::Native`](crate::agent::OutputMode::Native) sets it.
///
/// A [`Model`](tool_core::turn::Model) of the host reads it from the context of the request:
///
/// ```
/// use tool_agent::model::OutputFormat;
/// use tool_core::prelude::*;
///
/// /// The advice for a day.
/// #[derive(StrictSchema, serde::Deserialize)]
/// struct Advice {
///     /// Whether to take an umbrella.
///     umbrella: bool,
/// }
///
/// let cx = ToolContext::builder().with(OutputFormat::new::<Advice>()?).build();
/// let format: OutputFormat = cx.get().unwrap();
/// assert!(format.schema(Dialect::OpenAi).contains(r#""umbrella""#));
/// # Ok::<(), tool_core::RegistryError>(())
/// ```
#[derive(Clone)]
#[doc(alias("response_format", "responseSchema", "structured output"))]
pub struct OutputFormat(Toolset);

/// A field of a request, and the entries that are added to it.
pub(super) type FormatField = (&'static str, Vec<(&'static str, Box<RawValue>)>);

impl OutputFormat {
    /// The name of the format, and of the tool that returns an output in place of a text.
    pub const NAME: &'static str = "final_answer";

    /// Creates the format of a type.
    ///
    /// # Errors
    ///
    /// Fails if the type cannot be the arguments of a tool, for example because it is not a struct with fields.
    pub fn new<T: StrictSchema>() -> Result<Self, RegistryError> {
        let schema = schema_text(T::SCHEMA, Dialect::JsonSchema);
        // `Turns` ends a run with the text of a tool that answers in place of the model.
        let answer = |output: serde_json::Value, _| async move {
            Ok::<_, ToolError>(json!({"replyHandled": true, "replyText": output.to_string()}))
        };
        let tool = DynamicTool::new(Self::NAME, DESCRIPTION, schema, answer).read_only();
        Ok(Self(Registry::builder().dynamic(tool).build()?.open()))
    }

    /// Returns the JSON Schema of the output in a dialect.
    pub fn schema(&self, dialect: Dialect) -> &str {
        self.0
            .get(Self::NAME)
            .map_or("", |tool| tool.schema(dialect))
    }

    /// Returns a toolset with the tool `final_answer`, whose arguments are the output.
    pub(crate) fn tool(&self) -> &Toolset {
        &self.0
    }

    /// Validates the JSON text of an output. Returns its normal form, or the problem as a text for the model.
    pub(crate) async fn check(&self, text: &str) -> Result<String, String> {
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Output {
            reply_text: String,
        }

        let call = ToolCall::new("output", Self::NAME, text.trim());
        let result = self.0.call(call, &ToolContext::anonymous()).await;
        let output = result.output().filter(|_| result.error().is_none());
        let output = output.and_then(|output| serde_json::from_str::<Output>(output.get()).ok());
        output.map_or_else(|| Err(result.model_text()), |output| Ok(output.reply_text))
    }

    /// Returns the field of the request that contains the format, and the entries that are added to it. The properties have the order of the type's
    /// fields.
    pub(super) fn field(&self, provider: Provider) -> serde_json::Result<FormatField> {
        let schema = self.schema(provider.dialect());
        let name = Self::NAME;
        let raw = |json: String| RawValue::from_string(json);
        Ok(match provider {
            Provider::Chat => {
                let format = format!(r#"{{"name":"{name}","strict":true,"schema":{schema}}}"#);
                let kind = raw(r#""json_schema""#.to_owned())?;
                (
                    "response_format",
                    vec![("type", kind), ("json_schema", raw(format)?)],
                )
            }
            Provider::Responses => {
                let format = format!(
                    r#"{{"type":"json_schema","name":"{name}","strict":true,"schema":{schema}}}"#
                );
                ("text", vec![("format", raw(format)?)])
            }
            Provider::Anthropic => {
                let format = format!(r#"{{"type":"json_schema","schema":{schema}}}"#);
                ("output_config", vec![("format", raw(format)?)])
            }
            Provider::Gemini => {
                let kind = raw(r#""application/json""#.to_owned())?;
                let schema = raw(schema.to_owned())?;
                (
                    "generationConfig",
                    vec![("responseMimeType", kind), ("responseJsonSchema", schema)],
                )
            }
            Provider::Bedrock => {
                let format = json!({
                    "type": "json_schema",
                    "structure": {"jsonSchema": {"name": name, "schema": schema}},
                });
                (
                    "outputConfig",
                    vec![("textFormat", raw(format.to_string())?)],
                )
            }
        })
    }
}

impl FromContext for OutputFormat {
    const EFFECT: Effect = Effect::NONE;

    fn from_context(cx: &ToolContext) -> Result<Self, ToolError> {
        cx.extension()
            .ok_or_else(|| ToolError::unavailable("the format of the output"))
    }
}

impl fmt::Debug for OutputFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OutputFormat")
            .field(&self.schema(Dialect::JsonSchema))
            .finish()
    }
}
