//! The tools of the agents in the transcripts.

#![allow(
    clippy::unused_async,
    reason = "functions that are not async run on other threads, in a random order"
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Semaphore;
use tool_agent::files::ThreadFiles;
use tool_agent::runtime::{AgentArguments, AgentResult, ParentThread, ResultAttachment};
use tool_core::prelude::*;
use tool_core::{ExposeSecret as _, Part};

/// Blocks the calls of `slow` until the host lets them end.
#[derive(Clone)]
pub(crate) struct Hold(Arc<(AtomicUsize, Semaphore)>);
tool_core::host_value!(Hold, tool_core::Effect::READ);

impl Hold {
    pub(crate) fn new() -> Self {
        Self(Arc::new((AtomicUsize::new(0), Semaphore::new(0))))
    }

    async fn wait(&self) {
        self.0.0.fetch_add(1, Ordering::SeqCst);
        self.0.1.acquire().await.unwrap().forget();
    }

    /// Waits until this many calls have begun.
    pub(crate) async fn begun(&self, calls: usize) {
        while self.0.0.load(Ordering::SeqCst) < calls {
            tokio::task::yield_now().await;
        }
    }

    pub(crate) fn release(&self, calls: usize) {
        self.0.1.add_permits(calls);
    }
}

/// Looks a word up.
#[tool(read_only)]
async fn look_up(
    /// The word.
    word: String,
) -> Result<String, ToolError> {
    if word == "broken" {
        return Err(ToolError::new("no entry for this word"));
    }
    Ok(format!("{word} is a word"))
}

/// Counts to two.
#[tool(read_only)]
async fn count(cx: &ToolContext) -> u32 {
    cx.progress(&1);
    cx.progress(&2);
    2
}

/// Publishes the page.
#[tool(destructive, approval)]
async fn publish(
    /// The page.
    page: String,
) -> String {
    format!("published {page}")
}

/// Uses the key of the shop.
#[tool(read_only)]
async fn use_key(#[variable("SHOP_KEY", secret)] key: SecretString) -> String {
    let key = key.expose_secret();
    format!("{} characters: {key}", key.len())
}

/// Returns the region.
#[tool(read_only)]
async fn region(#[variable("REGION")] region: String) -> String {
    format!("the region is {region}")
}

/// Returns the arguments with which the agent was called.
#[tool(read_only)]
async fn arguments(arguments: &AgentArguments) -> String {
    arguments.get().to_string()
}

/// Waits until the host lets it end.
#[tool(read_only)]
async fn slow(hold: &Hold) -> &'static str {
    hold.wait().await;
    "waited"
}

/// Reads a file of the thread.
#[tool]
async fn read_file(
    files: &ThreadFiles,
    /// The path.
    path: String,
) -> Result<String, ToolError> {
    let bytes = files.read(&path).await?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Ends the session with a table and a note as files.
#[tool]
async fn report(files: &ThreadFiles) -> Result<AgentResult, ToolError> {
    let path = files.write("table.csv", b"1,308".to_vec()).await?;
    let mut result = AgentResult::success(format!("The table is in {path}."));
    result.attachments.push(ResultAttachment::Path(path));
    result.attachments.push(ResultAttachment::New {
        name: "note.txt".to_owned(),
        media_type: "text/plain".to_owned(),
        data: "bm90ZQ==".to_owned(),
    });
    Ok(result)
}

/// Ends the session.
#[tool(read_only)]
async fn finish(
    /// The result.
    result: String,
) -> String {
    result
}

/// Ends the session as failed.
#[tool(read_only)]
async fn give_up(
    /// The reason.
    reason: String,
) -> String {
    reason
}

/// Ends the session with a result of this kind.
#[tool(read_only)]
async fn shaped(
    /// The kind of result: `parts`, `value`, `empty`, or `error`.
    shape: String,
) -> Result<AgentResult, ToolError> {
    Ok(match &*shape {
        "parts" => AgentResult::success_parts([Part::text("Two rows."), Part::text("No errors.")]),
        "value" => AgentResult::success_value(&serde_json::json!({"rows": 2})),
        "empty" => AgentResult::success(""),
        _ => {
            let mut result = AgentResult::error("the service refused the request");
            result = result.code("quota", Some(serde_json::json!({"limit": 5})));
            result.stack = Some("shop.rs:12".to_owned());
            result
        }
    })
}

/// Sends a message to the agent that started this one.
#[tool]
async fn notify(
    #[context] parent: ParentThread,
    /// The text.
    text: String,
) -> Result<&'static str, ToolError> {
    parent.notify(&text).await?;
    Ok("sent")
}

fn all() -> Toolset {
    toolset![
        look_up, count, publish, use_key, region, arguments, slow, read_file, report, finish,
        give_up, shaped, notify
    ]
}

/// Returns the tools with these names.
pub(crate) fn named(names: &[String]) -> Toolset {
    let all = all();
    for name in names {
        assert!(all.get(name).is_some(), "there is no tool `{name}`");
    }
    all.filter(|def| names.iter().any(|name| name == def.name()))
}

/// Returns whether the name is a tool that an agent can have.
pub(crate) fn is_known(name: &str) -> bool {
    all().get(name).is_some()
}
