//! Tower layers around a run.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use tower::util::BoxCloneSyncService;
use tower::{BoxError, Service};

use crate::call::ToolCall;
use crate::context::ToolContext;
use crate::error::ToolError;
use crate::gate::Permit;
use crate::tool::{Finished, Job, ToolDef};

/// A call that the gate has permitted, on its way to its run. It can be neither cloned nor made outside of the gate.
pub struct Permitted {
    pub(super) permit: Permit,
    pub(super) job: Job,
}

impl Permitted {
    /// The tool that runs.
    pub fn tool(&self) -> &ToolDef {
        self.permit.tool()
    }

    /// The call, as the model wrote it.
    pub fn call(&self) -> &ToolCall {
        self.permit.call()
    }

    /// The arguments as the tool reads them: JSON text.
    pub fn arguments(&self) -> &str {
        self.permit.arguments()
    }

    /// The context that the tool sees.
    pub fn context(&self) -> &ToolContext {
        self.permit.context()
    }

    /// Ends the call without running it.
    pub fn refuse(self, error: ToolError) -> Ran {
        Ran {
            outcome: Err(error),
        }
    }
}

impl fmt::Debug for Permitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permitted")
            .field("tool", &self.tool().name())
            .finish_non_exhaustive()
    }
}

/// What came of a run.
pub struct Ran {
    pub(super) outcome: Result<Finished, ToolError>,
}

impl Ran {
    /// Why there is no output. The turn's secrets are masked after the hooks, so this may hold some.
    pub fn error(&self) -> Option<&ToolError> {
        self.outcome.as_ref().err()
    }

    /// The output, as JSON text. The turn's secrets are masked after the hooks, so this may hold some.
    pub fn output(&self) -> Option<&str> {
        self.outcome
            .as_ref()
            .ok()
            .map(|finished| finished.0.payload.get())
    }
}

/// The kind of an error and nothing of its texts, which are not masked yet.
impl fmt::Debug for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ran")
            .field("error", &self.error().map(ToolError::kind))
            .finish_non_exhaustive()
    }
}

/// The layers around a run, as a service; the innermost runs the tool.
#[derive(Clone)]
pub struct Hooks(Option<BoxCloneSyncService<Permitted, Ran, BoxError>>);

impl Default for Hooks {
    /// Only the run.
    fn default() -> Self {
        Self(None)
    }
}

impl Hooks {
    pub(crate) fn wrap<S>(service: S) -> Self
    where
        S: Service<Permitted, Response = Ran, Error = BoxError> + Clone + Send + Sync + 'static,
        S::Future: Send + 'static,
    {
        Self(Some(BoxCloneSyncService::new(service)))
    }
}

impl Service<Permitted> for Hooks {
    type Response = Ran;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Ran, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.0
            .as_mut()
            .map_or(Poll::Ready(Ok(())), |inner| inner.poll_ready(cx))
    }

    fn call(&mut self, permitted: Permitted) -> Self::Future {
        match &mut self.0 {
            Some(inner) => inner.call(permitted),
            None => Box::pin(async move { Ok(super::attempts::innermost(permitted).await) }),
        }
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hooks")
    }
}
