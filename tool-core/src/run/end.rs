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
    let outcome = outcome.and_then(|finished| {
        toolset
            .shelf()
            .wrote(prepared.at, finished.0.payload.get().len());
        admitted(&prepared, finished)
    });
    let bounded = outcome.as_ref().is_ok_and(bounded::is_bounded);
    let outcome = prepared.cx.redactor().clean(outcome);
    if !bounded {
        return prepared.close(outcome);
    }
    // After secrets are masked. Boxed, so that other calls do not carry the room for it.
    let outcome = Box::pin(bounded::settle(outcome, &prepared.cx)).await;
    prepared.close(outcome)
}

/// The output of a run that keeps what the tool promises: its schema and its length.
fn admitted(prepared: &Prepared, Finished(output): Finished) -> Result<Output, ToolError> {
    if let Some(promise) = prepared.scope.def.promise() {
        let issues = promise.issues(output.payload.get());
        if !issues.is_empty() {
            let redactor = prepared.cx.redactor();
            let issues = redactor.issues(output.payload.get(), issues, |text| promise.issues(text));
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
        _ => Ok(output),
    }
}

/// An error without the turn's secrets.
pub(super) fn redacted(error: ToolError, cx: &ToolContext) -> ToolError {
    cx.redactor().error(error)
}
