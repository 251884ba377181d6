//! Calls with typed arguments.

#[cfg(feature = "host")]
use std::sync::{Arc, Mutex, PoisonError};

#[cfg(feature = "host")]
use super::gated;
use super::{Pass, check, check_secrets, drive, enter, execute, redacted};
use crate::args;
use crate::call::ToolCall;
use crate::context::ToolContext;
use crate::env;
#[cfg(feature = "host")]
use crate::error::ErrorKind;
use crate::error::ToolError;
use crate::gate;
#[cfg(feature = "host")]
use crate::gate::Gate;
use crate::tool::Tool;
use crate::toolset::Toolset;

/// See [`Toolset::invoke`].
pub(crate) async fn invoke<T: Tool>(
    toolset: &Toolset,
    input: T,
    cx: &ToolContext,
) -> Result<T::Output, ToolError> {
    let since = env::monotonic();
    let Some((at, def)) = toolset.find_typed::<T>() else {
        return Err(toolset.unknown(T::NAME));
    };
    // Types hold already; bounds are known to the guard alone.
    let text = input.to_arguments();
    #[cfg(feature = "host")]
    if let Some(gate) = super::gate_of(toolset, cx) {
        return through(gate, toolset, input, text, cx).await;
    }
    if let Some(text) = &text {
        check(def.input(), text, args::Repair::Off, cx)?;
    }
    check_secrets(def, cx)?;
    let call = ToolCall::new("", T::NAME, text.unwrap_or_default());
    let prepared = enter(
        toolset,
        at,
        def,
        call,
        cx,
        None,
        since,
        #[cfg(feature = "host")]
        None,
    );
    let permit = gate::decide(toolset, prepared).map_err(|(prepared, error)| {
        prepared.ended(Some(&error));
        error
    })?;
    let inner = permit.context().clone();
    let job = async move {
        let returned = input.run(inner.clone(), Pass(())).await?;
        drive::settle(returned, &inner).await
    };
    let (prepared, outcome) = execute(permit, job).await;
    prepared.ended(outcome.as_ref().err());
    outcome.map_err(|error| redacted(error, &prepared.cx))
}

/// The same through a gate.
#[cfg(feature = "host")]
async fn through<T: Tool>(
    gate: &Gate,
    toolset: &Toolset,
    input: T,
    text: Option<String>,
    cx: &ToolContext,
) -> Result<T::Output, ToolError> {
    let Some(text) = text else {
        return Err(ToolError::of(ErrorKind::Unavailable, "the call cannot be judged").operator(format!(
            "the arguments of `{}` cannot be written as JSON: derive `Serialize` for every type in them",
            T::NAME
        )));
    };
    let kept = Arc::new(Mutex::new(None));
    let slot = Arc::clone(&kept);
    let make: gated::MakeJob = Box::new(move |cx| {
        Box::pin(async move {
            let returned = input.run(cx.clone(), Pass(())).await?;
            let value = drive::settle(returned, &cx).await?;
            let finished = drive::finished(&value, T::model_view, &cx)?;
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
            Ok(finished)
        })
    });
    // A typed call has no id of a provider's; within a call it is counted.
    let id = if cx.call_id().is_some() {
        String::new()
    } else {
        crate::gate::hash::random_id()?
    };
    let result = gated::call(
        gate,
        toolset,
        ToolCall::new(id, T::NAME, text),
        cx,
        None,
        gated::From::Host(make),
    )
    .await;
    result.outcome.into_inner()?;
    let value = kept.lock().unwrap_or_else(PoisonError::into_inner).take();
    value.ok_or_else(|| {
        ToolError::of(ErrorKind::Interrupted, "the call has run before").operator(
            "a stored result is JSON and has no Rust type: use `Toolset::call` for calls that may be repeated",
        )
    })
}
