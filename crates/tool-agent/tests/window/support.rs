//! Threads, counters and models for the tests.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use futures::future::{BoxFuture, FutureExt as _, ready};
use tool_agent::window::{Compaction, TokenCounter, Window, WindowBuilder, Windowed};
use tool_core::store::{CallPlace, Message, Role, ThreadId, Timestamp, Usage};
use tool_core::turn::{Model, ModelMessage, ModelRequest, ToolMessage};
use tool_core::{ToolCall, ToolContext, ToolError, Toolset, tool, toolset};

/// Counts one token for each byte of the content, so that the sizes in the tests are exact.
#[derive(Clone, Copy)]
pub(crate) struct Bytes;

impl TokenCounter for Bytes {
    fn message(&self, message: &Message) -> u64 {
        message.content.len() as u64
    }

    fn tools(&self, tools: &Toolset) -> u64 {
        10 * tools.len() as u64
    }
}

/// Returns a window without a reserve that counts bytes.
pub(crate) fn window(most: u64) -> WindowBuilder {
    Window::builder(most).reserve(0).counter(Bytes)
}

/// A request that a model received.
#[derive(Clone)]
pub(crate) struct Seen {
    pub(crate) messages: Vec<Message>,
    pub(crate) tools: usize,
}

impl Seen {
    /// Returns the text of each message, without the JSON around it.
    pub(crate) fn contents(&self) -> Vec<&str> {
        self.messages.iter().map(|it| &*it.content).collect()
    }

    pub(crate) fn seqs(&self) -> Vec<u64> {
        self.messages.iter().map(|it| it.seq).collect()
    }
}

type Write = dyn Fn(&ModelRequest<'_>) -> Result<ModelMessage, ToolError> + Send + Sync;

/// A model that records its requests. Clones share the record.
#[derive(Clone)]
pub(crate) struct Recorder {
    seen: Arc<Mutex<Vec<Seen>>>,
    write: Arc<Write>,
}

impl Recorder {
    pub(crate) fn with(
        write: impl Fn(&ModelRequest<'_>) -> Result<ModelMessage, ToolError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            seen: Arc::default(),
            write: Arc::new(write),
        }
    }

    pub(crate) fn text(text: &str) -> Self {
        let text = text.to_owned();
        Self::with(move |_| Ok(ModelMessage::text(text.clone())))
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    pub(crate) fn count(&self) -> usize {
        self.seen.lock().unwrap().len()
    }

    pub(crate) fn last(&self) -> Seen {
        self.seen.lock().unwrap().last().unwrap().clone()
    }
}

impl Model for Recorder {
    fn next<'a>(
        &'a mut self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        self.seen.lock().unwrap().push(Seen {
            messages: request.messages.to_vec(),
            tools: request.tools.len(),
        });
        ready((self.write)(&request)).boxed()
    }
}

/// A model whose requests use tokens that its messages do not report. The tokens of a request are lost if they are not read before the next one.
#[derive(Clone)]
pub(crate) struct Unreported {
    inner: Recorder,
    spent: Option<Usage>,
    unmeasured: u32,
}

impl Unreported {
    /// The input tokens of each request.
    pub(crate) const TOKENS: u64 = 70;

    pub(crate) fn new(inner: &Recorder) -> Self {
        Self {
            inner: inner.clone(),
            spent: None,
            unmeasured: 0,
        }
    }
}

impl Model for Unreported {
    fn next<'a>(
        &'a mut self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        self.spent = Some(usage(Self::TOKENS, 0));
        self.unmeasured += 1;
        self.inner.next(request)
    }

    fn unsettled_usage(&mut self) -> Option<Usage> {
        self.spent.take()
    }

    fn unmeasured_requests(&mut self) -> u32 {
        std::mem::take(&mut self.unmeasured)
    }
}

/// A thread that a test builds message by message.
#[derive(Clone)]
pub(crate) struct Thread {
    id: ThreadId,
    last: u64,
    pub(crate) messages: Vec<Message>,
}

impl Thread {
    pub(crate) fn new(conversation: &str) -> Self {
        Self {
            id: ThreadId::new("acme", conversation).unwrap(),
            last: 0,
            messages: Vec::new(),
        }
    }

    /// Removes all messages. The numbers of later messages continue, as after an erasure.
    pub(crate) fn erase(&mut self) {
        self.messages.clear();
    }

    fn push(&mut self, role: Role, answers: Option<CallPlace>, content: String) -> u64 {
        self.last += 1;
        let seq = self.last;
        self.messages.push(Message {
            seq,
            thread: self.id.clone(),
            role,
            answers,
            turn: None,
            content,
            at: Timestamp::from_millis(7),
        });
        seq
    }

    pub(crate) fn system(&mut self, text: &str) -> u64 {
        let text = serde_json::to_string(text).unwrap();
        self.push(Role::System, None, text)
    }

    pub(crate) fn user(&mut self, text: &str) -> u64 {
        let text = serde_json::to_string(text).unwrap();
        self.push(Role::User, None, text)
    }

    pub(crate) fn model(&mut self, message: &ModelMessage) -> u64 {
        let text = serde_json::to_string(message).unwrap();
        self.push(Role::Assistant, None, text)
    }

