//! Tools that are created at run time from a JSON Schema and a closure.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::Value;
use tool_schema::__private0::{Doc, intern};

use super::output::OutputCheck;
use super::read::read;
use super::{Approval, Job, SecretNeed, VariableNeed, finish};
use crate::args::Issue;
use crate::context::ToolContext;
use crate::effect::Effect;
use crate::error::{ErrorKind, ToolError};
use crate::output::{IntoOutput, ModelOutput, ToModelOutput};
use crate::schema::dialect::Dialects;
use crate::schema::dynamic::{self, DynSchema, SchemaFault};

mod def;
mod judge;
mod non_strict;

use def::DynamicExample;
pub(crate) use def::{ActsAs, DynamicDef};
pub(crate) use judge::wire_of;

/// A tool created at run time. Pass it to [`RegistryBuilder::dynamic`](crate::RegistryBuilder::dynamic), which checks its schema by the
/// same rules as the schema of a linked tool.
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
///         "properties": {"text": {"type": "string", "description": "The text to write."}},
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
#[doc(alias("json schema", "runtime tool"))]
pub struct DynamicTool {
    pub(crate) def: DynamicDef,
    schema: DynamicSchema,
    providers: Providers,
}

/// The providers to which the tool is offered.
enum Providers {
    /// The tool is offered to these providers. If one of them does not accept the schema, and cannot get the tool as not strict, the schema has a
    /// fault.
    Stated(Dialects),
    /// The tool is offered to all providers that accept the schema.
    Accepting,
}

/// A JSON Schema: a value, or JSON text. Text keeps the order of its keys, and a model writes its arguments in this order.
pub struct DynamicSchema {
    /// The original schema; `None` if it is not JSON.
    own: Option<Doc>,
    read: Result<DynSchema, Vec<SchemaFault>>,
}

impl From<Doc> for DynamicSchema {
    fn from(own: Doc) -> Self {
        Self {
            read: intern(&own),
            own: Some(own),
        }
    }
}

impl From<Value> for DynamicSchema {
    fn from(value: Value) -> Self {
        Self::from(&value)
    }
}

impl From<&Value> for DynamicSchema {
    fn from(value: &Value) -> Self {
        Self::from(Doc::from(value))
    }
}

impl From<&str> for DynamicSchema {
    fn from(text: &str) -> Self {
        match serde_json::from_str::<Doc>(text) {
            Ok(own) => Self::from(own),
            // `read_text` reports the fault of the text.
            Err(_) => Self {
                own: None,
                read: dynamic::read_text(text),
            },
        }
    }
}

impl From<String> for DynamicSchema {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<DynSchema> for DynamicSchema {
    fn from(schema: DynSchema) -> Self {
        Self {
            own: serde_json::from_str(schema.original()).ok(),
            read: Ok(schema),
        }
    }
}

/// Validates values against a JSON Schema, for schemas that this crate's own reader supports only in part: see
/// [`DynamicTool::non_strict`] and [`DynamicTool::output_check`]. `tool-mcp` has an implementation with the crate `jsonschema`.
pub trait SchemaCheck: Send + Sync + 'static {
    /// Returns every fault of the value; empty if the value matches the schema. The time of the check must be bounded by the length of the value.
    fn issues(&self, value: &Value) -> Vec<Issue>;
}

impl<C: SchemaCheck + ?Sized> SchemaCheck for Arc<C> {
    fn issues(&self, value: &Value) -> Vec<Issue> {
        (**self).issues(value)
    }
}

