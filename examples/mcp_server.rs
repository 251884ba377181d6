//! An MCP server: `cargo run --example mcp_server` over standard input and output, `… -- 127.0.0.1:8080` over HTTP.
//!
//! A client starts the server over standard input and output itself (`{"command": "…/mcp_server"}`), and connects to the server over HTTP by its URL
//! (`http://127.0.0.1:8080/mcp`).

use std::time::Duration;

use tool_core::Gate;
use tool_core::prelude::*;
use tool_mcp::{HttpOptions, McpServer};

/// A word and the number of its occurrences.
#[derive(Debug, Serialize, StrictSchema)]
struct Count {
    /// The word in lower case.
    word: String,
    /// The number of occurrences of the word.
    times: u64,
}

/// Counts how often a word is in a text. Use it instead of counting yourself.
#[tool(read_only, title = "Count a word", example("A short text", { "text": "to be or not to be", "word": "be" }))]
fn count_word(
    /// The text to search in.
    #[arg(length = 0..=100_000)]
    text: String,
    /// The word to count.
    word: String,
) -> Count {
    let word = word.to_lowercase();
    let words = text.split(|c: char| !c.is_alphanumeric());
    let times = words.filter(|other| other.to_lowercase() == word);
    Count {
        times: times.count() as u64,
        word,
    }
}

/// The progress of `read_chapters`.
#[derive(Serialize)]
struct ReadProgress {
    progress: usize,
    total: usize,
    message: String,
}

/// Reads chapters one after the other, and reports the progress.
#[tool(read_only)]
fn read_chapters(
    /// The number of chapters to read.
    #[arg(range = 1..=20)]
    chapters: usize,
) -> ToolStream<ReadProgress, String> {
    tool_stream! {
        for chapter in 1..=chapters {
            tokio::time::sleep(Duration::from_millis(300)).await;
            yield ReadProgress { progress: chapter, total: chapters, message: format!("chapter {chapter}") };
        }
        format!("{chapters} chapters read")
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = McpServer::builder(Registry::linked()?)
        .name("words")
        .version(env!("CARGO_PKG_VERSION"))
        .instructions("Tools about words and texts.")
        // A host configures limits, approvals, a ledger and an audit log here.
        .gate(&Gate::builder().build())
        .build();
    match std::env::args().nth(1) {
        None => server.stdio().await?,
        Some(address) => server.serve_http(address, HttpOptions::new()).await?,
    }
    Ok(())
}