    pub(crate) fn says(&mut self, text: &str) -> u64 {
        self.model(&ModelMessage::text(text))
    }

    /// Adds a message of the model with this number of calls.
    pub(crate) fn calls(&mut self, calls: u32) -> u64 {
        let seq = self.last + 1;
        let call = |at| ToolCall::new(format!("c-{seq}-{at}"), "add", r#"{"a":1,"b":2}"#);
        self.model(&ModelMessage::calls((0..calls).map(call)))
    }

    pub(crate) fn result(&mut self, message: u64, position: u32, text: &str) -> u64 {
        let result: ToolMessage = serde_json::from_value(serde_json::json!({
            "id": format!("c-{message}-{position}"), "name": "add", "text": text,
        }))
        .unwrap();
        let content = serde_json::to_string(&result).unwrap();
        self.push(Role::Tool, Some(CallPlace { message, position }), content)
    }

    /// Adds a turn: a question, a call with its result, and an answer. The messages have about `size` bytes
    /// each.
    pub(crate) fn turn(&mut self, size: usize) {
        self.user(&"q".repeat(size));
        let seq = self.calls(1);
        self.result(seq, 0, &"r".repeat(size));
        self.says(&"a".repeat(size));
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.messages.iter().map(|it| it.content.len() as u64).sum()
    }

    /// Returns the sequence numbers of the messages of the model that have a call without a result.
    pub(crate) fn open(&self) -> HashSet<u64> {
        let results: HashSet<CallPlace> =
            self.messages.iter().filter_map(|it| it.answers).collect();
        let models = self.messages.iter().filter(|it| it.role == Role::Assistant);
        let is_open = |message: &&Message| {
            let said: ModelMessage = serde_json::from_str(&message.content).unwrap();
            (0..).zip(&said.calls).any(|(position, _)| {
                let message = message.seq;
                !results.contains(&CallPlace { message, position })
            })
        };
        models.filter(is_open).map(|it| it.seq).collect()
    }
}

/// Sends one request with a thread.
pub(crate) async fn ask<M: Model>(
    model: &mut Windowed<M>,
    thread: &Thread,
) -> Result<ModelMessage, ToolError> {
    ask_with(model, thread, &toolset![]).await
}

/// Sends one request with a thread and tools.
pub(crate) async fn ask_with<M: Model>(
    model: &mut Windowed<M>,
    thread: &Thread,
    tools: &Toolset,
) -> Result<ModelMessage, ToolError> {
    let request = ModelRequest {
        messages: &thread.messages,
        tools,
        step: 1,
        cx: &ToolContext::anonymous(),
    };
    model.next(request).await
}

/// Adds two numbers.
#[tool(read_only)]
pub(crate) fn add(
    /// The first number.
    a: i32,
    /// The second number.
    b: i32,
) -> i64 {
    i64::from(a) + i64::from(b)
}

/// Returns the view of a thread.
pub(crate) async fn view(window: &Window, thread: &Thread) -> Seen {
    let model = Recorder::text("ok");
    let mut windowed = Windowed::new(model.clone(), window.clone());
    ask(&mut windowed, thread).await.unwrap();
    model.last()
}

/// Returns a compaction for small windows.
pub(crate) fn compaction(summariser: &Recorder) -> Compaction {
    Compaction::new(summariser.clone()).most_summary_tokens(300)
}

pub(crate) fn usage(input_tokens: u64, output_tokens: u64) -> Usage {
    Usage {
        input_tokens,
        output_tokens,
        ..Usage::default()
    }
}

/// Random numbers that are the same in each run of the tests.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// Returns a number below `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % end
    }

    /// Returns a thread with system messages, several calls in a message, open calls, late results, consecutive messages of the user, and results without
    /// calls.
    pub(crate) fn thread(&mut self, conversation: &str) -> Thread {
        let mut thread = Thread::new(conversation);
        if self.below(2) == 0 {
            thread.system(&self.words());
        }
        thread.user(&self.words());
        let mut late = Vec::new();
        for _ in 0..self.below(40) {
            match self.below(10) {
                0 => _ = thread.system(&self.words()),
                1 | 2 => _ = thread.user(&self.words()),
                3 | 4 => _ = thread.says(&self.words()),
                5 => _ = thread.result(900, 0, &self.words()),
                _ => {
                    let calls = 1 + self.below(3);
                    let seq = thread.calls(u32::try_from(calls).unwrap());
                    for position in 0..u32::try_from(calls).unwrap() {
                        match self.below(12) {
                            0 => {}
                            1 => late.push((seq, position)),
                            _ => _ = thread.result(seq, position, &self.words()),
                        }
                    }
                }
            }
            if self.below(3) == 0
                && let Some((seq, position)) = late.pop()
            {
                thread.result(seq, position, &self.words());
            }
        }
        if self.below(2) == 0 {
            thread.user(&self.words());
        }
        thread
    }

    fn words(&mut self) -> String {
        let length = 1 + self.below(60);
        "word ".repeat(usize::try_from(length).unwrap())
    }
}
