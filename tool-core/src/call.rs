//! Tool calls, their events and their results.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::args::RepairNote;
use crate::error::{ErrorKind, ToolError};
use crate::json::Entries;
use crate::need::VariableNeed;
use crate::output::{Citation, ModelOutput, Output};
use crate::redact::{Clean, Redactor};
#[cfg(feature = "host")]
use crate::store::{CallKey, EffectRow};

#[cfg(feature = "host")]
pub(crate) mod stored;
#[cfg(feature = "host")]
mod ticket;

#[cfg(feature = "host")]
pub use ticket::Ticket;

/// A tool call that a model requests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[doc(alias("tool_call", "tool_calls", "function_call", "tool_use", "functionCall"))]
pub struct ToolCall {
    /// The provider's id of the call. The result has the same id.
    pub id: String,
    /// Name of the tool that is called.
    pub name: String,
    /// The arguments as JSON text, as the model wrote them.
    pub arguments: String,
}

impl ToolCall {
    /// Creates a call. `arguments` is JSON text, which is not parsed before the tool is known.
    pub fn new(
        id: impl Into<String>,
        name: impl Into<String>,
        arguments: impl Into<String>,
    ) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            arguments: arguments.into(),
        }
    }
}

/// The events of a call, in order: `Started` if the body of the tool begins, any number of `Progress`, one `Done`.
#[derive(Debug)]
pub enum ToolEvent {
    /// The call passed all checks, and the body of the tool begins. This event is sent at most once.
    Started,
    /// A progress step of the tool, for the client. It is never sent to the model.
    Progress(Box<RawValue>),
    /// The call ended. No event follows.
    Done(CallResult),
}

/// The result of a call. Errors, panics, timeouts and cancellations are results, too.
///
/// Secrets of the turn are redacted in its texts, with two exceptions. [`id`](Self::id) and [`name`](Self::name) are returned as the model wrote
/// them, because a provider uses them to match a result to its call. The approval tickets contain the arguments that an approver has to check.
#[cfg_attr(
    feature = "host",
    expect(
        clippy::struct_excessive_bools,
        reason = "independent flags, every combination is valid"
    )
)]
#[doc(alias(
    "tool_result",
    "function_call_output",
    "functionResponse",
    "tool message"
))]
pub struct CallResult {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) outcome: Clean<Result<Output, ToolError>>,
    pub(crate) citations: Clean<Vec<Citation>>,
    pub(crate) repairs: Clean<Vec<RepairNote>>,
    pub(crate) duration: Duration,
    /// The conversation of the context that the call was made with.
    pub(crate) conversation: Option<Arc<str>>,
    #[cfg(feature = "host")]
    pub(crate) tickets: Vec<Ticket>,
    /// The ledger's entry about the call, if the caller has to act on it. It is boxed, because few calls have one.
    #[cfg(feature = "host")]
    pub(crate) looked_up: Option<Box<LookedUp>>,
    /// Whether a store of the gate failed, so that it is unknown whether the call ran before or was approved.
    #[cfg(feature = "host")]
    pub(crate) undecided: bool,
    /// Whether the call stopped before its body. Approvals of the call, and of calls that it made before, may still be open.
    #[cfg(feature = "host")]
    pub(crate) stopped: bool,
    pub(crate) replayed: bool,
    /// Whether the id or the name contains a secret.
    pub(crate) secret_label: bool,
}

/// The ledger's entry about a call that has no output.
#[cfg(feature = "host")]
pub(crate) enum LookedUp {
    /// An earlier run of the call has not ended, or its outcome is unknown.
    Unsettled(Box<EffectRow>),
    /// The call is refused and has no row, but an earlier run of it made these calls.
    Unbegun(Vec<CallKey>),
}

#[cfg(feature = "host")]
impl CallResult {
    /// Returns the row of an earlier run of the call that has not ended, or whose outcome is unknown.
    pub(crate) fn unsettled(&self) -> Option<&EffectRow> {
        match self.looked_up.as_deref()? {
            LookedUp::Unsettled(row) => Some(row),
            LookedUp::Unbegun(_) => None,
        }
    }

    /// Returns the calls that an earlier run of a refused call made, if the ledger has no row of the call itself.
    pub(crate) fn unbegun(&self) -> Option<&[CallKey]> {
        match self.looked_up.as_deref()? {
            LookedUp::Unsettled(_) => None,
            LookedUp::Unbegun(made) => Some(made),
        }
    }

    pub(crate) fn found(&mut self, doubt: Option<Box<EffectRow>>) {
        self.looked_up = doubt.map(|row| Box::new(LookedUp::Unsettled(row)));
    }
}

