//! Generator tools: typed progress, exactly one final value, a short view for the model, and progress from an ordinary async tool.
//!
//! `cargo run --example streaming`

use std::time::Duration;

use futures::StreamExt;
use tool_core::prelude::*;

/// The progress of an import.
#[derive(Debug, Serialize, StrictSchema)]
pub struct Progress {
    /// The number of rows that were read.
    pub rows: u32,
}

/// The result of an import.
#[derive(Debug, Serialize, StrictSchema)]
pub struct Imported {
    /// The number of rows in the file.
    pub rows: u32,
    /// Rows that were left out, with the reason.
    pub skipped: Vec<String>,
}

impl ToModelOutput for Imported {
    fn to_model_output(&self) -> ModelOutput {
        ModelOutput::text(format!(
            "{} rows imported, {} skipped",
            self.rows,
            self.skipped.len()
        ))
    }
}

/// Imports a table. Use it once per table.
#[tool(timeout = "5s")]
pub fn import(
    /// The name of the table.
    table: String,
) -> ToolStream<Progress, Imported> {
    tool_stream! {
        let mut rows = 0;
        while rows < 300 {
            tokio::time::sleep(Duration::from_millis(20)).await;
            rows += 100;
            yield Progress { rows };
        }
        if table == "broken" {
            // `?` ends the stream with an error. The client has received the progress before the error.
            Err(ToolError::new("table `broken` ends in the middle of a row"))?;
        }
        Imported { rows, skipped: vec!["row 17: no key".to_owned()] }
    }
}

/// Counts the rows of a table.
#[tool]
pub async fn count(
    cx: &ToolContext,
    /// The name of the table.
    table: String,
) -> Result<usize, ToolError> {
    cx.progress(&format!("opening {table}"));
    tokio::time::sleep(Duration::from_millis(20)).await;
    Ok(table.len() * 100)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let tools = Registry::linked()?.open();
    let cx = ToolContext::anonymous();
    for (tool, table) in [
        ("import", "users"),
        ("import", "broken"),
        ("count", "users"),
    ] {
        println!("{tool} {table}");
        let call = ToolCall::new("call_1", tool, format!(r#"{{"table":"{table}"}}"#));
        let mut events = std::pin::pin!(tools.stream(call, &cx));
        while let Some(event) = events.next().await {
            match event {
                ToolEvent::Started => {}
                ToolEvent::Progress(step) => println!("  {step}"),
                ToolEvent::Done(result) => println!("  the model reads: {}", result.model_text()),
            }
        }
    }
    Ok(())
}
