//! The trait of function runners, and the facts that a runner returns about a function.

use std::time::Duration;

use futures::future::BoxFuture;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::ToolFault;
use crate::context::ToolContext;
use crate::effect::{Declared, Effect};
use crate::error::ToolError;
use crate::need::{SecretNeed, VariableNeed};
use crate::output::ModelOutput;
use crate::store::{Function, FunctionEffects, FunctionVersion};
use crate::tool::{DynamicTool, ToolDef};

/// Runs the functions of one kind.
///
/// ```
/// use futures::future::BoxFuture;
/// use serde_json::json;
/// use tool_core::ToolError;
/// use tool_core::store::{Function, FunctionKind, FunctionVersion};
/// use tool_core::stored::{FunctionCall, FunctionFacts, FunctionOutput, FunctionRunner};
///
/// /// Runs HTTP operations.
/// struct Http;
///
/// impl FunctionRunner for Http {
///     fn facts(&self, function: &Function, _: &FunctionVersion) -> Option<Result<FunctionFacts, String>> {
///         matches!(function.kind, FunctionKind::Http { .. }).then(|| Ok(FunctionFacts::foreign(function)))
///     }
///
///     fn run(&self, call: FunctionCall) -> BoxFuture<'static, Result<FunctionOutput, ToolError>> {
///         // A real runner sends the request here, as `call.cx.runtime_user()`.
///         Box::pin(async move { FunctionOutput::new(&json!({"sent": call.arguments})) })
///     }
/// }
/// ```
pub trait FunctionRunner: Send + Sync + 'static {
    /// Returns the facts of a function; `None` if the runner does not run functions of this kind. The error is the reason, for operators, why the
    /// function cannot run, such as a tool that is not linked. This method is called when a version or a tool is saved, and when a tool is offered or
    /// called. It must not block.
    fn facts(
        &self,
        function: &Function,
        version: &FunctionVersion,
    ) -> Option<Result<FunctionFacts, String>>;

    /// Returns the faults of a new version of a function for which [`facts`](Self::facts) does not return `None`. Unlike `facts`, this method is
    /// called only when the version is saved, and may wait, for example for a compiler or a server. The pointer of a fault names a value of the
    /// version, such as `/files/main.ts`. By default, there are no faults other than the error of `facts`.
    fn check<'a>(
        &'a self,
        function: &'a Function,
        version: &'a FunctionVersion,
    ) -> BoxFuture<'a, Vec<ToolFault>> {
        let _ = (function, version);
        Box::pin(async { Vec::new() })
    }

    /// Runs a function within a call that has passed the gate. The arguments match the schema of the tool, and the caller validates the output.
    fn run(&self, call: FunctionCall) -> BoxFuture<'static, Result<FunctionOutput, ToolError>>;
}

/// A call of a function.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FunctionCall {
    /// The function to run.
    pub function: Function,
    /// The version of the function.
    pub version: FunctionVersion,
    /// The arguments, which match the schema of the tool.
    pub arguments: Value,
    /// The context of the call. [`runtime_user`](ToolContext::runtime_user) returns the tool's runtime user.
    pub cx: ToolContext,
}

/// The output of a function.
#[derive(Clone, Debug)]
pub struct FunctionOutput {
    pub(super) payload: Box<RawValue>,
    pub(super) model: Option<ModelOutput>,
}

impl FunctionOutput {
    /// Creates an output that the model reads as JSON. Fails if the value cannot be written as JSON.
    pub fn new(output: &(impl Serialize + ?Sized)) -> Result<Self, ToolError> {
        let payload = serde_json::value::to_raw_value(output)?;
        let model = None;
        Ok(Self { payload, model })
    }

    /// Sets a separate output for the model.
    #[must_use]
    pub fn model(mut self, model: ModelOutput) -> Self {
        self.model = Some(model);
        self
    }
}

impl Serialize for FunctionOutput {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.payload.serialize(to)
    }
}

/// The facts that a runner returns about a function.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct FunctionFacts {
    /// The effects that the function declares.
    pub declared: Declared,
    /// The effect on the host, in addition to the declared effects.
    pub effect: Effect,
    /// The secrets that the function reads.
    pub secrets: Vec<SecretNeed>,
    /// The variables that the function reads.
    pub variables: Vec<VariableNeed>,
    /// Whether the function changes state only by calls that pass the gate: see [`DynamicTool::only_calls`].
    pub only_calls: bool,
    /// Whether the function never runs in parallel with another call.
    pub sequential: bool,
    /// The time limit of a call.
    pub timeout: Option<Duration>,
    /// The limit of the output in bytes.
    pub output_limit: Option<usize>,
}

impl FunctionFacts {
    /// Returns the facts of a foreign function: the effects that an admin has declared, or destructive and open-world effects if there is no declaration.
    pub fn foreign(function: &Function) -> Self {
        let FunctionEffects {
            read_only,
            destructive,
            idempotent,
            open_world,
        } = function.effects.unwrap_or_default();
        Self {
            declared: Declared {
                read_only,
                destructive,
                idempotent,
                open_world,
            },
            ..Self::default()
        }
    }

    /// Returns the facts of a function that only calls these tools: their combined effects, secrets and variables.
    pub fn calling<'t>(tools: impl IntoIterator<Item = &'t ToolDef>) -> Self {
        let mut facts = Self {
            only_calls: true,
            ..Self::default()
        };
        let (mut only_reads, mut repeats, mut is_any) = (true, true, false);
        for tool in tools {
            let hints = tool.hints();
            is_any = true;
            only_reads &= hints.read_only;
            repeats &= hints.idempotent;
            facts.declared.destructive |= hints.destructive;
            facts.declared.open_world |= hints.open_world;
            facts.effect = facts.effect.union(tool.effect());
            facts.sequential |= tool.is_sequential();
            for need in tool.secrets() {
                if !facts.secrets.contains(need) {
                    facts.secrets.push(need.clone());
                }
            }
            for need in tool.variables() {
                if !facts.variables.contains(need) {
                    facts.variables.push(need.clone());
                }
            }
        }
        facts.declared.read_only = is_any && only_reads;
        facts.declared.idempotent = is_any && repeats;
        facts
    }

    /// Declares the facts on a tool.
    pub(super) fn declared_on(self, mut tool: DynamicTool) -> DynamicTool {
        let Declared {
            read_only,
            destructive,
            idempotent,
            open_world,
        } = self.declared;
        tool = tool.effect(self.effect);
        if read_only {
            tool = tool.read_only();
        }
        if destructive {
            tool = tool.destructive();
        }
        if idempotent {
            tool = tool.idempotent();
        }
        if open_world {
            tool = tool.open_world();
        }
        if self.only_calls {
            tool = tool.only_calls();
        }
        if self.sequential {
            tool = tool.sequential();
        }
        if let Some(timeout) = self.timeout {
            tool = tool.timeout(timeout);
        }
        if let Some(limit) = self.output_limit {
            tool = tool.output_limit(limit);
        }
        for need in self.secrets {
            tool = tool.secret(need);
        }
        for need in self.variables {
            tool = tool.variable(need);
        }
        tool
    }
}