impl CallResult {
    /// Creates the result of a call that the host answers itself, without a tool, such as a refused approval or an interrupted call.
    ///
    /// No context is involved, so secrets in the error's texts are not redacted.
    pub fn refused(call: ToolCall, error: ToolError) -> Self {
        Self::masked(&Redactor::default(), None, call, error)
    }

    pub(crate) fn masked(
        redactor: &Redactor,
        conversation: Option<Arc<str>>,
        call: ToolCall,
        error: ToolError,
    ) -> Self {
        Self {
            secret_label: redactor.finds(&call.id) || redactor.finds(&call.name),
            id: call.id,
            name: call.name,
            outcome: redactor.clean(Err(error)),
            citations: redactor.clean(Vec::new()),
            repairs: redactor.clean(Vec::new()),
            duration: Duration::ZERO,
            conversation,
            #[cfg(feature = "host")]
            tickets: Vec::new(),
            #[cfg(feature = "host")]
            looked_up: None,
            #[cfg(feature = "host")]
            undecided: false,
            #[cfg(feature = "host")]
            stopped: false,
            replayed: false,
        }
    }

    /// Returns the provider's id of the call.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the name of the tool, as the model wrote it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the conversation of the context that the call was made with, so that a client can assign the result to a conversation. The audit row of the
    /// call contains the same conversation. `None` if the context has no conversation, and in a result that the host made with [`refused`](Self::refused).
    ///
    /// ```
    /// use tool_core::{ToolCall, ToolContext, tool, toolset};
    ///
    /// /// Returns the answer.
    /// #[tool(read_only)]
    /// fn answer() -> u32 {
    ///     42
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let cx = ToolContext::builder().workspace("acme").conversation("main").build();
    /// let result = toolset![answer].call(ToolCall::new("call_0", "answer", "{}"), &cx).await;
    /// assert_eq!(result.conversation(), Some("main"));
    /// # }
    /// ```
    pub fn conversation(&self) -> Option<&str> {
        self.conversation.as_deref()
    }

    /// Returns whether the call failed and therefore has no output.
    pub fn is_error(&self) -> bool {
        self.outcome.get().is_err()
    }

    /// Returns the full payload, for the client; `None` for a failed call.
    pub fn output(&self) -> Option<&RawValue> {
        let outcome = self.outcome.get().as_ref();
        outcome.ok().map(|output| &*output.payload)
    }

    /// Returns the payload without the bytes of the files that the model is shown. A line such as `[image/png, 68 bytes]` replaces the bytes of each file. Use
    /// this for logs and for interfaces that show only text.
    ///
    /// ```
    /// use tool_core::Image;
    /// use tool_core::prelude::*;
    ///
    /// /// Draws a black pixel.
    /// #[tool(read_only)]
    /// fn draw() -> Result<Image, ToolError> {
    ///     Image::detect(b"GIF89a\x01\0\x01\0")
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let result = toolset![draw].call(ToolCall::new("c-1", "draw", "{}"), &ToolContext::anonymous()).await;
    /// let described = r#"{"type":"file","mediaType":"image/gif","url":"[image/gif, 10 bytes]"}"#;
    /// assert_eq!(result.output_without_bytes().as_deref(), Some(described));
    /// # }
    /// ```
    pub fn output_without_bytes(&self) -> Option<Cow<'_, str>> {
        let outcome = self.outcome.get().as_ref();
        outcome.ok().map(Output::without_bytes)
    }

    /// Returns the error of a failed call.
    pub fn error(&self) -> Option<&ToolError> {
        self.outcome.get().as_ref().err()
    }

    /// Returns the output that the model reads instead of the payload; `None` for a failed call, or if the tool sets none.
    pub fn model_output(&self) -> Option<&ModelOutput> {
        let output = self.outcome.get().as_ref().ok()?;
        output.model.as_ref()
    }

    /// Returns the sources of the output, for the client.
    pub fn citations(&self) -> &[Citation] {
        self.citations.get()
    }

    /// Returns the repairs that were made in the arguments before the tool read them.
    pub fn repairs(&self) -> &[RepairNote] {
        self.repairs.get()
    }

    /// Returns the approvals that this call waits for: its own, or the approvals of calls that it made.
    #[cfg(feature = "host")]
    pub fn tickets(&self) -> &[Ticket] {
        &self.tickets
    }

    /// Returns whether this is the stored result of an earlier run of the same call, so that the tool did not run again.
    pub fn is_replayed(&self) -> bool {
        self.replayed
    }

    /// Returns the time from the call to the result.
    pub fn duration(&self) -> Duration {
        self.duration
    }

    /// Returns the text that the model reads: the tool's model output if it sets one, otherwise the payload, where a string has no quotes. The text of an error
    /// lets the model repair the call.
    pub fn model_text(&self) -> String {
        match self.outcome.get() {
            Err(error) => error.model_text(),
            Ok(output) => output
                .model
                .as_ref()
                .map_or_else(|| bare_text(&output.payload), ModelOutput::to_text),
        }
    }

    /// Returns the result as one JSON object: `{"success":true,…payload}` or `{"success":false,"error":"…"}`. A payload that is not an
    /// object is written under `result`. Missing variables are listed under `variables_required`.
    ///
    /// A payload that has a key `success` or `error` itself is written under `result` as well, so that the keys do not collide.
    pub fn envelope(&self) -> String {
        serde_json::to_string(&Envelope(self)).unwrap_or_else(|error| {
            // This cannot fail, because the payload is JSON already.
            format!(
                "{{\"success\":false,\"error\":{}}}",
                serde_json::Value::from(error.to_string())
            )
        })
    }

    /// Converts a payload of the form `{"error": "…"}`, alone or with `"success": false`, into a failure.
    ///
    /// Use this for tools of other systems, which report failures in their output.
    #[must_use]
    pub fn bare_error(mut self) -> Self {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Bare {
            error: String,
            #[serde(default)]
            success: bool,
        }
        if let Ok(output) = self.outcome.get()
            && let Ok(bare) = serde_json::from_str::<Bare>(output.payload.get())
            && !bare.success
        {
            // Secrets in the payload are already redacted, so the text is not redacted again.
            let error = ToolError::of(ErrorKind::Failed, bare.error);
            self.outcome = self.outcome.map(|_| Err(error));
        }
        self
    }

    /// Splits the result into payload and model output, or returns the error.
    pub fn into_parts(self) -> Result<(Box<RawValue>, Option<ModelOutput>), ToolError> {
        let outcome = self.outcome.into_inner();
        outcome.map(|output| (output.payload, output.model))
    }
}

