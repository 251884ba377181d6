//! Calls of tools that the code makes, on the host's side.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};

use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt as _};
use tool_core::{CallResult, ErrorKind, ToolCall, ToolContext, ToolDef, ToolError, Toolset};

use crate::protocol::Outcome;

/// The tools that code may call: those of a toolset that are there, and that ask nobody unless the host allows waiting.
#[derive(Clone)]
pub(crate) struct Callable {
    tools: Toolset,
    /// Names as the model sees them, and whether a call may run beside others.
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
struct Made {
    id: u64,
    name: String,
    arguments: String,
}

/// The calls of one run: those that change nothing run beside each other, every other one alone, and all begin in the order in which
/// the code made them.
pub(crate) struct Calls {
    callable: Callable,
    cx: ToolContext,
    parallel: usize,
    left: usize,
    waiting: VecDeque<Made>,
    running: FuturesUnordered<BoxFuture<'static, (u64, CallResult)>>,
    /// What runs now runs alone.
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

    /// Takes a call. The engine counts as well; one that it should not have let through is a fault of the process.
    pub(crate) fn make(
        &mut self,
        id: u64,
        name: String,
        arguments: String,
    ) -> Result<(), &'static str> {
        if !self.callable.names.contains_key(&name) {
            return Err("a call of a tool that is not there");
        }
        self.left = self
            .left
            .checked_sub(1)
            .ok_or("more calls than the run may make")?;
        self.waiting.push_back(Made {
            id,
            name,
            arguments,
        });
        self.begin();
        Ok(())
    }

    /// Begins what may begin.
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
                    // The outer call is the context's, so the gate knows whose call this is; the id says so to readers of its rows.
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

    /// The next call that has ended; waits for ever where none runs.
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

/// What the code is told of a result; an error where the run has to wait for a person.
///
/// Code gets no bytes of images, audio and files: what it returns is JSON, which the model would read as base64.
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
                "the output of `{name}` has {} bytes, and code may take {most}: ask for less",
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
