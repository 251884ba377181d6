//! Calls to the tools of an MCP server.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, JsonObject, ProgressNotificationParam, RequestMetaObject,
};
use serde::Serialize;
use tokio::sync::Mutex;
use tool_core::{ErrorKind, ToolContext, ToolError, TraceContext, hidden};

use super::connect::Link;
use super::content::{self, ConvertedOutput, Results};
use super::list;
use super::lock::{McpDrift, McpLock, key};
use super::notifications::NotificationObserver;
use super::text::shown;

/// The connection of a snapshot, and the differences between the snapshot and the latest list.
pub(crate) struct Live {
    pub(crate) link: Link,
    /// The contracts of the tools when the snapshot was read.
    pub(crate) snapshot: McpLock,
    pub(crate) list_timeout: Duration,
    pub(crate) results: Results,
    since: Mutex<LatestList>,
}

/// The result of the latest read of the server's list. If the list was not read after the snapshot, `drift` is empty.
#[derive(Default)]
struct LatestList {
    /// The number of list changes when the list was last read.
    seen: u64,
    drift: McpDrift,
}

impl Live {
    pub(crate) fn new(
        link: Link,
        snapshot: McpLock,
        seen: u64,
        list_timeout: Duration,
        results: Results,
    ) -> Self {
        let since = LatestList {
            seen,
            drift: McpDrift::default(),
        };
        Self {
            link,
            snapshot,
            list_timeout,
            results,
            since: Mutex::new(since),
        }
    }

    /// Returns the number of changes and possible changes of the list so far, or 0 if the connection receives no notifications.
    pub(crate) fn changes(&self) -> u64 {
        self.link
            .ears
            .as_ref()
            .map_or(0, NotificationObserver::changes)
    }

    /// Returns the number of list changes when the list was last read.
    pub(crate) async fn seen(&self) -> u64 {
        self.since.lock().await.seen
    }

    /// Returns whether the list has changed, or may have changed, since it was last read.
    pub(crate) async fn is_stale(&self) -> bool {
        self.since.lock().await.seen < self.changes()
    }

    /// Reads the list again, and stores its differences from the snapshot.
    pub(crate) async fn recheck(&self) -> Result<McpDrift, list::McpToolsError> {
        let mut since = self.since.lock().await;
        self.read(&mut since).await?;
        Ok(since.drift.clone())
    }

    async fn read(&self, since: &mut LatestList) -> Result<(), list::McpToolsError> {
        // The changes are counted before the request, so a change that is reported during the request makes the list stale.
        let seen = self.changes();
        let listed = list::read(&self.link.peer, self.list_timeout).await?;
        since.drift = self.snapshot.drift(&listed.contracts());
        since.seen = seen;
        if !since.drift.is_empty() {
            tracing::warn!(drift = %since.drift, "the tools of an MCP server have changed since they were read");
        }
        Ok(())
    }

    /// Reads the list again if it is stale. Returns an error if that fails, or if the tool was changed or removed since the snapshot.
    async fn stands(&self, remote: &str) -> Result<(), ToolError> {
        let mut since = self.since.lock().await;
        if since.seen < self.changes() {
            self.read(&mut since).await.map_err(|error| {
                ToolError::of(
                    ErrorKind::Unavailable,
                    "the tool is not available: the host cannot read the tools of its server to check whether it has changed, try again later",
                )
                .operator(error.to_string())
            })?;
        }
        let name = key(remote);
        let changed = since.drift.changed.get(&name);
        let is_gone = since.drift.removed.contains(&name);
        let remote = shown(remote);
        let operator = match changed {
            Some(facets) => format!(
                "the MCP server changed the {} of `{remote}`: reload its tools and accept them",
                super::lock::list(facets)
            ),
            None if is_gone => {
                format!("the MCP server no longer lists `{remote}`: reload its tools")
            }
            None => return Ok(()),
        };
        Err(ToolError::of(
            ErrorKind::Unavailable,
            "the tool is not available: it has changed on its server or was removed from it, and the host has not accepted the change yet",
        )
        .operator(operator))
    }

    /// Calls a tool. If the future is dropped early, the server is notified that the call is cancelled.
    pub(crate) async fn call(
        self: Arc<Self>,
        remote: Arc<str>,
        arguments: JsonObject,
        cx: ToolContext,
    ) -> Result<ConvertedOutput, ToolError> {
        self.stands(&remote).await?;
        let mut meta = RequestMetaObject::new();
        for (name, value) in cx.trace().into_iter().flat_map(TraceContext::headers) {
            meta.0.0.insert(name.to_owned(), value.into());
        }
        let mut ear = self.link.ears.as_ref().map(NotificationObserver::open);
        if let Some(ear) = &ear {
            ear.mark(&mut meta);
        }
        let mut params = CallToolRequestParams::new(remote.to_string()).with_arguments(arguments);
        params.meta = (!meta.0.0.is_empty()).then_some(meta);
        let mut call = self.link.calls.call(params);
        let answer = loop {
            let step = async {
                match &mut ear {
                    Some(ear) => ear.steps.recv().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                // Progress must be reported before the result that follows it.
                biased;
                Some(step) = step => cx.progress(&self.step(step)),
                answer = &mut call => break answer,
            }
        };
        // Report progress that was received before the result and is still queued.
        while let Some(step) = ear.as_mut().and_then(|ear| ear.steps.try_recv().ok()) {
            cx.progress(&self.step(step));
        }
        content::told(answer.map_err(content::unanswered)?, self.results)
    }

    fn step(&self, step: ProgressNotificationParam) -> Step {
        let message = step.message.map(|text| {
            if self.results.exact {
                text
            } else {
                hidden::show(&text, MOST_MESSAGE).into_owned()
            }
        });
        Step {
            progress: step.progress,
            total: step.total,
            message,
        }
    }
}

/// Maximum length of a progress message in bytes.
const MOST_MESSAGE: usize = 4 << 10;

/// A progress step of a call.
#[derive(Serialize)]
struct Step {
    progress: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}
