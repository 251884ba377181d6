//! Long outputs: a model reads the head, and can read the rest in parts.
//!
//! A tool that returns [`Bounded<T, N>`](Bounded) gives the client all of its output. The model reads at most `N` bytes of the output: if the output
//! is longer, the model reads the head, the total length and a handle. The complete output is in a [`SpillStore`], and the tool [`read_more`] returns
//! further parts of it.
//!
//! A host adds the tool to its registry, and the store to its contexts:
//!
//! ```
//! use tool_core::bounded::{Bounded, Spills, read_more};
//! use tool_core::prelude::*;
//! use tool_core::store::MemoryStore;
//!
//! /// Reads the log.
//! #[tool(read_only)]
//! fn read_log() -> Bounded<String, 100> {
//!     "a line\n".repeat(1_000).into()
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), tool_core::RegistryError> {
//! let tools = Registry::builder().tool::<read_log>().dynamic(read_more()).build()?.open();
//! let cx = ToolContext::builder().workspace("acme").user("ann").with(Spills::new(MemoryStore::default())).build();
//! let text = tools.call(ToolCall::new("call_1", "read_log", "{}"), &cx).await.model_text();
//! assert!(text.contains("[these are the first 100 of 7000 bytes, read on with `read_more`: handle `"));
//! # Ok(())
//! # }
//! ```
//!
//! A handle works only for the tenant and principal of the call; for all other callers, `read_more` fails as if no output were stored. Callers without a
//! workspace share one tenant, and callers without a user share one principal. Without a store, or if the store fails or does not answer in time, the
//! model reads the head and a note that the rest is not stored.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use serde::{Deserialize, Serialize, Serializer};
use tokio::time::Instant;

use crate::call::bare_text;
use crate::context::{FromContext, ToolContext};
use crate::effect::Effect;
use crate::env;
use crate::error::ToolError;
use crate::output::{self, IntoOutput, ModelOutput, Output, Returned, ToModelOutput};
use crate::redact::Clean;
use crate::schema::{Schema, StrictSchema};
use crate::store::{Spill, SpillStore, Timestamp, shield};
use crate::tool::DynamicTool;

/// An output of which the model reads at most the first `N` bytes. See the [module](self).
#[derive(Clone, Debug, PartialEq, Eq)]
#[doc(alias("truncate", "pagination", "long output"))]
pub struct Bounded<T, const N: usize = 4096> {
    value: T,
    limit: usize,
}

impl<T, const N: usize> Bounded<T, N> {
    /// Wraps a value. The result shows the model at most the first `limit` bytes of it, regardless of `N`.
    pub fn at_most(value: T, limit: usize) -> Self {
        Self { value, limit }
    }

    /// Returns a reference to the value.
    pub fn get(&self) -> &T {
        &self.value
    }

    /// Returns the value without its limits.
    pub fn into_inner(self) -> T {
        self.value
    }
}

impl<T, const N: usize> From<T> for Bounded<T, N> {
    fn from(value: T) -> Self {
        Self { value, limit: N }
    }
}

/// Serializes as the value itself.
impl<T: Serialize, const N: usize> Serialize for Bounded<T, N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(serializer)
    }
}

impl<T: StrictSchema, const N: usize> StrictSchema for Bounded<T, N> {
    const SCHEMA: &'static Schema = T::SCHEMA;
}

impl<T: Serialize + Send + 'static, const N: usize> IntoOutput for Bounded<T, N> {
    type Value = Self;

    fn into_returned(self) -> Result<Returned<Self>, ToolError> {
        Ok(Returned::Value(self))
    }
}

impl<T, const N: usize> ToModelOutput for Bounded<T, N> {
    fn to_model_output(&self) -> ModelOutput {
        ModelOutput::bounded(self.limit)
    }
}

/// The store of long outputs and the time until they expire, as a host value.
#[derive(Clone)]
pub struct Spills {
    store: Arc<dyn SpillStore>,
    keep: Duration,
}