/// Checks the calls of a [client tool](DynamicTool::client), for rules that its schemas cannot express: see [`DynamicTool::client_check`]. If a check fails, the
/// model reads the error as the result of the call.
///
/// ```
/// use serde_json::{Value, json, value::to_raw_value};
/// use tool_core::store::MemoryStore;
/// use tool_core::turn::{ClientResult, ModelMessage, Turn, Turns};
/// use tool_core::{ClientCheck, DynamicTool, Registry, ToolCall, ToolContext, ToolError};
///
/// struct IsChoice;
/// impl ClientCheck for IsChoice {
///     fn check_result(&self, arguments: &Value, picked: &Value) -> Result<(), ToolError> {
///         match arguments["choices"].as_array() {
///             Some(choices) if choices.contains(picked) => Ok(()),
///             _ => Err(ToolError::new("the user picked a value that is not a choice")),
///         }
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let texts = json!({"type": "array", "items": {"type": "string"}});
/// let input = json!({"type": "object", "properties": {"choices": texts}, "required": ["choices"], "additionalProperties": false});
/// let pick = DynamicTool::client("pick", "Lets the user pick one choice.", input, &json!({"type": "string"})).client_check(IsChoice);
/// let tools = Registry::builder().dynamic(pick).build()?.open();
///
/// let turns = Turns::new(MemoryStore::default());
/// let cx = ToolContext::builder().workspace("acme").conversation("main").build();
/// let call = ToolCall::new("call_0", "pick", r#"{"choices":["red","blue"]}"#);
/// let message = turns.record(ModelMessage::calls([call]), &cx).await?;
/// let Turn::Client(_) = turns.run(&tools, &message, &cx).await? else { unreachable!() };
///
/// let answer = ClientResult::output("call_0", to_raw_value("green")?);
/// let Turn::Complete(results) = turns.supply(&tools, [answer], &cx).await? else { unreachable!() };
/// assert_eq!(results[0].text, "the user picked a value that is not a choice");
/// # Ok(())
/// # }
/// ```
#[cfg(feature = "host")]
pub trait ClientCheck: Send + Sync + 'static {
    /// Checks the arguments before the call is passed to the client: they match the schema, and contain defaults and the changes of an approver. The
    /// default accepts all arguments.
    fn check_arguments(&self, arguments: &Value) -> Result<(), ToolError> {
        let _ = arguments;
        Ok(())
    }

    /// Checks a result that matches the output schema against the arguments of its call.
    fn check_result(&self, arguments: &Value, result: &Value) -> Result<(), ToolError>;
}

