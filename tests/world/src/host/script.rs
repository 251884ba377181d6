//! The model of a run, and the layer around every body.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::future::BoxFuture;
use tool_core::turn::{Model, ModelMessage, Request};
use tool_core::wire::Provider;
use tool_core::{CancellationToken, Hooks, Permitted, Ran, ToolCall, ToolError};

use crate::facts::sentinel;
use crate::plan::{Call, HookFault, Run};
use crate::process::Process;

/// A model that writes what its run says.
pub(super) struct Script {
    pub(super) index: usize,
    pub(super) run: Run,
    pub(super) stop: CancellationToken,
    pub(super) process: Arc<Process>,
}

impl Model for Script {
    fn next<'a>(
        &'a mut self,
        request: Request<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        let who = &self.run.who;
        let world = &self.process.world;
        if self.stop.is_cancelled() {
            let what = format!("the model of {who} {} was asked after stop", self.run.turn);
            world.violated("asked_after_stop", what);
        }
        // Each run talks to another provider.
        let provider = Provider::ALL[self.index % Provider::ALL.len()];
        let history = provider.history(request.messages);
        let answer = match history {
            Err(error) => Err(ToolError::new(error.to_string())),
            Ok(history) => {
                for message in &history.messages {
                    world.seen(who, "a request to the model", message.get());
                }
                let at = usize::try_from(request.step).unwrap_or(usize::MAX) - 1;
                Ok(self.run.script.get(at).map_or_else(
                    || ModelMessage::text("done"),
                    |message| ModelMessage::calls(message.calls.iter().map(|call| self.call(call))),
                ))
            }
        };
        self.process.note(&format!(
            "{who} {} asks step {}",
            self.run.turn, request.step
        ));
        Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(3)).await;
            answer
        })
    }
}

impl Script {
    fn call(&self, call: &Call) -> ToolCall {
        let who = &self.run.who;
        let own = sentinel(&who.tenant, &who.conversation);
        let arguments = call.arguments.replace("{sentinel}", &own);
        ToolCall::new(&*call.id, &*call.tool, arguments)
    }
}

/// A layer around every body, which fails where the plan says so.
pub(super) struct HookLayer(pub(super) Arc<Process>);

impl tower::Layer<Hooks> for HookLayer {
    type Service = Hook;

    fn layer(&self, inner: Hooks) -> Hook {
        Hook {
            inner,
            process: Arc::clone(&self.0),
        }
    }
}

#[derive(Clone)]
pub(super) struct Hook {
    inner: Hooks,
    process: Arc<Process>,
}

impl tower::Service<Permitted> for Hook {
    type Response = Ran;
    type Error = Box<dyn std::error::Error + Send + Sync>;
    type Future = Pin<Box<dyn Future<Output = Result<Ran, Self::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(cx)
    }

    #[expect(clippy::panic, reason = "the fault that was asked for")]
    fn call(&mut self, permitted: Permitted) -> Self::Future {
        let fault = self.process.hook();
        if let Some(fault) = fault {
            self.process.note(&format!("hook {fault:?}"));
        }
        let run = match fault {
            Some(HookFault::FailsBefore) => {
                return Box::pin(std::future::ready(Err("the hook fails".into())));
            }
            Some(HookFault::PanicsBefore) => {
                return Box::pin(async { panic!("the simulated hook panicked") });
            }
            _ => self.inner.call(permitted),
        };
        Box::pin(async move {
            let ran = run.await?;
            match fault {
                Some(HookFault::FailsAfter) => Err("the hook fails".into()),
                Some(HookFault::PanicsAfter) => panic!("the simulated hook panicked"),
                _ => Ok(ran),
            }
        })
    }
}
