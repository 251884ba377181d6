//! Images, audio and files as outputs: what the model, the client, a store and the audit get.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod kept;
mod shown;
mod values;

use serde_json::Value;
use tool_core::prelude::*;
use tool_core::{Audio, File, Image, Part};

/// A PNG image of one red pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8/5+hHgAHggJ/PchI7wAAAABJRU5ErkJggg==";
/// A GIF image of one pixel.
const GIF: &str = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
/// A WAV file without samples.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";
/// The beginning of a PDF file.
const PDF: &str = "JVBERi0xLjQKJeLjz9MKMSAwIG9iago8PC9UeXBlL0NhdGFsb2c+PgplbmRvYmoK";

fn png() -> Image {
    Image::base64("image/png", PNG).unwrap()
}

fn gif() -> Image {
    Image::base64("image/gif", GIF).unwrap()
}

fn wav() -> Audio {
    Audio::base64("audio/wav", WAV).unwrap()
}

fn pdf() -> File {
    File::base64("application/pdf", PDF)
        .unwrap()
        .named("report.pdf")
}

async fn call(tools: &Toolset, name: &str) -> CallResult {
    let result = tools
        .call(ToolCall::new("c-0", name, "{}"), &ToolContext::anonymous())
        .await;
    assert!(!result.is_error(), "{name}: {:?}", result.error());
    result
}

/// Returns the parts that the model reads.
fn read(result: &CallResult) -> Vec<Part> {
    result
        .model_output()
        .expect("a view")
        .to_parts()
        .into_owned()
}

fn payload(result: &CallResult) -> Value {
    serde_json::from_str(result.output().unwrap().get()).unwrap()
}
