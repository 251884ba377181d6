//! Stored tools: tools that operators create at run time and that a store contains.
//!
//! [`StoredTools`] validates a tool against the rules of the providers when an author saves the tool, and builds the tools of an agent for a turn.
//! Each call reads the tool again, so a tool that was disabled or deleted in the meantime does not run, and a tool without a pin runs the current
//! default version. A call is refused if the schemas, the effects, the confirmation or the runtime user of the tool have changed.
//!
//! A [`FunctionRunner`] runs the functions of one kind. The trait is in this crate and not in `tool-store`, because it uses [`ToolContext`] and
//! [`ToolError`], which `tool-store` does not contain.
//! [`LinkedRunner`] runs linked tools.
//!
//! ```
//! use serde_json::json;
//! use tool_core::prelude::*;
//! use tool_core::store::*;
//! use tool_core::stored::{LinkedRunner, StoredTools};
//! use tool_core::{Registry, Rules, ToolContext};
//!
//! /// Adds two numbers.
//! #[tool(read_only)]
//! fn add(
//!     /// The first number.
//!     a: i32,
//!     /// The second number.
//!     b: i32,
//! ) -> i64 {
//!     i64::from(a) + i64::from(b)
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let linked = Registry::builder().tool::<add>().build()?;
//! let tools = StoredTools::new(MemoryStore::default()).runner(LinkedRunner::new(&linked, Rules::default()));
//! let olga = Editor::member("acme", "olga", MemberRole::Author);
//! let save = async |change| tools.edit(ToolEdit::new(olga.clone(), change, Timestamp::now())).await;
//!
//! let kind = FunctionKind::Linked { tool: "add".to_owned() };
//! let function = save(ToolChange::CreateFunction(NewFunction::new("add", kind))).await?.edited.into_function().unwrap();
//! let version = LinkedRunner::version_of(linked.get("add").unwrap())?;
//! let version = ToolChange::CreateVersion { function: function.id.clone(), version };
//! let version = save(version).await?.edited.into_version().unwrap();
//! save(ToolChange::Publish { version: version.id }).await?;
//! let mut tool = NewTool::server("sum", function.id);
//! tool.description = Some("Adds the prices of two items.".to_owned());
//! let tool = save(ToolChange::CreateTool(Box::new(tool))).await?.edited.into_tool().unwrap();
//! save(ToolChange::Bind { agent: "cashier".to_owned(), tool: tool.id }).await?;
//!
//! let own = tools.of_agent(&Workspace::new("acme"), "cashier").await?;
//! let cx = ToolContext::builder().workspace("acme").build();
//! let result = own.registry.open().call(ToolCall::new("c-1", "sum", r#"{"a":1,"b":2}"#), &cx).await;
//! assert_eq!(result.model_text(), "3");
//! # Ok(())
//! # }
//! ```

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::context::ToolContext;
use crate::error::{ErrorKind, ToolError};
use crate::registry::Registry;
use crate::store::{
    Function, FunctionVersion, ResolvedTool, RuntimeUserLevel, StoreError, StoredToolStore,
    ToolSchema, ToolTarget, Workspace,
};
use crate::tool::{ActsAs, Approval, DynamicTool, ToolDef};

mod judge;
mod linked;
mod runner;
mod save;

pub use linked::LinkedRunner;
pub use runner::{FunctionCall, FunctionFacts, FunctionOutput, FunctionRunner};
pub use save::{SaveError, Saved, ToolFault};

/// The tools of a store, and the runners of their functions.
#[derive(Clone)]
pub struct StoredTools {
    store: Arc<dyn StoredToolStore>,
    runners: Vec<Arc<dyn FunctionRunner>>,
}

/// The stored tools of an agent.
#[derive(Debug)]
#[non_exhaustive]
pub struct AgentTools {
    /// The tools that can be offered.
    pub registry: Registry,
    /// The tools that cannot be offered.
    pub left_out: Vec<LeftOutTool>,
}

/// A stored tool that is bound to an agent and cannot be offered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeftOutTool {
    /// The id of the tool.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The reason, for operators.
    pub why: String,
}

/// The runner of a function, and the facts that it returns about the function.
type Runs = (Arc<dyn FunctionRunner>, FunctionFacts);

