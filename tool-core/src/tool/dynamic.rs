//! Tools that are made at run time: from a schema read somewhere and a closure.

use std::future::Future;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{Approval, Finished, SecretNeed, VariableNeed};
use crate::context::ToolContext;
use crate::effect::{Declared, Effect};
use crate::error::ToolError;
use crate::output::IntoOutput;
use crate::run::{DecodeError, Ticket, finish};
use crate::schema::dialect::{Dialect, Dialects, Hints};

type Handler = dyn Fn(&str, ToolContext) -> Result<BoxFuture<'static, Result<Finished, ToolError>>, DecodeError> + Send + Sync;

/// A tool made at run time. [`RegistryBuilder::dynamic`](crate::RegistryBuilder::dynamic) takes it, and judges its schema by the
/// same rules as those of a linked tool.
///
/// ```
/// use serde_json::{Value, json};
/// use tool_core::{DynamicTool, Registry, ToolError};
///
/// let shout = DynamicTool::new(
///     "shout",
///     "Writes the text in capital letters.",
///     json!({
///         "type": "object",
///         "properties": {"text": {"type": "string", "description": "What to write."}},
///         "required": ["text"],
///         "additionalProperties": false
///     }),
///     |arguments: Value, _cx| async move { Ok::<_, ToolError>(arguments["text"].as_str().unwrap_or("").to_uppercase()) },
/// )
/// .category("text");
/// let registry = Registry::builder().dynamic(shout).build()?;
/// assert_eq!(registry.get("shout").unwrap().category(), "text");
/// # Ok::<(), tool_core::RegistryError>(())
/// ```
#[must_use = "give it to `RegistryBuilder::dynamic`"]
pub struct DynamicTool {
    pub(crate) def: DynamicDef,
    pub(crate) schema: Result<Value, String>,
}

/// The facts of a tool that is made at run time.
pub(crate) struct DynamicDef {
    pub(crate) name: String,
    pub(crate) title: Option<String>,
    pub(crate) description: String,
    pub(crate) category: String,
    pub(crate) tags: Vec<String>,
    pub(crate) secrets: Vec<SecretNeed>,
    pub(crate) variables: Vec<VariableNeed>,
    pub(crate) declared: Declared,
    pub(crate) effect: Effect,
    pub(crate) hints: Hints,
    pub(crate) approval: Approval,
    pub(crate) timeout: Option<Duration>,
    pub(crate) sequential: bool,
    pub(crate) harness: bool,
    pub(crate) output_limit: Option<usize>,
    pub(crate) output_schema: Option<String>,
    pub(crate) origin: String,
    pub(crate) texts: Texts,
    handler: Arc<Handler>,
}

/// The definition in each dialect, with where its schema stands.
#[derive(Default)]
pub(crate) struct Texts([(String, String); 5]);

impl Texts {
    pub(crate) fn definition(&self, dialect: Dialect) -> &str {
        &self.0[dialect.index()].0
    }

    pub(crate) fn schema(&self, dialect: Dialect) -> &str {
        &self.0[dialect.index()].1
    }

    pub(crate) fn providers(&self) -> Dialects {
        Dialect::ALL
            .into_iter()
            .filter(|dialect| !self.definition(*dialect).is_empty())
            .fold(Dialects::NONE, Dialects::with)
    }
}

/// A JSON Schema: a value, or text that is one.
pub struct DynamicSchema(Result<Value, String>);

impl From<Value> for DynamicSchema {
    fn from(value: Value) -> Self {
        Self(Ok(value))
    }
}

impl From<&str> for DynamicSchema {
    fn from(text: &str) -> Self {
        Self(serde_json::from_str(text).map_err(|error| error.to_string()))
    }
}

impl From<String> for DynamicSchema {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl DynamicTool {
    /// A tool that reads its arguments as `A`, usually a [`serde_json::Value`], and runs the closure.
    #[track_caller]
    pub fn new<A, F, R>(
        name: impl Into<String>,
        description: impl Into<String>,
        schema: impl Into<DynamicSchema>,
        handler: impl Fn(A, ToolContext) -> F + Send + Sync + 'static,
    ) -> Self
    where
        A: DeserializeOwned + Send + 'static,
        F: Future<Output = R> + Send + 'static,
        R: IntoOutput + 'static,
    {
        let handler = Arc::new(handler);
        let erased = move |text: &str, cx: ToolContext| {
            let arguments: A = serde_json::from_str(text).map_err(DecodeError::new)?;
            let handler = Arc::clone(&handler);
            let future = async move {
                let returned = handler(arguments, cx.clone()).await.into_returned()?;
                finish(returned, |_| None, &cx).await
            };
            Ok::<BoxFuture<'static, _>, _>(Box::pin(future))
        };
        Self {
            def: DynamicDef {
                name: name.into(),
                title: None,
                description: description.into(),
                category: "general".to_owned(),
                tags: Vec::new(),
                secrets: Vec::new(),
                variables: Vec::new(),
                declared: Declared::NONE,
                effect: Effect::NONE,
                hints: Declared::NONE.hints(&[]),
                approval: Approval::ByEffect,
                timeout: None,
                sequential: false,
                harness: false,
                output_limit: None,
                output_schema: None,
                origin: Location::caller().to_string(),
                texts: Texts::default(),
                handler: Arc::new(erased),
            },
            schema: schema.into().0,
        }
    }

