//! Tools, and recorded replies that call them.

use tool_core::prelude::*;
use tool_wire::{ModelReply, Provider, ReplyStream, WireError};

/// Returns the weather.
#[tool(
    read_only,
    example("Over a weekend", { "city": "Basel", "days": 2 }),
    example("With the default number of days", { "city": "\"Bern\"" }),
)]
pub(crate) async fn forecast(
    /// The name of the city.
    city: String,
    /// The number of days.
    #[arg(default = 1, range = 1..=10)]
    days: u32,
) -> String {
    format!("{city}: {days} days of rain")
}

/// Searches an index.
#[tool(read_only)]
pub(crate) async fn search(
    /// The text to search for.
    query: String,
    /// The limits of the search.
    limits: Vec<f64>,
    /// Whether only exact matches count.
    exact: bool,
) -> Result<Vec<String>, ToolError> {
    if exact {
        return Ok(limits
            .iter()
            .map(|limit| format!("{query} {limit}"))
            .collect());
    }
    Err(ToolError::new("only exact searches are possible"))
}

/// Fetches a page.
#[tool(providers(openai, mcp, json_schema))]
pub(crate) async fn fetch(
    /// The path of the page.
    path: String,
) -> String {
    path
}

/// Returns the recorded reply that calls `forecast` and `search`, as a complete body and as a stream.
pub(crate) fn recorded(provider: Provider) -> (&'static str, &'static str) {
    match provider {
        Provider::Chat => (
            include_str!("recorded/chat.json"),
            include_str!("recorded/chat.sse"),
        ),
        Provider::Responses => (
            include_str!("recorded/responses.json"),
            include_str!("recorded/responses.sse"),
        ),
        Provider::Anthropic => (
            include_str!("recorded/anthropic.json"),
            include_str!("recorded/anthropic.sse"),
        ),
        Provider::Gemini => (
            include_str!("recorded/gemini.json"),
            include_str!("recorded/gemini.sse"),
        ),
        Provider::Bedrock => (
            include_str!("recorded/bedrock.json"),
            include_str!("recorded/bedrock.jsonl"),
        ),
    }
}

/// Reads a streamed body in one piece.
pub(crate) fn streamed(provider: Provider, body: &str) -> Result<ModelReply, WireError> {
    let mut stream = provider.stream();
    feed(provider, &mut stream, body)?;
    stream.finish()
}

pub(crate) fn feed(
    provider: Provider,
    stream: &mut ReplyStream,
    body: &str,
) -> Result<(), WireError> {
    if provider == Provider::Bedrock {
        for line in body.lines() {
            stream.event(line)?;
        }
        return Ok(());
    }
    stream.feed(body.as_bytes()).map(|_| ())
}
