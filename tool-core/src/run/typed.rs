//! Calls with typed arguments, with and without a gate.

use super::Prepared;
#[cfg(feature = "host")]
use super::gated;
use super::steps::{Body, Found, Left, Permit, Running};
#[cfg(feature = "host")]
use crate::call::ToolCall;
use crate::context::ToolContext;
#[cfg(feature = "host")]
use crate::context::{TypedOutput, next_identity};
#[cfg(feature = "host")]
use crate::error::ErrorKind;
use crate::error::ToolError;
#[cfg(feature = "host")]
use crate::gate::Gate;
use crate::tool::{self, Tool};
use crate::toolset::Toolset;

/// Runs a call with typed arguments, for [`Toolset::invoke`].
pub(crate) async fn invoke<T: Tool>(
    toolset: &Toolset,
    input: T,
    cx: &ToolContext,
) -> Result<T::Output, ToolError> {
    // The arguments have the correct types, but only the argument guard checks their bounds, and it reads JSON.
    let text = input.to_arguments();
    #[cfg(feature = "host")]
    if let Some(gate) = super::gate_of(toolset, cx) {
        return through(&gate, toolset, input, text, cx).await;
    }
    let (permit, running) = match permitted::<T>(toolset, text, cx) {
        Ok(permitted) => permitted,
        Err(left) => return Err(left.land_typed()),
    };
    let inner = permit.context().clone();
    let body = Body::new(async move {
        let returned = tool::run(input, inner.clone()).await?;
        tool::settle(returned, &inner).await
    });
    let outcome = permit.run(body).await;
    running.land_typed(outcome)
}

/// Runs every step before the body of a typed call without a gate.
fn permitted<T: Tool>(
    toolset: &Toolset,
    text: Option<String>,
    cx: &ToolContext,
) -> Result<(Permit, Running<Prepared>), Left<Prepared>> {
    let is_written = text.is_some();
    let found = Found::typed::<T>(toolset, text)?;
    let admitted = found.admit_typed(is_written, cx)?;
    Ok(admitted.judge().clear()?.claim().permit())
}

/// Makes a typed call through a gate.
#[cfg(feature = "host")]
async fn through<T: Tool>(
    gate: &Gate,
    toolset: &Toolset,
    input: T,
    text: Option<String>,
    cx: &ToolContext,
) -> Result<T::Output, ToolError> {
    let Some(text) = text else {
        return Err(ToolError::of(ErrorKind::Unavailable, "the call cannot be checked").operator(format!(
            "the arguments of `{}` cannot be written as JSON: derive `Serialize` for every type in them",
            T::NAME
        )));
    };
    let make: gated::MakeJob = Box::new(move |cx| {
        let body = tool::run(input, cx.clone());
        Box::pin(tool::finish(body, T::model_view, cx))
    });
    // A typed call has no id from a provider. A nested call is identified by its number within the outer call. A call whose identity the host has set needs the
    // same id on every dispatch, because the ledger compares the ids.
    let id = match next_identity(cx) {
        _ if cx.call_id().is_some() => String::new(),
        Some(identity) => identity.key().as_str().to_owned(),
        None => crate::gate::random::random_id()?,
    };
    // The gate refuses a tool that is hidden now, and returns the stored result if the call has run before.
    let name = match toolset.find_typed::<T>() {
        Ok((_, def)) => def.wire_name(),
        Err(_) => T::NAME,
    };
    let call = ToolCall::new(id, name, text);
    let kept = TypedOutput::default();
    let typed = gated::Typed {
        tool: T::DEF.origin(),
        output: kept.clone(),
    };
    let origin = gated::Origin::Host(make, typed);
    let result = gated::call(gate, toolset, call, cx, None, origin).await;
    let output = result.outcome.into_inner()?;
    match kept.take() {
        Some(value) => Ok(value),
        // The call has run before, and the ledger has stored its result.
        None => stored::<T>(output.payload.get()),
    }
}

/// Reads the stored output of a call that has run before.
#[cfg(feature = "host")]
fn stored<T: Tool>(payload: &str) -> Result<T::Output, ToolError> {
    let text = "the call has run before, and its stored result cannot be read";
    let failed = |why: String| ToolError::of(ErrorKind::Interrupted, text).operator(why);
    match T::stored_output(payload) {
        Some(Ok(value)) => Ok(value),
        Some(Err(error)) => Err(failed(format!(
            "the stored output of `{}` does not match its type: {error}",
            T::NAME
        ))),
        None => Err(failed(format!(
            "the output type of `{}` has no `Deserialize`: derive it, or use `Uses::call`",
            T::NAME
        ))),
    }
}
