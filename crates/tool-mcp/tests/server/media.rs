//! Images, audio and files over both protocol versions.

use crate::support::Client;
use serde_json::{Value, json};
use tool_core::prelude::*;
use tool_core::{Audio, File, Image};
use tool_mcp::McpServer;

/// A PNG with one red pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8/5+hHgAHggJ/PchI7wAAAABJRU5ErkJggg==";
/// A WAV file of silence.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";

/// Draws one red pixel as an image.
#[tool(read_only)]
fn draw() -> Result<Image, ToolError> {
    Image::base64("image/png", PNG)
}

/// Returns a silent sound.
#[tool(read_only)]
fn speak() -> Result<Audio, ToolError> {
    Audio::base64("audio/wav", WAV)
}

/// Exports the data as a file.
#[tool(read_only)]
fn export() -> Result<File, ToolError> {
    Ok(File::new("application/zip", b"PK\x05\x06")?.named("all files.zip"))
}

/// A chart with a title.
#[derive(Serialize, StrictSchema)]
struct Report {
    /// The title of the chart.
    title: String,
    /// The chart as an image.
    chart: Image,
}

/// Draws a chart with a title.
#[tool(read_only)]
fn report() -> Result<Report, ToolError> {
    let chart = Image::base64("image/png", PNG)?;
    let title = "Sales".to_owned();
    Ok(Report { title, chart })
}

// Images, audio and files arrive as content of their kind, not as base64 text.
#[tokio::test]
async fn files_arrive_as_content_of_their_kind() {
    let registry = Registry::builder()
        .tool::<draw>()
        .tool::<speak>()
        .tool::<export>()
        .tool::<report>()
        .build()
        .unwrap();
    let server = McpServer::builder(registry).build();
    let image = json!({ "type": "image", "data": PNG, "mimeType": "image/png" });
    for modern in [false, true] {
        let mut client = Client::of(&server, modern).await;
        let listed = client.ask("tools/list", json!({})).await;
        for tool in listed["result"]["tools"].as_array().unwrap() {
            assert_eq!(tool["outputSchema"], Value::Null, "{tool}");
        }
        let mut content = async |name: &str| {
            let called = client.call(name, json!({})).await;
            let result = &called["result"];
            assert_eq!(result["isError"], false, "{result}");
            assert_eq!(result["structuredContent"], Value::Null, "{result}");
            result["content"].as_array().unwrap().clone()
        };
        assert_eq!(content("draw").await, std::slice::from_ref(&image));
        let sound = json!({ "type": "audio", "data": WAV, "mimeType": "audio/wav" });
        assert_eq!(content("speak").await, [sound]);
        let blob = json!({
            "type": "resource",
            "resource": { "uri": "attachment:0/all%20files.zip", "mimeType": "application/zip", "blob": "UEsFBg==" },
        });
        assert_eq!(content("export").await, [blob]);
        let report = content("report").await;
        let text = report[0]["text"].as_str().unwrap();
        assert!(text.contains("Sales") && !text.contains(PNG), "{text}");
        assert_eq!(report[1], image);
    }
}