    /// Name for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.def.title = Some(title.into());
        self
    }

    /// Category.
    pub fn category(mut self, category: impl Into<String>) -> Self {
        self.def.category = category.into();
        self
    }

    /// Adds a tag.
    pub fn tag(mut self, tag: impl Into<String>) -> Self {
        self.def.tags.push(tag.into());
        self
    }

    /// Declares a secret; the handler reads it with [`ToolContext::secret`].
    pub fn secret(mut self, need: SecretNeed) -> Self {
        self.def.secrets.push(need);
        self
    }

    /// Declares a variable; the handler reads it with [`ToolContext::variable`].
    pub fn variable(mut self, need: VariableNeed) -> Self {
        self.def.variables.push(need);
        self
    }

    /// What it may do; host values beyond this are refused to it.
    pub fn effect(mut self, effect: Effect) -> Self {
        self.def.effect = self.def.effect.union(effect);
        self.judge_effect()
    }

    /// Changes nothing.
    pub fn read_only(mut self) -> Self {
        self.def.declared.read_only = true;
        self.judge_effect()
    }

    /// May remove or overwrite.
    pub fn destructive(mut self) -> Self {
        self.def.declared.destructive = true;
        self.judge_effect()
    }

    /// Twice is the same as once.
    pub fn idempotent(mut self) -> Self {
        self.def.declared.idempotent = true;
        self.judge_effect()
    }

    /// Reaches beyond the host.
    pub fn open_world(mut self) -> Self {
        self.def.declared.open_world = true;
        self.judge_effect()
    }

    fn judge_effect(mut self) -> Self {
        let stated = [self.def.effect];
        self.def.effect = self.def.declared.effect(&stated);
        self.def.hints = self.def.declared.hints(&stated);
        self
    }

    /// Whether a call has to be approved.
    pub fn approval(mut self, approval: Approval) -> Self {
        self.def.approval = approval;
        self
    }

    /// How long a call may take.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.def.timeout = Some(timeout);
        self
    }

    /// Never beside another call.
    pub fn sequential(mut self) -> Self {
        self.def.sequential = true;
        self
    }

    /// Part of the harness.
    pub fn harness(mut self) -> Self {
        self.def.harness = true;
        self
    }

    /// Most bytes that its output may have.
    pub fn output_limit(mut self, bytes: usize) -> Self {
        self.def.output_limit = Some(bytes);
        self
    }

    /// JSON Schema of the output.
    pub fn output_schema(mut self, schema: &Value) -> Self {
        self.def.output_schema = Some(schema.to_string());
        self
    }

    /// Where it comes from, for messages; the line that made it where nothing is said.
    pub fn origin(mut self, origin: impl Into<String>) -> Self {
        self.def.origin = origin.into();
        self
    }

    /// Judges it and writes its definitions, or says what is wrong.
    pub(crate) fn into_def(mut self) -> Result<DynamicDef, Vec<String>> {
        let schema = self.schema.map_err(|error| vec![format!("its schema is not JSON: {error}")])?;
        // Stand-in: the schema as it is, until `schema::dynamic` judges and lowers it.
        let (name, description, text) = (&self.def.name, &self.def.description, schema.to_string());
        let definitions = [
            json!({"type": "function", "function": {"name": name, "description": description, "strict": true, "parameters": schema}}),
            json!({"name": name, "description": description, "input_schema": schema, "strict": true}),
            json!({"name": name, "description": description, "parametersJsonSchema": schema}),
            json!({"name": name, "description": description, "inputSchema": schema}),
            json!({"name": name, "description": description, "parameters": schema}),
        ];
        self.def.texts = Texts(definitions.map(|definition| (definition.to_string(), text.clone())));
        Ok(self.def)
    }
}

impl DynamicDef {
    pub(crate) fn start(
        &self,
        text: &str,
        cx: ToolContext,
        _: Ticket,
    ) -> Result<BoxFuture<'static, Result<Finished, ToolError>>, DecodeError> {
        (self.handler)(text, cx)
    }
}