/// The part of a stored tool on which a call depends. A call is refused if this part has changed since the toolset was built.
#[derive(Clone, Debug, PartialEq)]
struct Shape {
    target: ToolTarget,
    input: Option<String>,
    output: Option<String>,
    requires_confirmation: bool,
    facts: FunctionFacts,
    acts_as: Option<ActsAs>,
}

impl StoredTools {
    /// Creates the tools of a store, without runners: only client tools can be saved and offered.
    pub fn new(store: impl StoredToolStore) -> Self {
        Self::shared(Arc::new(store))
    }

    /// Creates the tools of a store that other code shares, without runners.
    pub fn shared(store: Arc<dyn StoredToolStore>) -> Self {
        Self {
            store,
            runners: Vec::new(),
        }
    }

    /// Adds a runner. If several runners accept a function, the first of them runs it.
    #[must_use]
    pub fn runner(mut self, runner: impl FunctionRunner) -> Self {
        self.runners.push(Arc::new(runner));
        self
    }

    /// Returns the store that contains the tools.
    pub fn store(&self) -> &Arc<dyn StoredToolStore> {
        &self.store
    }

    /// Returns the tools that are bound to an agent, enabled and not deleted. Call this for each step of a turn, so that the model sees every change.
    ///
    /// A tool is in [`AgentTools::left_out`] if it has a fault, if no runner can run it, or if an older tool has the same name.
    ///
    /// # Errors
    ///
    /// Fails if the store fails, and with [`StoreError::Conflict`] if the registry refuses the tools together.
    pub async fn of_agent(
        &self,
        workspace: &Workspace,
        agent: &str,
    ) -> Result<AgentTools, StoreError> {
        let mut builder = Registry::builder();
        let mut names: Vec<String> = Vec::new();
        let mut left_out = Vec::new();
        for found in self.store.agent_tools(workspace, agent).await? {
            let (id, name) = (found.tool.id.clone(), found.tool.name.clone());
            let built = match found.check() {
                Err(error) => Err(error.to_string()),
                Ok(()) if names.contains(&name) => Err(format!(
                    "an older tool of the agent is also named `{name}`: rename one of the two"
                )),
                Ok(()) => self.offered(&found),
            };
            match built {
                Ok(tool) => {
                    names.push(name);
                    builder = builder.def(tool);
                }
                Err(why) => left_out.push(LeftOutTool { id, name, why }),
            }
        }
        // Each tool was validated on its own, and the names differ, so the only remaining faults are faults of the combination.
        let registry = builder.build().map_err(|error| {
            StoreError::Conflict(format!(
                "the tools of agent `{agent}` cannot be in one registry: {error}"
            ))
        })?;
        Ok(AgentTools { registry, left_out })
    }

    /// Returns the runner of a tool's function and its facts; `None` for a client tool.
    fn runner_of(&self, found: &ResolvedTool) -> Result<Option<Runs>, String> {
        let (Some(function), Some(version)) = (&found.function, &found.version) else {
            return Ok(None);
        };
        match self.knowing(function, version) {
            Some(known) => known.map(Some),
            None => Err(format!(
                "the host has no runner for functions of the kind `{}`",
                function.kind.as_str()
            )),
        }
    }

    /// Builds a tool, or returns the reason why it cannot be offered.
    fn offered(&self, found: &ResolvedTool) -> Result<ToolDef, String> {
        let tool = self.build(found).map_err(|faults| {
            let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
            faults.join("; ")
        })?;
        // The registry checks the facts of the runner, such as the names of secrets. A fault of this tool must not hide the other tools.
        let alone = Registry::builder().def(tool.clone()).build();
        alone.map(|_| tool).map_err(|error| error.to_string())
    }

    /// Returns the first runner that accepts the function, with its facts, or the reason why this runner cannot run the function.
    fn knowing(
        &self,
        function: &Function,
        version: &FunctionVersion,
    ) -> Option<Result<Runs, String>> {
        self.runners.iter().find_map(|runner| {
            let facts = runner.facts(function, version)?;
            Some(facts.map(|facts| (Arc::clone(runner), facts)))
        })
    }

