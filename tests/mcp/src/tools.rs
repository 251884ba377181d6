//! The tools that the conformance suite calls and that can be written with `#[tool]`.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use base64::Engine as _;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use rmcp::ServerHandler;
use tool_core::prelude::*;
use tool_core::{Audio, Effect, Image, Part};
use tool_mcp::Composed;

use crate::host::Host;

/// A PNG image of one red pixel.
pub(crate) const IMAGE: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8/5+hHgAHggJ/PchI7wAAAABJRU5ErkJggg==";
/// A WAV file without samples.
const AUDIO: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";

/// Returns text.
#[tool(read_only)]
fn test_simple_text() -> String {
    "This is a simple text response for testing.".to_owned()
}

/// Returns an image.
#[tool(read_only)]
fn test_image_content() -> Result<Image, ToolError> {
    Image::base64("image/png", IMAGE)
}

/// Returns a sound.
#[tool(read_only)]
fn test_audio_content() -> Result<Audio, ToolError> {
    Audio::base64("audio/wav", AUDIO)
}

fn file(media_type: &str, uri: &str, text: &str) -> Part {
    let data = base64::prelude::BASE64_STANDARD.encode(text);
    Part::base64(media_type, data).named(uri)
}

/// Returns a resource.
#[tool(read_only)]
fn test_embedded_resource() -> Part {
    let text = "This is an embedded resource content.";
    file("text/plain", "test://embedded-resource", text)
}

/// Returns text, an image and a resource.
#[tool(read_only)]
fn test_multiple_content_types() -> Vec<Part> {
    let json = r#"{"test":"data","value":123}"#;
    vec![
        Part::text("Multiple content types test:"),
        Part::base64("image/png", IMAGE),
        file("application/json", "test://mixed-content-resource", json),
    ]
}

/// Always fails.
#[tool(read_only)]
fn test_error_handling() -> Result<String, ToolError> {
    Err(ToolError::new(
        "This tool intentionally returns an error for testing",
    ))
}

/// Progress of a tool.
#[derive(Serialize)]
struct Progress {
    progress: u32,
    total: u32,
}

/// Reports its progress.
#[tool(read_only)]
fn test_tool_with_progress() -> ToolStream<Progress, String> {
    tool_stream! {
        for progress in [0, 50, 100] {
            yield Progress { progress, total: 100 };
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        "Progress test completed".to_owned()
    }
}

/// Waits for a moment, so that a client may reconnect meanwhile.
#[tool(read_only)]
async fn test_reconnection() -> Result<String, ToolError> {
    tokio::time::sleep(Duration::from_millis(100)).await;
    Ok("Reconnection test completed".to_owned())
}

/// A function that notifies clients of a change.
type Notify = Box<dyn Fn() -> BoxFuture<'static, ()> + Send + Sync>;

/// A handle on the server, which tools use to notify its clients.
#[derive(Clone, Default)]
pub(crate) struct Served {
    tools: Arc<OnceLock<Notify>>,
    prompts: Arc<OnceLock<Notify>>,
}

impl Served {
    /// Sets the function that notifies clients of changed tools. Later calls have no effect.
    pub(crate) fn tools<H: ServerHandler>(&self, server: &Composed<H>) {
        let server = server.clone();
        let _ = self.tools.set(Box::new(move || {
            let server = server.clone();
            async move { server.tools_changed().await }.boxed()
        }));
    }

    /// Sets the function that notifies clients of changed prompts. Later calls have no effect.
    pub(crate) fn prompts(&self, server: &Composed<Host>) {
        let server = server.clone();
        let _ = self.prompts.set(Box::new(move || {
            let server = server.clone();
            async move { server.host().prompts_changed().await }.boxed()
        }));
    }
}

impl FromContext for Served {
    const EFFECT: Effect = Effect::READ;

    fn from_context(cx: &ToolContext) -> Result<Self, ToolError> {
        cx.extension()
            .ok_or_else(|| ToolError::unavailable("the server"))
    }
}

/// Notifies clients that tools have changed.
#[tool(read_only)]
async fn test_trigger_tool_change(server: &Served) -> Result<String, ToolError> {
    if let Some(tell) = server.tools.get() {
        tell().await;
    }
    Ok("Tool list change triggered".to_owned())
}

/// Notifies clients that prompts have changed.
#[tool(read_only)]
async fn test_trigger_prompt_change(server: &Served) -> Result<String, ToolError> {
    if let Some(tell) = server.prompts.get() {
        tell().await;
    }
    Ok("Prompt list change triggered".to_owned())
}

/// Waits until it is cancelled.
#[tool(read_only)]
async fn wait_for_ever() -> Result<String, ToolError> {
    struct Gone;
    impl Drop for Gone {
        fn drop(&mut self) {
            eprintln!("dropped wait_for_ever");
        }
    }
    let _gone = Gone;
    std::future::pending::<()>().await;
    Ok(String::new())
}

/// The result of an addition.
#[derive(Serialize, StrictSchema)]
struct Sum {
    /// The sum of the numbers.
    sum: i64,
}

/// Adds two numbers.
#[tool(read_only, title = "Add")]
fn add(
    /// The first number.
    a: i64,
    /// The second number.
    #[arg(default = 1, range = 0..=1000)]
    b: i64,
) -> Sum {
    Sum {
        sum: a.saturating_add(b),
    }
}
