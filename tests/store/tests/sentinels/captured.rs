//! The texts that the models, the observers and the log subscriber of a process receive.

use std::fmt::{Debug, Write as _};
use std::sync::{Arc, Mutex};

use tool_agent::runtime::AgentEvent;
use tool_core::Dialect;
use tool_core::store::ThreadId;
use tool_core::turn::ModelRequest;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};

/// A text that a model, an observer or a log received, or that a store contains.
#[derive(Clone)]
pub(crate) struct Entry {
    /// The kind of the entry, followed by its text.
    pub(crate) text: String,
    /// The conversation with the user to which the entry belongs.
    pub(crate) root: Option<ThreadId>,
    /// The thread to which the entry belongs.
    pub(crate) thread: Option<ThreadId>,
}

impl Entry {
    pub(crate) fn request(
        root: ThreadId,
        thread: ThreadId,
        agent: &str,
        request: &ModelRequest<'_>,
    ) -> Self {
        let mut text = format!("request of {agent}");
        for message in request.messages {
            let _ = write!(text, "\n{}: {}", message.role, message.content);
        }
        text.push_str(&request.tools.definitions(Dialect::JsonSchema));
        Self {
            text,
            root: Some(root),
            thread: Some(thread),
        }
    }

    /// Creates the entry of an event, which has no workspace. The events of a stream belong to its conversation.
    pub(crate) fn event(root: Option<&ThreadId>, event: &AgentEvent) -> Self {
        Self {
            text: format!("event {}", serde_json::to_string(event).unwrap()),
            root: root.cloned(),
            thread: None,
        }
    }
}

/// The requests and events, in order.
#[derive(Clone, Default)]
pub(crate) struct Captured(Arc<Mutex<Vec<Entry>>>);

impl Captured {
    pub(crate) fn add(&self, entry: Entry) {
        self.0.lock().unwrap().push(entry);
    }

    pub(crate) fn all(&self) -> Vec<Entry> {
        self.0.lock().unwrap().clone()
    }
}

/// The subscriber of the process, which writes all spans and events of every level.
#[derive(Clone, Default)]
pub(crate) struct Logs(Arc<Mutex<Vec<String>>>);

impl Logs {
    pub(crate) fn install() -> Self {
        let logs = Self::default();
        tracing::subscriber::set_global_default(logs.clone()).unwrap();
        logs
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    fn add(&self, line: String) {
        self.0.lock().unwrap().push(line);
    }
}

struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _ = write!(self.0, " {field}={value:?}");
    }
}

impl tracing::Subscriber for Logs {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut fields = Fields(format!(
            "{} span {}",
            span.metadata().level(),
            span.metadata().name()
        ));
        span.record(&mut fields);
        self.add(fields.0);
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        let mut fields = Fields("record".to_owned());
        values.record(&mut fields);
        self.add(fields.0);
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        let metadata = event.metadata();
        let mut fields = Fields(format!("{} event {}", metadata.level(), metadata.target()));
        event.record(&mut fields);
        self.add(fields.0);
    }

    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}