impl DynamicTool {
    /// Creates a tool that deserializes its arguments as `A`, usually a [`serde_json::Value`], and runs the closure.
    ///
    /// The handler gets numbers as they were approved. A fraction with more digits than a double has is rounded to the nearest double before a person
    /// approves the call. A call with any other number that a `Value` would round, such as an integer of more than 64 bits, is refused with the
    /// number's pointer. For such numbers, use a string in the schema.
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
        Self::factory(name, description, schema, move |cx| {
            let (handler, cx) = (Arc::clone(&handler), cx.clone());
            Ok(move |arguments| handler(arguments, cx))
        })
    }

    /// Creates a tool as [`new`](Self::new) does, for an output type that implements [`ToModelOutput`](crate::ToModelOutput). The model reads the
    /// output that this trait returns.
    ///
    /// ```
    /// use serde_json::{Value, json};
    /// use tool_core::prelude::*;
    /// use tool_core::DynamicTool;
    ///
    /// #[derive(Serialize)]
    /// struct Rows(Vec<u32>);
    /// impl ToModelOutput for Rows {
    ///     fn to_model_output(&self) -> ModelOutput {
    ///         ModelOutput::text(format!("{} rows", self.0.len()))
    ///     }
    /// }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), tool_core::RegistryError> {
    /// let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    /// let rows = DynamicTool::shown("rows", "Reads rows.", schema, |_: Value, _cx| async move {
    ///     Ok::<_, ToolError>(Rows(vec![1, 2]))
    /// });
    /// let tools = Registry::builder().dynamic(rows).build()?.open();
    /// let result = tools.call(ToolCall::new("c-1", "rows", "{}"), &ToolContext::anonymous()).await;
    /// assert_eq!(result.model_text(), "2 rows");
    /// assert_eq!(result.output().map(|json| json.get()), Some("[1,2]"));
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn shown<A, F, R>(
        name: impl Into<String>,
        description: impl Into<String>,
        schema: impl Into<DynamicSchema>,
        handler: impl Fn(A, ToolContext) -> F + Send + Sync + 'static,
    ) -> Self
    where
        A: DeserializeOwned + Send + 'static,
        F: Future<Output = R> + Send + 'static,
        R: IntoOutput + 'static,
        R::Value: ToModelOutput,
    {
        let handler = Arc::new(handler);
        let create = move |cx: &ToolContext| {
            let (handler, cx) = (Arc::clone(&handler), cx.clone());
            Ok(move |arguments| handler(arguments, cx))
        };
        let view = |output: &R::Value| Some(output.to_model_output());
        Self::viewed(name.into(), description.into(), schema.into(), create, view)
    }

    /// Creates a tool from a factory: for each call, `create` reads values from the context and returns the closure that serves the call.
    ///
    /// Name, description and schema are fixed here, so the definition contains no values that `create` binds. `create` runs again for each call,
    /// after the gate allowed the call, so no state is kept from one request to the next. Like a body, it may read only the secrets and variables
    /// that the tool declares, and host values within the tool's effect.
    ///
    /// ```
    /// use serde_json::{Value, json};
    /// use tool_core::prelude::*;
    /// use tool_core::{DynamicTool, SecretNeed};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), tool_core::RegistryError> {
    /// let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    /// let whoami = DynamicTool::factory("whoami", "Returns the tenant for which it was created.", schema, |cx: &ToolContext| {
    ///     let (tenant, has_key) = (cx.workspace().unwrap_or_default().to_owned(), cx.secret("key").is_some());
    ///     Ok(move |_: Value| async move { format!("{tenant} {has_key}") })
    /// })
    /// .secret(SecretNeed::new("key"));
    /// let tools = Registry::builder().dynamic(whoami).build()?.open();
    /// let cx = ToolContext::builder().workspace("acme").secret("key", "sk-acme").build();
    /// assert_eq!(tools.call(ToolCall::new("c-1", "whoami", "{}"), &cx).await.model_text(), "acme true");
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn factory<A, H, F, R>(
        name: impl Into<String>,
        description: impl Into<String>,
        schema: impl Into<DynamicSchema>,
        create: impl Fn(&ToolContext) -> Result<H, ToolError> + Send + Sync + 'static,
    ) -> Self
    where
        A: DeserializeOwned + Send + 'static,
        H: FnOnce(A) -> F + Send + 'static,
        F: Future<Output = R> + Send + 'static,
        R: IntoOutput + 'static,
    {
        Self::viewed(
            name.into(),
            description.into(),
            schema.into(),
            create,
            |_| None,
        )
    }

    /// Creates a tool from a factory, and from a fn that builds the output for the model.
    #[track_caller]
    pub(crate) fn viewed<A, H, F, R>(
        name: String,
        description: String,
        schema: DynamicSchema,
        create: impl Fn(&ToolContext) -> Result<H, ToolError> + Send + Sync + 'static,
        view: fn(&R::Value) -> Option<ModelOutput>,
    ) -> Self
    where
        A: DeserializeOwned + Send + 'static,
        H: FnOnce(A) -> F + Send + 'static,
        F: Future<Output = R> + Send + 'static,
        R: IntoOutput + 'static,
    {
        let create = Arc::new(create);
        let erased = move |arguments: Value, cx: ToolContext| {
            let arguments: A = read(&arguments)?;
            let create = Arc::clone(&create);
            let own = cx.clone();
            let body = async move {
                let run = create(&own)?;
                run(arguments).await.into_returned()
            };
            Ok::<Job, _>(Box::pin(finish(body, view, cx)))
        };
        Self {
            def: DynamicDef::new(name, description, Arc::new(erased)),
            schema,
            providers: Providers::Stated(Dialects::ALL),
        }
    }

    /// Creates a tool that is only listed, and that the host builds for each turn, such as the tool that starts sub-agents. A call of the
    /// listed tool fails as unavailable: add the turn's own tool with [`Toolset::with_agent_tools`](crate::Toolset::with_agent_tools).
    #[track_caller]
    pub fn meta(
        name: impl Into<String>,
        description: impl Into<String>,
        schema: impl Into<DynamicSchema>,
    ) -> Self {
        let mut tool = Self::new(name, description, schema, async |_: Value, _| {
            Err::<(), _>(
                ToolError::of(
                    ErrorKind::Unavailable,
                    "the tool is not available in this turn",
                )
                .operator(
                    "a meta-tool is built for each turn, add it with `Toolset::with_agent_tools`",
                ),
            )
        });
        tool.def.meta = true;
        tool
    }

    /// Creates a tool that the client runs, such as a question to the user. [`Turns`](crate::turn::Turns) checks the arguments of a call, requests
    /// an approval if the call requires one, and then suspends the turn. [`Turns::supply`](crate::turn::Turns::supply) continues with the result of the
    /// client, which has to match the output schema. Without [`Turns`](crate::turn::Turns), a call fails as unavailable.
    #[cfg(feature = "host")]
    #[track_caller]
    pub fn client(
        name: impl Into<String>,
        description: impl Into<String>,
        schema: impl Into<DynamicSchema>,
        output_schema: &Value,
    ) -> Self {
        let mut tool = Self::new(
            name,
            description,
            schema,
            async |arguments: Value, cx: ToolContext| {
                if cx.hands_over_client_calls() {
                    return Ok(arguments);
                }
                Err(ToolError::of(
                    ErrorKind::Unavailable,
                    "the client runs this tool, and this host has no client",
                )
                .operator("only `Turns` passes the calls of client tools on to the client"))
            },
        );
        tool.def.client = true;
        // Passing a call on twice has no further effect at the host.
        tool.idempotent().output_schema(output_schema)
    }

    /// Adds a check of the arguments and of the client's result, for rules that the schemas cannot express. See [`ClientCheck`].
    #[cfg(feature = "host")]
    pub fn client_check(mut self, check: impl ClientCheck) -> Self {
        self.def.client_check = Some(Arc::new(check));
        self
    }

    /// Sets the title, a name for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.def.title = Some(title.into());
        self
    }

    /// Sets the category in lists of tools.
    pub fn category(mut self, category: impl Into<String>) -> Self {
        self.def.category = category.into();
        self
    }

    /// Adds a tag, by which the tool can be found.
    pub fn tag(mut self, tag: impl Into<String>) -> Self {
        self.def.tags.push(tag.into());
        self
    }

    /// Adds an earlier name of a tool that was renamed. Enablement rows, allow and deny lists, policies, switches, limits and approvals that contain the
    /// earlier name apply to the tool. New calls must use the present name. The alias is not part of the definition that models get.
    ///
    /// [`RegistryBuilder::build`](crate::RegistryBuilder::build) fails if the alias is not a valid name, if it is the name of a tool, or if it is stated twice.
    ///
    /// ```
    /// use serde_json::{Value, json};
    /// use tool_core::{DynamicTool, Registry, Rules, ToolContext};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    /// let send = DynamicTool::new("send_message", "Sends a message.", schema, |_: Value, _cx| async { "sent" }).alias("send_mail");
    /// let registry = Registry::builder().dynamic(send).build()?;
    ///
    /// let rules = Rules::default().deny(["send_mail"]);
    /// assert_eq!(registry.toolset(&ToolContext::anonymous(), &rules).names().count(), 0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn alias(mut self, name: impl Into<String>) -> Self {
        self.def.aliases.push(name.into());
        self
    }

    /// Declares a secret, which the handler reads with [`ToolContext::secret`].
    pub fn secret(mut self, need: SecretNeed) -> Self {
        self.def.secrets.push(need);
        self
    }

    /// Declares a variable, which the handler reads with [`ToolContext::variable`].
    pub fn variable(mut self, need: VariableNeed) -> Self {
        self.def.variables.push(need);
        self
    }

    /// Adds an effect. The tool cannot get host values with an effect that it does not have.
    pub fn effect(mut self, effect: Effect) -> Self {
        self.def.effect = self.def.effect.union(effect);
        self.judge_effect()
    }

    /// Declares that the tool changes no state.
    pub fn read_only(mut self) -> Self {
        self.def.declared.read_only = true;
        self.judge_effect()
    }

    /// Declares that the tool may remove or overwrite state.
    pub fn destructive(mut self) -> Self {
        self.def.declared.destructive = true;
        self.judge_effect()
    }

    /// Declares that a repeated call has no further effect.
    pub fn idempotent(mut self) -> Self {
        self.def.declared.idempotent = true;
        self.judge_effect()
    }

    /// Declares that the tool communicates with systems or people outside of the host.
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

    /// Sets when the tool requires a person to approve a call. The default is [`Approval::ByEffect`].
    pub fn approval(mut self, approval: Approval) -> Self {
        self.def.approval = approval;
        self
    }

    /// Sets the time limit of a call.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.def.timeout = Some(timeout);
        self
    }

    /// Declares that the tool never runs in parallel with another call.
    pub fn sequential(mut self) -> Self {
        self.def.sequential = true;
        self
    }

    /// Declares that the tool has no effect of its own: it changes state only by calls that pass the gate. If one of these calls waits for an approval, the
    /// body may run again after the approval, even if the tool is not idempotent: the ledger returns the results of the calls that it has recorded,
    /// so that these calls are not made twice.
    ///
    /// ```
    /// use serde_json::{Value, json};
    /// use tool_core::{DynamicTool, Registry, ToolContext, ToolError};
    ///
    /// let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    /// let relay = DynamicTool::new("relay", "Makes calls.", schema, |_: Value, _: ToolContext| async { Ok::<_, ToolError>(0) }).only_calls();
    /// let registry = Registry::builder().dynamic(relay).build()?;
    /// assert!(registry.get("relay").unwrap().only_calls());
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn only_calls(mut self) -> Self {
        self.def.only_calls = true;
        self
    }

    /// Declares that the tool makes [only calls](Self::only_calls), and that a call which is dispatched again continues what its earlier run has begun,
    /// such as a conversation with a sub-agent. After a crash, the call runs again, whereas calls of other tools with effects wait for an operator.
    ///
    /// The body has to recognize the call by its [identity](ToolContext::identity). The effect ledger has no row of the call, unless a person has approved
    /// it: an approval permits one run, so an approved call that was interrupted waits for an operator.
    ///
    /// ```
    /// use serde_json::{Value, json};
    /// use tool_core::{DynamicTool, Registry, ToolContext, ToolError};
    ///
    /// let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    /// let relay = DynamicTool::new("relay", "Continues.", schema, |_: Value, _: ToolContext| async { Ok::<_, ToolError>(0) }).continues();
    /// let registry = Registry::builder().dynamic(relay).build()?;
    /// let relay = registry.get("relay").unwrap();
    /// assert!(relay.continues() && relay.only_calls());
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn continues(mut self) -> Self {
        self.def.continues = true;
        self.only_calls()
    }

    /// Makes the tool part of the harness: see [`ToolDef::is_harness`](crate::ToolDef::is_harness).
    pub fn harness(mut self) -> Self {
        self.def.harness = true;
        self
    }

    /// Adds an example, which models read after the description. Building the registry fails if the arguments do not match the schema, or the output
    /// does not match the [output schema](Self::output_schema).
    ///
    /// ```
    /// use serde_json::{Value, json};
    /// use tool_core::{Dialect, DynamicTool, Registry, ToolError};
    ///
    /// let schema = json!({
    ///     "type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": false
    /// });
    /// let double = DynamicTool::new("double", "Doubles a number.", schema, |arguments: Value, _cx| async move {
    ///     Ok::<_, ToolError>(arguments["n"].as_i64().unwrap_or_default() * 2)
    /// });
    /// let registry = Registry::builder().dynamic(double.example(json!({"n": 2}), Some(json!(4)))).build()?;
    /// assert!(registry.get("double").unwrap().definition(Dialect::OpenAi).contains(r#"Examples:\n- {\"n\":2} → 4"#));
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn example(mut self, arguments: Value, output: Option<Value>) -> Self {
        self.def.examples.push(DynamicExample { arguments, output });
        self
    }

    /// Sets the user that calls act as: [`ToolContext::runtime_user`] returns this user to the handler and to the audit.
    pub fn runtime_user(self, user: impl Into<String>) -> Self {
        let (user, is_default) = (user.into(), false);
        self.acting_as(Some(ActsAs { user, is_default }))
    }

    pub(crate) fn acting_as(mut self, acts_as: Option<ActsAs>) -> Self {
        self.def.acts_as = acts_as;
        self
    }

    /// Sets the limit of the output in bytes.
    pub fn output_limit(mut self, bytes: usize) -> Self {
        self.def.output_limit = Some(bytes);
        self
    }

    /// Sets the JSON Schema of the output and enforces it: a call whose output does not match the schema fails. Keys that an open object does not
    /// name may have any value. If outputs cannot be checked against the schema, building the registry fails.
    pub fn output_schema(mut self, schema: &Value) -> Self {
        self.def.output_schema = Some(schema.to_string());
        self
    }

    /// Sets an output schema of any form, against which `check` validates outputs.
    pub fn output_check(mut self, schema: &Value, check: impl SchemaCheck) -> Self {
        self.def.output_schema = Some(schema.to_string());
        self.def.promise = Some(OutputCheck::Checked(Arc::new(check)));
        self
    }

    /// Offers the tool as not strict, with its own schema, to each provider whose strict mode does not accept the schema. The schema is changed
    /// only where the provider would refuse the request, see [`dynamic::non_strict`](crate::schema::dynamic::non_strict).
    /// Providers that accept the schema still get the tool as strict, unless a request would exceed Anthropic's limits of strict tools.
    ///
    /// Such a provider does not enforce the schema for its model. So `check` validates the arguments before a person approves the call, and again
    /// after they were [repaired](crate::Repair). `check` must implement exactly the schema of the tool. Arguments that it accepts are passed to the
    /// handler as they were written. Other arguments are repaired only if [`dynamic::read`](crate::schema::dynamic::read) can read the schema as
    /// well, except for white space, a code fence and commas around JSON.
    ///
    /// The audit row of every call has a note `non_strict` that names these providers.
    ///
    /// ```
    /// use serde_json::{Value, json};
    /// use tool_core::prelude::*;
    /// use tool_core::{DynamicTool, Issue, SchemaCheck, ToolError};
    ///
    /// struct AnyFilter;
    /// impl SchemaCheck for AnyFilter {
    ///     fn issues(&self, value: &Value) -> Vec<Issue> {
    ///         if value["filter"].is_object() {
    ///             return Vec::new();
    ///         }
    ///         let (pointer, expected, found) = ("/filter".to_owned(), "an object".to_owned(), value["filter"].to_string());
    ///         vec![Issue { pointer, expected, found }]
    ///     }
    /// }
    ///
    /// # fn main() -> Result<(), tool_core::RegistryError> {
    /// let schema = json!({"type": "object", "required": ["filter"], "properties": {"filter": {"type": "object"}}});
    /// let find = DynamicTool::new("find", "Finds documents.", schema, |_: Value, _cx| async { Ok::<_, ToolError>(0) })
    ///     .non_strict(AnyFilter);
    /// let registry = Registry::builder().dynamic(find).build()?;
    /// let find = registry.get("find").unwrap();
    /// assert!(find.definition(Dialect::OpenAi).contains(r#""strict":false"#));
    /// assert!(find.non_strict().contains(Dialect::OpenAi));
    /// # Ok(())
    /// # }
    /// ```
    pub fn non_strict(mut self, check: impl SchemaCheck) -> Self {
        self.def.check = Some(Arc::new(check));
        self.def.may_be_non_strict = true;
        self
    }

    /// Sets the origin of the tool for messages. The default is the line that created it.
    pub fn origin(mut self, origin: impl Into<String>) -> Self {
        self.def.origin = origin.into();
        self
    }

    /// Offers the tool to these providers only. The default is all providers. If one of them does not accept the schema, building the
    /// registry fails, unless the provider can get the tool as [not strict](Self::non_strict).
    pub fn providers(mut self, providers: Dialects) -> Self {
        self.providers = Providers::Stated(providers);
        self
    }

    /// Offers the tool to all providers that accept its schema. [`Toolset::left_out`](crate::Toolset::left_out) lists the tools that are not offered to a
    /// provider.
    pub fn where_accepted(mut self) -> Self {
        self.providers = Providers::Accepting;
        self
    }
}
