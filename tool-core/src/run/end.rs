//! From what a body gave to the call's result.

use super::Prepared;
use crate::bounded;
use crate::call::CallResult;
use crate::context::ToolContext;
use crate::error::ToolError;
use crate::output::Output;
use crate::tool::Finished;
use crate::toolset::Toolset;

/// The result of a run, with what a model does not read at once kept for it.
pub(super) async fn closed(
    toolset: &Toolset,
    prepared: Prepared,
    outcome: Result<Finished, ToolError>,
) -> CallResult {
    let bounded = outcome
        .as_ref()
        .is_ok_and(|Finished(output)| bounded::is_bounded(output));
    if !bounded {
        return close(toolset, prepared, outcome);
    }
    let cx = prepared.cx.clone();
    let mut result = close(toolset, prepared, outcome);
    if let Ok(output) = &mut result.outcome {
        // After secrets are masked. Boxed, so that other calls do not carry the room for it.
        Box::pin(bounded::settle(output, &cx)).await;
    }
    result
}

/// The result of a run, with the checks on its output.
fn close(
    toolset: &Toolset,
    prepared: Prepared,
    outcome: Result<Finished, ToolError>,
) -> CallResult {
    let outcome = match outcome {
        Ok(finished) => {
            toolset
                .shelf()
                .wrote(prepared.at, finished.0.payload.get().len());
            leave(&prepared, finished)
        }
        Err(error) => Err(redacted(error, &prepared.cx)),
    };
    prepared.result(outcome)
}

/// What of a run may leave it: no more bytes than the tool allows, and no secret of the turn.
fn leave(prepared: &Prepared, Finished(output): Finished) -> Result<Output, ToolError> {
    if let Some(promise) = prepared.scope.def.promise() {
        let issues = promise.issues(&output.payload);
        if !issues.is_empty() {
            let why = ToolError::invalid_arguments(issues).model_text();
            return Err(ToolError::new(
                "the tool gave an output that its own schema does not admit",
            )
            .operator(why.replacen(
                "the arguments do not fit the schema",
                "the output does not fit the tool's output schema",
                1,
            )));
        }
    }
    let size = output.payload.get().len();
    match prepared.scope.def.output_limit() {
        Some(limit) if size > limit => Err(ToolError::new(format!(
            "the output has {size} bytes and at most {limit} are allowed, ask for less"
        ))),
        _ => {
            let redactor = prepared.cx.redactor();
            if redactor.is_empty() {
                return Ok(output);
            }
            Ok(Output {
                payload: redactor.payload(output.payload),
                model: output.model.map(|model| redactor.model(model)),
            })
        }
    }
}

/// An error without the turn's secrets.
pub(super) fn redacted(error: ToolError, cx: &ToolContext) -> ToolError {
    cx.redactor().error(error)
}