/// Prints `[masked]` in place of the id and the name if one of them contains a secret.
impl fmt::Debug for CallResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let label = |text| if self.secret_label { "[masked]" } else { text };
        let mut shown = f.debug_struct("CallResult");
        shown
            .field("id", &label(self.id.as_str()))
            .field("name", &label(self.name.as_str()))
            .field("outcome", self.outcome.get())
            .field("citations", self.citations.get())
            .field("repairs", self.repairs.get())
            .field("duration", &self.duration);
        #[cfg(feature = "host")]
        shown.field("tickets", &self.tickets);
        shown
            .field("replayed", &self.replayed)
            .finish_non_exhaustive()
    }
}

/// Returns a JSON string without its quotes, and any other JSON unchanged.
pub(crate) fn bare_text(payload: &RawValue) -> String {
    let text = payload.get();
    if text.starts_with('"')
        && let Ok(bare) = serde_json::from_str(text)
    {
        return bare;
    }
    text.to_owned()
}

/// Writes the envelope. The payload's entries are copied, not parsed.
struct Envelope<'a>(&'a CallResult);

impl Serialize for Envelope<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self.0.outcome.get() {
            Err(error) => {
                map.serialize_entry("success", &false)?;
                map.serialize_entry("error", &error.model_text())?;
                let missing = error.missing_variables();
                if !missing.is_empty() {
                    let missing: Vec<_> = missing.iter().map(MissingVariable::of).collect();
                    map.serialize_entry("variables_required", &missing)?;
                }
            }
            Ok(output) => {
                map.serialize_entry("success", &true)?;
                match entries(&output.payload) {
                    Some(entries) => {
                        for (key, value) in &entries.0 {
                            map.serialize_entry(key, value)?;
                        }
                    }
                    None => map.serialize_entry("result", &output.payload)?,
                }
            }
        }
        map.end()
    }
}

/// A missing variable, as the envelope lists it.
#[derive(Serialize)]
struct MissingVariable<'a> {
    name: &'a str,
    r#type: &'static str,
    description: Option<&'a str>,
    scoped: bool,
}

impl<'a> MissingVariable<'a> {
    fn of(need: &'a VariableNeed) -> Self {
        Self {
            name: &need.name,
            r#type: need.kind.as_str(),
            description: need.description.as_deref(),
            scoped: need.scoped,
        }
    }
}

/// Returns the entries of a payload; `None` if it is not an object, or has a key `success` or `error`, so that it cannot be merged into the envelope.
fn entries(payload: &RawValue) -> Option<Entries<'_>> {
    let entries: Entries<'_> = serde_json::from_str(payload.get()).ok()?;
    let taken = entries
        .0
        .iter()
        .any(|(key, _)| key == "success" || key == "error");
    (!taken).then_some(entries)
}