impl Spills {
    /// Creates the host value for a store. Outputs expire after one hour.
    pub fn new(store: impl SpillStore) -> Self {
        Self::shared(Arc::new(store))
    }

    /// Creates the host value for a shared store. Outputs expire after one hour.
    pub fn shared(store: Arc<dyn SpillStore>) -> Self {
        Self {
            store: shield::spills(store),
            keep: Duration::from_hours(1),
        }
    }

    /// Sets the time until outputs expire. The host removes expired outputs with [`SpillStore::expire`].
    #[must_use]
    pub fn keep(mut self, time: Duration) -> Self {
        self.keep = time;
        self
    }
}

impl FromContext for Spills {
    const EFFECT: Effect = Effect::READ;

    fn from_context(cx: &ToolContext) -> Result<Self, ToolError> {
        cx.extension()
            .ok_or_else(|| ToolError::unavailable("a store of long outputs (`Spills`)"))
    }
}

/// Returns whether the output is bounded, so that [`settle`] applies.
pub(crate) fn is_bounded(output: &Output) -> bool {
    output
        .model
        .as_ref()
        .is_some_and(|model| model.bound().is_some())
}

/// Replaces a bounded output with the text that the model reads, and stores the complete output if it is longer than the limit.
///
/// The text is stored unchanged, so the argument's type requires that secrets are redacted.
pub(crate) async fn settle(
    outcome: Clean<Result<Output, ToolError>>,
    cx: &ToolContext,
) -> Clean<Result<Output, ToolError>> {
    let model = match outcome.get() {
        Ok(output) => head(output, cx).await,
        Err(_) => return outcome,
    };
    outcome.map(|outcome| {
        outcome.map(|output| Output {
            payload: output.payload,
            model,
        })
    })
}

/// Returns the model output of a bounded output; `None` if the output has no bound or is short enough, so that the model reads the payload.
async fn head(output: &Output, cx: &ToolContext) -> Option<ModelOutput> {
    let (limit, files) = output.model.as_ref().and_then(ModelOutput::bound)?;
    if let Some(named) = files {
        // Files follow the text and do not count towards the limit: a model does not read their bytes as text.
        let text = beginning(named.text.clone(), limit, cx).await;
        let parts = output::seen::behind(text, named.files.clone());
        return ModelOutput::parts(parts).proven().ok();
    }
    if output.payload.get().len() <= limit {
        return None;
    }
    let text = bare_text(&output.payload);
    if text.len() <= limit {
        return None;
    }
    Some(ModelOutput::text(beginning(text, limit, cx).await))
}

/// Returns the text. If it is longer than the limit, returns its head and a note on how to read the rest.
async fn beginning(text: String, limit: usize, cx: &ToolContext) -> String {
    if text.len() <= limit {
        return text;
    }
    let (shown, total) = (text.floor_char_boundary(limit), text.len());
    let head = text[..shown].to_owned();
    let rest = match spill(text, cx).await {
        Some(handle) => {
            format!("read on with `{READ_MORE}`: handle `{handle}`, from {shown}")
        }
        None => "the rest is not stored: ask for less".to_owned(),
    };
    format!("{head}\n[these are the first {shown} of {total} bytes, {rest}]")
}

/// Maximum time that a call waits for the store, unless the deadline of the call is earlier.
#[cfg(feature = "host")]
const PATIENCE: Duration = Duration::from_secs(30);

/// Returns the deadline for the store's response. A timer requires a runtime: without a runtime, only the call's own deadline applies.
fn latest(cx: &ToolContext) -> Option<Instant> {
    #[cfg(feature = "host")]
    if tokio::runtime::Handle::try_current().is_ok() {
        let latest = Instant::now() + PATIENCE;
        let deadline = cx.deadline().unwrap_or(latest);
        return Some(deadline.min(latest));
    }
    cx.deadline()
}

