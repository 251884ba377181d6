//! Nested calls: tools that call tools.

use std::fmt;
use std::marker::PhantomData;

use futures::future::BoxFuture;

use crate::call::{CallResult, ToolCall};
use crate::context::{FromContext, ToolContext, ToolContextBuilder};
use crate::effect::Effect;
use crate::error::{ToolError, unknown_tool};
use crate::tool::Tool;
use crate::toolset::Toolset;

/// The right to call the tools named in `T`, as a host value: `uses: &Uses<(send_mail, search_docs)>`.
///
/// The nested tools are part of the tool's type: `Uses` cannot call other tools, and the tool's effect includes the effects of the nested tools.
/// Every nested call passes the same gate as a call of the model, with its own visibility check, policy decision, approval and audit row. If a nested
/// call waits for an approval, the outer call's result reports it. Nested results are not messages of the thread.
///
/// After the approval the outer call runs again from its beginning. A nested call whose result is in the effect ledger returns this result instead of
/// running twice: [`invoke`](Self::invoke) then needs `Deserialize` on the nested tool's output. A nested call without a row in the ledger, such as a
/// read-only call, runs again. The outer call runs again only if its tool is `idempotent`, or if its other host values cannot change anything. Any other
/// tool does not run again: its effect is ambiguous, and an operator decides. Work that a body does without host values is repeated.
///
/// The host chooses the toolset: [`ToolContextBuilder::tools`](crate::ToolContextBuilder::tools) or
/// [`ToolContext::with_tools`]. An MCP server and the command line use the toolset that they offer.
///
/// ```
/// use tool_core::prelude::*;
/// use tool_core::Uses;
///
/// /// Adds two whole numbers.
/// #[tool(read_only)]
/// fn add(
///     /// The first number.
///     a: i32,
///     /// The second number.
///     b: i32,
/// ) -> i64 {
///     i64::from(a) + i64::from(b)
/// }
///
/// /// Returns twice a number.
/// #[tool]
/// async fn double(
///     #[context] uses: Uses<(add,)>,
///     /// The number to double.
///     n: i32,
/// ) -> Result<i64, ToolError> {
///     uses.invoke(add { a: n, b: n }).await
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let tools = toolset![add, double];
/// let cx = ToolContext::builder().tools(&tools).build();
/// let result = tools.call(ToolCall::new("c-1", "double", r#"{"n":4}"#), &cx).await;
/// assert_eq!(result.model_text(), "8");
/// # }
/// ```
#[doc(alias("tools that call tools", "nested call"))]
pub struct Uses<T> {
    cx: ToolContext,
    tools: Toolset,
    named: PhantomData<fn() -> T>,
}

/// A tuple of tools that a tool may call.
pub trait UsedTools: Send + 'static {
    /// The names of the tools in the tuple.
    const NAMES: &'static [&'static str];
    /// The effects of all tools together.
    const EFFECT: Effect;
}

/// `A` is a member of a tuple of tools. The compiler infers `I`, the position of `A`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not name `{A}` among the tools that it uses",
    label = "cannot call `{A}`",
    note = "add it to the tuple: `Uses<(…, {A})>`"
)]
pub trait UsesTool<A, I> {}

/// The position of a tool in a tuple.
pub struct At<const PLACE: usize>(());

macro_rules! tuples {
    ($($($tool:ident $place:literal),+;)+) => {$(
        impl<$($tool: Tool),+> UsedTools for ($($tool,)+) {
            const NAMES: &'static [&'static str] = &[$($tool::NAME),+];
            const EFFECT: Effect = {
                let mut effect = Effect::NONE;
                $(effect = effect.union($tool::EFFECT);)+
                effect
            };
        }
        tuples!(@each ($($tool),+) $($tool $place),+);
    )+};
    (@each $all:tt $($tool:ident $place:literal),+) => {$(
        tuples!(@one $all $tool $place);
    )+};
    (@one ($($all:ident),+) $tool:ident $place:literal) => {
        #[diagnostic::do_not_recommend]
        impl<$($all: Tool),+> UsesTool<$tool, At<$place>> for ($($all,)+) {}
    };
}

tuples! {
    A 0;
    A 0, B 1;
    A 0, B 1, C 2;
    A 0, B 1, C 2, D 3;
    A 0, B 1, C 2, D 3, E 4;
    A 0, B 1, C 2, D 3, E 4, F 5;
    A 0, B 1, C 2, D 3, E 4, F 5, G 6;
    A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7;
}

/// The toolset that tools may call.
#[derive(Clone)]
struct Callable(Toolset);

impl<T: UsedTools> Uses<T> {
    /// Makes a typed call of one of the tools in `T`.
    pub fn invoke<A, I>(&self, input: A) -> BoxFuture<'_, Result<A::Output, ToolError>>
    where
        A: Tool,
        T: UsesTool<A, I>,
    {
        Box::pin(self.tools.invoke(input, &self.cx))
    }

    /// Makes a call by name. A tool that `T` does not name is reported as unknown.
    pub async fn call(&self, call: ToolCall) -> CallResult {
        if !T::NAMES.contains(&call.name.as_str()) {
            let redactor = self.cx.redactor();
            let name = redactor.redact(&call.name);
            let error = unknown_tool(T::NAMES.iter().copied(), &name);
            return CallResult::refused_in(&self.cx, call, error);
        }
        Box::pin(self.tools.call(call, &self.cx)).await
    }
}

impl ToolContext {
    /// Returns the same context with a toolset, so that tools may call the tools in it; see [`Uses`].
    ///
    /// Use this for a toolset that is built from the context. If the toolset exists before the context, use [`ToolContextBuilder::tools`].
    ///
    /// ```
    /// use tool_core::{Registry, Rules, ToolContext};
    ///
    /// let registry = Registry::builder().build()?;
    /// let cx = ToolContext::builder().user("ann").build();
    /// let tools = registry.toolset(&cx, &Rules::default());
    /// let cx = cx.with_tools(&tools);
    /// assert!(cx.has_tools());
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    ///
    /// [`ToolContextBuilder::tools`]: crate::ToolContextBuilder::tools
    #[must_use]
    pub fn with_tools(&self, tools: &Toolset) -> Self {
        self.with_service(Callable(tools.clone()))
    }

    /// Returns whether the context has a toolset that tools may call.
    pub fn has_tools(&self) -> bool {
        self.has_service::<Callable>()
    }
}

impl ToolContextBuilder {
    /// Sets the toolset that tools may call themselves; see [`Uses`](crate::Uses).
    pub fn tools(self, tools: &Toolset) -> Self {
        self.with(Callable(tools.clone()))
    }
}

impl<T: UsedTools> FromContext for Uses<T> {
    const EFFECT: Effect = T::EFFECT;
    const ONLY_CALLS: bool = true;

    fn from_context(cx: &ToolContext) -> Result<Self, ToolError> {
        let Callable(tools) = cx
            .extension()
            .ok_or_else(|| ToolError::unavailable("a toolset that tools may call"))?;
        Ok(Self {
            cx: ToolContext::from_context(cx)?,
            tools,
            named: PhantomData,
        })
    }
}

impl<T> Clone for Uses<T> {
    fn clone(&self) -> Self {
        Self {
            cx: self.cx.clone(),
            tools: self.tools.clone(),
            named: PhantomData,
        }
    }
}

impl<T: UsedTools> fmt::Debug for Uses<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Uses").field(&T::NAMES).finish()
    }
}
