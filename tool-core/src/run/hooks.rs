//! Tower layers around a tool's run.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use tower::util::BoxCloneSyncService;
use tower::{BoxError, Service};

use super::{Permitted, Ran};
use crate::gate::GateBuilder;

/// The layers around a run, as a service; the innermost service runs the tool.
#[derive(Clone)]
pub struct Hooks(Option<BoxCloneSyncService<Permitted, Ran, BoxError>>);

impl Default for Hooks {
    /// Returns hooks without layers, which run the tool directly.
    fn default() -> Self {
        Self(None)
    }
}

impl Hooks {
    fn wrap<S>(service: S) -> Self
    where
        S: Service<Permitted, Response = Ran, Error = BoxError> + Clone + Send + Sync + 'static,
        S::Future: Send + 'static,
    {
        Self(Some(BoxCloneSyncService::new(service)))
    }
}

impl GateBuilder {
    /// Wraps every permitted run in a tower layer. The layer that is added last is the outermost.
    ///
    /// A layer sees the tool, the context, the arguments and the outcome of the run. It can refuse, delay, measure and record a run. It
    /// cannot run a call twice, and it cannot change the arguments: a changed call has to pass the gate again.
    pub fn layer<L>(self, layer: L) -> Self
    where
        L: tower::Layer<Hooks>,
        L::Service: tower::Service<Permitted, Response = Ran, Error = tower::BoxError>
            + Clone
            + Send
            + Sync
            + 'static,
        <L::Service as tower::Service<Permitted>>::Future: Send + 'static,
    {
        self.hooks(|hooks: Option<Hooks>| Hooks::wrap(layer.layer(hooks.unwrap_or_default())))
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
            None => Box::pin(async move { Ok(permitted.run().await) }),
        }
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hooks")
    }
}