/// Stores a text for the caller and returns its handle. Returns `None` if the context has no store, or if the store fails or does not answer in time.
async fn spill(text: String, cx: &ToolContext) -> Option<String> {
    let Spills { store, keep } = cx.service()?;
    let at = Timestamp::now();
    let spill = Spill {
        handle: handle(),
        workspace: cx.own_workspace(),
        principal: cx.principal().to_owned(),
        text,
        at,
        expires: at.plus(keep),
    };
    let handle = spill.handle.clone();
    let put = store.put(spill);
    // The output exists already, so the call must return it even if the store does not answer.
    let done = match latest(cx) {
        Some(latest) => tokio::time::timeout_at(latest, put).await,
        None => Ok(put.await),
    };
    match done {
        Ok(Ok(())) => Some(handle),
        Ok(Err(error)) => {
            tracing::warn!(tool = cx.tool_name(), %error, "a long output could not be stored");
            None
        }
        Err(_) => {
            tracing::warn!(
                tool = cx.tool_name(),
                "a long output could not be stored: the store did not answer in time"
            );
            None
        }
    }
}

/// Creates a globally unique id. It is not a secret: the store checks the reader.
fn handle() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!("{:016x}{:016x}", env::unique(&COUNT), env::unique(&COUNT))
}

/// Name of the tool that returns further parts of an output.
const READ_MORE: &str = "read_more";

/// Maximum number of bytes that one call of the tool returns.
const MOST: u64 = 65_536;

#[derive(Deserialize)]
struct Ask {
    handle: String,
    from: u64,
    most: u64,
}

/// A part of an output.
#[derive(Serialize)]
struct More {
    text: String,
    /// The byte at which the text begins.
    from: u64,
    /// The position for the next call; `None` at the end.
    next: Option<u64>,
    total: u64,
}

/// Creates the tool `read_more`, which returns further parts of outputs of [`Bounded`] tools. A host adds the tool once, with
/// [`RegistryBuilder::dynamic`](crate::RegistryBuilder::dynamic), and adds [`Spills`] to its contexts.
///
/// The arguments of the tool are a handle, the byte to read from and the maximum number of bytes. The tool returns whole characters, and the position
/// for the next call.
pub fn read_more() -> DynamicTool {
    let schema = serde_json::json!({
        "type": "object",
        "properties": {
            "handle": {
                "type": "string",
                "description": "The handle at the end of the output.",
                "minLength": 1,
                "maxLength": 64
            },
            "from": {
                "type": "integer",
                "description": "The byte to start at: where the output ended, or `next` of the previous part.",
                "minimum": 0,
                "maximum": u32::MAX
            },
            "most": {
                "type": "integer",
                "description": "The maximum number of bytes to read, such as 4096.",
                "minimum": 1,
                "maximum": MOST
            }
        },
        "required": ["handle", "from", "most"],
        "additionalProperties": false
    });
    DynamicTool::new(
        READ_MORE,
        "Reads the next part of an output that was too long to show. Use it only with a handle from the end of an output.",
        schema,
        async |ask: Ask, cx: ToolContext| part(ask, &cx).await,
    )
    .effect(Effect::READ)
    .read_only()
}

async fn part(ask: Ask, cx: &ToolContext) -> Result<More, ToolError> {
    let spills: Spills = cx.get()?;
    let part = spills
        .store
        .read(
            &cx.own_workspace(),
            cx.principal(),
            &ask.handle,
            ask.from,
            ask.most.min(MOST),
            Timestamp::now(),
        )
        .await?
        .ok_or_else(|| {
            ToolError::new(
                "no output is stored under this handle, or it has expired: call the tool that returned it again",
            )
        })?;
    let end = part.from + part.text.len() as u64;
    Ok(More {
        next: (end < part.total).then_some(end),
        from: part.from,
        total: part.total,
        text: part.text,
    })
}