    /// Builds the tool of a resolved row, without validation.
    fn unchecked(&self, found: &ResolvedTool) -> Result<DynamicTool, String> {
        let runner = self.runner_of(found)?;
        let facts = runner.map(|(_, facts)| facts).unwrap_or_default();
        let shape = Arc::new(Shape::of(found, facts));
        let row = &found.tool;
        let description = row.description.clone();
        let of_function = || found.function.as_ref()?.description.clone();
        let description = description
            .or_else(of_function)
            .unwrap_or_else(|| format!("Runs `{}`.", row.name));
        let text = |schema: Option<&ToolSchema>| {
            schema
                .map(|schema| schema.text().to_owned())
                .unwrap_or_default()
        };
        let (input, output) = (text(found.input_schema()), text(found.output_schema()));
        let output: Value = serde_json::from_str(&output)
            .map_err(|error| format!("the output schema is not JSON: {error}"))?;
        let mut tool = if row.target == ToolTarget::Client {
            DynamicTool::client(&*row.name, description, input, &output)
        } else {
            let (tools, id, shape) = (self.clone(), Arc::<str>::from(&*row.id), Arc::clone(&shape));
            let create = move |cx: &ToolContext| {
                let (tools, id) = (tools.clone(), Arc::clone(&id));
                let (shape, cx) = (Arc::clone(&shape), cx.clone());
                Ok(
                    move |arguments: Value| async move { tools.call(&id, &shape, arguments, cx).await },
                )
            };
            let view = |output: &FunctionOutput| output.model.clone();
            let tool =
                DynamicTool::viewed(row.name.clone(), description, input.into(), create, view);
            tool.output_schema(&output)
        };
        tool = shape.facts.clone().declared_on(tool);
        if row.requires_confirmation {
            tool = tool.approval(Approval::Always);
        } else if shape.facts.only_calls {
            // Each call that the function makes requests its own approval.
            tool = tool.approval(Approval::Never);
        }
        for example in row.examples.iter().flatten() {
            tool = tool.example(example.args.clone(), example.result.clone());
        }
        Ok(tool
            .category("stored")
            .origin(format!("stored tool `{}`", row.id))
            .acting_as(shape.acts_as.clone()))
    }

    /// Runs the function of a tool, unless the tool has changed since the toolset was built.
    async fn call(
        &self,
        id: &str,
        shape: &Shape,
        arguments: Value,
        cx: ToolContext,
    ) -> Result<FunctionOutput, ToolError> {
        let refused = |why: String| {
            let text =
                "the call was not made, because the tool was switched off or its setup changed";
            ToolError::of(ErrorKind::Denied, text).operator(why)
        };
        let found = self.store.resolve_tool(&cx.own_workspace(), id).await;
        let found = found.map_err(|error| {
            let text = "the call was not made, because the tool could not be read; try again later";
            ToolError::of(ErrorKind::Unavailable, text).operator(error.to_string())
        })?;
        let found = found.ok_or_else(|| refused(format!("tool `{id}` was removed")))?;
        found.check().map_err(|error| refused(error.to_string()))?;
        let (runner, facts) = match self.runner_of(&found) {
            Ok(Some(found)) => found,
            Ok(None) => return Err(refused(format!("tool `{id}` has no function"))),
            Err(why) => return Err(refused(why)),
        };
        if Shape::of(&found, facts) != *shape {
            let text = "the call was not made, because the tool has changed; read its definition again and repeat the call";
            return Err(ToolError::of(ErrorKind::Unavailable, text).operator(format!(
                "the schemas, effects, confirmation or runtime user of tool `{id}` have changed since the toolset was built"
            )));
        }
        let (Some(function), Some(version)) = (found.function, found.version) else {
            return Err(refused(format!("tool `{id}` has no function")));
        };
        let call = FunctionCall {
            function,
            version,
            arguments,
            cx,
        };
        runner.run(call).await
    }
}

impl Shape {
    fn of(found: &ResolvedTool, facts: FunctionFacts) -> Self {
        let id = |schema: Option<&ToolSchema>| schema.map(|schema| schema.id().to_owned());
        Self {
            target: found.tool.target,
            input: id(found.input_schema()),
            output: id(found.output_schema()),
            requires_confirmation: found.tool.requires_confirmation,
            facts,
            acts_as: found.runtime_user().map(|user| ActsAs {
                user: user.user.to_owned(),
                is_default: user.level == RuntimeUserLevel::Workspace,
            }),
        }
    }
}

impl fmt::Debug for StoredTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredTools")
            .field("runners", &self.runners.len())
            .finish_non_exhaustive()
    }
}
