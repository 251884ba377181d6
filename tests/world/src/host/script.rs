//! The scripted model of a run, and the layer that makes bodies fail.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::future::BoxFuture;
use tool_core::store::{Message, Role};
use tool_core::turn::{Model, ModelMessage, ModelRequest};
use tool_core::{CancellationToken, Hooks, Permitted, Ran, ToolCall, ToolError};
use tool_wire::Provider;

use crate::facts::{Written, greeted, sentinel};
use crate::plan::{Call, HookFault, Run};
use crate::process::Process;
use crate::tools::is_relay;

/// A model that answers the users' messages of a thread in order, with the scripts of the runs.
pub(super) struct Script {
    /// The index of the run that is driven.
    pub(super) index: usize,
    /// All runs of the plan.
    pub(super) runs: Arc<[Run]>,
    pub(super) stop: CancellationToken,
    pub(super) process: Arc<Process>,
}

impl Model for Script {
    fn next<'a>(
        &'a mut self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        let who = &self.runs[self.index].who;
        let world = &self.process.world;
        if self.stop.is_cancelled() {
            let what = format!(
                "the model of {who} received a request after stop from run {}",
                self.index
            );
            world.violated("asked_after_stop", what);
        }
        // The runs use the providers in turn.
        let provider = Provider::ALL[self.index % Provider::ALL.len()];
        let history = provider.history(request.messages);
        let answer = match history {
            Err(error) => Err(ToolError::new(error.to_string())),
            Ok(history) => {
                for message in &history.messages {
                    world.seen(who, "a request to the model", message.get());
                }
                let last = request.messages.last();
                if last.is_none_or(|message| message.role == Role::Assistant) {
                    let why =
                        "the last message of a request is neither a user's message nor a result";
                    Err(ToolError::new(why))
                } else {
                    Ok(self.answer(request.messages))
                }
            }
        };
        let says = answer.as_ref().map_or("fails", |message| &message.text);
        self.process
            .note(&format!("{who} asks step {}: {says}", request.step));
        Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(3)).await;
            answer
        })
    }
}

impl Script {
    /// Returns the first message that is not in the thread yet, in the order of the runs that users have begun, or `done` if the thread has every
    /// message.
    fn answer(&self, thread: &[Message]) -> ModelMessage {
        let said: Vec<Written> = thread.iter().filter_map(written).collect();
        let users = thread.iter().filter(|of| of.role == Role::User);
        let texts = users.filter_map(|of| serde_json::from_str::<String>(&of.content).ok());
        for index in texts.filter_map(|text| greeted(&text)) {
            let Some(run) = self.runs.get(index) else {
                continue;
            };
            for (message, step) in run.script.iter().zip(1..) {
                let next = Written { run: index, step };
                if !said.contains(&next) {
                    let calls = message.calls.iter().map(|call| self.call(call));
                    return ModelMessage {
                        text: next.to_string(),
                        ..ModelMessage::calls(calls)
                    };
                }
            }
        }
        ModelMessage::text("done")
    }

    fn call(&self, call: &Call) -> ToolCall {
        let who = &self.runs[self.index].who;
        let own = sentinel(&who.tenant, &who.conversation);
        let arguments = call.arguments.replace("{sentinel}", &own);
        ToolCall::new(&*call.id, &*call.tool, arguments)
    }
}

/// Returns the identity of a model's message in the thread.
fn written(message: &Message) -> Option<Written> {
    let said = (message.role == Role::Assistant).then_some(&message.content)?;
    let said: ModelMessage = serde_json::from_str(said).ok()?;
    Written::read(&said.text)
}

/// A layer around every body. It causes the hook faults of the plan.
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

    #[expect(clippy::panic, reason = "the plan causes this panic")]
    fn call(&mut self, permitted: Permitted) -> Self::Future {
        let fault = self.process.hook();
        if let Some(fault) = fault {
            self.process.note(&format!("hook {fault:?}"));
            let tool = permitted.tool().name().to_owned();
            let before = matches!(fault, HookFault::FailsBefore | HookFault::PanicsBefore);
            if before || is_relay(&tool) {
                self.process.world.facts().hooked.insert(tool);
            }
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
