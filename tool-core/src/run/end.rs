//! The end of a run: the output is checked against its schema and its length limit, and secrets are redacted.

use super::Prepared;
use crate::bounded;
use crate::context::ToolContext;
use crate::error::ToolError;
use crate::output::{ModelOutput, Output};
use crate::redact::Clean;
use crate::tool::{Finished, OutputCheck, ToolDef};
use crate::toolset::Toolset;

/// The outcome of a run, with the turn's secrets redacted.
pub(super) struct Ending {
    pub(super) clean: Clean<Result<Output, ToolError>>,
    /// Whether the output is bounded, so that it has to be stored if it is too long for the model.
    pub(super) is_bounded: bool,
}

impl Ending {
    /// Stores a bounded output that is too long for the model, after the secrets are redacted.
    pub(super) async fn settled(self, cx: &ToolContext) -> Self {
        Self {
            clean: bounded::settle(self.clean, cx).await,
            is_bounded: false,
        }
    }
}

/// Checks the output of a run against the output schema and the length limit of its tool, and redacts the outcome.
#[inline]
pub(super) fn admitted(
    toolset: &Toolset,
    prepared: &Prepared,
    outcome: Result<Finished, ToolError>,
) -> Ending {
    let outcome = outcome.and_then(|finished| {
        toolset
            .shelf()
            .wrote(prepared.at, finished.0.payload.get().len());
        promised(prepared, finished)
    });
    Ending {
        is_bounded: outcome.as_ref().is_ok_and(bounded::is_bounded),
        clean: prepared.cx.redactor().clean(outcome),
    }
}

/// Returns the output if it matches the tool's schema and is within its length limit.
fn promised(prepared: &Prepared, Finished(output): Finished) -> Result<Output, ToolError> {
    if let Some(promise) = prepared.tool().promise() {
        let text = "the tool returned an output that does not match its own schema";
        fits(promise, output.payload.get(), &prepared.cx, text)?;
    }
    // The separate output for the model may contain files that the payload does not contain.
    let read = output.model.as_ref().map_or(0, ModelOutput::size);
    let size = output.payload.get().len().max(read);
    within_limit(prepared.tool(), size)?;
    Ok(output)
}

/// Fails with `text` if an output does not match a schema. The operator reads the faults, without secrets.
pub(crate) fn fits(
    promise: &OutputCheck,
    output: &str,
    cx: &ToolContext,
    text: &'static str,
) -> Result<(), ToolError> {
    let issues = promise.issues(output);
    if issues.is_empty() {
        return Ok(());
    }
    let redactor = cx.redactor();
    let issues = redactor.issues(output, issues, |text| promise.issues(text));
    let why = ToolError::invalid_arguments(issues).model_text();
    Err(ToolError::new(text).operator(why.replacen(
        "the arguments do not fit the schema",
        "the output does not fit the tool's output schema",
        1,
    )))
}

/// Fails if an output has more bytes than its tool may return.
pub(crate) fn within_limit(tool: &ToolDef, size: usize) -> Result<(), ToolError> {
    match tool.output_limit() {
        Some(limit) if size > limit => Err(ToolError::new(format!(
            "the output has {size} bytes and at most {limit} are allowed, ask for less"
        ))),
        _ => Ok(()),
    }
}
