//! Scripted models, and reading the files of a folder.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::future::BoxFuture;
use tool_core::prelude::*;
use tool_core::turn::{Model, ModelMessage, ModelRequest};
use tool_core::{Approvals, KeyRing};
use tool_store::SqliteStore;

/// A model that returns these messages, one for each step of a run, and then the text `done`. It counts the requests.
#[derive(Clone)]
pub(crate) struct Script {
    messages: Arc<Vec<ModelMessage>>,
    requests: Arc<AtomicUsize>,
}

impl Script {
    pub(crate) fn new(messages: Vec<ModelMessage>) -> Self {
        Self {
            messages: Arc::new(messages),
            requests: Arc::default(),
        }
    }

    pub(crate) fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }
}

impl Model for Script {
    fn next<'a>(
        &'a mut self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        self.requests.fetch_add(1, Ordering::SeqCst);
        let step = usize::try_from(request.step).unwrap() - 1;
        let message = self.messages.get(step).cloned();
        let message = message.unwrap_or_else(|| ModelMessage::text("done"));
        Box::pin(std::future::ready(Ok(message)))
    }
}

/// Creates approvals in a durable store. Their tokens are signed with a fixed key.
pub(crate) fn approvals(store: &SqliteStore) -> Approvals {
    let keys = KeyRing::new("k-1", vec![7; 32]).unwrap();
    let approvals = Approvals::builder(store.clone()).keys(keys);
    approvals.build().unwrap()
}

/// Returns the name and the bytes of every file in a folder.
pub(crate) fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            (name, std::fs::read(entry.path()).unwrap())
        })
        .collect();
    files.sort();
    files
}

/// Counts the occurrences of a text in these bytes.
pub(crate) fn count(bytes: &[u8], text: &str) -> usize {
    bytes
        .windows(text.len())
        .filter(|window| *window == text.as_bytes())
        .count()
}
