//! Tool calls that code makes: their queue, their execution in the host, and their results.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};

use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt as _};
use tool_core::{CallResult, ErrorKind, ToolCall, ToolContext, ToolDef, ToolError, Toolset};

use crate::protocol::Outcome;

/// The tools that code may call: the visible tools of a toolset, without meta tools. Tools that may ask a person are included only if the host
/// allows waiting.
#[derive(Clone)]
pub(crate) struct Callable {
    tools: Toolset,
    /// Wire names of the tools, and whether calls of each may run in parallel.
    names: BTreeMap<String, bool>,
}

impl Callable {
    pub(crate) fn new(tools: &Toolset, cx: &ToolContext, waiting: bool) -> Self {
        let free = |def: &ToolDef| def.hints().read_only && !def.is_sequential();
        let names = tools
            .tools()
            .filter(|def| !def.is_meta())
            .filter(|def| waiting || !tools.may_ask(def.wire_name(), cx))
            .map(|def| (def.wire_name().to_owned(), free(def)))
            .collect();
        Self {
            tools: tools.clone(),
            names,
        }
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.names.keys().cloned().collect()
    }

    pub(crate) fn defs(&self) -> impl Iterator<Item = &ToolDef> {
        let tools = self.tools.tools();
        tools.filter(|def| self.names.contains_key(def.wire_name()))
    }
}

/// A call that the code has made.
struct PendingCall {
    id: u64,
    name: String,
    arguments: String,
}

/// The calls of one run. Calls of read-only tools that are not sequential run in parallel, every
/// other call runs alone, and calls start in the order in which the code made them.
pub(crate) struct Calls {
    callable: Callable,
    cx: ToolContext,
    parallel: usize,
    left: usize,
    waiting: VecDeque<PendingCall>,
    running: FuturesUnordered<BoxFuture<'static, (u64, CallResult)>>,
    /// Whether the running call must run alone.
    alone: bool,
}

impl Calls {
    pub(crate) fn new(callable: Callable, cx: ToolContext, parallel: usize, most: usize) -> Self {
        Self {
            callable,
            cx,
            parallel: parallel.max(1),
            left: most,
            waiting: VecDeque::new(),
            running: FuturesUnordered::new(),
            alone: false,
        }
    }

    /// Queues a call. The engine enforces the limits as well, so a call beyond them means that the process violates the protocol.
    pub(crate) fn make(
        &mut self,
        id: u64,
        name: String,
        arguments: String,
    ) -> Result<(), &'static str> {
        if !self.callable.names.contains_key(&name) {
            return Err("the process called an unknown tool");
        }
        self.left = self
            .left
            .checked_sub(1)
            .ok_or("the number of calls exceeds the limit of the run")?;
        self.waiting.push_back(PendingCall {
            id,
            name,
            arguments,
        });
        self.begin();
        Ok(())
    }

    /// Starts the queued calls that may start now.
    fn begin(&mut self) {
        while let Some(next) = self.waiting.front() {
            let free = self
                .callable
                .names
                .get(&next.name)
                .copied()
                .unwrap_or(false);
            let beside = free && !self.alone && self.running.len() < self.parallel;
            if !self.running.is_empty() && !beside {
                return;
            }
            self.alone = !free;
            if let Some(made) = self.waiting.pop_front() {
                let (tools, cx) = (self.callable.tools.clone(), self.cx.clone());
                self.running.push(Box::pin(async move {
                    // The context already identifies the outer call for the gate; the id makes the nesting readable in the gate's rows.
                    let id = match cx.call_id() {
                        Some(outer) => format!("{outer}/{}", made.id),
                        None => made.id.to_string(),
                    };
                    let call = ToolCall::new(id, made.name, made.arguments);
                    (made.id, tools.call(call, &cx).await)
                }));
            }
        }
    }

    /// Returns the next call that has ended. Waits forever if no calls are running.
    pub(crate) async fn ended(&mut self) -> (u64, CallResult) {
        match self.running.next().await {
            Some(ended) => {
                self.begin();
                ended
            }
            None => std::future::pending().await,
        }
    }
}

/// Converts a call's result for the code. Returns an error if the run has to wait for a person.
///
/// Omits the bytes of images, audio and files: the result of the code is JSON, in which the model would read them as base64.
pub(crate) fn outcome(result: CallResult, most: usize) -> Result<Outcome, ToolError> {
    let name = result.name().to_owned();
    let described = match result.output_without_bytes() {
        Some(Cow::Owned(described)) => Some(described),
        _ => None,
    };
    let output = result.into_parts();
    match output.map(|(payload, _)| described.unwrap_or_else(|| Box::<str>::from(payload).into())) {
        Ok(payload) if payload.len() > most => Ok(Outcome::Failed {
            kind: ErrorKind::Failed.as_str().to_owned(),
            message: format!(
                "the output of `{name}` has {} bytes, and code may receive {most}: ask for less",
                payload.len()
            ),
        }),
        Ok(payload) => Ok(Outcome::Output(payload)),
        Err(error) if error.kind() == ErrorKind::Pending => Err(error),
        Err(error) => Ok(Outcome::Failed {
            kind: error.kind().as_str().to_owned(),
            message: error.model_text(),
        }),
    }
}
